// Page of one pair of output distributions in five panels; `mount` draws it.
import { Cache } from "../page/cache.js";
import { button, italics, number, select } from "../page/html.js";
import { clamp, digits, nearest, opened, queryOf } from "../page/numbers.js";
import { People } from "../page/people.js";
import { View, mounting } from "../page/view.js";
import { fromTable } from "./atoms.js";
import { CLOSED, closedForm } from "./laws.js";
import { MESSAGES, probability } from "./messages.js";
import { Pair } from "./pair.js";
import { NAMES, Pictures, SETS } from "./pictures.js";

/** Page of mechanisms: `catalogue` comes from the library, which gets requests for tables by `send(question)`. Without
 * `send`, the page has only closed forms. */
class Page extends View {
  constructor(root, { catalogue, language = "en", send = null }) {
    super(root, MESSAGES);
    this.send = send;
    this.catalogue = new Catalogue(catalogue);
    this.fields = this.catalogue.fields;
    this.names = Object.keys(this.catalogue.mechanisms).filter((name) => send || CLOSED.includes(name));
    this.pairs = new Cache();
    this.asked = "";
    this.refused = "";
    this.spans = null;
    for (const name of NAMES) this.grips[name] = { sets: SETS[name], move: (x, y) => this.pull(name, x, y) };
    this.start("mechanisms", language);
  }

  open(address) {
    const { state, unread } = this.catalogue.opened(address);
    this.run = state;
    this.unread = unread;
    this.fresh = !new URLSearchParams(address).has("epsilon");
    if (!this.names.includes(state.mechanism)) {
      unread.push(`mechanism=${state.mechanism}`);
      state.mechanism = "gaussian";
    }
  }

  build() {
    this.fill(markup(this.words, this.catalogue, this.names), ".dp-plot");
    this.pictures = new Pictures(this.words);
    this.measured = false;
    this.svg = this.pictures.svg;
    this.find(".dp-plot").append(this.svg);
    this.people = new People(this.find(".dp-crowd"), this.words);
  }

  renew() {
    this.find(".dp-parameters").innerHTML = parameters(this.words, this.catalogue, this.run);
    this.built = this.catalogue.used(this.run).join();
    super.renew();
  }

  /** Set a panel's number from a position in the panel. */
  pull(picture, x, y) {
    const name = SETS[picture];
    const value = picture === "outputs" ? this.pictures.epsilonAt(x, y, this.view.pair.law.outputs) : this.pictures.of[picture].x.value(x);
    if (Number.isFinite(value)) this.change(name, digits(clamp(value, ...this.fields[name].ends), 3));
  }

  measure() {
    const plot = this.find(".dp-plot");
    const width = Math.round(plot.clientWidth);
    if (!width) return;
    const above = plot.getBoundingClientRect().top + scrollY;
    const people = this.find(".dp-people");
    const beside = getComputedStyle(this.body).display === "grid";
    this.pictures.place(width, clamp(innerHeight - above - 56, 540, 820), beside ? [people.offsetWidth, people.offsetHeight] : [0, 0]);
    this.measured = true;
    this.schedule();
  }

  change(name, value) {
    const field = this.fields[name];
    this.run = { ...this.run, [name]: field.ends ? nearest(field, value) : value };
    this.unread = [];
    this.schedule();
  }

  choose({ name, value }) {
    if (!(name in this.run)) return;
    this.change(name, value);
    this.fresh = name === "mechanism";
    if (this.fresh) this.spans = null;
    if (this.built === this.catalogue.used(this.run).join()) this.rest();
    else this.renew();
  }

  update({ language, answer }) {
    super.update({ language });
    if (!answer || this.pairs.has(answer.key)) return;
    if (answer.table) this.pairs.set(answer.key, new Pair(fromTable(answer.table)));
    if (answer.key === this.asked) this.refused = answer.refused?.[this.words.code] ?? "";
    this.schedule();
  }

