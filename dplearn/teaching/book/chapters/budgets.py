"""Closed forms of the Laplace and Gaussian noise that a privacy budget requires."""

from dplearn.teaching.book.chapters.noise import vector_laplace_loss
from dplearn.teaching.book.kit.vocabulary import *

_ONE = {"into": {"steps": 1}}  # one release
_FOLD = "compos releas k_quer steps rounds 组合"
_STEPS, _DELTA = Whole(1, 1000), Log(1e-12, 0.3)
_NOISE = Log(0.2, 50.0)


def least_scale(epsilon, sensitivity, steps=1):
    """Return the smallest scale of epsilon-DP Laplace noise on `steps` answers."""
    # The largest loss of `steps` independent answers is `steps` times that of one answer.
    loss = lambda log_b: steps * vector_laplace_loss([sensitivity], math.exp(log_b))
    enough = lambda log_b: loss(log_b) <= epsilon * (1 + 1e-13)
    return math.exp(oracles.smallest(enough, low=-20.0, high=30.0))


def loss_far_out(*, noise_multiplier):
    """Bound the largest privacy loss of Gaussian noise: at least the loss far out, at most inf."""
    far = 1e6 * noise_multiplier
    one, zero = (oracles.log_normal(mean, noise_multiplier)(far) for mean in (1.0, 0.0))
    return Interval(one - zero, math.inf)


def spread_of_sum(*, sigma_1, sigma_2):
    """Return the standard deviation of the sum of two Gaussians, by convolution on a grid."""
    x = 9 * (sigma_1 + sigma_2) * np.linspace(-1.0, 1.0, 4001)
    laws = [np.exp(oracles.log_normal(0.0, std)(x)) for std in (sigma_1, sigma_2)]
    total = np.convolve(laws[0], laws[1])
    return math.sqrt(oracles.variance(total, np.linspace(2 * x[0], 2 * x[-1], total.size)))


@formula("G-B2b", "Laplace noise on a vector of bounded Euclidean norm")
@given("epsilon > 0 and dimension >= 1 and sensitivity > 0", epsilon=Log(0.02, 10.0),
       dimension=Whole(1, 200), sensitivity=Log(0.1, 10.0))
