// Epsilon at delta and delta at epsilon of the sampled Gaussian, certified on both sides.
// Counterpart of dplearn/engine/contour/epsilon.py.
import { Release } from "./gaussian.js";
import { Line } from "./line.js";
import { Pair, Table, shared } from "./pair.js";
import { Trapezoid, nodesOf } from "./trapezoid.js";

/** @typedef {import("./pair.js").Row} Row */
/** Most nodes, and the freedom of the tilt (see Table.plan). @typedef {[number, number]} Effort */
// The first try is short: where the guess was poor it only finds a better one. At the end a row
// may pay with rounding for fewer nodes.
/** @type {Effort[]} */
const TRIES = [[2 ** 8, 2], [2 ** 12, 2], [2 ** 16, 2], [2 ** 16, 7], [2 ** 18, 7]];
/** @type {Effort[]} */
const DRAFT = [[2 ** 8, 2], [2 ** 11, 7]];
// Sampled steps below which the sum of losses is one large loss and a rest, of which a saddle point knows
// little.
const FEW = 10;
const FEWEST_NODES = 8;
// Most nodes in x, and most products of nodes in x and in t.
const MOST_WIDTH = 2 ** 13;
const MOST_WORK = 2 ** 26;
// Truncation and aliases are each held at, and charged at least, this part of rtol delta.
const SHARE = 1e-2;
// Charges above this part of delta are no bracket.
const POOR = 1e-2;

/** Calls `visit` with each row and its sum; not with rows that need more nodes.
 * @param {Table} table @param {Row[]} rows @param {number} logTau @param {Effort} effort
 * @param {(row: Row, total: Trapezoid) => void} visit */
function sums(table, rows, logTau, [most, freedom], visit) {
  const cap = most === TRIES[0][0];
  for (const { plans, tilt } of shared(rows.map((row) => table.plan(row, logTau, freedom)))) {
    if (table.pair.work.left < 0) return;
    const period = table.period(plans, tilt);
    // Aliases that only such a period removes tell of a poor guess, or of no mu beyond lambda.
    if (!(period * tilt < 1e9)) continue;
    const line = new Line(table.pair, tilt);
    if (line.x.length > MOST_WIDTH) continue;
    const able = Math.min(most, MOST_WORK / line.x.length);
    const jobs = cutoffs(line, plans).flatMap(({ row, cutoff }) => {
      const least = Math.max((cutoff * period) / (2 * Math.PI) + 1, FEWEST_NODES);
      const count = 2 * Math.ceil(0.5 * least);
      return count <= able || cap ? [{ row, cutoff, count: Math.min(count, most) }] : [];
    });
    if (!jobs.length) continue;
    const longest = Math.max(...jobs.map((job) => job.count));
    const nodes = nodesOf(table, line, period, longest, logTau);
    for (const { row, cutoff, count } of jobs) {
      visit(row, new Trapezoid(nodes, row.steps, count, cutoff));
    }
  }
}

/** A t per plan with T log(M / B(t)) + log(pi t) >= need; inf where there is none.
 * @param {Line} line @param {import("./pair.js").Plan[]} plans */
function cutoffs(line, plans) {
  const jobs = plans.map(({ row, atZero }) => {
    const need = row.steps * line.logM - line.tilt * row.epsilon + atZero;
    return { row, need, cutoff: Infinity };
  });
  line.climb(Math.min(...jobs.map(({ row, need }) => need / row.steps)), (t, logB) => {
    let open = false;
    for (const job of jobs) {
      const gain = job.row.steps * (line.logM - logB) + Math.log(Math.PI * t);
      if (job.cutoff === Infinity && gain >= job.need) job.cutoff = t;
      open ||= job.cutoff === Infinity;
    }
    return open;
  });
  return jobs;
}

/** Calls `update` with rows and their sums until none is poor; it may improve a row's guess.
 * @param {Table} table @param {Row[]} rows @param {number} logTau @param {boolean} draft
 * @param {(row: Row, total: Trapezoid) => boolean} update whether the row is poor */
function tries(table, rows, logTau, draft, update) {
  let left = rows;
  for (const effort of draft ? DRAFT : TRIES) {
    const good = new Set();
    sums(table, left, logTau, effort, (row, total) => {
      if (!update(row, total)) good.add(row);
    });
    left = left.filter((row) => !good.has(row));
    if (!left.length) return;
  }
}

