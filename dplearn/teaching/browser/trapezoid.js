// The trapezoidal sum over t for one number of steps, with its error bounds.
// Counterpart of dplearn/engine/contour/trapezoid.py, which has the derivations.
import { LINK, Line, logAdd, turned } from "./line.js";
import { Table, ULP } from "./pair.js";

/** Factors of M^T / z(1+z) at z = lambda + ikh, shared by rows with the same line and period.
 * @typedef {ReturnType<typeof nodesOf>} Nodes
 * @param {Table} table @param {Line} line */
export function nodesOf(table, line, period, count, logTau) {
  const h = (2 * Math.PI) / period;
  // Factors of a term, their modulus, a bound on |M|, the relative error of M, and the error charge.
  const zeros = () => new Float64Array(count);
  const [kernelRe, kernelIm, inverseRe, inverseIm] = [zeros(), zeros(), zeros(), zeros()];
  const [size, grown, relative, charge] = [zeros(), zeros(), zeros(), zeros()];
  // M(lambda + ikh) / M(lambda).
  const values = line.transform(h, count);
  const [a, b] = line.sum;
  const [re, im] = [zeros(), zeros()];
  for (let k = 0; k < count; k++) {
    re[k] = (values.re[k] * a + values.im[k] * b) / line.size ** 2;
    im[k] = (values.im[k] * a - values.re[k] * b) / line.size ** 2;
    const t = k * h;
    const [square, next] = [line.tilt ** 2 + t * t, (1 + line.tilt) ** 2 + t * t];
    const kernel = ((k ? 1 : 0.5) * h) / Math.PI / next;
    kernelRe[k] = kernel * (1 + line.tilt);
    kernelIm[k] = kernel * t;
    inverseRe[k] = line.tilt / square;
    inverseIm[k] = t / square;
    size[k] = kernel * Math.sqrt(next / square);
    const [base, error] = [Math.sqrt(re[k] ** 2 + im[k] ** 2), line.error(k, h)];
    grown[k] = base + error;
    relative[k] = error / base;
    charge[k] = size[k] * error;
  }
  // log(e^x - 1): the sum over m >= 1 of e^{-mx} is the exponential of minus this.
  const series = (x) => x + Math.log(-Math.expm1(-x));
  const gaps = table.mu.map((m) => Math.max(Math.abs(m - line.tilt) * period, 1e-9));
  const aliases = table.logC.map((c, i) => c - series(gaps[i]));
  // Aliases to the left, bounded by delta <= 1.
  const aliasesLeft = -series(line.tilt * period);
  const factors = { kernelRe, kernelIm, inverseRe, inverseIm, size, grown, relative, charge };
  return { table, line, h, logTau, re, im, factors, aliases, aliasesLeft };
}

