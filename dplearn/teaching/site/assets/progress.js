// The reader's progress, stored only in this browser, and a table of contents that follows the scroll.
"use strict";

window.dplearnProgress = (() => {
  const PREFIX = "dplearn2-"; // under an earlier prefix, lessons had other numbers
  // In Firefox each file has its own storage, but all files share their cookies.
  const cookies = {
    read: (key) => {
      const pair = document.cookie.split("; ").find((one) => one.startsWith(`${key}=`));
      return pair && decodeURIComponent(pair.slice(key.length + 1));
    },
    write: (key, value) => { document.cookie = `${key}=${encodeURIComponent(value)}; max-age=34560000; path=/`; },
  };
  const storage = { read: (key) => localStorage.getItem(key), write: (key, value) => localStorage.setItem(key, value) };
  const memory = new Map();
  const forgetful = { read: (key) => memory.get(key), write: (key, value) => memory.set(key, value) };
  const works = (store) => {
    try {
      store.write(`${PREFIX}try`, "1");
      return store.read(`${PREFIX}try`) === "1";
    } catch {
      return false;
    }
  };
  const choices = location.protocol === "file:" ? [cookies, storage] : [storage];
  const store = choices.find(works) ?? forgetful;

  // Return the stored progress of a lesson, empty if it cannot be read.
  const kept = (lesson) => {
    try {
      return JSON.parse(store.read(PREFIX + lesson) || "{}") ?? {};
    } catch {
      return {};
    }
  };
  const get = (lesson, item) => kept(lesson)[item] ?? null;
  const set = (lesson, item, state) => {
    if (get(lesson, item) === "done") return; // a wrong answer afterwards does not undo it
    store.write(PREFIX + lesson, JSON.stringify({ ...kept(lesson), [item]: state }));
    document.dispatchEvent(new Event("dplearn:kept"));
  };
  const done = (lesson) => Object.values(kept(lesson)).filter((state) => state === "done").length;
  return { get, set, done, forgets: store === forgetful };
})();

document.addEventListener("dplearn:progress", ({ detail: { lesson, item, state } }) =>
  dplearnProgress.set(lesson, item, state));

{
  const make = (tag, values) => Object.assign(document.createElement(tag), values);
  const FORGETS = "This browser keeps nothing for files: progress lasts as long as this page.";
  // Draw now and at each change of progress, on this page, in another tab, or on return to the page.
  const always = (draw) => {
    draw();
    document.addEventListener("dplearn:kept", draw);
    ["storage", "pageshow"].forEach((event) => addEventListener(event, draw));
  };
  const share = (lesson, asked) => (Number(asked) ? `${Math.min(dplearnProgress.done(lesson), asked)} of ${asked}` : "");

  const contents = document.querySelector(".contents");
  if (contents) {
    const [list, summary] = ["details", "summary"].map((tag) => contents.querySelector(tag));
    const { lesson, asked } = contents.dataset;
    const wide = matchMedia("(min-width: 75rem)");
    const unfold = () => { list.open = wide.matches; };
    unfold();
    wide.addEventListener("change", unfold);
    list.addEventListener("click", ({ target }) => target.closest("a") && unfold());
    const [here, count] = [make("span", {}), make("p", {})];
    summary.append(here);
    list.append(count);
    always(() => {
      const answered = Number(asked) ? `${share(lesson, asked)} answered` : "";
      count.textContent = dplearnProgress.forgets ? FORGETS : answered;
    });
    const links = [...contents.querySelectorAll("li a")];
    const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
    const follow = () => {
      const now = links[headings.findLastIndex((heading) => heading.getBoundingClientRect().top < 0.3 * innerHeight)];
      if (now?.ariaCurrent) return;
      links.forEach((link) => { link.ariaCurrent = link === now ? "true" : null; });
      here.replaceChildren(...(now?.cloneNode(true).childNodes ?? []));
    };
    follow();
    addEventListener("scroll", follow, { passive: true });
  }

  // In the table of lessons, show the progress of each lesson and the lesson to begin or continue.
  const asked = document.getElementById("asked");
  if (asked) {
    const counts = JSON.parse(asked.textContent);
    const map = document.querySelector("main table"); // the first table of the page
    const rows = [...map.rows].filter((row) => row.cells[0].textContent in counts);
    rows.forEach((row) => row.append(make("td", { className: "done" })));
    map.className = "map";
    map.rows[0].append(make("th", { textContent: "done" }));
    const begin = make("p", { className: "begin" });
    const where = dplearnProgress.forgets ? FORGETS : "Your progress stays in this browser and is sent nowhere.";
    map.closest(".wide").before(begin, make("p", { className: "kept", textContent: where }));
    always(() => {
      for (const row of rows) {
        const lesson = row.cells[0].textContent;
        const text = share(lesson, counts[lesson]);
        row.lastChild.textContent = text && dplearnProgress.done(lesson) >= counts[lesson] ? `✓ ${text}` : text;
      }
      const open = rows.filter((row) => dplearnProgress.done(row.cells[0].textContent) < counts[row.cells[0].textContent]);
      const begun = open.find((row) => dplearnProgress.done(row.cells[0].textContent));
      const next = begun ?? open[0] ?? rows[0];
      const link = next.querySelector("a").cloneNode(true);
      begin.replaceChildren(next === rows[0] && !begun ? "Start here: " : "Go on with ", link, `, ${next.cells[2].textContent}.`);
    });
  }
}