/** Whether so few records are sampled that the sum is far from normal.
 * @param {Pair} pair @param {number} steps */
const few = ({ q, side }, steps) => side === "remove" && q * steps < FEW;

/** Epsilon near which delta is reached: by a saddle point, or else by one sampled step and a normal rest.
 * @param {Table} table @param {number} steps @param {number} logDelta */
function guess(table, steps, logDelta) {
  const { sigma, q } = table.pair;
  const saddle = table.guessEpsilon(steps, logDelta);
  if (!few(table.pair, steps)) return saddle;
  const one = new Release(1 / sigma, q).epsilon(Math.exp(logDelta) / steps);
  const rest = -0.8 * logDelta * steps * q ** 2 * Math.expm1(Math.min(sigma ** -2, 50));
  const both = Math.sqrt(one ** 2 + rest);
  return saddle > 1.15 * both ? both : saddle;
}

/** Certified ends of epsilon for each number of steps; (0, inf) where not reached.
 * @param {Table} table @param {number[]} steps @param {number} logDelta @param {boolean} draft */
function ends(table, steps, logDelta, draft) {
  const rows = steps.map((t) => {
    const epsilon = guess(table, t, logDelta);
    return { steps: t, epsilon, logDelta, lower: 0, upper: Infinity };
  });
  tries(table, rows, logTauOf(draft), draft, (row, total) => {
    const before = row.epsilon;
    const fall = root(total, row);
    const charges = total.charges(row.epsilon, logDelta);
    // A sum of which nothing is known is no better guess.
    if (!(charges[0] + charges[1] < 1)) row.epsilon = before;
    if (total.poor(charges)) return true;
    certify(total, row, fall, charges);
    return row.lower === 0 && row.upper > 0;
  });
  return rows;
}

/** Certified ends of the larger epsilon of all directions, for each number of steps >= 1.
 * @param {Pair[]} pairs the first, and its reverse where it differs
 * @param {number[]} steps @param {number} delta @param {boolean} draft */
export function brackets([pair, other], steps, delta, draft) {
  const logDelta = Math.log(delta);
  if (!pair.reached) return steps.map(() => ({ lower: 0, upper: Infinity }));
  const rows = ends(new Table(pair, pair.largestPower(logDelta)), steps, logDelta, draft);
  if (!other) return rows;
  const table = new Table(other, other.largestPower(logDelta));
  // It is enough to prove that the other delta at the upper end is no larger.
  let left = rows.filter((row) => row.upper < Infinity);
  left = left.filter((row) => table.chernoff(row.steps, row.upper) > logDelta);
  const guesses = left.map((row) => ({ ...row, epsilon: row.upper }));
  sums(table, guesses, Math.log(1e-3), [2 ** 12, 7], (row, total) => {
    if (atMost(total, row.epsilon, logDelta)) left = left.filter((r) => r.steps !== row.steps);
  });
  ends(table, left.map((row) => row.steps), logDelta, draft).forEach((found, i) => {
    const high = Math.min(found.upper, table.chernoffEpsilon(found.steps, logDelta));
    left[i].lower = Math.max(left[i].lower, found.lower);
    left[i].upper = Math.max(left[i].upper, high);
  });
  return rows;
}

/** Moves the row's epsilon to where the sum is delta; the fall of its logarithm there.
 * @param {Trapezoid} total @param {Row} row */
function root(total, row) {
  const { tilt } = total.nodes.line;
  const { logDelta } = row;
  const charged = total.charges(row.epsilon, logDelta).reduce((a, b) => a + b);
  // Closer than a part of what will be charged is a waste; Newton squares the gap.
  const enough = Math.sqrt(Math.min(0.03 * charged, 1e-2));
  let [low, high, fall] = [-Infinity, Infinity, tilt];
  for (let i = 0; i < 40; i++) {
    const [value, slope] = total.sums(row.epsilon);
    const good = value > 1e-280 && slope > 0;
    fall = good ? Math.max(slope / value, 1e-6 * tilt) : tilt;
    const gap = total.logScale(row.epsilon) + Math.log(good ? value : 1e-280) - logDelta;
    if (gap > 0) low = row.epsilon;
    else high = row.epsilon;
    // Newton on the logarithm; a sum that is not positive is noise: epsilon is too large.
    const stride = good ? Math.min(Math.max(gap / fall, -3 / tilt), 3 / tilt) : -3 / tilt;
    const next = row.epsilon + stride;
    const middle = high - low < Infinity ? 0.5 * (low + high) : next;
    row.epsilon = next > low && next < high ? next : middle;
    if (good && Math.abs(gap) <= enough) break;
  }
  return fall;
}

