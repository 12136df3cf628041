// Epsilon against T, owned by the browser: `mount` draws the page into a node.
import { Answers, least, reached } from "./answers.js";
import { csv, python, save, shell, svg } from "./files.js";
import { Frame } from "./frame.js";
import { Hands } from "./hands.js";
import { markup } from "./markup.js";
import { bound, clamp } from "./numbers.js";
import { People } from "./people.js";
import { Picture } from "./picture.js";
import { ACCOUNTANTS, asked, changed, fromAddress, keyOf, pinned, valueOf, written } from "./run.js";
import { set, widthOf } from "./shapes.js";
import { sketch } from "./sketch.js";
import { lastingKey, tell } from "./tell.js";
import { STYLES, WORDS } from "./words.js";
import { askLater } from "./worker.js";

const REST = 90;
// Steps up to which it is proved how long a budget lasts.
const LIMIT = 1e7;

/** Draw the page into `root`: `engine` is the object of proofs, `source` the text of the function
 * that makes it (for a worker), `published` rows of printed figures, `presets` of published runs. */
export function mount(root, options) {
  const page = new Page(root, options);
  return { page, destroy: () => page.end() };
}

class Page {
  constructor(root, { engine, source = null, published = [], presets = [], language = "en" }) {
    this.root = root;
    this.engine = engine;
    this.published = published;
    this.presets = presets;
    this.touched = false;
    this.guessing = false;
    this.stroke = [];
    this.later = askLater(engine, source);
    this.answers = new Answers(engine, this.later, () => this.schedule());
    this.frame = new Frame(this.answers);
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.open(address());
    this.frame.span = this.frame.suiting(this.run);
    this.follow = () => {
      if (address() === written(this.run)) return;
      this.open(address());
      this.framed();
    };
    addEventListener("hashchange", this.follow);
    this.speakIn(language);
  }

  /** Build all nodes, in one language. */
  speakIn(language) {
    this.words = WORDS[language];
    this.root.innerHTML = markup(this.words, this.presets);
    this.body = this.root.querySelector(".dp");
    this.picture = new Picture(this.words);
    this.svg = this.picture.svg;
    this.find(".dp-plot").prepend(this.svg);
    this.people = new People(this.find(".dp-crowd"), this.words);
    this.hands = new Hands(this.body, this);
    this.numbers = [...this.body.querySelectorAll("b[data-drag]")];
    this.buttons = Object.fromEntries([...this.body.querySelectorAll("[data-do]")].map((node) => [node.dataset.do, node]));
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("change", (event) => this.choose(event));
    this.svg.addEventListener("pointerdown", (event) => sketch(this, event));
    // A toggle does not bubble.
    this.find(".dp-more").addEventListener("toggle", () => this.schedule());
    this.watch?.disconnect();
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(this.find(".dp-plot"));
    this.schedule();
    this.rest();
  }

  /** The run of an address, and what the address says in vain. */
  open(asked) {
    const { run, unread } = fromAddress(asked);
    this.run = run;
    this.unread = unread;
  }

  find(selector) {
    return this.body.querySelector(selector);
  }

  end() {
    this.watch.disconnect();
    this.later.end();
    removeEventListener("hashchange", this.follow);
    this.root.replaceChildren();
  }

  measure() {
    const width = Math.round(this.find(".dp-plot").clientWidth);
    if (!width) return;
    const small = width < 520;
    const height = this.body.clientWidth < 560 ? 330 : clamp(Math.round(innerHeight - 340), 360, 600);
    const { fontFamily: family } = getComputedStyle(this.body);
    const named = `600 ${small ? 14 : 15}px ${family}`;
    const widest = Math.max(...ACCOUNTANTS.map((name) => widthOf(STYLES[name][0], named)));
    const [left, right] = [small ? 40 : 56, Math.ceil(widest) + 20];
    this.frame.box = { width, height, left, right, above: 34, below: 62, small, named, bold: `600 14px ${family}` };
    this.body.classList.toggle("dp-small", small);
    this.schedule();
  }

  // -- what hands ask ---------------------------------------------------------------------------

  touch() {
    this.touched = true;
    this.frame.moving = null;
  }

  change(name, value) {
    this.run = changed(this.run, name, value);
    this.unread = [];
    this.schedule();
  }

  /** The noise with which the PLD curve passes through a point. */
  pull(T, epsilon) {
    this.change("sigma", this.answers.noise(this.run, T, epsilon));
  }

  epsilon() {
    return least(this.answers.at(this.run)).value;
  }

  // -- frames -----------------------------------------------------------------------------------

  schedule() {
    this.queued ||= requestAnimationFrame((now) => {
      this.queued = 0;
      this.draw(now);
    });
  }

  framed() {
    this.frame.span = this.frame.suiting(this.run);
    this.schedule();
    this.rest();
  }

  draw(now) {
    const { frame, answers, hands } = this;
    hands.act();
    if (frame.advance(now)) this.schedule();
    if (hands.held && !hands.held.still) frame.grow(this.run);
    const { run } = this;
    const draft = Boolean(hands.held);
    const view = { frame, touched: this.touched, stroke: this.stroke, guessing: this.guessing };
    view.found = answers.curves(run, frame.largest(run));
    view.ends = answers.at(run, run.T, undefined, draft);
    if (run.pin) {
      const other = { ...run, ...run.pin };
      view.pinned = {
        found: answers.curves(other, frame.largest(run), ["pld"]),
        ends: answers.at(other, run.T, ["pld"], draft),
      };
    }
    const near = (a, b) => Math.abs(a - b) <= 1e-6 * b;
    view.points = this.published.filter((row) => near(row.sigma, run.sigma) && near(row.q, run.q) && near(row.delta, run.delta));
    this.view = view;
    this.picture.draw(run, view);
    tell(this);
    this.attack();
    this.body.dataset.drawn = "1";
  }

