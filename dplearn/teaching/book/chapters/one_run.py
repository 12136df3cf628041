"""Auditing in one training run: lower bounds from the number of right guesses on canaries."""

from scipy.special import bdtrc

from dplearn.audit import theorems
from dplearn.teaching.book.kit.vocabulary import *

_RUN = {
    "canaries": Whole(1, 100_000),
    "guesses": Drawn(lambda rng, canaries: max(1, int(min(canaries, 2000) * rng.random() ** 2))),
    "epsilon": Linear(0.0, 4.0),
    "delta": Log(1e-8, 1e-2, also=(0.0,)),
}
_COUNTS = "0 <= correct and correct <= guesses and guesses <= canaries"
_COUNTED = f"{_COUNTS} and delta >= 0 and epsilon >= 0"
_SOURCE = "Mahloujifar, Melis & Chaudhuri 2024, Appendix, audit_rh_with_cap"
_GUESSES = Drawn(lambda rng, canaries: int(rng.integers(1, canaries + 1)))


def chance_of_correct(*, correct: ArrayLike, canaries, guesses, epsilon, delta) -> NDArray:
    """Return the largest P(W >= v), for every v, of responses that may reveal a block.

    Each inclusion has an epsilon-DP randomized response. With probability m delta / i a random
    block of i of the m canaries is revealed too, hence each with probability <= delta.
    """
    exact = 1 / (1 + math.exp(-epsilon))
    block, v = np.unique(np.geomspace(1, guesses, 60).astype(int)), np.asarray(correct)[..., None]
    shown = np.minimum(canaries * delta / block, 1.0)
    lucky, plain = at_least(v - block, guesses - block, exact), at_least(v, guesses, exact)
    return np.max(plain + shown * (lucky - plain), axis=-1)


def at_least(v: ArrayLike, n: ArrayLike, rate: float) -> NDArray:
    """Return P(Bin(n, rate) >= v)."""
    v, most = np.asarray(v), np.maximum(n, 1)
    inner = bdtrc(np.clip(v - 1, 0, most), most, rate)
    return np.where(v <= 0, 1.0, np.where(v > n, 0.0, inner))


def worst_chance(*, canaries, guesses, correct, epsilon, delta):
    """Return the largest P(W >= v) over (epsilon, delta)-DP mechanisms, by linear programming.

    By symmetry only the numbers of right and of wrong guesses matter. Swapping one canary turns a
    right guess into a wrong one.
    """
    from scipy.optimize import linprog

    pairs = [(a, b) for a in range(guesses + 1) for b in range(guesses - a + 1)]
    place = {pair: k for k, pair in enumerate(pairs)}
    ways = [math.comb(canaries, a) * math.comb(canaries - a, b) for a, b in pairs]
    swaps = [(p, (p[0] - s, p[1] + s), p[s < 0]) for p in pairs for s in (1, -1) if p[s < 0]]
    n, growth = len(pairs), math.exp(epsilon)
    above = np.zeros((len(swaps) + 1, n + len(swaps)))
    for row, (before, after, count) in zip(above, swaps, strict=False):
        ratio = ways[place[before]] / ways[place[after]]
        row[place[before]], row[place[after]] = count, -count * growth * ratio
    above[:-1, n:], above[-1, n:] = -np.eye(len(swaps)), 1 / canaries
    aim, whole = np.zeros(n + len(swaps)), np.zeros((1, n + len(swaps)))
    aim[:n], whole[0, :n] = [-(a >= correct) for a, _ in pairs], 1
    limits = [*np.zeros(len(swaps)), delta]
    return -linprog(aim, above, limits, whole, [1]).fun


def _p_value(canaries, guesses, correct, epsilon, delta) -> float:
    k = np.arange(guesses + 1)
    ways = gammaln(guesses + 1) - gammaln(k + 1) - gammaln(guesses - k + 1)
    log_lie, log_truth = -np.logaddexp(0, epsilon), -np.log1p(math.exp(-epsilon))
    masses = np.exp(ways + k * log_truth + (guesses - k) * log_lie)
    # gained[i-1] = P(v > Bin >= v - i)
    gained = np.cumsum(masses[:correct][::-1])
    best = np.max(gained / np.arange(1, correct + 1), initial=0.0)
    return min(float(np.sum(masses[correct:]) + 2 * canaries * delta * best), 1.0)


