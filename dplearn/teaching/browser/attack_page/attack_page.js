// Page of a proved upper bound and an attack's lower bound on one training run, updated live.
import { button, italics, number } from "../page/html.js";
import { digits, down, nearest, opened, queryOf, text, ticks, up } from "../page/numbers.js";
import { People } from "../page/people.js";
import { axis, el, grid, set } from "../page/shapes.js";
import { View, mounting } from "../page/view.js";
import { askLater } from "../page/worker.js";
import { evidence } from "./evidence.js";
import { laboratory } from "./laboratory.js";
import { MESSAGES } from "./messages.js";

/** @type {Record<string, any>} */
const FIELDS = {
  sample_rate: { ends: [0.02, 0.5], pixels: 260, digits: 2, start: 0.1 },
  steps: { ends: [10, 300], whole: true, pixels: 260, digits: 3, start: 60 },
  noise_multiplier: { ends: [0.5, 20], pixels: 260, digits: 3, start: 1.43 },
  // With C <= 1, noise σ instead of σ·C would not be a fault.
  max_grad_norm: { ends: [1.5, 8], pixels: 300, digits: 2, start: 4 },
  // No guess until the reader draws or types; keys start at 1.
  guess: { ends: [0.001, 1000], pixels: 200, digits: 2, start: null },
  program: { options: ["", "mean", "bare", "twice", "seed"], start: "" },
  attack: { options: ["", "serial", "model"], start: "" },
};
// Numbers of runs at which the counts are tested, planned in advance; all tests together have level 0.05.
const LOOKS = [1, 2, 3, 5, 8, 12, 18, 27, 41, 62, 93, 140, 210, 315, 473, 710, 1024];

/** Page of proof and attack: `laboratory` gets `digits`; `source` is the text of a function that creates the engine. */
class Page extends View {
  constructor(root, options) {
    super(root, MESSAGES, options);
    const { engine, source, digits: images } = options;
    this.fields = FIELDS;
    // The pointer draws the guess: its position on the axis is the value.
    this.grips.guess = { draws: true, move: (x) => this.change("guess", digits(nearest(FIELDS.guess, (x / this.svg.clientWidth) * this.last), 2)) };
    this.key = 0;
    this.busy = false;
    this.runner = askLater(laboratory, JSON.stringify(images), images);
    this.prover = askLater(evidence, `(${source})()`, engine);
    this.listen(document, "visibilitychange", () => this.train());
    this.start("attack");
  }

  end() {
    super.end();
    this.runner.end();
    this.prover.end();
  }

  /** Set the state from an address; a guess in the address counts as confirmed. */
  open(address) {
    ({ state: this.run, unread: this.unread } = opened(address, FIELDS));
    this.started = this.run.guess !== null || this.run.program !== "";
    this.begin();
  }

  /** Return the state's address, without a guess that is not confirmed yet. */
  mark = () => queryOf({ ...this.run, guess: this.started ? this.run.guess : null }, FIELDS).toString();

  /** Start another run without the counts and the guess of the previous run. */
  another() {
    if (this.started) this.run.guess = null;
    this.begin();
  }

  begin() {
    this.key++;
    this.plan = { ...this.run, delta: 1e-5, adjacency: "add_remove" };
    this.ceiling = this.options.engine.curves(this.plan, [this.plan.steps], { accountants: ["pld"] }).pld.upper[0] ?? Infinity;
    this.state = { practised: 0, runs: 0, counts: [0, 0, 0, 0], accuracy: 0, floor: 0, allowed: null, crossed: null, began: performance.now() };
    this.judge({});
  }

  /** Request a training run, unless one is in progress, all are done, or the page is hidden. */
  train() {
    // After a refutation, 27 runs are enough.
    const most = this.state.crossed ? 27 : LOOKS.at(-1);
    if (this.busy || !this.started || document.hidden || this.drag?.held || this.state.runs >= most) return;
    this.busy = true;
    this.runner.ask("run", { key: this.key, plan: this.plan }, (answer) => this.trained(answer));
  }

