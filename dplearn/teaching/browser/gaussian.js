// One release of the Gaussian, plain or Poisson-sampled: delta, epsilon, and monotone inversion.
// Counterpart of dplearn/mechanisms/gaussian.py and of Profile.mix_first and mix_second.
import { logAdd } from "./line.js";
import { inverse } from "./search.js";

// Relative accuracy of delta and of its inverse.
export const MARGIN = 2e-12;
// Midpoint rule for erfcx(z) = (z / pi) int e^{-t^2} / (t^2 + z^2) dt, plus the term of the pole at iz, which
// the rule misses. The error is e^{-(pi / H)^2} = 7e-22, and every term is positive for z > 0.
const H = 0.45;
const POLE = (2 * Math.PI) / H;
const SQUARES = Array.from({ length: 15 }, (_, n) => ((n + 0.5) * H) ** 2);
const WEIGHTS = SQUARES.map((t2) => ((2 * H) / Math.PI) * Math.exp(-t2));

/** Return the pole's term, 0 beyond Im t = pi / H, where the rule needs none. */
function pole(z) {
  if (z >= POLE / 2) return 0;
  return z < 0
    ? (2 * Math.exp(z * z)) / (1 + Math.exp(POLE * z))
    : (2 * Math.exp(z * (z - POLE))) / (1 + Math.exp(-POLE * z));
}

/** Return e^{z^2} erfc(z) for z > -5. */
export function erfcx(z) {
  let sum = 0;
  for (let n = 0; n < 15; n++) sum += WEIGHTS[n] / (SQUARES[n] + z * z);
  return z * sum + pole(z);
}

/** Return erfcx(a) - erfcx(a + width) for width > 0, without cancellation. */
function erfcxFall(a, width) {
  const b = a + width;
  let sum = 0;
  for (let n = 0; n < 15; n++) {
    const t2 = SQUARES[n];
    sum += (WEIGHTS[n] * (a * b - t2)) / (t2 + a * a) / (t2 + b * b);
  }
  if (b >= POLE / 2) return width * sum + pole(a);
  const grown = Math.log1p(Math.expm1(POLE * width) / (1 + Math.exp(-POLE * a)));
  return width * sum - pole(a) * Math.expm1(width * (a + b) - grown);
}

/** Return log delta of N(mu, 1) against N(0, 1) at epsilon >= 0. */
export function gaussianLogDelta(epsilon, mu) {
  const x = epsilon / mu - 0.5 * mu;
  const a = x * Math.SQRT1_2;
  if (x >= -1) return Math.log(0.5 * erfcxFall(a, mu * Math.SQRT1_2)) - 0.5 * x * x;
  // Below the mean, delta is large, and the plain difference is accurate.
  const both = erfcx(-a) + erfcx(a + mu * Math.SQRT1_2);
  return Math.log1p(-0.5 * Math.exp(-0.5 * x * x) * both);
}

/** Return log(e^x - 1) for x >= 0. */
export const logExpm1 = (x) => (x > 0.7 ? x + Math.log1p(-Math.exp(-x)) : Math.log(Math.expm1(x)));

/** One release of a Gaussian with shift mu on a Poisson sample of rate q, in all directions. */
export class Release {
  /** @param {boolean} [replaced] replace-one on a sample */
  constructor(mu, q, replaced = false) {
    this.mu = mu;
    this.q = q;
    this.replaced = replaced;
    this.logQ = Math.log(q);
    this.logRest = Math.log1p(-q);
  }

  /** Return log delta at epsilon >= 0 where a record is removed (sign 1) or added (-1). */
  logDelta(epsilon, sign = 1) {
    const { mu, q, logQ, logRest } = this;
    if (q === 1) return gaussianLogDelta(epsilon, mu);
    if (this.replaced) {
      // A sum of terms for shifts by mu and by 2 mu, see Gaussian.replaced.
      const a = Math.asinh(Math.exp(0.5 * mu ** 2 + logRest - logQ - 0.5 * epsilon + logExpm1(epsilon)) / 2);
      const near = Math.log(-Math.expm1(-2 * a)) + gaussianLogDelta(0.5 * (epsilon - mu ** 2) + a, mu);
      return logQ + logAdd(near, gaussianLogDelta(epsilon + 2 * a, 2 * mu) - 2 * a);
    }
    // 1 - q + q e^L > e^eps where L > eps', e^eps' = 1 + (e^eps - 1) / q.
    if (sign > 0) return logQ + gaussianLogDelta(logAdd(0, logExpm1(epsilon) - logQ), mu);
    const y = (Math.expm1(Math.min(epsilon, -logRest)) * (1 - q)) / q;
    if (!(y < 1 && epsilon < -logRest)) return -Infinity;
    const logRatio = Math.log1p(-y);
    return logQ + logRatio + gaussianLogDelta(epsilon - logRatio, mu);
  }

  /** Return the smallest epsilon >= 0 at which no direction exceeds delta, rounded up; `lower` is a lower bound. */
  epsilon(delta, lower = 0) {
    const target = Math.log(delta);
    let epsilon = inverse((x) => this.logDelta(x) - target, lower);
    if (this.logDelta(epsilon, -1) > target) epsilon = inverse((x) => this.logDelta(x, -1) - target, epsilon);
    return epsilon;
  }

  /** Return lower and upper bounds on the smallest epsilon, which allow for rounding. */
  ends(delta) {
    const lower = this.epsilon(Math.min(delta * (1 + MARGIN), 1)) * (1 - MARGIN);
    return { lower, upper: this.epsilon(delta * (1 - MARGIN)) * (1 + MARGIN) };
  }
}
