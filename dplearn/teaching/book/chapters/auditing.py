"""Auditing: lower bounds of epsilon by attacks on training runs; limits of attackers' success."""

from scipy.special import bdtrc, betaincinv

from dplearn.audit import theorems
from dplearn.teaching.book.chapters.local import binomial, response_channel
from dplearn.teaching.book.kit.vocabulary import *

_LAWS = {"p": Distribution(4), "q": Distribution(4)}
_CONFIDENCE = Choice(0.8, 0.9, 0.95, 0.99, 0.999)


def at_least(v: ArrayLike, n: ArrayLike, rate: float) -> NDArray:
    """Return P(X >= v) for a binomial X of `n` trials with success probability `rate`."""
    return bdtrc(np.minimum(np.subtract(v, 1), n), n, rate)


def best_guesser(channel):
    """Return P(maximum likelihood guesses the input of a channel correctly) for a uniform input."""
    return math.fsum(np.max(channel, axis=0)) / len(channel)


def largest_likely_rate(*, errors, trials, confidence):
    """Return the upper Clopper-Pearson limit of the error rate, by bisection."""
    rarer = lambda rate: math.fsum(binomial(trials, rate, errors)) < (1 - confidence) / 2
    return oracles.smallest(rarer, low=1e-15, high=1 - 1e-15)


def best_of_all_outcomes(*, trials, confidence, delta):
    """Return the largest epsilon that an audit can certify, over all error counts."""
    rate = partial(largest_likely_rate, trials=trials, confidence=confidence)
    limits = [rate(errors=k) for k in range(min(trials, 4))] + [1.0]
    return math.log(max(1.0, *((1 - delta - a) / b for a in limits for b in limits)))


