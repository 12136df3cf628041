// Renyi divergences of the sampled Gaussian, and epsilon at the best order.
// Counterpart of PoissonSubsampled._rdp and of the accountants moments, rdp and zcdp.
import { logAdd } from "./line.js";
import { Pair } from "./pair.js";
import { decreasingRoot, smallest } from "./search.js";

// Orders from the best for large epsilons to the best for small epsilons; the search interpolates.
const ORDERS = Array.from({ length: 31 }, (_, i) => 1 + 0.01 * 1e8 ** (i / 30));
// Assumed relative error of divergences and their conversion.
export const ROUNDING = 1e-12;

/** Renyi curve of one release, with a cache of orders. */
export class Renyi {
  /** @param {import("./gaussian.js").Release} release */
  constructor({ mu, q, replaced }) {
    this.pair = new Pair(1 / mu, q, replaced ? "replace" : "remove");
    this.values = new Map();
  }

  /** Return D_order in nats, the larger of both directions. */
  at(order) {
    const { pair, values } = this;
    if (pair.q === 1) return order / (2 * pair.sigma ** 2);
    if (!values.has(order)) values.set(order, (logAdd(0, excess(order, pair)) / (order - 1)) * (1 + ROUNDING));
    return values.get(order);
  }

  /** Return the smallest epsilon over all orders, by the improved conversion. */
  epsilon(steps, delta) {
    const by = (a) => improved(a, steps * this.at(a), Math.log(delta));
    // The bound is unimodal: a convex function of order - 1, divided by order - 1.
    let i = 0;
    while (i + 1 < ORDERS.length && by(ORDERS[i + 1]) < by(ORDERS[i])) i++;
    const least = smallest(by, ORDERS[i - 1] ?? ORDERS[i], ORDERS[i], ORDERS[i + 1] ?? ORDERS[i]);
    return Math.max(least * (1 + ROUNDING), 0);
  }

  /** Return the smallest epsilon over the moments 1..32, by the tail bound of Abadi et al. (2016). */
  moments(steps, delta) {
    const all = Array.from({ length: 32 }, (_, i) => steps * this.at(i + 2) - Math.log(delta) / (i + 1));
    return Math.min(...all) * (1 + ROUNDING);
  }
}

/** Return epsilon from the divergence at one order; Infinity at delta = 0. */
export const improved = (order, rdp, logDelta) => rdp + Math.log1p(-1 / order) - (logDelta + Math.log(order)) / (order - 1);

/** Return the best epsilon of rho-zCDP; every order gives a valid bound. */
export function zcdpEpsilon(rho, delta) {
  const logDelta = Math.log(delta);
  // d/d alpha of the bound is rho + (ln delta + ln alpha) / (alpha - 1)^2.
  const slope = (excess) => rho * excess ** 2 + logDelta + Math.log1p(excess);
  const order = 1 + decreasingRoot((excess) => -slope(excess), 0, Math.sqrt(-logDelta / rho));
  return Math.max(improved(order, rho * order, logDelta) * (1 + ROUNDING), 0);
}

/** Return the log of E g ((f/g)^a - 1 - a (f/g - 1)) by the trapezoidal rule, with g = 1 unless a record is
 * replaced; its terms are never negative. */
function excess(order, pair) {
  const { sigma, q } = pair;
  const replaced = pair.side === "replace";
  const step = pair.step(order - 1, 0);
  // Orders that need more nodes in x are left out.
  if (order > 2 ** 13 * step) return Infinity;
  let [top, sum] = [-Infinity, 0];
  for (const x of pair.nodes(order - 1, step)) {
    const logG = replaced ? pair.logRatio(-x) : 0;
    const [up, down] = [(2 * x - 1) / (2 * sigma ** 2), replaced ? (-2 * x - 1) / (2 * sigma ** 2) : 0];
    // f / g - 1, accurate where it is small; where it is large only its logarithm is used.
    const ratio = q * Math.exp(down - logG) * Math.expm1(Math.min(up - down, 700));
    const logF = Math.abs(ratio) < 0.5 ? Math.log1p(ratio) : pair.logRatio(x) - logG;
    const log = logG + logTerm(order, logF, ratio) - 0.5 * (x / sigma) ** 2;
    if (log > top) [top, sum] = [log, sum * Math.exp(top - log) + 1];
    else if (log > top - 50) sum += Math.exp(log - top);
  }
  return Math.log(sum) + top + Math.log(step / sigma / Math.sqrt(2 * Math.PI));
}

/** Return the log of (1+x)^a - 1 - a x >= 0. @param {number} logF log(1 + x) */
function logTerm(a, logF, x) {
  // Use a series for tiny x; for a huge power, 1 + a x is replaced by a (1 + x).
  if (Math.abs(x) * (1 + a) < 3e-3) {
    const series = 1 + ((x * (a - 2)) / 3) * (1 + ((x * (a - 3)) / 4) * (1 + (x * (a - 4)) / 5));
    return Math.log(0.5 * a * (a - 1) * x * x * series);
  }
  const power = a * logF;
  if (power > 600) return power + Math.log1p(-a * Math.exp(-(a - 1) * logF));
  // (1+x)((1+x)^{a-1} - 1) - (a-1)x: near order 1 both terms are small.
  return Math.log(Math.exp(logF) * Math.expm1((a - 1) * logF) - (a - 1) * x);
}
