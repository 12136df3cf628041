// One pair of neighbouring outputs, seen in five ways, owned by the browser: `mount` draws the page.
import { copied } from "../page/files.js";
import { Drag } from "../page/drag.js";
import { clamp, digits, nearest } from "../page/numbers.js";
import { People } from "../page/people.js";
import { Place } from "../page/place.js";
import { set } from "../page/shapes.js";
import { CLOSED, closedForm } from "./laws.js";
import { markup, parameters } from "./markup.js";
import { Pair } from "./pair.js";
import { NAMES, Pictures, SETS } from "./pictures.js";
import { Catalogue } from "./state.js";
import { fromTable } from "./table.js";
import { writeText } from "./text.js";
import { MESSAGES, probability } from "./messages.js";

const REST = 90;
const KEPT = 300;
// Where less than this part of all that leaks is left at epsilon, there is nothing to see.
const FAINT = Math.log(0.05);

/** Draw the page into `root`; `catalogue` is the library's, and `send(question)` asks it for a table.
 * Without `send` there are the closed forms alone. */
export function mount(root, options) {
  const page = new Page(root, options);
  return { page, update: (data) => page.update(data), destroy: () => page.end() };
}

class Page {
  constructor(root, { catalogue, language = "en", send = null }) {
    this.root = root;
    this.send = send;
    this.catalogue = new Catalogue(catalogue);
    this.names = Object.keys(this.catalogue.mechanisms).filter((name) => send || CLOSED.includes(name));
    this.pairs = new Map();
    this.asked = "";
    this.refused = "";
    this.spans = null;
    this.place = new Place("mechanisms", (state) => {
      this.open(state);
      this.build();
    });
    this.open(this.place.state);
    this.speakIn(new URLSearchParams(location.hash.slice(1) || location.search).get("language") ?? language);
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

  /** Build all nodes, in one language. */
  speakIn(language) {
    this.words = MESSAGES[language] ?? MESSAGES.en;
    this.root.innerHTML = markup(this.words, this.catalogue, this.names);
    this.body = this.root.querySelector(".dp");
    this.pictures = new Pictures(this.words);
    this.measured = false;
    this.svg = this.pictures.svg;
    this.body.querySelector(".dp-plot").append(this.svg);
    this.people = new People(this.body.querySelector(".dp-crowd"), this.words);
    this.drag = new Drag(this.body, this, { fields: this.catalogue.fields, value: (name) => this.state[name], grips: this.grips() });
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("change", (event) => this.choose(event.target));
    this.watch?.disconnect();
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(this.body.querySelector(".dp-plot"));
    this.build();
  }

  /** The numbers of the mechanism in view. */
  build() {
    this.body.querySelector(".dp-parameters").innerHTML = parameters(this.words, this.catalogue, this.state);
    this.numbers = [...this.body.querySelectorAll("b[data-drag]")];
    this.built = this.catalogue.used(this.state).join();
    this.schedule();
    this.rest();
  }

  /** What a hand does that moves over a picture. */
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

  end() {
    this.watch.disconnect();
    this.place.end();
    this.root.replaceChildren();
  }

  measure() {
    const width = Math.round(this.body.querySelector(".dp-plot").clientWidth);
    if (!width) return;
    const above = this.body.querySelector(".dp-plot").getBoundingClientRect().top + scrollY;
    const people = this.body.querySelector(".dp-people");
    const beside = getComputedStyle(this.body).display === "grid";
    this.pictures.place(width, clamp(innerHeight - above - 56, 540, 820), beside ? [people.offsetWidth, people.offsetHeight] : [0, 0]);
    this.measured = true;
    this.schedule();
  }

  touch() {}

  change(name, value) {
    const field = this.catalogue.fields[name];
    this.state = { ...this.state, [name]: field ? nearest(field, value) : value };
    this.unread = [];
    this.schedule();
  }

  choose({ name, value }) {
    if (!(name in this.state)) return;
    this.change(name, value);
    this.fresh = name === "mechanism";
    if (this.fresh) this.spans = null;
    if (this.built === this.catalogue.used(this.state).join()) this.rest();
    else this.build();
  }

  click(event) {
    const node = event.target.closest("[data-do]");
    if (node?.dataset.do === "language") {
      this.speakIn(this.words.code === "en" ? "zh" : "en");
    }
    if (node?.dataset.do === "link") copied(node, location.href, this.words.copied);
  }

  update({ language, answer }) {
    if (language && language !== this.words.code) this.speakIn(language);
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

  /** The pair of the state, if it is known here. */
  pair() {
    const asked = this.catalogue.asked(this.state);
    const key = JSON.stringify(asked);
    const known = this.pairs.get(key);
    if (known) return known;
    const law = closedForm(asked.mechanism, asked, asked.adjacency);
    return law && this.remember(key, new Pair(law));
  }

  schedule() {
    this.queued ||= requestAnimationFrame(() => {
      // What the hand has asked belongs to this frame, not to the next.
      this.drag.act();
      this.queued = 0;
      this.draw();
    });
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
    writeText(this);
    this.body.dataset.drawn = this.waiting ? "0" : "1";
  }

  /** What is known of a pair where one looks. */
  seen(pair) {
    const { state } = this;
    const asked = this.catalogue.asked(state);
    const { epsilon, order, false_positive_rate: rate } = state;
    const logDelta = pair.logDelta(epsilon);
    const divergence = pair.law.renyi(order);
    return {
      pair, state, epsilon, logDelta, role: asked.adjacency === "replace_one" ? "replace" : asked.direction, divergence, delta: probability(logDelta), exact: pair.exact(epsilon),
      tail: pair.law.tails(epsilon)[0], true_positive_rate: pair.true_positive_rate(rate), converted: pair.converted(order, logDelta, divergence),
    };
  }

  /** Take an epsilon at which there is something to see. */
  suit(pair) {
    this.fresh = false;
    if (pair.logDelta(this.state.epsilon) > pair.total + FAINT) return;
    this.change("epsilon", digits(pair.epsilonAt(pair.total - Math.LN2), 2));
  }

  /** What is done when the hand has let go: write the address, ask for what is not known here. */
  rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      if (!this.body.isConnected) return;
      if (this.drag.held) return this.rest();
      this.place.write(this.catalogue.written(this.state));
      const question = this.catalogue.asked(this.state);
      const key = JSON.stringify(question);
      if (this.send && !this.pair() && key !== this.asked) {
        this.refused = "";
        this.send({ key, ...question });
      }
      this.asked = key;
      if (this.view) set(this.body.querySelector(".dp-live"), "text", this.words.heard(this.view));
      this.schedule();
    }, REST);
  }
}

/** Axes that only grow while a hand is at work. */
const grown = (now, wanted) => now.map((axes, i) => axes.map((axis, j) => {
  const { low, high } = wanted[i][j];
  return { ...axis, low: Math.min(axis.low, low), high: Math.max(axis.high, high) };
}));