def chance_of_accusing(*, trials, positive, negative, confidence, estimated=False):
    """Return P(an audit reports an epsilon above that of the true error rates)."""
    k = np.arange(trials)
    limits = k / trials if estimated else betaincinv(k + 1, trials - k, (1 + confidence) / 2)
    limits = np.append(limits, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (1 - limits[:, None]) / limits
    true = max((1 - positive) / negative, (1 - negative) / positive)
    accused = np.fmax(ratio, ratio.T) > true * (1 + 1e-12)
    return float(binomial(trials, positive) @ accused @ binomial(trials, negative))


def _rate(name: str, inside: bool) -> Derived:
    """Return a domain: P(event) under the distribution `name`, or P(no event) if not `inside`."""
    # Rounding may turn a sum of 1 into 1 - 1e-16.
    whole = lambda rate: rate if rate < 1 - 1e-12 else 1.0
    return Derived(lambda drawn: whole(math.fsum(drawn[name][drawn["event"] == inside])))


enter(theorems.audit_epsilon,
      formula("G-N1", "What one test proves about epsilon",
              statement=r"\varepsilon \ge \max\Big\{\ln\frac{1-\delta-\mathrm{FPR}}{\mathrm{FNR}}, "
              r"\ln\frac{1-\delta-\mathrm{FNR}}{\mathrm{FPR}}, 0\Big\}"),
      given("0 <= delta < 1", _LAWS, event=Drawn(lambda rng: rng.random(4) < 0.5),
            false_positive_rate=_rate("p", True), false_negative_rate=_rate("q", False),
            delta=Log(1e-6, 0.3, also=(0.0,))),
      # Near a rate of 1, few digits of 1 - rate are correct: hence the absolute tolerance.
      lower("Kairouz, Oh & Viswanath 2015, Theorem 2.1", oracles.worst_event_epsilon_at,
            absolute=1e-6, unsafe=None),
      setting("what a test with these error rates proves about ε",
              "具有这些错误率的检验对 ε 的证明", "epsilon", "attack audit test prove 审计",
              rare=True, false_positive_rate=Linear(0.01, 0.4), false_negative_rate=Linear(0.01,
              0.4), delta=SLACK),
      printed("3.688854453", false_positive_rate=0.01, false_negative_rate=0.6, delta=1e-5),
    wrong("one-ratio", "Valid, but an attack that rarely misses is told by the other ratio.",
          "max(log((1 - delta - false_negative_rate) / false_positive_rate), 0)",
          says=r"\ln\frac{1-\delta-\mathrm{FNR}}{\mathrm{FPR}} \text{ is all that a test proves}",
          kind="identity", oracle=lambda false_positive_rate, false_negative_rate, delta:
          oracles.worst_event_epsilon_at([false_positive_rate, 1 - false_positive_rate], [1 -
          false_negative_rate, false_negative_rate], delta), without="p q event",
          false_positive_rate=Log(1e-4, 0.5), false_negative_rate=Log(1e-4, 0.5)),
      wrong("no-delta", "Accuses wrongly: some of the success is allowed by delta.",
            "log((1 - false_positive_rate) / false_negative_rate)",
            says=r"\varepsilon \ge \ln\frac{1-\mathrm{FPR}}{\mathrm{FNR}} \text{ at } \delta > 0",
            given="0 < delta < 1 and false_positive_rate < 1"))


# The test is positive if the output lies between start and start + length.
enter(theorems.audit_mu,
      formula("G-N1b", "What one test proves about mu",
              statement=r"\mu \ge \Phi^{-1}(1-\mathrm{FPR}) - \Phi^{-1}(\mathrm{FNR})"),
      given("0 < false_positive_rate < 1 and 0 < false_negative_rate < 1", mu=Log(0.1, 5.0),
            start=Linear(-3.0, 5.0), length=Log(0.1, 100.0, also=(math.inf,)),
            false_positive_rate=Derived(lambda start, length: ndtr(-start) - ndtr(-start - length)),
            false_negative_rate=Derived(lambda start, length, mu: ndtr(start - mu) + ndtr(mu - start
            - length))),
      lower("Nasr, Hayes, Steinke, Balle, Tramèr et al. 2023, Section 4", lambda mu: mu,
            unsafe=None),
      setting("what a test with these error rates proves about μ",
              "具有这些错误率的检验对 μ 的证明", "mu", "attack audit test prove 审计",
              false_positive_rate=Linear(0.01, 0.4), false_negative_rate=Linear(0.01, 0.4)),
      printed("2.0730007", false_positive_rate=0.01, false_negative_rate=0.6),
      wrong("for-every-mechanism",
            "Only a Gaussian mechanism has that curve; pure DP stays below its own epsilon.",
            lambda epsilon, false_positive_rate, delta: oracles.normal_epsilon(delta=delta,
            mu=-ndtri(false_positive_rate) - ndtri(max(1 - math.exp(epsilon) *
            false_positive_rate, math.exp(-epsilon) * (1 - false_positive_rate)))),
            says=r"\varepsilon \ge \varepsilon(\delta) \text{ of } N(\mu,1) \text{ at that } \mu, "
            r"\text{ whatever the mechanism}", given="epsilon > 0", oracle=lambda epsilon: epsilon,
            without="mu start length false_negative_rate", false_positive_rate=Log(1e-3, 0.4),
            epsilon=Log(0.1, 4.0), delta=Log(1e-8, 1e-2)))


enter(theorems.clopper_pearson_upper,
      formula("G-N2", "Upper confidence limit of an error rate",
              statement=r"\hat r = B^{-1}_{k+1,\,n-k}\big(1-\tfrac\alpha2\big),\quad "
              r"P(\mathrm{Bin}(n, \hat r) \le k) = \tfrac\alpha2"),
      given("0 <= errors < trials and 0 < confidence < 1", trials=Whole(1, 2000),
            errors=Drawn(lambda rng, trials: int(trials * rng.random() ** 3)),
            confidence=_CONFIDENCE),
      identity("Clopper & Pearson 1934, the whole paper", largest_likely_rate, tolerance=1e-8,
               unsafe=None),
      printed("0.003682084", "0.003682084", errors=0, trials=1000, confidence=0.95),
      wrong("normal", "No error at all would mean a rate of 0, and an infinite epsilon.",
            lambda errors, trials, confidence: errors / trials + ndtri((1 + confidence) / 2) *
            math.sqrt(errors * (trials - errors) / trials**3),
            says=r"\hat r = \frac kn + z_{1-\alpha/2}\sqrt{\frac kn\Big(1-\frac kn\Big)\Big/n}"))


@formula("G-N2b", "The largest epsilon that n runs of each kind can certify")
@given("trials >= 1 and 0 < confidence < 1 and 0 <= delta < 0.5", trials=Whole(1, 100_000),
       confidence=_CONFIDENCE, delta=Log(1e-8, 0.1, also=(0.0,)))
@identity("Jagielski, Ullman & Oprea 2020, Section 4", best_of_all_outcomes, tolerance=1e-8,
          unsafe=None)
@setting("the largest ε that n runs of each kind can certify", "每类 n 次运行所能证明的最大 ε",
         "epsilon", "certif runs audit 审计", rare=True)
@printed("5.600577", "5.600577", trials=1000, confidence=0.95, delta=1e-5)
@wrong("no-ceiling",
       "Some false positives may have been missed: n runs of each kind show about ln n at most.",
       "inf", says=r"\text{an attack that never errs proves } \varepsilon = \infty")
def largest_certifiable_epsilon(*, trials, confidence=0.95, delta=0.0):
    r"""\varepsilon_{\max} = \ln\frac{1-\delta-\hat r_0}{\hat r_0},\quad
    \hat r_0 = 1 - (\alpha/2)^{1/n}

    trials: n, runs with the record and as many without"""
    limit = -math.expm1(math.log((1 - confidence) / 2) / trials)
    room = 1 - delta - limit
    return max(math.log(room / limit), 0.0) if room > 0 else 0.0


@formula("G-N2c", "How rarely an audit accuses wrongly")
@given("positive + negative < 1 and 0 < confidence < 1", trials=Whole(5, 200),
       positive=Log(0.001, 0.5), negative=Log(0.001, 0.9), confidence=_CONFIDENCE)
@upper("Jagielski, Ullman & Oprea 2020, Section 4", chance_of_accusing, unsafe=None, points=50)
@printed("0.05", confidence=0.95, trials=20, positive=0.1, negative=0.3)
@wrong("point-estimates", "An estimate is above the truth about every other time.",
       says=r"P(\hat\varepsilon > \varepsilon) \le \alpha \text{ for } \hat\varepsilon \text{ from "
       r"the observed rates}", oracle=partial(chance_of_accusing, estimated=True))
def audit_error(*, confidence):
    r"""P(\hat\varepsilon > \varepsilon) \le \alpha

    positive: chance of a false positive
    negative: chance of a false negative"""
    return 1 - confidence


@formula("G-N3", "Advantage of guessing who is a member")
@given("epsilon >= 0 and 0 <= delta < 1", _LAWS, delta=Log(1e-6, 0.5, also=(0.0,)),
       epsilon=Derived(oracles.worst_event_epsilon_at))
@upper("Humphries et al. 2020, Theorem 3.3", partial(oracles.worst_event_delta, epsilon=0.0))
@setting("two laws that are (ε,δ)-DP neighbours, advantage or total variation",
         "(ε,δ)-DP 相邻分布的优势或总变差", "adv", "advantage attack variation 优势",
         below="exact", epsilon=LOSS, delta=SLACK)
@setting("two laws within e^ε of each other, advantage or total variation",
         "比值不超过 e^ε 的两个分布的优势或总变差", "adv", "pure advantage attack variation 优势",
         below="exact", into={"delta": 0.0}, epsilon=LOSS)
@setting("how much more often than half an attack on ε-DP guesses right",
         "对 ε-DP 的攻击猜中的概率超过一半的部分", "adv", "half guess 一半", below="exact",
         into={"delta": 0.0}, value=lambda v, **_: v / 2, epsilon=LOSS)
@setting("area under the curve of any attack on ε-DP", "对 ε-DP 的任何攻击的曲线下面积", "auc",
         "attack AUC", into={"delta": 0.0}, value=lambda value, **_: (1 + value) / 2, epsilon=LOSS,
         below=lambda: 0.0)
@printed("0.462122536", epsilon=1.0, delta=1e-5)
@wrong("yeom", "A bound, twice the truth for small epsilon, and above 1 from ln 2 on.",
       "expm1(epsilon)", met="Yeom et al. 2018, Theorem 1, taken for tight",
       says=r"\mathrm{Adv} = e^\varepsilon - 1 \text{ at worst, under pure DP}",
       given="epsilon > 0", kind="identity", oracle=lambda epsilon: oracles.worst_event_delta(
       *oracles.randomized_response(epsilon), 0.0), without="p q delta", epsilon=Log(0.01, 5.0))
@wrong("minus-delta", "A larger delta cannot help: its sign is wrong.", "-expm1(-epsilon) - delta")
@wrong("of-a-gaussian", "One point of the curve says little about another: use the curve.",
       lambda mu, delta: membership_advantage(epsilon=oracles.normal_epsilon(delta=delta, mu=mu),
       delta=delta), says=r"\text{a Gaussian mechanism lets an attacker reach it}",
       given="mu > 0", kind="identity", oracle=lambda mu: oracles.normal_delta(epsilon=0.0, mu=mu),
       without="p q epsilon", mu=Log(0.1, 5.0), delta=Log(1e-9, 1e-3))
def membership_advantage(*, epsilon, delta=0.0):
    r"""\mathrm{Adv} = \mathrm{TPR} - \mathrm{FPR}
    \le \frac{e^\varepsilon - 1 + 2\delta}{e^\varepsilon + 1}"""
    # (exp(x) - 1) / (exp(x) + 1) = tanh(x/2), which does not overflow.
    odds_against = math.exp(-epsilon)
    return math.tanh(epsilon / 2) + 2 * delta * odds_against / (1 + odds_against)


@formula("G-N5", "Guessing one of k values")
@given("epsilon >= 0 and values >= 1", channel=Drawn(lambda rng: response_channel(math.exp(
       rng.uniform(0.0, 4.0)), k) if (k := int(rng.integers(2, 6))) and rng.random() < 0.3 else
       rng.dirichlet(np.full(int(rng.integers(2, 6)), 2.0), size=k)),
       values=Derived(lambda channel: len(channel)), epsilon=Derived(lambda channel:
       np.max(np.log(np.max(channel, axis=0) / np.min(channel, axis=0)))))
@upper("Kairouz, Bonawitz & Ramage 2016, Section 4", best_guesser)
@setting("the chance to guess which of k equally likely values it was",
         "猜中 k 个等可能值之一的概率", "p", "guess posterior reconstruct 猜", rare=True,
         below="exact", epsilon=LOSS, values=Whole(2, 40))
@setting("the posterior chance of what had a prior chance of p, after an ε-DP release",
         "先验概率 p 的事在 ε-DP 发布之后的后验概率", "p", "posterior belief prior 后验 先验",
         rare=True, into=lambda prior: {"values": 1 / prior}, below="exact", epsilon=LOSS,
         prior=Linear(0.01, 0.9))
@printed("0.2319693167", epsilon=1.0, values=10)
@wrong("odds-times-prior",
       "A bound, but probabilities add up to 1: the other values keep their share.",
       "min(exp(epsilon) / values, 1.0)",
       says=r"P(\text{guess right}) = e^\varepsilon/k \text{ at worst}",
       given="epsilon > 0 and values >= 2", kind="identity", oracle=lambda epsilon, values:
       best_guesser(channel=response_channel(math.exp(epsilon), values)), without="channel",
       values=Whole(2, 50), epsilon=Log(0.01, 5.0))
@wrong("approximate-dp", "With probability delta the value may be shown as it is.",
       says=r"\text{the same under } (\varepsilon,\delta)\text{-DP}", oracle=lambda channel,
       delta: delta + (1 - delta) * best_guesser(channel), delta=Log(1e-5, 0.2))
def guessing_probability(*, epsilon, values):
    r"""P(\text{guess right}) \le \frac{e^\varepsilon}{e^\varepsilon + k - 1}

    values: k"""
    return 1 / (1 + (values - 1) * math.exp(-epsilon))


_RUN = {"canaries": Whole(1, 100_000), "guesses": Drawn(lambda rng,
        canaries: max(1, int(min(canaries, 2000) * rng.random() ** 2))),
        "epsilon": Linear(0.0, 4.0), "delta": Log(1e-8, 1e-2, also=(0.0,))}
_COUNTS = "0 <= correct and correct <= guesses and guesses <= canaries"
_COUNTED = f"{_COUNTS} and delta >= 0 and epsilon >= 0"
_SOURCE = "Mahloujifar, Melis & Chaudhuri 2024, Appendix, audit_rh_with_cap"
_GUESSES = Drawn(lambda rng, canaries: int(rng.integers(1, canaries + 1)))
_CORRECT = Drawn(lambda rng, guesses: int(rng.integers(guesses + 1)))


def chance_of_correct(*, correct: ArrayLike, canaries, guesses, epsilon, delta) -> NDArray:
    """Return the largest P(>= `correct` right guesses) if a block of canaries may be revealed."""
    # Randomized response publishes whether each canary was included. A random block of canaries is
    # also revealed with probability canaries * delta / block, so each canary with chance <= delta.
    exact = 1 / (1 + math.exp(-epsilon))
    block, v = np.unique(np.geomspace(1, guesses, 60).astype(int)), np.asarray(correct)[..., None]
    shown = np.minimum(canaries * delta / block, 1.0)
    lucky, plain = at_least(v - block, guesses - block, exact), at_least(v, guesses, exact)
    return np.max(plain + shown * (lucky - plain), axis=-1)


def worst_chance(*, canaries, guesses, correct, epsilon, delta):
    """Return the largest P(>= `correct` right guesses) under DP, by linear programming."""
    from scipy.optimize import linprog

    # By symmetry only the numbers of right and of wrong guesses matter. If a canary is left
    # out instead of included, a right guess about this canary becomes wrong, and the reverse.
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


@formula("G-N4", "One training run: the p-value")
@given(f"{_COUNTED} and correct >= guesses / (1 + exp(-epsilon))", _RUN,
       correct=Drawn(lambda rng, guesses, epsilon:
       int(rng.integers(math.ceil(guesses / (1 + math.exp(-epsilon))), guesses + 1))))
@upper("Steinke, Nasr & Jagielski 2023, Theorem 5.2", chance_of_correct, absolute=1e-14,
       unsafe=None)
@printed("0.05000000", canaries=1000, guesses=100, correct=75, epsilon=0.672984664, delta=1e-4)
@wrong("no-delta", "Accuses wrongly: with delta > 0 many canaries may be given away at once.",
       lambda **run: one_run_p_value(**run | {"delta": 0.0}), says=r"P(W \ge v) \le f(v)")
@wrong("guesses-for-canaries",
       "Every canary may be given away, also those on which no guess was planned.",
       lambda **run: one_run_p_value(**run | {"canaries": run["guesses"]}),
       says=r"P(W \ge v) \le f(v) + 2r\delta\max_i\frac{f(v-i)-f(v)}i")
@wrong("few-right", "Below the mean, chance or delta may be saved for the runs that need it.",
       given=_COUNTED, oracle=worst_chance, canaries=Whole(1, 6),
       guesses=_GUESSES, correct=_CORRECT,
       says=r"\text{the same for every } v", met="Steinke, Nasr & Jagielski 2023, Appendix D")
def one_run_p_value(*, canaries, guesses, correct, epsilon, delta):
    r"""P(W \ge v) \le f(v) + 2m\delta\max_{1\le i\le v}\frac{f(v-i)-f(v)}i,\quad
    f(v) = P\Big(\mathrm{Bin}\Big(r, \frac{e^\varepsilon}{1+e^\varepsilon}\Big) \ge v\Big)"""
    # P(a guess is right) may round to 1: reverse the distribution of the number of wrong guesses.
    masses = binomial(guesses, expit(-min(epsilon, 700.0)))[::-1]
    # gained[i - 1] = P(correct - i <= number of right guesses < correct)
    gained = np.cumsum(masses[:correct][::-1])
    best = np.max(gained / np.arange(1, correct + 1), initial=0.0)
    return min(float(np.sum(masses[correct:]) + 2 * canaries * delta * best), 1.0)


@formula("G-N4b", "One training run: the epsilon it proves")
@given(_COUNTED.replace("epsilon >= 0", "0 < significance < 1"), _RUN,
       significance=Choice(0.01, 0.05, 0.1), correct=Derived(lambda canaries, guesses, epsilon,
       delta, significance: int(np.flatnonzero(chance_of_correct(correct=np.arange(guesses + 1),
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
    p_value = partial(one_run_p_value, canaries=canaries, guesses=guesses, correct=correct)
    return theorems.largest_refuted(lambda x: p_value(epsilon=x, delta=delta) < significance)


@formula("G-N4c", "One training run: the p-value by trade-off")
@given(f"guesses >= 1 and {_COUNTS} and epsilon >= 0 and 0 <= delta < 1", canaries=Whole(1, 8),
       guesses=_GUESSES, correct=_CORRECT,
       epsilon=Linear(0.0, 4.0), delta=Log(1e-6, 0.3, also=(0.0,)))
@upper(_SOURCE, worst_chance, absolute=1e-7, unsafe=None, points=60)
@printed("0.53910", "0.53910", canaries=2, guesses=2, correct=2, epsilon=1.0, delta=0.01)
@wrong("guesses-for-canaries",
       "Every canary may be given away, also those on which no guess was planned.",
       lambda **run: one_run_tradeoff_p_value(**run | {"canaries": run["guesses"]}),
       says=r"\text{the same with } m = r")
@wrong("each-on-its-own", "An exact law for coins, but guesses may be right together.",
       lambda guesses, correct, epsilon, delta: at_least(correct, guesses, (math.exp(epsilon)
       + delta) / (1 + math.exp(epsilon))), says=r"P(W \ge v) \le P\Big(\mathrm{Bin}\Big(r, "
       r"\frac{e^\varepsilon+\delta}{1+e^\varepsilon}\Big) \ge v\Big)")
def one_run_tradeoff_p_value(*, canaries, guesses, correct, epsilon, delta):
    r"""P(W \ge v) \le \sup\{\tau : R_0 + F_0 \le \tfrac rm\},\quad R_v = \tfrac{\tau v}m,\
    F_v = \tfrac{\tau(r-v)}m,\quad F_{i} = \max(F_{i+1}, \bar f^{-1}(R_{i+1})),\
    R_i = R_{i+1} + \tfrac i{r-i}(F_i - F_{i+1})

    R and F are the shares of right and wrong guesses among those runs with i right ones or more;
    swapping one canary turns one into the other, so that f, here that of (epsilon, delta), bounds
    them. Far below Steinke's bound where nearly all guesses are right or delta counts."""
    worst = theorems.least_of_dp(epsilon, delta)
    refuted = lambda x: not theorems.allows_guesses(worst, canaries=canaries,
                                                    guesses=guesses, correct=correct, chance=x)
    return min(1.0, oracles.smallest(refuted, low=0.0, high=1.0))


@formula("G-N4d", "One training run: the mu it proves")
@given(f"guesses >= 1 and {_COUNTS} and 0 < significance < 1", canaries=Whole(1, 300),
       guesses=_GUESSES, mu=Log(0.05, 4.0), significance=Choice(0.01, 0.05, 0.1), correct=Derived(
       lambda guesses, mu, significance: int(np.flatnonzero(at_least(np.arange(guesses + 1),
       guesses, ndtr(mu / 2)) > significance)[-1])))
@lower(_SOURCE, lambda mu: mu, unsafe=None, points=50)
@wrong("share", "That is the estimate for canaries with noise of their own, at no confidence.",
       lambda guesses, correct: 2 * ndtri(correct / guesses),
       says=r"\mu \ge 2\Phi^{-1}(v/r)", given="0 < correct < guesses <= canaries")
def one_run_mu(*, canaries, guesses, correct, significance):
    r"""\hat\mu = \sup\{\mu : \text{p-value of } v \text{ under } G_\mu < \beta\},
    \quad P(\hat\mu > \mu) \le \beta"""
    return theorems.refuted_by_guesses(theorems.least_of_gaussian, canaries=canaries,
                                       guesses=guesses, correct=correct, chance=significance)
