// Cache of epsilons, so that moving T, the budget or a drag back to old values needs no computation.
import { STYLES } from "./accountants.js";
import { FIELDS, keyOf, proved } from "./run.js";
import { clamp, up } from "./numbers.js";

const KEPT = 3000;
// Number of intervals between the points of a curve.
const PARTS = 40;

export class Answers {
  /** `changed` is called after improved results; `confirmation` requests other runs from the server. */
  constructor(engine, later, confirmation, changed) {
    this.engine = engine;
    this.confirmation = confirmation;
    this.later = later;
    this.changed = changed;
    this.kept = new Map();
  }

  remember(key, value) {
    this.kept.set(key, value);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
    return value;
  }

  /** Return the accountants to compute, always with PLD, which the main sentence uses. */
  static named(run) {
    return [...new Set(["pld", ...run.shown])];
  }

  /** Return curves up to a number of steps; unproved points of PLD are null. */
  curves(run, largest, names = Answers.named(run)) {
    if (!proved(run)) return this.confirmation.curves(run, largest);
    const key = `${keyOf(run)}|${largest}|`;
    const steps = [...new Set(Array.from({ length: PARTS + 1 }, (_, i) => Math.round(largest ** (i / PARTS))))];
    const missing = names.filter((name) => !this.kept.has(key + name));
    if (missing.length) {
      const found = this.engine.curves(run, steps, { accountants: missing, draft: true });
      for (const name of missing) this.remember(key + name, found[name]);
      if (found.pld) this.complete(run, steps, found.pld);
    }
    const open = this.kept.get(`${key}pld`).upper.includes(null);
    // RDP replaces null points of PLD. It is computed only then, because it can be slower than PLD.
    if (open && !names.includes("rdp")) return this.curves(run, largest, [...names, "rdp"]);
    return { steps, of: Object.fromEntries(names.map((name) => [name, this.kept.get(key + name)])) };
  }

  /** Recompute null points of the draft in the worker, with more effort. */
  complete(run, steps, curve) {
    const open = steps.flatMap((_, i) => (curve.upper[i] === null ? [i] : []));
    if (!open.length) return;
    const question = { run, steps: open.map((i) => steps[i]) };
    this.later.ask("curve", question, (found) => {
      if (!found) return;
      open.forEach((i, j) => {
        curve.upper[i] = found.upper[j];
        curve.lower[i] = found.lower[j];
      });
      this.changed();
    });
  }

  /** Return both ends of each accountant at one T. */
  at(run, T = run.T, names = Answers.named(run)) {
    if (!proved(run)) return this.confirmation.at(run, T);
    const key = (name) => `${keyOf(run)}@${T}|${name}`;
    const missing = names.filter((name) => !this.kept.has(key(name)));
    const found = missing.length ? this.engine.curves(run, [T], { accountants: missing }) : {};
    for (const name of missing) this.remember(key(name), { lower: found[name].lower?.[0] ?? null, upper: found[name].upper[0] });
    if (this.kept.get(key("pld"))?.upper === null && !names.includes("rdp")) {
      return this.at(run, T, [...names, "rdp"]);
    }
    return Object.fromEntries(names.map((name) => [name, this.kept.get(key(name))]));
  }

  /** Return the noise at which PLD has this epsilon at T, rounded up so that epsilon is not exceeded. */
  noise(run, T, epsilon) {
    const miss = (x) => {
      const found = least(this.at({ ...run, noise_multiplier: Math.exp(x) }, T, ["pld"])).value;
      return Math.log(found) - Math.log(epsilon);
    };
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
