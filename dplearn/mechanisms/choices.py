"""Mechanisms that release a choice: one of several candidates or answers."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.core.logspace import exp_rest, log1mexp, log_expm1
from dplearn.core.solve import maximise
from dplearn.engine.profile import Profile
from dplearn.mechanisms._base import Mechanism, Outputs, contribution_norm
from dplearn.mechanisms.laplace import Laplace


@dataclass(frozen=True)
class ExponentialMechanism(Mechanism):
    r"""Choice of candidate r with probability proportional to :math:`e^{\varepsilon u(r)/2\Delta}`.

    The profile, with argument x, is the largest of all mechanisms of bounded range,
    :math:`\delta(x) = (1 - e^{-(\varepsilon - x)/2})^2 / (1 - e^{-\varepsilon})`: an upper bound
    that composes adaptively, not the profile of one score table (McSherry & Talwar 2007; Dong,
    Durfee & Rogers 2020, Lemma 3.2).

    Parameters
    ----------
    range_epsilon : float. epsilon > 0 in the formula, where Delta is the most that adding or
        removing one record changes any score. Privacy losses of one pair then span an interval of
        length at most epsilon ("bounded range"), twice that under replace_one.
    """

    range_epsilon: float

    name = "exponential"
    fields_of_examples = ((1.0,), (0.1,), (4.0,))
    conditions = ("every score changes by at most its sensitivity",)
    attained: ClassVar[bool] = False
    no_outputs = "the worst table of scores is another one at every ε"

    def __post_init__(self) -> None:
        validate.scale(range_epsilon=self.range_epsilon)

    def _range(self, adjacency: Adjacency) -> float:
        return contribution_norm(adjacency) * self.range_epsilon

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        span = self._range(adjacency)

        def log_delta(epsilon: NDArray) -> NDArray:
            return 2 * log1mexp(np.minimum(epsilon - span, 0.0) / 2) - log1mexp(-span)

        return (Profile(log_delta, kinks=[span]),)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Return the largest divergence of Bernoulli distributions with losses t and t - eps.

        For t in [0, eps] they are the worst pairs of bounded range (Dong, Durfee & Rogers 2020);
        the integral of the profile would be larger.
        """
        span = self._range(adjacency)

        def divergence(t: NDArray) -> NDArray:
            log_q = log1mexp(t - span) - t - log1mexp(-span)  # log mass of loss t under Q
            log_rest = log1mexp(-t) - log1mexp(-span)
            total = np.logaddexp(log_q + orders * t, log_rest + orders * (t - span))
            return np.maximum(total, 0.0) / (orders - 1)

        return divergence(maximise(divergence, lower=0.0, upper=span, shape=orders.shape))

    def _zcdp(self, adjacency: Adjacency) -> float:
        return bounded_range_zcdp(epsilon=self._range(adjacency))


def bounded_range_zcdp(*, epsilon: float) -> float:
    r"""Return the largest zCDP rho of mechanisms whose losses span at most `epsilon`.

    With :math:`f(x) = \ln\frac{\sinh(x\varepsilon/2)}{x\varepsilon/2}` the worst pair of order
    alpha has :math:`(\alpha-1)D_\alpha = \alpha f(\alpha) - (\alpha-1)f(\alpha-1) - f(1)`, and f is
    a sum of terms :math:`\ln(1 + cx^2)`. For each term, the second derivative of x f(x) divided by
    x falls in x, so that its mean over :math:`[y^2, (1+y)^2]`, as a function of :math:`x^2`, is no
    larger than over [0, 1]; hence :math:`D_\alpha \le \alpha D_1` (Harrison & Manurangsi 2026,
    arXiv 2510.25746).
    """
    ratio = exp_rest(epsilon) / epsilon if epsilon < 1 else 0.0
    log_ratio = math.log1p(ratio) or float(log_expm1(epsilon)) - math.log(epsilon)
    return float(exp_rest(-log_ratio))


