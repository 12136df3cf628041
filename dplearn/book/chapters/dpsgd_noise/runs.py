"""What a run of noisy steps leaks: by divergences, by moments, in the limit of many steps."""

import math
from collections.abc import Callable

import numpy as np

from dplearn.accountants.theorems import rdp_to_epsilon, rdp_to_epsilon_mironov
from dplearn.book.chapters.amplification.truths import certified_epsilon
from dplearn.book.chapters.dpsgd_noise import truths
from dplearn.book.chapters.gaussian.entries import gaussian_epsilon
from dplearn.book.chapters.sampled_gaussian.divergences import sampled_gaussian_rdp
from dplearn.book.kit.domains import Choice, Log, Whole
from dplearn.book.kit.entry import formula, given, oracle, printed, typed, wrong
from dplearn.ground import validate
from dplearn.ground.solve import maximise

_GIVEN = "noise_multiplier > 0 and 0 < sample_rate <= 1 and steps >= 1 and 0 < delta < 1"
_RUN = {"noise_multiplier": Log(0.5, 10.0), "sample_rate": Log(1e-3, 1.0),
        "steps": Whole(1, 10_000), "delta": Log(1e-9, 0.01)}


def _setting(sample_rate: float, noise_multiplier: float, steps: int) -> dict[str, float]:
    setting = {"noise_multiplier": noise_multiplier, "sample_rate": sample_rate, "steps": steps}
    return {**setting, "delta": 1e-5}


def _mnist(noise_multiplier: float, steps: int) -> dict[str, float]:
    return _setting(256 / 60_000, noise_multiplier, steps)