  /** What is done when the hand has let go: set the axes, prove how long the budget lasts, write
   * the address. */
  rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      const { run } = this;
      this.frame.settle(run, performance.now(), this.calm.matches);
      const key = lastingKey(run);
      const names = [...new Set(["pld", ...run.shown])].filter((name) => name !== "gdp");
      if (this.lasting?.key !== key) {
        this.later.ask("crossings", { run: asked(run), budget: run.budget, names, limit: LIMIT }, (all) => {
          this.lasting = all && { key, all };
          this.schedule();
        });
      }
      const here = location.href.split(/[?#]/)[0];
      history.replaceState(null, "", written(run) ? `${here}#${written(run)}` : here);
      const heard = this.guessing ? this.words.guessing : this.words.spoken(bound(this.epsilon(), 4), run.T);
      set(this.find(".dp-live"), "text", heard);
      this.schedule();
    }, REST);
  }

  attack() {
    const { run } = this;
    const key = `attack ${keyOf(run)} ${run.T} ${run.rate}`;
    const { kept } = this.answers;
    const say = (finds, right) => {
      set(this.find(".dp-finds"), "text", finds);
      set(this.find(".dp-note"), "text", right);
    };
    if (kept.has(key)) this.caught = kept.get(key);
    if (this.guessing) say("…", "");
    // An older answer stands, pale, until the newer one is there.
    this.find(".dp-people").classList.toggle("dp-stale", !kept.has(key));
    this.people.show(this.guessing ? undefined : this.caught, run.rate, say);
    if (kept.has(key)) return;
    this.later.ask("attack", { run: asked(run), steps: run.T, rate: run.rate }, (ends) => {
      this.answers.remember(key, ends);
      this.schedule();
    });
  }

  // -- buttons ----------------------------------------------------------------------------------

  click(event) {
    const { dataset } = event.target.closest("button") ?? { dataset: {} };
    const { run } = this;
    if (dataset.chip) {
      const shownNext = ACCOUNTANTS.filter((name) => run.shown.includes(name) !== (name === dataset.chip));
      if (shownNext.length) this.run = { ...run, shown: shownNext };
    } else if (dataset.do) {
      if (this[`do_${dataset.do}`](event.target) === false) return;
    } else return;
    this.schedule();
    this.rest();
  }

  choose(event) {
    if (event.target.name === "preset" && event.target.value) {
      const { run } = fromAddress(event.target.value);
      this.run = { ...run, shown: this.run.shown, logT: this.run.logT, logEpsilon: this.run.logEpsilon, pin: this.run.pin };
      this.unread = [];
      event.target.value = "";
      this.framed();
    }
    if (event.target.name === "adjacency") {
      this.run = { ...this.run, adjacency: event.target.value };
      this.framed();
    }
  }

  do_units() {
    const { run } = this;
    this.run = run.B ? { ...run, B: 0 } : changed(run, "B", valueOf(run, "B"));
  }

  do_pin() {
    this.run = { ...this.run, pin: this.run.pin ? null : pinned(this.run) };
  }

  do_logT() {
    this.run = { ...this.run, logT: !this.run.logT };
    this.frame.span = this.frame.suiting(this.run);
  }

  do_logEpsilon() {
    this.run = { ...this.run, logEpsilon: !this.run.logEpsilon };
    this.frame.span = this.frame.suiting(this.run);
  }

  do_go() {
    const found = this.lasting?.key === lastingKey(this.run) && this.lasting.all.find((one) => one.name === "pld");
    const steps = found ? found.steps : Math.floor(reached(this.view.found, "pld", this.run.budget) ?? 0);
    if (steps >= 1 && steps < Infinity) this.change("T", steps);
  }

  do_guess() {
    this.guessing = !this.guessing;
    if (this.guessing) this.stroke = [];
  }

  do_language() {
    this.speakIn(this.words.code === "en" ? "zh" : "en");
    return false;
  }

  do_link(node) {
    return copied(node, `${location.href.split(/[?#]/)[0]}#${written(this.run)}`, this.words.copied);
  }

  do_python(node) {
    return copied(node, python(this.run), this.words.done);
  }

  do_shell(node) {
    return copied(node, shell(this.run), this.words.done);
  }

  do_csv() {
    save("epsilon.csv", "text/csv", csv(this.engine, this.run, this.view.found.steps));
    return false;
  }

  do_svg() {
    save("epsilon.svg", "image/svg+xml", svg(this.svg));
    return false;
  }
}

const address = () => location.hash.slice(1) || location.search.slice(1);

/** Copy a text and say so on the button; where nothing may be copied, show it. */
function copied(node, content, done) {
  const before = node.textContent;
  const tell = (words) => {
    node.textContent = words;
    setTimeout(() => (node.textContent = before), 1500);
  };
  const shownInstead = () => prompt("", content);
  if (navigator.clipboard) navigator.clipboard.writeText(content).then(() => tell(done), shownInstead);
  else shownInstead();
  return false;
}
