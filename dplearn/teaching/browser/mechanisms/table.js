// A pair that the library sent as a table: the law of chords between nodes of its profile, which never
// leaks less, and Renyi divergences, drawn laws and a real pair beside it.
import { Atoms } from "./atoms.js";

/** What `dplearn.teaching.browser.pairs` wrote, as a law like those in closed form. */
export function fromTable({ first, step, losses, logs, infinite, orders, divergences, outputs, real, corners, reason, conditions }) {
  const at = losses ?? logs.map((_, i) => first + step * i);
  const atoms = new Atoms(at, logs.map((log) => log ?? -Infinity), infinite);
  const other = atoms.reversed();
  return {
    exact: () => false,
    logDelta: (epsilon) => atoms.logDelta(epsilon),
    logDeltaReversed: (epsilon) => other.logDelta(epsilon),
    tails: (x) => atoms.tails(x),
    true_positive_rate: (rate) => atoms.true_positive_rate(rate),
    corners: corners ?? atoms.corners,
    gap: step ?? 0,
    // (order - 1) D is convex in the order: a chord is never below it.
    renyi: (order) => {
      const i = Math.max(1, orders.findIndex((one) => one >= order));
      const moment = (j) => (orders[j] - 1) * divergences[j];
      const share = (order - orders[i - 1]) / (orders[i] - orders[i - 1]);
      return ((1 - share) * moment(i - 1) + share * moment(i)) / (order - 1);
    },
    outputs,
    real,
    conditions,
    reason: outputs ? null : reason,
    infinite,
  };
}
