// Page of epsilon against T; `mount` draws it into a node.
import { Answers, Server, least, reached } from "./answers.js";
import { button, escaped, italics, number, select } from "./html.js";
import { MESSAGES } from "./messages.js";
import { bound, clamp, digits, nearest, pressed } from "./numbers.js";
import { People } from "./people.js";
import { Frame, Picture } from "./picture.js";
import { ACCOUNTANTS, FIELDS, FIRST, OWN, STYLES, changed, fromAddress, keyOf, near, pinned, proved, python, register, runOf, valueOf, written } from "./run.js";
import { widthOf } from "./shapes.js";
import { writeText } from "./text.js";
import { View, mounting } from "./view.js";
import { answering, askLater } from "./worker.js";


/** Actions of the buttons; each returns the new run, or undefined if the run stays. */
const ACTIONS = {
  units: ({ run }) => (run.B ? { ...run, B: 0 } : changed(run, "B", valueOf(run, "B"))),
  pin: ({ run }) => ({ ...run, pin: run.pin ? null : pinned(run) }),
  logEpsilon: ({ run }) => ({ ...run, logEpsilon: !run.logEpsilon }),
  noise_multiplier: ({ run, answers }) => changed(run, "noise_multiplier", answers.noise(run, run.T, run.budget)),
  go(page) {
    const { run, view } = page;
    const steps = page.lasting("pld")?.steps ?? Math.floor(reached(view.found, "pld", run.budget) ?? 0);
    return steps >= 1 && steps < Infinity ? changed(run, "T", steps) : run;
  },
  prove(page) {
    page.wanted = "prove";
    revealed();
    return page.run;
  },
  python: ({ run, words }, node) => void copied(node, python(run), words.copied),
};

/** Page of epsilon: `source` is the text of a function that creates the `engine` in a worker; `published` are printed
 * values, `presets` published runs. `send(question)` asks the server, whose mechanisms and samplings are `kinds`. */
class Page extends View {
  constructor(root, options) {
    super(root, MESSAGES, options);
    const { engine, accountants, source, kinds = OWN, send } = options;
    register(accountants, engine, send);
    this.kinds = kinds;
    this.fields = FIELDS;
    this.later = askLater(answering, `(${source})()`, engine);
    this.server = new Server(send, () => this.renew());
    this.answers = new Answers(engine, this.later, this.server, () => this.schedule());
    this.frame = new Frame(this.answers);
    const { frame } = this;
    this.grips = {
      T: { at: () => [frame.x.at(this.run.T), null], move: (x) => this.change("T", digits(frame.x.value(x), 3)) },
      budget: { at: () => [null, frame.y.at(this.run.budget)], move: (x, y) => this.change("budget", digits(frame.atY(y), 3)) },
      curve: { at: () => [null, frame.y.at(this.epsilon())], move: (x, y) => this.pull(this.run.T, frame.atY(y)), press: (way, large) => this.lift(way, large) },
      pull: { move: (x, y) => this.pull(nearest(FIELDS.T, frame.x.value(x)), frame.atY(y)) },
    };
    this.start("epsilon");
    // Streamlit shows the state of the connection in this attribute.
    this.connection = new MutationObserver(() => this.schedule());
    const state = document.querySelector("[data-test-connection-state]");
    if (state) this.connection.observe(state, { attributes: true });
  }

  build() {
    this.fill(markup(this.words, this.options.presets, this.kinds), ".dp-plot");
    this.picture = new Picture(this.words);
    this.svg = this.picture.svg;
    this.find(".dp-plot").prepend(this.svg);
    this.people = new People(this.find(".dp-crowd"), this.words);
    // The event "toggle" does not bubble.
    this.find(".dp-more").addEventListener("toggle", () => this.schedule());
  }

  open(address) {
    Object.assign(this, fromAddress(address, this.kinds));
    this.fitAxes();
  }

  update({ answer, language, kinds }) {
    this.kinds = kinds;
    super.update({ language });
    if (answer?.id !== this.server.id) return;
    if (answer.kind !== "curves") this.confirm(answer);
    this.server.take(answer);
  }

  /** Store whether the library agrees with the drawn bracket; its numbers replace a different or missing bracket. */
  confirm({ key, agrees = null, lower, upper }) {
    const decided = upper !== undefined && proved(this.run);
    this.confirmed = { key, agrees: decided ? (agrees ?? true) : null };
    if (decided && !agrees) this.answers.cache.set(`${key}pld`, { lower: [lower], upper: [upper] });
  }

  /** Send a question to the library, but no request for a confirmation during a drag. */
  askLibrary(kind) {
    const { run, server } = this;
    const { pld } = this.view.ends;
    const key = Answers.key(run, [run.T]);
    const quiet = kind === "confirm";
    if (quiet && (document.hidden || this.drag.held || this.confirmed?.key === key || !proved(run))) return;
    const drawn = proved(run) && pld.upper !== null ? pld : {};
    if (server.ask({ kind, key, run: runOf(run), shown: run.shown, records: run.N, language: this.words.code, ...drawn })) this.wanted = null;
  }

