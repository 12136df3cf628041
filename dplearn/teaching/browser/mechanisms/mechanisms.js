// Page of one pair of output distributions in five panels; `mount` draws it.
import { Cache } from "../page/cache.js";
import { button, italics, number, select } from "../page/html.js";
import { clamp, digits, nearest, opened, queryOf } from "../page/numbers.js";
import { People } from "../page/people.js";
import { View, mounting } from "../page/view.js";
import { improved } from "../renyi.js";
import { fromTable } from "./atoms.js";
import { CLOSED, closedForm } from "./laws.js";
import { MESSAGES, probability } from "./messages.js";
import { Pair } from "./pair.js";
import { NAMES, Pictures, SETS } from "./pictures.js";

/** Page of mechanisms. The library's `catalogue` has the title, own keys, bases, examples, neighbours and conditions of each
 * mechanism, and the label, ends and start of each number. The library gets requests for tables by `send(question)`; without
 * `send`, the page has only closed forms. */
class Page extends View {
  constructor(root, { catalogue, language = "en", send = null }) {
    super(root, MESSAGES);
    this.send = send;
    this.mechanisms = catalogue.mechanisms;
    this.numbers = catalogue.numbers;
    const options = Object.keys(this.mechanisms);
    const dragged = Object.entries(this.numbers).map(([name, number]) => [name, { digits: 3, pixels: 150, ...number }]);
    this.fields = {
      mechanism: { options, start: "gaussian" }, base: { options, start: "gaussian" },
      example: { options: ["1", "2", "3"], start: "1" }, adjacency: { options: ["add_remove", "replace_one", "zero_out"], start: "add_remove" },
      direction: { options: ["remove", "add"], start: "remove" }, ...Object.fromEntries(dragged),
    };
    this.names = options.filter((name) => send || CLOSED.includes(name));
    this.pairs = new Cache();
    this.asked = "";
    this.refused = "";
    this.spans = null;
    for (const name of NAMES) this.grips[name] = { sets: SETS[name], move: (x, y) => this.pull(name, x, y) };
    this.start("mechanisms", language);
  }

  open(address) {
    const { state, unread } = opened(address, this.fields);
    this.run = state;
    this.unread = unread;
    this.fresh = !new URLSearchParams(address).has("epsilon");
    if (![this.adjacency(), "add_remove"].includes(state.adjacency)) unread.push(`adjacency=${state.adjacency}`);
    if (!this.names.includes(state.mechanism)) {
      unread.push(`mechanism=${state.mechanism}`);
      state.mechanism = "gaussian";
    }
  }

  build() {
    this.fill(markup(this), ".dp-plot");
    this.pictures = new Pictures(this.words);
    this.measured = false;
    this.svg = this.pictures.svg;
    this.find(".dp-plot").append(this.svg);
    this.people = new People(this.find(".dp-crowd"), this.words);
  }

  renew() {
    this.find(".dp-parameters").innerHTML = this.parameters();
    this.built = this.used().join();
    super.renew();
  }

  /** Return the HTML of the state's parameters, each a number or a choice. */
  parameters() {
    const { words, mechanisms } = this;
    const own = mechanisms[this.run.mechanism];
    const about = { ...mechanisms[this.base()]?.about, ...own.about };
    return this.used().map((key) => {
      if (key === "example") return select(key, words.example, own.examples.map((said, i) => [String(i + 1), said]));
      if (key === "base") return select(key, words.base, own.bases.map((name) => [name, mechanisms[name].title[words.code]]));
      const label = this.numbers[key].label[words.code];
      return `<span class="dp-part">${italics(label[0].toLowerCase() + label.slice(1))} = ${number(words, key, label, about[key]?.[words.code])}</span>`;
    }).join(words.and);
  }

  /** Return the keys of a mechanism's parameters; the base mechanism's keys follow the key "base". */
  used(name = this.run.mechanism) {
    const { keys, examples } = this.mechanisms[name];
    return [...(examples ? ["example"] : []), ...keys.flatMap((key) => (key === "base" ? [key, ...this.used(this.base(name))] : [key]))];
  }

  /** Return the chosen base mechanism, or the first one if the choice is not available. */
  base(name = this.run.mechanism) {
    const { bases } = this.mechanisms[name];
    return bases.includes(this.run.base) ? this.run.base : bases[0];
  }

  /** Return the chosen adjacency, or the first one if no theorem covers the choice. */
  adjacency() {
    const { covered } = this.mechanisms[this.run.mechanism];
    return covered.includes(this.run.adjacency) ? this.run.adjacency : covered[0];
  }

  /** Return all values that determine the pair, as a question to the server. */
  question() {
    const own = this.used().map((key) => [key, key === "base" ? this.base() : this.run[key]]);
    const { mechanism, direction } = this.run;
    return { mechanism, ...Object.fromEntries(own), adjacency: this.adjacency(), direction };
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
    const withLaws = !this.view || Boolean(this.view.pair.law.outputs);
    this.pictures.place(width, clamp(innerHeight - above - 56, 540, 820), beside ? [people.offsetWidth, people.offsetHeight] : [0, 0], withLaws);
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
    if (this.built === this.used().join()) this.rest();
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
    const asked = this.question();
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
      if (this.pictures.withLaws !== Boolean(pair.law.outputs)) this.measure();
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
    const logDelta = pair.law.logDelta(epsilon);
    const divergence = pair.law.renyi(order);
    return {
      pair, state, epsilon, logDelta, divergence, delta: probability(logDelta), exact: pair.exact,
      role: this.adjacency() === "replace_one" ? "replace" : state.direction, tail: pair.law.tails(epsilon)[0],
      true_positive_rate: pair.true_positive_rate(rate), converted: Math.max(improved(order, divergence, logDelta), 0),
    };
  }

  writeText() {
    const { words, run: state, view, waiting } = this;
    this.writeNumbers();
    const { covered, two_sided, conditions } = this.mechanisms[state.mechanism];
    const chosen = { ...state, adjacency: this.adjacency(), base: this.base() };
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
    const named = ["mechanism", ...this.used(), "adjacency", "direction", "epsilon", "order", "false_positive_rate"];
    this.writeAddress(queryOf(this.run, Object.fromEntries(named.map((key) => [key, this.fields[key]]))).toString());
    const question = this.question();
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

/** Return the HTML of the page, without its numbers. */
function markup({ words, mechanisms, numbers, names }) {
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
