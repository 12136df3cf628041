// The search on every page; its index is loaded at the first key press.
"use strict";

const [search, hits] = ["search", "hits"].map((id) => document.getElementById(id));
const bare = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase(); // renyi finds Rényi
const loaded = () => new Promise((done) => {
  if (globalThis.sections) return done();
  const onload = () => done(sections.forEach((section) => section.push(...section.slice(1).map(bare))));
  document.head.append(Object.assign(document.createElement("script"), { src: `${search.dataset.root}assets/index.js`, onload }));
});

// Return the sentence with the most search words or, if it is long, its part around the first of them.
function sentence(text, words) {
  const found = (part) => words.filter((word) => bare(part).includes(word)).length;
  const [best] = text.split(/(?<=[.?!:;]) (?=\S)/).sort((a, b) => found(b) - found(a));
  if (best.length < 240) return best;
  const at = Math.max(0, Math.min(...words.map((word) => bare(best).indexOf(word)).filter((i) => i >= 0), 1e4) - 100);
  return `${at ? "… " : ""}${best.slice(at, at + 220).replace(/^\S*\s|\s\S*$/g, "")} …`;
}

// Return the words of a text, with the search words marked.
function marked(text, words) {
  const parts = text.split(/(\s+)/);
  return parts.map((part) => {
    if (!words.some((word) => bare(part).includes(word)) || part.includes("$")) return part;
    return Object.assign(document.createElement("mark"), { textContent: part });
  });
}

function hit([path, title, heading, text], words) {
  const [item, link, quote] = ["li", "a", "p"].map((tag) => document.createElement(tag));
  link.href = search.dataset.root + path;
  link.textContent = heading ? `${title} › ${heading}` : title;
  quote.append(...marked(sentence(text, words), words));
  item.append(link, quote);
  return item;
}

search.addEventListener("input", async () => {
  await loaded();
  const words = bare(search.value).split(/\s+/).filter(Boolean);
  // A word counts most in a title, less in a heading, and least in the text.
  const points = (word, [, , , , title, heading, text]) =>
    title.includes(word) ? 4 : heading.includes(word) ? 2 : text.includes(word) ? 1 : -1e9;
  const ranked = sections.map((section) => [words.reduce((sum, word) => sum + points(word, section), 0), section]);
  const found = ranked.filter(([sum]) => sum > 0).sort(([a], [b]) => b - a).map(([, section]) => section);
  const times = {}; // at most two sections of a page are listed
  const few = found.filter(([, title]) => (times[title] = (times[title] ?? 0) + 1) <= 2).slice(0, 12);
  hits.replaceChildren(...few.map((section) => hit(section, words)));
  if (typeof formulas === "function") formulas(hits);
  hits.hidden = !words.length;
  if (words.length && !few.length) hits.textContent = "Nothing found.";
});
search.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") hits.hidden = true;
});
