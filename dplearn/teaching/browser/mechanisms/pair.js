// One pair of output distributions: its curves, and its values at an epsilon, order or rate.
import { clamp } from "../page/numbers.js";
import { halved, inverse } from "../search.js";

// Largest loss, and probability of each tail outside the bulk of the losses.
const FAR = 700;
const OUTSIDE = 1e-3;
export const ORDERS = Array.from({ length: 90 }, (_, i) => 1 + 0.01 * 99900 ** (i / 89));
const RATES = [
  0, ...Array.from({ length: 40 }, (_, i) => 1e-4 * 1000 ** (i / 39)),
  ...Array.from({ length: 45 }, (_, i) => 0.12 + (0.88 * i) / 44),
];

export class Pair {
  constructor(law) {
    this.law = law;
    this.exact = law.exact ?? true;
    this.total = law.logDelta(0);
    this.reach = this.epsilonAt(this.total + Math.log(1e-6));
    this.bulk = [1 - OUTSIDE, OUTSIDE].map((share) => halved(-FAR, FAR, 50, (x) => law.tails(x)[0] > share));
    this.divergences = ORDERS.map((order) => law.renyi(order));
    this.rates = [...new Set([...RATES, ...(law.corners ?? [])])].filter((a) => a >= 0 && a <= 1).sort((a, b) => a - b);
    this.misses = this.rates.map((rate) => 1 - this.true_positive_rate(rate));
  }

  /** Return the epsilon at a log delta, at most FAR. */
  epsilonAt(logDelta) {
    const excess = (x) => this.law.logDelta(x) - logDelta;
    return excess(FAR) > 0 ? FAR : inverse(excess, 0);
  }

  true_positive_rate(rate) {
    if (rate <= 0) return this.law.infinite ?? 0;
    return rate >= 1 ? 1 : clamp(this.law.true_positive_rate(rate), 0, 1);
  }

  /** Return a histogram of the loss under P with an edge at epsilon; the outermost bins are open. */
  losses(epsilon) {
    const { law } = this;
    const [low, high] = [Math.min(this.bulk[0], epsilon), Math.max(this.bulk[1], epsilon)];
    let width = (high - low) / 60 || 1;
    // For losses on a lattice, every bin gets the same number of losses.
    if (law.gap && law.gap < width) width = law.gap * Math.ceil(width / law.gap);
    const [from, to] = [Math.floor((low - epsilon) / width) - 1, Math.ceil((high - epsilon) / width) + 1];
    const edges = Array.from({ length: to - from + 1 }, (_, i) => epsilon + width * (from + i));
    const tails = edges.map((x) => law.tails(x));
    [tails[0], tails[tails.length - 1]] = [[1, 1], [0, 0]];
    const bins = edges.slice(1).map((_, i) => {
      const [mass, other] = [tails[i][0] - tails[i + 1][0], tails[i][1] - tails[i + 1][1]];
      const counted = from + i >= 0 ? Math.max(mass - Math.exp(epsilon) * other, 0) : 0;
      return { mass: Math.max(mass, 0), counted, above: from + i >= 0 };
    });
    return { edges, bins };
  }
}
