"""Local DP: each user randomizes a bit, a symbol or a bit string before sending it."""

from bisect import bisect_left

from dplearn.teaching.book.kit.vocabulary import *

_USERS = {"epsilon": Log(0.01, 10.0), "users": Whole(1, 1000)}
_REPORTS = {"epsilon": Log(0.05, 10.0), "users": Whole(1, 10**6)}
_FILTER = {"noise": Log(1e-3, 1.0), "hashes": Whole(1, 5)}


def binomial(trials: int, rate: float, last: int | None = None) -> NDArray:
    """Return the binomial probabilities of 0, 1, ..., `last` successes (by default `trials`)."""
    k = np.arange((trials if last is None else last) + 1.0)
    ways = gammaln(trials + 1) - gammaln(k + 1) - gammaln(trials - k + 1)
    return np.exp(ways + k * math.log(rate) + (trials - k) * math.log1p(-rate))


def share_variance(*, epsilon, users, share, sampled=False):
    """Return the variance of the estimated fraction of ones from randomized responses.

    The true fraction `share` is fixed or, if `sampled`, the users are drawn at random.
    """
    lie, ones = 1 / (1 + math.exp(epsilon)), round(share * users)
    law = np.convolve(binomial(ones, 1 - lie), binomial(users - ones, lie))
    if sampled:
        law = binomial(users, share * (1 - lie) + (1 - share) * lie)
    return oracles.variance(law, (np.arange(users + 1) / users - lie) / (1 - 2 * lie))


def response_channel(odds: float, values: int) -> NDArray:
    """Return the matrix P(answer | value); the truth is `odds` times as likely as any other."""
    return (np.ones((values, values)) + (odds - 1) * np.eye(values)) / (odds + values - 1)


def _frequency_variance(channel: NDArray, users: int, frequency: float) -> float:
    """Return the variance of symbol 0's estimated frequency, by inverting the channel."""
    # Row i is the distribution of reports of symbol i; the mean score is 1 for symbol 0, else 0.
    score = np.linalg.solve(channel, np.eye(len(channel))[0])
    yes, no = (oracles.variance(law, score) for law in channel[:2])
    return (frequency * yes + (1 - frequency) * no) / users


def symbol_variance(epsilon, users, symbols, frequency=0.0):
    """Return the variance of a symbol's estimated frequency under randomized response."""
    return _frequency_variance(response_channel(math.exp(epsilon), symbols), users, frequency)


def bit_variance(epsilon, users, frequency=0.0):
    """Return the variance of a symbol's estimated frequency under optimized unary encoding."""
    lie = 1 / (1 + math.exp(epsilon))
    return _frequency_variance(np.array([[0.5, 0.5], [lie, 1 - lie]]), users, frequency)


def where_variances_meet(*, epsilon):
    """Interpolate the number of symbols at which `symbol_variance` equals `bit_variance`."""
    bits = bit_variance(epsilon, users=1)
    excess = lambda n: symbol_variance(epsilon, users=1, symbols=n) / bits - 1
    high = 2 + bisect_left(range(2, 200), 0.0, key=excess)
    return high - 1 - excess(high - 1) / (excess(high) - excess(high - 1))


def _largest_log_ratio(p: list[NDArray], q: list[NDArray]) -> float:
    """Return the largest ln(P(s)/Q(s)) over bit strings s; p and q list the bits' distributions."""
    one, other = (reduce(np.kron, bits) for bits in (p, q))
    return float(np.max(np.log(one) - np.log(other)))


def one_hot_epsilon(*, one, other, symbols):
    """Return epsilon of randomized one-hot strings: the largest log ratio between two symbols."""
    hot, cold = np.array([1 - one, one]), np.array([1 - other, other])
    absent = [cold] * (symbols - 2)
    return _largest_log_ratio([hot, cold, *absent], [cold, hot, *absent])


def best_other(*, epsilon):
    """Return P(report 1 | bit 0) of the unary encoding with the least variance at frequency 0."""

    def precision(log_odds: NDArray) -> NDArray:
        p, q = expit([log_odds, log_odds - epsilon])
        return np.asarray(-oracles.variance(np.array([1 - q, q]), np.array([-q, 1 - q]) / (p - q)))

    return expit(maximise(precision, lower=-1.0, upper=epsilon + 1.0, shape=()) - epsilon)


def bloom_epsilon(*, noise, hashes, zero_rate=0.0, one_rate=1.0):
    """Return the largest log ratio of reports on two values with disjoint Bloom filter bits."""
    # With probability `noise`, a bit is replaced by a fair random bit, the same in all reports.
    permanent = (1 - noise) * np.eye(2) + noise * np.full((2, 2), 0.5)
    zero, one = permanent @ [[1 - zero_rate, zero_rate], [1 - one_rate, one_rate]]
    return _largest_log_ratio([one] * hashes + [zero] * hashes, [zero] * hashes + [one] * hashes)


@formula("G-I1", "Randomized response: variance of the estimated share")
@given("epsilon > 0 and users >= 1", _USERS, share=Linear(0.0, 1.0))
@identity("Warner 1965, variance of the estimate, for p = e^epsilon/(1 + e^epsilon)",
          share_variance, unsafe=None)
