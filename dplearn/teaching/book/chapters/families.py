"""Divergences of families of laws, and bounds of one divergence by another."""

from scipy.special import rel_entr

from dplearn.core.solve import first_true
from dplearn.teaching.book.chapters.divergences import kl_divergence, max_divergence
from dplearn.teaching.book.kit.vocabulary import *

_VARIANCE = "((1 - order)*std_p**2 + order*std_q**2)"
_GAP = f"order*(mean_p - mean_q)**2/(2*{_VARIANCE})"
_STDS = "(std_p**(1 - order)*std_q**order)"
_KL_PAIR = {"p": Distribution(4), "q": Distribution(4), "kl": Derived(kl_divergence)}
_total_variation = lambda p, q: oracles.worst_event_delta(p, q, 0.0)
_WORKED_PAIR = {"p": [0.5, 0.3, 0.2], "q": [0.2, 0.3, 0.5], "kl": 0.3 * math.log(2.5)}


def largest_distance(*, kl):
    """Return the largest total variation distance of two coins with this KL divergence."""
    q = np.linspace(0.001, 0.999, 999)

    def farther(distance: NDArray) -> NDArray:
        p = q + distance
        return rel_entr(p, q) + rel_entr(np.maximum(1 - p, 0.0), 1 - q) > kl

    return float(np.max(first_true(farther, lower=0.0, upper=1 - q)))


def mean_loss_of_coins(*, epsilon):
    """Return the KL divergence of randomized response, the largest of any epsilon-DP pair."""
    return oracles.mean_loss(*oracles.randomized_response(epsilon))


def renyi_of_normals(*, order, mean_p, std_p, mean_q, std_q):
    """Return the Rényi divergence of two Gaussians by quadrature.

    The result is [0, inf] where the integrand's variance is nearly infinite: its tails are too
    long, and its exponent suffers from cancellation.
    """
    inverse = order * std_q**2 + (1 - order) * std_p**2
    if 0 < inverse < 1e-3 * order * std_q**2:
        return Interval(0.0, math.inf)
    p, q = oracles.log_normal(mean_p, std_p), oracles.log_normal(mean_q, std_q)
    return oracles.density_renyi(p, q, order, -1e6, 1e6)


@formula("G-A4", "Rényi divergence of two Gaussians")
@given("std_p > 0 and std_q > 0 and order >= 0", order=Log(0.05, 50.0, also=(1.0,)),
       mean_p=Linear(-3.0, 3.0), std_p=Log(0.2, 5.0), mean_q=Linear(-3.0, 3.0), std_q=Log(0.2, 5.0))
@identity("van Erven & Harremoës 2014, equation (10)", renyi_of_normals)
@setting("two normal laws, Rényi divergence of order α", "两个正态分布的 α 阶 Rényi 散度", "rdp",
         "normal gauss")
@setting("Gaussian noise of standard deviation σ, RDP of order α", "标准差 σ 的高斯噪声，α 阶 RDP",
         "rdp", "gauss normal 高斯", into=lambda noise_multiplier: {"mean_p": 0.0, "mean_q": 1.0,
         "std_p": noise_multiplier, "std_q": noise_multiplier}, order=ORDER, noise_multiplier=NOISE)
@setting("k releases with Gaussian noise σ, RDP of order α", "k 次高斯噪声发布的 α 阶 RDP", "rdp",
         REPEATED, into=lambda noise_multiplier, steps: {"mean_p": 0.0, "mean_q": math.sqrt(steps),
         "std_p": noise_multiplier, "std_q": noise_multiplier}, order=ORDER, noise_multiplier=NOISE,
         steps=COUNT)
@setting("KL divergence of two Gaussians at distance Δ", "相距 Δ 的两个高斯分布的 KL 散度", "kl",
         "gauss normal 高斯", into=lambda noise_multiplier: {"order": 1.0, "mean_p": 0.0, "mean_q":
         1.0, "std_p": noise_multiplier, "std_q": noise_multiplier}, noise_multiplier=NOISE)
@printed("0.470263017683", order=2.0, mean_p=0.0, std_p=1.0, mean_q=1.0, std_q=1.5)
@wrong("no-root", "The logarithm holds the square root; with its square a divergence is negative.",
       f"{_GAP} + log({_VARIANCE}/{_STDS})/(1 - order)", says=r"\frac{\alpha(\mu_0-\mu_1)^2}{2"
       r"\sigma_\alpha^2} + \frac1{1-\alpha} "
       r"\ln\frac{\sigma_\alpha^2}{\sigma_0^{1-\alpha}\sigma_1^\alpha}",
       given=f"order != 1 and {_VARIANCE} > 0")
