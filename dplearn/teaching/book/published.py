"""Published numbers of data/published.csv, recomputed and compared with their printed digits."""

import csv
import math
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants import ACCOUNTANTS
from dplearn.accountants.theorems import rdp_to_epsilon, rdp_to_epsilon_mironov
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.core.solve import first_true
from dplearn.datasets import shipped_table
from dplearn.mechanisms import Composed, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplearn.teaching.book.chapters import book
from dplearn.teaching.book.kit.verdicts import Outcome

Row = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Figure(Outcome):
    """Check of a published number: verified if the verdict in data/published.csv is right.

    The status is "not computed" if the source's method is not implemented. The slack is minus the
    relative distance to the printed number; 0 if a printed inequality holds.
    """

    kind: str = "published"
    verdict: str  # as recorded: a key of `sentences.VERDICTS`
    why: str
    source: str
    printed: str
    value: float = math.nan


@cache
def published() -> dict[str, Row]:
    """Return the rows of data/published.csv by id."""
    with shipped_table("published.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def drawn_figures() -> Iterator[dict[str, Any]]:
    """Yield parameters and epsilon of published DP-SGD runs that our accountants match to 1%."""
    numbers = {name: name for name in ("noise_multiplier", "sample_rate", "delta")} | {"T": "steps"}
    expected = ("epsilon", "poisson_subsampled_gaussian", "add_remove", "=")
    for row in published().values():
        fields = tuple(row[name] for name in ("quantity", "mechanism", "adjacency", "relation"))
        own = row["method"] in ACCOUNTANTS and row["verdict"] != "does_not_reproduce"
        if own and fields == expected and all(row[name] for name in numbers.values()):
            about = {"source": row["source"], "value": row["published"]}
            about |= {"epsilon": number(row["published"]), "accountant": row["method"]}
            yield {**{symbol: number(row[name]) for symbol, name in numbers.items()}, **about}


def check_figure(id: str) -> Figure:
    """Recompute a published number and check the verdict recorded in data/published.csv.

    Examples
    --------
    >>> check_figure("P01").status
    'verified'
    """
    began, row = time.perf_counter(), published()[id]
    about: dict[str, Any] = {name: row[name] for name in ("id", "verdict", "why", "source")}
    about["printed"] = row["relation"].replace("=", "", row["relation"] == "=") + row["published"]
    value = computed(row)
    if math.isnan(value):
        return Figure(**about, status="not computed")
    distance, printed = abs(value / number(row["published"]) - 1), reproduces(value, row)
    claimed = row["relation"] not in ("=", "~") and printed
    # Half a unit of the last printed digit is tolerated in addition to one percent.
    half = 0.5 * unit(row["published"], row["digits"]) / number(row["published"])
    right = {"reproduces": printed, "does_not_reproduce": distance > 0.01 or not printed}
    right["within_one_percent"] = not printed and distance <= 0.01 + half
    about["status"] = "verified" if right[row["verdict"]] else "failed"
    about |= {"value": value, "worst_slack": 0.0 if claimed else -distance}
    return Figure(**about, seconds=time.perf_counter() - began)


def number(text: str) -> float:
    """Return the number in a text: a decimal, a fraction such as 1/3, or inf."""
    return float(text) if text == "inf" else float(Fraction(text))


def unit(value: str, digits: str | int) -> float:
    """Return the place value of the last digit of `value` at `digits` significant digits."""
    return 10.0 ** (int(f"{abs(number(value)):.15e}"[18:]) - int(digits) + 1)


def _numbers(row: Row) -> dict[str, float]:
    """Return the numbers in a row and its field `parameters`, by name; prefer unrounded steps."""
    names = ("noise_multiplier", "sample_rate", "steps", "delta", "epsilon", "order")
    more = (part.partition("=") for part in row["parameters"].split("; ") if "=" in part)
    texts = {name: row[name] for name in names} | {name: text for name, _, text in more}
    at = {name: number(text.split()[0]) for name, text in texts.items() if text}
    return at | {"steps": at.get("steps_unrounded", at.get("steps", 1.0))}


def _orders_of(row: Row) -> NDArray:
    """Return the source's Rényi orders: a real grid, or ranges such as ``1..9 by 0.1; 12..63``."""
    if row["orders"] == "real":
        return 1 + np.geomspace(0.05, 200, 4000)
    parts = re.findall(r"([\d.]+?)\.\.([\d.]+)(?: by ([\d.]+))?", row["orders"])
    if not parts:
        raise ValueError(f"Expected orders of a known form, got {row['orders']!r}.")
    ranges = [(float(low), float(high), round(1 / float(by or 1))) for low, high, by in parts]
    return np.concatenate([np.arange(round(a * n), round(b * n) + 1) / n for a, b, n in ranges])


def step_of(row: Row) -> PoissonSubsampled:
    """Return one DP-SGD step of a row: Poisson-sampled Gaussian noise."""
    return PoissonSubsampled(Gaussian(number(row["noise_multiplier"])), number(row["sample_rate"]))


def _by_orders(rdp: Callable[[NDArray], NDArray], row: Row) -> float:
    """Return the least epsilon over the source's Rényi orders; the steps may be fractional."""
    orders, at = _orders_of(row), _numbers(row)
    convert = rdp_to_epsilon if row["method"] == "rdp" else rdp_to_epsilon_mironov
    return float(np.min(convert(orders, at["steps"] * rdp(orders), delta=at["delta"])))


def _sampled(row: Row) -> float:
    at, method = _numbers(row), row["method"]
    match method, row["quantity"]:
        case "rdp_mironov", "noise_multiplier":  # real orders, with the source's conversion
            step = lambda noise: step_of(row | {"noise_multiplier": f"{noise:.12f}"})
            enough = lambda noise: np.asarray(_by_orders(step(noise).rdp, row) <= at["epsilon"])
            return float(first_true(enough, lower=0.5, upper=5.0, rtol=1e-7))
        case _, "noise_multiplier":
            orders = {"orders": tuple(_orders_of(row))} if method == "rdp" else {}
            step = PoissonSubsampled(Gaussian(1.0), at["sample_rate"])
            accountant = ACCOUNTANTS[method](**orders)
            epsilon, delta, steps = at["epsilon"], at["delta"], int(at["steps"])
            return smallest_noise_multiplier(
                step, accountant, epsilon=epsilon, delta=delta, steps=steps, rtol=1e-7
            ).value
        case "rdp", "rdp":
            return at["steps"] * step_of(row).rdp([at["order"]])[0]
        case "rdp" | "rdp_mironov", _:
            return _by_orders(step_of(row).rdp, row)
        case "gdp", _:  # central limit theorem; steps may be fractional
            growth = math.expm1(at["noise_multiplier"] ** -2)
            noise = 1 / (at["sample_rate"] * math.sqrt(at["steps"] * growth))
            return float(Gaussian(noise).profiles()[0].epsilon(at["delta"]))
        case _, "delta":
            accountant, steps = ACCOUNTANTS[method](), int(at["steps"])
            return accountant.delta(step_of(row), epsilon=at["epsilon"], steps=steps).delta
    run = Composed([(step_of(row), int(row["steps"]))])
    if "first" in row["parameters"]:  # a full-batch release comes first
        noise = float(row["parameters"].split("noise_multiplier ")[1].split(" ")[0])
        run = Composed([Gaussian(noise), run])
    return run.guarantee(method, delta=at["delta"]).epsilon


def computed(row: Row) -> float:
    """Recompute a row's number by its source's method; return nan if we do not implement that."""
    at, functions = _numbers(row), book.functions
    match row["mechanism"], row["method"]:
        case "poisson_subsampled_gaussian", _:
            return _sampled(row)
        case "gaussian", "classical_threshold":
            return functions["classical_gaussian_threshold"](delta=at["delta"])
        case "gaussian", _:
            return _by_orders(Gaussian(at["noise_multiplier"]).rdp, row)
        case "pure_dp", "advanced":
            composed = functions["advanced_composition"]
            return float(composed(epsilon=at["epsilon"], steps=at["steps"], slack=at["delta"]))
        case "pure_dp", _:
            return _by_orders(lambda orders: np.full(orders.shape, at["rdp"]), row)
        case "exponential", _:  # KL divergence of the worst bounded-range pair
            return functions["bounded_range_zcdp"](epsilon=1.0)
        case "randomized_response", _:
            exact = 1 - at["replacement_probability"] * (1 - 1 / at["outcomes"])
            coin = RandomizedResponse.from_probability(truth=exact, answers=int(at["outcomes"]))
            return coin.rdp([at["order"]], adjacency="replace_one")[0]
        case "laplace", _:
            law = Laplace(at["scale"] / at["sensitivity"])
            return float(law.profiles()[0].delta(at["epsilon"]))
        case "tree_aggregation", _:  # a record is in one tree node of each level
            levels = row | {"steps": str(int(row["steps"]).bit_length())}
            return _by_orders(Gaussian(at["noise_multiplier"]).rdp, levels)
        case "discrete_gaussian", "zcdp":
            return float(functions["zcdp_to_epsilon_bun_steinke"](at["rho"], delta=at["delta"]))
        case "discrete_gaussian", _:  # a histogram has squared sensitivity 2
            return float(functions["zcdp_to_epsilon"](at["scale"] ** -2, delta=at["delta"]))
    return math.nan


def digits_of(text: str) -> int:
    """Return the number of significant digits written in `text`."""
    return len(text.lstrip("-").split("e")[0].replace(".", "").lstrip("0"))


def reproduces(value: float, row: Row) -> bool:
    """Return whether a value reproduces the published number by the rule of data/README.md."""
    published = number(row["published"])
    if row["relation"] in ("<", "<="):
        return value <= published
    if row["relation"] in (">", ">="):
        return value >= published
    digits = min(int(row["digits"]), digits_of(row["computed"]))
    close = abs(value - published) <= unit(row["published"], digits) * (1 + 1e-6)
    # The values must also agree to one percent, unless the source says "about" (~).
    return close and (row["relation"] == "~" or abs(value / published - 1) <= 0.01)
