// Upper bound on the best attacker's true positive rate, from epsilon at several values of delta.
import { curves } from "./curves.js";
import { ROUNDING } from "./renyi.js";
import { smallest } from "./search.js";

// The search stops at this relative distance from the smallest bound.
const CLOSE = 1e-5;
// Logarithms of delta from which the search starts.
const LOGS = Array.from({ length: 7 }, (_, i) => -24.1 + 4 * i);

/** Return the bound on the true positive rate by one (epsilon, delta): it is at most e^epsilon times the false positive
 * rate, plus delta, and the same holds for the true and false negative rates. */
export const rateBound = (epsilon, delta, falsePositiveRate) =>
  Math.min(Math.exp(epsilon) * falsePositiveRate + delta, 1 - Math.exp(-epsilon) * (1 - delta - falsePositiveRate));

/** Return the smallest proved bound on the true positive rate at a false positive rate; null if none is below 1.
 * @param {import("./curves.js").Run} run */
export function truePositiveRate(run, steps, falsePositiveRate) {
  if (!(falsePositiveRate > 0 && falsePositiveRate < 1)) {
    throw new RangeError(`Expected falsePositiveRate in (0, 1), got ${falsePositiveRate}.`);
  }
  const rate = (log) => {
    const delta = Math.exp(log);
    const bound = (name) => curves({ ...run, delta }, [steps], { accountants: [name], draft: true })[name].upper[0];
    return rateBound(bound("pld") ?? bound("basic"), delta, falsePositiveRate) * (1 + ROUNDING);
  };
  const all = LOGS.map(rate);
  const best = all.indexOf(Math.min(...all));
  if (!(all[best] < 1)) return null;
  const [low, high] = [LOGS[best - 1] ?? LOGS[0], LOGS[best + 1] ?? -1e-3];
  return smallest(rate, low, LOGS[best], high, CLOSE);
}
