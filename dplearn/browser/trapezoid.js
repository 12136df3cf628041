// The trapezoidal sum over t for one number of steps, and all that is charged to it.
// Counterpart of dplearn/engine/contour/trapezoid.py, where the derivations stand.
import { LINK, Line, buffer, clipped, logAdd, turned } from "./line.js";
import { Table, ULP } from "./pair.js";

/** What is charged for rounding, truncation and aliases, in units of delta.
 * @typedef {[number, number, number]} Charges */

/** M(lambda + ikh) / M(lambda), of that part of the law which a line has, in two buffers.
 * @param {Line} line @param {number} h @param {number} count @param {number} slot */
function ratiosOf(line, h, count, slot) {
  const values = line.transform(h, count);
  const [a, b] = line.sum;
  const [re, im] = [slot, slot + 1].map((i) => buffer(i, count));
  for (let k = 0; k < count; k++) {
    re[k] = (values.re[k] * a + values.im[k] * b) / line.size ** 2;
    im[k] = (values.im[k] * a - values.re[k] * b) / line.size ** 2;
  }
  return { re, im };
}

/** Terms M^T / z(1+z) at z = lambda + ikh that rows with the same line and period share.
 * @typedef {ReturnType<typeof nodesOf>} Nodes
 * @param {Table} table @param {Line} line @param {number} period @param {number} count
 * @param {number} logTau */
export function nodesOf(table, line, period, count, logTau) {
  const h = (2 * Math.PI) / period;
  const [kernel, error] = [4, 5].map((slot) => buffer(slot, count));
  const { re, im } = ratiosOf(line.whole ?? line, h, count, 2);
  const rest = line.whole && ratiosOf(line, h, count, 10);
  for (let k = 0; rest && k < count; k++) {
    rest.re[k] = re[k] - rest.re[k];
    rest.im[k] = im[k] - rest.im[k];
  }
  for (let k = 0; k < count; k++) {
    kernel[k] = ((k ? 1 : 0.5) * h) / Math.PI / ((1 + line.tilt) ** 2 + (k * h) ** 2);
    error[k] = line.error(k, h);
  }
  // log(e^x - 1), so that the sum over m >= 1 of e^{-mx} is e to the minus this.
  const series = (/** @type {number} */ x) => x + Math.log(-Math.expm1(-x));
  const gaps = table.mu.map((m) => Math.max(Math.abs(m - line.tilt) * period, 1e-9));
  const aliases = table.logC.map((c, i) => c - series(gaps[i]));
  // Those to the left also by delta <= 1.
  const aliasesLeft = -series(line.tilt * period);
  return { table, line, h, logTau, re, im, rest, kernel, error, aliases, aliasesLeft };
}

/** The sum for T steps, and all that is charged to it, in units of e^{T K - lambda epsilon}. */
export class Trapezoid {
  /** @param {Nodes} nodes @param {number} steps @param {number} count @param {number} cutoff
   * @param {{least: number, log: number} | null} leftOut what quiet runs add to delta, and from
   *   which epsilon on */
  constructor(nodes, steps, count, cutoff, leftOut) {
    const { line, h, table } = nodes;
    this.nodes = nodes;
    this.leftOut = leftOut;
    this.line = line;
    this.steps = steps;
    this.re = buffer(6, count);
    this.im = buffer(7, count);
    this.slopeRe = buffer(8, count);
    this.slopeIm = buffer(9, count);
    this.terms = 0;
    this.moments = 0;
    this.growth = 0;
    const bits = [...steps.toString(2)].slice(1).map(Number);
    line.pair.work.left -= count * bits.length;
    for (let k = 0; k < count; k++) this._fill(k, bits);
    const last = (count - 1) * h;
    // What bounds M from the cut-off onwards holds from the last node; h sum 1/t^2 <= 1 / last.
    const logB = line.logBound(Math.min(cutoff, last));
    this.logCut = line.logTail(steps, logB) - Math.log(Math.PI * last);
    this.logAliases = nodes.aliases.map((a, i) => a + steps * table.kAbove[i]);
  }

