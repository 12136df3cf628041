"""Public plans of federated runs, in which the unit of privacy is one user."""

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency, Guarantee
from dplearn.core.logspace import log_comb
from dplearn.engine.profile import Profile
from dplearn.mechanisms import Gaussian, Mechanism, PoissonSubsampled
from dplearn.mechanisms.gaussian import gaussian_log_delta
from dplearn.mechanisms.sampling_scheme import Sampling
from dplearn.run import DPSGD, Plan

# Divisor of a weighted sum: a number fixed before the run, or the total weight of present users.
Divisor = Literal["public", "present"]

_ONE_UPDATE = "all records of a user, and all local steps on them, make one clipped update a round"
_EQUAL = "updates are added up unweighted and divided by a public number"


@dataclass(frozen=True, kw_only=True)
class UserGuarantee(Guarantee):
    """Guarantee for neighbours that differ in one user and all of that user's data.

    Its parameters are fields of `Guarantee`.
    """

    @classmethod
    def of(cls, stated: Guarantee, *assumptions: str) -> Self:
        """Return a `UserGuarantee` with the same numbers and further assumptions."""
        return cls(**vars(stated) | {"assumptions": (*stated.assumptions, *assumptions)})

    def __str__(self) -> str:
        return f"{super().__str__()}, per user"


@dataclass(frozen=True, kw_only=True)
class FederatedPlan(Plan):
    """Public plan of a federated run; its guarantee is per user, for any local training.

    In each round the users present train on their own records and send the change of the model,
    clipped to `max_update_norm`; noise of `noise_multiplier` such norms is added to the sum.
    Neighbours differ in a user, so local steps and the number of records do not change epsilon.

    Parameters
    ----------
    users : int >= 1, that may take part: a public number; the data may hold fewer
    sample_rate : float in (0, 1], expected share of them in one round
    rounds : int >= 0
    noise_multiplier : float >= 0, standard deviation of the noise on the sum / max_update_norm
    max_update_norm : float > 0, clipping norm of one user's update
    sampling : str, how users are selected: it decides the theorem and has no default

    Values of `sampling`:

    * ``"poisson"``: each user independently, with probability `sample_rate`; ``add_remove``.
    * ``"without_replacement"``: a set of fixed size, drawn afresh each round; ``replace_one``,
      where a user is replaced by another and an update moves by two norms.
    * ``"shuffled"``, ``"random_allocation"``: each user once in 1 / `sample_rate` rounds, by a
      random order of the users, or in a random round per user.
    * ``"none"``: participation is unknown, as where phones connect when they are charged. A user
      may be in every round; `sample_rate`, the expected share, gives no amplification.

    The selection must stay secret in all but the last.

    Examples
    --------
    >>> plan = FederatedPlan(
    ...     users=3000, sample_rate=0.05, rounds=150, noise_multiplier=2.11,
    ...     max_update_norm=0.3, sampling="poisson",
    ... )
    >>> print(plan.guarantee(delta=1.5e-4))
    0.9994 <= epsilon <= 0.9995 at delta = 1.5e-04, add_remove, by pld, per user
    >>> print(dataclasses.replace(plan, sampling="none").guarantee(delta=1.5e-4))
    37.05 <= epsilon <= 37.06 at delta = 1.5e-04, add_remove, by pld, per user
    """

    unit: ClassVar[str] = "one user, with all that the user has"

    users: int
    sample_rate: float
    rounds: int
    noise_multiplier: float
    max_update_norm: float
    sampling: Sampling

    def __post_init__(self) -> None:
        validate.integer(minimum=1, users=self.users)
        validate.integer(minimum=0, rounds=self.rounds)
        validate.positive(max_update_norm=self.max_update_norm)
        validate.rate(sample_rate=self.sample_rate)
        _ = self.phases  # validates the other fields

    @property
    def units(self) -> int:  # type: ignore[override]
        return self.users

    @property
    def steps(self) -> int:  # type: ignore[override]
        return self.rounds

    @cached_property
    def phases(self) -> tuple[DPSGD, ...]:  # type: ignore[override]
        run = DPSGD(
            noise_multiplier=self.noise_multiplier,
            sample_rate=1.0 if self.sampling == "none" else self.sample_rate,
            steps=self.rounds,
            max_grad_norm=self.max_update_norm,
            sampling=self.sampling,
        )
        return (run,)

    def _about(self, stated: Guarantee) -> UserGuarantee:
        return UserGuarantee.of(stated, _ONE_UPDATE, _EQUAL)

    def weighted(self, weights: ArrayLike, *, divisor: Divisor) -> Self:
        r"""Return the plan of a run that averages updates *by weight*, with unchanged noise.

        Neighbours differ in one of K users, the mean has noise zC/K with multiplier z and clipping
        norm C, and w is the largest fraction of the total weight. With a ``"public"`` `divisor`,
        fixed before the run, a user changes the mean by up to :math:`wC`. With the weight of those
        ``"present"``, as usual in federated averaging, a user changes the divisor too, and the mean
        by :math:`w` times the distance of the update from the mean of the others, up to
        :math:`2wC`. So the multiplier is :math:`z / (K w)`, or half of it. If users are sampled, a
        fraction of the weight present has no bound, and ``"present"`` raises NotImplementedError.

        Examples
        --------
        One of ten users has half of all records:

        >>> paper = FederatedPlan(
        ...     users=10, sample_rate=1.0, rounds=1, noise_multiplier=1.0,
        ...     max_update_norm=1.0, sampling="none",
        ... )
        >>> for divisor in ("public", "present"):
        ...     for weights in ([1] * 10, [9] + [1] * 9):
        ...         plan = paper.weighted(weights, divisor=divisor)
        ...         print(divisor, f"{plan.guarantee(delta=1e-5).epsilon:.3g}")
        public 4.38
        public 33.1
        present 10
        present 91.8
        """
        validate.one_of(get_args(Divisor), divisor=divisor)
        weights = np.asarray(weights, dtype=float)
        if weights.shape != (self.users,):
            shape = f"shape ({self.users},), one weight for each of plan.users"
            raise ValueError(f"Expected weights of {shape}, got shape {weights.shape}.")
        if not (np.all((weights >= 0) & (weights < math.inf)) and any(weights)):
            raise ValueError("Expected weights that are finite, >= 0 and not all 0.")
        if divisor == "present" and self.sample_rate < 1:
            what = f"the weight of those present with sample_rate={self.sample_rate:g}"
            raise validate.unsupported(what, "a user may be nearly all of it")
        loss = len(weights) * float(weights.max() / weights.sum()) * (1 + (divisor == "present"))
        return dataclasses.replace(self, noise_multiplier=self.noise_multiplier / loss)