@dataclass(frozen=True)
class PermuteAndFlip(Mechanism):
    r"""Choice of the candidate whose score plus exponential noise is largest.

    The scale is :math:`2\Delta/\varepsilon`. Equivalently, visit the candidates r in random order
    and accept each with probability :math:`e^{\varepsilon(u(r) - \max u)/2\Delta}` (McKenna &
    Sheldon 2020; Ding et al. 2021). The profile is that of Laplace noise of multiplier 1/epsilon.
    At every x, two candidates with a suitable gap attain it, since the difference of two noises is
    Laplace. More candidates leak no more: the probability G that the winner lies in a set rises
    with the set's lead, and :math:`|G'| \le \min(G, 1 - G)`, with equality for Laplace, since the
    largest of independent noises has no larger hazard rate than one noise. Losses are not of
    bounded range, so compositions leak more than those of `ExponentialMechanism`.

    Parameters
    ----------
    gap_epsilon : float. epsilon > 0 in the formula, where Delta is the most that adding or removing
        one record changes any score. One release is epsilon-DP, and of no smaller one.
    """

    gap_epsilon: float

    name = "permute_and_flip"
    fields_of_examples = ((1.0,), (0.1,), (4.0,))
    conditions = ("every score changes by at most its sensitivity",)
    attained: ClassVar[bool] = False
    no_outputs = "the worst table of scores is another one at every ε"

    def __post_init__(self) -> None:
        validate.scale(gap_epsilon=self.gap_epsilon)

    @property
    def gap(self) -> Laplace:
        """Laplace release of the gap between two scores, with the profile of permute-and-flip."""
        return Laplace(1 / self.gap_epsilon)

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return self.gap.profiles(adjacency)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        # The first of two candidates leads in P and trails in Q by half the distance of neighbours.
        behind = -self.gap.shift(adjacency) / 2 - math.log(2)
        wins = (float(log1mexp(behind)), behind)
        return (Profile.from_atoms(wins, wins[::-1]),)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        return self.gap.rdp(orders, adjacency=adjacency)

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        return self.gap.zcdp(adjacency)


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    r"""Randomised answers: the true answer with probability p, all others equally likely.

    The optimal local mechanism for pure DP (Warner 1965; Kairouz, Oh & Viswanath 2016 for k
    answers). The respondents are fixed and one of them changes the answer, so only
    ``replace_one`` applies.

    Parameters
    ----------
    local_epsilon : float. ln(p / r) > 0 where p is the chance of the true answer and r that of each
        other one.
    answers : int. Number k >= 2 of possible answers; p = e^eps / (e^eps + k - 1).
    """

    local_epsilon: float
    answers: int = 2

    name = "randomized_response"
    fields_of_examples = ((1.0,), (0.1,), (3.0, 10))
    conditions = ("each respondent answers once",)
    adjacencies = ("replace_one",)
    refusal = ("randomized_response", "its respondents are fixed, use 'replace_one'")

    def __post_init__(self) -> None:
        validate.scale(local_epsilon=self.local_epsilon)
        validate.integer(minimum=2, answers=self.answers)

    @classmethod
    def from_probability(cls, *, truth: float, answers: int = 2) -> Self:
        """Return the mechanism whose answer is true with probability `truth` in (1/answers, 1)."""
        validate.probability(truth=truth)
        validate.integer(minimum=2, answers=answers)
        if truth * answers <= 1:
            raise ValueError(f"Expected truth > 1/answers = {1 / answers:g}, got truth={truth!r}.")
        return cls(math.log(truth) - math.log1p(-truth) + math.log(answers - 1), answers)

    @property
    def _log_masses(self) -> tuple[float, float]:
        total = float(np.logaddexp(self.local_epsilon, math.log(self.answers - 1)))
        return self.local_epsilon - total, -total

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        log_p, log_r = self._log_masses
        # Answers that are true for neither of the neighbours have loss 0: merge them into one atom.
        others = [log_r + math.log(self.answers - 2)] if self.answers > 2 else []
        return (Profile.from_atoms([log_p, log_r, *others], [log_r, log_p, *others]),)

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        """Return the distributions of the reported answer if the true answer is 0 (P) and 1 (Q)."""
        log_p, log_r = self._log_masses
        law = lambda truth: lambda x: np.where(x == truth, log_p, log_r)
        return (Outputs(law(0), law(1), 0, self.answers - 1, whole=True, label="reported answer"),)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Return Rényi divergences (Mironov 2017, Proposition 5), without cancellation."""
        more, loss = orders - 1, self.local_epsilon
        log_rise = self._log_masses[0] + log_expm1(more * loss) + log1mexp(-orders * loss)
        return np.logaddexp(0.0, log_rise) / more

    def _zcdp(self, adjacency: Adjacency) -> float:
        """Return rho = eps (p - r) for k <= 2 + 4 exp(eps/2) answers, else an upper bound.

        M of module `_noise` is 2 sqrt(pr) cosh(s eps) + (k - 2) r. For these k ln M is concave in
        s^2; more answers leak less (Harrison & Manurangsi 2026, arXiv 2510.25746, for k <= 6).
        """
        gain, lie = -math.expm1(-self.local_epsilon), math.exp(-self.local_epsilon)
        return self.local_epsilon * gain / (gain + min(self.answers * lie, 2 * lie + 4 * lie**0.5))

    def release(
        self, value: ArrayLike, *, sensitivity: float = 1.0, rng: np.random.Generator
    ) -> NDArray:
        """Return randomised answers for true answers 0..k-1; `sensitivity` is ignored."""
        exact = np.asarray(value)
        if exact.dtype.kind not in "iub" or np.any((exact < 0) | (exact >= self.answers)):
            raise ValueError(f"Expected value to hold answers 0..{self.answers - 1}.")
        honest = rng.random(exact.shape) < math.exp(self._log_masses[0])
        other = (exact + rng.integers(1, self.answers, exact.shape)) % self.answers
        return np.where(honest, exact, other)
