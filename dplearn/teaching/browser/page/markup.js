// The nodes of the page, without their numbers.
import { ACCOUNTANTS, STYLES } from "./accountants.js";

const escaped = (words) => words.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
const button = (name, words, more = "") => `<button type="button" data-do="${name}" ${more}>${words}</button>`;

/** A sentence with a number that can be dragged for each {name}, and Greek letters in italics. */
function sentence(words, said) {
  const number = (name) =>
    `<b data-drag="${name}" role="slider" tabindex="0" aria-label="${words.names[name]}" title="${words.how}"></b>`;
  return said.replace(/([σδε])/g, "<i>$1</i>").replace(/\{(noise_multiplier|sample_rate|delta|T|budget|rate|N|B)\}/g, (_, name) => number(name));
}

/** Choices where a server knows several kinds of runs, else the one kind in words. */
function choices(words, kinds, name) {
  const all = Object.entries(kinds[name]);
  if (all.length < 2) return words.own[name];
  const options = all.map(([value, said]) => `<option value="${value}">${escaped(said)}</option>`).join("");
  return `<select name="${name}" aria-label="${words.kinds[name]}">${options}</select>`;
}

export function markup(words, presets, kinds) {
  const served = Object.keys(kinds.sampling).length > 1;
  const kind = (said) => said.replace(/\{(mechanism|sampling)\}/g, (_, name) => choices(words, kinds, name));
  const proof = served ? button("prove", words.prove, 'class="dp-prove"') : "";
  const sampled = `<span class="dp-rate"><span class="dp-rate-0"></span>{sample_rate}<span class="dp-rate-1"></span></span><span class="dp-counts">${words.byCounts}</span>`;
  const run = sentence(words, words.sentence.replace("{sampling}", `${sampled}{units}`)).replace("{units}", `${button("units", "⇄", 'class="dp-units"')}\u2060`);
  const options = (all) => all.map(([value, name]) => `<option value="${escaped(value)}">${escaped(name)}</option>`).join("");
  const chosen = options([["", words.preset], ...presets.map(({ title, query }) => [query || "here=10000", title])]);
  const select = `<select name="adjacency" aria-label="${words.kinds.adjacency}" title="${served ? "" : words.unsampled}">${options(Object.entries(words.adjacencies))}</select>`;
  const chips = ACCOUNTANTS.map((name) => `<button type="button" class="dp-chip ${STYLES[name].classes}" data-chip="${name}" title="${escaped(STYLES[name].about[words.code])}">
    <svg viewBox="-8 -8 16 16" aria-hidden="true"><path d="${STYLES[name].outline}"/></svg>${escaped(STYLES[name].label)}</button>`).join("");
  const files = Object.entries(words.files).map(([name, said]) => button(name, said)).join(" ");
  return `<div class="dp" lang="${words.code}">
<header class="dp-top"><h2>${words.title}</h2><select name="preset" aria-label="${words.preset}">${chosen}</select>
 <span class="dp-tools">${button("pin", "")}${button("link", words.link)}${button("language", words.other, 'class="dp-language"')}</span></header>
<p class="dp-unread" role="status"></p>
<section class="dp-say">
 <p class="dp-sentence">${run}</p>
 <div class="dp-answer"><div class="dp-eps"><i>ε</i> <span class="dp-le">≤</span> <output></output></div>
  <div class="dp-proof"><span class="dp-tick" aria-hidden="true"></span> <span class="dp-proved"></span></div><p class="dp-pinned"></p>${proof} <p class="dp-away" role="status"></p></div>
 <p class="dp-plain"></p><p class="dp-claimed"></p>
</section>
<section class="dp-figure">
 <div class="dp-plot"><div class="dp-axisbuttons">${button("logEpsilon", "", `class="dp-logy" aria-label="ε: ${words.log} / ${words.linear}"`)}${button("logT", "", `class="dp-logx" aria-label="T: ${words.log} / ${words.linear}"`)}</div></div>
 <p class="dp-budget">${sentence(words, words.lasts).replace("{go}", button("go", "", 'class="dp-go"'))}</p>
 <div class="dp-chips">${chips}</div>
 <p class="dp-printed-list"></p>
 <p class="dp-assumed">${kind(words.assumed).replace("{adjacency}", select)}</p>
</section>
<aside class="dp-people">
 <div class="dp-crowd"></div>
 <p class="dp-attack">${sentence(words, words.attacker)}<span class="dp-finds"></span></p>
</aside>
<details class="dp-more"><summary>${words.numbers}</summary>
 <p class="dp-note"></p><p class="dp-meet">${words.meet} ${button("noise_multiplier", "σ")} ${button("sample_rate", "q")}</p>
 <table><thead><tr>${words.table.map((name) => `<th>${name}</th>`).join("")}</tr></thead><tbody></tbody></table>
 <p>${files}</p></details>
<div class="dp-live" aria-live="polite"></div>
</div>`;
}
