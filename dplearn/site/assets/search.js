// The search of every page; what it looks through is loaded with the first key.
"use strict";

const [search, hits] = ["search", "hits"].map((id) => document.getElementById(id));
const loaded = () => new Promise((done) => {
  if (globalThis.pages) return done();
  const script = document.createElement("script");
  script.src = `${search.dataset.root}assets/index.js`;
  script.onload = done;
  document.head.append(script);
});
search.addEventListener("input", async () => {
  await loaded();
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  // A title counts more than the text.
  const rank = ([, title, text]) => words.map((word) =>
    title.toLowerCase().includes(word) ? 2 : text.includes(word) ? 1 : -1e9).reduce((a, b) => a + b, 0);
  const ranked = pages.map((page) => [rank(page), page]).filter(([points]) => points > 0);
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
