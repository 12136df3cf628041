// M on a vertical line, and the trapezoidal sum over t for one number of steps.
// Counterpart of dplearn/engine/contour/line.py and trapezoid.py, where the derivations stand.
import { L, Pair, QUADRATURE, Table, ULP } from "./pair.js";

// Factors e^{ikh} come by multiplication; every so many nodes they are computed afresh.
const CHAIN = 16;
const REFRESH = 64;
const HEIGHTS = 10;
// What one multiplication in a chain adds, in ulps: its factor's own error, and its own.
const LINK = 8;
// A node of the line that adds less than this from some t on is left out from there.
const NOTHING = 1e-19;
// What is charged for rounding, truncation and aliases, in units of delta.
/** @typedef {[number, number, number]} Charges */

/** @type {Float64Array[]} */
const buffers = [];

/** Room for `count` numbers, the same whenever it is asked for. @param {number} slot
 * @param {number} count */
function buffer(slot, count) {
  if (!(buffers[slot]?.length >= count)) buffers[slot] = new Float64Array(2 * count);
  return buffers[slot].subarray(0, count);
}

/** e^{(x + iy) t}. @param {number} x @param {number} y @param {number} t */
function turned(x, y, t) {
  const size = Math.exp(x * t);
  return [size * Math.cos(y * t), size * Math.sin(y * t)];
}

/** The nodes of one tilt, with everything that does not depend on t. */
export class Line {
  /** @param {Pair} pair @param {number} tilt */
  constructor(pair, tilt) {
    const { sigma, sign } = pair;
    let height = Math.min(0.5 * Math.PI * sigma ** 2, 1.5 * sigma);
    // |f|^{-lambda} may exceed f^{-lambda} by e^2 at most.
    if (sign < 0) height = Math.min(height, (4 * sigma ** 2) / Math.sqrt(tilt));
    this.pair = pair;
    this.tilt = tilt;
    this.height = height;
    this.step = pair.step(tilt, height);
    this.x = pair.nodes(tilt, this.step);
    this.norm = Math.log(this.step / sigma / Math.sqrt(2 * Math.PI));
    this._weigh(height / sigma ** 2);
    const first = this.transform(0, 1);
    this.size = Math.hypot(first.re[0], first.im[0]);
    this.logM = Math.log(this.size) + this.top + this.norm;
    /** @type {ReturnType<Line['_height']>[]} */
    this.bounds = [];
  }

  /** log |f| and arg f at every node, phi sigma^2 above the axis. @param {number} phi */
  ratios(phi) {
    const [sin, cos] = [Math.sin(phi), Math.cos(phi)];
    const { pair, x } = this;
    const angle = new Float64Array(x.length);
    const size = x.map((u, j) => {
      const gap = pair.gap(u);
      // The larger of A and B is taken out; the smaller is then r <= 1.
      const r = Math.exp(-Math.abs(gap));
      const turn = Math.atan2(r * sin, 1 + r * cos);
      angle[j] = gap > 0 ? phi - turn : turn;
      return Math.max(gap, 0) + 0.5 * Math.log1p(r * (2 * cos + r)) + pair.logRest;
    });
    return { size, angle };
  }

  /** Density times f^s, e^{turn t} = e^{it loss}, and what they may err by. @param {number} phi */
  _weigh(phi) {
    const { pair, x, height } = this;
    const { sigma, sign } = pair;
    const power = pair.power(this.tilt);
    const { size, angle } = this.ratios(phi);
    const logs = x.map((u, j) => power * size[j] - 0.5 * ((u / sigma) ** 2 - height * phi));
    this.top = logs.reduce((a, b) => Math.max(a, b), -Infinity);
    const grid = () => new Float64Array(x.length);
    this.weightRe = grid();
    this.weightIm = grid();
    this.turnRe = angle.map((a) => -a);
    this.turnIm = size.map((s) => sign * s);
    this.fixed = (x.length * NOTHING) / ULP;
    this.spread = 0;
    this.weight = logs.map((log) => Math.exp(log - this.top));
    x.forEach((u, j) => {
      const weight = this.weight[j];
      // For f^{-z} the line is mirrored.
      const a = power * sign * angle[j] - sign * u * phi;
      this.weightRe[j] = weight * Math.cos(a);
      this.weightIm[j] = weight * Math.sin(a);
      this.fixed += weight * ((u / sigma) ** 2 + 20 + (REFRESH / 4 + 3) * LINK + x.length);
      this.spread += weight * (Math.hypot(size[j], angle[j]) + pair.inner(u));
    });
  }

