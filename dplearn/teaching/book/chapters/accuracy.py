"""Accuracy of noisy answers: variances, tail probabilities and error bounds."""

from dplearn.teaching.book.chapters.choices import laplace_log_cdf
from dplearn.teaching.book.chapters.noise import integrated_tail
from dplearn.teaching.book.kit.vocabulary import *

_FAILURE, _BUDGET, _CHANGE = Log(1e-9, 0.5), Log(0.02, 10.0), Log(0.1, 10.0)
_DEVIATION = Log(0.05, 50.0)
_WHOLE = np.arange(-3000.0, 3001.0)


def largest_of_answers(*, epsilon, steps, beta, sensitivity):
    """Return t with P(max |X_i| > t) = beta for `steps` independent Laplace variables X_i."""
    scale = sensitivity / epsilon
    one = lambda threshold: min(integrated_tail(scale, threshold), 1 - 1e-16)
    rare = lambda threshold: -math.expm1(steps * math.log1p(-one(threshold))) <= beta
    return oracles.smallest(rare, low=1e-12 * scale, high=80 * scale, rtol=1e-11)


def exponential_shortfall(*, epsilon, candidates, beta, sensitivity):
    """Return the least lead of one candidate at which another is chosen with P <= beta."""
    others = lambda gap: (candidates - 1) * math.exp(-epsilon * gap / (2 * sensitivity))
    rare = lambda gap: others(gap) / (1 + others(gap)) <= beta
    return oracles.smallest(rare, low=0.0, high=200 * sensitivity / epsilon)


def above_threshold_error(*, epsilon, queries, beta):
    """Return the least distance from the threshold at which AboveThreshold errs with P <= beta."""
    # Worst cases: all answers lie `margin` below the threshold, or the last is `margin` above.
    # In units of 1/epsilon, the Laplace noise of the threshold has scale 2, of each answer 4.
    log_threshold = oracles.log_laplace(0.0, 2.0)
    log_below = lambda x: laplace_log_cdf(x / 4)

    def log_chance(margin: float, above: int) -> float:
        """Return ln P(an answer is misjudged) with `above` (0 or 1) answers above the threshold."""
        right = lambda z: (queries - above) * log_below(margin + z) + above * log_below(margin - z)
        log_f = lambda z: log_threshold(z) + log1mexp(right(z))
        return oracles.log_integral(log_f, -200.0, 200.0, kinks=[-margin, 0, margin], rtol=1e-9)

    fails = lambda margin: max(log_chance(margin, 1), log_chance(margin, 0))
    return oracles.smallest(lambda margin: fails(margin) <= math.log(beta), low=1e-6,
                            high=8 * math.log(4 * queries / beta), rtol=1e-8) / epsilon


@formula("G-B3c", "Variance of the geometric mechanism")
@given("epsilon > 0", epsilon=_BUDGET)
@identity("Ghosh, Roughgarden & Sundararajan 2009, Section 2", lambda epsilon:
          oracles.variance(np.exp(-epsilon * np.abs(_WHOLE)), _WHOLE), unsafe=None)
@setting("variance of geometric (discrete Laplace) noise on a count of sensitivity 1, ε-DP",
         "敏感度 1 的计数上几何（离散拉普拉斯）噪声的方差，ε-DP", "variance",
         "geometric discrete integer 几何 离散 整数")
@printed("1.8413472", epsilon=1.0)
@wrong("laplace", "The limit for a small epsilon: whole numbers vary a little less.",
       "2 / epsilon**2")
@wrong("one-sided", "Half of it: that of noise which is never negative and gives no pure DP.",
       "exp(-epsilon) / (1 - exp(-epsilon))**2")
def geometric_variance(*, epsilon):
    r"""\operatorname{Var} = \frac{2e^{-\varepsilon}}{(1-e^{-\varepsilon})^2}"""
    return 2 * math.exp(-epsilon) / math.expm1(-epsilon) ** 2


@formula("G-B14c", "Variance of the Laplace mechanism")
@given("epsilon > 0 and sensitivity > 0 and steps >= 1", epsilon=_BUDGET,
       sensitivity=_CHANGE, steps=Whole(1, 150))
@identity("Dwork & Roth 2014, Definitions 3.2 and 3.3", lambda epsilon, sensitivity, steps:
          oracles.absolute_moment(oracles.log_laplace(0.0, scale := steps * sensitivity / epsilon),
          2, 200 * scale), absolute=0.0, unsafe=None, points=40)
