// What counts of two worlds prove about epsilon. Counterpart of `two_worlds` in dplearn/audit/bounds.py.

/** Return `judge(question)`: whether counts refute a plan, and the largest epsilon of a plan of the same
 * q and T, but another noise, that they refute. The text of this function is sent to a worker: it uses
 * nothing around it. @param {any} dplearn the engine */
export function evidence(dplearn) {
  // Noise of the plans that are tried, in steps of its logarithm; up to e^1.5 less, or e^2 more.
  const [STEP, LOWEST, HIGHEST] = [0.02, -100, 75];
  /** Upper limit of a rate, too low with this chance at most (Clopper-Pearson).
   * @param {number} k @param {number} n @param {number} chance */
  const upper = (k, n, chance) => {
    if (k >= n) return 1;
    let [low, high] = [k / n, 1];
    for (let i = 0; i < 60; i++) {
      const middle = 0.5 * (low + high);
      // At most k successes are more than n - k - 1 failures.
      if (dplearn.binomialTail(n - k - 1, n, 1 - middle, middle) > chance) low = middle;
      else high = middle;
    }
    return high;
  };

  return (/** @type {any} */ { key, plan, counts = null, chance = 0, rate = 0.05 }) => {
    const run = (/** @type {number} */ k) => ({
      noise_multiplier: plan.noise_multiplier * Math.exp(-STEP * k), sample_rate: plan.sample_rate, delta: plan.delta, adjacency: "add_remove",
    });
    const most = (/** @type {number} */ k, /** @type {number} */ alarms) =>
      (alarms > 0 && alarms < 1 && dplearn.truePositiveRate(run(k), plan.steps, alarms)?.upper) || 1;
    if (!counts) return { key, allowed: most(0, rate) };
    const [found, members, accused, others] = counts;
    const rates = [1 - upper(members - found, members, chance / 2), upper(accused, others, chance / 2)];
    const refuted = (/** @type {number} */ k) => most(k, rates[1]) < rates[0];
    let [low, high] = [LOWEST - 1, HIGHEST + 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (refuted(middle)) low = middle;
      else high = middle;
    }
    const proved = low < LOWEST ? null : dplearn.curves(run(low), [plan.steps], { accountants: ["pld"] }).pld;
    return { key, rates, refuted: low >= 0, floor: proved?.lower?.[0] ?? 0, allowed: most(0, Math.max(accused, 1) / others) };
  };
}
