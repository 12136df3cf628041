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

async function turned() {
  tell();
  for (const place of Reveal.getCurrentSlide().querySelectorAll(".chart")) {
    await draw(place);
    if (place.parentElement.querySelector(".fragment")) await grow(place);
  }
  Reveal.layout(); // a picture has made the slide higher
}
["ready", "slidechanged", "fragmentshown", "fragmenthidden"].forEach((event) => Reveal.on(event, turned));
Reveal.initialize({
  hash: true, slideNumber: "c/t", transition: "none", width: 1280, height: 800, margin: 0.03, keyboard: { 83: openNotes },
});
