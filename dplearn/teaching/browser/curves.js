// Epsilon against the number of steps by every accountant, of (Poisson-sampled) Gaussians.
import { Divisions } from "./composition.js";
import { brackets } from "./contour.js";
import { MARGIN, Release, gaussianEnds } from "./gaussian.js";
import { Renyi, zcdpEpsilon } from "./renyi.js";

/** @typedef {{noise_multiplier: number, sample_rate: number, delta: number,
 *   adjacency: string}} Run */
/** A point without a certificate is null in both; `lower` is null where nothing bounds from below.
 * @typedef {{lower: (number|null)[]|null, upper: (number|null)[], kind: string}} Curve */
/** @typedef {{lower: number, upper: number}} Bracket */

export const ACCOUNTANTS = ["basic", "advanced", "optimal", "moments", "rdp", "zcdp", "pld", "gdp"];
const ADJACENCIES = ["add_remove", "zero_out", "replace_one"];
// Ends further apart than this are not drawn as a certificate.
const LOOSE = 1.1;

/** The curve of each accountant; null where this engine has no pair of these neighbours.
 * @param {Run} run @param {number[]} steps
 * @param {{accountants?: string[], draft?: boolean}} [options]
 * @returns {{[name: string]: Curve | null}} */
export function curves(run, steps, { accountants = ACCOUNTANTS, draft = false } = {}) {
  checked(run, steps);
  const mu = shift(run);
  const { sample_rate: q, delta } = run;
  const release = new Release(mu ?? 1, q);
  const renyi = new Renyi(mu ?? 1, q);
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
    zcdp: (t) => zcdpEpsilon(0.5 * t * release.mu ** 2, delta),
  };
  const curve = (/** @type {string} */ name) => {
    if (mu === null) return null;
    if (name === "pld") return exact(release, steps, delta, draft);
    if (name === "gdp") return limit(release, steps, delta);
    if (!bounds[name]) {
      throw new RangeError(`Expected an accountant among ${ACCOUNTANTS}, got ${name}.`);
    }
    return { lower: null, upper: steps.map(bounds[name]), kind: "upper" };
  };
  return Object.fromEntries(accountants.map((name) => [name, curve(name)]));
}

/** Distance of neighbours in standard deviations; null where there is no pair of them here.
 * @param {Run} run */
export function shift({ noise_multiplier, sample_rate, adjacency }) {
  if (adjacency !== "replace_one") return 1 / noise_multiplier;
  return sample_rate === 1 ? 2 / noise_multiplier : null;
}

/** Throws unless all numbers are in their range. @param {Run} run @param {number[]} steps */
export function checked({ noise_multiplier, sample_rate, delta, adjacency }, steps) {
  const counts = (/** @type {number} */ t) => Number.isInteger(t) && t >= 1 && t <= 1e12;
  /** @type {[string, unknown, boolean][]} */
  const rules = [
    ["noise_multiplier > 0", noise_multiplier, noise_multiplier > 0 && noise_multiplier < Infinity],
    ["sample_rate in (0, 1]", sample_rate, sample_rate > 0 && sample_rate <= 1],
    ["delta in (0, 1)", delta, delta > 0 && delta < 1],
    ["steps to be whole numbers in 1 .. 1e12", steps, steps.length > 0 && steps.every(counts)],
    [`adjacency among ${ADJACENCIES}`, adjacency, ADJACENCIES.includes(adjacency)],
  ];
  for (const [rule, value, holds] of rules) {
    if (!holds) throw new RangeError(`Expected ${rule}, got ${value}.`);
  }
}

/** Both ends of the truth. @param {Release} release @param {number[]} steps @param {number} delta
 * @param {boolean} draft @returns {Curve} */
function exact(release, steps, delta, draft) {
  const { mu, q } = release;
  if (q === 1) return drawn(steps.map((t) => gaussianEnds(delta, mu * Math.sqrt(t))), "exact");
  // Total variation adds up: where it already fits into delta nothing is left to prove.
  const leak = Math.exp(Math.max(release.logDelta(0), release.logDelta(0, -1))) * (1 + MARGIN);
  const open = steps.filter((t) => t > 1 && t * leak > delta);
  const found = brackets(1 / mu, q, open, delta, draft);
  const ends = steps.map((t) => {
    if (t * leak <= delta) return { lower: 0, upper: 0 };
    return t === 1 ? release.ends(delta) : found[open.indexOf(t)];
  });
  const close = rising(ends, steps).map((end) => (end.upper <= LOOSE * end.lower ? end : null));
  return drawn(close, "bracket");
}

/** Ends with running maxima for lower ones. Epsilon cannot fall with the number of steps: an attacker who
 * has the outputs of more can drop those of the rest, and to drop them is post-processing.
 * @param {Bracket[]} ends @param {number[]} steps */
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

/** mu of the central limit theorem: no bound, but exact without sampling. @param {Release} release
 * @param {number[]} steps @param {number} delta @returns {Curve} */
function limit({ mu, q }, steps, delta) {
  const square = q === 1 ? mu ** 2 : mu ** 2 < 700 ? q ** 2 * Math.expm1(mu ** 2) : Infinity;
  const ends = steps.map((t) => {
    const all = Math.sqrt(t * square);
    return all < 1e6 ? gaussianEnds(delta, all) : { lower: 0, upper: Infinity };
  });
  return q === 1 ? drawn(ends, "exact") : { ...drawn(ends, "approximate"), lower: null };
}

/** @param {(Bracket | null)[]} ends @param {string} kind @returns {Curve} */
function drawn(ends, kind) {
  const [lower, upper] = [ends.map((e) => e && e.lower), ends.map((e) => e && e.upper)];
  return { lower, upper, kind };
}
