// Curves and epsilons of runs: by the browser's engine, with a cache, or by the server.
import { Cache } from "./cache.js";
import { ACCOUNTANTS, FIELDS, STYLES, keyOf, proved, runOf } from "./run.js";
import { clamp, up } from "./numbers.js";

export class Answers {
  /** `changed` is called when results improve; `server` answers for runs that the engine does not cover. */
  constructor(engine, later, server, changed) {
    this.engine = engine;
    this.server = server;
    this.later = later;
    this.changed = changed;
    this.cache = new Cache();
  }

  /** Return the accountants to compute, always with PLD, which the main sentence uses. */
  static named = (run) => [...new Set(["pld", ...run.shown])];

  /** Return the first part of a curve's cache key, which the accountant's name follows. */
  static key = (run, steps) => `${keyOf(run)}|${steps.length}|${steps.at(-1)}|`;

  /** Return the curve of each accountant at these steps; curves of several steps are drafts. RDP replaces null points
   * of PLD; it is computed only if there are such points, because it can be slower than PLD. */
  bounds(run, steps, names) {
    const key = Answers.key(run, steps);
    const missing = names.filter((name) => !this.cache.has(key + name));
    if (missing.length) {
      const draft = steps.length > 1;
      const found = this.engine.curves(run, steps, { accountants: missing, draft });
      for (const name of missing) this.cache.set(key + name, found[name]);
      if (found.pld && draft) this.complete(run, steps, found.pld);
    }
    const of = Object.fromEntries(names.map((name) => [name, this.cache.get(key + name)]));
    return of.pld.upper.includes(null) && !of.rdp ? this.bounds(run, steps, [...names, "rdp"]) : of;
  }

  /** Return curves up to a number of steps; unproved points of PLD are null. */
  curves(run, largest, names = Answers.named(run)) {
    if (!proved(run)) return this.server.curves(run, largest);
    const steps = [...new Set(Array.from({ length: 41 }, (_, i) => Math.round(largest ** (i / 40))))];
    return { steps, of: this.bounds(run, steps, names) };
  }

  /** Recompute null points of the draft in the worker, with more effort. */
  complete(run, steps, curve) {
    const open = steps.filter((_, i) => curve.upper[i] === null);
    if (!open.length) return;
    this.later.ask("curve", { run, steps: open }, (found) => {
      if (!found) return;
      open.forEach((T, j) => {
        const i = steps.indexOf(T);
        [curve.lower[i], curve.upper[i]] = [found.lower[j], found.upper[j]];
      });
      this.changed();
    });
  }

  /** Return both ends of each accountant at one T. */
  at(run, T = run.T, names = Answers.named(run)) {
    if (!proved(run)) return this.server.at(run, T);
    const all = Object.entries(this.bounds(run, [T], names));
    return Object.fromEntries(all.map(([name, { lower, upper }]) => [name, { lower: lower?.[0] ?? null, upper: upper[0] }]));
  }

  /** Return the noise at which PLD has this epsilon at T, rounded up so that epsilon is not exceeded. */
  noise(run, T, epsilon) {
    const miss = (x) => Math.log(least(this.at({ ...run, noise_multiplier: Math.exp(x) }, T, ["pld"])).value / epsilon);
    let [low, high] = FIELDS.noise_multiplier.ends.map(Math.log);
    let x = clamp(Math.log(run.noise_multiplier), low, high);
    let [off, slope] = [miss(x), -1.2];
    for (let i = 0; i < 7 && Math.abs(off) > 2e-3; i++) {
      if (off > 0) low = x;
      else high = x;
      const secant = x - off / slope;
      const next = secant > low && secant < high ? secant : 0.5 * (low + high);
      if (Math.abs(next - x) < 1e-5) break;
      const missed = miss(next);
      const risen = (missed - off) / (next - x);
      if (Number.isFinite(risen)) slope = clamp(risen, -20, -0.1);
      [x, off] = [next, missed];
    }
    return clamp(up(Math.exp(x), 3), ...FIELDS.noise_multiplier.ends);
  }
}