@setting("variance of the noise of the Laplace mechanism on one answer of sensitivity Δ",
         "一个敏感度 Δ 的回答上拉普拉斯机制噪声的方差", "variance", "laplac 拉普拉斯",
         into={"steps": 1}, epsilon=_BUDGET, sensitivity=_CHANGE)
@setting("variance of Laplace noise on each of k answers of sensitivity Δ, ε in all",
         "k 个敏感度 Δ 的回答上每次拉普拉斯噪声的方差，总共 ε", "variance",
         "each_of k_answers k_quer split budget 每次 每个")
@printed("2.0", epsilon=1.0, sensitivity=1.0, steps=1)
@wrong("square-of-scale", "A Laplace law of scale b has the variance 2 b^2.",
       "(steps * sensitivity / epsilon)**2")
@wrong("sum-of-variances", "Each answer has epsilon/k: its deviation is k times as large.",
       "2 * steps * (sensitivity / epsilon)**2", steps=Whole(2, 150))
def laplace_mechanism_variance(*, epsilon, sensitivity, steps=1):
    r"""\operatorname{Var} = \frac{2k^2\Delta^2}{\varepsilon^2}"""
    return 2 * (steps * sensitivity / epsilon) ** 2


@formula("G-B14d", "Error of several answers with Laplace noise")
@given("epsilon > 0 and steps >= 1 and 0 < beta < 1 and sensitivity > 0", epsilon=_BUDGET,
       steps=Whole(1, 1000), beta=_FAILURE, sensitivity=_CHANGE)
@upper("Dwork & Roth 2014, Theorem 3.8", largest_of_answers, points=30)
@setting("error that, with chance 1-β, no answer of k with Laplace noise of scale Δ/ε exceeds",
         "k 个加尺度 Δ/ε 的拉普拉斯噪声的回答以概率 1-β 都不超过的误差", "error",
         "k_answers k_quer all_answers largest simult union queries 所有",
         below=lambda epsilon, steps, beta, sensitivity: (1 - 1e-9)
         * -np.log(-np.expm1(np.log1p(-beta) / steps)) * sensitivity / epsilon)
@setting("error of one answer of the Laplace mechanism that is exceeded with chance β",
         "拉普拉斯机制的一个回答以概率 β 超过的误差", "error", "laplac 拉普拉斯", into={"steps": 1},
         epsilon=_BUDGET, beta=_FAILURE, sensitivity=_CHANGE, below="exact")
@printed("6.9077553", "6.9032368", epsilon=1.0, steps=10, beta=0.01, sensitivity=1.0)
@wrong("one-answer", "Enough for each answer alone; the worst of k is further off.",
       "log(1 / beta) / epsilon * sensitivity")
@wrong("times-k", "An upper bound: the logarithm of k is enough.",
       "steps * log(1 / beta) / epsilon * sensitivity", kind="identity", beta=Log(1e-9, 0.1))
@wrong("inverse", "The chance is that of failing: its inverse belongs in the logarithm.",
       "log(steps * beta) / epsilon * sensitivity")
def laplace_answers_error(*, epsilon, steps=1, beta, sensitivity):
    r"""P\Big(\max_{i\le k}|X_i| > \frac\Delta\varepsilon\ln\frac k\beta\Big) \le \beta"""
    return sensitivity * math.log(steps / beta) / epsilon


@formula("G-B14e", "Tail of Gaussian noise")
@given("noise_std > 0 and threshold >= 0", noise_std=_DEVIATION, threshold=Log(0.01, 100.0))
@upper("Boucheron, Lugosi & Massart 2013, Section 2.3", lambda noise_std, threshold:
       integrated_tail(noise_std, threshold, law=oracles.log_normal), absolute=1e-290)
@setting("chance that Gaussian noise of standard deviation σ exceeds t in absolute value",
         "标准差 σ 的高斯噪声绝对值超过 t 的概率", "probability", "gauss normal 高斯 正态",
         into=lambda sigma: {"noise_std": sigma}, below=lambda sigma, threshold: 2 * ndtr(-threshold
         / sigma), sigma=Log(0.2, 5.0), threshold=Log(0.1, 9.0), event=r"\|\w+\|>=?(.+)")
@printed("0.1353352832", "0.0455002639", noise_std=1.0, threshold=2.0)
@wrong("no-half", "The exponent of the density has a 2 below.", "exp(-threshold**2 / noise_std**2)",
       threshold=Log(0.5, 10.0), noise_std=Log(0.5, 5.0))
@wrong("two-sides", "True, and twice as much as is needed.",
       "2 * exp(-threshold**2 / (2 * noise_std**2))", kind="identity")