@formula("G-N4", "One training run: the p-value")
@given(f"{_COUNTED} and correct >= guesses / (1 + exp(-epsilon))", _RUN,
       correct=Drawn(lambda rng, guesses, epsilon:
       int(rng.integers(math.ceil(guesses / (1 + math.exp(-epsilon))), guesses + 1))))
@upper("Steinke, Nasr & Jagielski 2023, Theorem 5.2", chance_of_correct, absolute=1e-14,
       unsafe=None)
@printed("0.05000000", canaries=1000, guesses=100, correct=75, epsilon=0.672984664, delta=1e-4)
@wrong("no-delta", "Accuses wrongly: with delta > 0 many canaries may be given away at once.",
       lambda canaries, guesses, correct, epsilon: _p_value(canaries, guesses, correct, epsilon,
       0.0), says=r"P(W \ge v) \le f(v)")
@wrong("guesses-for-canaries",
       "Every canary may be given away, also those on which no guess was planned.",
       lambda guesses, correct, epsilon, delta: _p_value(guesses, guesses, correct, epsilon, delta),
       says=r"P(W \ge v) \le f(v) + 2r\delta\max_i\frac{f(v-i)-f(v)}i")
@wrong("few-right", "Below the mean, chance or delta may be saved for the runs that need it.",
       given=_COUNTED, oracle=worst_chance, canaries=Whole(1, 6),
       guesses=Drawn(lambda rng, canaries: int(rng.integers(1, canaries + 1))),
       correct=Drawn(lambda rng, guesses: int(rng.integers(guesses + 1))),
       says=r"\text{the same for every } v", met="Steinke, Nasr & Jagielski 2023, Appendix D")
def one_run_p_value(*, canaries, guesses, correct, epsilon, delta):
    r"""P(W \ge v) \le f(v) + 2m\delta\max_{1\le i\le v}\frac{f(v-i)-f(v)}i,\quad
    f(v) = P\Big(\mathrm{Bin}\Big(r, \frac{e^\varepsilon}{1+e^\varepsilon}\Big) \ge v\Big)"""
    return _p_value(canaries, guesses, correct, epsilon, delta)


@formula("G-N4b", "One training run: the epsilon it proves")
@given(_COUNTED.replace("epsilon >= 0", "0 < significance < 1"), _RUN,
       significance=Choice(0.01, 0.05, 0.1), correct=Derived( lambda canaries, guesses, epsilon,
       delta, significance: int(np.flatnonzero(chance_of_correct( correct=np.arange(guesses + 1),
       canaries=canaries, guesses=guesses, epsilon=epsilon, delta=delta) > significance)[-1])))
@lower("Steinke, Nasr & Jagielski 2023, Corollary 5.4", lambda epsilon: epsilon, unsafe=None,
       points=50)
@printed("0.672984664", canaries=1000, guesses=100, correct=75, delta=1e-4, significance=0.05)
@printed("2.67585101", canaries=100_000, guesses=1510, correct=1439, delta=1e-5, significance=0.05)
@printed("2.806207", canaries=100_000, guesses=1510, correct=1439, delta=0.0, significance=0.05)
@wrong("no-delta", "Accuses wrongly: what delta allows is counted as epsilon.",
       lambda canaries, guesses, correct, significance: one_run_epsilon(canaries=canaries,
       guesses=guesses, correct=correct, delta=0.0, significance=significance),
       says=r"\text{the same with } \delta = 0")
@wrong("share", "That is the estimate, without any confidence.",
       "log(correct / (guesses - correct))", given="0 < correct < guesses <= canaries")
