// Epsilon against T, owned by the browser: `mount` draws the page into a node.
import { ACCOUNTANTS, STYLES, register } from "./accountants.js";
import { Answers, least, reached } from "./answers.js";
import { copied, python, shell } from "./files.js";
import { Frame } from "./frame.js";
import { Drag } from "./drag.js";
import { markup } from "./markup.js";
import { Confirmation } from "./confirmation.js";
import { bound, clamp } from "./numbers.js";
import { People } from "./people.js";
import { Picture } from "./picture.js";
import { FIRST, OWN, changed, fromAddress, keyOf, pinned, proved, runOf, valueOf, written } from "./run.js";
import { widthOf } from "./shapes.js";
import { lastingKey, writeText } from "./text.js";
import { View, mounting } from "./view.js";
import { MESSAGES } from "./messages.js";
import { askLater } from "./worker.js";

// After so long a rest the library is asked whether it agrees.
const QUIET = 4000;
// Steps up to which it is proved how long a budget lasts.
const LIMIT = 1e7;

/** What a button does; false where the run is as it was. */
const ACTIONS = {
  units(page) {
    const { run } = page;
    page.run = run.B ? { ...run, B: 0 } : changed(run, "B", valueOf(run, "B"));
  },
  noise_multiplier(page) {
    page.change("noise_multiplier", page.answers.noise(page.run, page.run.T, page.run.budget));
  },
  sample_rate(page) {
    const rate = page.answers.rate(page.run, page.run.budget);
    if (rate) page.change("sample_rate", rate);
  },
  prove(page) {
    page.wanted = "prove";
    revealed();
  },
  pin(page) {
    page.run = { ...page.run, pin: page.run.pin ? null : pinned(page.run) };
  },
  logT(page) {
    page.run = { ...page.run, logT: !page.run.logT };
    page.framed();
  },
  logEpsilon(page) {
    page.run = { ...page.run, logEpsilon: !page.run.logEpsilon };
    page.framed();
  },
  go(page) {
    const found = page.lasting?.key === lastingKey(page.run) && page.lasting.all.find((one) => one.name === "pld");
    const steps = found ? found.steps : Math.floor(reached(page.view.found, "pld", page.run.budget) ?? 0);
    if (steps >= 1 && steps < Infinity) page.change("T", steps);
  },
  python(page, node) {
    return copied(node, python(page.run), page.words.copied);
  },
  shell(page, node) {
    return copied(node, shell(page.run), page.words.copied);
  },
};

/** The page: `engine` is the object of proofs, `accountants` those of the registry (name,
 * kind, label, symbol, about), `source` the text of the function that makes the engine (for a worker), `published` rows of printed figures, `presets` of published runs.
 * Where there is a server, `send(question)` reaches it, and `kinds` are the runs that it knows. */
class Page extends View {
  constructor(root, { engine, accountants, source = null, published = [], presets = [], language = "en", kinds = OWN, send = null }) {
    super(root);
    register(accountants, engine, send);
    this.kinds = kinds;
    this.engine = engine;
    this.published = published;
    this.presets = presets;
    this.touched = false;
    this.later = askLater(engine, source);
    this.confirmation = new Confirmation(send, () => {
      this.schedule();
      this.rest();
    });
    this.answers = new Answers(engine, this.later, this.confirmation, () => this.schedule());
    this.frame = new Frame(this.answers);
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.start("epsilon", language);
    // Streamlit says here whether the server is there.
    this.server = new MutationObserver(() => this.schedule());
    const state = document.querySelector("[data-test-connection-state]");
    if (state) this.server.observe(state, { attributes: true });
  }

  /** Build all nodes, in one language. */
  speakIn(language) {
    this.words = MESSAGES[language] ?? MESSAGES.en;
    this.fill(markup(this.words, this.presets, this.kinds), ".dp-plot");
    this.picture = new Picture(this.words);
    this.svg = this.picture.svg;
    this.find(".dp-plot").prepend(this.svg);
    this.people = new People(this.find(".dp-crowd"), this.words);
    this.drag = new Drag(this.body, this);
    this.buttons = Object.fromEntries([...this.body.querySelectorAll("[data-do]")].map((node) => [node.dataset.do, node]));
    // A toggle does not bubble.
    this.find(".dp-more").addEventListener("toggle", () => this.schedule());
    this.renew();
  }

