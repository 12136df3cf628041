"""Accountants, one for each theorem, which return guarantees of composed releases.

Examples
--------
>>> from dplearn.mechanisms import Gaussian, Laplace, PoissonSubsampled
>>> step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
>>> for name in ("moments", "rdp", "pld", "gdp"):
...     print(step.guarantee(name, delta=1e-5, steps=10_000))
epsilon <= 1.259 at delta = 1.0e-05, add_remove, by moments
epsilon <= 1.036 at delta = 1.0e-05, add_remove, by rdp
0.9468 <= epsilon <= 0.9469 at delta = 1.0e-05, add_remove, by pld
epsilon ~ 0.9424 at delta = 1.0e-05, add_remove, by gdp (an approximation, not a bound)
>>> for name in ("basic", "advanced", "zcdp", "optimal", "pld"):
...     print(Laplace(10.0).guarantee(name, delta=1e-5, steps=100))
epsilon <= 10 at delta = 1.0e-05, add_remove, by basic
epsilon <= 5.299 at delta = 1.0e-05, add_remove, by advanced
epsilon <= 4.64 at delta = 1.0e-05, add_remove, by zcdp
epsilon <= 4.307 at delta = 1.0e-05, add_remove, by optimal
4.22 <= epsilon <= 4.221 at delta = 1.0e-05, add_remove, by pld
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from dplearn.accountants._base import Accountant
from dplearn.accountants._runs import as_counts
from dplearn.core import validate
from dplearn.core.guarantee import Adjacency, Guarantee
from dplearn.core.registry import Registry
from dplearn.mechanisms import Composed, Mechanism
from dplearn.mechanisms.sampling_scheme import SamplingScheme

ACCOUNTANTS = Registry("dplearn.accountants", Accountant)

__all__ = ["ACCOUNTANTS", "Accountant", "accountant_of"]


def accountant_of(accountant: Accountant | str) -> Accountant:
    """Return `accountant` itself, or the accountant of this name in `ACCOUNTANTS`."""
    if isinstance(accountant, str):
        validate.one_of(tuple(ACCOUNTANTS), accountant=accountant)
        return ACCOUNTANTS[accountant]()
    validate.instance(Accountant, accountant=accountant)
    return accountant


def scheme_curve(
    accountant: Accountant,
    schemes: Sequence[SamplingScheme],
    steps: ArrayLike,
    *,
    delta: float,
    adjacency: Adjacency,
) -> tuple[Guarantee, ...]:
    """Return the guarantee after each number of steps of consecutive sampling schemes.

    The last scheme continues beyond its end. Parameters are those of `Accountant.epsilon`.
    """
    steps = as_counts(steps)
    ends = [*np.cumsum([d.steps for d in schemes])[:-1], np.iinfo(np.int64).max]
    # Entry i, j: number of steps of scheme j in run i.
    done = np.diff(np.minimum(steps[:, None], ends), axis=1, prepend=0)
    batches = np.array([d.batches for d in schemes])
    begun, complete = -(-done // batches), done // batches * [d.whole for d in schemes]
    rows, merged = np.concatenate([begun, complete]), list(dict.fromkeys(d[0] for d in schemes))
    rows = rows @ np.array([[m == d.mechanism for m in merged] for d in schemes], dtype=int)
    bounds = partial(accountant.epsilon_curve, delta=delta, adjacency=adjacency)
    curve = np.empty(len(rows), dtype=object)
    # Compute runs of the same mechanisms together: unused mechanisms would loosen the bounds.
    for runs in np.unique(rows > 0, axis=0):
        chosen = np.all((rows > 0) == runs, axis=1)
        runs[0] |= not runs.any()
        composed = Composed(m for m, counted in zip(merged, runs, strict=True) if counted)
        curve[chosen] = bounds(composed, steps=rows[np.ix_(chosen, runs)])
    # Count begun epochs for upper bounds, completed epochs for lower ones; keep approximations.
    return tuple(
        replace(high, lower=low.lower, kind="bracket" if low.lower > 0 else "upper")
        if high.kind != "approximate" and not np.array_equal(n, m)
        else high
        for high, low, n, m in zip(curve, curve[steps.size :], begun, complete, strict=False)
    )


Mechanism._accountant = staticmethod(accountant_of)