/** The sum for T steps and its error bounds, in units of e^{T K - lambda epsilon}. */
export class Trapezoid {
  /** @param {Nodes} nodes */
  constructor(nodes, steps, count, cutoff) {
    const { line, h, table } = nodes;
    this.nodes = nodes;
    this.line = line;
    this.steps = steps;
    const [re, im, slopeRe, slopeIm] = [0, 1, 2, 3].map(() => new Float64Array(count));
    const { kernelRe, kernelIm, inverseRe, inverseIm, size, grown, relative, charge } = nodes.factors;
    const bits = [...steps.toString(2)].slice(1).map(Number);
    let terms = 0, moments = 0, growth = 0;
    for (let k = 0; k < re.length; k++) {
      raise(nodes.re[k], nodes.im[k], bits);
      const u = raised[0], v = raised[1], square = u * u + v * v;
      const p = u * kernelRe[k] + v * kernelIm[k];
      const q = v * kernelRe[k] - u * kernelIm[k];
      slopeRe[k] = p;
      slopeIm[k] = q;
      re[k] = p * inverseRe[k] + q * inverseIm[k];
      im[k] = q * inverseRe[k] - p * inverseIm[k];
      const term = size[k] * Math.sqrt(square);
      terms += term;
      moments += k * term;
      // |a^T - b^T| <= T |a - b| max(|a|, |b|)^{T-1}, and (1 + x)^n <= 1 / (1 - nx).
      const part = (steps - 1) * relative[k];
      growth += part < 0.5 && square > 1e-280
        ? (charge[k] * (1 + relative[k]) * 1.000001 * Math.sqrt(square)) / (grown[k] * (1 - part))
        : charge[k] * grown[k] ** (steps - 1);
    }
    this.re = re;
    this.im = im;
    this.slopeRe = slopeRe;
    this.slopeIm = slopeIm;
    // Sums of the terms' sizes and of k times their sizes, and an error bound.
    this.terms = terms;
    this.moments = moments;
    this.growth = steps * growth;
    const last = (count - 1) * h;
    // The bound on M beyond the cut-off also holds beyond the last node; h sum 1/t^2 <= 1 / last.
    const logB = line.logBound(Math.min(cutoff, last));
    this.logCut = steps * logB - Math.log(Math.PI * last);
    this.logAliases = nodes.aliases.map((a, i) => a + steps * table.kAbove[i]);
  }

  /** Return S and -S'. */
  sums(epsilon) {
    const { re, im, slopeRe, slopeIm, nodes } = this;
    const [a, b] = turned(0, epsilon, 2 * nodes.h);
    let [x, y] = turned(0, epsilon, nodes.h);
    let u = 1, v = 0, sum = 0, fall = 0;
    // Two independent chains of factors, because a single chain waits for each product.
    for (let k = 0; k < re.length; k += 2) {
      sum += re[k] * u + im[k] * v + (re[k + 1] * x + im[k + 1] * y);
      fall += slopeRe[k] * u + slopeIm[k] * v + (slopeRe[k + 1] * x + slopeIm[k + 1] * y);
      const next = u * a - v * b, other = x * a - y * b;
      v = u * b + v * a;
      y = x * b + y * a;
      u = next;
      x = other;
    }
    return [sum, fall];
  }

  /** Return T K - lambda epsilon, the log of the unit. */
  logScale(epsilon) {
    return this.steps * this.line.logM - this.line.tilt * epsilon;
  }

  /** Return e^{T K - lambda epsilon} in units of delta. */
  _unit(epsilon, logDelta) {
    return Math.exp(Math.min(Math.max(this.logScale(epsilon) - logDelta, -700), 300));
  }

  /** Return S in units of delta. */
  size(epsilon, logDelta) {
    return this._unit(epsilon, logDelta) * this.sums(epsilon)[0];
  }

  /** Return charges for rounding, truncation, aliases in units of delta; the last two are >= tau. */
  charges(epsilon, logDelta) {
    const truncation = this.logCut - this.line.tilt * epsilon;
    const part = (log) => Math.exp(Math.min(Math.max(log - logDelta, this.nodes.logTau), 300));
    const rounding = this._unit(epsilon, logDelta) * this.rounding(epsilon);
    return [rounding, part(truncation), part(this.aliases(epsilon))];
  }

  /** Return the error of S from rounding and from the nodes in x. */
  rounding(epsilon) {
    const { line, terms, moments, growth, re, nodes } = this;
    const scale = Math.abs(this.steps * line.logM) + line.tilt * Math.abs(epsilon);
    const phases = LINK + 5 * nodes.h * Math.abs(epsilon);
    return growth + ULP * ((30 + re.length + 4 * scale) * terms + phases * moments);
  }

  /** Return the log of a bound on all aliases, by the best mu on either side. */
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

// Real and imaginary part of the result of `raise`.
const raised = new Float64Array(2);

/** Write (a + ib)^T to `raised`, by repeated squaring. @param {number[]} bits of T, without the first */
function raise(a, b, bits) {
  let u = a, v = b;
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