@identity("Dwork & Roth 2014, Theorem 3.6, by Cauchy and Schwarz", lambda epsilon, dimension,
          sensitivity: max(least_scale(epsilon, sensitivity / d**0.5, steps=d)
          for d in {1, max(dimension // 2, 1), dimension}), points=25)
@setting("Laplace noise of scale b on each of d answers whose change has L2 norm Δ, ε-DP",
         "对 d 个回答各加尺度 b 的拉普拉斯噪声，其变化的 L2 范数为 Δ，ε-DP", "scale",
         "L2 L_2 L^2 Δ_2 Delta_2 euclid 欧氏", rare=True)
@printed("2.0", epsilon=1.0, dimension=4, sensitivity=1.0)
@wrong("euclidean", "Laplace noise is paid for in the L1 norm, sqrt(d) times as large at worst.",
       "sensitivity / epsilon")
def laplace_scale_euclidean(*, epsilon, dimension, sensitivity):
    r"""\lVert f(d) - f(d')\rVert_2 \le \Delta_2:\quad b = \frac{\sqrt d\,\Delta_2}\varepsilon"""
    return math.sqrt(dimension) * sensitivity / epsilon


@formula("G-B2c", "Laplace noise on each of several answers")
@given("epsilon > 0 and steps >= 1 and sensitivity > 0", epsilon=Log(0.02, 10.0),
       steps=Whole(1, 150), sensitivity=Log(0.1, 10.0))
@identity("Dwork & Roth 2014, Theorem 3.6", least_scale, points=40)
@setting("Laplace noise of scale b on each of k answers of sensitivity Δ, together ε-DP",
         "对 k 个敏感度 Δ 的回答各加尺度 b 的拉普拉斯噪声，合计 ε-DP", "scale",
         "each_of k_answers k_quer k_count queries rounds total_budget split 每次 每个")
@printed("10.0", epsilon=1.0, steps=10, sensitivity=1.0)
@wrong("each-alone", "So each answer alone is epsilon-DP; together they are k epsilon-DP.",
       "sensitivity / epsilon")
@wrong("root", "The root of k is Gaussian noise's, or needs a delta.",
       "sqrt(steps) * sensitivity / epsilon")
def laplace_scale_for_answers(*, epsilon, steps, sensitivity):
    r"""b = \frac{k\Delta}\varepsilon \text{ on each of } k \text{ answers}"""
    return steps * sensitivity / epsilon


@formula("G-B4b", "Classical noise of the Gaussian mechanism, as first printed")
@given("0 < epsilon <= 1 and 0 < delta < 1", epsilon=Log(0.02, 1.0), delta=Log(1e-12, 0.9))
@upper("Dwork, Kenthapadi, McSherry, Mironov & Naor 2006, Section 2, noise of a sum",
       oracles.normal_sigma, points=40)
@setting(*ALONE, "sigma", "gauss normal 高斯", below=below.gaussian_sigma, epsilon=Log(0.02, 12.0))
@printed("4.9408648", "3.730631635", epsilon=1.0, delta=1e-5)
@wrong("any-epsilon", "For a large epsilon noise of the order of 1/sqrt(epsilon) is needed.",
       given="epsilon > 0 and 0 < delta < 1", epsilon=Log(0.1, 50.0))
def gaussian_sigma_two(*, epsilon, delta):
    r"""\sigma \ge \frac{\Delta_2\sqrt{2\ln(2/\delta)}}\varepsilon"""
    return math.sqrt(2 * math.log(2 / delta)) / epsilon


@formula("G-B4c", "Gaussian noise in closed form, for any epsilon")
@given("epsilon > 0 and 0 < delta < 1 and steps >= 1", epsilon=Log(0.02, 20.0), delta=_DELTA,
       steps=_STEPS)
@upper("Bun & Steinke 2016, Propositions 1.3 and 1.6 and Lemma 2.3, solved", oracles.normal_sigma,
       points=40)
@setting(*ALONE, "sigma", "gauss normal 高斯", below=below.gaussian_sigma, **_ONE,
         epsilon=Log(0.02, 20.0), delta=_DELTA)
@setting(*TOGETHER, "sigma", _FOLD, below=below.gaussian_sigma)
@printed("4.9005552", "3.730631635", epsilon=1.0, delta=1e-5, steps=1)
@wrong("halved", "The root of the discriminant counts: with the 2 inside it is too small.",
       "sqrt(steps) * (sqrt(2*log(1/delta)) + sqrt(2*log(1/delta) + epsilon)) / (4*epsilon)")
def gaussian_sigma_closed(*, epsilon, delta, steps=1):
    r"""\sigma = \sqrt k\,\Delta_2\,
    \frac{\sqrt{2\ln(1/\delta)} + \sqrt{2\ln(1/\delta) + 2\varepsilon}}{2\varepsilon}"""
    root = math.sqrt(-2 * math.log(delta))
    return math.sqrt(steps) * (root + math.sqrt(root**2 + 2 * epsilon)) / (2 * epsilon)


@formula("G-B4d", "Classical Gaussian noise for several releases")
@given("0 < epsilon <= 1 and 0 < delta < 1 and steps >= 1", epsilon=Log(0.02, 1.0),
       delta=Log(1e-12, 0.9), steps=_STEPS)
@upper("Dwork & Roth 2014, Theorem A.1, with the L2 sensitivity of all answers",
       oracles.normal_sigma, points=40)
@setting(*TOGETHER, "sigma", _FOLD, below=below.gaussian_sigma, epsilon=Log(0.02, 12.0))
@printed("48.44805263", "37.30631635", epsilon=1.0, delta=1e-5, steps=100)
@wrong("any-epsilon", "The theorem behind it ends at epsilon = 1.",
       given="epsilon > 0 and 0 < delta < 1 and steps >= 1", epsilon=Log(1.0, 50.0))
@wrong("one-release", "The noise of one release; k of them move the answers sqrt(k) times as far.",
       "sqrt(2 * log(1.25 / delta)) / epsilon")
def classical_sigma_for_releases(*, epsilon, delta, steps):
    r"""\sigma \ge \frac{\Delta_2\sqrt{2k\ln(1.25/\delta)}}\varepsilon"""
    return math.sqrt(2 * steps * math.log(1.25 / delta)) / epsilon


@formula("G-B4e", "Gaussian noise never gives pure DP")
@given("noise_multiplier > 0", noise_multiplier=_NOISE)
@identity("Dwork & Roth 2014, Appendix A", loss_far_out, points=20)
@setting("Gaussian noise of standard deviation σ, ε-DP with δ = 0",
         "标准差 σ 的高斯噪声，δ = 0 的 ε-DP", "epsilon", "gauss normal 高斯 pure 纯", rare=True)
@printed("inf", noise_multiplier=1.0)
@wrong("as-laplace", "True of Laplace noise of that scale; the loss of Gaussian noise has no end.",
       "1 / noise_multiplier")
def gaussian_pure_epsilon(*, noise_multiplier):
    r"""\sup_x\ln\frac{p(x - \Delta)}{p(x)} = \infty \text{ for } p \text{ of } N(0,\sigma^2)"""
    return math.inf if noise_multiplier > 0 else math.nan


@formula("G-B5c", "Delta of Gaussian noise, by Chernoff")
@given("noise_multiplier > 0 and epsilon >= 1/(2*noise_multiplier**2)", noise_multiplier=_NOISE,
       epsilon=Log(0.02, 20.0))
@upper("Bun & Steinke 2016, Propositions 1.3 and 1.6", oracles.normal_delta, absolute=1e-290)
@setting(*ALONE, "delta", "gauss normal 高斯", below=below.gaussian_delta)
@printed("0.8824969", "0.1269367", epsilon=1.0, noise_multiplier=1.0)
@wrong("no-mean", "The loss has the mean 1/(2 sigma^2), from which epsilon is to be measured.",
       "exp(-(epsilon*noise_multiplier)**2 / 2)")
@wrong("plus", "The mean loss is on epsilon's side and takes from the distance.",
       "exp(-(epsilon*noise_multiplier + 1/(2*noise_multiplier))**2 / 2)")
@wrong("any-epsilon", "Below its mean the loss is likely: there the bound falls again.",
       given="noise_multiplier > 0 and epsilon > 0")
def gaussian_delta_bound(*, epsilon, noise_multiplier):
    r"""\delta \le e^{-\frac12\left(\varepsilon\sigma/\Delta - \Delta/2\sigma\right)^2}"""
    return math.exp(-((epsilon * noise_multiplier - 0.5 / noise_multiplier) ** 2) / 2)


@formula("G-B5d", "Epsilon of Gaussian releases in closed form")
@given("noise_multiplier > 0 and 0 < delta < 1 and steps >= 1", noise_multiplier=_NOISE,
       delta=_DELTA, steps=_STEPS)
@upper("Bun & Steinke 2016, Propositions 1.3 and 1.6 and Lemma 2.3", oracles.normal_epsilon,
       points=40)
@setting(*ALONE, "epsilon", "gauss normal 高斯", below=below.gaussian_epsilon, **_ONE,
         noise_multiplier=_NOISE, delta=_DELTA)
@setting(*TOGETHER, "epsilon", _FOLD, below=below.gaussian_epsilon)
@printed("5.2985259", "4.3771781", noise_multiplier=1.0, delta=1e-5, steps=1)
@wrong("no-drift", "The mean loss k/(2 sigma^2) is missing; little noise shows it.",
       "sqrt(2*steps*log(1/delta)) / noise_multiplier")
@wrong("drift-of-one", "Every release adds its own mean loss.",
       "1/(2*noise_multiplier**2) + sqrt(2*steps*log(1/delta))/noise_multiplier",
       steps=Whole(2, 1000))
@wrong("steps-outside", "An upper bound: the root holds k as well.",
       "steps * (1/(2*noise_multiplier**2) + sqrt(2*log(1/delta))/noise_multiplier)",
       kind="identity")
def gaussian_epsilon_closed(*, noise_multiplier, delta, steps=1):
    r"""\varepsilon = \frac{k\Delta^2}{2\sigma^2} + \frac{\Delta\sqrt{2k\ln(1/\delta)}}\sigma"""
    root = math.sqrt(-2 * steps * math.log(delta))
    return 0.5 * steps / noise_multiplier**2 + root / noise_multiplier


@formula("G-B5e", "Epsilon of Gaussian releases by one Rényi order")
@given("noise_multiplier > 0 and order > 1 and 0 < delta < 1 and steps >= 1",
       noise_multiplier=_NOISE, order=Log(1.05, 300.0), delta=_DELTA, steps=_STEPS)
@upper("Mironov 2017, Propositions 1 and 3 and Corollary 3", oracles.normal_epsilon, points=40)
@setting(*ALONE, "epsilon", "gauss normal 高斯 order 阶", **_ONE, below=below.gaussian_epsilon,
         noise_multiplier=_NOISE, order=Log(1.05, 300.0), delta=_DELTA)
@setting(*TOGETHER, "epsilon", _FOLD, below=below.gaussian_epsilon)
@printed("5.378231", "4.3771781", noise_multiplier=1.0, order=5.0, delta=1e-5, steps=1)
@wrong("one-step", "The divergence of all k releases is converted, not that of one.",
       "order/(2*noise_multiplier**2) - log(delta)/(order - 1)", steps=Whole(50, 1000))
@wrong("no-half", "An upper bound; the divergence has alpha/2.",
       "order*steps/noise_multiplier**2 - log(delta)/(order - 1)", kind="identity")
def gaussian_epsilon_at_order(*, noise_multiplier, order, delta, steps=1):
    r"""\varepsilon = \frac{k\alpha\Delta^2}{2\sigma^2} + \frac{\ln(1/\delta)}{\alpha-1}"""
    return steps * order / (2 * noise_multiplier**2) - math.log(delta) / (order - 1)


@formula("G-B19c", "Two independent Gaussian noises on one answer")
@given("sigma_1 > 0 and sigma_2 > 0", sigma_1=Log(0.5, 5.0), sigma_2=Log(0.5, 5.0))
@identity("Dwork & Roth 2014, Appendix A, rotation of Gaussian noise", spread_of_sum,
          tolerance=1e-7, unsafe=None, points=40)
@setting("two independent Gaussian noises of standard deviations σ_1 and σ_2 added to one answer",
         "加在同一回答上的两个独立高斯噪声，标准差 σ_1 与 σ_2", "sigma",
         "independ sum_of added 独立")
@printed("5.0", sigma_1=3.0, sigma_2=4.0)
@wrong("sum", "Variances add up, deviations do not.", "sigma_1 + sigma_2")
def added_noise_std(*, sigma_1, sigma_2):
    r"""\sigma = \sqrt{\sigma_1^2 + \sigma_2^2}

    sigma_1: Standard deviation of one noise
    sigma_2: That of the other one"""
    return math.hypot(sigma_1, sigma_2)


@formula("G-B19d", "zCDP of Gaussian releases")
@given("noise_multiplier > 0 and steps >= 1", noise_multiplier=_NOISE, steps=Whole(1, 150),
       order=Choice(1.5, 2.0, 8.0))
@identity("Bun & Steinke 2016, Proposition 1.6 and Lemma 2.3", lambda noise_multiplier, steps,
          order: math.fsum([oracles.normal_renyi(1.0, noise_multiplier, order) / order] * steps),
          points=40)
@setting(*ALONE, "rho", "gauss normal 高斯", **_ONE, noise_multiplier=_NOISE)
@setting(*TOGETHER, "rho", _FOLD)
@printed("0.5", noise_multiplier=1.0, steps=1)
@wrong("no-two", "An upper bound: half of it is the value.", "steps / noise_multiplier**2")
@wrong("deviation-for-variance", "The square belongs to sigma, too: for sigma > 1 it is harmless.",
       "steps / (2 * noise_multiplier)")
@wrong("square-of-k", "Groups of k cost k^2; k releases of independent noise cost k.",
       "steps**2 / (2 * noise_multiplier**2)", steps=Whole(2, 150))
def gaussian_zcdp_of_releases(*, noise_multiplier, steps=1):
    r"""\rho = \frac{k\Delta^2}{2\sigma^2}"""
    return steps / (2 * noise_multiplier**2)
