"""Every published figure: recomputed by the method that is named, and compared as printed."""

import math

import mpmath
import numpy as np
import pytest

from conftest import number, rows, unit
from dplearn._solve import first_true
from dplearn.accountants import accountants
from dplearn.accountants.moments import Moments
from dplearn.accountants.rdp import RDP
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.formulas.composition import advanced_composition
from dplearn.formulas.conversion import rdp_to_epsilon, rdp_to_epsilon_mironov
from dplearn.formulas.divergences import kl_divergence
from dplearn.mechanisms import Composed, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse

PUBLISHED = {r["id"]: r for r in rows("data/published.csv")}
# What this package does not compute (yet): audits, votes, lower bounds, other samplings' limits.
ELSEWHERE = {"P15c", "P26a", "P26b", "P30b", "P31b", "P35b", "P36a", "P36b", "P36c"}
VERDICTS = {"reproduces", "within_rounding", "does_not_reproduce", "not_checkable"}
COMPARED = [r for i, r in PUBLISHED.items() if i not in ELSEWHERE]


def settings(row):
    return dict(p.split("=") for p in row["parameters"].split("; ") if "=" in p)


def given(row):
    """delta, and the steps as the source counts them."""
    return number(row["delta"]), float(settings(row).get("steps_unrounded", row["steps"]))


def orders_of(row):
    match row["orders"]:
        case "real":
            return 1 + np.geomspace(0.05, 200, 4000)
        case "2..33" | "2..63" | "2..32":
            return np.arange(2.0, int(row["orders"][3:]) + 1)
        case "2..100 by 0.001":
            return np.arange(2000, 100_001) / 1000
        case "1.1..10.9 by 0.1; 12..63":
            return np.concatenate([np.arange(11, 110) / 10, np.arange(12.0, 64.0)])


def step_of(row):
    return PoissonSubsampled(Gaussian(number(row["noise_multiplier"])), number(row["sample_rate"]))


def by_orders(mechanism, row, convert):
    """The smallest bound over the orders of the source; steps may be a fraction there."""
    (delta, steps), orders = given(row), orders_of(row)
    return float(np.min(convert(orders, steps * mechanism.rdp(orders), delta=delta)))


def moments_after_a_release(row):
    """A full-batch release comes first, with its noise told in words."""
    first = Gaussian(float(row["parameters"].split("noise_multiplier ")[1].split(" ")[0]))
    both = Composed([first, (step_of(row), int(row["steps"]))])
    return Moments().epsilon(both, delta=number(row["delta"])).epsilon


def calibrated(row):
    if row["method"] == "rdp_mironov":  # no accountant of ours: real orders, first conversion
        return float(
            first_true(
                lambda z: (
                    by_orders(
                        step_of(row | {"noise_multiplier": f"{z:.12f}"}),
                        row,
                        rdp_to_epsilon_mironov,
                    )
                    <= number(row["epsilon"])
                ),
                lower=0.5,
                upper=5.0,
                rtol=1e-7,
            )
        )
    accountant = {
        "pld": accountants["pld"],
        "gdp": accountants["gdp"],
        "rdp": lambda: RDP(orders=tuple(orders_of(row))),
    }[row["method"]]()
    return smallest_noise_multiplier(
        accountant,
        mechanism=PoissonSubsampled(Gaussian(1.0), number(row["sample_rate"])),
        epsilon=number(row["epsilon"]),
        delta=number(row["delta"]),
        steps=int(row["steps"]),
        rtol=1e-7,
    ).value


def central_limit(row):
    """The accountant where steps are whole; the same formula at the source's fraction of one."""
    delta, steps = given(row)
    mu = number(row["sample_rate"]) * math.sqrt(
        steps * math.expm1(number(row["noise_multiplier"]) ** -2)
    )
    found = float(Gaussian(1 / mu).profiles()[0].epsilon(delta))
    whole = accountants["gdp"]().epsilon(step_of(row), delta=delta, steps=int(row["steps"]))
    assert found == pytest.approx(whole.epsilon, rel=1e-9 if steps == int(row["steps"]) else 1e-3)
    return found


def pld(row):
    asked = {"steps": int(row["steps"])}
    if row["quantity"] == "delta":
        return (
            accountants["pld"]().delta(step_of(row), epsilon=number(row["epsilon"]), **asked).delta
        )
    return accountants["pld"]().epsilon(step_of(row), delta=number(row["delta"]), **asked).epsilon


SAMPLED = {
    "moments": lambda row: (
        moments_after_a_release(row)
        if "first" in row["parameters"]
        else Moments().epsilon(step_of(row), delta=given(row)[0], steps=int(row["steps"])).epsilon
    ),
    "rdp_mironov": lambda row: by_orders(step_of(row), row, rdp_to_epsilon_mironov),
    "rdp": lambda row: (
        int(row["steps"]) * step_of(row).rdp([number(row["order"])])[0]
        if row["quantity"] == "rdp"
        else by_orders(step_of(row), row, rdp_to_epsilon)
    ),
    "gdp": central_limit,
    "pld": pld,
    "advanced": lambda row: (
        accountants["advanced"]()
        .epsilon(step_of(row), delta=number(row["delta"]), steps=int(row["steps"]))
        .epsilon
    ),
}


def gaussian(row):
    if row["method"] == "rdp":
        return by_orders(Gaussian(number(row["noise_multiplier"])), row, rdp_to_epsilon)
    delta = number(row["delta"])
    # First epsilon at which the classical noise is too small.
    scale = Gaussian.classical(epsilon=0.5, delta=delta).noise_multiplier * 0.5
    return float(
        mpmath.findroot(
            lambda e: (
                float(Gaussian(scale / float(e)).profiles()[0].log_delta(float(e)))
                - math.log(delta)
            ),
            (4, 12),
            solver="anderson",
        )
    )


