// Epsilon of (Poisson-sampled) Gaussians against the number of steps, by every accountant.
import { Divisions } from "./composition.js";
import { brackets } from "./contour.js";
import { MARGIN, Release } from "./gaussian.js";
import { Pair } from "./pair.js";
import { Renyi, zcdpEpsilon } from "./renyi.js";

/** @typedef {{noise_multiplier: number, sample_rate: number, delta: number, adjacency: string}} Run */
/** Points without a certificate are null in both lists; `lower` is null without lower bounds.
 * @typedef {{lower: (number|null)[]|null, upper: (number|null)[], kind: string}} Curve */
/** @typedef {{lower: number, upper: number}} Bracket */

export const ACCOUNTANTS = ["basic", "advanced", "optimal", "moments", "rdp", "zcdp", "pld", "gdp"];
const ADJACENCIES = ["add_remove", "zero_out", "replace_one"];
// Brackets with a larger ratio of ends are not drawn.
const LOOSE = 1.1;

/** Return the curve of each accountant. @param {Run} run @param {number[]} steps
 * @param {{accountants?: string[], draft?: boolean}} [options] @returns {{[name: string]: Curve}} */
export function curves(run, steps, { accountants = ACCOUNTANTS, draft = false } = {}) {
  checked(run, steps, accountants);
  const { delta } = run;
  const release = releaseOf(run);
  const renyi = new Renyi(release);
  /** @type {Divisions | undefined} */
  let kept;
  const divisions = () => (kept ??= new Divisions(release, delta, steps));
  /** @type {{[name: string]: (steps: number) => number}} */
  const bounds = {
    basic: (t) => divisions().basic(t),
    advanced: (t) => divisions().advanced(t),
    optimal: (t) => divisions().optimal(t),
    moments: (t) => renyi.moments(t, delta),
    rdp: (t) => renyi.epsilon(t, delta),
    zcdp: (t) => zcdpEpsilon(0.5 * t * (release.mu * (release.replaced ? 2 : 1)) ** 2, delta),
  };
  const curve = (name) => {
    if (name === "pld") return exact(release, steps, delta, draft);
    if (name === "gdp") return limit(release, steps, delta);
    return { lower: null, upper: steps.map(bounds[name]), kind: "upper" };
  };
  return Object.fromEntries(accountants.map((name) => [name, curve(name)]));
}

/** Return one step of a run; replacing a record of a full batch doubles the shift. @param {Run} run */
function releaseOf({ noise_multiplier, sample_rate, adjacency }) {
  const replaced = adjacency === "replace_one";
  const whole = sample_rate === 1;
  return new Release((replaced && whole ? 2 : 1) / noise_multiplier, sample_rate, replaced && !whole);
}

/** Return the pairs of a sampled step in both directions. @param {Release} release */
function pairsOf({ mu, q, replaced }) {
  /** @type {import("./pair.js").Side[]} */
  const sides = replaced ? ["replace"] : ["remove", "add"];
  return sides.map((side) => new Pair(1 / mu, q, side));
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
  for (const [rule, value, holds] of rules) {
    if (!holds) throw new RangeError(`Expected ${rule}, got ${value}.`);
  }
}

/** Return exact values or brackets. @param {Release} release @returns {Curve} */
function exact(release, steps, delta, draft) {
  const { mu, q } = release;
  if (q === 1) return drawn(steps.map((t) => new Release(mu * Math.sqrt(t), 1).ends(delta)), "exact");
  // Epsilon is 0 where the sum of the total variations is at most delta.
  const leak = Math.exp(Math.max(release.logDelta(0), release.logDelta(0, -1))) * (1 + MARGIN);
  const open = steps.filter((t) => t > 1 && t * leak > delta);
  const found = brackets(pairsOf(release), open, delta, draft);
  const ends = steps.map((t) => {
    if (t * leak <= delta) return { lower: 0, upper: 0 };
    return t === 1 ? release.ends(delta) : found[open.indexOf(t)];
  });
  const close = rising(ends, steps).map((end) => (end.upper <= LOOSE * end.lower ? end : null));
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
  const [lower, upper] = [ends.map((e) => e && e.lower), ends.map((e) => e && e.upper)];
  return { lower, upper, kind };
}
