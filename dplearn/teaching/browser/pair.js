// Pairs of the sampled Gaussian, and K = log M on a grid of real mu, with bounds and plans.
// Counterpart of dplearn/engine/contour/pair.py and table.py, which have the derivations.
import { halved } from "./search.js";

// The relative error of sums over x is a few e^{-L}.
export const L = 39;
// Half the spacing of doubles near 1. Math.exp, log1p, sin ... are assumed accurate to two of these
// (V8, SpiderMonkey and JavaScriptCore promise less than one spacing).
export const ULP = 2 ** -53;
// Relative error of M(lambda) from discretisation, the two ends, and terms left out.
export const QUADRATURE = 5 * Math.exp(-L);
const NEGLIGIBLE = -50;
const GRID = 64;
// Approximate rounding of M, for plans only, and margin for a guessed epsilon.
const ROUNDING = 3e-14;
const ROOM = 0.3;

/** Pairs of standard deviation sigma: "remove" is ((1-q)N(0) + qN(1), N(0)), "add" is its reverse, "replace" is
 * ((1-q)N(0) + qN(1), (1-q)N(0) + qN(-1)).
 * @typedef {"remove" | "add" | "replace"} Side */
export class Pair {
  /** @param {Side} side */
  constructor(sigma, q, side) {
    this.sigma = sigma;
    this.q = q;
    this.side = side;
    /** Sign of the loss as a multiple of log f. */
    this.sign = side === "add" ? -1 : 1;
    this.logQ = Math.log(q);
    this.logRest = Math.log1p(-q);
  }

  /** Return log(B / A) at real x, where f = A + B e^{i phi}. */
  gap(x) {
    return this.logQ + (2 * x - 1) / (2 * this.sigma ** 2) - this.logRest;
  }

  /** Return log f at real x. */
  logRatio(x) {
    const gap = this.gap(x);
    return Math.max(gap, 0) + Math.log1p(Math.exp(-Math.abs(gap))) + this.logRest;
  }

  /** Return log P / N(0) and the loss at real x. */
  logs(x) {
    const logF = this.logRatio(x);
    if (this.side === "replace") return [logF, logF - this.logRatio(-x)];
    return this.side === "add" ? [0, -logF] : [logF, logF];
  }

  /** Return the posterior B / f of a sampled record; for "replace", the sum of both posteriors. */
  posterior(x) {
    const one = (at) => 1 / (1 + Math.exp(-this.gap(at)));
    return one(x) + (this.side === "replace" ? one(-x) : 0);
  }

  /** Return the error of logs at x in ulps, from B and, for "replace", from log f. */
  inner(x) {
    const size = (Math.abs(2 * x) + 1) / (2 * this.sigma ** 2) - this.logQ - this.logRest;
    return size * this.posterior(x) + (this.side === "replace" ? 2 * Math.abs(this.logRatio(-x)) + 4 : 0);
  }

  /** Return an upper bound on log |f|^s / f(Re x)^s; only negative powers grow off the axis. */
  lossOfCosine(phi, tilt) {
    return this.side === "remove" ? 0 : -tilt * Math.log(Math.cos(0.5 * phi));
  }

  /** Return the spacing of nodes on Im x = height with error 2 e^{-L} M(lambda). */
  step(tilt, height) {
    const { sigma } = this;
    const most = Math.min(Math.PI * sigma ** 2 - height, 9 * sigma);
    let up = 0;
    for (let i = 1; i < 50; i++) {
      const a = 0.02 * i * most;
      const top = (height + a) / sigma ** 2;
      const cost = 0.5 * (top * sigma) ** 2 + this.lossOfCosine(top, tilt);
      up = Math.max(up, (2 * Math.PI * a) / (L + cost));
    }
    return height ? Math.min(up, (2 * Math.PI * height) / L) : up;
  }

  /** Return the real parts of an even number of nodes, for all tilts up to `tilt`. */
  nodes(tilt, step) {
    const far = this.sigma * Math.sqrt(2 * (L + 8));
    const left = this.side === "add" ? -tilt * this.q - far : -far;
    const right = { remove: 1 + tilt, add: 0, replace: 1 + 2 * tilt }[this.side] + far;
    const count = 2 * Math.ceil(0.5 * ((right - left) / step + 1));
    const x = new Float64Array(count);
    for (let i = 0; i < count; i++) x[i] = left + i * step;
    return x;
  }