@setting("share estimated by randomized response of n users, without sampling",
         "n 人随机应答所估比例的方差（不含抽样）", "variance", "respon survey users 应答")
@printed("2.8275348e-05", epsilon=1.0, users=32561)
@wrong("laplace", "The variance of Laplace noise on every bit; lying coins need less.",
       "2 / (users * epsilon**2)")
@wrong("central", "The noise of one trusted curator, not that of n users.",
       "2 / (users * epsilon)**2")
@wrong("random-users", "Then the share of the sample varies as well.",
       says=r"\text{the same for users drawn at random}",
       oracle=partial(share_variance, sampled=True))
def randomized_response_variance(*, epsilon, users):
    r"""\mathrm{Var} = \frac{e^\varepsilon}{n(e^\varepsilon-1)^2}"""
    # exp(x) / (exp(x) - 1)^2 = 1 / (2 sinh(x/2))^2
    return 1 / (users * (2 * math.sinh(epsilon / 2)) ** 2)


@formula("G-I1b", "Randomized response: variance with that of the sample")
@given("epsilon > 0 and users >= 1 and 0 <= share <= 1", _USERS, share=Linear(0.0, 1.0))
@identity("Warner 1965, variance of the estimate", partial(share_variance, sampled=True),
          unsafe=None)
@setting("share estimated by randomized response of n users drawn at random",
         "随机抽取的 n 人随机应答所估比例的方差", "variance", "respon survey sampl 应答")
@printed("0.01170673594", "0.01170673594", epsilon=1.0, users=100, share=0.5)
def randomized_survey_variance(*, epsilon, users, share):
    r"""\mathrm{Var} = \frac{e^\varepsilon}{n(e^\varepsilon-1)^2} + \frac{\pi(1-\pi)}n

    share: pi, of the population"""
    return (1 / (2 * math.sinh(epsilon / 2)) ** 2 + share * (1 - share)) / users


@formula("G-I2", "Generalized randomized response: variance for a rare symbol")
@given("epsilon > 0 and users >= 1 and symbols >= 2", _REPORTS, symbols=Whole(2, 60))
@identity("Wang, Blocki, Li & Jha 2017, equation (4)", symbol_variance, unsafe=None)
@setting("frequency by randomized response over d values, for rare values",
         "d 个值的随机应答估计频率（稀有值）的方差", "variance", "respon GRR generali values 应答")
@printed("0.0036302487", "0.0036302487", epsilon=1.0, users=1000, symbols=10)
@wrong("frequent-symbol",
       "Reports of those who have the symbol vary too: f(d-2)/(n(e^eps - 1)) is missing.",
       says=r"\text{the same for a symbol of any frequency}",
       given="epsilon > 0 and symbols >= 2 and 0 <= frequency <= 1", frequency=Linear(0.0, 1.0))
def grr_variance(*, epsilon, users, symbols):
    r"""\mathrm{Var} = \frac{d-2+e^\varepsilon}{n(e^\varepsilon-1)^2}

    symbols: d; the true one is sent with odds e^epsilon to 1 for each other"""
    return (symbols - 2 + math.exp(epsilon)) / (users * math.expm1(epsilon) ** 2)


@formula("G-I5", "Optimized unary encoding: variance of a frequency")
@given("epsilon > 0 and users >= 1 and 0 <= frequency <= 1", _REPORTS, frequency=Linear(0.0, 1.0))
@identity("Wang, Blocki, Li & Jha 2017, Section 5, before the small term is dropped", bit_variance,
          unsafe=None)
@setting("frequency by optimised unary encoding", "优化一元编码估计频率的方差", "variance",
         "unary encod OUE 编码", epsilon=LOSS, users=Whole(10, 5000), frequency=Linear(0.001, 0.3))
@setting("frequency of a rare value by optimised unary encoding, roughly",
         "优化一元编码估计稀有值频率的方差（近似）", "variance", "rare infrequent low 稀有",
         rare=True, into={"frequency": 0.0}, epsilon=LOSS, users=Whole(10, 5000))
@printed("0.00018413", "0.00018413", epsilon=1.0, users=20_000, frequency=0.0)
@wrong("rare-for-all", "Half of those who have the item do not report it.",
       "4 * exp(epsilon) / (users * (exp(epsilon) - 1)**2)")
def oue_variance(*, epsilon, users, frequency=0.0):
    r"""\mathrm{Var} = \frac{4e^\varepsilon}{n(e^\varepsilon-1)^2} + \frac fn"""
    # 4 exp(x) / (exp(x) - 1)^2 = 1 / sinh(x/2)^2
    return (1 / math.sinh(epsilon / 2) ** 2 + frequency) / users


@formula("G-I2c", "When generalized randomized response beats unary encoding")
@given("epsilon > 0", epsilon=Log(0.05, 3.5))
@identity("Wang, Blocki, Li & Jha 2017, Section 5.3", where_variances_meet, unsafe=None, points=30)
@printed("10.154845", "10.154845", epsilon=1.0)
@wrong("plain-exponential", "At epsilon = 1 it would switch at 3 symbols instead of 10.",
       "exp(epsilon)")