  /** Return the pair of the state, or undefined if only the server can compute it. */
  pair() {
    const asked = this.catalogue.asked(this.run);
    const key = JSON.stringify(asked);
    const law = this.pairs.has(key) ? null : closedForm(asked.mechanism, asked, asked.adjacency);
    if (law) this.pairs.set(key, new Pair(law));
    return this.pairs.get(key);
  }

  draw() {
    const known = this.pair();
    const pair = known ?? this.view?.pair;
    this.waiting = !known;
    if (pair && this.measured) {
      // Replace the default epsilon where delta would be too small to see, below 5 % of delta(0).
      const faint = pair.law.logDelta(this.run.epsilon) <= pair.total + Math.log(0.05);
      if (this.fresh && known && faint) this.change("epsilon", digits(pair.epsilonAt(pair.total - Math.LN2), 2));
      this.fresh &&= !known;
      this.view = this.seen(pair);
      if (this.pictures.shows(pair.law.outputs)) this.measure();
      const wanted = this.pictures.spans(this.view);
      this.spans = this.drag.held && this.spans ? grown(this.spans, wanted) : wanted;
      this.pictures.draw(this.view, this.spans);
    }
    this.writeText();
    this.body.dataset.drawn = this.waiting ? "0" : "1";
  }

  /** Return the values of a pair at the state's epsilon, order and rate. */
  seen(pair) {
    const { run: state } = this;
    const { epsilon, order, false_positive_rate: rate } = state;
    const { adjacency, direction } = this.catalogue.asked(state);
    const logDelta = pair.law.logDelta(epsilon);
    const divergence = pair.law.renyi(order);
    return {
      pair, state, epsilon, logDelta, divergence, delta: probability(logDelta), exact: pair.exact,
      role: adjacency === "replace_one" ? "replace" : direction, tail: pair.law.tails(epsilon)[0],
      true_positive_rate: pair.true_positive_rate(rate), converted: pair.converted(order, logDelta, divergence),
    };
  }

  writeText() {
    const { words, run: state, catalogue, view, waiting } = this;
    this.writeNumbers();
    const { covered, two_sided, conditions } = catalogue.mechanisms[state.mechanism];
    const chosen = { ...state, adjacency: catalogue.adjacency(state), base: catalogue.base(state) };
    for (const node of this.all("select")) {
      node.value = chosen[node.name];
      if (node.name === "adjacency") for (const option of node.options) option.disabled = !covered.includes(option.value);
      if (node.name === "direction") node.hidden = !two_sided;
    }
    this.write(".dp-unread", words.unread(this.unread) || (waiting && !this.send ? words.elsewhere : this.refused));
    const { real, reason, conditions: own = conditions } = view?.pair.law ?? {};
    this.write(".dp-assumed", words.assumed(own[words.code]) + (real ? words.real : "") + (reason ? words.none(reason[words.code]) : ""));
    this.body.classList.toggle("dp-waiting", waiting);
    if (!view) return;
    this.write(".dp-le", view.exact ? "=" : "≤");
    this.write(".dp-eps output", view.delta);
    this.write(".dp-proof", words.proof({ exact: view.exact, waiting: waiting && this.send }));
    this.write(".dp-proves", words.proves(view));
    const rate = state.false_positive_rate;
    this.people.show(view.true_positive_rate, rate);
    this.write(".dp-finds", words.finds(view.true_positive_rate, rate));
  }

  /** Write the address, and request the pair's table if it is missing. */
  rested() {
    this.writeAddress(this.catalogue.written(this.run));
    const question = this.catalogue.asked(this.run);
    const key = JSON.stringify(question);
    if (this.send && !this.pair() && key !== this.asked) {
      this.refused = "";
      this.send({ key, ...question });
    }
    this.asked = key;
    if (this.view) this.write(".dp-live", this.words.heard(this.view));
    this.schedule();
  }
}

export const mount = mounting(Page);

/** Return the union of spans, so that axes only grow during a drag. */
const grown = (now, wanted) => now.map((axes, i) => axes.map((axis, j) => {
  const { low, high } = wanted[i][j];
  return { ...axis, low: Math.min(axis.low, low), high: Math.max(axis.high, high) };
}));

