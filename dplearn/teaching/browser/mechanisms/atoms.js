// Pairs with finitely many losses, and pairs from the library's tables. Counterpart of Profile.from_atoms.
import { logExpm1 } from "../gaussian.js";
import { logAdd } from "../line.js";
import { lastWhere } from "../search.js";

/** Return log(1 - e^x) for x <= 0. */
export const log1mexp = (x) => (x > -0.7 ? Math.log(-Math.expm1(x)) : Math.log1p(-Math.exp(x)));

export class Atoms {
  /** @param {number[]} losses in ascending order @param {number[]} logs of their masses under P
   * @param {number} infinite mass under P where Q has none */
  constructor(losses, logs, infinite = 0) {
    const count = losses.length;
    this.losses = losses;
    this.logs = logs;
    this.infinite = infinite;
    this.gap = count > 1 ? losses[1] - losses[0] : 0;
    // Cumulative masses from each loss upwards; for positive losses, also log Q and
    // log sum q_j (e^{L_j} - e^{L_k}), so that delta is a sum of positive terms.
    const zeros = () => new Float64Array(count + 1);
    this.p = zeros();
    this.q = zeros();
    this.tail = zeros().fill(-Infinity);
    this.above = zeros().fill(-Infinity);
    this.p[count] = infinite;
    for (let k = count - 1; k >= 0; k--) {
      const logQ = logs[k] - losses[k];
      this.p[k] = this.p[k + 1] + Math.exp(logs[k]);
      this.q[k] = this.q[k + 1] + Math.exp(logQ);
      if (losses[k] <= 0) continue;
      this.tail[k] = logAdd(this.tail[k + 1], logQ);
      const rise = k + 1 < count ? this.tail[k + 1] + losses[k] + logExpm1(losses[k + 1] - losses[k]) : -Infinity;
      this.above[k] = logAdd(this.above[k + 1], rise);
    }
    // False positive rates at which the curve bends, unless they are many.
    this.corners = count <= 40 ? [...this.q] : [];
  }

  reversed() {
    const { losses, logs, q } = this;
    const turned = losses.map((loss, i) => logs[i] - loss).reverse();
    return new Atoms(losses.map((loss) => -loss).reverse(), turned, Math.max(1 - q[0], 0));
  }

  /** Return the index of the first loss > x. */
  first(x) {
    return lastWhere(-1, this.losses.length, (k) => this.losses[k] <= x) + 1;
  }

  /** Return log delta at epsilon >= 0. */
  logDelta(epsilon) {
    const k = this.first(epsilon);
    const finite = k < this.losses.length ? this.tail[k] + epsilon + logExpm1(this.losses[k] - epsilon) : -Infinity;
    return logAdd(Math.log(this.infinite), logAdd(this.above[k], finite));
  }

  /** Return P(L > x) and Q(L > x), with a tolerance for rounded losses. */
  tails(x) {
    const k = this.first(x + 1e-9 * Math.max(Math.abs(x), 1e-3));
    return [this.p[k], this.q[k]];
  }

  /** Return the largest true positive rate of a randomised test at a false positive rate. */
  true_positive_rate(rate) {
    const { losses, p, q } = this;
    const k = lastWhere(0, losses.length, (i) => q[i] >= rate);
    return Math.min(p[k + 1] + (rate - q[k + 1]) * Math.exp(losses[k]), 1);
  }

  /** Return D_order of a pair equal to its reverse: the moment minus 1 is a sum over
   * positive losses of p (e^{(order-1) L} - 1) (1 - e^{-order L}). */
  renyi(order) {
    const { losses, logs } = this;
    let total = -Infinity;
    for (let k = losses.length - 1; k >= 0 && losses[k] > 0; k--) {
      const rise = logs[k] + logExpm1((order - 1) * losses[k]) + log1mexp(-order * losses[k]);
      total = logAdd(total, rise);
    }
    return logAdd(0, total) / (order - 1);
  }
}

/** Return the law of a table from `dplearn.teaching.browser.pairs`: chords between nodes of a profile, which are upper
 * bounds. */
export function fromTable({ first, step = 0, losses, logs, infinite, orders, divergences, ...more }) {
  const nodes = losses ?? logs.map((_, i) => first + step * i);
  const atoms = new Atoms(nodes, logs.map((log) => log ?? -Infinity), infinite);
  const other = atoms.reversed();
  // (order - 1) D is convex in the order, so chords are upper bounds.
  const moment = (i) => (orders[i] - 1) * divergences[i];
  const renyi = (order) => {
    const i = Math.max(1, orders.findIndex((one) => one >= order));
    const share = (order - orders[i - 1]) / (orders[i] - orders[i - 1]);
    return ((1 - share) * moment(i - 1) + share * moment(i)) / (order - 1);
  };
  return Object.assign(atoms, { exact: false, gap: step, renyi, logDeltaReversed: (epsilon) => other.logDelta(epsilon) }, more);
}
