"""The epsilons that papers print for given votes, and ``dplearn pate votes.npy``, which does."""

import argparse
import dataclasses
import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dplearn.accountants.theorems import rdp_to_epsilon_mironov
from dplearn.core import validate
from dplearn.core.guarantee import Guarantee
from dplearn.pate import theorems
from dplearn.pate.at_these_votes import ORDERS, at_these_votes, stated
from dplearn.pate.plan import PATE
from dplearn.pate.votes import Votes, read_votes

_MOMENTS = np.arange(1, 33)
_ONE_WAY = "it bounds the loss from these votes to a neighbour's, not back"
_EXPECTED = "an expectation over which queries are answered, not a bound for any run"


def answer_chances(votes: Votes, plan: PATE) -> NDArray:
    """Chance of each query to be answered, shape (queries,)."""
    if plan.check_std is None or plan.threshold is None:
        return np.ones(votes.queries)
    return ndtr((votes.ranked[:, 0] - plan.threshold) / plan.check_std)


def as_printed(votes: Votes, plan: PATE, *, delta: float) -> Guarantee:
    """Guarantee that a paper would print for these votes; no number to publish.

    For Gaussian noise Theorem 6 of Papernot et al. 2018; where there is a check it weighs each
    query by its chance to be answered, and is then an expectation, no bound. For Laplace noise
    Theorems 2 and 3 of Papernot et al. 2017. The papers convert by ln(1/delta) / (order - 1): that
    value is ``details["first_conversion"]``, and `epsilon` that of the sharper conversion.

    Examples
    --------
    >>> votes = Votes([[240, 10, 0]] * 300)
    >>> round(as_printed(votes, PATE(answers=300, noise_std=40), delta=1e-5).epsilon, 3)
    0.277
    """
    validate.instance(Votes, votes=votes)
    validate.instance(PATE, plan=plan)
    validate.probability(delta=delta)
    rows, counts = np.unique(votes.ranked, axis=0, return_counts=True)
    if plan.noise == "laplace":
        return _by_moments(rows, counts, plan, delta)
    total = counts @ printed_rdp(rows, plan)
    bound, checked = stated(total, delta, "Theorem 6"), plan.check_std is not None
    first = float(np.min(rdp_to_epsilon_mironov(ORDERS, total, delta=delta)))
    return dataclasses.replace(
        bound,
        kind="approximate" if checked else "upper",
        assumptions=(*bound.assumptions, _ONE_WAY, *([_EXPECTED] if checked else [])),
        details={**bound.details, "first_conversion": first},
    )


def printed_rdp(rows: NDArray, plan: PATE) -> NDArray:
    """Rényi divergence of each row of ranked counts by Theorem 6, shape (n_rows, n_orders)."""
    total = np.empty((len(rows), ORDERS.size))
    for i, chance in enumerate(answer_chances(Votes(rows), plan).tolist()):
        flip = theorems.gnmax_flip_bound(votes=rows[i], noise_std=plan.noise_std)
        total[i] = chance * _theorem_6(flip=flip, noise_std=plan.noise_std)
        if plan.check_std is not None:
            # The largest count moves by 1, not by the root of 2.
            rare = min(chance, 1 - chance)
            total[i] += _theorem_6(flip=rare, noise_std=plan.check_std * math.sqrt(2))
    return total


def _theorem_6(*, flip: float, noise_std: float) -> NDArray:
    """Divergences that the theorem proves, one for each of `ORDERS`."""
    at = partial(theorems.gnmax_data_dependent_rdp, flip=flip, noise_std=noise_std)
    return np.array([at(order=order) for order in ORDERS.tolist()])


def _by_moments(rows: NDArray, counts: NDArray, plan: PATE, delta: float) -> Guarantee:
    """The moments accountant of the first paper: of what holds for any votes and at these."""
    gamma, total = 1 / plan.noise_std, np.zeros(_MOMENTS.shape)
    # 2 gamma-DP, and Theorem 2.
    plain = theorems.lnmax_log_moment(moment=_MOMENTS, inverse_scale=gamma)
    plain = np.minimum(2 * gamma * _MOMENTS, plain)
    for row, count in zip(rows, counts, strict=True):
        flip, each = theorems.lnmax_flip_bound(votes=row, inverse_scale=gamma), plain
        if 0 < flip <= math.expm1(2 * gamma) / math.expm1(4 * gamma):
            at = partial(theorems.lnmax_log_moment_at, inverse_scale=gamma, flip=flip)
            each = np.minimum(plain, [at(moment=m) for m in _MOMENTS.tolist()])
        total += count * each
    epsilon = (total - math.log(delta)) / _MOMENTS
    bound = stated(np.zeros(ORDERS.shape), delta, "Theorem 3")
    first, best = float(epsilon.min()), float(_MOMENTS[np.argmin(epsilon)])
    return dataclasses.replace(
        bound,
        epsilon=first,
        assumptions=(*bound.assumptions, _ONE_WAY),
        details={"moment": best, "first_conversion": first},
    )


def votes_and_plan(options: argparse.Namespace) -> tuple[Votes, PATE]:
    """The votes in the file and the plan that the options describe."""
    votes = read_votes(options.votes, labels=options.labels, classes=options.classes)
    votes = votes if options.queries is None else votes.first(options.queries)
    plan = PATE(
        queries=votes.queries,
        answers=votes.queries,
        noise_std=options.noise_std,
        threshold=options.threshold,
        check_std=options.check_std,
        noise="laplace" if options.laplace else "gaussian",
    )
    cap = round(answer_chances(votes, plan).sum()) if options.answers is None else options.answers
    return votes, dataclasses.replace(plan, answers=cap)


def statements(votes: Votes, plan: PATE, *, delta: float) -> Iterator[tuple[str, Guarantee]]:
    """Three guarantees with titles: for any votes, as papers print it, exact at these votes."""
    yield (
        f"for any votes, if no more than {plan.answers} may be answered",
        plan.guarantee(delta=delta),
    )
    printed = as_printed(votes, plan, delta=delta)
    first = printed.details["first_conversion"]
    yield f"as the papers print it ({first:.4g} by their conversion)", printed
    if plan.noise == "gaussian":
        yield (
            "exact, all of these queries asked",
            at_these_votes(votes, plan).guarantee(delta=delta),
        )