def gaussian_tail_bound(*, noise_std, threshold):
    r"""P(|X| > t) \le e^{-t^2/2\sigma^2}

    threshold: t, in the units of the noise"""
    return math.exp(-((threshold / noise_std) ** 2) / 2)


@formula("G-B14f", "Error of an answer with Gaussian noise")
@given("noise_std > 0 and 0 < beta < 1", noise_std=_DEVIATION, beta=Log(1e-9, 0.9))
@identity("Dwork & Roth 2014, Appendix A, tail of the Gaussian", lambda noise_std, beta:
          oracles.smallest(lambda t: integrated_tail(noise_std, t, law=oracles.log_normal) <= beta,
          low=0.0, high=20 * noise_std, rtol=1e-11), tolerance=1e-8, unsafe=None, points=40)
@setting("error that Gaussian noise of standard deviation σ exceeds with chance β, on either side",
         "标准差 σ 的高斯噪声以概率 β 在任一侧超过的误差", "error", "gauss normal 高斯 正态",
         into=lambda sigma: {"noise_std": sigma}, sigma=_DEVIATION, beta=Log(1e-9, 0.9))
@printed("1.95996398", noise_std=1.0, beta=0.05)
@wrong("one-side", "So much lies on one side; noise errs on both.", "noise_std * probit(1 - beta)")
@wrong("variance", "The quantile grows with the deviation.", "noise_std**2 * probit(1 - beta / 2)",
       met="opendp/smartnoise-core, issue 316")
def gaussian_error(*, noise_std, beta):
    r"""P\big(|X| > \sigma\,\Phi^{-1}(1 - \tfrac\beta2)\big) = \beta"""
    return -noise_std * float(ndtri(beta / 2))


@formula("G-B14g", "Mean absolute error of Gaussian noise")
@given("noise_std > 0", noise_std=_DEVIATION)
@identity("Dwork & Roth 2014, Appendix A, mean of the half-normal law", lambda noise_std:
          oracles.absolute_moment(oracles.log_normal(0.0, noise_std), 1, 60 * noise_std),
          unsafe=None, points=40)
@setting("mean absolute error of Gaussian noise of standard deviation σ",
         "标准差 σ 的高斯噪声的平均绝对误差", "error", "mean_abs expect average E| 期望 平均",
         rare=True, into=lambda sigma: {"noise_std": sigma}, sigma=_DEVIATION)
@printed("0.7978845608", noise_std=1.0)
@wrong("deviation", "The root of the mean square, a quarter more.", "noise_std")
@wrong("upside-down", "2/pi stands under the root.", "noise_std * sqrt(pi / 2)")
def gaussian_mean_error(*, noise_std):
    r"""E|X| = \sigma\sqrt{2/\pi}"""
    return noise_std * math.sqrt(2 / math.pi)


@formula("G-B14h", "Mean absolute error of the Laplace mechanism")
@given("epsilon > 0 and sensitivity > 0", epsilon=_BUDGET, sensitivity=_CHANGE)
@identity("Dwork & Roth 2014, Definition 3.2, mean size of the law", lambda epsilon, sensitivity:
          oracles.absolute_moment(oracles.log_laplace(0.0, scale := sensitivity / epsilon), 1, 200 *
          scale), unsafe=None, points=40)
@setting("mean absolute error of the Laplace mechanism on an answer of sensitivity Δ",
         "敏感度 Δ 的回答上拉普拉斯机制的平均绝对误差", "error",
         "mean_abs expect average E| 期望 平均", rare=True)
@printed("2.0", epsilon=0.5, sensitivity=1.0)
@wrong("deviation", "The root of the mean square is sqrt(2) times as large.",
       "sqrt(2) * sensitivity / epsilon")
def laplace_mean_error(*, epsilon, sensitivity):
    r"""E|X| = \frac\Delta\varepsilon"""
    return sensitivity / epsilon


@formula("G-B8b", "Error of the exponential mechanism")
@given("epsilon > 0 and candidates >= 2 and 0 < beta < 1 and sensitivity > 0", epsilon=_BUDGET,
       candidates=Whole(2, 1000), beta=_FAILURE, sensitivity=_CHANGE)
@upper("Dwork & Roth 2014, Corollary 3.12", exponential_shortfall, unsafe="smaller", points=50)
@setting("how far below the best the exponential mechanism chooses, but for a chance of β",
         "指数机制的选择低于最优的程度（概率 β 除外）", "error",
         "exponential utility 指数机制 效用",
         below=lambda epsilon, candidates, beta, sensitivity: (1 - 1e-9) * np.maximum(2 *
         sensitivity / epsilon * np.log((candidates - 1) * (1 - beta) / beta), 0.0))
