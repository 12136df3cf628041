r"""Mechanisms on a random sample of records: a Poisson sample, or a subset of fixed size.

For a Poisson sample and a Gaussian base take P = (1-q)N(0) + qN(1) and Q = N(0). Write
:math:`f = dP/dQ`, so that :math:`E_Q f = 1`. Rényi divergences are computed from

.. math:: X_\alpha = E_Q[f^\alpha] - 1 = E_Q[f^\alpha - 1 - \alpha(f - 1)],

an integral of terms >= 0, by the trapezoidal rule on the real line; subtracting 1 at the end
would lose all digits at small q. The integrand is analytic in a strip of half-width
:math:`a = \min(\pi\sigma, \sqrt{2L})`, so the step in the code leaves a relative error of order
:math:`e^{-L}`; the published alternating series for fractional orders decays only like
:math:`k^{-\alpha-2}` and cancels.
"""

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.core.logspace import log_bernoulli, log_sum
from dplearn.engine.contour import SampledGaussian
from dplearn.engine.profile import Profile
from dplearn.mechanisms._base import Outputs, Sampled
from dplearn.mechanisms._noise import Noise
from dplearn.mechanisms.gaussian import Gaussian
from dplearn.mechanisms.laplace import Laplace

_LOG_ACCURACY = 39.0
_LEAST_NOISE = 0.02  # with less noise the integral needs too many nodes
Pair = TypeVar("Pair", Profile, Outputs)


