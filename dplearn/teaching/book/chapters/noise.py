"""Noise mechanisms: Laplace, geometric, staircase, Gaussian, and randomized response."""

from dplearn.mechanisms.gaussian import gaussian_log_delta
from dplearn.teaching.book.kit.vocabulary import *


def vector_laplace_loss(shift, scale):
    """Return the largest log ratio, on a grid, of Laplace vector densities `shift` apart."""
    shift = np.asarray(shift, dtype=float)
    reach = 2 * np.max(np.abs(shift)) + 1.0
    points = np.array(list(itertools.product(np.linspace(-reach, reach, 7), repeat=shift.size)))
    one = oracles.log_laplace(0.0, scale)
    return float(np.max(np.sum(one(points - shift), axis=1) - np.sum(one(points), axis=1)))


def geometric_difference(rate, value):
    """Return P(G - H = value) for independent G, H with P(G = k) = (1 - a) a^k, a = exp(-rate)."""
    k = np.arange(math.ceil(25 / rate) + 1)
    log_mass = math.log(-math.expm1(-rate)) - rate * k
    return float(np.sum(np.exp(log_mass + log_mass - rate * abs(value))))


def one_sided_geometric_loss(*, rate, sensitivity):
    """Return the largest |log mass ratio| of shifted to unshifted one-sided geometric noise."""
    k = np.arange(sensitivity + 10)
    p, q = np.exp(-rate * k), np.exp(-rate * (k - sensitivity)) * (k >= sensitivity)
    with np.errstate(divide="ignore"):
        return float(np.max(np.abs(np.log(p) - np.log(q))))


def float_laplace_loss(*, rate, sensitivity, bits):
    """Return the largest |log ratio| of float outputs with noise +-ln(u)/rate, u of `bits` bits."""
    u = np.arange(1, 2**bits + 1) / 2**bits
    noise = np.concatenate([np.log(u), -np.log(u)]) / rate
    p, q = (np.unique(x + noise, return_counts=True) for x in (0.0, float(sensitivity)))
    if not np.array_equal(p[0], q[0]):
        return math.inf
    return float(np.max(np.abs(np.log(p[1] / q[1]))))


def trained_gaussian_delta(*, epsilon, noise_multiplier, exponent):
    """Return delta of a noisy least-squares slope when (x, -1) joins (x, 1), x = 10^-exponent."""
    x = 10.0**-exponent
    slope = lambda y: float(np.linalg.lstsq(np.full((len(y), 1), x), y, rcond=None)[0][0])
    moved = abs(slope([1.0]) - slope([1.0, -1.0]))
    return oracles.normal_delta(epsilon=epsilon, mu=moved / noise_multiplier)