@wrong("no-condition", "Where P is too wide for Q the divergence is infinite.",
       f"{_GAP} + (0.5*log(abs({_VARIANCE})) - log({_STDS}))/(1 - order)",
       says=r"\text{the same with } |\sigma_\alpha^2| \text{, for all } \alpha > 1",
       given=f"order > 1 and {_VARIANCE} != 0")
def renyi_gaussian(*, order, mean_p, std_p, mean_q, std_q):
    r"""D_\alpha\big(N(\mu_0,\sigma_0^2)\Vert N(\mu_1,\sigma_1^2)\big)
    = \frac{\alpha(\mu_0-\mu_1)^2}{2\sigma_\alpha^2} + \frac1{1-\alpha}
    \ln\frac{\sigma_\alpha}{\sigma_0^{1-\alpha}\sigma_1^\alpha},\quad
    \sigma_\alpha^2 = (1-\alpha)\sigma_0^2 + \alpha\sigma_1^2 > 0, else \infty

    At distance 1 and with one deviation it is alpha/(2sigma^2)."""
    gap, log_ratio = (mean_p - mean_q) ** 2, math.log(std_q / std_p)
    if order == math.inf:
        if std_p >= std_q:
            return 0.0 if gap == 0 and std_p == std_q else math.inf
        return log_ratio + gap / (2 * (std_q**2 - std_p**2))
    if order == 1:
        return log_ratio + (std_p**2 + gap) / (2 * std_q**2) - 0.5
    variance = (1 - order) * std_p**2 + order * std_q**2
    if variance <= 0:
        return math.inf
    log_term = 0.5 * math.log(variance) - (1 - order) * math.log(std_p) - order * math.log(std_q)
    return order * gap / (2 * variance) + log_term / (1 - order)


@formula("G-A8", "Rényi divergence of the Laplace mechanism")
@given("order > 1 and scale > 0", order=Log(1.02, 300.0), scale=Log(0.05, 50.0))
@identity("Mironov 2017, Proposition 6", lambda order, scale:
          oracles.density_renyi(oracles.log_laplace(0.0, scale), oracles.log_laplace(1.0, scale),
          order, -800 * scale - 1, 800 * scale + 1, kinks=[0, 1]))
@setting("Laplace noise of scale b, RDP of order α", "尺度 b 的拉普拉斯噪声，α 阶 RDP", "rdp",
         "lap 拉普拉斯", order=ORDER, scale=NOISE)
@setting("Laplace noise of scale Δ/ε, RDP of order α", "尺度 Δ/ε 的拉普拉斯噪声，α 阶 RDP", "rdp",
         "lap 拉普拉斯", into=lambda epsilon: {"scale": 1 / epsilon}, order=ORDER, epsilon=LOSS)
@printed("0.7468281411", order=3.0, scale=1.0)
@printed("0.9965294", order=200.0, scale=1.0)
@wrong("square", "Of the shape of the Gaussian's: an upper bound twice too large, and no value.",
       "order / scale**2")
@wrong("deviation-for-scale", "The variance of a Laplace law of scale b is 2 b^2.",
       lambda order, scale: renyi_laplace(order=order, scale=math.sqrt(2) * scale),
       says=r"D_\alpha \text{ with the standard deviation } \sqrt2\,b \text{ for } b")
def renyi_laplace(*, order, scale):
    r"""D_\alpha = \frac1{\alpha-1}\ln\Big\{\frac{\alpha}{2\alpha-1}e^{(\alpha-1)/b}
    + \frac{\alpha-1}{2\alpha-1}e^{-\alpha/b}\Big\}"""
    # ln(1 + w (e^x - 1) + v (e^-y - 1)) with w + v = 1: free of cancellation where b is large.
    up, down = order / (2 * order - 1), (order - 1) / (2 * order - 1)
    if (order - 1) / scale > 1:
        logs = math.log(up) + (order - 1) / scale, math.log(down) - order / scale
        return float(np.logaddexp(*logs)) / (order - 1)
    gain = up * math.expm1((order - 1) / scale) + down * math.expm1(-order / scale)
    return math.log1p(gain) / (order - 1)


@formula("G-A9", "Rényi divergence of randomized response")
@given("0 < truth < 1 and order > 0", truth=Linear(0.01, 0.99), order=Log(0.05, 200.0, also=(1.0,)))
@identity("Mironov 2017, Proposition 5",
          lambda truth, order: oracles.finite_renyi([truth, 1 - truth], [1 - truth, truth], order))
