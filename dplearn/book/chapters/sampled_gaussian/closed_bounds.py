"""Closed bounds on the Rényi divergences of the Poisson-sampled Gaussian, each with its limits."""

import numpy as np
from numpy.random import Generator

from dplearn.book.chapters.amplification import truths
from dplearn.book.kit.domains import Drawn, Log
from dplearn.book.kit.entry import formula, given, oracle, printed, typed, wrong
from dplearn.ground.expression import parse

_LOG = "log1p(1/(sample_rate*(order - 1)))"
_MUCH_NOISE = (
    "0 < sample_rate <= 0.2 and noise_multiplier >= 4 and order > 1"
    f" and order <= noise_multiplier**2*{_LOG}/2 - 2*log(noise_multiplier)"
    f" and order*({_LOG} + log(sample_rate*order) + 0.5/noise_multiplier**2)"
    f" <= noise_multiplier**2*{_LOG}**2/2 - log(5) - 2*log(noise_multiplier)"
)
_TRUNCATED = (
    "0 < sample_rate <= 0.1 and noise_multiplier**2 >= 5"
    " and 1 < order <= noise_multiplier**2*log(1/sample_rate)/2"
)
_BELOW_TRANSITION = (
    "noise_multiplier >= 1 and 0 < sample_rate < 1/(16*noise_multiplier)"
    " and 0 < moment <= noise_multiplier**2*log(1/(sample_rate*noise_multiplier))"
)


def _require(hypothesis: str, **values: float) -> None:
    if not parse(hypothesis)(**values):
        raise ValueError(f"Expected {hypothesis}: nothing is proved elsewhere.")


def _admitted(hypothesis: str, name: str) -> Drawn:
    """Orders or moments of a grid that meet a hypothesis, the largest one often."""
    holds, grid = parse(hypothesis), np.geomspace(1.01, 2000.0, 120).round(3)

    def make(rng: Generator, noise_multiplier: float, sample_rate: float) -> float:
        settings = {"noise_multiplier": noise_multiplier, "sample_rate": sample_rate}
        good = grid[holds(**{name: grid}, **settings)].tolist() or [1.01]
        return good[-1] if rng.random() < 0.4 else good[int(rng.integers(len(good)))]

    return Drawn(make)


@formula("G-E8", "Closed bound on the sampled Gaussian: much noise", "upper",
         "Mironov, Talwar & Zhang 2019, Table 1, Theorem 11")
@given(_MUCH_NOISE, noise_multiplier=Log(4.0, 50.0), sample_rate=Log(1e-3, 0.2),
       order=_admitted(_MUCH_NOISE, "order"))
@oracle(truths.sampled_renyi)
@typed("rdp", "poisson_subsampled_gaussian", "2*q^2*alpha/sigma^2")
@wrong("any-order", "Beyond the phase transition the divergence is nearly that without sampling.",
       claim="2 * sample_rate**2 * order / noise_multiplier**2",
       given="0 < sample_rate <= 0.2 and noise_multiplier >= 4", order=Log(1.01, 1000.0))
def sampled_gaussian_rdp_much_noise(*, order, noise_multiplier, sample_rate):
    r"""D_\alpha \le \frac{2q^2\alpha}{\sigma^2} \text{ if } L = \ln\Big(1 +
    \frac1{q(\alpha-1)}\Big),\ \alpha \le \tfrac12\sigma^2L - 2\ln\sigma,\ \alpha \le
    \frac{\sigma^2L^2/2 - \ln5 - 2\ln\sigma}{L + \ln(q\alpha) + 1/(2\sigma^2)}"""
    _require(_MUCH_NOISE, order=order, noise_multiplier=noise_multiplier, sample_rate=sample_rate)
    return 2 * sample_rate**2 * order / noise_multiplier**2


@formula("G-E8b", "Closed bound on the sampled Gaussian: truncated concentration", "upper",
         "Bun, Dwork, Rothblum & Steinke 2018, Theorem 11")
@given(_TRUNCATED, noise_multiplier=Log(2.2360680, 50.0), sample_rate=Log(1e-3, 0.1),
       order=_admitted(_TRUNCATED, "order"))
@oracle(truths.sampled_renyi)
@typed("rdp", "poisson_subsampled_gaussian", "6*q^2*alpha/sigma^2")
@wrong("any-order", "The truncation in truncated concentrated DP is this condition.",
       claim="6 * sample_rate**2 * order / noise_multiplier**2",
       given="0 < sample_rate <= 0.1 and noise_multiplier**2 >= 5", order=Log(1.01, 1000.0))
def sampled_gaussian_rdp_truncated(*, order, noise_multiplier, sample_rate):
    r"""D_\alpha \le \frac{6q^2\alpha}{\sigma^2}"""
    _require(_TRUNCATED, order=order, noise_multiplier=noise_multiplier, sample_rate=sample_rate)
    return 6 * sample_rate**2 * order / noise_multiplier**2


@formula("G-E8c", "Main term of the moments accountant's lemma", "upper",
         "Abadi et al. 2016, Lemma 3, without its remainder")
@given(_BELOW_TRANSITION, noise_multiplier=Log(1.0, 20.0), sample_rate=Log(1e-4, 0.06),
       moment=_admitted(_BELOW_TRANSITION, "moment"))
@oracle(truths.log_moment)
@typed("rdp", "poisson_subsampled_gaussian", "q^2*alpha/((1-q)*sigma^2)")
@printed("0.00035353535", "0.00018129386", moment=7.0, noise_multiplier=4.0, sample_rate=0.01)
@wrong("any-moment", "The remainder grows with lambda^3, and the conditions keep it small.",
       claim="sample_rate**2 * moment * (moment + 1) / ((1 - sample_rate) * noise_multiplier**2)",
       given="noise_multiplier > 0 and 0 < sample_rate < 1 and moment > 0", moment=Log(1.0, 64.0),
       noise_multiplier=Log(0.5, 10.0), sample_rate=Log(1e-3, 0.3))
def log_moment_main_term(*, moment, noise_multiplier, sample_rate):
    r"""K(\lambda) \le \frac{q^2\lambda(\lambda+1)}{(1-q)\sigma^2}

    The lemma adds a remainder :math:`O(q^3\lambda^3/\sigma^3)`. That the main term alone is
    enough within the conditions is seen by computation, not proved."""
    at = {"noise_multiplier": noise_multiplier, "sample_rate": sample_rate}
    _require(_BELOW_TRANSITION, moment=moment, **at)
    return sample_rate**2 * moment * (moment + 1) / ((1 - sample_rate) * noise_multiplier**2)
