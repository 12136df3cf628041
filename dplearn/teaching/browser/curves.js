// Epsilon of (Poisson-sampled) Gaussians against the number of steps, by every accountant, and the best attacker's true
// positive rate, from epsilon at several values of delta.
import { Divisions } from "./composition.js";
import { brackets } from "./contour.js";
import { MARGIN, Release } from "./gaussian.js";
import { Pair } from "./pair.js";
import { ROUNDING, Renyi, zcdpEpsilon } from "./renyi.js";
import { smallest } from "./search.js";

/** @typedef {{noise_multiplier: number, sample_rate: number, delta: number, adjacency: string}} Run */
/** Points without a certificate are null in both lists; `lower` is null without lower bounds.
 * @typedef {{lower: (number|null)[]|null, upper: (number|null)[], kind: string}} Curve */
/** @typedef {{lower: number, upper: number}} Bracket */

export const ACCOUNTANTS = ["basic", "advanced", "optimal", "moments", "rdp", "zcdp", "pld", "gdp"];
const ADJACENCIES = ["add_remove", "zero_out", "replace_one"];
// Logarithms of delta from which the search starts.
const LOGS = Array.from({ length: 7 }, (_, i) => -24.1 + 4 * i);

/** Return the curve of each accountant. @param {Run} run @param {number[]} steps
 * @param {{accountants?: string[], draft?: boolean}} [options] @returns {{[name: string]: Curve}} */
export function curves(run, steps, { accountants = ACCOUNTANTS, draft = false } = {}) {
  checked(run, steps, accountants);
  const { noise_multiplier, sample_rate, delta, adjacency } = run;
  const replaced = adjacency === "replace_one";
  // Replacing a record of a full batch doubles the shift.
  const whole = sample_rate === 1;
  const release = new Release((replaced && whole ? 2 : 1) / noise_multiplier, sample_rate, replaced && !whole);
  const renyi = new Renyi(release);
  /** @type {Divisions | undefined} */
  let divisions;
  const divided = () => (divisions ??= new Divisions(release, delta, steps));
  const upper = (bound) => ({ lower: null, upper: steps.map(bound), kind: "upper" });
  /** @type {{[name: string]: () => Curve}} */
  const all = {
    basic: () => upper((t) => divided().basic(t)),
    advanced: () => upper((t) => divided().advanced(t).epsilon),
    optimal: () => upper((t) => divided().optimal(t)),
    moments: () => upper((t) => renyi.moments(t, delta)),
    rdp: () => upper((t) => renyi.epsilon(t, delta)),
    zcdp: () => upper((t) => zcdpEpsilon(0.5 * t * (release.mu * (release.replaced ? 2 : 1)) ** 2, delta)),
    pld: () => exact(release, steps, delta, draft),
    gdp: () => limit(release, steps, delta),
  };
  return Object.fromEntries(accountants.map((name) => [name, all[name]()]));
}

/** Throw RangeError unless all numbers are in range. @param {Run} run */
function checked({ noise_multiplier, sample_rate, delta, adjacency }, steps, accountants) {
  const counts = (t) => Number.isInteger(t) && t >= 1 && t <= 1e12;
  /** @type {[string, unknown, boolean][]} */
  const rules = [
    ["noise_multiplier > 0", noise_multiplier, noise_multiplier > 0 && noise_multiplier < Infinity],
    ["sample_rate in (0, 1]", sample_rate, sample_rate > 0 && sample_rate <= 1],
    ["delta in (0, 1)", delta, delta > 0 && delta < 1],
    ["steps to be whole numbers in 1 .. 1e12", steps, steps.length > 0 && steps.every(counts)],
    [`adjacency among ${ADJACENCIES}`, adjacency, ADJACENCIES.includes(adjacency)],
    [`accountants among ${ACCOUNTANTS}`, accountants, accountants.every((name) => ACCOUNTANTS.includes(name))],
  ];
  for (const [rule, value, holds] of rules) if (!holds) throw new RangeError(`Expected ${rule}, got ${value}.`);
}

