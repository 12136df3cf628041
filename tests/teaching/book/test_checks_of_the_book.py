"""`verify` and `refute` detect wrong entries; drawn parameters are in their domains."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from dplearn.core.guarantee import Reference
from dplearn.teaching.book import refute, run_all, verify
from dplearn.teaching.book.kit import domains
from dplearn.teaching.book.kit.checks import compare, starting_points
from dplearn.teaching.book.kit.domains import Linear, Log, Whole, design
from dplearn.teaching.book.kit.entry import Formula, Interval, Misprint, printed


def tail(*, rate, t):
    return math.exp(-rate * t)


def times(factor):
    return lambda rate, t: factor * tail(rate=rate, t=t)


def counted(*, rate, t):
    """Return exp(-rate * t) as (1 - rate * t / n)^n with n = 2^40."""
    return (1 - rate * t / 2**40) ** (2**40)


ENTRY = Formula(
    id="G-Z1",
    function=tail,
    title="Exponential tail",
    kind="identity",
    statement="e^{-rt}",
    reference=Reference("Nobody", 2000, "Lemma 1"),
    domain={"rate": Log(0.1, 10.0), "t": Linear(0.0, 3.0)},
    given="rate > 0 and t >= 0",
    oracle=counted,
    tolerance=1e-3,
    absolute=0.0,
    printed=[printed("0.3679", rate=1.0, t=1.0)],
)


def changed(**fields):
    return dataclasses.replace(ENTRY, **fields)


def test_right_formula_is_verified_and_flipped_sign_fails():
    right, again = verify(ENTRY), verify(ENTRY)
    assert right.good and -1e-3 < right.worst_slack <= 0 and right.points == 150
    assert right == dataclasses.replace(again, seconds=right.seconds, worst=right.worst)
    wrong = verify(changed(function=lambda rate, t: math.exp(rate * t)))
    assert wrong.status == "failed" and wrong.worst_slack < -0.5 and "instead of" in wrong.reason


def test_formula_with_too_wide_hypothesis_fails():
    """1 / (1 + rt) is an upper bound of exp(-rt) only if 1 + rt > 0."""
    domain = {"rate": Log(0.1, 10.0), "t": Linear(-3.0, 3.0)}
    over = lambda rate, t: 1 / (1 + rate * t)
    bound = changed(kind="upper", function=over, printed=(), domain=domain)
    assert verify(bound).good
    wide = verify(dataclasses.replace(bound, given="rate > 0 and 1 + rate*t != 0"))
    assert wide.status == "failed"
    found = refute(bound, Misprint("wide", "", "t", given="1 + rate*t != 0"))
    assert found.good and found.unsafe and 0.3 < found.harmless < 0.9
    assert found.counterexample.parameters["t"] < 0


def test_error_at_edge_of_hypothesis_is_found():
    """The claim is false only for 1.999 < rt <= 2, where no random draw lies."""
    near = lambda rate, t: math.exp(-rate * t) * (2.999 - rate * t)
    exact = {"oracle": lambda rate, t: np.exp(-rate * t), "tolerance": 1e-9}
    edge = changed(kind="upper", function=near, printed=(), given="rate*t <= 2", **exact)
    for seed in range(5):
        drawn_only = (compare(edge, at) for at in starting_points(edge, seed=seed))
        assert all(case.slack >= 0 for case in drawn_only), seed
        found = verify(edge, seed=seed)
        assert found.status == "failed" and 1.999 < math.prod(found.worst.parameters.values()) <= 2


def test_length_of_a_drawn_array_always_equals_the_drawn_count():
    size = domains.Drawn(lambda rng, n: np.zeros(n))
    space = {"n": Whole(2, 7), "t": Linear(0.0, 3.0), "zeros": size}
    same = lambda n, zeros: float(len(zeros) == n)
    assert verify(
        changed(function=same, oracle=lambda: 1.0, domain=space, given="n > 1", printed=())
    ).good


def test_verification_ignores_differences_of_subnormal_numbers():
    least = changed(oracle=lambda: 2.964e-323, function=lambda: 3.458e-323, printed=())
    assert verify(least).good


def test_oracle_that_calls_or_copies_the_formula_is_an_error():
    calling, copy = lambda rate, t: tail(rate=rate, t=t), lambda *, rate, t: math.exp(-rate * t)
    for case, oracle in {"itself": tail, "calls it": calling, "a copy": copy}.items():
        found = verify(changed(oracle=oracle))
        assert found.status == "error" and "independent" in found.reason, case


def test_exceptions_are_reported_as_errors():
    assert "ZeroDivisionError" in verify(changed(oracle=lambda rate: 1 / (rate - rate))).reason
    assert "no value" in verify(changed(oracle=lambda: math.nan)).reason
    assert verify(changed(function=lambda: math.nan)).status == "failed"
    assert "meet the hypothesis, got 0" in verify(changed(given="t > 4")).reason
    found = refute(ENTRY, Misprint("m", "", "m", claim=lambda: [1, 2]))
    assert found.status == "error" and "TypeError" in found.reason and not found.good


def test_printed_values_must_agree_to_last_digit():
    for text, good in (("0.36788", True), ("0.3677", False), ("0.34", False)):
        found = verify(changed(printed=[printed(text, rate=1.0, t=1.0)]))
        assert found.good == good, text


def test_bound_fails_only_on_the_wrong_side_of_the_exact_value():
    for kind, side in (("upper", 0.1), ("lower", -0.1)):
        for distance in (side, -side):
            found = verify(changed(kind=kind, function=times(1 + distance), printed=()))
            assert found.good == (distance == side), (kind, distance)
            slack = pytest.approx(0.1 if found.good else -0.1, abs=1e-3)
            assert found.worst_slack == slack, (kind, distance)

    # If the oracle returns an interval, an upper bound fails below it, a lower bound above it.
    def between(rate, t):
        x = counted(rate=rate, t=t)
        return Interval(0.9 * x, 1.1 * x)

    for kind in ("identity", "upper", "lower"):
        for factor, good in ((0.8, kind == "lower"), (1.0, True), (1.2, kind == "upper")):
            about = changed(kind=kind, oracle=between, printed=(), function=times(factor))
            assert verify(about).good == good, (kind, factor)


def test_verification_compares_infinite_values():
    always = {"printed": (), "oracle": lambda: math.inf}
    assert verify(changed(function=lambda: float("inf"), **always)).good
    assert verify(changed(function=lambda: 1.0, **always)).worst_slack == -math.inf
    assert verify(changed(kind="lower", function=lambda: 1.0, **always)).good
    assert verify(changed(kind="upper", function=lambda: math.inf, printed=())).good


def test_asymptotic_formula_must_have_shrinking_error():
    near = changed(
        kind="asymptotic", function=lambda rate, t: 1 - rate * t, printed=(),
        domain={"rate": Linear(0.5, 2.0)}, along={"t": (0.1, 0.01, 0.001)}, given="rate > 0",
    )  # fmt: skip
    found = verify(near)
    assert found.good and -1e-3 < found.worst_slack < 0
    assert not verify(dataclasses.replace(near, along={"t": (0.1, 0.3, 0.001)})).good
    assert not verify(dataclasses.replace(near, along={"t": (0.5, 0.3)})).good
    claim = Misprint("no-limit", "", "1 + rt", claim=lambda rate, t: 1 + rate * t)
    assert refute(dataclasses.replace(near, along={"t": (0.5, 0.3)}), claim).good


def test_refutation_reports_counterexample_and_whether_it_is_unsafe():
    half = lambda rate, t: math.exp(-rate * t / 2)
    found = refute(ENTRY, Misprint("half", "", "e^{-rt/2}", claim=half))
    assert found.good and not found.unsafe and found.safe_side and 0 < found.harmless < 0.2
    assert found.counterexample.parameters == {"rate": 1.0, "t": 1.0}
    assert found.worst.parameters == {"rate": 10.0, "t": 3.0}
    assert str(found.counterexample) == "rate=1, t=1: 0.606531 instead of 0.367879"
    double = refute(ENTRY, Misprint("double", "", claim=lambda rate, t: math.exp(-2 * rate * t)))
    assert double.unsafe and not double.safe_side
    larger = refute(changed(unsafe="larger"), Misprint("half", "", claim=lambda t: math.exp(-t)))
    assert larger.unsafe and larger.safe_side
    same = refute(ENTRY, Misprint("same", "", "", claim=times(1)))
    assert same.status == "stands" and not same.good and same.counterexample is None
    assert same.harmless == 1.0 and math.isnan(same.worst_slack)


def test_search_near_the_smallest_slack_finds_rare_errors():
    """The claim is false on few points, near the point of smallest slack."""
    cut = lambda rate, t: math.exp(-rate * t) * (1 + (t - 0.02) / 400)
    claim = Misprint("cut", "", kind="upper", claim=cut)
    found = refute(changed(tolerance=1e-5, oracle=lambda rate, t: np.exp(-rate * t)), claim)
    assert found.good and found.worst.parameters["t"] < 0.02


SPACE = {
    "a": Log(1e-3, 10.0, also=(math.inf,)),
    "b": Linear(-1.0, 1.0),
    "n": Whole(1, 1000),
    "c": domains.Choice("x", "y"),
    "p": domains.Distribution(4),
    "twice": domains.Derived(lambda drawn: 2 * drawn["b"]),
    "mask": domains.Drawn(lambda rng, drawn: rng.random(drawn["n"]) < 0.5),
}


def test_draws_are_inside_domains_and_reproducible():
    draw = lambda: design(SPACE, lambda x: x["n"] > 1, points=200, rng=np.random.default_rng(7))
    drawn, again = draw(), draw()
    assert len(drawn) == 200 and str(drawn) == str(again)
    for x in drawn:
        assert 1e-3 <= x["a"] <= 10 or x["a"] == math.inf
        assert -1 <= x["b"] <= 1 and 1 < x["n"] <= 1000 and isinstance(x["n"], int)
        assert x["c"] in "xy" and x["twice"] == 2 * x["b"] and x["mask"].size == x["n"]
        assert x["p"].sum() == pytest.approx(1) and np.all(x["p"] >= 0)
    assert {1e-3, 10.0, math.inf} <= {x["a"] for x in drawn}
    assert any(np.any(x["p"] == 0) for x in drawn)
    with pytest.raises(ValueError, match="Expected 5 points that meet the hypothesis, got 0"):
        design(SPACE, lambda x: False, points=5, rng=np.random.default_rng(7))


def test_nearby_and_rounded_values_are_inside_domains():
    rng = np.random.default_rng(3)
    points = design(SPACE, lambda x: True, points=50, rng=rng)
    for (name, domain), x in itertools.product(SPACE.items(), points):
        roundings = [domain.rounded(x[name], k) for k in range(3)]
        moved = domain.near(x[name], rng, 0.3, x)
        between = (domain.middle(x[name], moved),) if isinstance(domain, Linear) else ()
        for y in (moved, *between, *roundings):
            if isinstance(domain, Linear):
                assert domain.low <= y <= domain.high or y == math.inf, name
                assert isinstance(y, int) == isinstance(domain, Whole), name
            elif name == "p":
                assert y.sum() == pytest.approx(1) and np.all((y > 0) == (x[name] > 0))
    for value, shortened in ((0.0372, (0.05, 0.04, 0.037)), (8.0, (10.0,)), (0.0011, (0.001,))):
        for digits, rounded in enumerate(shortened):
            assert SPACE["a"].rounded(value, digits) == rounded, (value, digits)


A8_AND_MISPRINTS = ["G-A8", "G-A8/square", "G-A8/deviation-for-scale"]


@pytest.mark.slow
def test_check_all_checks_each_selected_id_once_in_order():
    results = run_all.check_all(["G-A8", "G-A9", "G-A8"], searches=1)
    assert [r.id for r in results] == [*A8_AND_MISPRINTS, "G-A9"]


@pytest.mark.slow
def test_check_all_checks_formulas_and_figures_in_processes(monkeypatch):
    monkeypatch.setattr(run_all, "all_ids", lambda: ["G-A8", "P01", "P36a"])
    found = list(run_all.check_all())
    assert [r.id for r in found] == [*A8_AND_MISPRINTS, "P01", "P36a"]
    assert all(r.good for r in found)
    assert run_all.as_row(found[-1])["value"] is None
    assert run_all.as_text(found[-2]).endswith("reproduces, here 1.25857")
    assert run_all.as_text(found[-1]).endswith("not computed")