  /** Bound on the error of M(lambda + it) as a fraction of M(lambda). @param {number} t */
  error(t) {
    const ulps = this.fixed + 6 * (1 + this.tilt + t) * this.spread;
    return (ULP * ulps) / this.size + QUADRATURE;
  }

  /** M(lambda + ikh) / e^{top + norm} for k = 0..count - 1. @param {number} h @param {number} count */
  transform(h, count) {
    const { weight, weightRe, weightIm, turnRe, turnIm } = this;
    const [re, im] = [buffer(0, count + REFRESH), buffer(1, count + REFRESH)];
    re.fill(0);
    im.fill(0);
    for (let j = 0; j < weight.length; j++) {
      const [a, b] = turned(turnRe[j], turnIm[j], h);
      const [a4, b4] = turned(turnRe[j], turnIm[j], 4 * h);
      for (let start = 0; start < count; start += REFRESH) {
        const [c, d] = turned(turnRe[j], turnIm[j], start * h);
        // Later factors are no larger.
        if (weight[j] * (Math.abs(c) + Math.abs(d)) < NOTHING) break;
        const [p, q] = [weightRe[j], weightIm[j]];
        let u0 = p * c - q * d;
        let v0 = p * d + q * c;
        let u1 = u0 * a - v0 * b;
        let v1 = u0 * b + v0 * a;
        let u2 = u1 * a - v1 * b;
        let v2 = u1 * b + v1 * a;
        let u3 = u2 * a - v2 * b;
        let v3 = u2 * b + v2 * a;
        const end = Math.min(start + REFRESH, count);
        // Four chains, so that none waits for itself.
        for (let k = start; k < end; k += 4) {
          re[k] += u0;
          im[k] += v0;
          re[k + 1] += u1;
          im[k + 1] += v1;
          re[k + 2] += u2;
          im[k + 2] += v2;
          re[k + 3] += u3;
          im[k + 3] += v3;
          const w0 = u0 * a4 - v0 * b4;
          v0 = u0 * b4 + v0 * a4;
          u0 = w0;
          const w1 = u1 * a4 - v1 * b4;
          v1 = u1 * b4 + v1 * a4;
          u1 = w1;
          const w2 = u2 * a4 - v2 * b4;
          v2 = u2 * b4 + v2 * a4;
          u2 = w2;
          const w3 = u3 * a4 - v3 * b4;
          v3 = u3 * b4 + v3 * a4;
          u3 = w3;
        }
      }
    }
    return { re, im };
  }

  /** Mean of sigma^2 d(log f) / dx under the tilted law: only for guesses. */
  meanHit() {
    const { pair, x, tilt } = this;
    const power = pair.power(tilt);
    let [sum, hits, top] = [0, 0, -Infinity];
    const logs = x.map((u) => {
      const log = power * pair.logRatio(u) - 0.5 * (u / pair.sigma) ** 2;
      top = Math.max(top, log);
      return log;
    });
    x.forEach((u, j) => {
      const weight = Math.exp(logs[j] - top);
      sum += weight;
      hits += weight / (1 + Math.exp(-pair.gap(u)));
    });
    return hits / sum;
  }

