// A deck: a picture grows with each key, and what to say stands in the speaker's window (key S).
"use strict";

const STEPS = 5; // of a picture at most

// Traces that appear together: a line with its name, a region with its edge.
function parts({ data }) {
  const groups = [];
  data.forEach(({ mode, fill }, i) => {
    const named = mode === "text" || /^tonext/.test(fill ?? "");
    if (named && groups.length) groups.at(-1).push(i);
    else groups.push([i]);
  });
  return groups;
}

// How many steps a picture has: stops of its slider, or parts of it.
const steps = (figure) => Math.min(STEPS, figure.frames?.length || parts(figure).length);

function grow(place) {
  const step = place.parentElement.querySelectorAll(".fragment.visible").length;
  const { figure } = place;
  const last = steps(figure) - 1;
  if (figure.frames) {
    place.querySelector("input").value = Math.round((step / last) * (figure.frames.length - 1));
    return move(place);
  }
  const groups = parts(figure);
  const shown = new Set(groups.slice(0, last ? 1 + Math.ceil((step / last) * (groups.length - 1)) : 1).flat());
  place.opacity ??= figure.data.map((trace) => trace.opacity ?? 1); // Plotly writes into the traces
  const opacity = place.opacity.map((own, i) => (shown.has(i) ? own : 0));
  return Plotly.restyle(place.querySelector(".js-plotly-plot"), { opacity });
}

for (const place of charts) {
  const figure = JSON.parse(place.querySelector("script").textContent);
  const more = steps(figure) > 2 ? steps(figure) - 1 : 0;
  place.insertAdjacentHTML("afterend", '<span class="fragment"></span>'.repeat(more));
}

// The speaker's window: the notes of this slide, and what comes next.
let speaker;
function tell() {
  if (!speaker || speaker.closed) return;
  const here = Reveal.getCurrentSlide();
  const all = Reveal.getSlides();
  const next = all[all.indexOf(here) + 1];
  const heading = next?.querySelector("h1, h2, h3, .title, .where")?.innerHTML ?? "the end";
  speaker.document.body.innerHTML = `<main>${here.querySelector(".notes")?.innerHTML ?? ""}<hr>Next: ${heading}</main>`;
}
function openNotes() {
  speaker = open("", "speaker", "width=760,height=900");
  const styles = [...document.querySelectorAll("link")].filter(({ href }) => /(katex\.min|page)\.css$/.test(href));
  speaker.document.head.innerHTML = styles.map(({ href }) => `<link rel="stylesheet" href="${href}">`).join("");
  tell();
}

// What is higher or wider than the screen shrinks: words, then a picture.
async function shrink(slide, charts) {
  const higher = () => slide.scrollHeight - slide.clientHeight;
  const parts = [...slide.querySelectorAll(":scope > :not(.notes)"), ...slide.querySelectorAll(".katex-display, .wide")];
  const wider = () => parts.some((part) => part.scrollWidth > part.clientWidth + 1);
  let share = parseFloat(slide.style.fontSize || 1);
  const least = charts.length ? 0.8 : 0.4; // of the size that letters have elsewhere
  for (; share > least && (higher() > 0 || wider()); share -= 0.04) slide.style.fontSize = `${share - 0.04}em`;
  for (const place of charts.filter(() => higher() > 0)) {
    const plot = place.querySelector("[role=img]");
    plot.style.width = `${plot.clientWidth * (1 - (higher() + 4) / plot.clientHeight)}px`;
    await show(place);
    await step(place);
  }
}

const step = (place) => place.parentElement.querySelector(".fragment") && grow(place);
async function turned() {
  tell();
  const slide = Reveal.getCurrentSlide();
  const pictures = [...slide.querySelectorAll(".chart")];
  for (const place of pictures) {
    await draw(place);
    await step(place);
  }
  await shrink(slide, pictures);
  Reveal.layout(); // a picture has made the slide higher
}
["ready", "slidechanged", "fragmentshown", "fragmenthidden"].forEach((event) => Reveal.on(event, turned));
Reveal.initialize({
  hash: true, slideNumber: "c/t", transition: "none", width: 1280, height: 800, margin: 0.03, keyboard: { 83: openNotes },
});