/** Return the HTML of the parameters of a state, each a number or a choice. */
function parameters(words, catalogue, state) {
  const { mechanisms, numbers } = catalogue;
  const own = mechanisms[state.mechanism];
  const about = { ...mechanisms[catalogue.base(state)]?.about, ...own.about };
  return catalogue.used(state).map((key) => {
    if (key === "example") return select(key, words.example, own.examples.map((said, i) => [String(i + 1), said]));
    if (key === "base") return select(key, words.base, own.bases.map((name) => [name, mechanisms[name].title[words.code]]));
    const label = numbers[key].label[words.code];
    return `<span class="dp-part">${italics(label[0].toLowerCase() + label.slice(1))} = ${number(words, key, label, about[key]?.[words.code])}</span>`;
  }).join(words.and);
}

/** Return the HTML of the page, without its numbers. */
function markup(words, { mechanisms, numbers }, names) {
  // Text in additional braces is not broken across lines.
  const put = (said) => italics(said).replace(/\{((?:[^{}]*\{\w+\})+[^{}]*)\}/g, '<span class="dp-part">$1</span>')
    .replace(/\{(epsilon|order|false_positive_rate)\}/g, (_, name) => number(words, name, numbers[name].label[words.code]))
    .replace("{mechanism}", select("mechanism", words.choose, names.map((name) => [name, mechanisms[name].title[words.code]])))
    .replace("{adjacency}", select("adjacency", words.neighbours, Object.entries(words.adjacencies)))
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

/** State of the page and its address: mechanism, parameters, adjacency, direction, epsilon, order and rate. The library's
 * catalogue lists the mechanisms and the ranges of numbers. */
class Catalogue {
  /** `mechanisms`: title, own keys, bases, examples, neighbours and conditions of each; `numbers`:
   * label, ends and start of each. */
  constructor({ mechanisms, numbers }) {
    this.mechanisms = mechanisms;
    this.numbers = numbers;
    const names = Object.keys(mechanisms);
    const dragged = Object.entries(numbers).map(([name, number]) => [name, { digits: 3, pixels: 150, ...number }]);
    this.fields = {
      mechanism: { options: names, start: "gaussian" }, base: { options: names, start: "gaussian" },
      example: { options: ["1", "2", "3"], start: "1" }, adjacency: { options: ["add_remove", "replace_one", "zero_out"], start: "add_remove" },
      direction: { options: ["remove", "add"], start: "remove" }, ...Object.fromEntries(dragged),
    };
  }

  /** Return the keys of a mechanism's parameters; the base mechanism's keys follow the key "base". */
  used(state, name = state.mechanism) {
    const { keys, examples } = this.mechanisms[name];
    return [...(examples ? ["example"] : []), ...keys.flatMap((key) => (key === "base" ? [key, ...this.used(state, this.base(state, name))] : [key]))];
  }

  /** Return the chosen base mechanism, or the first one if the choice is not available. */
  base(state, name = state.mechanism) {
    const { bases } = this.mechanisms[name];
    return bases.includes(state.base) ? state.base : bases[0];
  }

  /** Return the chosen adjacency, or the first one if no theorem covers the choice. */
  adjacency(state) {
    const { covered } = this.mechanisms[state.mechanism];
    return covered.includes(state.adjacency) ? state.adjacency : covered[0];
  }

  /** Return all values that determine the pair, as a question to the server. */
  asked(state) {
    const own = this.used(state).map((key) => [key, key === "base" ? this.base(state) : state[key]]);
    const { mechanism, direction } = state;
    return { mechanism, ...Object.fromEntries(own), adjacency: this.adjacency(state), direction };
  }

  written(state) {
    const named = ["mechanism", ...this.used(state), "adjacency", "direction", "epsilon", "order", "false_positive_rate"];
    return queryOf(state, Object.fromEntries(named.map((key) => [key, this.fields[key]]))).toString();
  }

  opened(address) {
    const { state, unread } = opened(address, this.fields);
    const covered = this.adjacency(state) === state.adjacency || state.adjacency === this.fields.adjacency.start;
    return { state, unread: covered ? unread : [...unread, `adjacency=${state.adjacency}`] };
  }
}
