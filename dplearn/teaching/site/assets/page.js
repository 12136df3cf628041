// Formulas, and charts with a range input as slider, which are drawn when they come near the screen.
"use strict";

const home = document.currentScript.src;
const formulas = (place) => {
  renderMathInElement(place, {
    delimiters: [["$$", "$$", true], ["$", "$", false], ["\\[", "\\]", true], ["\\(", "\\)", false]]
      .map(([left, right, display]) => ({ left, right, display })),
    ignoredTags: ["script", "style", "textarea", "pre", "code", "option"],
    throwOnError: false,
  });
  // Move punctuation after a formula into the formula's last part, so that it does not begin a line.
  place.querySelectorAll("span > .katex > .katex-html > .base:last-child").forEach((last) => {
    const next = last.closest(".katex").parentElement.nextSibling;
    const stop = next?.nodeType === Node.TEXT_NODE && /^[.,;:!?)"]+/.exec(next.data)?.[0];
    if (!stop) return;
    next.data = next.data.slice(stop.length);
    last.append(Object.assign(document.createElement("span"), { className: "stop", textContent: stop }));
  });
};
formulas(document.body);
// Shrink the font of an element that is too wide, but not below the share `least`. A formula that is much
// too wide is broken into lines before; a printed table that is still too wide afterwards wraps.
const shrunk = (one, least = 0.6) => {
  const share = one.clientWidth / one.scrollWidth;
  const size = parseFloat(getComputedStyle(one).fontSize);
  if (share < 1) one.style.fontSize = `${size * Math.max(least, 0.97 * share)}px`;
  return share;
};
document.querySelectorAll(".katex-display").forEach((one) => {
  if (one.clientWidth < 0.75 * one.scrollWidth) one.classList.add("lines");
  shrunk(one);
});
document.querySelectorAll("pre.output").forEach((one) => {
  if (!/\S {2,}\S.*\n.*\S {2,}\S/.test(one.textContent)) return;
  one.style.whiteSpace = "pre";
  if (shrunk(one, 0.5) < 0.6) one.style.whiteSpace = "";
});

// Plotly has 4.8 MB and is loaded with the first chart.
let library;
const plotly = () => library ??= new Promise((onload, onerror) => {
  const src = new URL("plotly.min.js", home);
  document.head.append(Object.assign(document.createElement("script"), { src, onload, onerror }));
});

const NARROW = 600; // below this width in pixels, panels stand one below the other
const stacked = (layout) => {
  const domains = { xaxis: [0, 1], xaxis2: [0, 1], yaxis: [0.6, 1], yaxis2: [0, 0.4] };
  const axes = Object.entries(domains).map(([name, domain]) => [name, { ...layout[name], domain }]);
  return { ...layout, height: 2 * layout.height - 60, ...Object.fromEntries(axes) };
};

// Return the layout for a width, and the width to draw it in; a wider picture is scaled down.
function fitted({ width = 760, title, sliders, ...others }, room) {
  const margin = { r: 130, t: 60, b: 60, ...others.margin };
  margin.t -= title?.subtitle ? 60 : 40; // the title stands above the chart
  if (sliders) margin.b -= 50; // the slider stands below it
  const layout = { ...others, margin, height: others.height - 40 - (sliders ? 110 : 0) };
  if (room >= NARROW) return [layout, document.fullscreenElement ? width : Math.max(room, width)];
  if (layout.xaxis2) return [stacked(layout), 330 + margin.r];
  const turned = { ...layout, xaxis: { ...layout.xaxis, automargin: true } }; // tilts long tick labels
  if (!layout.yaxis?.zeroline) return [turned, 360 + margin.r];
  return [{ ...layout, margin: { l: 16, r: 16, t: 20, b: 50 } }, 440]; // a number line has its names inside
}

// Draw a figure in its place, at the step that its slider shows.
function show(place) {
  const { data, layout, frames = [] } = place.figure;
  const plot = place.querySelector("[role=img]");
  const [fit, width] = fitted(layout, plot.clientWidth);
  const scale = plot.clientWidth / width;
  const inner = document.createElement("div");
  inner.style = `width: ${width}px; transform: scale(${scale}); transform-origin: 0 0`;
  plot.style.height = `${fit.height * scale}px`;
  plot.replaceChildren(inner);
  const steps = frames.map(({ name, data }) => ({ name, data })); // without titles, which are above the chart
  const drawn = Plotly.newPlot(inner, { data, layout: fit, frames: steps, config: { displayModeBar: false } });
  return drawn.then(() => frames.length && move(place));
}

function move(place) {
  const { layout: { sliders: [{ steps, currentvalue }] }, frames } = place.figure;
  const [words, input] = place.querySelector(".slider").children;
  words.textContent = currentvalue.prefix + steps[input.value].label;
  input.setAttribute("aria-valuetext", words.textContent);
  place.querySelector(".title").innerHTML = frames[input.value].layout.title.text;
  const still = { mode: "immediate", frame: { duration: 0, redraw: true }, transition: { duration: 0 } };
  return Plotly.animate(place.querySelector(".js-plotly-plot"), [frames[input.value].name], still);
}

// Write the title and the slider of a chart at once, and draw the chart when Plotly is loaded.
const draw = (place) => (place.clientWidth ? place.drawn ??= begin(place) : null); // in a closed section, a chart has no width
async function begin(place) {
  place.figure = JSON.parse(place.querySelector("script").textContent);
  const { title, sliders } = place.figure.layout;
  const below = title.subtitle ? `<br><small>${title.subtitle.text}</small>` : "";
  place.insertAdjacentHTML("afterbegin", `<div class="title">${title.text}${below}</div>`);
  if (sliders) {
    const [{ active, steps }] = sliders;
    const input = `<input type="range" max="${steps.length - 1}" value="${active}">`;
    place.insertAdjacentHTML("beforeend", `<label class="slider"><output></output>${input}</label>`);
    place.querySelector("input").addEventListener("input", () => window.Plotly && move(place));
  }
  await plotly();
  await show(place);
}

const charts = [...document.querySelectorAll(".chart:has(script)")];
// A chart that shows a still image is drawn only after the reader scrolls, points or presses a key.
const moved = new Promise((done) => {
  for (const kind of ["scroll", "pointermove", "pointerdown", "keydown"]) addEventListener(kind, done, { once: true });
});
const due = (place) => (place.querySelector("img") ? moved.then(() => draw(place)) : draw(place));
const drawSeen = (entries) => entries.filter((one) => one.isIntersecting).forEach((one) => due(one.target));
const near = new IntersectionObserver(drawSeen, { rootMargin: "600px" });
charts.forEach((place) => near.observe(place));
const drawAll = () => Promise.all(charts.map(draw));
// In print, a chart has the page's width, and a chart that was not drawn shows its text.
const refit = () => charts.filter(({ figure, clientWidth }) => figure && clientWidth && window.Plotly).forEach(show);
let room = innerWidth;
addEventListener("resize", () => {
  if (innerWidth !== room) refit();
  room = innerWidth;
});