  /** Calls `goesOn` with rising t and log B(t), from about where `least` is gained, until false.
   * @param {number} least @param {(t: number, logB: number) => boolean} goesOn */
  climb(least, goesOn) {
    const { sigma } = this.pair;
    const hit = this.meanHit();
    // Were the loss normal: t^2 times its variance = 2 need / T.
    const start = Math.sqrt(2 * Math.max(least, 1e-9)) / Math.max(hit / sigma, 1e-12);
    // The angle that suits t is then t times the mean hit / sigma^2.
    this.first = Math.min((0.6 * start * hit) / sigma ** 2, 0.5);
    for (let i = 0; i < 64; i++) {
      const t = start * 0.7 * 1e6 ** (i / 63);
      if (!goesOn(t, this.logBound(t))) return;
    }
  }

  /** log B(t), at most: by the best of neighbouring heights. @param {number} t */
  logBound(t) {
    let best = this.best ?? 0;
    let least = this._logAt(best, t);
    for (const way of [1, -1]) {
      for (let i = best + way; i >= 0 && i < HEIGHTS; i += way) {
        const log = this._logAt(i, t);
        if (log >= least) break;
        [least, best] = [log, i];
      }
    }
    this.best = best;
    return least;
  }

  /** log B(t) by one height. @param {number} i @param {number} t */
  _logAt(i, t) {
    const { phi, angle, logs, top } = (this.bounds[i] ??= this._height(i));
    let sum = 0;
    for (let j = 0; j < logs.length; j++) {
      const log = logs[j] - t * angle[j];
      sum += log < -60 ? 1e-26 : Math.exp(log);
    }
    // 1e-12 for the rounding of this bound itself.
    return logAdd(Math.log(sum) + top + this.norm, this._logError(phi, t)) + 1e-12;
  }

  /** The i-th height over sigma^2, arg f and the log of the integrand's modulus at t = 0.
   * @param {number} i */
  _height(i) {
    const { pair, first = 0.5 } = this;
    const phi = first * (2.5 / first) ** (i / (HEIGHTS - 1));
    const { size, angle } = this.ratios(phi);
    const more = 0.5 * (phi * pair.sigma) ** 2;
    const power = pair.power(this.tilt);
    const logs = size.map((s, j) => power * s + more - 0.5 * (this.x[j] / pair.sigma) ** 2);
    const top = logs.reduce((a, b) => Math.max(a, b), -Infinity);
    return { phi, angle, logs: logs.map((log) => log - top), top };
  }

  /** log of what the sum for B(t) may miss. @param {number} phi @param {number} t */
  _logError(phi, t) {
    const { pair, height, step, tilt } = this;
    const s2 = pair.sigma ** 2;
    // Its integrand is moved by beta sigma^2 up and down, as far as its own angle or farther.
    const far = Math.min(height / s2, 0.98 * (Math.PI - phi));
    const errors = [far, Math.min(far, phi)].map((beta) => {
      let cost = 0.5 * s2 * (beta ** 2 + phi ** 2) + 0.5 * t * (beta - Math.min(beta, phi));
      for (const top of [phi + beta, phi - beta]) cost += 0.5 * pair.lossOfCosine(top, tilt);
      return cost - Math.min((2 * Math.PI * beta * s2) / step, L);
    });
    return this.logM + Math.min(...errors) + 2;
  }
}