  end() {
    super.end();
    this.connection.disconnect();
    clearTimeout(this.confirming);
    this.later.end();
  }

  measure() {
    const plot = this.find(".dp-plot");
    const width = plot.clientWidth;
    if (!width) return;
    const [small, above] = [width < 520, plot.getBoundingClientRect().top + scrollY];
    // Leave space for the choices below the picture without scrolling.
    const height = this.body.clientWidth < 560 ? 330 : clamp(Math.round(innerHeight - above - 175), 340, 600);
    const { fontFamily: family } = getComputedStyle(this.body);
    const named = `600 ${small ? 14 : 15}px ${family}`;
    const widest = Math.max(...ACCOUNTANTS.map((name) => widthOf(STYLES[name].label[this.words.code], named)));
    this.frame.box = { width, height, small, named, bold: `600 14px ${family}` };
    this.frame.sides = { left: small ? 40 : 56, right: width - Math.ceil(widest) - 20, top: 34, bottom: height - 62 };
    this.body.classList.toggle("dp-small", small);
    this.schedule();
  }

  value(name) {
    return valueOf(this.run, name);
  }

  change(name, value) {
    this.run = changed(this.run, name, value);
    this.unread = [];
    this.schedule();
  }

  epsilon = () => least(this.answers.at(this.run)).value;

  /** Set the noise at which the PLD curve passes through a point. */
  pull = (T, epsilon) => this.change("noise_multiplier", this.answers.noise(this.run, T, epsilon));

  /** Move the curve by a key, by 2 or 10 per cent of epsilon, and change the noise by at least one key step. */
  lift(way, large) {
    const before = this.run.noise_multiplier;
    this.pull(this.run.T, this.epsilon() * (1 + way * (large ? 0.1 : 0.02)));
    if (this.run.noise_multiplier === before) this.change("noise_multiplier", pressed(FIELDS.noise_multiplier, before, -way, false));
  }

  act(button) {
    const { chip, do: name } = button.dataset;
    const { run } = this;
    const shown = ACCOUNTANTS.filter((one) => run.shown.includes(one) !== (one === chip));
    const next = chip ? { ...run, shown: shown.length ? shown : run.shown } : ACTIONS[name](this, button);
    if (!next) return;
    this.run = next;
    if (name === "logEpsilon") this.fitAxes();
    this.renew();
  }

  choose({ name, value }) {
    if (name === "preset" && value) {
      const { shown, pin } = this.run;
      this.open(value);
      this.run = { ...this.run, shown, pin };
    } else if (["adjacency", "mechanism", "sampling"].includes(name)) {
      // Choose an adjacency for which the sampling has a theorem.
      const suited = name === "sampling" ? { adjacency: this.kinds.natural[value] } : {};
      this.run = { ...this.run, [name]: value, ...suited };
      this.unread = [];
      this.fitAxes();
    }
    this.renew();
  }

  fitAxes() {
    this.frame.span = this.frame.suiting(this.run);
  }

  draw() {
    const { frame, answers, run, drag: { held } } = this;
    // The axes stay fixed while the reader drags a handle whose position sets epsilon.
    if (held && (!held.grip || held.name === "T")) frame.grow(run, this.epsilon());
    this.server.held = Boolean(held);
    const largest = frame.largest(run);
    const view = { frame, touched: this.touched, found: answers.curves(run, largest), ends: answers.at(run) };
    view.best = least(view.ends);
    // Status of this run for all texts: "known", "asked" or "refused".
    const waits = view.found.asked && !view.ends[view.best.name];
    view.status = view.found.refused ? "refused" : waits ? "asked" : "known";
    if (run.pin) {
      const other = { ...run, ...run.pin };
      const ends = (T) => answers.at(other, T, ["pld"]);
      view.pinned = { found: answers.curves(other, largest, ["pld"]), ends: ends(run.T), was: least(ends(other.T)).value };
    }
    view.points = this.options.published.filter((row) => proved(run) && near(row, run));
    this.view = view;
    this.picture.draw(run, view);
    writeText(this);
    if (this.wanted) this.askLibrary(this.wanted);
    this.attack();
    this.body.dataset.drawn = "1";
  }

  rest() {
    clearTimeout(this.confirming);
    // Four seconds without input pass before the page requests a confirmation.
    if (this.server.send) this.confirming = setTimeout(() => this.askLibrary("confirm"), 4000);
    super.rest();
  }

