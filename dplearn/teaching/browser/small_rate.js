// Few steps at a small rate: the integral without the runs in which no step tells anything.
// Counterpart of dplearn/engine/contour/small_rate.py, where the derivation stands.
import { erfcx } from "./gaussian.js";
import { Line, logAdd } from "./line.js";
import { Pair, ULP } from "./pair.js";

/** @typedef {import("./pair.js").Row} Row */
// Deviation s of the densities in standard deviations; then, in s, where they stand left of x_0.
const WIDTH = 0.2;
const STEP = 0.5;
const FIRST = 0.5 * STEP;
// What each is at 0 over what the nearest is there; all others are e^{STEP w} to its power.
const PARTS = Array.from({ length: 18 }, (_, k) => Math.exp(-0.5 * STEP ** 2 * k * (k + 1)));
const LOG_PART = Math.log(STEP / Math.sqrt(2 * Math.PI));
const CELLS = 300;
const POWERS = [1, 1.4, 2, 3];
// Of one cell, and of all that is added up.
const ROUNDING = 1e-9;

/** 1 - chi at x_0 - w s, for real w. @param {number} w */
function logLeftPart(w) {
  const near = Math.min(w, 0, -w);
  const ratio = Math.exp(STEP * near);
  let sum = 0;
  for (let k = PARTS.length; k--; ) sum = sum * ratio + PARTS[k];
  const log = LOG_PART + Math.log(sum) - 0.5 * (near - FIRST) ** 2;
  return w < 0 ? log : Math.log1p(-Math.exp(log));
}

/** chi at x_0 + ws - ivs for w <= 0, its real and its imaginary part. @param {number} w
 * @param {number} v */
export function leftPart(w, v) {
  const size = Math.exp(STEP * w);
  const [a, b] = [size * Math.cos(STEP * v), -size * Math.sin(STEP * v)];
  let [re, im] = [0, 0];
  for (let k = PARTS.length; k--; ) {
    const next = re * a - im * b + PARTS[k];
    im = re * b + im * a;
    re = next;
  }
  // The nearest density.
  const far = w - FIRST;
  const near = Math.exp(LOG_PART - 0.5 * (far * far - v * v));
  const [c, d] = [near * Math.cos(far * v), near * Math.sin(far * v)];
  return [re * c - im * d, re * d + im * c];
}

/** log P(N(0, 1) > x). @param {number} x */
function logTail(x) {
  const half = 0.5 * erfcx(Math.abs(x) * Math.SQRT1_2);
  return x < 0 ? Math.log1p(-half * Math.exp(-0.5 * x * x)) : Math.log(half) - 0.5 * x * x;
}

/** What runs without an informative step add to delta, from the law of one step in cells of x. */
export class Remainder {
  /** @param {Pair} pair */
  constructor(pair) {
    const { sigma, logQ, logRest } = pair;
    this.pair = pair;
    const step = (19 * sigma + 2) / CELLS;
    this.x = new Float64Array(CELLS).map((_, i) => (i + 1) * step - 9 * sigma);
    // Under Q the mass of every cell, the first of which has no left end; its largest loss.
    const tail = this.x.map((x) => logTail(x / sigma));
    this.logMass = tail.map((log, i) => {
      const before = i ? tail[i - 1] : 0;
      return before + Math.log(-Math.expm1(log - before)) + ROUNDING;
    });
    this.logF = this.x.map((x) => {
      const log = pair.logRatio(x);
      return log + 8 * ULP * (1 + Math.abs(pair.gap(x)) + Math.abs(log) - logRest);
    });
    this.logBeyond = this.x.map(
      (x, i) => logAdd(logRest + tail[i], logQ + logTail((x - 1) / sigma)) + ROUNDING,
    );
    this.rest = new Float64Array(CELLS + 1);
    this.x0 = -Infinity;
  }

  /** Moves x_0, and with it the parts of all cells. @param {number} x0 */
  _move(x0) {
    this.x0 = x0;
    this.pair.work.left -= 18 * CELLS;
    // Where a cell begins they are largest.
    for (let i = 0; i < CELLS; i++) {
      this.rest[i + 1] = logLeftPart((x0 - this.x[i]) / WIDTH / this.pair.sigma) + ROUNDING;
    }
  }