@dataclass(frozen=True)
class _Several(Mechanism):
    r"""Noisy sum, given that one or more of a user's records, sampled independently, are in it.

    It is :math:`\sum_k c_k N(k, \sigma^2)` against :math:`N(0, \sigma^2)`, with :math:`c_k` the
    probability of k records. With :math:`\ell_k(x) = kx/\sigma^2 - k^2/2\sigma^2` its loss
    :math:`\ln\sum_k c_k e^{\ell_k(x)}` rises with x, and at the x where that is epsilon, delta is
    the sum of :math:`c_k` times that of the k-th Gaussian at :math:`\ell_k(x)`; for the swapped
    pair, at the x where the loss is -epsilon, it is the sum of
    :math:`c_k e^{\varepsilon + \ell_k(x)}` times that at :math:`-\ell_k(x)`.

    No other gradients leak more, in either order of the neighbours. If a set S of records, drawn
    with probability :math:`p_S`, moves the sum by :math:`u_S`, the densities have the ratio
    :math:`\sum_S p_S e^{G_S - \mathrm{Var}(G_S)/2}` with Gaussian
    :math:`G_S = \langle u_S, x\rangle/\sigma^2`, and delta is the mean of a convex function of it,
    which grows with every covariance (Kahane's inequality, 1986: between two Gaussian vectors its
    derivative is a sum of differences of covariances times what is never negative). Here
    :math:`\langle u_S, u_R\rangle \le |S||R|`, with equality for copies of one unit vector. Others'
    records shift both laws alike, earlier releases only choose the gradients, and pairs compose
    (Zhu, Dong & Wang 2022, Theorem 10). On such mixtures see Choquette-Choo et al. (2024), "Privacy
    amplification for matrix mechanisms".
    """

    noise_multiplier: float
    records: int
    sample_rate: float

    name: ClassVar[str] = "several_records"
    fields_of_examples = ((2.0, 20, 0.05),)
    adjacencies: ClassVar[tuple[Adjacency, ...]] = ("add_remove",)

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        k, n, q = np.arange(1, self.records + 1), self.records, self.sample_rate
        chance = log_comb(n, k) + k * math.log(q) + (n - k) * math.log1p(-q)
        chance, apart = chance - np.logaddexp.reduce(chance), k / self.noise_multiplier
        each = Profile(lambda epsilon: gaussian_log_delta(epsilon, apart))

        def at(loss: NDArray) -> tuple[NDArray, NDArray]:
            """Return x / sigma where the privacy loss is `loss`, and ell_k(x) (last axis: k)."""
            # Start Newton's method where one term alone gives the loss; x decreases by convexity.
            x = np.min((loss[..., None] - chance) / apart + apart / 2, axis=-1)
            for _ in range(60):
                parts = np.exp(chance - loss[..., None] + apart * (x[..., None] - apart / 2))
                total = parts.sum(axis=-1)  # from 1 to `records`; 1 at the root
                step = np.log(total) * total / (parts @ apart)
                x = x - step
                if np.all(step <= 2.0**-48 * np.abs(x)):
                    break
            return x, apart * (x[..., None] - apart / 2)

        def log_delta(epsilon: NDArray) -> NDArray:
            return np.logaddexp.reduce(chance + each.log_delta(at(epsilon)[1]), axis=-1)

        def log_delta_reverse(epsilon: NDArray) -> NDArray:
            losses = at(-epsilon)[1]
            weight = chance + epsilon[..., None] + losses
            return np.logaddexp.reduce(weight + each.log_delta(-losses), axis=-1)

        def log_tail_reverse(epsilon: NDArray) -> NDArray:
            x = at(-epsilon)[0][..., None]
            return np.logaddexp.reduce(chance + log_ndtr(x - apart), axis=-1)

        log_tail = lambda epsilon: log_ndtr(-at(epsilon)[0])
        pair = Profile(log_delta, log_delta_reverse, (), log_tail, log_tail_reverse)
        return pair, pair.reverse()

    def infinite_epsilon_reason(self) -> str:
        return Gaussian(self.noise_multiplier).infinite_epsilon_reason()


