"""Construction of certificates from numbers that the contour engine computes."""

import json
import math
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants import ACCOUNTANTS
from dplearn.certificates.check import FORMAT, NotProvedError, check
from dplearn.core.guarantee import Adjacency, round_down, round_up
from dplearn.engine.contour.epsilon import TRIES
from dplearn.engine.contour.line import Line
from dplearn.engine.contour.table import Table, largest_power, shared
from dplearn.mechanisms import Gaussian, Mechanism, PoissonSubsampled

# Relative widenings of the bracket of epsilon, tried in turn until a proof succeeds. Errors by
# aliasing and truncation, relative to delta, may reach _SHARE times the widening.
_ROOM, _SHARE = (1e-9, 1e-7, 1e-5, 1e-3), 1e-2
# Largest 2 pi * (number of nodes) of a contour.
_LONGEST = 8e5
# Largest "cut angle" in a proof: the bound in the checker holds only below pi / 2.
_LARGEST_ANGLE = 1.4


def certify(
    mechanism: Mechanism, *, delta: float, steps: int = 1, adjacency: Adjacency = "add_remove"
) -> str:
    """Return a certificate of bounds on the mechanism's epsilon at `delta`, verified by `check`.

    Parameters
    ----------
    mechanism : Gaussian, or PoissonSubsampled of one
    delta : float in (0, 1), read, like all numbers, as its printed decimal
    steps : int >= 1
    adjacency : "add_remove", "replace_one" or "zero_out"

    Returns
    -------
    str, JSON text

    Raises
    ------
    NotImplementedError for other mechanisms, or if no proof is found
    """
    if isinstance(mechanism, PoissonSubsampled) and mechanism.sample_rate == 1:
        mechanism = mechanism.base
    base = mechanism.base if isinstance(mechanism, PoissonSubsampled) else mechanism
    if not isinstance(base, Gaussian):
        raise NotImplementedError(f"a proof of {mechanism} is not supported: it has no form")
    run = {"mechanism": base.name, "noise_multiplier": repr(base.noise_multiplier)}
    if isinstance(mechanism, PoissonSubsampled):
        rate = repr(mechanism.sample_rate)
        run |= {"mechanism": "poisson_subsampled_gaussian", "sample_rate": rate}
    run |= {"steps": steps, "delta": repr(delta), "adjacency": adjacency}
    bracket = ACCOUNTANTS["pld"](rtol=1e-9).epsilon(
        mechanism, delta=delta, steps=steps, adjacency=adjacency
    )
    reason = "the engine's bracket has no finite ends"
    finite = bracket.epsilon < math.inf and (bracket.lower > 0 or bracket.epsilon == 0)
    for room in _ROOM if finite else ():
        lower = round_down(bracket.lower * (1 - room), 12)
        upper = round_up(bracket.epsilon * (1 + room), 12)
        stated = {"format": FORMAT, "run": run, "lower": lower, "upper": upper}
        try:
            proofs, sides = _proofs(mechanism, stated, _SHARE * room)
        except NotProvedError as error:
            reason = str(error)
            continue
        stated |= proofs | {"made with": f"python-flint {version('python-flint')}"}
        for side in sides:
            text = json.dumps(stated | {"lower side": side}, indent=1)
            try:
                check(text)
                return text
            except NotProvedError as error:
                reason = str(error)
    raise NotImplementedError(f"no proof of this run was found: {reason}")


def _proofs(
    mechanism: Mechanism, stated: dict[str, Any], tau: float
) -> tuple[dict[str, Any], list[str]]:
    """Return a proof per direction, such as "remove", and directions to try for the lower bound."""
    proofs, bits, attained, run = {}, 128, {}, stated["run"]
    log_delta, upper = math.log(float(run["delta"])), float(stated["upper"])
    steps = np.array([float(run["steps"])])
    for pair in mechanism.sampled_gaussians(run["adjacency"]):
        side, table = pair.direction, Table(pair, largest_power(pair, log_delta))
        chernoff = table.chernoff(steps, np.array([upper]))[0]
        enough = chernoff < log_delta - 1e-3
        if np.any(enough):
            # The smallest mu that suffices needs the fewest integration nodes.
            proofs[side] = {"chernoff": repr(float(table.mu[np.argmax(enough)]))}
            continue
        proofs[side], digits = _contour(table, steps, upper, log_delta, math.log(tau))
        bits = max(bits, 64 + math.ceil(digits / math.log(2)))
        attained[side] = float(table.guess_log_delta(steps, np.array([upper]))[0])
    attained = attained or {"remove": 0.0}
    sides = sorted(attained, key=lambda side: attained[side] or -math.inf, reverse=True)
    return {"bits": bits, "proofs": proofs}, sides


def _contour(
    table: Table, row: NDArray, epsilon: float, log_delta: float, log_tau: float
) -> tuple[dict[str, Any], float]:
    """Return the parameters of a contour-sum proof, and the precision its check needs, in nats."""
    at, target = np.array([epsilon]), np.array([log_delta])
    need, at_zero = table.needs(row, at, target, log_tau)
    _, freedom, longer = TRIES[1]
    ((_, tilt),) = shared(*table.tilts((need, at_zero), row, freedom, longer), longer)
    period = 1.05 * table.period((need, at_zero), tilt)
    line = Line(table.pair, tilt)
    size = float(row[0]) * line.log_m - tilt * epsilon
    bound, (cut,), _ = line.cutoffs(row, np.array([size]) + at_zero)
    if not cut * period < _LONGEST:
        raise NotProvedError("its contour is too long")
    logs = bound.log_size - cut * bound.angle
    flat = np.flatnonzero(bound.phi[:, 0] < _LARGEST_ANGLE)
    angle = bound.phi[flat[np.argmin(np.logaddexp.reduce(logs[flat], axis=1))], 0]
    folds = table.chernoff(row, at)[0] - np.abs(table.mu - tilt) * period
    mu, folds = np.append(0.0, table.mu), np.append(-tilt * period, folds)
    right, left = mu > tilt * (1 + 1e-3), mu < tilt * (1 - 1e-3)
    larger, smaller = (mu[part][np.argmin(folds[part])] for part in (right, left))
    text = lambda x: repr(float(x))
    proof: dict[str, Any] = {"tilt": text(tilt), "period": text(period)}
    proof["nodes"] = math.ceil(1.02 * cut * period / (2 * math.pi)) + 2
    proof |= {"cut angle": text(angle), "larger": text(larger), "smaller": text(smaller)}
    return proof, math.log(row[0]) + max(size - log_delta, 0.0) - log_tau