  /** The run of an address, and what the address says in vain. */
  open(asked) {
    const { run, unread } = fromAddress(asked, this.kinds);
    this.run = run;
    this.unread = unread;
    this.framed();
  }

  /** What the server says: an answer, and its words in the language that it speaks now. */
  update({ answer, language, kinds }) {
    this.kinds = kinds;
    super.update({ language });
    if (answer && answer.id === this.confirmation.id) {
      if (answer.kind !== "curves") this.confirm(answer);
      this.confirmation.take(answer);
    }
  }

  /** Whether the library agrees with what is drawn; its numbers stand where it does not, or where the
   * engine left them open. */
  confirm({ key, agrees = null, lower, upper, T }) {
    if (upper === undefined) return;
    this.confirmed = { key, agrees: agrees ?? true };
    if (!agrees) this.answers.remember(`${key.split("@")[0]}@${T}|pld`, { lower, upper });
  }

  /** Ask the library, of its own accord only where nobody moves anything. */
  askLibrary(kind) {
    const { run, confirmation } = this;
    const { pld } = this.view.ends;
    const key = `${keyOf(run)}@${run.T}`;
    const quiet = kind === "confirm";
    if (quiet && (document.hidden || this.drag.held || this.confirmed?.key === key || !proved(run))) return;
    const drawn = proved(run) && pld.upper !== null ? { lower: pld.lower, upper: pld.upper } : {};
    if (confirmation.ask({ kind, key, run: runOf(run), shown: run.shown, records: run.N, language: this.words.code, ...drawn })) this.wanted = null;
  }

  end() {
    super.end();
    this.server.disconnect();
    clearTimeout(this.confirming);
    this.later.end();
  }

