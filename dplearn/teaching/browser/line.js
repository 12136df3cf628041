// M on a vertical line, and its bound B. Counterpart of dplearn/engine/contour/line.py, which has the derivations.
import { L, Pair, QUADRATURE, ULP } from "./pair.js";

// e^{ikh} is a product of k / CHAIN large factors and fewer than CHAIN small ones.
const CHAIN = 16;
// Error in ulps of one multiplication and of its factor.
export const LINK = 8;
// A node is dropped from the first t where it adds less than this.
const NOTHING = 1e-19;
const HEIGHTS = 10;

/** Return e^{(x + iy) t}. */
export const turned = (x, y, t) => [Math.exp(x * t) * Math.cos(y * t), Math.exp(x * t) * Math.sin(y * t)];

/** Write e^{(x + iy) hi}, i = 0..CHAIN - 1: real parts to first + 4 i, imaginary parts to first + 4 i + 1.
 * @param {Float64Array} fine */
function links(fine, first, x, y, h) {
  const [a, b] = turned(x, y, h);
  let u = 1, v = 0;
  for (let i = first; i < fine.length; i += 4) {
    fine[i] = u;
    fine[i + 1] = v;
    const next = u * a - v * b;
    v = u * b + v * a;
    u = next;
  }
}

/** Nodes of one tilt, with all values that do not depend on t. */
export class Line {
  /** At height y above the axis, the integrand grows at most by e^{y^2 / 2 sigma^2}. @param {Pair} pair */
  constructor(pair, tilt) {
    const { sigma, sign } = pair;
    let height = Math.min(0.5 * Math.PI * sigma ** 2, 1.5 * sigma);
    // At this height, |f|^{-lambda} or |g|^{-lambda} is at most e^2 times its value at Re x.
    if (pair.side !== "remove") height = Math.min(height, (4 * sigma ** 2) / Math.sqrt(tilt));
    this.pair = pair;
    this.tilt = tilt;
    this.height = height;
    this.step = pair.step(tilt, height);
    const x = (this.x = pair.nodes(tilt, this.step));
    this.norm = Math.log(this.step / sigma / Math.sqrt(2 * Math.PI));
    const phi = height / sigma ** 2;
    const { logs, top, angle, loss, turned: turns } = this._integrand(phi);
    this.top = top;
    this.weightRe = new Float64Array(x.length);
    this.weightIm = new Float64Array(x.length);
    // e^{it loss} = e^{turn t}.
    this.turnRe = turns.map((turn) => -turn);
    this.turnIm = loss;
    // Sums for the error bounds.
    this.fixed = (x.length * NOTHING) / ULP;
    this.spread = 0;
    this.sizes = 0;
    for (let j = 0; j < x.length; j++) {
      const weight = Math.exp(logs[j]);
      // For f^{-z} the line is mirrored.
      const turn = angle[j] + tilt * turns[j] - sign * x[j] * phi;
      this.weightRe[j] = weight * Math.cos(turn);
      this.weightIm[j] = weight * Math.sin(turn);
      this.sizes += weight;
      this.fixed += weight * ((x[j] / sigma) ** 2 + 20 + x.length);
      this.spread += weight * (Math.sqrt(loss[j] ** 2 + turns[j] ** 2) + pair.inner(x[j]));
    }
    const first = this.transform(0, 1);
    this.sum = [first.re[0], first.im[0]];
    this.size = Math.hypot(this.sum[0], this.sum[1]);
    this.logM = Math.log(this.size) + this.top + this.norm;
    /** @type {ReturnType<Line["_integrand"]>[]} */
    this.bounds = [];
    this.first = 0.5;
  }

  /** Return log P / N(0), the loss and their angles at every node, phi sigma^2 above ("add": below) the axis. */
  logs(phi) {
    const f = this._ratios(phi, 1);
    const size = new Float64Array(f.size.length);
    if (this.pair.side === "add") return { size, angle: size, loss: f.size.map((log) => -log), turned: f.angle };
    if (this.pair.side === "remove") return { ...f, loss: f.size, turned: f.angle };
    // g off the axis is the conjugate of f at -Re x.
    const g = this._ratios(phi, -1);
    return { ...f, loss: f.size.map((log, j) => log - g.size[j]), turned: f.angle.map((a, j) => a + g.angle[j]) };
  }

  /** Return log |f| and arg f at every node or its mirror image. */
  _ratios(phi, way) {
    const { pair, x } = this;
    const [sin, cos] = [Math.sin(phi), Math.cos(phi)];
    const [size, angle] = [new Float64Array(x.length), new Float64Array(x.length)];
    for (let j = 0; j < x.length; j++) {
      const gap = pair.gap(way * x[j]);
      // Factor out the larger of A and B; the smaller becomes r <= 1.
      const r = Math.exp(-Math.abs(gap));
      const turn = Math.atan2(r * sin, 1 + r * cos);
      angle[j] = gap > 0 ? phi - turn : turn;
      size[j] = Math.max(gap, 0) + 0.5 * Math.log1p(r * (2 * cos + r)) + pair.logRest;
    }
    return { size, angle };
  }

  /** Return a bound on the error of M(lambda + ikh) as a fraction of M(lambda). */
  error(k, h) {
    const links = LINK * (CHAIN + k / CHAIN) * this.sizes;
    const ulps = this.fixed + links + 6 * (1 + this.tilt + k * h) * this.spread;
    return (ULP * ulps) / this.size + QUADRATURE;
  }

