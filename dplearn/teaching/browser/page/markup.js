// HTML of the page, without its numbers.
import { ACCOUNTANTS, STYLES } from "./accountants.js";
import { button, escaped, italics, number, select } from "./html.js";
import { FIELDS } from "./run.js";

/** Return a sentence with a draggable number for each {name} of a field. */
const sentence = (words, said) =>
  italics(said).replace(/\{(\w+)\}/g, (whole, name) => (name in FIELDS ? number(words, name, words.names[name]) : whole));

/** Return a list of the server's kinds of runs, or the name of the only kind. */
function choices(words, kinds, name) {
  const all = Object.entries(kinds[name]);
  return all.length < 2 ? words.own[name] : select(name, words.kinds[name], all);
}

export function markup(words, presets, kinds) {
  const kind = (said) => said.replace(/\{(mechanism|sampling)\}/g, (_, name) => choices(words, kinds, name));
  const proof = Object.keys(kinds.sampling).length > 1 ? button("prove", words.prove, 'class="dp-prove"') : "";
  const sampled = `<span class="dp-rate"><span class="dp-rate-0"></span>{sample_rate}<span class="dp-rate-1"></span></span><span class="dp-counts">${words.byCounts}</span>`;
  const run = sentence(words, words.sentence.replace("{unit}", '<span class="dp-unit"></span>').replace("{sampling}", `${sampled}{units}`)).replace("{units}", button("units", "⇄", 'class="dp-units"') + (words.code === "zh" ? "\u2060" : ""));
  const published = select("preset", words.preset, [["", words.preset], ...presets.map(({ title, query }) => [query || "here=10000", title])]);
  const adjacency = select("adjacency", words.kinds.adjacency, Object.entries(words.adjacencies));
  const chips = ACCOUNTANTS.map((name) => `<button type="button" class="dp-chip ${STYLES[name].classes}" data-chip="${name}" title="${escaped(STYLES[name].about[words.code])}">
    <svg viewBox="-8 -8 16 16" aria-hidden="true"><path d="${STYLES[name].outline}"/></svg>${escaped(STYLES[name].label[words.code])}</button>`).join("");
  return `<div class="dp" lang="${words.code}">
<header class="dp-top"><h2>${words.title}</h2>${published}
 <span class="dp-tools">${button("pin", "")}${button("language", words.other, 'class="dp-language"')}</span></header>
<p class="dp-unread" role="status"></p>
<section class="dp-say">
 <p class="dp-sentence">${run}</p>
 <div class="dp-answer"><div class="dp-eps"><i>ε</i> <span class="dp-le">≤</span> <output></output></div>
  <div class="dp-proof"><span class="dp-tick" aria-hidden="true"></span> <span class="dp-proved"></span></div><p class="dp-pinned"></p>${proof} <p class="dp-away" role="status"></p></div>
 <p class="dp-plain"></p><p class="dp-claimed"></p>
</section>
<section class="dp-figure">
 <div class="dp-plot"><div class="dp-axisbuttons">${button("logEpsilon", "", `class="dp-logy" aria-label="ε: ${words.log} / ${words.linear}"`)}</div></div>
 <p class="dp-budget">${sentence(words, words.lasts).replace("{go}", button("go", "", 'class="dp-go"'))}</p>
 <div class="dp-chips">${chips}</div>
 <p class="dp-printed-list"></p>
 <p class="dp-assumed">${kind("{mechanism} {sampling} {adjacency}").replace("{adjacency}", adjacency)}</p>
</section>
<aside class="dp-people">
 <div class="dp-crowd"></div>
 <p class="dp-attack">${sentence(words, words.attacker)}<span class="dp-finds"></span></p>
</aside>
<details class="dp-more"><summary>${words.numbers}</summary>
 <p class="dp-note"></p><p class="dp-meet">${words.meet} ${button("noise_multiplier", "σ")}</p>
 <table><thead><tr>${words.table.map((name) => `<th>${name}</th>`).join("")}</tr></thead><tbody></tbody></table>
 <p>${button("python", words.python)}</p></details>
<div class="dp-live" aria-live="polite"></div>
</div>`;
}