def pure_dp(row):
    delta, steps = given(row)
    if row["method"] == "advanced":
        return float(advanced_composition(epsilon=1.0, steps=steps, slack=delta))
    orders = orders_of(row)
    return float(np.min(rdp_to_epsilon(orders, np.full(orders.shape, 1.1), delta=delta)))


def exponential_kl(row):
    """KL of the worst pair of range epsilon = 1: losses t and t - 1."""
    t = np.linspace(0.3, 0.7, 20_001)
    p = (math.e - np.exp(t)) / (math.e - 1)
    pairs = zip(p, p * np.exp(-t), strict=True)
    return max(kl_divergence([a, 1 - a], [b, 1 - b]) for a, b in pairs)


def randomized_response(row):
    flip, k = (float(settings(row)[x]) for x in ("replacement_probability", "outcomes"))
    coin = RandomizedResponse.from_probability(truth=1 - flip + flip / k, answers=int(k))
    return coin.rdp([number(row["order"])], adjacency=row["adjacency"])[0]


def laplace(row):
    scale, sensitivity = (float(settings(row)[x]) for x in ("scale", "sensitivity"))
    return float(Laplace(scale / sensitivity).profiles()[0].delta(number(row["epsilon"])))


def tree(row):
    """One record enters every level of one tree over the steps."""
    levels = math.floor(math.log2(int(row["steps"]))) + 1
    nodes = Composed([(Gaussian(number(row["noise_multiplier"])), levels)])
    one_tree = row | {"steps": "1"}
    return by_orders(nodes, one_tree, rdp_to_epsilon_mironov)


def zcdp(row):
    """The simple conversion: rho + 2 sqrt(rho ln(1/delta)), the best order of the first theorem."""
    orders, rho = 1 + np.geomspace(0.1, 1e4, 200_001), float(settings(row)["rho"])
    return float(np.min(rdp_to_epsilon_mironov(orders, rho * orders, delta=number(row["delta"]))))


BY_MECHANISM = {
    "poisson_subsampled_gaussian": lambda row: (
        calibrated(row) if row["quantity"] == "noise_multiplier" else SAMPLED[row["method"]](row)
    ),
    "gaussian": gaussian,
    "pure_dp": pure_dp,
    "exponential": exponential_kl,
    "randomized_response": randomized_response,
    "laplace": laplace,
    "tree_aggregation": tree,
    "discrete_gaussian": zcdp,
}


def shown(text):
    """Significant digits of a number as written."""
    return len(text.lstrip("-").split("e")[0].replace(".", "").lstrip("0"))


def as_printed(found, row):
    """Whether a value agrees with the figure by the rule of data/README.md."""
    published = number(row["published"])
    if row["relation"] in ("<", "<="):
        return found <= published
    if row["relation"] in (">", ">="):
        return found >= published
    digits = min(int(row["digits"]), shown(row["computed"]))
    close = abs(found - published) <= unit(row["published"], digits) * (1 + 1e-6)
    # "about 1" promises a first digit, everything else one percent.
    return close and (row["relation"] == "~" or abs(found / published - 1) <= 0.01)


@pytest.mark.parametrize("row", COMPARED, ids=lambda r: r["id"])
def test_figure(row):
    found = BY_MECHANISM[row["mechanism"]](row)
    # Our own column first: the figure that the verdict was given on. Advanced composition was
    # tabulated with another step cost, and is smaller here.
    if row["method"] != "advanced" or row["mechanism"] == "pure_dp":
        # Where only the lattice answers (P31a) the bound may be half a percent wide.
        slack = 5e-3 if row["id"] == "P31a" else 0.0
        computed, last = number(row["computed"]), unit(row["computed"], shown(row["computed"]))
        assert computed - last <= found <= computed * (1 + slack) + last
    published = number(row["published"])
    if row["verdict"] == "reproduces":
        assert as_printed(found, row)
    elif row["verdict"] == "within_rounding":
        assert not as_printed(found, row)
        # One percent, up to the rounding of the printed figure.
        half = 0.5 * unit(row["published"], row["digits"]) / published
        assert abs(found / published - 1) <= 0.01 + half
    else:
        assert abs(found / published - 1) > 0.01 or not as_printed(found, row)


def test_every_figure_is_compared_or_known_to_be_elsewhere():
    assert set(PUBLISHED) >= ELSEWHERE
    assert {r["verdict"] for r in PUBLISHED.values()} <= VERDICTS
    assert all(r["verdict"] != "not_checkable" for r in COMPARED)
    assert all(r["mechanism"] in BY_MECHANISM for r in COMPARED)
    assert len(PUBLISHED) == len(rows("data/published.csv"))


def test_limits_printed_as_guarantees_are_too_small():
    """P13, P15b and P16: the central limit value is below a proved lower end."""
    for name in ("P13a", "P15b", "P16a", "P16b"):
        row = PUBLISHED[name]
        exact = accountants["pld"]().epsilon(
            step_of(row), delta=number(row["delta"]), steps=int(row["steps"])
        )
        assert exact.lower > number(row["published"])


def test_no_one_conversion_gives_both_census_figures():
    both = [PUBLISHED[i] for i in ("P29a", "P29b")]
    for convert in (rdp_to_epsilon_mironov, rdp_to_epsilon):
        orders = 1 + np.geomspace(0.1, 1e4, 200_001)
        found = [
            float(np.min(convert(orders, float(settings(r)["rho"]) * orders, delta=1e-10)))
            for r in both
        ]
        assert not all(as_printed(f, r) for f, r in zip(found, both, strict=True))