  measure() {
    const width = Math.round(this.find(".dp-plot").clientWidth);
    if (!width) return;
    const small = width < 520;
    const above = this.find(".dp-plot").getBoundingClientRect().top + scrollY;
    // The choices below the picture are seen without scrolling.
    const height = this.body.clientWidth < 560 ? 330 : clamp(Math.round(innerHeight - above - 175), 340, 600);
    const { fontFamily: family } = getComputedStyle(this.body);
    const named = `600 ${small ? 14 : 15}px ${family}`;
    const widest = Math.max(...ACCOUNTANTS.map((name) => widthOf(STYLES[name].label[this.words.code], named)));
    const [left, right] = [small ? 40 : 56, Math.ceil(widest) + 20];
    this.frame.box = { width, height, left, right, above: 34, below: 62, small, named, bold: `600 14px ${family}` };
    this.body.classList.toggle("dp-small", small);
    this.schedule();
  }

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
    this.change("noise_multiplier", this.answers.noise(this.run, T, epsilon));
  }

  epsilon() {
    return least(this.answers.at(this.run)).value;
  }

  act(button) {
    const { chip, do: name } = button.dataset;
    const { run } = this;
    if (chip) {
      const shown = ACCOUNTANTS.filter((one) => run.shown.includes(one) !== (one === chip));
      if (shown.length) this.run = { ...run, shown };
    } else if (ACTIONS[name](this, button) === false) return;
    this.renew();
  }

  choose({ name, value }) {
    if (name === "preset" && value) {
      const { shown, pin } = this.run;
      this.open(value);
      this.run = { ...this.run, shown, pin };
    } else if (["adjacency", "mechanism", "sampling"].includes(name)) {
      // Neighbours for which the scheme has a theorem.
      const suited = name === "sampling" ? { adjacency: this.kinds.natural[value] } : {};
      this.run = { ...this.run, [name]: value, ...suited };
      this.unread = [];
      this.framed();
    }
    this.renew();
  }

  /** Set the axes for the run in view. */
  framed() {
    this.frame.span = this.frame.suiting(this.run);
  }

  draw(now) {
    const { frame, answers, drag } = this;
    if (frame.advance(now)) this.schedule();
    if (drag.held && !drag.held.still) frame.grow(this.run);
    const { run } = this;
    this.confirmation.held = Boolean(drag.held);
    const view = { frame, touched: this.touched };
    view.found = answers.curves(run, frame.largest(run));
    view.ends = answers.at(run, run.T);
    view.best = least(view.ends);
    // What all words of the page are written by: whether this very run is "known", "asked" or "refused".
    const waits = view.found.asked && !view.ends[view.best.name];
    view.status = view.found.refused ? "refused" : waits ? "asked" : "known";
    if (run.pin) {
      const other = { ...run, ...run.pin };
      view.pinned = {
        found: answers.curves(other, frame.largest(run), ["pld"]),
        ends: answers.at(other, run.T, ["pld"]),
        was: least(answers.at(other, other.T, ["pld"])).value,
      };
    }
    const near = (a, b) => Math.abs(a - b) <= 1e-6 * b;
    view.points = this.published.filter((row) => proved(run) && ["noise_multiplier", "sample_rate", "delta"].every((name) => near(row[name], run[name])));
    this.view = view;
    this.picture.draw(run, view);
    writeText(this);
    if (this.wanted) this.askLibrary(this.wanted);
    this.attack();
    this.body.dataset.drawn = "1";
  }

  rest() {
    clearTimeout(this.confirming);
    if (this.confirmation.send) this.confirming = setTimeout(() => this.askLibrary("confirm"), QUIET);
    super.rest();
  }

  /** Set the axes, prove how long the budget lasts, write the address. */
  rested() {
    const { run } = this;
    this.frame.settle(run, performance.now(), this.calm.matches);
    const key = lastingKey(run);
    const names = Answers.named(run).filter((name) => !STYLES[name].approximation);
    if (proved(run) && this.lasting?.key !== key) {
      this.later.ask("crossings", { run, budget: run.budget, names, limit: LIMIT }, (all) => {
        this.lasting = all && { key, all };
        this.schedule();
      });
    }
    this.place.write(written(run));
    const state = written({ ...run, shown: FIRST, logT: true, logEpsilon: false, pin: null });
    this.preset = this.presets.find(({ query }) => written(fromAddress(query, this.kinds).run) === state);
    this.find("[name=preset]").value = this.preset ? this.preset.query || "here=10000" : "";
    if (this.view.status === "known") this.write(".dp-live", this.words.spoken(bound(this.epsilon(), 4), run.T));
    this.schedule();
  }

  attack() {
    const { run, view } = this;
    const key = `attack ${keyOf(run)} ${run.T} ${run.rate}`;
    const { kept } = this.answers;
    const able = proved(run);
    if (!able) this.true_positive_rate = view.status === "known" ? promised(view.best.value, run) : undefined;
    if (kept.has(key)) this.true_positive_rate = kept.get(key);
    // An older answer stands, pale and without words, until the newer one is there.
    const stale = able && !kept.has(key);
    this.find(".dp-people").classList.toggle("dp-stale", stale);
    const share = this.people.show(this.true_positive_rate, run.rate);
    const known = !stale && share !== undefined;
    this.write(".dp-finds", known ? this.words.finds(share, run.rate) : "…");
    this.write(".dp-note", known && share !== null ? this.words.right(share / run.rate) : "");
    if (!stale) return;
    this.later.ask("attack", { run, steps: run.T, rate: run.rate }, (ends) => {
      this.answers.remember(key, ends);
      this.schedule();
    });
  }
}

export const mount = mounting(Page);

/** What epsilon and delta alone promise of an attacker's rate; nothing where they are not known. */
function promised(epsilon, { delta, rate }) {
  if (epsilon === Infinity) return undefined;
  return { lower: 0, upper: Math.min(Math.exp(epsilon) * rate + delta, 1 - Math.exp(-epsilon) * (1 - delta - rate)) };
}

/** Bring what the server has drawn below the page into view. */
function revealed(tries = 600) {
  const part = document.querySelector(".st-key-details h3");
  if (part?.getBoundingClientRect().top < innerHeight / 2) return;
  // Again until there is enough below it; the server draws it part by part.
  part?.scrollIntoView({ block: "start", behavior: "smooth" });
  if (tries) setTimeout(revealed, 100, (part ? Math.min(tries, 100) : tries) - 1);
}