  trained({ key, practised, counts, accuracy }) {
    this.busy = false;
    const { state } = this;
    if (key === this.key && practised) Object.assign(state, { practised, since: performance.now() });
    if (key === this.key && counts) {
      state.runs++;
      state.accuracy += accuracy;
      state.counts = state.counts.map((sum, i) => sum + counts[i]);
      if (LOOKS.includes(state.runs)) this.judge({ counts: state.counts, chance: 0.05 / LOOKS.length });
    }
    this.schedule();
    this.train();
  }

  judge(look) {
    const { key, state, state: { runs: run } } = this;
    this.prover.ask("judge", { key, plan: this.plan, ...look }, ({ allowed, floor = 0, refuted = false }) => {
      if (key !== this.key) return;
      state.allowed = allowed;
      state.floor = Math.max(state.floor, floor);
      if (refuted) state.crossed ??= { run, seconds: (performance.now() - state.began) / 1000 };
      this.schedule();
    });
  }

  change(name, value) {
    if (value === this.run[name]) return;
    this.run[name] = value;
    this.unread = [];
    if (name !== "guess") this.another();
    this.schedule();
  }

  rested() {
    this.writeAddress(this.mark());
    this.train();
  }

  act(button) {
    const { choice, value, do: act } = button.dataset;
    if (choice) {
      this.run[choice] = value;
      this.started ||= choice === "program";
      this.another();
    } else if (act === "start") {
      this.started = true;
      this.state.began = performance.now();
    } else if (act === "again") {
      this.another();
      this.started = false;
    }
    this.renew();
  }

  build() {
    const { words } = this;
    const put = (said) => italics(said).replace(/\{(\w+)\}/g, (_, name) => number(words, name, words.labels[name]));
    const choice = (name) =>
      `<h2>${words[name]}</h2><p>${FIELDS[name].options.map((one) => `<button type="button" data-choice="${name}" data-value="${one}">${put(words[`${name}s`][one])}</button>`).join(" ")}</p><p class="dp-about" data-about="${name}"></p>`;
    this.fill(`<div class="dp dp-versus" lang="${words.code}">
<div class="dp-unread" role="status"></div>
<p class="dp-sentence">${put(words.sentence)}</p>
<p class="dp-guessline"><span>${put(words.guess)} ${button("start", words.start)}</span><span><output></output> ${button("again", words.again)}</span></p>
<svg class="dp-svg" role="img" aria-label="${words.picture}"></svg>
<p class="dp-verdict" role="status"></p>
<section class="dp-both"><div class="dp-crowd"></div>
<div class="dp-choices">${["program", "attack"].map(choice).join("")}<p class="dp-runs"></p></div></section>
<footer><p class="dp-assumed"></p><p class="dp-tools">${button("language", words.other)}</p></footer>
</div>`, ".dp-svg");
    this.svg = this.find(".dp-svg");
    this.people = new People(this.find(".dp-crowd"), words);
    this.rings = this.people.sides[0].dots.map((dot) => {
      const ring = el("circle", { cx: dot.getAttribute("cx"), cy: dot.getAttribute("cy"), r: 4.6, class: "dp-ring" });
      dot.after(ring);
      return ring;
    });
    this.limit = this.find(".dp-hundred").appendChild(document.createElement("p"));
  }