  /** Return the largest mu of a table; saddle points beyond it get no bracket. */
  largestPower(logDelta) {
    const { sigma } = this;
    const mu = -2 * sigma ** 2 * this.logQ + 4 * sigma * Math.sqrt(-2 * logDelta) + 1;
    return Math.min(this.sign > 0 ? mu : 16 * mu, 3000 * sigma);
  }
}

/** A number of steps with a guess of epsilon and certified ends.
 * @typedef {{steps: number, epsilon: number, logDelta: number, lower: number, upper: number}} Row */
/** Plan of a row: needs of its aliases at every mu and at mu = 0, smallest period, and range of lambda.
 * @typedef {{row: Row, need: Float64Array, atZero: number, period: number, low: number, high: number}} Plan */

/** K, K' and K'' on a grid of mu, with bounds and guesses for T steps. */
export class Table {
  /** @param {Pair} pair */
  constructor(pair, largest) {
    const grid = () => new Float64Array(GRID);
    this.pair = pair;
    this.mu = grid().map((_, i) => largest * 1e-6 ** (1 - i / (GRID - 1)));
    this.k = grid();
    this.mean = grid();
    this.variance = grid();
    this.kAbove = grid();
    // Compute K, K' and K'', and K plus a bound on its error.
    const [{ mu }, { sigma }] = [this, pair];
    const step = pair.step(mu[GRID - 1], 0);
    const x = pair.nodes(mu[GRID - 1], step);
    const [logP, loss, square, spreads] = [0, 1, 2, 3].map(() => new Float64Array(x.length));
    for (let j = 0; j < x.length; j++) {
      [logP[j], loss[j]] = pair.logs(x[j]);
      square[j] = (x[j] / sigma) ** 2;
      spreads[j] = Math.abs(loss[j]) + pair.inner(x[j]);
    }
    const norm = Math.log(step / sigma / Math.sqrt(2 * Math.PI));
    for (let i = 0; i < GRID; i++) {
      let top = -Infinity;
      for (let j = 0; j < x.length; j++) top = Math.max(top, logP[j] + mu[i] * loss[j] - 0.5 * square[j]);
      // No destructuring, because engines box destructured numbers in loops.
      let sum = 0, first = 0, second = 0, fixed = 0, spread = 0;
      for (let j = 0; j < x.length; j++) {
        const log = logP[j] + mu[i] * loss[j] - 0.5 * square[j] - top;
        if (log < NEGLIGIBLE) continue;
        const weight = Math.exp(log);
        sum += weight;
        first += weight * loss[j];
        second += weight * loss[j] * loss[j];
        fixed += weight * square[j];
        spread += weight * spreads[j];
      }
      const k = Math.log(sum) + top + norm;
      const ulps = fixed / sum + x.length + 20 + (4 * (1 + mu[i]) * spread) / sum;
      this.k[i] = k;
      this.mean[i] = first / sum;
      this.variance[i] = Math.max(second / sum - (first / sum) ** 2, 1e-300);
      this.kAbove[i] = k + ULP * ulps + QUADRATURE + 4 * ULP * Math.abs(k);
    }
    // Round muBelow and logC by some ulps, so that bounds with them stay valid.
    this.muBelow = this.mu.map((m) => m * (1 - 4 * ULP));
    this.logC = this.mu.map((m) => -(m * Math.log1p(1 / m) + Math.log1p(m)) * (1 - 8 * ULP));
  }

  /** Return an upper bound on log delta: the minimum of log c(mu) e^{T K(mu) - mu epsilon}, rounded up. */
  chernoff(steps, epsilon) {
    const { kAbove, muBelow, logC } = this;
    return logC.reduce((least, c, i) => Math.min(least, steps * kAbove[i] - muBelow[i] * epsilon + c), 0);
  }

  /** Return the smallest epsilon that a Chernoff bound proves. */
  chernoffEpsilon(steps, logDelta) {
    const { kAbove, muBelow, logC } = this;
    const all = muBelow.map((m, i) => (steps * kAbove[i] + logC[i] - logDelta) / m);
    return Math.max(Math.min(...all), 0);
  }