def one_run_epsilon(*, canaries, guesses, correct, delta, significance):
    r"""\hat\varepsilon = \sup\{\varepsilon : \text{p-value of } v < \beta\},
    \quad P(\hat\varepsilon > \varepsilon) \le \beta"""
    p_value = partial(_p_value, canaries, guesses, correct, delta=delta)
    return theorems.largest_refuted(lambda epsilon: p_value(epsilon) < significance)


@formula("G-N4c", "One training run: the p-value by trade-off")
@given(f"guesses >= 1 and {_COUNTS} and epsilon >= 0 and 0 <= delta < 1", canaries=Whole(1, 8),
       guesses=_GUESSES, correct=Drawn(lambda rng, guesses: int(rng.integers(guesses + 1))),
       epsilon=Linear(0.0, 4.0), delta=Log(1e-6, 0.3, also=(0.0,)))
@upper(_SOURCE, worst_chance, absolute=1e-7, unsafe=None, points=60)
@printed("0.53910", "0.53910", canaries=2, guesses=2, correct=2, epsilon=1.0, delta=0.01)
@wrong("guesses-for-canaries",
       "Every canary may be given away, also those on which no guess was planned.",
       lambda guesses, correct, epsilon, delta: one_run_tradeoff_p_value(canaries=guesses,
       guesses=guesses, correct=correct, epsilon=epsilon, delta=delta),
       says=r"\text{the same with } m = r")
@wrong("each-on-its-own", "An exact law for coins, but guesses may be right together.",
       lambda guesses, correct, epsilon, delta: float(at_least(correct, guesses, (math.exp(epsilon)
       + delta) / (1 + math.exp(epsilon)))), says=r"P(W \ge v) \le P\Big(\mathrm{Bin}\Big(r, "
       r"\frac{e^\varepsilon+\delta}{1+e^\varepsilon}\Big) \ge v\Big)")
def one_run_tradeoff_p_value(*, canaries, guesses, correct, epsilon, delta):
    r"""P(W \ge v) \le \sup\{\tau : R_0 + F_0 \le \tfrac rm\},\quad R_v = \tfrac{\tau v}m,\
    F_v = \tfrac{\tau(r-v)}m,\quad F_{i} = \max(F_{i+1}, \bar f^{-1}(R_{i+1})),\
    R_i = R_{i+1} + \tfrac i{r-i}(F_i - F_{i+1})

    R and F are the shares of right and wrong guesses among those runs with i right ones or more;
    swapping one canary turns one into the other, so that f, here that of (epsilon, delta), bounds
    them. Far below Steinke's bound where nearly all guesses are right or delta counts."""
    worst = theorems.least_of_dp(epsilon, delta)
    refuted = lambda x: not theorems.allows_guesses(
        worst, canaries=canaries, guesses=guesses, correct=correct, chance=x
    )
    return min(1.0, oracles.smallest(refuted, low=0.0, high=1.0))


@formula("G-N4d", "One training run: the mu it proves")
@given(f"guesses >= 1 and {_COUNTS} and 0 < significance < 1", canaries=Whole(1, 300),
       guesses=_GUESSES, mu=Log(0.05, 4.0), significance=Choice(0.01, 0.05, 0.1),
       correct=Derived(lambda guesses, mu, significance: int(np.flatnonzero(at_least(
       np.arange(guesses + 1), guesses, float(ndtr(mu / 2))) > significance)[-1])))
@lower(_SOURCE, lambda mu: mu, unsafe=None, points=50)
@wrong("share", "That is the estimate for canaries with noise of their own, at no confidence.",
       lambda guesses, correct: float(2 * ndtri(correct / guesses)),
       says=r"\mu \ge 2\Phi^{-1}(v/r)", given="0 < correct < guesses <= canaries")
def one_run_mu(*, canaries, guesses, correct, significance):
    r"""\hat\mu = \sup\{\mu : \text{p-value of } v \text{ under } G_\mu < \beta\},
    \quad P(\hat\mu > \mu) \le \beta"""
    return theorems.refuted_by_guesses(theorems.least_of_gaussian, canaries=canaries,
                                       guesses=guesses, correct=correct, chance=significance)
