// Page of one pair of output distributions in five panels; `mount` draws it.
import { Drag } from "../page/drag.js";
import { clamp, digits, heard, nearest } from "../page/numbers.js";
import { People } from "../page/people.js";
import { describe } from "../page/shapes.js";
import { View, mounting } from "../page/view.js";
import { fromTable } from "./atoms.js";
import { CLOSED, closedForm } from "./laws.js";
import { markup, parameters } from "./markup.js";
import { Pair } from "./pair.js";
import { NAMES, Pictures, SETS } from "./pictures.js";
import { Catalogue } from "./state.js";
import { MESSAGES, probability } from "./messages.js";

const KEPT = 300;
// Below this part of delta(0), delta at epsilon is too small to see.
const FAINT = Math.log(0.05);

/** The page: `catalogue` is the library's, and `send(question)` requests a table from it. Without `send` the
 * page has only closed forms. */
class Page extends View {
  constructor(root, { catalogue, language = "en", send = null }) {
    super(root);
    this.send = send;
    this.catalogue = new Catalogue(catalogue);
    this.names = Object.keys(this.catalogue.mechanisms).filter((name) => send || CLOSED.includes(name));
    this.pairs = new Map();
    this.asked = "";
    this.refused = "";
    this.spans = null;
    this.start("mechanisms", language);
  }

  open(asked) {
    const { state, unread } = this.catalogue.opened(asked);
    this.state = state;
    this.unread = unread;
    this.fresh = !new URLSearchParams(asked).has("epsilon");
    if (!this.names.includes(this.state.mechanism)) {
      this.unread.push(`mechanism=${this.state.mechanism}`);
      this.state = { ...this.state, mechanism: "gaussian" };
    }
  }

  /** Build all nodes in one language. */
  speakIn(language) {
    this.words = MESSAGES[language] ?? MESSAGES.en;
    this.fill(markup(this.words, this.catalogue, this.names), ".dp-plot");
    this.pictures = new Pictures(this.words);
    this.measured = false;
    this.svg = this.pictures.svg;
    this.find(".dp-plot").append(this.svg);
    this.people = new People(this.find(".dp-crowd"), this.words);
    this.drag = new Drag(this.body, this, { fields: this.catalogue.fields, value: (name) => this.state[name], grips: this.grips() });
    this.renew();
  }

  /** Build the parameters of the mechanism in view. */
  renew() {
    this.find(".dp-parameters").innerHTML = parameters(this.words, this.catalogue, this.state);
    this.built = this.catalogue.used(this.state).join();
    super.renew();
  }

  /** Return the drag handlers of the panels. */
  grips() {
    const at = (picture, name) => (x, y) => {
      const { outputs } = this.view.pair.law;
      const value = picture === "outputs" ? this.pictures.epsilonAt(x, y, outputs) : this.pictures.of[picture].x.value(x);
      const [low, high] = this.catalogue.fields[name].ends;
      if (Number.isFinite(value)) this.change(name, digits(clamp(value, low, high), 3));
    };
    return Object.fromEntries(NAMES.map((picture) => {
      const drag = this.pictures.of[picture].handle.dataset.drag;
      return [drag, { still: true, sets: SETS[drag], at: () => [null, null], move: at(picture, SETS[drag]) }];
    }));
  }

  measure() {
    const width = Math.round(this.find(".dp-plot").clientWidth);
    if (!width) return;
    const above = this.find(".dp-plot").getBoundingClientRect().top + scrollY;
    const people = this.find(".dp-people");
    const beside = getComputedStyle(this.body).display === "grid";
    this.pictures.place(width, clamp(innerHeight - above - 56, 540, 820), beside ? [people.offsetWidth, people.offsetHeight] : [0, 0]);
    this.measured = true;
    this.schedule();
  }

  change(name, value) {
    const field = this.catalogue.fields[name];
    this.state = { ...this.state, [name]: field.ends ? nearest(field, value) : value };
    this.unread = [];
    this.schedule();
  }

  choose({ name, value }) {
    if (!(name in this.state)) return;
    this.change(name, value);
    this.fresh = name === "mechanism";
    if (this.fresh) this.spans = null;
    if (this.built === this.catalogue.used(this.state).join()) this.rest();
    else this.renew();
  }

  update({ language, answer }) {
    super.update({ language });
    if (!answer || this.pairs.has(answer.key)) return;
    if (answer.table) this.remember(answer.key, new Pair(fromTable(answer.table)));
    if (answer.key === this.asked) this.refused = answer.refused?.[this.words.code] ?? "";
    this.schedule();
  }

  remember(key, pair) {
    this.pairs.set(key, pair);
    if (this.pairs.size > KEPT) this.pairs.delete(this.pairs.keys().next().value);
    return pair;
  }

  /** Return the pair of the state, or null if only the server can compute it. */
  pair() {
    const asked = this.catalogue.asked(this.state);
    const key = JSON.stringify(asked);
    const known = this.pairs.get(key);
    if (known) return known;
    const law = closedForm(asked.mechanism, asked, asked.adjacency);
    return law && this.remember(key, new Pair(law));
  }

  draw() {
    const pair = this.pair() ?? this.view?.pair;
    this.waiting = !this.pair();
    if (pair && this.measured) {
      if (this.fresh && !this.waiting) this.suit(pair);
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
    const { state } = this;
    const asked = this.catalogue.asked(state);
    const { epsilon, order, false_positive_rate: rate } = state;
    const logDelta = pair.law.logDelta(epsilon);
    const divergence = pair.law.renyi(order);
    return {
      pair, state, epsilon, logDelta, role: asked.adjacency === "replace_one" ? "replace" : asked.direction, divergence, delta: probability(logDelta), exact: pair.exact(epsilon),
      tail: pair.law.tails(epsilon)[0], true_positive_rate: pair.true_positive_rate(rate), converted: pair.converted(order, logDelta, divergence),
    };
  }

  /** Replace the default epsilon where delta would be too small to see. */
  suit(pair) {
    this.fresh = false;
    if (pair.law.logDelta(this.state.epsilon) > pair.total + FAINT) return;
    this.change("epsilon", digits(pair.epsilonAt(pair.total - Math.LN2), 2));
  }

  /** Write all texts outside the panels. */
  writeText() {
    const { words, state, catalogue, view, waiting } = this;
    this.writeNumbers();
    for (const name of NAMES) {
      const { handle } = this.pictures.of[name];
      const number = SETS[handle.dataset.drag];
      describe(handle, catalogue.fields[number].ends, state[number], heard(words, number, state[number]));
    }
    const { covered, two_sided, conditions } = catalogue.mechanisms[state.mechanism];
    const chosen = { ...state, adjacency: catalogue.adjacency(state), base: catalogue.base(state) };
    for (const node of this.body.querySelectorAll("select")) {
      node.value = chosen[node.name];
      if (node.name === "adjacency") for (const option of node.options) option.disabled = !covered.includes(option.value);
      if (node.name === "direction") node.hidden = !two_sided;
    }
    const problem = this.unread.length ? words.unread(this.unread) : waiting && !this.send ? words.elsewhere : this.refused;
    this.write(".dp-unread", problem);
    const { real, reason, conditions: own = conditions } = view?.pair.law ?? {};
    this.write(".dp-assumed", words.assumed(own[words.code]) + (real ? words.real : "") + (reason ? words.none(reason[words.code]) : ""));
    this.body.classList.toggle("dp-waiting", Boolean(waiting));
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
    this.place.write(this.catalogue.written(this.state));
    const question = this.catalogue.asked(this.state);
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