@printed("18.420681", "18.3804794", epsilon=1.0, candidates=100, beta=0.01, sensitivity=1.0)
@wrong("no-two", "The 2 of the exponent comes back: scores may move both ways.",
       "sensitivity * (log(candidates) + log(1 / beta)) / epsilon")
@wrong("no-candidates", "Many bad candidates share what a single one is seldom given.",
       "2 * sensitivity * log(1 / beta) / epsilon", candidates=Whole(20, 1000))
def exponential_mechanism_error(*, epsilon, candidates, beta, sensitivity):
    r"""P\Big(u(r) \le \mathrm{OPT} - \frac{2\Delta}\varepsilon\ln\frac{|R|}\beta\Big) \le \beta

    candidates: |R|, among which it chooses"""
    return 2 * sensitivity * math.log(candidates / beta) / epsilon


@formula("G-B20", "A new key in a histogram: the threshold")
@given("epsilon > 0 and threshold >= 1", epsilon=_BUDGET, threshold=Log(1.0, 500.0))
@identity("Korolova, Kenthapadi, Mishra & Ntoulas 2009, Theorem 1, for one key",
          lambda epsilon, threshold: integrated_tail(1 / epsilon, threshold - 1,
          sides=1), tolerance=1e-8, absolute=1e-290, points=60)
@setting("δ of counts with Laplace noise of scale 1/ε, told only above a threshold: a new key",
         "带尺度 1/ε 拉普拉斯噪声的计数，只公布超过阈值者的 δ：新的键", "delta",
         "threshold histogram partition key stability 阈值 直方图", rare=True)
@printed("4.1e-08", epsilon=1.0, threshold=17.3)
@wrong("from-zero", "The key of a new record has the count 1, not 0.",
       "exp(-epsilon * threshold) / 2")
@wrong("both-sides", "An upper bound: only noise above counts.", "exp(-epsilon * (threshold - 1))",
       kind="identity")
@wrong("gaussian", "Gaussian noise of the classical size for 1e-5 has a tail of its own.",
       says=r"\text{the same with Gaussian noise}", oracle=lambda epsilon,
       threshold: integrated_tail(math.sqrt(2 * math.log(1.25e5)) / epsilon, threshold - 1, 1,
       oracles.log_normal), epsilon=Log(0.02, 1.0), met="opendp/smartnoise-sdk, issue 204 (2020)")
def new_key_delta(*, epsilon, threshold):
    r"""\delta = \tfrac12e^{-\varepsilon(\tau-1)},\quad \tau = 1 + \frac{\ln(1/2\delta)}\varepsilon

    Each record has one key.
    threshold: tau, below which no count is told"""
    return math.exp(-epsilon * (threshold - 1)) / 2


@formula("G-H4", "Accuracy of AboveThreshold")
@given("epsilon > 0 and queries >= 1 and 0 < beta < 1", epsilon=_BUDGET,
       queries=Whole(1, 1000), beta=_FAILURE)
@upper("Dwork & Roth 2014, Theorem 3.24", above_threshold_error, tolerance=1e-6, points=12)
@setting("margin within which AboveThreshold on k queries of sensitivity 1 errs with chance β",
         "AboveThreshold 对 k 个敏感度 1 的查询以概率 β 出错的余量", "error",
         "above_thresh AboveThreshold above-thresh sparse", below=lambda epsilon, queries, beta:
         # P(error) >= P(the last answer errs), and >= P(an answer errs and threshold noise < 0).
         4 * np.maximum(np.maximum(-np.log(2 * beta), -np.log(-2 * np.expm1(
         np.log1p(-np.minimum(2 * beta, 1 - 1e-9)) / queries))), 0.0) / epsilon)
@printed("60.8072197", epsilon=1.0, queries=10, beta=0.01)
@wrong("no-queries", "The largest of the noises on k answers grows with ln k.",
       "8 * log(2 / beta) / epsilon", queries=Whole(50, 1000))
@wrong("scale-one", "The noises have scales of 2 and 4 over epsilon, not 1.",
       "2 * (log(queries) + log(2 / beta)) / epsilon")
def above_threshold_accuracy(*, epsilon, queries, beta):
    r"""\alpha = \frac{8\big(\ln k + \ln(2/\beta)\big)}\varepsilon:\ \text{with chance } 1-\beta
    \text{ answers } \top \text{ are } \ge T - \alpha \text{ and answers } \bot \text{ are } \le
    T + \alpha

    If no answer but the last is close to the threshold from below."""
    return 8 * (math.log(queries) + math.log(2 / beta)) / epsilon