@setting("randomized response of one bit, truth with chance p, RDP of order α",
         "一位随机应答（以概率 p 说真话）的 α 阶 RDP", "rdp", "respon coin bit", truth=Linear(0.51,
         0.99), order=ORDER)
@printed("0.8467268305", truth=1 / (1 + math.exp(-1)), order=3.0)
@printed("0.4621171573", truth=1 / (1 + math.exp(-1)), order=1.0)
def renyi_randomized_response(*, truth, order):
    r"""D_\alpha = \frac1{\alpha-1}\ln\big(p^\alpha(1-p)^{1-\alpha} + (1-p)^\alpha p^{1-\alpha}\big)

    truth: In (0, 1); replacing the record swaps truth and lie"""
    epsilon = math.log(truth) - math.log1p(-truth)
    if order == 1:
        return epsilon * math.tanh(epsilon / 2)
    # p^a (1-p)^(1-a) = p e^((a-1) eps), and likewise with p and 1-p exchanged.
    logs = np.array([math.log(truth), math.log1p(-truth)])
    total = np.logaddexp.reduce(logs + (order - 1) * epsilon * np.array([1, -1]))
    return float(total) / (order - 1)


@formula("G-A10", "Pinsker's inequality")
@given("kl >= 0", _KL_PAIR)
@upper("Tsybakov 2009, Lemma 2.5", _total_variation)
@setting("total variation of two laws by their KL divergence", "由 KL 散度界定的总变差", "adv",
         "kl pinsker", kl=Log(1e-3, 2.0))
@printed("0.3707339", "0.3", at=_WORKED_PAIR)
@wrong("whole-distance", "The sum of |p - q| is twice the total variation distance.",
       says=r"\lVert P - Q\rVert_1 \le \sqrt{\mathrm{KL}(P\Vert Q)/2}",
       oracle=lambda p, q: float(np.sum(np.abs(np.subtract(p, q)))))
@wrong("no-half", "True, but too large by a factor of 1.4 for nearly equal laws.", "sqrt(kl)",
       says=r"\mathrm{TV} \le \sqrt{\mathrm{KL}} \text{ and no constant is better}",
       kind="identity", oracle=largest_distance, without="p q", kl=Log(1e-4, 0.5))
def pinsker(*, kl):
    r"""\mathrm{TV}(P,Q) = H_1(P\Vert Q) \le \sqrt{\mathrm{KL}(P\Vert Q)/2}"""
    return math.sqrt(kl / 2)


@formula("G-A10b", "The inequality of Bretagnolle and Huber")
@given("kl >= 0", _KL_PAIR)
@upper("Tsybakov 2009, Lemma 2.6", _total_variation)
@setting("total variation of two laws by their KL divergence", "由 KL 散度界定的总变差", "adv",
         "kl", kl=Log(1e-3, 2.0))
@printed("0.4902471", "0.3", at=_WORKED_PAIR)
def bretagnolle_huber(*, kl):
    r"""\mathrm{TV}(P,Q) \le \sqrt{1 - e^{-\mathrm{KL}(P\Vert Q)}}"""
    return math.sqrt(-math.expm1(-kl))


@formula("G-A12", "Mean privacy loss under pure DP")
@given("epsilon >= 0", p=Distribution(3, zeros=False), q=Distribution(3, zeros=False),
       epsilon=Derived(lambda p, q: max(max_divergence(p, q), max_divergence(q, p))))
@upper("Bun & Steinke 2016, Proposition 3.3", oracles.mean_loss)
@setting("two laws within e^ε of each other, KL divergence", "比值不超过 e^ε 的两个分布的 KL 散度",
         "kl", "pure indisting bound coin", below="exact", epsilon=LOSS)
@printed("0.4621171573", "0.4621171573", epsilon=1.0,
         at=dict(zip("pq", oracles.randomized_response(epsilon=1.0), strict=True)))
@wrong("exponential", "A valid bound, but at least twice the largest mean.",
       "epsilon * expm1(epsilon)", without="p q", kind="identity", oracle=mean_loss_of_coins,
       epsilon=Log(0.01, 5.0))
@wrong("half-square", "The limit for a small epsilon; a valid bound that no pair attains.",
       "epsilon**2 / 2", without="p q", kind="identity", oracle=mean_loss_of_coins,
       epsilon=Log(0.01, 5.0))
def mean_loss_of_pure_dp(*, epsilon):
    r"""\varepsilon\text{-DP} \Rightarrow \mathrm{KL} \le
    \varepsilon\tanh\frac\varepsilon2 \le \frac{\varepsilon^2}2"""
    return epsilon * math.tanh(epsilon / 2)