/** Terms M^T / z(1+z) at z = lambda + ikh that rows with the same line and period share. */
export class Nodes {
  /** @param {Table} table @param {Line} line @param {number} period @param {number} count
   * @param {number} logTau */
  constructor(table, line, period, count, logTau) {
    const { tilt } = line;
    const h = (2 * Math.PI) / period;
    const { re, im } = line.transform(h, count);
    this.table = table;
    this.line = line;
    this.h = h;
    this.logTau = logTau;
    this.re = buffer(2, count);
    this.im = buffer(3, count);
    this.kernelRe = buffer(4, count);
    this.kernelIm = buffer(5, count);
    this.error = buffer(6, count);
    const norm = re[0] ** 2 + im[0] ** 2;
    for (let k = 0; k < count; k++) {
      this.re[k] = (re[k] * re[0] + im[k] * im[0]) / norm;
      this.im[k] = (im[k] * re[0] - re[k] * im[0]) / norm;
      const t = k * h;
      const scale = ((k ? 1 : 0.5) * h) / Math.PI / ((1 + tilt) ** 2 + t * t);
      this.kernelRe[k] = scale * (1 + tilt);
      this.kernelIm[k] = -scale * t;
      this.error[k] = line.error(t);
    }
    // log(e^x - 1), so that the sum over m >= 1 of e^{-mx} is e to the minus this.
    const series = (/** @type {number} */ x) => {
      const size = Math.max(x, 1e-9);
      return size + Math.log(-Math.expm1(-size));
    };
    this.aliases = table.mu.map((m, i) => table.logC[i] - series(Math.abs(m - tilt) * period));
    // Those to the left also by delta <= 1.
    this.aliasesLeft = -series(tilt * period);
  }
}

/** The sum for T steps, and all that is charged to it, in units of e^{T K - lambda epsilon}. */
export class Trapezoid {
  /** @param {Nodes} nodes @param {number} steps @param {number} count @param {number} cutoff */
  constructor(nodes, steps, count, cutoff) {
    const { line, h } = nodes;
    this.nodes = nodes;
    this.steps = steps;
    this.re = buffer(7, count);
    this.im = buffer(8, count);
    this.slopeRe = buffer(9, count);
    this.slopeIm = buffer(10, count);
    [this.terms, this.moments, this.growth] = [0, 0, 0];
    const bits = [...steps.toString(2)].slice(1).map(Number);
    for (let k = 0; k < count; k++) this._fill(k, bits);
    this.growth *= steps;
    const last = (count - 1) * h;
    // What bounds M from the cut-off onwards holds from the last node; h sum 1/t^2 <= 1 / last.
    this.logCut = steps * line.logBound(Math.min(cutoff, last)) - Math.log(Math.PI * last);
    const { kAbove } = nodes.table;
    this.logAliases = nodes.aliases.map((a, i) => a + steps * kAbove[i]);
  }

  /** Term k: its power by repeated squaring, and what it may err by. @param {number} k
   * @param {number[]} bits of the number of steps, without the first */
  _fill(k, bits) {
    const { re, im, kernelRe, kernelIm, error, h, line } = this.nodes;
    const a = re[k];
    const b = im[k];
    let u = a;
    let v = b;
    for (let i = 0; i < bits.length; i++) {
      const w = u * u - v * v;
      v *= 2 * u;
      u = w;
      if (bits[i]) {
        u = w * a - v * b;
        v = w * b + v * a;
      }
    }
    const t = k * h;
    const c = kernelRe[k];
    const d = kernelIm[k];
    const p = u * c - v * d;
    const q = u * d + v * c;
    const square = line.tilt ** 2 + t * t;
    this.slopeRe[k] = p;
    this.slopeIm[k] = q;
    this.re[k] = (p * line.tilt + q * t) / square;
    this.im[k] = (q * line.tilt - p * t) / square;
    const size = Math.sqrt((p * p + q * q) / square);
    this.terms += size;
    this.moments += k * size;
    // |a^T - b^T| <= T |a - b| max(|a|, |b|)^{T-1}, and (1 + x)^n <= 1 / (1 - nx).
    const base = Math.sqrt(a * a + b * b);
    const part = ((this.steps - 1) * error[k]) / base;
    const power = part < 0.5 && size > 1e-150;
    const most = power
      ? (size * 1.000001) / base / (1 - part)
      : (base + error[k]) ** (this.steps - 1) * Math.sqrt((c * c + d * d) / square);
    this.growth += most * error[k];
  }

