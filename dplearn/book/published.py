"""Every published figure of data/published.csv: computed again, and compared as printed."""

import csv
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants import ACCOUNTANTS
from dplearn.accountants.theorems import rdp_to_epsilon, rdp_to_epsilon_mironov
from dplearn.book.chapters import book
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.datasets import shipped_table
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.solve import first_true
from dplearn.mechanisms import (
    Composed,
    Gaussian,
    Laplace,
    Mechanism,
    PoissonSubsampled,
    RandomizedResponse,
)

Row = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A published figure, and our value of it; nan where it is not computed."""

    id: str
    # Whether the recorded verdict is right; not computed where no code does what the source did.
    status: Literal["verified", "failed", "not computed"]
    verdict: str  # reproduces, within_one_percent, does_not_reproduce or not_checkable, as recorded
    why: str
    source: str
    printed: str
    value: float = math.nan
    # Minus the relative distance to the printed figure; 0 where a claimed inequality holds.
    worst_slack: float = math.nan
    seconds: float = 0.0
    kind: str = "published"

    @property
    def good(self) -> bool:
        """Whether nothing speaks against the recorded verdict."""
        return self.status != "failed"


@cache
def published() -> dict[str, Row]:
    """Id -> row of the table."""
    with shipped_table("published.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def drawn_figures() -> Iterator[dict[str, Any]]:
    """Published values of epsilon that lie on the curve of the accountant that they name."""
    numbers = {"sigma": "noise_multiplier", "q": "sample_rate", "delta": "delta", "T": "steps"}
    about = ("epsilon", "poisson_subsampled_gaussian", "add_remove", "=")
    for row in published().values():
        asked = tuple(row[name] for name in ("quantity", "mechanism", "adjacency", "relation"))
        own = row["method"] in ACCOUNTANTS and row["verdict"] != "does_not_reproduce"
        if own and asked == about and all(row[name] for name in numbers.values()):
            yield {
                **{symbol: number(row[name]) for symbol, name in numbers.items()},
                "source": row["source"],
                "value": row["published"],
                "epsilon": number(row["published"]),
                "accountant": row["method"],
            }


def check_figure(id: str) -> Figure:
    """Compute one figure and compare it with its verdict.

    Examples
    --------
    >>> check_figure("P01").status
    'verified'
    """
    began, row = time.perf_counter(), published()[id]
    about: dict[str, Any] = {name: row[name] for name in ("id", "verdict", "why", "source")}
    about["printed"] = row["relation"].replace("=", "", row["relation"] == "=") + row["published"]
    if not is_computed(row):
        return Figure(**about, status="not computed")
    value = computed(row)
    distance, printed = abs(value / number(row["published"]) - 1), as_printed(value, row)
    claimed = row["relation"] not in ("=", "~") and printed
    return Figure(
        **about,
        status="verified" if _verdict_is_right(distance, printed, row) else "failed",
        value=value,
        worst_slack=0.0 if claimed else -distance,
        seconds=time.perf_counter() - began,
    )


def is_computed(row: Row) -> bool:
    """Whether there is code for the mechanism and the method of a figure."""
    return row["mechanism"] in _BY_MECHANISM


def computed(row: Row) -> float:
    """What we get by the method of the source."""
    return float(_BY_MECHANISM[row["mechanism"]](row))


def _verdict_is_right(distance: float, printed: bool, row: Row) -> bool:
    if row["verdict"] == "reproduces":
        return printed
    if row["verdict"] == "within_one_percent":
        # One percent, up to the rounding of the printed figure.
        half = 0.5 * unit(row["published"], row["digits"]) / number(row["published"])
        return not printed and distance <= 0.01 + half
    return distance > 0.01 or not printed


def number(text: str) -> float:
    """A number that may be written as a fraction."""
    return float(text) if text == "inf" else float(Fraction(text))


def unit(value: str, digits: str | int) -> float:
    """One unit of the last digit that may be compared."""
    return 10.0 ** (int(f"{abs(number(value)):.15e}"[18:]) - int(digits) + 1)


def _settings(row: Row) -> dict[str, str]:
    return dict(p.split("=") for p in row["parameters"].split("; ") if "=" in p)


def _given(row: Row) -> tuple[float, float]:
    """delta, and the steps as the source counts them."""
    return number(row["delta"]), float(_settings(row).get("steps_unrounded", row["steps"]))


def _orders_of(row: Row) -> NDArray:
    match row["orders"]:
        case "real":
            return 1 + np.geomspace(0.05, 200, 4000)
        case "2..33" | "2..63" | "2..32":
            return np.arange(2.0, int(row["orders"][3:]) + 1)
        case "2..100 by 0.001":
            return np.arange(2000, 100_001) / 1000
        case "1.1..10.9 by 0.1; 12..63":
            return np.concatenate([np.arange(11, 110) / 10, np.arange(12.0, 64.0)])
    raise ValueError(f"Expected orders of a known form, got {row['orders']!r}.")


def _step_of(row: Row) -> PoissonSubsampled:
    return PoissonSubsampled(Gaussian(number(row["noise_multiplier"])), number(row["sample_rate"]))


def _by_orders(mechanism: Mechanism, row: Row, convert: Callable[..., NDArray]) -> float:
    """The smallest bound over the orders of the source; steps may be a fraction there."""
    (delta, steps), orders = _given(row), _orders_of(row)
    return float(np.min(convert(orders, steps * mechanism.rdp(orders), delta=delta)))


def _moments_after_a_release(row: Row) -> float:
    """A full-batch release comes first, with its noise told in words."""
    first = Gaussian(float(row["parameters"].split("noise_multiplier ")[1].split(" ")[0]))
    both = Composed([first, (_step_of(row), int(row["steps"]))])
    return ACCOUNTANTS["moments"]().epsilon(both, delta=number(row["delta"])).epsilon


def _calibrated(row: Row) -> float:
    if row["method"] == "rdp_mironov":  # no accountant of ours: real orders, first conversion
        step = lambda noise: _step_of(row | {"noise_multiplier": f"{noise:.12f}"})
        epsilon = lambda noise: _by_orders(step(noise), row, rdp_to_epsilon_mironov)
        enough = lambda noise: np.asarray(epsilon(noise) <= number(row["epsilon"]))
        return float(first_true(enough, lower=0.5, upper=5.0, rtol=1e-7))
    orders = {"orders": tuple(_orders_of(row))} if row["method"] == "rdp" else {}
    return smallest_noise_multiplier(
        PoissonSubsampled(Gaussian(1.0), number(row["sample_rate"])),
        ACCOUNTANTS[row["method"]](**orders),
        epsilon=number(row["epsilon"]),
        delta=number(row["delta"]),
        steps=int(row["steps"]),
        rtol=1e-7,
    ).value


def _central_limit(row: Row) -> float:
    """The central limit, also at a fraction of a step, which no accountant takes."""
    delta, steps = _given(row)
    growth = math.expm1(number(row["noise_multiplier"]) ** -2)
    mu = number(row["sample_rate"]) * math.sqrt(steps * growth)
    return float(Gaussian(1 / mu).profiles()[0].epsilon(delta))


def _accounted(name: str, row: Row) -> float:
    """What an accountant of ours says about a run of sampled Gaussians."""
    accountant, run = ACCOUNTANTS[name](), {"steps": int(row["steps"])}
    if row["quantity"] == "delta":
        return accountant.delta(_step_of(row), epsilon=number(row["epsilon"]), **run).delta
    return accountant.epsilon(_step_of(row), delta=number(row["delta"]), **run).epsilon


def _sampled(row: Row) -> float:
    """A run of sampled Gaussians by the method of the source."""
    match row["method"], row["quantity"]:
        case _, "noise_multiplier":
            return _calibrated(row)
        case "rdp", "rdp":
            return int(row["steps"]) * _step_of(row).rdp([number(row["order"])])[0]
        case "rdp" | "rdp_mironov" as method, _:
            convert = rdp_to_epsilon if method == "rdp" else rdp_to_epsilon_mironov
            return _by_orders(_step_of(row), row, convert)
        case "gdp", _:
            return _central_limit(row)
        case "moments", _ if "first" in row["parameters"]:
            return _moments_after_a_release(row)
        case method, _:
            return _accounted(method, row)


def _gaussian(row: Row) -> float:
    if row["method"] == "rdp":
        return _by_orders(Gaussian(number(row["noise_multiplier"])), row, rdp_to_epsilon)
    delta = number(row["delta"])
    scale = Gaussian.classical(epsilon=0.5, delta=delta).noise_multiplier * 0.5

    def too_small(epsilon: NDArray) -> NDArray:
        (profile,) = Gaussian(scale / float(epsilon)).profiles()
        return np.asarray(profile.log_delta(epsilon) > math.log(delta))

    # First epsilon at which the classical noise does not do.
    return float(first_true(too_small, lower=4.0, upper=12.0))


def _pure_dp(row: Row) -> float:
    delta, steps = _given(row)
    if row["method"] == "advanced":
        return float(book.functions["advanced_composition"](epsilon=1.0, steps=steps, slack=delta))
    orders = _orders_of(row)
    return float(np.min(rdp_to_epsilon(orders, np.full(orders.shape, 1.1), delta=delta)))


def _exponential_kl(row: Row) -> float:
    """KL of the worst pair of range epsilon = 1: losses t and t - 1."""
    t = np.linspace(0.45, 0.55, 5_001)
    p = (math.e - np.exp(t)) / (math.e - 1)
    pairs = zip(p, p * np.exp(-t), strict=True)
    return max(book.functions["kl_divergence"]([a, 1 - a], [b, 1 - b]) for a, b in pairs)


def _randomized_response(row: Row) -> float:
    flip, k = (float(_settings(row)[x]) for x in ("replacement_probability", "outcomes"))
    coin = RandomizedResponse.from_probability(truth=1 - flip + flip / k, answers=int(k))
    return coin.rdp([number(row["order"])], adjacency=cast(Adjacency, row["adjacency"]))[0]


def _laplace(row: Row) -> float:
    scale, sensitivity = (float(_settings(row)[x]) for x in ("scale", "sensitivity"))
    return float(Laplace(scale / sensitivity).profiles()[0].delta(number(row["epsilon"])))


def _tree(row: Row) -> float:
    """One record enters every level of one tree over the steps."""
    levels = {"steps": str(int(row["steps"]).bit_length())}
    return _by_orders(
        Gaussian(number(row["noise_multiplier"])), row | levels, rdp_to_epsilon_mironov
    )


def _zcdp(row: Row) -> float:
    """The best order of the conversion named: simple, rho + 2 sqrt(rho ln(1/delta)), or improved.

    A histogram in which one record is replaced has rho = 2 / (2 scale^2).
    """
    settings = _settings(row)
    rho = float(settings["rho"]) if "rho" in settings else 1 / number(settings["scale"]) ** 2
    convert = rdp_to_epsilon if row["method"] == "rdp" else rdp_to_epsilon_mironov
    orders = 1 + np.geomspace(0.1, 1e4, 200_001)
    return float(np.min(convert(orders, rho * orders, delta=number(row["delta"]))))


_BY_MECHANISM: dict[str, Callable[[Row], float]] = {
    "poisson_subsampled_gaussian": _sampled,
    "gaussian": _gaussian,
    "pure_dp": _pure_dp,
    "exponential": _exponential_kl,
    "randomized_response": _randomized_response,
    "laplace": _laplace,
    "tree_aggregation": _tree,
    "discrete_gaussian": _zcdp,
}


def shown(text: str) -> int:
    """Significant digits of a number as written."""
    return len(text.lstrip("-").split("e")[0].replace(".", "").lstrip("0"))


def as_printed(value: float, row: Row) -> bool:
    """Whether a value agrees with the figure by the rule of data/README.md."""
    published = number(row["published"])
    if row["relation"] in ("<", "<="):
        return value <= published
    if row["relation"] in (">", ">="):
        return value >= published
    digits = min(int(row["digits"]), shown(row["computed"]))
    close = abs(value - published) <= unit(row["published"], digits) * (1 + 1e-6)
    # "about 1" promises a first digit, everything else one percent.
    return close and (row["relation"] == "~" or abs(value / published - 1) <= 0.01)
