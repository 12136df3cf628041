r"""The base class of mechanisms and the rules for its subclasses.

A mechanism is a *public* description of one randomised release: the parameters that decide how much
it can leak, and nothing that depends on data. For a removed and for an added record it gives the
privacy profile of the worst pair of output distributions; accountants compose profiles.

Rules that prevent silent errors:

* `noise_multiplier` is noise scale / largest norm of one record's contribution. Neighbours move the
  query by one such norm under ``add_remove`` and ``zero_out``, by two under ``replace_one``:
  mechanisms apply this factor, users do not.
* Sampling is part of the mechanism; accountants make no assumption about it.
* Only `parts` says how often a mechanism runs.
* A profile is that of the worst pair of neighbours, or an upper bound on it.
* A witness is a lower bound: the profile of a real pair of neighbours, the same in every release of
  a composition, or a lower bound on that profile.
* A combination that no theorem covers raises a `NotImplementedError` that names the combination.
* In later versions parameters keep their meaning, and new parameters have defaults.
"""

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
# Treat losses this close to epsilon as equal to it, so that rounding adds no false crossings.
_SAME = 1e-10


class Mechanism(metaclass=validate.NamesParameters):
    """A public description of one randomised release.

    Subclasses are frozen dataclasses with `_profiles` and examples. They may have closed forms
    (`_rdp`, `_zcdp`), output distributions (`_outputs`) and a `release` for teaching.
    """

    name: ClassVar[str]
    fields_of_examples: ClassVar[tuple[tuple[Any, ...], ...]] = ()  # arguments of each example
    conditions: ClassVar[tuple[str, ...]] = ()  # under which the profiles hold
    # Adjacencies that a theorem covers; errors for all others state `refusal`: (mechanism, reason).
    adjacencies: ClassVar[tuple[Adjacency, ...]] = ADJACENCIES
    refusal: ClassVar[tuple[str, str]] = ("", "")
    # Function from names to accountants, set by `dplearn.accountants` to avoid an import cycle.
    _accountant: ClassVar[Any]
    no_outputs: ClassVar[str] = "no laws on one line are known whose profile this is"  # reason

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Conditions on the release under which its profile is valid."""
        return self.conditions

    @property
    def attained(self) -> bool:
        """Whether a pair of neighbours is known to attain the profile."""
        return True

    @abstractmethod
    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]: ...

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return self._profiles(adjacency) if self.attained else ()

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return example instances for contract tests, plots and the explorer."""
        return tuple(cls(*fields) for fields in cls.fields_of_examples)

    def profiles(self, adjacency: Adjacency = "add_remove") -> tuple[Profile, ...]:
        """Return worst-case profiles for a removed and an added record, one for both if equal."""
        self.require_theorem(adjacency)
        return self._profiles(adjacency)

    def witnesses(self, adjacency: Adjacency = "add_remove") -> tuple[Profile, ...]:
        """Return lower bounds on the worst-case profiles, from real neighbours, or () if unknown.

        They are for a removed and an added record, and may be two even if `profiles` are one.
        """
        self.require_theorem(adjacency)
        return self._witnesses(adjacency)

    def outputs(self, adjacency: Adjacency = "add_remove") -> "tuple[Outputs, ...]":
        """Return output distributions that attain `profiles` at epsilon >= 0, or () if unknown."""
        self.require_theorem(adjacency)
        return () if self.infinite_epsilon_reason() else self._outputs(adjacency)

    def _outputs(self, adjacency: Adjacency) -> "tuple[Outputs, ...]":
        return ()

    def rdp(self, orders: ArrayLike, *, adjacency: Adjacency = "add_remove") -> NDArray:
        """Return Rényi divergences in nats at `orders` > 1, for the worse of removal and addition.

        Orders and divergences have shape (n_orders,). Divergences are exact or upper bounds, like
        the profile; without a closed form they are computed as integrals of the profile.
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
        """Return a rho such that the release is rho-zCDP, or None if no rho is known."""
        self.require_theorem(adjacency)
        return self._zcdp(adjacency)

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        return None

    def pure_epsilon(self, adjacency: Adjacency = "add_remove") -> float:
        """Return epsilon at delta = 0, in nats; inf without pure differential privacy."""
        profiles = self.profiles(adjacency)
        if not all(np.isneginf(p.log_delta_of(np.array(FAR))) for p in profiles):
            return math.inf
        return max(float(p.epsilon(0.0)) for p in profiles)

    def gaussian_shift(self, adjacency: Adjacency = "add_remove") -> float | None:
        """Return the neighbours' distance in standard deviations for plain Gaussians, else None."""
        return None

    def sampled_gaussians(self, adjacency: Adjacency = "add_remove") -> tuple[SampledGaussian, ...]:
        """Return the sampled Gaussian pairs that have the profiles `witnesses`, or () if none."""
        return ()

    def dominating(self, adjacency: Adjacency) -> "Mechanism":
        """Return a simpler mechanism with profiles at least as large, or this mechanism itself."""
        return self

    def require_theorem(self, adjacency: Adjacency) -> None:
        """Raise NotImplementedError unless a theorem covers this adjacency."""
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
        """Return the privacy guarantee of `steps` adaptively composed releases at `delta`.

        Other parameters and errors are those of `Accountant.epsilon`.

        Parameters
        ----------
        accountant : Accountant or str, one of `dplearn.ACCOUNTANTS`
        """
        law = self._accountant(accountant)
        return law.epsilon(self, delta=delta, steps=steps, adjacency=adjacency)

    def parts(self) -> "tuple[tuple[Mechanism, int], ...]":
        """Return the composed mechanisms as (mechanism, count) pairs."""
        return ((self, 1),)

    def infinite_epsilon_reason(self) -> str:
        """Return the reason why epsilon is infinite at every delta < 1, or an empty string."""
        return ""

    def vary(self, **fields: float) -> Self:
        """Return a copy with some parameters changed, including those of a nested `base`."""
        own = {f.name for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        mine: dict[str, Any] = dict(fields)
        if inner := {name: mine.pop(name) for name in fields if name not in own}:
            if "base" not in own:
                raise ValueError(f"Expected a parameter of {self.name}, got {sorted(inner)[0]!r}.")
            mine["base"] = self.base.vary(**inner)  # type: ignore[attr-defined]
        return dataclasses.replace(self, **mine)  # type: ignore[type-var]

    def release(self, value: ArrayLike, *, sensitivity: float, rng: np.random.Generator) -> NDArray:
        """Return `value` with noise, for teaching only: floating-point noise can reveal `value`."""
        why = "only noise and randomized response are drawn here"
        raise validate.unsupported(f"release() of {self.name}", why)


def as_mechanism(release: Any) -> Mechanism:
    """Return `release` if it is a mechanism, or the `composed` mechanism if it is a plan."""
    release = getattr(release, "composed", release)
    validate.instance(Mechanism, mechanism=release)
    return release


def contribution_norm(adjacency: Adjacency) -> int:
    """Return by how many contribution norms neighbours differ: 2 under replace_one, else 1."""
    return 2 if adjacency == "replace_one" else 1


@dataclass(frozen=True)
class Wrapped(Mechanism):
    """Base class of mechanisms that run another mechanism and inherit its assumptions."""

    base: Mechanism

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (*self.conditions, *self.base.assumptions)

    def require_theorem(self, adjacency: Adjacency) -> None:
        super().require_theorem(adjacency)
        self.base.require_theorem(adjacency)

    def gaussian_shift(self, adjacency: Adjacency = "add_remove") -> float | None:
        return self.base.gaussian_shift(adjacency) if self.attained else None

    def dominating(self, adjacency: Adjacency) -> Mechanism:
        return self.base  # sampling never increases the divergences

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        """Return rho of the dominating mechanism, because sampling does not amplify zCDP."""
        return self.dominating(adjacency).zcdp(adjacency)

    def infinite_epsilon_reason(self) -> str:
        return self.base.infinite_epsilon_reason()


@dataclass(frozen=True)
class Sampled(Wrapped):
    """Base class of mechanisms that run `base` on a fresh random sample of the records."""

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
    r"""Output distributions P and Q of two neighbours: densities, or masses of whole numbers.

    The profile at epsilon is the area :math:`\int (p(x) - e^\varepsilon q(x))_+\,dx`.

    Parameters
    ----------
    log_p, log_q : callable from an array of points to log densities or log masses
    lower, upper : float, any, outside which P and Q have mass below 1e-10
    corners : tuple of float, points where a density is not smooth, and its peaks
    whole : bool, whether P and Q are distributions on whole numbers from `lower` to `upper`
    label : str, name of the released number on the axis of a plot
    """

    log_p: Curve
    log_q: Curve
    lower: float
    upper: float
    corners: tuple[float, ...] = ()
    whole: bool = False
    label: str = "released number / largest contribution of one record"

    def reverse(self) -> Self:
        """Return the pair with P and Q swapped."""
        return dataclasses.replace(self, log_p=self.log_q, log_q=self.log_p)

    def mix_first(self, weight: float) -> Self:
        """Return the mixture (1-w)Q + wP and Q as a pair, with w = `weight` in (0, 1)."""
        log_w, log_rest = math.log(weight), math.log1p(-weight)
        log_p = lambda x: np.logaddexp(log_w + self.log_p(x), log_rest + self.log_q(x))
        return dataclasses.replace(self, log_p=log_p)

    def nodes(self, epsilon: float) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Return nodes x, weights, p(x), q(x) to integrate (p - exp(epsilon) q)_+, shape (n,) each.

        Densities have Gauss-Legendre nodes between the points where the integrand is not smooth.
        """
        if self.whole:
            x = np.arange(self.lower, self.upper + 1)
            weight = np.ones(x.size)
        else:

            def above(x: NDArray) -> NDArray:
                return self.log_p(x) - self.log_q(x) > epsilon + _SAME

            # Include corners, because a narrow peak may lie between two points of the grid.
            x = np.union1d(np.linspace(self.lower, self.upper, 1001), self.corners)
            left = np.flatnonzero(np.diff(above(x)))
            before = above(x[left])
            crossings = first_true(lambda y: above(y) != before, lower=x[left], upper=x[left + 1])
            ends = np.unique([self.lower, *self.corners, *crossings, self.upper])[:, None]
            half, (t, w) = 0.5 * np.diff(ends, axis=0), _LEGENDRE
            x, weight = (ends[:-1] + half * (t + 1)).ravel(), (half * w).ravel()
        return x, weight, np.exp(self.log_p(x)), np.exp(self.log_q(x))

    def delta(self, epsilon: float) -> float:
        """Return delta at any real epsilon, by quadrature of (p - exp(epsilon) q)_+."""
        _, weight, p, q = self.nodes(epsilon)
        return float(weight @ np.maximum(p - math.exp(epsilon) * q, 0.0))