/** Steps out from the root until either side was seen to hold.
 * @param {Trapezoid} total @param {Row} row @param {number} fall
 * @param {import("./trapezoid.js").Charges} charges */
function certify(total, row, fall, [rounding, cut, aliases]) {
  const { epsilon, logDelta } = row;
  const [out, both] = [rounding + cut, rounding + cut + aliases];
  let [lower, upper] = [-Infinity, Infinity];
  for (const widen of [1.1, 2, 5, 20]) {
    const high = epsilon + Math.min(widen * out, 1) / fall;
    const low = epsilon - Math.min(widen * both, 1) / fall;
    if (upper === Infinity && atMost(total, high, logDelta)) upper = high;
    if (lower === -Infinity) {
      const charged = total.charges(low, logDelta).reduce((a, b) => a + b);
      if (total.size(low, logDelta) - charged >= 1) lower = low;
    }
    if (upper - lower < Infinity) break;
  }
  const held = upper < Infinity && both <= POOR;
  row.lower = held ? Math.max(lower, 0) : 0;
  row.upper = held ? Math.max(upper, 0) : Infinity;
}

/** Whether delta is proved to be enough at epsilon: aliases only help.
 * @param {Trapezoid} total @param {number} epsilon @param {number} logDelta */
function atMost(total, epsilon, logDelta) {
  const [rounding, cut] = total.charges(epsilon, logDelta);
  return total.size(epsilon, logDelta) + rounding + cut <= 1;
}

/** Delta of T steps in one direction; its table serves many epsilons. */
export class Deltas {
  /** @param {Pair} pair @param {number} steps */
  constructor(pair, steps) {
    this.steps = steps;
    this.largest = pair.largestPower(-20);
    this.table = new Table(pair, this.largest);
  }

  /** Certified ends of log delta at each epsilon >= 0; -inf and a Chernoff bound where not reached.
   * @param {number[]} epsilons */
  at(epsilons) {
    const { steps } = this;
    const { pair } = this.table;
    // Delta may be far smaller: the largest mu has to suit the largest epsilon.
    const most = 2 * Math.max(...epsilons);
    const end = pair.sign > 0 ? 3000 * pair.sigma : 0;
    while (this.largest < end && steps * this.table.furthest < most && pair.work.left > 0) {
      this.largest *= 4;
      this.table = new Table(pair, this.largest);
    }
    const { table } = this;
    const rows = epsilons.map((epsilon) => {
      const logDelta = table.guessLogDelta(steps, epsilon);
      return { steps, epsilon, logDelta, lower: -Infinity, upper: table.chernoff(steps, epsilon) };
    });
    tries(table, rows, logTauOf(false), false, (row, total) => {
      const [value] = total.sums(row.epsilon);
      // A sum that is not positive is aliases or noise.
      const estimate = total.logScale(row.epsilon) + Math.log(value);
      row.logDelta = value > 0 ? Math.min(estimate, row.upper) : row.logDelta - 3;
      const charges = total.charges(row.epsilon, row.logDelta);
      const size = total.size(row.epsilon, row.logDelta);
      const [high, low] = [size + charges[0] + charges[1], size - charges.reduce((a, b) => a + b)];
      row.upper = Math.min(row.upper, row.logDelta + Math.log(Math.max(high, 1e-300)));
      if (low > 0) row.lower = Math.max(row.lower, row.logDelta + Math.log(low));
      return total.poor(charges);
    });
    return rows;
  }
}

/** log of tau: what aliases and truncation may be of delta. @param {boolean} draft */
function logTauOf(draft) {
  return Math.log(SHARE * (draft ? 1e-3 : 1e-6));
}