  /** S and -S'. @param {number} epsilon */
  sums(epsilon) {
    const { re, im, slopeRe, slopeIm, nodes } = this;
    const angle = nodes.h * epsilon;
    const [a, b] = [Math.cos(angle), Math.sin(angle)];
    let [total, slope] = [0, 0];
    for (let start = 0; start < re.length; start += CHAIN) {
      let [u, v] = [Math.cos(start * angle), Math.sin(start * angle)];
      let [sum, fall] = [0, 0];
      const end = Math.min(start + CHAIN, re.length);
      for (let k = start; k < end; k++) {
        sum += re[k] * u + im[k] * v;
        fall += slopeRe[k] * u + slopeIm[k] * v;
        const w = u * a - v * b;
        v = u * b + v * a;
        u = w;
      }
      total += sum;
      slope += fall;
    }
    return [total, slope];
  }

  /** log of e^{T K - lambda epsilon}. @param {number} epsilon */
  logScale(epsilon) {
    return this.steps * this.nodes.line.logM - this.nodes.line.tilt * epsilon;
  }

  /** e^{T K - lambda epsilon} in units of delta. @param {number} epsilon @param {number} logDelta */
  _unit(epsilon, logDelta) {
    return Math.exp(clipped(this.logScale(epsilon) - logDelta, -700, 300));
  }

  /** S in units of delta. @param {number} epsilon @param {number} logDelta */
  size(epsilon, logDelta) {
    return this._unit(epsilon, logDelta) * this.sums(epsilon)[0];
  }

  /** Rounding, truncation and aliases in units of delta; the last two at least tau.
   * @param {number} epsilon @param {number} logDelta @returns {Charges} */
  charges(epsilon, logDelta) {
    const { logTau } = this.nodes;
    const logs = [this.truncation(epsilon), this.aliases(epsilon)];
    const [cut, aliases] = logs.map((x) => Math.exp(clipped(x - logDelta, logTau, 300)));
    return [this._unit(epsilon, logDelta) * this.rounding(epsilon), cut, aliases];
  }

  /** Whether a better guess would pay: more is charged than was planned for. @param {Charges} charges */
  poor(charges) {
    return !(charges[1] + charges[2] <= 10 * Math.exp(this.nodes.logTau));
  }

  /** Error of S from rounding and from the nodes in x. @param {number} epsilon */
  rounding(epsilon) {
    const { h, line } = this.nodes;
    const adding = ULP * (30 + CHAIN * (LINK + 2) + (2 * this.re.length) / CHAIN) * this.terms;
    const phases = 5 * ULP * h * Math.abs(epsilon) * this.moments;
    const scale = Math.abs(this.steps * line.logM) + line.tilt * Math.abs(epsilon);
    return this.growth + adding + phases + 4 * ULP * scale * this.terms;
  }

  /** log of a bound on all nodes left out. @param {number} epsilon */
  truncation(epsilon) {
    return this.logCut - this.nodes.line.tilt * epsilon;
  }

  /** log of a bound on all aliases, by the best mu on either side. @param {number} epsilon */
  aliases(epsilon) {
    const { table, line, aliasesLeft } = this.nodes;
    let [above, below] = [Infinity, aliasesLeft];
    const { mu, muBelow } = table;
    for (let i = 0; i < mu.length; i++) {
      const log = this.logAliases[i] - muBelow[i] * epsilon;
      if (mu[i] > line.tilt) above = Math.min(above, log);
      else below = Math.min(below, log);
    }
    return logAdd(above, below);
  }
}

/** log(e^a + e^b). @param {number} a @param {number} b */
export function logAdd(a, b) {
  if (a === b) return a + Math.LN2;
  return Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
}

/** x moved into [low, high]. @param {number} x @param {number} low @param {number} high */
export function clipped(x, low, high) {
  return Math.min(Math.max(x, low), high);
}