def least_staircase_variance(*, epsilon):
    """Return the least variance of epsilon-DP staircase noise, adding up steps of the density."""
    step = np.arange(2 * math.ceil(60 / epsilon) + 3)
    density = np.exp(-epsilon * (step[1:] // 2))

    def variance(width: float) -> float:
        ends = step // 2 + width * (step % 2)  # 0, width, 1, 1 + width, ...
        return float(density @ np.diff(ends**3) / 3 / (density @ np.diff(ends)))

    best = maximise(lambda w: np.asarray(-variance(float(w))), lower=0.0, upper=1.0, shape=())
    return variance(float(best))


def integrated_tail(scale, threshold, sides=2, law=oracles.log_laplace):
    """Return P(|X| > threshold) of symmetric noise X, or P(X > threshold) if `sides` is 1."""
    far = threshold + 100 * scale
    return sides * math.exp(oracles.log_integral(law(0.0, scale), threshold, far))


def largest_truth(*, epsilon, answers):
    """Return the largest probability of a true answer in epsilon-DP randomized response."""

    def too_much(truth: float) -> bool:
        p = np.append(truth, np.full(answers - 1, (1 - truth) / (answers - 1)))
        return truth == 1 or oracles.worst_event_epsilon(p, np.roll(p, 1)) > epsilon

    return oracles.smallest(too_much, low=1 / answers, high=1.0)


@formula("G-B1", "Exact profile of the Laplace mechanism")
@given("epsilon >= 0 and ratio > 0", epsilon=Log(1e-4, 60.0, also=(0.0,)), ratio=Log(1e-3, 50.0))
@identity("Balle, Barthe & Gaboardi 2018, Theorem 3", lambda epsilon, ratio:
          oracles.density_delta(oracles.log_laplace(ratio), oracles.log_laplace(), epsilon, -80.0,
          ratio + 80.0, kinks=[0.0, ratio]), absolute=1e-15)
@setting("Laplace noise of scale b on one answer, as (ε,δ)-DP",
         "一次回答加尺度 b 的拉普拉斯噪声，(ε,δ)-DP", "delta", "lap 拉普拉斯",
         into=lambda scale: {"ratio": 1 / scale}, epsilon=Log(0.01, 3.0), scale=NOISE)
@printed("0.2211992169", epsilon=0.5, ratio=1.0)
@wrong("straight-line",
       "The profile is concave in epsilon between its ends, so chords are too low.",
       "-expm1(-ratio / 2) * max(0.0, 1 - epsilon / ratio)")
def laplace_delta(*, epsilon, ratio):
    r"""\delta(\varepsilon) = 1 - e^{(\varepsilon - \Delta/b)/2}
    \text{ for } 0 \le \varepsilon < \Delta/b,\quad 0 \text{ beyond}

    ratio: sensitivity / scale of the noise, which is the epsilon of pure DP"""
    return -math.expm1(min(epsilon - ratio, 0.0) / 2)


@formula("G-B2", "Laplace noise on a vector: the L1 norm counts")
@given("scale > 0", shift=Drawn(lambda rng: np.full(size, 0.5) if (size := rng.integers(1, 5)) and
       rng.random() < 0.3 else rng.integers(-20, 21, size) / 10), scale=Log(1e-3, 1e3))
@identity("Dwork & Roth 2014, Theorem 3.6", vector_laplace_loss)
@setting("Laplace noise of scale b on one answer of L1 sensitivity Δ, ε-DP",
         "一次回答（L1 敏感度 Δ）加尺度 b 的拉普拉斯噪声，ε-DP", "epsilon",
         "lap double_exp 拉普拉斯", into=lambda sensitivity: {"shift": np.array([sensitivity])},
         sensitivity=NOISE, scale=NOISE)
@setting("Laplace noise of scale b on each of two answers, Δ in L2",
         "两次回答各加尺度 b 的拉普拉斯噪声，Δ 按 L2 计", "epsilon", "L2 L_2 L_{2} Δ_2 Delta_2 Δ₂",
         rare=True, into=lambda sensitivity: {"shift": np.full(2, sensitivity / math.sqrt(2))},
         sensitivity=NOISE, scale=NOISE)
@printed("2", "2", shift=np.full(4, 0.5), scale=1.0)
@wrong("euclidean", "In d dimensions the L1 norm is up to sqrt(d) times as large.",
       lambda shift, scale: np.linalg.norm(shift) / scale, says=r"b = \Delta_2/\varepsilon")
@wrong("upside-down", "The smaller epsilon, the larger the noise.",
       lambda shift, scale: scale / max(float(np.sum(np.abs(shift))), 1e-9),
       says=r"b = \varepsilon/\Delta", met="WICG/attribution-reporting-api, issue 1329 (2024)")
def vector_laplace_epsilon(*, shift, scale):
    r"""\sup_x \ln\frac{p(x - f(d'))}{p(x - f(d))} = \frac{\lVert f(d) - f(d')\rVert_1}b
    \ \Rightarrow\ b = \Delta_1/\varepsilon

    shift: difference of two neighbouring answers"""
    return float(np.sum(np.abs(shift))) / scale


@formula("G-B14", "Tails of the Laplace law")
@given("scale > 0 and threshold >= 0", scale=Log(1e-3, 1e3),
       threshold=Log(1e-3, 500.0, also=(0.0,)))
@identity("Dwork & Roth 2014, Fact 3.7", integrated_tail, tolerance=1e-8, absolute=0.0, unsafe=None)
@setting("a Laplace variable of scale b exceeds the threshold in absolute value",
         "尺度 b 的拉普拉斯变量的绝对值超过阈值", "probability", "lap double_exp 拉普拉斯",
         scale=NOISE, threshold=Log(0.1, 9.0), event=r"\|\w+\|>=?(.+)")
@setting("a Laplace variable of scale b exceeds the threshold on one side",
         "尺度 b 的拉普拉斯变量在一侧超过阈值", "probability", "one_side one-side 单侧", into={},
         value=lambda value, **_: value / 2, scale=NOISE, threshold=Log(0.1, 9.0),
         event=r"\w+>=?(.+)")
@printed("0.049787068", scale=1.0, threshold=3.0)
@wrong("one-side", "One side holds half of it.", says=r"P(X > t) = e^{-t/b}",
       oracle=partial(integrated_tail, sides=1))
def laplace_tail(*, scale, threshold):
    r"""P(|X| > t) = e^{-t/b}

    threshold: t, in the units of the scale"""
    return math.exp(-threshold / scale)


@formula("G-B14b", "Variance of the Laplace law")
@given("scale > 0", scale=Log(1e-3, 1e3))
@identity("Dwork & Roth 2014, Definition 3.3", lambda scale: oracles.absolute_moment(
          oracles.log_laplace(0.0, scale), 2, 200 * scale), absolute=0.0, unsafe=None, points=40)
@setting("variance of Laplace noise of scale b", "尺度 b 的拉普拉斯噪声的方差", "variance",
         "lap double_exp 拉普拉斯", scale=NOISE)
@setting("standard deviation of Laplace noise of scale b", "尺度 b 的拉普拉斯噪声的标准差", "sigma",
         "lap double_exp 拉普拉斯", into={}, value=lambda value, **_: math.sqrt(value), scale=NOISE)
@printed("2", scale=1.0)
@wrong("square", "The standard deviation is sqrt(2) b.", "scale**2")
def laplace_variance(*, scale):
    r"""\operatorname{Var} X = 2b^2"""
    return 2 * scale**2


@formula("G-B3", "The geometric law: discrete Laplace noise")
@given("rate > 0", rate=Log(1e-3, 5.0), value=Choice(-50, -7, -1, 0, 1, 2, 3, 20))
@identity("Ghosh, Roughgarden & Sundararajan 2009, Section 2", geometric_difference, absolute=0.0,
          unsafe=None)
@setting("the geometric law with parameter ε", "参数 ε 的双边几何分布", "probability",
         "geometric discrete 几何", event=r"\w=\w")
@printed("0.4621171573", rate=1.0, value=0)
@wrong("one-sided-constant",
       "The constant of the one-sided law; both sides together weigh more than 1.",
       "-expm1(-rate) * exp(-rate * abs(value))")
def geometric_probability(*, rate, value):
    r"""P(X = k) = \frac{1 - e^{-\varepsilon}}{1 + e^{-\varepsilon}}e^{-\varepsilon|k|}

    value: k, any whole number"""
    return math.tanh(rate / 2) * math.exp(-rate * abs(value))


@formula("G-B3b", "Pure DP of the geometric mechanism")
@given("rate > 0 and sensitivity >= 1", rate=Log(0.01, 5.0), sensitivity=Whole(1, 20))
@identity("Ghosh, Roughgarden & Sundararajan 2009, Section 2", lambda rate, sensitivity:
          max(math.log(geometric_difference(rate, k) / geometric_difference(rate, k - sensitivity))
          for k in range(-3, sensitivity + 4)), points=50)
@setting("geometric noise of rate ε on a whole answer of sensitivity Δ",
         "整数回答加速率 ε 的几何噪声", "epsilon", "geometric 几何", rare=True)
@printed("1.5", "1.5", rate=0.5, sensitivity=3)
@wrong("one-sided", "The smaller count can print a number that the larger one never does.",
       says=r"\text{noise of } P(X = k) = (1 - e^{-\varepsilon})e^{-\varepsilon k},\ k \ge 0 "
       r"\text{ is } \varepsilon\text{-DP}", oracle=one_sided_geometric_loss)
@wrong("floating-point",
       "Sums round to floats that only one of the two answers reaches (Mironov 2012).",
       says=r"\mathrm{Lap}(1/\varepsilon) \text{ from } \pm\ln U/\varepsilon "
       r"\text{ in floating point is } \varepsilon\text{-DP}", oracle=float_laplace_loss,
       sensitivity=Choice(1), bits=Choice(6, 8, 10))
@wrong("any-sensitivity", "It is so for sensitivity 1; in general the rate is epsilon/Delta.",
       "rate",
       says=r"P(X = k) \propto e^{-\varepsilon|k|}:\ \varepsilon\text{-DP for every } \Delta")
def geometric_epsilon(*, rate, sensitivity):
    r"""\max_k\ln\frac{P(X = k)}{P(X = k - \Delta)} = \varepsilon\Delta,
    \quad P(X = k) \propto e^{-\varepsilon|k|}"""
    return rate * sensitivity


@formula("G-B13", "The least variance of additive noise: the staircase")
@given("epsilon > 0", epsilon=Log(0.01, 25.0))
@identity("Geng & Viswanath 2014, the optimal noise for the variance", least_staircase_variance,
          absolute=0.0, unsafe=None, points=60)
@setting("variance of staircase noise at sensitivity 1", "阶梯噪声的方差（敏感度 1）", "variance",
         "staircase 阶梯", rare=True)
@printed("1.918104", epsilon=1.0)
@wrong("laplace", "Nearly so for a small epsilon; at 5 it has 2.7 times the least variance.",
       "2 / epsilon**2")
def staircase_variance(*, epsilon):
    r"""\min\operatorname{Var} = \Delta^2\,
    \frac{2^{-2/3}b^{2/3}(1+b)^{2/3} + b}{(1-b)^2},\quad b = e^{-\varepsilon}"""
    b = math.exp(-epsilon)
    return ((b * (1 + b) / 2) ** (2 / 3) + b) / math.expm1(-epsilon) ** 2


@formula("G-B4", "Classical noise of the Gaussian mechanism")
@given("0 < epsilon <= 1 and 0 < delta < 1", epsilon=Log(1e-3, 1.0), delta=Log(1e-15, 0.99))
@upper("Dwork & Roth 2014, Theorem A.1", oracles.normal_sigma)
@setting(*ALONE, "sigma", "gauss normal 高斯",
         below=below.gaussian_sigma, epsilon=Log(0.02, 12.0), delta=SLACK)
@printed("4.844805263", "3.730631635", epsilon=1.0, delta=1e-5)
@wrong("any-epsilon", "Proved up to epsilon = 1, it fails from 8.4 on for delta = 1e-5.",
       given="epsilon > 0 and 0 < delta < 1", epsilon=Log(0.1, 50.0),
       met="programming-dp, issue 45 (2023); smartnoise-sdk, issue 462 (2022)")
@wrong("no-two", "The factor 2 comes from the Gaussian's exponent.",
       "sqrt(log(1.25 / delta)) / epsilon")
@wrong("delta-outside", "It is enough, and 44 times too much noise for delta = 1e-5.",
       "sqrt(2 * log(1.25) / delta) / epsilon", kind="identity")
@wrong("condition", "It is enough but not needed: 3.73 does what it asks 4.84 for.",
       says=r"(\varepsilon,\delta)\text{-DP} \iff \sigma = "
       r"\Delta_2\sqrt{2\ln(1.25/\delta)}/\varepsilon", kind="identity")
def classical_gaussian_sigma(*, epsilon, delta):
    r"""\sigma \ge \frac{\Delta_2\sqrt{2\ln(1.25/\delta)}}\varepsilon
    \ \Rightarrow\ (\varepsilon,\delta)\text{-DP}"""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@formula("G-B5", "Exact profile of the Gaussian mechanism")
@given("epsilon >= 0 and noise_multiplier > 0", epsilon=Log(1e-3, 20.0, also=(0.0,)),
       noise_multiplier=Log(0.05, 20.0))
@identity("Balle & Wang 2018, Theorem 8", oracles.normal_delta, tolerance=1e-8, absolute=1e-290)
@setting(*ALONE, "delta", "gauss normal 高斯", epsilon=LOSS, noise_multiplier=NOISE)
@setting(*TOGETHER, "delta", REPEATED, into=lambda noise_multiplier, steps: {"noise_multiplier":
         noise_multiplier / math.sqrt(steps)}, epsilon=LOSS, noise_multiplier=NOISE, steps=COUNT)
@setting("Gaussian noise: no size of it gives ε-DP with δ = 0",
         "高斯噪声：无论多大都不满足 δ = 0 的 ε-DP", "scale", "gauss normal 高斯", rare=True,
         into={"noise_multiplier": 1.0}, value=lambda value, **_: math.inf, epsilon=LOSS)
@printed("4.11369e-08", epsilon=1.0, noise_multiplier=4.844805263)
@printed("0.1269367", epsilon=1.0, noise_multiplier=1.0)
@wrong("one-tail", "P(L > epsilon) is enough for delta, but larger than it.",
       "Phi(1 / (2 * noise_multiplier) - epsilon * noise_multiplier)")
@wrong("swapped-signs", "This delta grows with the noise.", "Phi(epsilon * noise_multiplier - "
       "1 / (2 * noise_multiplier)) - exp(epsilon) * Phi(-1 / (2 * noise_multiplier) - "
       "epsilon * noise_multiplier)")
@wrong("trained-parameters", "Training needs a bounded sensitivity; one record can move a "
       "slope by 10^k.", says=r"\theta(d) + N(0,\sigma^2) \text{ is private at } \Delta = 1, "
       r"\theta \text{ trained}", oracle=trained_gaussian_delta, exponent=Choice(0, 1, 2, 3))
def gaussian_delta(*, epsilon, noise_multiplier, distance=1.0):
    r"""\delta(\varepsilon) = \Phi\Big(\frac\Delta{2\sigma} - \frac{\varepsilon\sigma}\Delta\Big)
    - e^\varepsilon\,\Phi\Big(-\frac\Delta{2\sigma} - \frac{\varepsilon\sigma}\Delta\Big)

    The distance of neighbouring sums, in clipping norms, is 1 for add_remove, 2 for replace_one."""
    return float(np.exp(gaussian_log_delta(epsilon, distance / noise_multiplier)))


@formula("G-B5b", "Analytic calibration of the Gaussian mechanism")
@given("epsilon >= 0 and 0 < delta < 1", epsilon=Log(1e-3, 30.0), delta=Log(1e-12, 0.9))
@identity("Balle & Wang 2018, Algorithm 1", oracles.normal_sigma, points=60)
@printed("3.730631635", epsilon=1.0, delta=1e-5)
@printed("39.8931836", epsilon=0.0, delta=0.01)
def analytic_gaussian_sigma(*, epsilon, delta):
    r"""\sigma(\varepsilon,\delta) = \min\{\sigma : \delta(\varepsilon;\sigma) \le \delta\}"""
    delta_at = lambda sigma: gaussian_delta(epsilon=epsilon, noise_multiplier=sigma)
    enough = lambda log_sigma: np.asarray(delta_at(math.exp(log_sigma)) <= delta)
    # Search for ln(sigma): sigma is below 1 / delta, which is too large to search at tiny delta.
    return math.exp(first_true(enough, lower=-14.0, upper=-math.log(delta), rtol=1e-15))


@formula("G-B12", "Randomized response with k answers")
@given("epsilon >= 0 and answers >= 2", epsilon=Log(1e-3, 25.0, also=(0.0,)), answers=Whole(2, 10))
@identity("Kairouz, Oh & Viswanath 2014, Section 4", largest_truth, unsafe="larger")
@setting("randomized response over k answers, truth with chance p, ε-DP",
         "k 个答案的随机应答（以概率 p 说真话），ε-DP", "p",
         "answers values generali k-ary 个答案", epsilon=LOSS, answers=Whole(3, 40))
@setting("randomized response of one bit, truth with chance p, ε-DP",
         "一位随机应答（以概率 p 说真话），ε-DP", "p",
         "respon coin bit binary truth true 随机应答 随机响应", into={"answers": 2}, epsilon=LOSS)
@printed("0.731058579", epsilon=1.0, answers=2)
@printed("0.231969317", epsilon=1.0, answers=10)
@wrong("linear", "Near 0 it is 1/2 + epsilon/4.", "min(0.5 + epsilon / 2, 1.0)", answers=Choice(2))
@wrong("k-for-k-minus-one", "The truth is one of the k answers and must not be counted twice.",
       "exp(epsilon) / (exp(epsilon) + answers)")
def randomized_response_truth(*, epsilon, answers=2):
    r"""p = \frac{e^\varepsilon}{e^\varepsilon + k - 1}

    answers: k, the number of possible answers"""
    return 1 / (1 + (answers - 1) * math.exp(-epsilon))


@formula("G-B12b", "Randomized response with two coins")
@given("0 < honest < 1 and 0 < yes < 1", honest=Linear(0.01, 0.99, also=(0.5,)),
       yes=Linear(0.01, 0.99, also=(0.5,)))
@identity("Dwork & Roth 2014, Section 3.2",
          lambda honest, yes: oracles.worst_event_epsilon_at(
              *([p, 1 - p] for p in (honest + (1 - honest) * yes, (1 - honest) * yes)), delta=0.0))
@setting("two coins: honest with chance h, else yes with chance y",
         "两枚硬币：以概率 h 说真话，否则以概率 y 说是", "epsilon", "two_coin", rare=True)
@printed("1.098612289", honest=0.5, yes=0.5)
@wrong("ln-two", "Truth is told with probability 3/4, three times that of a lie.", "log(2)",
       honest=Choice(0.5), yes=Choice(0.5))
def two_coin_epsilon(*, honest, yes):
    r"""\varepsilon = \max\Big\{\ln\frac{h + (1-h)y}{(1-h)y},
    \ln\frac{h + (1-h)(1-y)}{(1-h)(1-y)}\Big\},\quad h = y = \tfrac12:\ \ln 3

    honest: probability of the truth at the first coin
    yes: probability that the second coin says yes"""
    return math.log1p(honest / ((1 - honest) * min(yes, 1 - yes)))