  /** Return the epsilon at which the saddle point estimate is delta. */
  guessEpsilon(steps, logDelta) {
    const { mu, k, mean, variance } = this;
    const epsilon = mu.map((a, i) => steps * mean[i] - 1 / a - 1 / (1 + a));
    let most = -Infinity;
    // The estimate falls along the grid for positive epsilon; make it monotone.
    const falls = mu.map((a, i) => {
      // The factor 1 / (a (1 + a)) is merged into the curvature.
      const b = 1 + a, curvature = steps * variance[i] * a * a * b * b + a * a + b * b;
      const log = steps * k[i] - a * epsilon[i] - 0.5 * Math.log(2 * Math.PI * curvature);
      return (most = Math.max(most, -log));
    });
    const i = falls.findIndex((fall) => fall >= -logDelta);
    if (i < 1) return epsilon[i ? GRID - 1 : 0];
    const share = (-logDelta - falls[i - 1]) / (falls[i] - falls[i - 1]);
    return epsilon[i - 1] + share * (epsilon[i] - epsilon[i - 1]);
  }

  /** Return a row's needs, its smallest period P, and the interval of lambda for 1.4 P.
   * @param {Row} row @returns {Plan} */
  plan(row, logTau, freedom) {
    const { mu, k } = this;
    const atZero = ROOM - logTau - row.logDelta;
    const need = new Float64Array(GRID);
    let best = Infinity;
    for (let i = 0; i < GRID; i++) {
      // A poor guess must not ask for a negative period.
      need[i] = Math.max(row.steps * k[i] - mu[i] * row.epsilon + this.logC[i] + atZero, 1);
      best = Math.min(best, need[i]);
    }
    // Rounding grows off the saddle point, to tau delta at need = -log(T ROUNDING).
    const planned = Math.max(-Math.log(ROUNDING * row.steps), best + freedom);
    const highest = Math.min(planned, best + 7);
    const good = (/** @type {number} */ n) => n <= highest;
    const [first, last] = [need.findIndex(good), need.findLastIndex(good)];
    const interval = (logPeriod) => {
      const share = Math.exp(-logPeriod);
      let low = atZero * share, high = -Infinity;
      for (let i = 0; i < GRID; i++) {
        const room = need[i] * share;
        if (mu[i] + room < low) low = mu[i] + room;
        if (mu[i] - room > high) high = mu[i] - room;
      }
      return { low: Math.max(low, mu[first]), high: Math.min(high, mu[last]) };
    };
    const large = halved(-12, 20, 10, (logPeriod) => {
      const { low, high } = interval(logPeriod);
      return !(low <= high);
    });
    const { low, high } = interval(large + Math.log(1.4));
    // If even a huge period is too short, the sum will be too long; keep lambda positive.
    const end = Math.max(high, mu[first]);
    return { row, need, atZero, period: Math.exp(large), low: Math.min(low, end), high: end };
  }

  /** Return the smallest period that keeps the aliases of all plans on both sides below tau delta.
   * @param {Plan[]} plans */
  period(plans, tilt) {
    return plans.reduce((period, { need, atZero }) => {
      let [above, below] = [Infinity, atZero / tilt];
      this.mu.forEach((m, i) => {
        const gap = m - tilt;
        if (gap > 1e-3 * tilt) above = Math.min(above, need[i] / gap);
        if (gap < -1e-3 * tilt) below = Math.min(below, need[i] / -gap);
      });
      return Math.max(period, above, below);
    }, 0);
  }
}

/** Group plans that can share a lambda. @param {Plan[]} plans */
export function shared(plans) {
  /** @type {{plans: Plan[], tilt: number}[]} */
  const groups = [];
  let left = [...plans].sort((a, b) => a.high - b.high);
  while (left.length) {
    const { high, period } = left[0];
    const meets = (/** @type {Plan} */ p) =>
      p.low <= high && p.period < 1.5 * period && p.period > period / 1.5;
    const group = left.filter(meets);
    left = left.filter((p) => !meets(p));
    groups.push({ plans: group, tilt: 0.5 * (Math.max(...group.map((p) => p.low)) + high) });
  }
  return groups;
}
