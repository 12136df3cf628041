r"""The base class of mechanisms, and the rules that each of them keeps.

A mechanism is a *public* description of one randomised release: the parameters
that decide how much it can leak, and nothing that depends on data. It answers
one question: which pair of output distributions is worst, for each order of the
neighbouring datasets? The answer is a `Profile`; accountants compose profiles.

Rules that keep results from silently becoming wrong:

* `noise_multiplier` is noise scale / largest norm of one record's contribution.
  Under ``add_remove`` and ``zero_out`` a neighbour moves the query by one such
  norm, under ``replace_one`` by two: that factor lives here, not with the user.
* Sampling is part of the mechanism. An accountant never guesses it.
* Multiplicity is expressed by `parts` and nowhere else.
* A profile is exact for the worst pair, or dominates it; never less.
* A witness is the profile of a real pair of neighbours, or lies below it; never more. The
  neighbours are the same in every release of a composition.
* A combination that no theorem covers raises `NotImplementedError` and names it.
* Parameters keep their meaning; new ones get defaults.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate
from dplearn.core.guarantee import ADJACENCIES, Adjacency, Guarantee
from dplearn.core.solve import first_true
from dplearn.engine.contour import SampledGaussian
from dplearn.engine.profile import FAR, Curve, Profile

_LEGENDRE = np.polynomial.legendre.leggauss(96)
# Losses closer to epsilon than this are equal to it: a constant loss must not cross it.
_SAME = 1e-10


class Mechanism(metaclass=validate.NamesParameters):
    """A public description of one randomised release.

    Subclasses are frozen dataclasses that have examples and implement `_profiles`, and may add
    closed forms (`_rdp`, `_zcdp`), the laws behind the profile (`_outputs`) and a teaching-grade
    `release`. Every question about neighbours that no theorem covers raises `NotImplementedError`.
    """

    name: ClassVar[str]
    fields_of_examples: ClassVar[tuple[tuple[Any, ...], ...]] = ()  # of each, in their order
    conditions: ClassVar[tuple[str, ...]] = ()  # its own part of `assumptions`
    # Neighbours for which a theorem covers it; of others it is said what is refused, and why.
    adjacencies: ClassVar[tuple[Adjacency, ...]] = ADJACENCIES
    refusal: ClassVar[tuple[str, str]] = ("", "")
    rdp_at_once: ClassVar[bool] = False  # whether a few divergences cost as much as all
    # Finds an accountant by its name; `dplearn.accountants`, which stands above, puts itself here.
    _accountant: ClassVar[Any]
    no_outputs: ClassVar[str] = "no laws on one line are known whose profile this is"  # why ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Clauses that must hold of the release for its profile to be true."""
        return self.conditions

    @property
    def attained(self) -> bool:
        """True where one pair of neighbours attains the profile, False where all may lie below."""
        return True

    @abstractmethod
    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]: ...

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return self._profiles(adjacency) if self.attained else ()

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return a few instances, corners included, for contract tests, plots and the explorer."""
        return tuple(cls(*fields) for fields in cls.fields_of_examples)

    def profiles(self, adjacency: Adjacency = "add_remove") -> tuple[Profile, ...]:
        """Worst-case profiles: (remove, add), or a single one when both are equal."""
        self.require_theorem(adjacency)
        return self._profiles(adjacency)

    def witnesses(self, adjacency: Adjacency = "add_remove") -> tuple[Profile, ...]:
        """Profiles of real pairs of neighbours, laid out as `profiles`; empty if none is known.

        They bound the true epsilon from below. There may be two where there is one profile.
        """
        self.require_theorem(adjacency)
        return self._witnesses(adjacency)

    def outputs(self, adjacency: Adjacency = "add_remove") -> tuple[Outputs, ...]:
        """Laws on a line whose profiles at epsilon >= 0 are `profiles`, laid out alike; or ()."""
        self.require_theorem(adjacency)
        return () if self.infinite_epsilon_reason() else self._outputs(adjacency)

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        return ()

    def rdp(self, orders: ArrayLike, *, adjacency: Adjacency = "add_remove") -> NDArray:
        """Rényi divergences, the larger of both directions, in nats, shape (n_orders,).

        By the closed form where there is one, else by the integral of the profile, at orders > 1 of
        shape (n_orders,): exact, or a bound, as the mechanism's profile is.
        """
        self.require_theorem(adjacency)
        orders = np.atleast_1d(np.asarray(orders, dtype=float))
        if orders.ndim != 1:
            raise ValueError(f"Expected orders of shape (n,), got shape {orders.shape}.")
        if (wrong := orders[~((orders > 1) & (orders < np.inf))]).size:
            raise ValueError(f"Expected orders > 1 and finite, got orders={wrong[0]!r}.")
        if (values := self._rdp(orders, adjacency)) is not None:
            return values
        return np.max([p.renyi(orders) for p in self.profiles(adjacency)], axis=0)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray | None:
        return None

    def zcdp(self, adjacency: Adjacency = "add_remove") -> float | None:
        """rho such that the release is rho-zCDP, or None when no finite rho is known."""
        self.require_theorem(adjacency)
        return self._zcdp(adjacency)

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        return None

    def pure_epsilon(self, adjacency: Adjacency = "add_remove") -> float:
        """Return the epsilon of pure differential privacy, in nats; inf where there is none."""
        profiles = self.profiles(adjacency)
        if not all(np.isneginf(p.log_delta_of(np.array(FAR))) for p in profiles):
            return math.inf
        return max(float(p.epsilon(0.0)) for p in profiles)

    def gaussian_shift(self, adjacency: Adjacency = "add_remove") -> float | None:
        """Return the distance of neighbours in deviations if it is one Gaussian release."""
        return None

    def sampled_gaussians(self, adjacency: Adjacency = "add_remove") -> tuple[SampledGaussian, ...]:
        """Return the sampled Gaussians that its witnesses are, in their order; or ()."""
        return ()

    def dominating(self, adjacency: Adjacency) -> Mechanism:
        """Return a mechanism that leaks no less and is simpler, if there is one."""
        return self

    def require_theorem(self, adjacency: Adjacency) -> None:
        """Raise NotImplementedError unless some theorem covers neighbours of this kind."""
        validate.one_of(ADJACENCIES, adjacency=adjacency)
        if adjacency not in self.adjacencies:
            what, why = self.refusal
            raise validate.unsupported(f"adjacency={adjacency!r} for {what}", why)

    @validate.names_parameters
    def guarantee(
        self,
        accountant: Any = "pld",
        *,
        delta: float,
        steps: int = 1,
        adjacency: Adjacency = "add_remove",
    ) -> Guarantee:
        """Guarantee of `steps` adaptive releases at delta in (0, 1), as a plan has.

        The accountant is one of `dplearn.ACCOUNTANTS` or its name; errors are those of
        `Accountant.epsilon`.

        Examples
        --------
        >>> from dplearn.mechanisms import Gaussian
        >>> print(Gaussian(1.0).guarantee(delta=1e-5))
        4.377 <= epsilon <= 4.378 at delta = 1.0e-05, add_remove, by pld
        """
        law = self._accountant(accountant)
        return law.epsilon(self, delta=delta, steps=steps, adjacency=adjacency)

    def parts(self) -> tuple[tuple[Mechanism, int], ...]:
        """Return the (mechanism, count) pairs it is composed of; multiplicity lives here only."""
        return ((self, 1),)

    def infinite_epsilon_reason(self) -> str:
        """Reason why epsilon is infinite at every delta < 1, or an empty string."""
        return ""

    def vary(self, **fields: float) -> Self:
        """Return a copy with some parameters changed, looked up through the nesting.

        Examples
        --------
        >>> from dplearn.mechanisms import Gaussian, PoissonSubsampled
        >>> step = PoissonSubsampled(Gaussian(noise_multiplier=1.0), sample_rate=0.01)
        >>> step.vary(noise_multiplier=2.0).base.noise_multiplier
        2.0
        """
        own = {f.name for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        mine = {k: v for k, v in fields.items() if k in own}
        inner = {k: v for k, v in fields.items() if k not in own}
        if inner:
            if "base" not in own:
                raise ValueError(f"Expected a parameter of {self.name}, got {sorted(inner)[0]!r}.")
            mine["base"] = self.base.vary(**inner)  # type: ignore[attr-defined]
        return dataclasses.replace(self, **mine)  # type: ignore[type-var]

    def release(self, value: ArrayLike, *, sensitivity: float, rng: np.random.Generator) -> NDArray:
        """One noisy release of `value`, in teaching-grade floating point, where there is one."""
        why = "only noise and randomized response are drawn here"
        raise validate.unsupported(f"release() of {self.name}", why)


def as_mechanism(release: Any) -> Mechanism:
    """Return a mechanism, or that of a plan, which has it as `composed`; TypeError otherwise."""
    release = getattr(release, "composed", release)
    validate.instance(Mechanism, mechanism=release)
    return release


def contribution_norm(adjacency: Adjacency) -> int:
    """Distance of two neighbours in contribution norms: 2 under replace_one, else 1."""
    return 2 if adjacency == "replace_one" else 1


@dataclass(frozen=True)
class Wrapped(Mechanism):
    """A mechanism inside another: its assumptions hold too, and nothing hides what it shows."""

    base: Mechanism

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (*self.conditions, *self.base.assumptions)

    def require_theorem(self, adjacency: Adjacency) -> None:
        super().require_theorem(adjacency)
        self.base.require_theorem(adjacency)

    def dominating(self, adjacency: Adjacency) -> Mechanism:
        return self.base  # sampling never hurts

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        """rho of what dominates it: zCDP cannot see that sampling helps."""
        return self.dominating(adjacency).zcdp(adjacency)

    def infinite_epsilon_reason(self) -> str:
        return self.base.infinite_epsilon_reason()


@dataclass(frozen=True)
class Sampled(Wrapped):
    """`base` on a sample of the records, drawn afresh for every run."""

    sample_rate: float

    def __post_init__(self) -> None:
        validate.instance(Mechanism, base=self.base)
        validate.rate(sample_rate=self.sample_rate)
        if len(self.base.parts()) != 1 or self.base.parts()[0][0] is not self.base:
            raise ValueError("Expected base to be one mechanism, got a composition.")

    def gaussian_shift(self, adjacency: Adjacency = "add_remove") -> float | None:
        return self.base.gaussian_shift(adjacency) if self.sample_rate == 1 else None

    def _pairs(self, adjacency: Adjacency, *sides: Any) -> tuple[SampledGaussian, ...]:
        shift = self.base.gaussian_shift(adjacency) or 0.0
        if not 0 < shift < math.inf or self.sample_rate == 1:
            return ()
        return tuple(SampledGaussian(1 / shift, self.sample_rate, side) for side in sides)


@dataclass(frozen=True, eq=False)
class Outputs:
    r"""Densities, or probabilities of whole numbers, of two neighbours' outputs.

    A profile is a number per epsilon; the laws show where it comes from: it is the area
    :math:`\int (p(x) - e^\varepsilon q(x))_+\,dx`. `log_p` and `log_q` map an array of places to
    logarithms; outside of `lower` and `upper` is less than 1e-10 of either law.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> (pair,) = Gaussian(noise_multiplier=1.0).outputs()
    >>> round(pair.delta(1.0), 7)
    0.1269367
    """

    log_p: Curve
    log_q: Curve
    lower: float
    upper: float
    corners: tuple[float, ...] = ()  # where a density is not smooth, and where it peaks
    whole: bool = False  # the laws live on the whole numbers from `lower` to `upper`
    label: str = "released number / largest contribution of one record"  # on the line

    def reverse(self) -> Self:
        """Return the same two laws in the other order."""
        return dataclasses.replace(self, log_p=self.log_q, log_q=self.log_p)

    def mix_first(self, weight: float) -> Self:
        """Laws (1-w)Q + wP and Q, made of these laws P and Q; 0 < w < 1."""
        log_w, log_rest = math.log(weight), math.log1p(-weight)
        return dataclasses.replace(
            self, log_p=lambda x: np.logaddexp(log_w + self.log_p(x), log_rest + self.log_q(x))
        )

    def nodes(self, epsilon: float) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Places x, their weights in a sum, p(x) and q(x), for the area of p above e^epsilon q.

        Gauss-Legendre nodes between the places where that is not smooth; shape (n,) each.
        """
        if self.whole:
            x = np.arange(self.lower, self.upper + 1)
            weight = np.ones(x.size)
        else:

            def above(x: NDArray) -> NDArray:
                return self.log_p(x) - self.log_q(x) > epsilon + _SAME

            # A narrow peak may cross twice between two even points.
            x = np.union1d(np.linspace(self.lower, self.upper, 1001), self.corners)
            left = np.flatnonzero(np.diff(above(x)))
            before = above(x[left])
            crossings = first_true(lambda y: above(y) != before, lower=x[left], upper=x[left + 1])
            ends = np.unique([self.lower, *self.corners, *crossings, self.upper])[:, None]
            half, (t, w) = 0.5 * np.diff(ends, axis=0), _LEGENDRE
            x, weight = (ends[:-1] + half * (t + 1)).ravel(), (half * w).ravel()
        return x, weight, np.exp(self.log_p(x)), np.exp(self.log_q(x))

    def delta(self, epsilon: float) -> float:
        """delta at any real epsilon by its definition: the area summed over the nodes."""
        _, weight, p, q = self.nodes(epsilon)
        return float(weight @ np.maximum(p - math.exp(epsilon) * q, 0.0))