  /** Term k, and what it may err by. @param {number} k
   * @param {number[]} bits of the number of steps, without the first */
  _fill(k, bits) {
    const { re, im, rest, kernel, error, h, line } = this.nodes;
    raise(re[k], im[k], bits);
    let u = raised[0];
    let v = raised[1];
    let most = u * u + v * v;
    let base = re[k] * re[k] + im[k] * im[k];
    if (rest) {
      raise(rest.re[k], rest.im[k], bits);
      const a = raised[0];
      const b = raised[1];
      u -= a;
      v -= b;
      most = Math.max(most, a * a + b * b);
      base = Math.max(base, rest.re[k] * rest.re[k] + rest.im[k] * rest.im[k]);
    }
    const t = k * h;
    const p = kernel[k] * (u * (1 + line.tilt) + v * t);
    const q = kernel[k] * (v * (1 + line.tilt) - u * t);
    const square = line.tilt ** 2 + t * t;
    this.slopeRe[k] = p;
    this.slopeIm[k] = q;
    this.re[k] = (p * line.tilt + q * t) / square;
    this.im[k] = (q * line.tilt - p * t) / square;
    const size = Math.sqrt((p * p + q * q) / square);
    this.terms += size;
    this.moments += k * size;
    // |a^T - b^T| <= T |a - b| max(|a|, |b|)^{T-1}, and (1 + x)^n <= 1 / (1 - nx).
    base = Math.sqrt(base);
    const part = ((this.steps - 1) * error[k]) / base;
    const power = part < 0.5 && most > 1e-280
      ? (Math.sqrt(most) * 1.000001) / base / (1 - part)
      : (base + error[k]) ** (this.steps - 1);
    const weight = Math.sqrt((kernel[k] * h) / Math.PI / square);
    this.growth += (rest ? 2 : 1) * this.steps * weight * power * error[k];
  }

  /** S and -S'. @param {number} epsilon */
  sums(epsilon) {
    const { re, im, slopeRe, slopeIm, nodes } = this;
    const [a, b] = turned(0, epsilon, nodes.h);
    let [u, v, sum, fall] = [1, 0, 0, 0];
    for (let k = 0; k < re.length; k++) {
      sum += re[k] * u + im[k] * v;
      fall += slopeRe[k] * u + slopeIm[k] * v;
      const next = u * a - v * b;
      v = u * b + v * a;
      u = next;
    }
    return [sum, fall];
  }

  /** log of e^{T K - lambda epsilon}. @param {number} epsilon */
  logScale(epsilon) {
    return this.steps * this.line.logM - this.line.tilt * epsilon;
  }

  /** e^{T K - lambda epsilon} in units of delta.
   * @param {number} epsilon @param {number} logDelta */
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
    const truncation = this.logCut - this.line.tilt * epsilon;
    const logs = [truncation, this.aliases(epsilon)];
    const parts = logs.map((x) => Math.exp(clipped(x - logDelta, this.nodes.logTau, 300)));
    const rounding = this._unit(epsilon, logDelta) * this.rounding(epsilon);
    return [rounding, parts[0] + this._quiet(epsilon, logDelta), parts[1]];
  }

  /** What was left out, in units of delta. @param {number} epsilon @param {number} logDelta */
  _quiet(epsilon, logDelta) {
    if (!this.leftOut) return 0;
    return epsilon >= this.leftOut.least ? Math.exp(this.leftOut.log - logDelta) : Infinity;
  }

  /** Whether a better guess would pay: more is charged than was planned for.
   * @param {Charges} charges */
  poor(charges) {
    return !(charges[1] + charges[2] <= 10 * Math.exp(this.nodes.logTau));
  }

  /** Error of S from rounding and from the nodes in x. @param {number} epsilon */
  rounding(epsilon) {
    const { line, terms, moments, growth, re, nodes } = this;
    const scale = Math.abs(this.steps * line.logM) + line.tilt * Math.abs(epsilon);
    const phases = LINK + 5 * nodes.h * Math.abs(epsilon);
    return growth + ULP * ((30 + re.length + 4 * scale) * terms + phases * moments);
  }

  /** log of a bound on all aliases, by the best mu on either side. @param {number} epsilon */
  aliases(epsilon) {
    const { logAliases, line, nodes } = this;
    const { mu, muBelow } = nodes.table;
    let [above, below] = [Infinity, nodes.aliasesLeft];
    for (let i = 0; i < mu.length; i++) {
      const log = logAliases[i] - muBelow[i] * epsilon;
      if (mu[i] > line.tilt) above = Math.min(above, log);
      else below = Math.min(below, log);
    }
    return logAdd(above, below);
  }
}

// Real and imaginary part of the last power.
const raised = new Float64Array(2);

/** Leaves (a + ib)^T there, by repeated squaring. @param {number} a @param {number} b
 * @param {number[]} bits of T, without the first */
function raise(a, b, bits) {
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
  raised[0] = u;
  raised[1] = v;
}
