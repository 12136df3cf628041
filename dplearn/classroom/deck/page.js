// Formulas, and charts that are drawn when they come into sight.
"use strict";

renderMathInElement(document.body, {
  delimiters: [
    { left: "$$", right: "$$", display: true },
    { left: "$", right: "$", display: false },
    { left: "\\[", right: "\\]", display: true },
    { left: "\\(", right: "\\)", display: false },
  ],
  ignoredTags: ["script", "style", "textarea", "pre", "code", "option"],
  throwOnError: false,
});

const draw = (place) => {
  if (place.classList.contains("js-plotly-plot")) return;
  const { data, layout, frames } = JSON.parse(place.querySelector("script").textContent);
  // As wide as its place; on a phone as wide as it was made for, and the place scrolls.
  const { width = 560, ...others } = layout;
  const line = layout.yaxis?.zeroline; // a line of numbers has its names in the middle: it fits
  if (line && width > place.clientWidth) others.margin = { l: 16, r: 16, t: 60, b: 60 };
  const size = width > place.clientWidth && !line ? { width } : { autosize: true };
  const config = { displayModeBar: false, responsive: !size.width };
  Plotly.newPlot(place, { data, layout: { ...others, ...size }, frames, config });
};
const charts = [...document.querySelectorAll(".chart:has(script)")];
const near = new IntersectionObserver(
  (seen) => seen.filter((one) => one.isIntersecting).forEach((one) => draw(one.target)),
  { rootMargin: "600px" },
);
charts.forEach((place) => near.observe(place));
addEventListener("beforeprint", () => charts.forEach(draw)); // paper shows all of them
