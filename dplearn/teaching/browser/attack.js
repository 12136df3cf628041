// Bounds on the best attacker's true positive rate, from brackets of delta.
// Counterpart of dplearn/accountants/_attack.py, which has the derivation.
import { Deltas } from "./contour.js";
import { checked, pairsOf, releaseOf } from "./curves.js";
import { Release } from "./gaussian.js";
import { clipped } from "./line.js";

/** A point x = e^epsilon with bounds on g(x) = delta(epsilon).
 * @typedef {{epsilon: number, x: number, low: number, high: number}} Knot */
/** Function from epsilons >= 0 to bounds on log delta. @typedef {(epsilons: number[]) =>
 *   {lower: number, upper: number}[]} Brackets */
const ROUNDS = 24;
const RTOL = 1e-6;
// Wider brackets are returned as null.
const LOOSE = 1e-2;
// Assumed relative error of closed forms.
const MARGIN = 1e-11;
// Limit on summed terms, about one second; runs that need more get null.
const MOST_WORK = 4e7;
// Error bound for g(x) from rounding of delta and of x, as x |g'(x)| <= 1.
const blur = (/** @type {number} */ high) => 1e-12 * high + 4e-16;

/** Return bounds on the best attacker's true positive rate at a false positive rate; null if they are far
 * apart.
 * @param {import("./curves.js").Run} run @param {number} steps @param {number} falsePositiveRate */
export function truePositiveRate(run, steps, falsePositiveRate) {
  checked(run, [steps]);
  if (!(falsePositiveRate > 0 && falsePositiveRate < 1)) {
    throw new RangeError(`Expected falsePositiveRate in (0, 1), got ${falsePositiveRate}.`);
  }
  const release = releaseOf(run);
  const work = { left: MOST_WORK };
  const [first, reverse] = pairsOf(release, work).map((pair) => direction(release, pair, steps));
  const symmetric = release.replaced || release.q === 1;
  const sides = symmetric ? [[first, first]] : [[first, reverse], [reverse, first]];
  const ends = sides.map(([ahead, behind]) => enclosed(ahead, behind, falsePositiveRate, work));
  const lower = Math.max(...ends.map((end) => end.lower));
  const upper = Math.max(...ends.map((end) => end.upper));
  return upper <= (1 + LOOSE) * lower ? { lower, upper } : null;
}

/** Return the brackets of delta in one direction. @param {Release} release @param {import("./pair.js").Pair} pair
 * @param {number} steps @returns {Brackets} */
function direction({ mu, q, replaced }, pair, steps) {
  if (q < 1 && steps > 1) {
    const deltas = new Deltas(pair, steps);
    return (all) => deltas.at(all);
  }
  // Plain Gaussians compose to a Gaussian.
  const release = new Release(mu * Math.sqrt(steps), q, replaced);
  const logs = (/** @type {number[]} */ all) => all.map((e) => release.logDelta(e, pair.sign));
  return (all) => logs(all).map((x) => ({ lower: x - MARGIN, upper: Math.min(x + MARGIN, 0) }));
}

/** Return bounds on min g(x) + rate x, the true positive rate of one direction.
 * @param {Brackets} ahead at epsilon >= 0 @param {Brackets} behind of the reverse
 * @param {number} rate @param {{left: number}} work */
function enclosed(ahead, behind, rate, work) {
  // The total variation sets the scale of the losses.
  const spread = Math.max(Math.exp(ahead([0])[0].upper), 1e-12);
  const first = [0.5, 1.5, 4, 10].flatMap((k) => [-k * spread, k * spread]);
  let knots = withMore([], [...first, 0], ahead, behind);
  let best = { lower: rate, upper: 1 };
  for (let i = 0; i < ROUNDS && work.left > 0; i++) {
    const total = (/** @type {Knot} */ k) => k.high + rate * k.x;
    const upper = Math.min(...knots.map(total));
    const least = lowest(knots, rate);
    best = { lower: Math.max(least.value, best.lower), upper: Math.min(upper, best.upper) };
    if (best.upper - best.lower <= RTOL * best.upper) break;
    const at = knots.findIndex((k) => total(k) === upper);
    const next = around(knots, at, rate);
    const more = withMore(knots, next.length ? next : [least.epsilon], ahead, behind);
    if (more.length === knots.length) break;
    knots = more;
  }
  // Random guessing has a true positive rate equal to the false positive rate.
  return { lower: Math.min(best.lower, best.upper), upper: Math.max(best.upper, rate) };
}

/** Return the knots with new ones added, in ascending order. @param {Knot[]} knots @param {number[]} epsilons
 * @param {Brackets} ahead @param {Brackets} behind */