  /** log of a bound on what is left out of a row; X and nu are those that suit `logAim`.
   * @param {Row} row @param {number} least its smallest epsilon @param {number} logAim */
  _logDelta({ steps }, least, logAim) {
    const { rest, logBeyond, logMass, logF } = this;
    const beyond = (/** @type {number} */ i) => Math.log(steps) + logBeyond[i] + rest[i + 1];
    let last = 0;
    while (last < CELLS - 1 && beyond(last) > logAim - 1) last++;
    this.pair.work.left -= POWERS.length * last;
    const logs = POWERS.map((power) => {
      const nu = (power * -logAim) / least;
      let top = -Infinity, sum = 0;
      for (let i = 0; i <= last; i++) {
        const log = (1 + nu) * logF[i] + logMass[i] + rest[i];
        if (log > top) {
          sum = sum * Math.exp(top - log) + 1;
          top = log;
        } else sum += Math.exp(log - top);
      }
      const total = steps * (Math.log(sum) + top);
      const chernoff = nu * least * (1 - 4 * ULP) + nu * Math.log1p(1 / nu) + Math.log1p(nu);
      return total + 1e-12 * Math.abs(total) - chernoff;
    });
    return logAdd(Math.min(...logs), beyond(last)) + ROUNDING;
  }

  /** Moves x_0 as far right as what is left out keeps below tau delta; the least epsilon of every
   * row, and a bound from there on. @param {Row[]} rows @param {number} logTau */
  place(rows, logTau) {
    let [low, high] = [-3 * this.pair.sigma, 5 * this.pair.sigma + 1];
    /** @type {{least: number, log: number}[] | null} */
    let placed = null;
    for (let i = 0; i < 7 && rows.every((row) => row.epsilon > 1e-9); i++) {
      this._move(0.5 * (low + high));
      /** @type {{least: number, log: number}[]} */
      const bounds = [];
      const met = rows.every((row) => {
        const [least, aim] = [0.95 * row.epsilon, logTau + row.logDelta];
        const log = this._logDelta(row, least, aim);
        bounds.push({ least, log });
        return log <= aim;
      });
      if (met) [low, placed] = [this.x0, bounds];
      else high = this.x0;
    }
    this.x0 = low;
    return placed;
  }
}

/** The nodes of one tilt for the part chi, and a line of wider steps for M. */
export class Split extends Line {
  /** @param {Pair} pair @param {number} tilt @param {number} x0 */
  constructor(pair, tilt, x0) {
    super(pair, tilt, WIDTH ** -2);
    const { x, weight, height, weightRe, weightIm } = this;
    const [width, v] = [WIDTH * pair.sigma, height / (WIDTH * pair.sigma)];
    this.first = 1e-4;
    this.logPart = new Float64Array(x.length);
    for (let j = 0; j < x.length; j++) this.logPart[j] = logLeftPart((x[j] - x0) / width);
    const grown = new Float64Array(x.length);
    let extra = 0;
    for (let j = 0; j < x.length; j++) {
      const u = x[j];
      const w = (u - x0) / width;
      // The side that is small is computed, at w + iv or at the negative of that.
      let [re, im] = leftPart(-Math.abs(w), v);
      const [small, at] = [Math.hypot(re, im), 1 + Math.hypot(w, v)];
      // Off the axis the densities may cancel to a third.
      const ulps = small * (100 + 4 * at * (at + (Math.abs(u) + Math.abs(x0)) / width));
      extra += weight[j] * (ulps + (w < 0 ? 0 : 4));
      [re, im] = w < 0 ? [re, -im] : [1 - re, -im];
      [weightRe[j], weightIm[j]] = [
        weightRe[j] * re - weightIm[j] * im,
        weightRe[j] * im + weightIm[j] * re,
      ];
      // Of the part, and of the sum that it is divided by.
      grown[j] = 1 + Math.hypot(re, im);
    }
    this.measure(grown);
    this.fixed += extra;
    this.whole = new Line(pair, tilt);
    this.logM = this.whole.logM;
  }

  /** Bound on the error of M and of M_a. @param {number} k @param {number} h */
  error(k, h) {
    return super.error(k, h) + this.whole.error(k, h);
  }

  /** log of a bound on |M^T - M_a^T|. @param {number} steps @param {number} logB */
  logTail(steps, logB) {
    return Math.log(steps) + (steps - 1) * this.logM + logB + ROUNDING;
  }

  /** Calls `goesOn` with rising t and log B(t) until false. @param {number} _
   * @param {(t: number, logB: number) => boolean} goesOn */
  climb(_, goesOn) {
    for (let t = 3, goes = true; t < 3e7 && goes; t *= 1.25) goes = goesOn(t, this.logBound(t));
  }
}