def _divergence_of_run(
    noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> Callable[[float], float]:
    """The Rényi divergence of a whole run at an order."""
    validate.positive(noise_multiplier=noise_multiplier)
    validate.rate(sample_rate=sample_rate)
    validate.integer(minimum=1, steps=steps)
    validate.probability(delta=delta)
    about = {"noise_multiplier": noise_multiplier, "sample_rate": sample_rate}
    if sample_rate == 1:
        return lambda order: steps * (order / (2 * noise_multiplier**2))
    return lambda order: steps * sampled_gaussian_rdp(order=order, **about)


def _best_order(epsilon_at: Callable[[float], float]) -> float:
    """The order in (1.01, 10001) with the smallest epsilon, a valley in ln(order - 1)."""
    value = lambda x: np.asarray(-epsilon_at(1 + math.exp(x)))
    return 1 + math.exp(maximise(value, lower=math.log(0.01), upper=math.log(1e4), shape=()))


@formula("G-F1b", "Epsilon of a DP-SGD run, improved conversion", "upper",
         "Canonne, Kamath & Steinke 2020, Proposition 12")
@given(_GIVEN, **_RUN)
@oracle(certified_epsilon, tolerance=1e-7, points=20)
@printed("2.596642", "2.38169", **_mnist(1.1, 14_063))
@printed("1.035384", "0.946867", **_setting(0.01, 4.0, 10_000))
@wrong("per-example", "With L examples in every lot the multiplier is z sqrt(L), and utility is "
       "gone; with a random number of them the amount of noise gives the lot away.",
       says=r"\varepsilon \text{ of } z \text{ where every example brings noise } N(0, z^2C^2I)",
       kind="identity", oracle=lambda noise_multiplier, batch, **run:
       certified_epsilon(noise_multiplier=noise_multiplier * math.sqrt(batch), **run),
       sample_rate=Log(1e-3, 0.5), batch=Choice(64, 256, 600))
@wrong("noise-alone", "The rate, the number of steps and delta count as much.",
       printed("4.3772", "0.148901", **_setting(0.001, 1.0, 1000)), claim=gaussian_epsilon,
       says=r"\varepsilon \text{ depends on } z \text{ alone}", kind="identity")
def dpsgd_epsilon(*, noise_multiplier, sample_rate, steps, delta):
    r"""\varepsilon \le \min_{\alpha>1} T\,D_\alpha(q, z) + \ln\frac{\alpha-1}\alpha
    - \frac{\ln\delta + \ln\alpha}{\alpha-1}"""
    rdp = _divergence_of_run(noise_multiplier, sample_rate, steps, delta)
    epsilon_at = lambda order: float(rdp_to_epsilon(order, rdp(order), delta=delta))
    return epsilon_at(_best_order(epsilon_at))


@formula("G-F1c", "Epsilon of a DP-SGD run, first conversion", "upper",
         "Mironov 2017, Proposition 3")
@given(_GIVEN, **_RUN)
@oracle(certified_epsilon, tolerance=1e-7, points=20)
@printed("3.008372", "2.38169", **_mnist(1.1, 14_063))
def dpsgd_epsilon_mironov(*, noise_multiplier, sample_rate, steps, delta):
    r"""\varepsilon \le \min_{\alpha>1} T\,D_\alpha(q, z) + \frac{\ln(1/\delta)}{\alpha-1}

    The value of `dpsgd_epsilon` is always smaller."""
    rdp = _divergence_of_run(noise_multiplier, sample_rate, steps, delta)
    epsilon_at = lambda order: float(rdp_to_epsilon_mironov(order, rdp(order), delta=delta))
    return epsilon_at(_best_order(epsilon_at))


_REFERENCE = _setting(0.01, 4.0, 10_000)


@formula("G-F2", "The moments accountant, and its reference run", "upper",
         "Abadi et al. 2016, Theorem 2; Section 5.1 for the run")
@given(_GIVEN, **_RUN)
@oracle(certified_epsilon, tolerance=1e-7, points=20)
@typed("epsilon", "poisson_subsampled_gaussian", "q*sqrt(T*log(1/delta))/sigma")
@printed("1.258575", "0.946867", **_REFERENCE)
@printed("2.575873", **_setting(0.01, 4.0, 40_000))
@printed("5.3026", "4.3772", **_setting(1.0, 1.0, 1))
@printed("11.7565", "9.9973", **_setting(1.0, 0.5, 1))
@printed("17.9951", "14.5924", **_setting(0.1, 0.7, 100))
@printed("16.8584", "13.3609", **_setting(0.01, 0.5, 1000))
@printed("14.9419", "11.0418", **_mnist(0.5, 3516))
@printed("28.5498", "25.2046", **_setting(0.1, 1.0, 1000))
@printed("3.0092", "2.3817", **_mnist(1.1, 14_063))
@wrong("shifted", "The log moment of lambda has the power lambda + 1; this is (alpha - 1) D_alpha.",
       printed("4.3026", **_setting(1.0, 1.0, 1)), printed("7.7565", **_setting(1.0, 0.5, 1)),
       printed("8.9976", **_setting(0.1, 0.7, 100)), printed("8.4292", **_setting(0.01, 0.5, 1000)),
       printed("7.4710", **_mnist(0.5, 3516)), printed("14.2749", **_setting(0.1, 1.0, 1000)),
       printed("1.1929", **_REFERENCE), printed("2.6492", **_mnist(1.1, 14_063)), claim=lambda
       **run: truths.least_epsilon(truths.WHOLE_MOMENT[1:] - 1, lambda total, log, m: (total + log)
       / (m + 1), **run), says=r"K(\alpha) = \ln E_{\mu_0}[(\mu/\mu_0)^\alpha]")
@wrong("one-step", "K must be multiplied by the number of steps first.",
       printed("0.3715", **_REFERENCE),
       claim=lambda **run: truths.least_epsilon(np.arange(1.0, 32.0), **{**run, "steps": 1}),
       says=r"\varepsilon = \min_\lambda \frac{K(\lambda) + \ln(1/\delta)}\lambda")
@wrong("orders-to-32", "Little loss asks for orders in the thousands, much loss for ones near 1.",
       printed("0.37155", "0.0153815", **_setting(0.001, 10.0, 1000)),
       printed("61.92", "33.37683", **_setting(0.01, 0.4, 1000)),
       claim=lambda **run: truths.least_epsilon(np.arange(1.0, 32.0), **run),
       says=r"\text{whole orders up to } 32 \text{ give the minimum}", kind="identity",
       oracle=lambda **run: truths.least_epsilon(truths.ANY_MOMENT, **run))
@wrong("order-kept", "True but one order too low: K/alpha is the divergence of order alpha + 1.",
       printed("1.29166", "1.258575", **_REFERENCE), claim=lambda **run:
       truths.least_epsilon(truths.WHOLE_MOMENT[1:], lambda total, log, m: total / m + log / (m -
       1), **run),
       says=r"\text{the run is } (\alpha, \textstyle\sum K/\alpha)\text{-RDP, and no better}",
       kind="identity", oracle=lambda **run: truths.least_epsilon(truths.WHOLE_MOMENT, **run))
@wrong("best", "It is an upper bound; the exact epsilon is a quarter smaller or so.",
       printed("1.258575", "0.946867", **_REFERENCE),
       says=r"\text{the minimum is the best } \varepsilon", kind="identity")
@wrong("root-of-steps", "It is inside eps_0, and beyond epsilon of about 1 the root is not enough.",
       claim="sample_rate * sqrt(2 * log(1.25 / delta)) / noise_multiplier * sqrt(steps)",
       says=r"\varepsilon \le q\sqrt T\,\varepsilon_0,\ \varepsilon_0 = \sqrt{2\ln(1.25/\delta)}/z")
def moments_accountant(*, noise_multiplier, sample_rate, steps, delta):
    r"""\varepsilon \le \min_{\lambda\in\{1,2,\dots\}} \frac{T\,K(\lambda) +
    \ln(1/\delta)}\lambda,\quad K(\lambda) = \lambda D_{\lambda+1}(q, z)"""
    rdp = _divergence_of_run(noise_multiplier, sample_rate, steps, delta)
    epsilon_at = lambda order: rdp(order) - math.log(delta) / (order - 1)
    # T K is convex in lambda: the best whole number is next to the best real one.
    below = max(1, math.floor(_best_order(epsilon_at) - 1))
    return min(epsilon_at(below + 1.0), epsilon_at(below + 2.0))


def _limit_epsilon(*, noise_multiplier, sample_rate, steps, delta):
    """Epsilon of Gaussian noise with the parameter mu that a long run approaches."""
    mu = sample_rate * math.sqrt(steps * math.expm1(1 / noise_multiplier**2))
    return gaussian_epsilon(noise_multiplier=1 / mu, delta=delta)


@formula("G-F3", "Central limit of many sampled steps", "asymptotic",
         "Bu, Dong, Long & Su 2020, Theorem 5")
@given("noise_multiplier > 0 and scaled_rate > 0 and 0 < delta < 1",
       along={"steps": (1e4, 1e6, 1e8)}, noise_multiplier=Log(0.9, 10.0), scaled_rate=Log(0.2, 2.0),
       delta=Log(1e-6, 0.01))
@oracle(lambda scaled_rate, steps, **run: certified_epsilon(sample_rate=scaled_rate /
        math.sqrt(steps), steps=int(steps), **run), tolerance=0.002, points=20)
@wrong("as-guarantee", "The limit is approached from below in most runs of interest.",
       printed("6.6015671", "6.76878", **_setting(0.04, 1.5, 2250)),
       printed("2.3243617", "2.38169", **_mnist(1.1, 14_063)),
       printed("1.341", "1.408", **_mnist(1.06, 4688)),
       printed("8.697", "9.477", **_mnist(0.638, 16_406)), claim=_limit_epsilon,
       says=r"\varepsilon \le \varepsilon_{\mu\text{-GDP}}(\delta)", given=_GIVEN, kind="upper",
       oracle=certified_epsilon, along={},
       **{**_RUN, "steps": Whole(100, 10_000), "sample_rate": Log(1e-3, 0.1), "scaled_rate": None})
def clt_of_scaled(*, noise_multiplier, scaled_rate, steps, delta):
    r"""\varepsilon(\delta) \to \varepsilon_{\mu\text{-GDP}}(\delta),\quad
    \mu = q\sqrt{T(e^{1/z^2}-1)},\quad T \to \infty,\ q\sqrt T \text{ fixed}

    scaled_rate: q sqrt(T)"""
    rate = scaled_rate / math.sqrt(steps)
    return _limit_epsilon(
        noise_multiplier=noise_multiplier, sample_rate=rate, steps=int(steps), delta=delta
    )