function withMore(knots, epsilons, ahead, behind) {
  const [right, left] = [epsilons.filter((e) => e >= 0), epsilons.filter((e) => e < 0)];
  const places = [...right, ...left];
  const deltas = [
    ...(right.length ? ahead(right) : []),
    ...(left.length ? behind(left.map((e) => -e)) : []),
  ];
  const more = deltas.map(({ lower, upper }, i) => {
    const e = places[i];
    // delta(-e) = 1 - e^{-e} + e^{-e} delta'(e).
    const delta = (/** @type {number} */ log) =>
      e < 0 ? Math.exp(e + log) - Math.expm1(e) : Math.exp(log);
    const [low, high] = [delta(lower), delta(upper)];
    return { epsilon: e, x: Math.exp(e), low: low - blur(high), high: high + blur(high) };
  });
  const all = [...knots, ...more].sort((a, b) => a.epsilon - b.epsilon);
  // Drop knots of equal exp(epsilon), which have no chord.
  return all.filter((k, i) => !i || k.x > all[i - 1].x * (1 + 1e-14));
}

/** Return new epsilons near the expected point of slope -rate, or further out.
 * @param {Knot[]} knots @param {number} at the best of them @param {number} rate */
function around(knots, at, rate) {
  // The minimum has e^epsilon <= 1 / rate; far on the left the true positive rate is 1.
  const inside = (/** @type {number} */ e) => clipped(e, -80, 1 - Math.log(rate));
  const here = knots[at];
  if (at === 0 || at === knots.length - 1) {
    const further = [2, 4].map((k) => inside(k * here.epsilon));
    return further.filter((e) => Math.abs(e) > Math.abs(here.epsilon));
  }
  const [before, after] = [knots[at - 1], knots[at + 1]];
  const slope = (/** @type {Knot} */ a, /** @type {Knot} */ b) =>
    Math.log(Math.max((a.high - b.high) / (b.x - a.x), 1e-300));
  const [steep, flat] = [slope(before, here), slope(here, after)];
  const middle = [0.5 * (before.epsilon + here.epsilon), 0.5 * (here.epsilon + after.epsilon)];
  const fall = Math.max((steep - flat) / (middle[1] - middle[0]), 1e-9);
  const target = clipped(middle[0] + (steep - Math.log(rate)) / fall, middle[0], middle[1]);
  // Chords at a distance w have a gap of 3/8 w^2 times the curvature over epsilon.
  const w = Math.sqrt((RTOL * (here.high / rate / here.x + 1)) / fall) / 2;
  const width = after.epsilon - before.epsilon;
  if (width < w) return [];
  const doublings = Math.max(Math.floor(Math.log2(width / w)) - 2, 0);
  const steps = [0.5, 1.5, ...Array.from({ length: doublings }, (_, i) => 3 * 2 ** i)];
  return steps.flatMap((s) => [-s, s].map((k) => inside(target + k * Math.min(w, width))));
}

/** Return a lower bound on min g(x) + rate x and its point, from extended chords of the convex g.
 * @param {Knot[]} knots @param {number} rate */
function lowest(knots, rate) {
  const last = knots[knots.length - 1];
  // g(0) = 1, and for x >= 1 / rate the sum is at least 1.
  const end = { epsilon: 0, x: Math.max(1 / rate, 2 * last.x), low: 0, high: last.high };
  const all = [{ epsilon: -Infinity, x: 0, low: 1, high: 1 }, ...knots, end];
  let [value, place] = [Infinity, 0];
  for (let k = 0; k + 1 < all.length; k++) {
    const [a, b] = [all[k], all[k + 1]];
    // Lower bound on the slope of g right of a, and upper bound left of b.
    let [right, left] = [-1, 0];
    all.forEach(({ x, high }, i) => {
      if (i < k) right = Math.max(right, (a.low - high) / (a.x - x));
      if (i > k + 1) left = Math.max(left, (b.low - high) / (x - b.x));
    });
    const gap = b.x - a.x;
    const [from, to] = [a.low + rate * a.x, b.low + rate * b.x];
    const meet = (to + (left - rate) * gap - from) / ((right + left) * gap);
    for (const part of [0, clipped(meet || 0, 0, 1), 1]) {
      const line = from + (right + rate) * part * gap;
      const lines = Math.max(line, to + (left - rate) * (1 - part) * gap);
      if (lines < value) [value, place] = [lines, a.x + part * gap];
    }
  }
  return { value, epsilon: Math.log(Math.max(place, 1e-30)) };
}
