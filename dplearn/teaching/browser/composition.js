// Composition of steps of which only (epsilon, delta) is known.
// Counterpart of the accountants basic, advanced and optimal, and of their theorems.
import { Release } from "./gaussian.js";
import { lastWhere } from "./search.js";

const PER_DECADE = 12;
// Assumed relative error of sums of a few terms.
const ROUNDING = 1e-12;

/** Candidate values of delta per step, each with the epsilon of one release. */
export class Divisions {
  /** @param {Release} release @param {number[]} steps all numbers of steps */
  constructor(release, delta, steps) {
    this.release = release;
    this.delta = delta;
    this.first = Math.floor(PER_DECADE * Math.log10(Math.min(...steps)));
    const last = PER_DECADE * Math.log10(Math.max(...steps)) + 9 * PER_DECADE;
    let epsilon = 0;
    this.paid = Array.from({ length: Math.ceil(last - this.first) }, (_, i) => {
      const step = delta * 10 ** (-(this.first + i) / PER_DECADE);
      epsilon = this.at(step, epsilon);
      return { step, epsilon, drift: epsilon * Math.tanh(epsilon / 2), log: Math.log1p(-step) };
    });
  }

  /** Return the smallest epsilon of one release at a delta, rounded up. */
  at(delta, lower = 0) {
    return this.release.epsilon(delta * (1 - ROUNDING), lower);
  }

  /** Return epsilon by basic composition with equal shares of delta. */
  basic(steps) {
    return steps * this.at(this.delta / steps) * (1 + ROUNDING);
  }

  /** Return the slack left by the deltas of all steps, <= 0 if none. @param {number} log log(1 - delta per step) */
  slack(steps, log) {
    return -Math.expm1(Math.min(Math.log1p(-this.delta) - steps * log, 1));
  }

  /** Return epsilon by advanced composition at the best division of delta, and the division's index. */
  advanced(steps) {
    let [least, best] = [Infinity, 0];
    this.paid.forEach(({ epsilon, drift, log }, i) => {
      const slack = this.slack(steps, log);
      if (slack <= 0) return;
      const spread = epsilon * Math.sqrt(-2 * Math.log(slack) * steps);
      const total = Math.min(steps * epsilon, spread + steps * drift);
      if (total < least) [least, best] = [total, i];
    });
    // Equal shares of delta need not be among the divisions.
    return { epsilon: Math.min(least * (1 + ROUNDING), this.basic(steps)), best };
  }

  /** Return epsilon by optimal composition, at divisions near the best division for advanced composition. */
  optimal(steps) {
    const { best, epsilon: advanced } = this.advanced(steps);
    // A single step needs no slack.
    let least = steps === 1 ? this.at(this.delta) : Infinity;
    for (const reach of [-10, -5, 0, 5, 10]) {
      const { epsilon, log } = this.paid[Math.min(Math.max(best + reach, 0), this.paid.length - 1)];
      const slack = this.slack(steps, log);
      const total = slack > 0 ? optimalComposition(epsilon, steps, slack) : Infinity;
      // NaN, from a fraction that does not converge, is ignored.
      if (total < least) least = total;
    }
    return Math.min(least * (1 + ROUNDING), advanced);
  }
}

/** Return the exact epsilon of `steps` epsilon-DP releases at delta = slack, rounded up: the losses
 * are (2K - steps) epsilon with K binomial. */
function optimalComposition(epsilon, steps, slack) {
  const truth = 1 / (1 + Math.exp(-epsilon));
  const lie = Math.exp(-epsilon) * truth;
  // Assumed relative error of tails, because the binomial law's parameter is rounded.
  const error = 3e-14 * (10 + Math.sqrt(steps));
  // P(K > k), rounded up, and Q(K > k), where truth and lie are swapped.
  const [above, other] = [(k) => binomialTail(k, steps, truth, lie) * (1 + error), (k) => binomialTail(k, steps, lie, truth)];
  // delta at the loss L_k, rounded up: a capped exponent or an underflow of Q only increases it.
  const delta = (k) => Math.max(above(k) - Math.exp(Math.min((2 * k - steps) * epsilon, 700)) * other(k) * (1 - error), 0);
  // The smallest integer k with delta(k) <= slack.
  const high = lastWhere(Math.floor(steps / 2) - 1, steps, (k) => delta(k) > slack) + 1;
  // Below L_k: delta(e) = P(K >= k) - e^e Q(K >= k), solved for delta = slack.
  const upper = (2 * high - steps) * epsilon;
  const [excess, q] = [above(high - 1) - slack, other(high - 1)];
  const inside = excess > 0 && q > 0 ? Math.log(excess) - Math.log(q) : excess > 0 ? upper : 0;
  return Math.max(Math.min(inside, upper), 0);
}

/** Return P(K > k) of a binomial K, rest = 1 - p: the incomplete beta function I_p(k + 1, n - k), by the
 * shorter continued fraction. */
export function binomialTail(k, n, p, rest) {
  if (k < 0) return 1;
  if (k >= n) return 0;
  if (p * (n + 2) < k + 2) return binomial(k + 1, n, p, rest) * rest * fraction(k + 1, n - k, p);
  return 1 - binomial(k, n, p, rest) * p * fraction(n - k, k + 1, rest);
}

/** Return the binomial probability of k, rest = 1 - p (Loader, 2000). */
function binomial(k, n, p, rest) {
  if (k === 0) return Math.exp(n * (p < 0.5 ? Math.log1p(-p) : Math.log(rest)));
  if (k === n) return Math.exp(n * (rest < 0.5 ? Math.log1p(-rest) : Math.log(p)));
  const away = deviance(k, n * p) + deviance(n - k, n * rest);
  const normal = Math.sqrt(n / (2 * Math.PI * k * (n - k)));
  return Math.exp(stirling(n) - stirling(k) - stirling(n - k) - away) * normal;
}

/** Return log(n! / Stirling's formula). */
function stirling(n) {
  if (n > 15) {
    const u = 1 / (n * n);
    return (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))) / n;
  }
  let product = 1;
  for (let i = 2; i <= n; i++) product *= i;
  return Math.log(product) - (n + 0.5) * Math.log(n) + n - 0.5 * Math.log(2 * Math.PI);
}

/** Return x log(x / m) + m - x >= 0, without cancellation. */
function deviance(x, m) {
  const v = (x - m) / (x + m);
  if (Math.abs(v) > 0.1) return x * Math.log(x / m) + m - x;
  let [sum, power] = [(x - m) * v, 2 * x * v];
  // Each term is at most a hundredth of the previous term; the last term is far below one ulp.
  for (let j = 3; j < 25; j += 2) {
    power *= v * v;
    sum += power / j;
  }
  return sum;
}

/** Return the continued fraction of the incomplete beta function (Lentz), x < (a + 1) / (a + b + 2). */
function fraction(a, b, x) {
  let [c, d] = [1, 1 / (1 - ((a + b) * x) / (a + 1))];
  let value = d;
  for (let m = 1; m < 1e6; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    value *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    value *= c * d;
    if (Math.abs(c * d - 1) < 4e-16) return value;
  }
  return NaN;
}