def user_level(plan: DPSGD, *, records: int, delta: float) -> UserGuarantee:
    r"""Return the user-level guarantee of a run that samples records, at most `records` per user.

    Records are sampled independently, so a binomial number moves the sum, by at most the clipping
    norm each; without sampling, all do. The guarantee is for equal gradients, which leak most.

    Parameters
    ----------
    plan : DPSGD, with Poisson sampling or none
    records : int >= 1, largest number of one user's records, at most 1000 with sampling
    delta : float in (0, 1)

    Returns
    -------
    UserGuarantee, with a bracket of epsilon

    Raises
    ------
    NotImplementedError for other sampling schemes

    Examples
    --------
    >>> plan = DPSGD(noise_multiplier=2.11, sample_rate=0.05, steps=150)
    >>> print(user_level(plan, records=20, delta=1.5e-4))
    43.62 <= epsilon <= 43.63 at delta = 1.5e-04, add_remove, by pld, per user
    """
    validate.instance(DPSGD, plan=plan)
    most = 1000 if plan.sample_rate < 1 else math.inf  # each record adds a term to the loss
    validate.integer(minimum=1, maximum=most, records=records)
    if plan.sampling not in ("poisson", "none"):
        raise validate.unsupported(
            f"a user with several records under sampling={plan.sampling!r}",
            "records of one user are not drawn independently",
        )
    _ = plan.mechanism  # raises if sampling is "none" and the rate below 1
    q, noise = plan.sample_rate, plan.noise_multiplier
    group: Mechanism = Gaussian(noise / records)
    if q < 1:
        base = Gaussian(noise) if records == 1 else _Several(noise, records, q)
        group = PoissonSubsampled(base, -math.expm1(records * math.log1p(-q)))
    stated = group.guarantee(delta=delta, steps=plan.steps)
    return UserGuarantee.of(stated, f"a user has at most {records} records")
