// Formulas, charts that are drawn when they come into sight, and the search of every page.
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
  const { data, layout, frames } = JSON.parse(place.querySelector("script").textContent);
  const { width, ...others } = layout;
  const free = { ...others, autosize: true };
  return Plotly.newPlot(place, { data, layout: free, frames, config: { displayModeBar: false, responsive: true } });
};
const charts = [...document.querySelectorAll(".chart:has(script)")];
const near = new IntersectionObserver(
  (seen) => seen.filter((one) => one.isIntersecting).forEach(({ target }) => {
    near.unobserve(target);
    draw(target);
  }),
  { rootMargin: "600px" },
);
charts.forEach((place) => near.observe(place));
// Paper shows all of them.
addEventListener("beforeprint", () => charts.forEach((place) => {
  if (!place.classList.contains("js-plotly-plot")) draw(place);
}));

const [search, hits] = ["search", "hits"].map((id) => document.getElementById(id));
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  // A title counts more than the text.
  const rank = ([, title, text]) => words.map((word) =>
    title.toLowerCase().includes(word) ? 2 : text.includes(word) ? 1 : -1e9).reduce((a, b) => a + b, 0);
  const ranked = PAGES.map((page) => [rank(page), page]).filter(([points]) => points > 0);
  ranked.sort(([a], [b]) => b - a);
  hits.replaceChildren(...ranked.slice(0, 12).map(([, [path, title]]) => {
    const [item, link] = ["li", "a"].map((tag) => document.createElement(tag));
    link.href = search.dataset.root + path;
    link.textContent = title;
    item.append(link);
    return item;
  }));
  hits.hidden = !words.length;
  if (words.length && !ranked.length) hits.textContent = "Nothing found.";
});
