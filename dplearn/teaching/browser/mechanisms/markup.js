// HTML of the page, without its numbers.
import { button, italics, number, select } from "../page/html.js";

/** Return the HTML of the parameters of a state, each a number or a choice. */
export function parameters(words, catalogue, state) {
  const { mechanisms, numbers } = catalogue;
  const choice = {
    example: () => select("example", words.example, mechanisms[state.mechanism].examples.map((said, i) => [String(i + 1), said])),
    base: () => select("base", words.base, mechanisms[state.mechanism].bases.map((name) => [name, mechanisms[name].title[words.code]])),
  };
  const about = { ...mechanisms[catalogue.base(state)]?.about, ...mechanisms[state.mechanism].about };
  const said = (key) => {
    if (choice[key]) return choice[key]();
    const label = numbers[key].label[words.code];
    return `<span class="dp-part">${italics(label[0].toLowerCase() + label.slice(1))} = ${number(words, key, label, about[key]?.[words.code])}</span>`;
  };
  return catalogue.used(state).map(said).join(words.and);
}

export function markup(words, catalogue, names) {
  const { mechanisms, numbers } = catalogue;
  const label = (key) => numbers[key].label[words.code];
  // Text in additional braces is not broken across lines.
  const put = (said) => italics(said).replace(/\{((?:[^{}]*\{\w+\})+[^{}]*)\}/g, '<span class="dp-part">$1</span>')
    .replace(/\{(epsilon|order|false_positive_rate)\}/g, (_, name) => number(words, name, label(name)))
    .replace("{mechanism}", select("mechanism", words.choose, names.map((name) => [name, mechanisms[name].title[words.code]])))
    .replace("{adjacency}", `${select("adjacency", words.neighbours, Object.entries(words.adjacencies))}`)
    .replace("{direction}", select("direction", words.whose, Object.entries(words.directions)))
    .replace("{parameters}", '<span class="dp-parameters"></span>');
  return `<div class="dp dp-five" lang="${words.code}">
<div class="dp-unread" role="status"></div>
<section class="dp-say">
 <p class="dp-sentence">${put(words.sentence)}</p>
 <p class="dp-plain">${put(words.order)}<span class="dp-proves"></span></p>
 <div class="dp-answer"><div class="dp-eps"><i>δ</i> <span class="dp-le"></span> <output></output></div><div class="dp-proof"></div></div>
</section>
<section class="dp-figure"><div class="dp-plot"></div></section>
<aside class="dp-people">
 <div class="dp-crowd"></div>
 <p class="dp-attack">${put(words.attacker)}<span class="dp-finds"></span></p>
</aside>
<footer class="dp-foot"><p class="dp-assumed"></p><p class="dp-tools">${button("language", words.other)}</p></footer>
<div class="dp-live" aria-live="polite"></div>
</div>`;
}
