// Certified lower and upper bounds on epsilon of the sampled Gaussian.
// Counterpart of dplearn/engine/contour/epsilon.py.
import { Release } from "./gaussian.js";
import { Line } from "./line.js";
import { Pair, Table, shared } from "./pair.js";
import { Trapezoid, nodesOf } from "./trapezoid.js";

/** @typedef {import("./pair.js").Row} Row */
// Maximum number of nodes, and the freedom of the tilt (see Table.plan), of each try.
// The first try is short; it may only improve a poor guess. The last tries save nodes and accept more rounding error.
const TRIES = [[2 ** 8, 2], [2 ** 12, 2], [2 ** 16, 2], [2 ** 16, 7], [2 ** 18, 7]];
const DRAFT = [[2 ** 8, 2], [2 ** 11, 7]];
// Maximum number of nodes in x, and maximum product of the numbers of nodes in x and in t.
const MOST_WIDTH = 2 ** 13;
const MOST_WORK = 2 ** 26;
// Target and minimal charge, each for truncation and for aliases, as a part of rtol delta.
const SHARE = 1e-2;

/** Call `visit` with each row and its sum, except rows that need too many nodes. @param {Table} table
 * @param {Row[]} rows @param logTau @param {number[]} effort @param {(row: Row, total: Trapezoid) => void} visit */
function sums(table, rows, logTau, [most, freedom], visit) {
  const cap = most === TRIES[0][0];
  for (const { plans, tilt } of shared(rows.map((row) => table.plan(row, logTau, freedom)))) {
    const period = table.period(plans, tilt);
    // A period this long comes from a poor guess, or from a grid without mu > lambda.
    if (!(period * tilt < 1e9)) continue;
    const line = new Line(table.pair, tilt);
    if (line.x.length > MOST_WIDTH) continue;
    const able = Math.min(most, MOST_WORK / line.x.length);
    const jobs = cutoffs(line, plans).flatMap(({ row, cutoff }) => {
      const least = Math.max((cutoff * period) / (2 * Math.PI) + 1, 8);
      const count = 2 * Math.ceil(0.5 * least);
      return count <= able || cap ? [{ row, cutoff, count: Math.min(count, most) }] : [];
    });
    if (!jobs.length) continue;
    const longest = Math.max(...jobs.map((job) => job.count));
    const nodes = nodesOf(table, line, period, longest, logTau);
    for (const { row, cutoff, count } of jobs) visit(row, new Trapezoid(nodes, row.steps, count, cutoff));
  }
}

/** Return, for each plan, the first t of 64 with T log(M / B(t)) + log(pi t) >= need, or inf.
 * @param {Line} line @param {import("./pair.js").Plan[]} plans */
function cutoffs(line, plans) {
  const needs = plans.map(({ row, atZero }) => row.steps * line.logM - line.tilt * row.epsilon + atZero);
  const start = line.start(Math.min(...plans.map(({ row }, i) => needs[i] / row.steps)));
  const grid = Array.from({ length: 64 }, (_, i) => start * 0.7 * 1e6 ** (i / 63));
  const logB = [];
  return plans.map(({ row }, j) => {
    const gain = (t, i) => row.steps * (line.logM - (logB[i] ??= line.logBound(t))) + Math.log(Math.PI * t);
    const cutoff = grid.find((t, i) => gain(t, i) >= needs[j]) ?? Infinity;
    return { row, cutoff };
  });
}

/** Return a guess of epsilon at delta: from a saddle point, or from one sampled step and a normal law for the rest.
 * @param {Table} table */
function guess(table, steps, logDelta) {
  const { sigma, q, side } = table.pair;
  const saddle = table.guessEpsilon(steps, logDelta);
  // With few sampled steps, one large loss dominates, and the saddle point is inaccurate.
  if (side !== "remove" || q * steps >= 10) return saddle;
  const one = new Release(1 / sigma, q).epsilon(Math.exp(logDelta) / steps);
  const rest = -0.8 * logDelta * steps * q ** 2 * Math.expm1(Math.min(sigma ** -2, 50));
  const both = Math.sqrt(one ** 2 + rest);
  return saddle > 1.15 * both ? both : saddle;
}

/** Return certified bounds on epsilon for each number of steps; (0, inf) without a result. @param {Table} table */
function ends(table, steps, logDelta, draft) {
  const rows = steps.map((t) => ({ steps: t, epsilon: guess(table, t, logDelta), logDelta, lower: 0, upper: Infinity }));
  let left = rows;
  for (const effort of draft ? DRAFT : TRIES) {
    const good = new Set();
    sums(table, left, Math.log(SHARE * (draft ? 1e-3 : 1e-6)), effort, (row, total) => {
      const before = row.epsilon;
      const fall = root(total, row);
      const charges = total.charges(row.epsilon, logDelta);
      // If the charges are 100 % or more, keep the old guess.
      if (!(charges[0] + charges[1] < 1)) row.epsilon = before;
      // If truncation and aliases exceed ten times their target, a better guess helps.
      if (!(charges[1] + charges[2] <= 10 * Math.exp(total.nodes.logTau))) return;
      certify(total, row, fall, charges);
      if (row.lower !== 0 || row.upper === 0) good.add(row);
    });
    left = left.filter((row) => !good.has(row));
    if (!left.length) break;
  }
  return rows;
}

/** Return certified bounds on the maximal epsilon of all directions, for each number of steps >= 1.
 * @param {Pair[]} pairs one direction, and the reverse if it differs */
export function brackets([pair, other], steps, delta, draft) {
  const logDelta = Math.log(delta);
  // With less noise, every line needs too many nodes.
  if (pair.sigma < 0.025) return steps.map(() => ({ lower: 0, upper: Infinity }));
  const rows = ends(new Table(pair, pair.largestPower(logDelta)), steps, logDelta, draft);
  if (!other) return rows;
  const table = new Table(other, other.largestPower(logDelta));
  // An upper end also holds for the other direction if that direction's delta at the end is at most delta.
  let left = rows.filter((row) => row.upper < Infinity && table.chernoff(row.steps, row.upper) > logDelta);
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

/** Move the row's epsilon to the point where the sum is delta; return how fast the sum's logarithm falls there.
 * @param {Trapezoid} total @param {Row} row */
function root(total, row) {
  const { tilt } = total.nodes.line;
  const { logDelta } = row;
  const charged = total.charges(row.epsilon, logDelta).reduce((a, b) => a + b);
  // Stop when the next Newton step, which squares the gap, leaves less than a part of the charges.
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

/** Widen an interval around the root until its ends are verified. @param {Trapezoid} total @param {Row} row @param fall
 * @param {number[]} charges */
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
  // Brackets with larger charges are rejected.
  const held = upper < Infinity && both <= 1e-2;
  row.lower = held ? Math.max(lower, 0) : 0;
  row.upper = held ? Math.max(upper, 0) : Infinity;
}

/** Return whether delta(epsilon) <= delta is proved; aliases are positive and need no charge.
 * @param {Trapezoid} total */
function atMost(total, epsilon, logDelta) {
  const [rounding, cut] = total.charges(epsilon, logDelta);
  return total.size(epsilon, logDelta) + rounding + cut <= 1;
}