@dataclass(frozen=True)
class PoissonSubsampled(Sampled):
    r"""A mechanism that runs on a Poisson sample of the records.

    Under ``add_remove`` (and ``zero_out``, where the record contributes nothing)
    the exact pairs are ((1-q)Q + qP, Q) and its reverse (Li, Qardaji & Su 2012;
    Balle, Barthe & Gaboardi 2018, Theorem 8; Mironov, Talwar & Zhang 2019, section 3.3).

    Under ``replace_one`` both laws are mixtures. For noise whose density f is even and log-concave
    :math:`P^* = (1-q)f_0 + qf_1` and :math:`Q^* = (1-q)f_0 + qf_{-1}` dominate, f_m the noise moved
    by m, and are attained (for the Gaussian Lebeda, Regehr, Kamath & Steinke 2025; Schuchardt et
    al. 2024, Theorem 3.8). *Proof.* Given the other records that are drawn, the laws are
    :math:`P = (1-q)f_0 + qf_u`, :math:`Q = (1-q)f_0 + qf_v` with norms of u and v of at most 1, and
    hockey-stick divergences are jointly convex. For :math:`\alpha \ge 1` let
    :math:`a = (\alpha-1)(1-q)`, :math:`b = \alpha q`. As :math:`f_0/f_1` and :math:`f_{-1}/f_1`
    fall, :math:`qf_1 > af_0 + bf_{-1}` on a half-line. Split :math:`q = q_1 + q_2` so that
    :math:`q_1f_1 = af_0` and :math:`q_2f_1 = bf_{-1}` at its end (or, at a jump, so that both
    differences change sign there). Then

    .. math:: H_\alpha(P\Vert Q) \le \int(q_1f_u - af_0)_+ + \int(q_2f_u - bf_v)_+
              \le \int(q_1f_1 - af_0)_+ + \int(q_2f_1 - bf_{-1})_+ = H_\alpha(P^*\Vert Q^*),

    since divergences grow with the distance of the two noises, here at most 1 and 2. For
    :math:`\alpha < 1` swap the pair, which is symmetric. ∎

    Parameters
    ----------
    base : Mechanism. What is run on the sample.
    sample_rate : float. Chance of each record to enter, in (0, 1].
    """

    name = "poisson_subsampled"
    fields_of_examples = ((Gaussian(1.0), 0.01), (Gaussian(4.0), 1.0), (Laplace(1.0), 0.1))
    conditions = (
        "Poisson sampling, fresh each step",
        "the number of records drawn is neither published nor divided by",
        "a record that is not drawn contributes 0",
        "what a record contributes does not depend on other records",
    )

    @property
    def attained(self) -> bool:
        return self.base.attained

    def require_theorem(self, adjacency: Adjacency) -> None:
        super().require_theorem(adjacency)
        if self._replaces(adjacency) and not isinstance(self.base, Noise):
            why = "a replaced record has a theorem where the base adds noise, else use 'add_remove'"
            raise validate.unsupported("adjacency='replace_one' for Poisson sampling", why)

    def _replaces(self, adjacency: Adjacency) -> bool:
        return adjacency == "replace_one" and self.sample_rate < 1

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        if self._replaces(adjacency):
            return (self.base.replaced(self.sample_rate)[0],)  # type: ignore[attr-defined]
        return self._mixed(self.base.profiles(adjacency))

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        """Return profiles of pairs in which all other records contribute nothing."""
        if self._replaces(adjacency):
            return (self.base.replaced(self.sample_rate)[1],)  # type: ignore[attr-defined]
        return self._mixed(self.base.witnesses(adjacency))

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        if self._replaces(adjacency):
            return (self.base.replaced_outputs(self.sample_rate),)  # type: ignore[attr-defined]
        return self._mixed(self.base.outputs(adjacency))

    def sampled_gaussians(self, adjacency: Adjacency = "add_remove") -> tuple[SampledGaussian, ...]:
        sides = ("replace",) if self._replaces(adjacency) else ("remove", "add")
        return self._pairs("add_remove", *sides)

    def _mixed(self, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        if self.sample_rate == 1.0 or not pairs:
            return pairs
        # For an added record, mix the reversed pair.
        behind = pairs[1].reverse() if len(pairs) == 2 else pairs[0]
        remove, add = (pair.mix_first(self.sample_rate) for pair in (pairs[0], behind))
        return remove, add.reverse()

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray | None:
        """Return Rényi divergences for a Gaussian base (Mironov et al. 2019, Theorem 5)."""
        if not isinstance(self.base, Gaussian) or self._replaces(adjacency):
            return None
        if self.sample_rate == 1.0 or self.base.noise_multiplier == 0:
            return self.base.rdp(orders, adjacency=adjacency)
        sigma, q, log_x = self.base.noise_multiplier, self.sample_rate, np.empty(orders.shape)
        if sigma < _LEAST_NOISE:
            # Minkowski's inequality for the two terms of f is tight for little noise.
            exponent = (orders - 1) / (2 * sigma**2)
            return orders / (orders - 1) * np.logaddexp(math.log1p(-q), math.log(q) + exponent)
        # Orders between two powers of 2 share their quadrature nodes.
        octave = np.floor(np.log2(orders))
        for number in np.unique(octave):
            chunk = octave == number
            log_x[chunk] = _log_excess_integral(orders[chunk], sigma, q)
        return np.logaddexp(0.0, log_x) / (orders - 1)


def _log_excess_integral(orders: NDArray, sigma: float, q: float) -> NDArray:
    """Return log(E[f^alpha] - 1) by the trapezoidal rule, at orders between two powers of 2."""
    octave = 2 ** np.floor(np.log2(np.min(orders)))
    a = min(math.pi * sigma, math.sqrt(2 * _LOG_ACCURACY))
    step = 2 * math.pi / (0.5 * a + _LOG_ACCURACY / a)
    # f^alpha exp(-u^2 / 2) is negligible outside [-9.5, alpha / sigma + 9.5]. Far beyond
    # alpha = 4 sigma^2 ln(1/q) it has two separate peaks, at u = 0 and u = alpha / sigma.
    far = max(4 * sigma**2 * (3 + 2 * math.log(1 / q)), 3 + 20 * sigma)
    if octave > far and 2 * octave / sigma > 1000 * step:
        centre, v = np.ceil(orders / sigma / step)[:, None] * step, np.arange(-9.5, 9.5, step)
        origin = np.arange(-9.5, 9.5 + 3 / sigma, step)
        u = np.concatenate([np.tile(origin, (orders.size, 1)), centre + v], axis=1)
    else:
        u = np.arange(-9.5, 9.5 + (2 * octave + 1) / sigma, step)
    drift = u / sigma - 0.5 / sigma**2
    # Compute f - 1 and log f without cancellation.
    excess = q * np.expm1(np.minimum(drift, 600.0))
    log_f = np.logaddexp(math.log1p(-q), math.log(q) + drift)
    log_f = np.where(np.abs(excess) < 0.5, np.log1p(np.minimum(excess, 0.5)), log_f)
    log_terms = log_bernoulli(orders[:, None], excess, log_f) - 0.5 * u * u
    # The sum of terms is 0, its log -inf, where q^2 underflows.
    return log_sum(log_terms) + math.log(step / math.sqrt(2 * math.pi))


@dataclass(frozen=True)
class WithoutReplacement(Sampled):
    r"""A mechanism that runs on a uniformly drawn subset of fixed size.

    The theorem is for ``replace_one``: the subset's neighbour differs in one *replaced*
    record, so the base pair (P, Q) is the replace-one pair (for the Gaussian N(2), N(0) in
    contribution norms). The profile is at most that of ((1-q)Q + qP, Q)
    where e^eps >= 1 and that of (P, (1-q)P + qQ) where e^eps < 1; both halves together
    are the profile of one pair, which therefore also dominates every adaptive composition
    (Balle, Barthe & Gaboardi 2018, Theorem 9; Zhu, Dong & Wang 2022, Theorem 11).

    No two datasets attain both halves, so that pair is not a witness. For witnesses, let all other
    records equal the replaced record. Without the new record every subset is the same and the
    output has law Q; with it the law is (1-q)Q + qP. This pair of laws and its reverse are real,
    and each attains one half. This needs a base that gives one answer about the whole subset; if
    members answer individually, or are sampled again, the other records hide the new one.

    Parameters
    ----------
    base : Mechanism. What is run on the subset.
    sample_rate : float. Subset size / dataset size, in (0, 1].
    """

    name = "without_replacement"
    fields_of_examples = ((Gaussian(2.0), 0.1), (Gaussian(1.0), 1.0), (Laplace(2.0), 0.01))
    conditions = ("a fresh subset of fixed size each step",)
    adjacencies = ("replace_one",)
    refusal = (
        "sampling without replacement",
        "a subset of fixed size has a theorem under 'replace_one' only",
    )

    @property
    def attained(self) -> bool:
        # No pair of neighbours attains the profile both at epsilon >= 0 and at epsilon < 0.
        return self.sample_rate == 1.0 and self.base.attained

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        joined = []
        for pair in self.base.profiles("replace_one"):
            above, below = (p.mix_first(self.sample_rate) for p in (pair, pair.reverse()))
            kinks = np.append(above.kinks, below.kinks)
            tails = (above.log_tail_of, below.log_tail_of)
            joined.append(Profile(above.log_delta_of, below.log_delta_of, kinks, *tails))
        return tuple(joined)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        pairs = self.base.witnesses("replace_one")
        if self.sample_rate == 1.0 or not pairs:
            return pairs
        if isinstance(self.base, PoissonSubsampled) and self.base.sample_rate < 1:
            return ()
        pair = pairs[0].mix_first(self.sample_rate)
        return (pair, pair.reverse())

    def sampled_gaussians(self, adjacency: Adjacency = "add_remove") -> tuple[SampledGaussian, ...]:
        return self._pairs("replace_one", "remove", "add")

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        """Return output distributions of neighbours that attain the profile at epsilon >= 0."""
        pairs = self.base.outputs("replace_one")
        if self.sample_rate == 1.0:
            return pairs
        return tuple(pair.mix_first(self.sample_rate) for pair in pairs)
