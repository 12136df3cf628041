// Lesson in full screen: one part is shown, the arrow keys change the part, and Esc leaves full screen.
{
  const body = document.querySelector("main > [lang]");
  const heads = [body.firstElementChild, ...body.querySelectorAll(":scope > h2")];
  let now = 0;
  const turn = (to) => {
    now = Math.max(0, Math.min(to, heads.length - 1));
    let part = -1;
    for (const node of body.children) node.classList.toggle("now", (part += heads.includes(node)) === now);
    refit();
  };
  const button = Object.assign(document.createElement("button"), { className: "project", textContent: body.lang === "zh" ? "全屏" : "Full screen" });
  document.querySelector(".contents").prepend(button);
  button.addEventListener("click", () => {
    turn(heads.findLastIndex((head) => head.getBoundingClientRect().top < innerHeight / 2));
    document.documentElement.requestFullscreen();
  });
  document.addEventListener("fullscreenchange", () => (refit(), heads[now].scrollIntoView()));
  addEventListener("keydown", ({ key, target }) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (step && document.fullscreenElement && !target.matches("input, textarea")) turn(now + step), scrollTo(0, 0);
  });
}