  draw() {
    const { words, state, run, started } = this;
    const [caught, members, blamed, others] = state.counts;
    const shares = [members && caught / members, others && blamed / others];
    this.writeNumbers();
    for (const button of this.all("[data-choice]")) set(button, "aria-pressed", String(button.dataset.value === run[button.dataset.choice]));
    for (const about of this.all("[data-about]")) set(about, "text", words.about[about.dataset.about][run[about.dataset.about]]);
    this.body.classList.toggle("dp-through", Boolean(state.crossed));
    this.write(".dp-unread", words.unread(this.unread));
    const [before, after] = this.all(".dp-guessline > span");
    [before.hidden, after.hidden] = [started, !started];
    this.find("[data-do=start]").disabled = run.guess === null;
    this.write(".dp-guessline output", run.guess === null ? "" : words.guessed(text(run.guess)));
    this.write(".dp-assumed", words.assumed(run.attack));
    this.axis();
    this.people.show(shares[0], shares[1]);
    this.people.sides.forEach(({ number }, i) => set(number, "text", state.runs ? (100 * shares[i]).toFixed(1) : "–"));
    this.rings.forEach((ring, i) => set(ring, "opacity", 100 * (state.allowed ?? 0) - i >= 0.5 ? "1" : "0"));
    const limit = run.program ? words.claims : words.allowed;
    set(this.limit, "text", state.allowed === null ? "" : limit(text(up(100 * state.allowed))));
    this.write(".dp-verdict", this.verdict());
    const seconds = (performance.now() - (state.since ?? 0)) / 1000;
    const next = LOOKS.find((n) => n > state.runs);
    if (state.runs) this.write(".dp-runs", words.runs(state.runs, Math.round(state.runs / seconds), next, Math.round((100 * state.accuracy) / state.runs)));
    this.body.dataset.drawn = "1";
  }

  verdict() {
    const { words, state, ceiling } = this;
    const epsilon = text(up(ceiling));
    if (state.crossed) return words.refuted(epsilon, state.crossed.run, state.crossed.seconds.toFixed(1));
    if (!this.started) return words.waits;
    if (!state.runs) return words.practises(state.practised);
    if (!state.floor) return words.nothing;
    return words[this.run.program ? "behind" : "part"](Math.floor((100 * state.floor) / ceiling), epsilon);
  }

  /** Draw the axis of epsilon: the attack's lower bound from the left, the excluded range on the right. */
  axis() {
    const { svg, words, state, ceiling, run, started } = this;
    const [width, height] = [svg.clientWidth, svg.clientHeight];
    if (!width) return;
    const last = (this.last = Math.min(Math.max(1.35 * ceiling, 1.15 * state.floor), 4.6 * ceiling));
    const scale = axis({ low: 0, high: last }, 0, width - 2);
    const [base, tall] = [height - 44, 46];
    const bar = (kind, from, to) => el("rect", { class: kind, x: from, y: base - tall, width: Math.max(to - from, 0), height: tall });
    const upright = (kind, at, above) => el("line", { class: kind, x1: at, x2: at, y1: base - tall - above, y2: base + 5 });
    const label = (kind, at, y, said) => {
      const left = at > 0.6 * width;
      return el("text", { class: kind, x: at + (left ? -8 : 8), y, "text-anchor": left ? "end" : "start" }, said);
    };
    const [floor, claim, guess] = [state.floor, ceiling, run.guess].map((epsilon) => scale.at(Math.min(epsilon, last)));
    const nodes = [
      bar("dp-beyond", claim, width), bar("dp-floor", 0, floor), bar("dp-broken", claim, floor),
      ...grid(scale, null, { left: 0, right: width, top: base - 5, bottom: base }, ticks(false, 0, last, width < 520 ? 5 : 10), []),
      el("text", { class: "dp-scale", x: width, y: height - 4, "text-anchor": "end" }, words.axis), upright("dp-limit", claim, 26),
      label("dp-claimed-at", claim, base - tall - 12, (run.program ? words.claimed : words.proved)(text(up(ceiling)))),
    ];
    if (run.guess !== null) nodes.push(bar("dp-mine", 0, guess), label("dp-mine-at", guess, base - tall - 34, words.mine(text(run.guess))), upright("dp-mine-end", guess, 40));
    else if (!started) nodes.push(el("text", { class: "dp-mine-at", x: 12, y: base - tall / 2 + 5 }, words.draw));
    if (!started) nodes.push(el("rect", { class: "dp-pen", "data-drag": "guess", width, height }));
    if (state.floor) {
      const inside = floor > 0.4 * width || floor > 200;
      const said = state.floor > 4 * ceiling ? words.far : words.shown(text(down(state.floor)));
      nodes.push(el("text", { class: inside ? "dp-on" : "dp-beside", x: floor + (inside ? -10 : 8), y: base - tall / 2 + 7, "text-anchor": inside ? "end" : "start" }, said));
    }
    svg.replaceChildren(...nodes);
  }
}

export const mount = mounting(Page);