  /** Set the axes, request the number of steps within the budget, and write the address. */
  rested() {
    const { run } = this;
    if (!this.frame.holds(run, this.epsilon())) this.fitAxes();
    const key = lastingKey(run);
    const names = Answers.named(run).filter((name) => !STYLES[name].approximation);
    if (proved(run) && !this.answers.cache.has(key)) this.later.ask("crossings", { run, budget: run.budget, names, limit: 1e7 }, this.stored(key));
    this.writeAddress(written(run));
    const state = written({ ...run, shown: FIRST, logEpsilon: false, pin: null });
    this.preset = this.options.presets.find(({ query }) => written(fromAddress(query, this.kinds).run) === state);
    this.find("[name=preset]").value = this.preset ? this.preset.query || "here=10000" : "";
    if (this.view?.status === "known") this.write(".dp-live", this.words.spoken(bound(this.epsilon(), 4), run.T));
    this.schedule();
  }

  /** Show the attacker's true positive rate; until the worker answers, show the old rate, pale and without text. */
  attack() {
    const { run, view: { status, best: { value } }, answers: { cache } } = this;
    const key = `attack ${keyOf(run)} ${run.T} ${run.rate}`;
    const stale = proved(run) && !cache.has(key);
    if (cache.has(key)) this.true_positive_rate = cache.get(key);
    else if (!stale) this.true_positive_rate = status === "known" && value < Infinity ? this.options.engine.rateBound(value, run.delta, run.rate) : undefined;
    this.find(".dp-people").classList.toggle("dp-stale", stale);
    const share = this.true_positive_rate;
    this.people.show(share, run.rate);
    const known = !stale && share !== undefined;
    this.write(".dp-finds", known ? this.words.finds(share) : "…");
    this.write(".dp-note", known && share !== null ? this.words.right(share / run.rate) : "");
    if (stale) this.later.ask("attack", { run, steps: run.T, rate: run.rate }, this.stored(key));
  }

  /** Return the proved number of steps of an accountant within the budget, if it is known. */
  lasting(name) {
    return this.answers.cache.get(lastingKey(this.run))?.find((one) => one.name === name);
  }

  /** Return a function that stores an answer of the worker. */
  stored(key) {
    return (found) => {
      this.answers.cache.set(key, found);
      this.schedule();
    };
  }
}

const lastingKey = (run) => [keyOf(run), run.budget, run.shown].join("|");

export const mount = mounting(Page);

/** Scroll to the details that the server draws below the page. */
function revealed(tries = 600) {
  const part = document.querySelector(".st-key-details h3");
  if (part?.getBoundingClientRect().top < innerHeight / 2) return;
  // Repeat until the heading reaches the upper half, because the server draws the details part by part.
  part?.scrollIntoView({ block: "start", behavior: "smooth" });
  if (tries) setTimeout(revealed, 100, (part ? Math.min(tries, 100) : tries) - 1);
}

/** Copy a text and confirm it briefly on the button; if copying is not allowed, show the text. */
async function copied(node, content, done) {
  const before = node.textContent;
  try {
    await navigator.clipboard.writeText(content);
    node.textContent = done;
    setTimeout(() => (node.textContent = before), 1500);
  } catch {
    prompt("", content);
  }
}

function markup(words, presets, kinds) {
  const sentence = (said) => italics(said).replace(/\{(\w+)\}/g, (whole, name) => (name in FIELDS ? number(words, name, words.names[name]) : whole));
  const served = Object.keys(kinds.sampling).length > 1;
  const choice = (name) => (served ? select(name, words.kinds[name], Object.entries(kinds[name])) : words.own[name]);
  const proof = served ? button("prove", words.prove, 'class="dp-prove"') : "";
  const sampled = `<span class="dp-rate"><span class="dp-rate-0"></span>{sample_rate}<span class="dp-rate-1"></span></span><span class="dp-counts">${words.byCounts}</span>`;
  const run = sentence(words.sentence.replace("{unit}", '<span class="dp-unit"></span>').replace("{sampling}", `${sampled}{units}`)).replace("{units}", button("units", "⇄", 'class="dp-units"') + (words.code === "zh" ? "\u2060" : ""));
  const published = select("preset", words.preset, [["", words.preset], ...presets.map(({ title, query }) => [query || "here=10000", title])]);
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
 <p class="dp-budget">${sentence(words.lasts).replace("{go}", button("go", "", 'class="dp-go"'))}</p>
 <div class="dp-chips">${chips}</div>
 <p class="dp-printed-list"></p>
 <p class="dp-assumed">${choice("mechanism")} ${choice("sampling")} ${select("adjacency", words.kinds.adjacency, Object.entries(words.adjacencies))}</p>
</section>
<aside class="dp-people">
 <div class="dp-crowd"></div>
 <p class="dp-attack">${sentence(words.attacker)}<span class="dp-finds"></span></p>
</aside>
<details class="dp-more"><summary>${words.numbers}</summary>
 <p class="dp-note"></p><p class="dp-meet">${words.meet} ${button("noise_multiplier", "σ")}</p>
 <table><thead><tr>${words.table.map((name) => `<th>${name}</th>`).join("")}</tr></thead><tbody></tbody></table>
 <p>${button("python", words.python)}</p></details>
<div class="dp-live" aria-live="polite"></div>
</div>`;
}
