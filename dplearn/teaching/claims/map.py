"""Picture of a verdict: claim / truth in the intended setting, over two of its letters.

It uses the verdict's proved value and lower bound, and does not judge again: a formula that is not
read has no map.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dplearn.teaching.book.kit.domains import Linear, Log, Whole
from dplearn.teaching.book.kit.terms import LENGTHS
from dplearn.teaching.claims.judging import judged
from dplearn.teaching.claims.matching import Trial, sign_of

STATUS = ("holds", "violated", "undecided", "undefined")
_CELLS = 33


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Claim / truth over two letters, the others fixed: entry [j][i] is at (x[i], y[j])."""

    axes: tuple[str, str]
    x: tuple[float, ...]
    y: tuple[float, ...]
    fixed: Mapping[str, float]
    ratio: tuple[tuple[float, ...], ...]  # nan if unknown
    status: tuple[tuple[int, ...], ...]  # index into `STATUS`
    entry: str
    setting: str
    chinese: str
    simplest: Mapping[str, float] | None  # the simplest failing point


def map_of(formula: str, *, words: str = "") -> Slice | None:
    """Return the map of a formula, or None if it has no verdict or only one letter.

    Examples
    --------
    >>> drawn = map_of("σ = √(2 ln(1.25/δ))/ε", words="Gaussian noise")
    >>> drawn.axes, drawn.entry, drawn.simplest["ε"]
    (('δ', 'ε'), 'G-B4', 10.0)
    """
    finding, matches = judged(formula, words=words)
    candidate = matches[0].trial if matches else None
    if finding.verdict == "not read" or candidate is None or candidate.claim.second_is_formula:
        return None
    columns = {
        sign_of(n): c for n, c in candidate.letters.items() if c not in candidate.table.lists
    }
    if len(columns) < 2 or candidate.table.lists:
        return None
    first, second, *_ = columns
    shown = first, second
    point = {
        name: float(x[matches[0].example or 0, 0]) for name, x in candidate.table.columns.items()
    }
    x, y = (_values(candidate, columns[name], point) for name in shown)
    grid = {name: np.full((len(x) * len(y), 1), value) for name, value in point.items()}
    grid[columns[shown[0]]] = np.tile(x, len(y))[:, None]
    grid[columns[shown[1]]] = np.repeat(y, len(x))[:, None]
    ratio, status = _statuses(candidate, grid, (len(y), len(x)))
    at = {name: point[c] for name, c in columns.items()}
    return Slice(
        axes=shown,
        x=tuple(x.tolist()),
        y=tuple(y.tolist()),
        fixed={n: v for n, v in at.items() if n not in shown},
        ratio=tuple(map(tuple, ratio.tolist())),
        status=tuple(map(tuple, status.tolist())),
        entry=candidate.table.entry.id,
        setting=candidate.table.setting.text,
        chinese=candidate.table.setting.chinese,
        simplest=None if matches[0].example is None else at,
    )


def _values(trial: Trial, column: str, point: Mapping[str, float]) -> np.ndarray:
    """Return the values of one axis, including the point's."""
    domain = trial.table.domains.get(column, Log(0.3, 4.0))
    if not isinstance(domain, Linear):
        return np.array([point[column]])
    low, high = domain.low, domain.high
    if column in LENGTHS and "sensitivity" in point and "sensitivity" not in trial.table.domains:
        low, high = low * point["sensitivity"], high * point["sensitivity"]
    space = np.geomspace if isinstance(domain, Log) and low > 0 else np.linspace
    values = np.append(space(low, high, _CELLS), point[column])
    return np.unique(np.round(values) if isinstance(domain, Whole) else values)


def _statuses(trial: Trial, grid: Mapping, shape: tuple[int, int]) -> tuple:
    """Return claim / truth and the index of the status at the points of a grid."""
    there, sign = trial.moved(grid), trial.sign
    with np.errstate(all="ignore"):
        ratio, same = there.claimed / there.needed, {"rtol": 1e-6, "atol": 1e-14}
        good = there.enough if sign else np.isclose(there.claimed, there.needed, **same)
    bad = there.wrong if sign else ~good
    status = np.select([np.isnan(there.claimed), bad, good], [3, 1, 0], 2)
    return ratio.reshape(shape), status.reshape(shape)