/** Return the smallest proved bound and its accountant, preferring PLD. */
export function least(ends) {
  let best = { name: "rdp", value: Infinity };
  for (const [name, end] of Object.entries(ends)) {
    if (!STYLES[name]?.approximation && end.upper !== null && end.upper < best.value) best = { name, value: end.upper };
  }
  const pld = ends.pld?.upper ?? null;
  return pld !== null && pld <= best.value * (1 + 1e-9) ? { name: "pld", value: pld } : best;
}

/** Return the interpolated steps at which a curve reaches a budget; null if it starts above. */
export function reached({ steps, of, stairs }, name, budget) {
  if (!of[name]) return null;
  let last = null;
  for (const [i, end] of of[name].upper.entries()) {
    const epsilon = end ?? of.rdp?.upper[i];
    if (!(epsilon > 0)) continue;
    if (epsilon > budget) {
      if (!last || epsilon === Infinity || stairs) return last && last[0];
      const share = Math.log(budget / last[1]) / Math.log(epsilon / last[1]);
      return last[0] * (steps[i] / last[0]) ** share;
    }
    last = [steps[i], epsilon];
  }
  return Infinity;
}

/** Questions to the server, one at a time, about runs that the browser's engine does not cover. */
export class Server {
  /** `send(question)` sends a question to the server, whose answer is later passed to `take`. */
  constructor(send, changed) {
    this.send = send;
    this.changed = changed;
    this.cache = new Cache();
    // Time until which the page waits for an answer, 0 if it does not wait.
    this.waiting = 0;
    this.id = Date.now();
    this.held = false;
    this.last = { steps: [1], of: {}, asked: true };
  }

  ask(question) {
    if (performance.now() < this.waiting || !this.send) return false;
    // An answer that is missing for a minute is lost.
    this.waiting = performance.now() + 60_000;
    this.send({ ...question, id: ++this.id });
    return true;
  }

  /** Store an answer of the server; the same answer may arrive repeatedly. */
  take(answer) {
    if (answer.id !== this.id || !this.waiting) return;
    this.waiting = 0;
    if (answer.kind === "curves") {
      // JSON has Infinity as a string.
      const ends = (all) => all && all.map((x) => (x === null ? null : Number(x)));
      const of = Object.fromEntries(Object.entries(answer.of).map(([name, one]) => [name, { lower: ends(one.lower), upper: ends(one.upper) }]));
      this.cache.set(answer.key, { ...answer, of, asked: true });
    }
    this.changed();
  }

  /** Return curves up to a number of steps; until they arrive, the last curves, marked stale.
   * Except during a drag, T is among the steps. */
  curves(run, largest) {
    const most = Math.min(largest, FIELDS.T.ends[1]);
    const key = `${keyOf(run)}|${most}`;
    const have = this.cache.get(key);
    const known = have && run.shown.every((name) => have.of[name] || have.refusals?.[name]);
    const exact = have && (have.steps.includes(run.T) || run.T > have.steps.at(-1));
    if (!have?.refused && !(known && (this.held || exact))) {
      this.ask({ kind: "curves", key, run: runOf(run), shown: run.shown, largest: most });
    }
    if (have && !have.refused) this.last = have;
    return have ?? { ...this.last, stale: true };
  }

  /** Return both ends at one T, by monotonicity: the upper end at the next step, the lower end at the step before. */
  at(run, T) {
    const found = [...this.cache.values()].reverse().find((one) => one.key.startsWith(`${keyOf(run)}|`));
    if (!found) return {};
    const { steps, of } = found;
    const after = steps.findIndex((step) => step >= T);
    const before = after < 0 ? steps.length - 1 : steps[after] === T ? after : after - 1;
    const names = ACCOUNTANTS.filter((name) => of[name]);
    return Object.fromEntries(names.map((name) => [name, { upper: of[name].upper[after] ?? null, lower: of[name].lower?.[before] ?? null }]));
  }
}