def grr_beats_oue_below(*, epsilon):
    r"""\mathrm{Var}_{\mathrm{GRR}} < \mathrm{Var}_{\mathrm{OUE}} \iff d < 3e^\varepsilon + 2"""
    return 3 * math.exp(epsilon) + 2


@formula("G-I3", "Unary encoding")
@given("0 < other <= one < 1", one=Linear(0.001, 0.999), other=Linear(0.001, 0.999),
       symbols=Whole(2, 8))
@identity("Wang, Blocki, Li & Jha 2017, Section 4.2", one_hot_epsilon)
@setting("unary encoding, bits kept with p and set with q",
         "一元编码：置位以 p 保留，其余以 q 置 1", "epsilon", "unary encod 编码", rare=True,
         one=Linear(0.4, 0.99), other=Linear(0.01, 0.4))
@printed("2.1972245773362196", "2.1972245773", one=0.75, other=0.25, symbols=4)
@wrong("one-bit", "A replaced symbol clears one bit and sets another; both tell.",
       "log(one / other)")
def unary_encoding_epsilon(*, one, other):
    r"""\varepsilon = \ln\frac{p(1-q)}{(1-p)q},\quad p = P(1\to1),\ q = P(0\to1)

    one: p, for the bit that is set
    other: q, for each other bit
    symbols: number of bits"""
    return math.log(one) - math.log(other) + math.log1p(-other) - math.log1p(-one)


@formula("G-I3b", "Optimized unary encoding")
@given("epsilon > 0", epsilon=Log(0.05, 10.0))
@identity("Wang, Blocki, Li & Jha 2017, Section 4.2.2", best_other, tolerance=1e-5, unsafe=None,
          points=30)
@setting("optimised unary encoding, chance of a false one", "优化一元编码中误置 1 的概率", "p",
         "OUE optim encod 编码", rare=True)
@printed("0.2689414214", epsilon=1.0)
@wrong("symmetric", "Private, but the many zeros deserve more truth than the single one.",
       "1 / (exp(epsilon / 2) + 1)",
       says=r"p = 1 - q,\ q = \frac1{e^{\varepsilon/2}+1} \text{ has the smallest variance}")
def oue_false_one(*, epsilon):
    r"""p = \tfrac12,\ q = \frac1{e^\varepsilon+1} \text{ has the smallest variance for rare items}

    The bit that is set is reported with probability 1/2."""
    return 1 / (math.exp(epsilon) + 1)


@formula("G-I4", "RAPPOR: all reports on one value together")
@given("0 < noise <= 1 and hashes >= 1", _FILTER)
@identity("Erlingsson, Pihur & Korolova 2014, Theorem 1", bloom_epsilon)
@setting("RAPPOR, permanent bits, h hashes", "RAPPOR 永久位，h 个哈希", "epsilon",
         "rappor permanent hash bloom", noise=Linear(0.05, 0.95), hashes=Whole(1, 8))
@printed("4.394449155", "4.394449155", noise=0.5, hashes=2)
@wrong("bits-of-one-value", "The other value sets h bits too: 2h bits differ.",
       "hashes * log((1 - noise / 2) / (noise / 2))")
def rappor_epsilon(*, noise, hashes):
    r"""\varepsilon_\infty = 2h\ln\frac{1-f/2}{f/2}"""
    return 2 * hashes * math.log(2 / noise - 1)


@formula("G-I4b", "RAPPOR: one report")
@given("0 < noise <= 1 and hashes >= 1 and 0 < zero_rate <= one_rate < 1", _FILTER,
       zero_rate=Linear(0.001, 0.999), one_rate=Linear(0.001, 0.999))
@identity("Erlingsson, Pihur & Korolova 2014, Theorem 2", bloom_epsilon)
@setting("RAPPOR, one report, h hashes", "RAPPOR 一次报告，h 个哈希", "epsilon",
         "rappor report hash bloom", rare=True)
@printed("1.074285864", "1.074285864", noise=0.5, hashes=2, zero_rate=0.5, one_rate=0.75)
@wrong("as-if-permanent", "That is the second stage alone; the first one adds to its noise.",
       "hashes * (log(one_rate / zero_rate) + log1p(-zero_rate) - log1p(-one_rate))",
       says=r"\varepsilon_1 = h\ln\frac{q(1-p)}{p(1-q)}")
def rappor_report_epsilon(*, noise, hashes, zero_rate, one_rate):
    r"""\varepsilon_1 = h\ln\frac{q^*(1-p^*)}{p^*(1-q^*)},\quad
    p^* = \tfrac f2(p+q) + (1-f)p,\ q^* = \tfrac f2(p+q) + (1-f)q

    zero_rate: p, chance to report a 1 for a permanent bit 0
    one_rate: q, chance to report a 1 for a permanent bit 1"""
    middle = noise / 2 * (zero_rate + one_rate)
    p, q = middle + (1 - noise) * zero_rate, middle + (1 - noise) * one_rate
    return hashes * (math.log(q / p) + math.log1p(-p) - math.log1p(-q))