  /** Return M(lambda + ikh) / e^{top + norm} for k = 0..count - 1. */
  transform(h, count) {
    const { weightRe, weightIm, turnRe, turnIm } = this;
    const [re, im] = [0, 1].map(() => new Float64Array(count + CHAIN));
    const fine = new Float64Array(4 * CHAIN);
    // Take two nodes at a time, to halve the reads and writes of the sums.
    for (let j = 0; j < turnRe.length; j += 2) {
      links(fine, 0, turnRe[j], turnIm[j], h);
      links(fine, 2, turnRe[j + 1], turnIm[j + 1], h);
      const [s, t] = turned(turnRe[j], turnIm[j], CHAIN * h);
      const [u, v] = turned(turnRe[j + 1], turnIm[j + 1], CHAIN * h);
      let a = weightRe[j], b = weightIm[j], c = weightRe[j + 1], d = weightIm[j + 1], k = 0;
      // Later terms are not larger.
      while (k < count && Math.abs(a) + Math.abs(b) + Math.abs(c) + Math.abs(d) > NOTHING) {
        for (let i = 0; i < 4 * CHAIN; k++) {
          const p = fine[i++], q = fine[i++], x = fine[i++], y = fine[i++];
          re[k] += a * p - b * q + (c * x - d * y);
          im[k] += a * q + b * p + (c * y + d * x);
        }
        const [next, other] = [a * s - b * t, c * u - d * v];
        b = a * t + b * s;
        d = c * v + d * u;
        a = next;
        c = other;
      }
    }
    return { re, im };
  }

  /** Return a t near which the gain T log(M / B(t)) of T steps is T `gain`, and set the heights for B.
   * Assume a normal loss, whose variance times t^2 is 2 `gain`. */
  start(gain) {
    const { pair, x } = this;
    const { logs } = this._integrand(0);
    let [sum, posterior] = [0, 0];
    // Mean of sigma d(log f) / dx under the tilted law.
    for (let j = 0; j < x.length; j++) {
      const weight = Math.exp(logs[j]);
      sum += weight;
      posterior += (weight * pair.posterior(x[j])) / pair.sigma;
    }
    const start = Math.sqrt(2 * Math.max(gain, 1e-9)) / Math.max(posterior / sum, 1e-12);
    // The best angle is t times the mean posterior, divided by sigma^2.
    this.first = Math.min((0.6 * start * posterior) / sum / pair.sigma, 0.5);
    return start;
  }

  /** Return an upper bound on log B(t), the smallest over increasing heights until it rises. */
  logBound(t) {
    let least = Infinity;
    for (let i = 0; i < HEIGHTS; i++) {
      this.bounds[i] ??= this._integrand(this.first * (2.5 / this.first) ** (i / (HEIGHTS - 1)));
      const log = this._logAt(this.bounds[i], t);
      if (log >= least) break;
      least = log;
    }
    return least;
  }

  /** Return log B(t) from one height, plus the error bound of its sum.
   * @param {ReturnType<Line["_integrand"]>} height */
  _logAt({ phi, turned, logs, top }, t) {
    let sum = 0;
    for (let j = 0; j < logs.length; j++) {
      const log = logs[j] - t * turned[j];
      sum += log < -60 ? 1e-26 : Math.exp(log);
    }
    // 1e-12 covers the rounding of this bound.
    return logAdd(Math.log(sum) + top + this.norm, this._logError(phi, t)) + 1e-12;
  }

  /** Return log |integrand| at t = 0 relative to its maximum `top`, the loss and the angles of P and of the loss, at
   * every node, phi sigma^2 above ("add": below) the axis. */
  _integrand(phi) {
    const { pair: { sigma }, tilt, x } = this;
    const { size, angle, loss, turned } = this.logs(phi);
    const logs = x.map((at, j) => size[j] + tilt * loss[j] + 0.5 * ((phi * sigma) ** 2 - (at / sigma) ** 2));
    let top = -Infinity;
    for (const log of logs) top = Math.max(top, log);
    return { phi, logs: logs.map((log) => log - top), top, angle, loss, turned };
  }

  /** Return the log of an error bound for the sum for B(t). */
  _logError(phi, t) {
    const { pair, height, step, tilt } = this;
    const s2 = pair.sigma ** 2;
    // Number of logarithms in the loss, whose angles may turn back.
    const angles = pair.side === "replace" ? 2 : 1;
    // Shift the integrand's line by beta sigma^2 up and down, for two values of beta.
    const far = Math.min(height / s2, 0.98 * (Math.PI - phi));
    const errors = [far, Math.min(far, phi)].map((beta) => {
      const cosines = pair.lossOfCosine(phi + beta, tilt) + pair.lossOfCosine(phi - beta, tilt);
      const cost = s2 * (beta ** 2 + phi ** 2) + angles * t * (beta - Math.min(beta, phi)) + cosines;
      return 0.5 * cost - Math.min((2 * Math.PI * beta * s2) / step, L);
    });
    return this.logM + Math.min(...errors) + 2;
  }
}

/** Return log(e^a + e^b). */
export const logAdd = (a, b) => (a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))));