/** Return the curve of exact values or of brackets. @param {Release} release @returns {Curve} */
function exact(release, steps, delta, draft) {
  const { mu, q } = release;
  if (q === 1) return drawn(steps.map((t) => new Release(mu * Math.sqrt(t), 1).ends(delta)), "exact");
  // Epsilon is 0 where the sum of the total variations is at most delta.
  const leak = Math.exp(Math.max(release.logDelta(0), release.logDelta(0, -1))) * (1 + MARGIN);
  const open = steps.filter((t) => t > 1 && t * leak > delta);
  /** @type {import("./pair.js").Side[]} */
  const sides = release.replaced ? ["replace"] : ["remove", "add"];
  const found = brackets(sides.map((side) => new Pair(1 / mu, q, side)), open, delta, draft);
  const ends = steps.map((t) => {
    if (t * leak <= delta) return { lower: 0, upper: 0 };
    return t === 1 ? release.ends(delta) : found[open.indexOf(t)];
  });
  // Brackets with a larger ratio of ends are not drawn.
  const close = rising(ends, steps).map((end) => (end.upper <= 1.1 * end.lower ? end : null));
  return drawn(close, "bracket");
}

/** Return the ends with running maxima as lower ends. Epsilon cannot fall with the number of steps, because dropping
 * outputs of the last steps is post-processing. @param {Bracket[]} ends */
function rising(ends, steps) {
  let most = 0;
  const result = [...ends];
  for (const i of steps.map((_, i) => i).sort((i, j) => steps[i] - steps[j])) {
    const { lower, upper } = ends[i];
    most = Math.max(most, lower);
    if (most <= upper) result[i] = { lower: most, upper };
  }
  return result;
}

/** Return epsilon by the central limit theorem: approximate, but exact without sampling. @param {Release} release
 * @returns {Curve} */
function limit({ mu, q, replaced }, steps, delta) {
  const rise = replaced ? 4 * Math.sinh(mu ** 2) : Math.expm1(mu ** 2);
  const square = q === 1 ? mu ** 2 : mu ** 2 < 700 ? q ** 2 * rise : Infinity;
  const ends = steps.map((t) => {
    const all = Math.sqrt(t * square);
    return all < 1e6 ? new Release(all, 1).ends(delta) : { lower: 0, upper: Infinity };
  });
  return q === 1 ? drawn(ends, "exact") : { ...drawn(ends, "approximate"), lower: null };
}

/** @param {(Bracket | null)[]} ends @returns {Curve} */
function drawn(ends, kind) {
  return { lower: ends.map((e) => e && e.lower), upper: ends.map((e) => e && e.upper), kind };
}

/** Return the bound on the true positive rate from one (epsilon, delta): the rate is at most e^epsilon times the false
 * positive rate, plus delta; the true and false negative rates satisfy the same inequality. */
export const rateBound = (epsilon, delta, falsePositiveRate) =>
  Math.min(Math.exp(epsilon) * falsePositiveRate + delta, 1 - Math.exp(-epsilon) * (1 - delta - falsePositiveRate));

/** Return the smallest proved bound on the true positive rate at a false positive rate; null if none is below 1.
 * @param {Run} run */
export function truePositiveRate(run, steps, falsePositiveRate) {
  if (!(falsePositiveRate > 0 && falsePositiveRate < 1)) {
    throw new RangeError(`Expected falsePositiveRate in (0, 1), got ${falsePositiveRate}.`);
  }
  const rate = (log) => {
    const delta = Math.exp(log);
    const bound = (name) => curves({ ...run, delta }, [steps], { accountants: [name], draft: true })[name].upper[0];
    return rateBound(bound("pld") ?? bound("basic"), delta, falsePositiveRate) * (1 + ROUNDING);
  };
  const all = LOGS.map(rate);
  const best = all.indexOf(Math.min(...all));
  if (!(all[best] < 1)) return null;
  const [low, high] = [LOGS[best - 1] ?? LOGS[0], LOGS[best + 1] ?? -1e-3];
  return smallest(rate, low, LOGS[best], high, 1e-5);
}
