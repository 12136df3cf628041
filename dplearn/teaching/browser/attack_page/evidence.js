// Lower bounds on epsilon from counts in two worlds. Counterpart of `two_worlds` in dplearn/audit/bounds.py.

/** Return `judge(question)`, which tests whether counts refute a plan, and finds the largest epsilon that they refute
 * among plans of the same q and T with other noise. A worker gets this function's text: it must not use outer names. */
export function evidence(dplearn) {
  // Grid of log noise: up to e^1.5 times less noise, or e^2 times more.
  const [STEP, LOWEST, HIGHEST] = [0.02, -100, 75];
  // Clopper-Pearson upper limit of a rate: P(at most k successes) = P(more than n - k - 1 failures) = chance.
  const upper = (k, n, chance) =>
    k >= n ? 1 : dplearn.halved(k / n, 1, 60, (rate) => dplearn.binomialTail(n - k - 1, n, 1 - rate, rate) > chance);

  return ({ plan: { noise_multiplier, sample_rate, delta, steps }, counts = null, chance = 0, rate = 0.05 }) => {
    const run = (k) => ({ noise_multiplier: noise_multiplier * Math.exp(-STEP * k), sample_rate, delta, adjacency: "add_remove" });
    const most = (k, alarms) => (alarms > 0 && alarms < 1 && dplearn.truePositiveRate(run(k), steps, alarms)) || 1;
    if (!counts) return { allowed: most(0, rate) };
    const [found, members, accused, others] = counts;
    const rates = [1 - upper(members - found, members, chance / 2), upper(accused, others, chance / 2)];
    const low = dplearn.lastWhere(LOWEST - 1, HIGHEST + 1, (k) => most(k, rates[1]) < rates[0]);
    // The first refuted plan whose epsilon is bounded from below.
    let floor = 0;
    for (let k = low; k >= LOWEST && !floor; k--) {
      floor = dplearn.curves(run(k), [steps], { accountants: ["pld"] }).pld.lower[0] ?? 0;
    }
    return { rates, refuted: low >= 0, floor, allowed: most(0, Math.max(accused, 1) / others) };
  };
}
