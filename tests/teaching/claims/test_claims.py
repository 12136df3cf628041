"""Claims: true theorems show no violation, wrong ones a counterexample that others confirm."""

import json
import math

import numpy as np
import pytest

from cases import each
from dplearn.accountants import ACCOUNTANTS
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.teaching.book import book
from dplearn.teaching.book.kit.oracles import coins_delta, normal_delta
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.claims import PARAMETERS, QUANTITIES, STATUS, setting, verdict_on
from dplearn.teaching.claims._parameters import canonical
from dplearn.teaching.claims._truth import ends_at, subject
from dplearn.teaching.claims.verdict import HOLDS, VIOLATED
from outcomes import epsilon_of_coins

POISSON = "poisson_subsampled_gaussian"
# What a short test can pay for.
LITTLE = {"q": 0.01, "delta": 1e-5}
AMPLIFIED = {"quantity": "amplified_epsilon", "of": "pure_dp"}


TYPED = {
    entry.id if source is entry else f"{entry.id}/{source.name}": source.typed
    for entry in book.values()
    for source in (entry, *entry.misprints)
    if source.typed
}
# Where the classical noise is proved: epsilon is at most 1.
UP_TO_ONE = {"sigma": {"epsilon": (1e-4, 1.0)}, "epsilon": {"sigma": (10.0, 100.0)}}


@each("id, forms", TYPED.items())
@pytest.mark.slow
def test_theorems_show_no_violation_and_misprints_do(id, forms):
    for form in forms:
        truths = [subject(form.quantity, of) for of in form.mechanisms]
        spoken = [canonical(parse(form.expression).names, (*t.names, "alpha")) for t in truths]
        if truths[0].costly or form.mechanisms[0] == POISSON:
            continue
        fixed = UP_TO_ONE[form.quantity] if id == "G-B4" else {}
        # So many orders need no steps as well.
        fixed |= {"T": 100.0} if {"alpha", "T"} <= set(spoken[0]) else {}
        question = {"quantity": form.quantity, "of": form.mechanisms[0], "fixed": fixed}
        verdict = verdict_on(form.expression, **question)
        assert verdict.status == ("violated" if "/" in id else "holds")
        if verdict.status == "holds":
            assert verdict.violated == 0 and verdict.decided > 20
            assert verdict.simplest is verdict.region is None
            assert not any(VIOLATED in row for row in verdict.map.status)
            assert verdict.looseness[0] >= 1 - 1e-6


@each("id", ["G-E1", "G-B5", "G-A8", "G-D4"])
def test_an_equality_is_one_in_both_directions(id):
    (form,) = TYPED[id]
    claim, question = form.expression, {"quantity": form.quantity, "of": form.mechanisms[0]}
    # Where sinh and exp overflow the claim is undefined, and nothing is said.
    fixed = {"epsilon": (0.1, 2.0)} | ({"alpha": (1.5, 50.0)} if form.quantity == "rdp" else {})
    for relation in ("upper", "lower", "equal"):
        verdict = verdict_on(claim, **question, relation=relation, fixed=fixed)
        # Where a difference loses its digits nothing is said.
        assert verdict.violated == 0 and verdict.decided > 0.6 * verdict.points
    wrong = verdict_on(f"({claim})*1.001", **question, relation="equal", fixed=fixed)
    assert wrong.violated == wrong.decided > 0


def test_the_classical_gaussian_fails_beyond_8_42():
    claimed = {"claim": "sqrt(2*log(1.25/delta))/epsilon", "quantity": "sigma", "of": "gaussian"}
    verdict = verdict_on(**claimed)
    assert verdict.status == "violated" and verdict.simplest.parameters["epsilon"] == 10
    assert verdict.region.parameter == "epsilon" and verdict.region.value == 4
    assert verdict.region.turns == pytest.approx(8.4197713, rel=2e-4)
    # The definition itself agrees: less noise than claimed to suffice is too little.
    assert normal_delta(epsilon=10, mu=1 / verdict.simplest.claimed) > 2.2e-5 > 1e-5
    enough = normal_delta(epsilon=10, mu=1 / verdict.simplest.upper)
    assert enough == pytest.approx(1e-5, rel=1e-6)
    assert verdict_on(**claimed, fixed={"epsilon": (0.01, 1.0)}).status == "holds"


def test_amplification_is_not_linear():
    point = verdict_on("q*epsilon", quantity="amplified_epsilon", of="approximate_dp").simplest
    assert point.parameters == {"epsilon": 1, "q": 0.01}
    assert point.lower / point.claimed == pytest.approx(1.7037, abs=1e-4)
    below = verdict_on("q*epsilon", **AMPLIFIED, fixed={"q": (1e-4, 0.9)})
    assert below.violated == below.decided == below.points and "fails at all" in str(below)
    # As a lower bound the same formula is a theorem.
    assert verdict_on("q*epsilon", **AMPLIFIED, relation="lower").status == "holds"


def test_the_plotted_curve_of_advanced_composition():
    plotted = {"claim": "2*epsilon*sqrt(2*k*log(1/delta))", "quantity": "epsilon", "of": "pure_dp"}
    point = verdict_on(**plotted).simplest
    assert point.parameters == {"epsilon": 1, "T": 1000, "delta": 1e-5}
    assert point.lower <= epsilon_of_coins([1.0], [1000], 1e-5) <= point.upper * (1 + 1e-9)
    named = verdict_on(**plotted, fixed={"k": 500, "eps": 1, "delta": 1e-5})
    assert named.simplest.claimed == pytest.approx(214.5966, abs=1e-4)


@pytest.mark.slow
def test_the_growth_of_the_sampled_gaussian_is_no_bound():
    claim = "q*sqrt(T*log(1/delta))/sigma"
    verdict = verdict_on(claim, quantity="epsilon", of=POISSON, fixed=LITTLE)
    point = verdict.simplest
    assert verdict.status == "violated" and point.lower > 1.01 * point.claimed
    step = PoissonSubsampled(Gaussian(point.parameters["sigma"]), 0.01)
    steps = int(point.parameters["T"])
    assert ACCOUNTANTS["rdp"]().epsilon(step, delta=1e-5, steps=steps).epsilon > point.claimed
    assert point.lower <= ACCOUNTANTS["pld"]().epsilon(step, delta=1e-5, steps=steps).epsilon
    assert verdict.map.axes == ("sigma", "T") and dict(verdict.map.fixed) == LITTLE
    # Both colours are in the picture.
    assert {HOLDS, VIOLATED} <= {status for row in verdict.map.status for status in row}


def test_closed_bounds_of_the_sampled_gaussian_hold_only_inside_their_conditions():
    claimed = {"claim": "2*q^2*alpha/sigma^2", "quantity": "rdp", "of": POISSON}
    inside = {"sigma": (4.0, 100.0), "q": (1e-4, 0.1), "alpha": (1.1, 5.0)}
    assert verdict_on(**claimed, fixed=inside).status == "holds"
    verdict = verdict_on(**claimed)
    assert verdict.status == "violated"


@pytest.mark.slow
@each(
    "claim, quantity, of, fixed",
    [
        ("q*sqrt(T)/epsilon", "sigma", POISSON, LITTLE | {"epsilon": 1}),
        ("exp(-epsilon)", "delta", POISSON, {"q": 0.1}),
        ("T*epsilon/2", "epsilon", "laplace", {"delta": 1e-5}),
        ("exp(-epsilon)", "delta", "laplace", {"epsilon_0": 2}),
        ("epsilon_0/100", "delta", "pure_dp", {}),
        ("q*T/sigma", "epsilon", "without_replacement_gaussian", LITTLE | {"T": (1, 10)}),
        ("alpha/(2*sigma^2)", "rdp", "without_replacement_gaussian", {"q": 1}),
        ("alpha*epsilon^2/8", "rdp", "pure_dp", {}),
    ],
)
def test_every_kind_of_truth_finds_a_violation(claim, quantity, of, fixed):
    verdict = verdict_on(claim, quantity=quantity, of=of, fixed=fixed)
    assert verdict.status == "violated", str(verdict)
    assert verdict.simplest.claimed < verdict.simplest.lower <= verdict.simplest.upper


def test_a_failure_between_the_points_counts_and_one_that_is_not_confirmed_does_not(monkeypatch):
    # Right at every value tried, wrong in a gap between them.
    claim = "ln(1 + q*(exp(epsilon)-1)) * (1 - 0.5*(epsilon > 1.1 and epsilon < 1.9))"
    verdict = verdict_on(claim, **AMPLIFIED)
    assert verdict.violated == 0 and verdict.status == "violated"
    assert 1.1 < verdict.simplest.parameters["epsilon"] < 1.9
    assert "between the points" in str(verdict)
    monkeypatch.setattr("dplearn.teaching.claims.certified.Trial.confirmed", lambda *_: None)
    verdict = verdict_on("q*epsilon", **AMPLIFIED)
    assert verdict.status == "undecided" and "The rough answer stands against it" in str(verdict)


def bracket(truth, at, rtol=1e-6):
    """Both ends at one point."""
    points = {name: np.array([float(value)]) for name, value in at.items()}
    (lower,), (upper,) = ends_at(truth, points, rtol=rtol)
    return float(lower), float(upper)


def test_optimal_composition_leaves_room_for_what_it_was_rounded_up():
    """What the tails of the binomial law are granted, whatever the total: here 8e-5 to 8."""
    for epsilon, steps, delta in (
        (1e-4, 1, 1e-5), (1e-3, 10, 1e-3), (1e-3, 2000, 1e-3), (0.01, 10, 0.01), (0.1, 100, 1e-5),
        (0.25, 800, 0.999), (0.5, 50, 0.01),
    ):  # fmt: skip
        at = {"epsilon": epsilon, "T": steps, "delta": delta}
        lower, upper = bracket(subject("epsilon", "pure_dp"), at)
        exact = epsilon_of_coins([epsilon], [steps], delta)
        assert lower <= exact <= upper, at
        assert upper - exact <= upper - lower <= 100 * (upper - exact), at


def test_the_noise_that_is_needed_is_bracketed():
    at = {"epsilon": 1.0, "T": 100.0, "q": 0.1, "delta": 1e-5}
    lower, upper = bracket(subject("sigma", POISSON), at)
    assert 0 < upper - lower < 1e-5 * upper
    for sigma, enough in ((lower, False), (upper, True)):
        step = PoissonSubsampled(Gaussian(sigma), 0.1)
        verdict = ACCOUNTANTS["pld"]().epsilon(step, delta=1e-5, steps=100)
        assert verdict.epsilon <= 1 if enough else verdict.lower > 1


@each(
    "of, at, truth",
    [
        ("randomized_response", {"epsilon": 2.0, "epsilon_0": 0.3, "T": 40},
         coins_delta(epsilon=2.0, local=0.3, steps=40)),
        # Sampling everything is no sampling; T steps are one with noise smaller by sqrt(T).
        (POISSON, {"epsilon": 2.0, "sigma": 6.0, "T": 30, "q": 1.0},
         normal_delta(epsilon=2.0, mu=math.sqrt(30) / 6)),
        ("without_replacement_gaussian", {"epsilon": 2.0, "sigma": 12.0, "T": 30, "q": 1.0},
         normal_delta(epsilon=2.0, mu=math.sqrt(30) / 6)),
    ],
)  # fmt: skip
@each("rtol", [1e-3, 1e-6])
def test_delta_of_all_steps_is_bracketed(of, at, truth, rtol):
    lower, upper = bracket(subject("delta", of), at, rtol)
    # A small relative error in epsilon is many times as large in delta.
    assert lower <= truth <= upper < truth * (1 + 100 * rtol)


@each("relation", ["upper", "lower", "equal"])
def test_inside_the_bracket_nothing_is_said(relation):
    at = {"sigma": 1.0, "T": 100.0, "q": 0.01, "delta": 1e-5}
    question = {"quantity": "epsilon", "of": "without_replacement_gaussian"}
    lower, upper = bracket(subject(**question), at)
    assert upper > 1.001 * lower
    for claim, status in (
        (0.5 * (lower + upper), "undecided"),
        (0.9 * lower, "holds" if relation == "lower" else "violated"),
        (1.1 * upper, "holds" if relation == "upper" else "violated"),
    ):
        verdict = verdict_on(f"{claim:.12g}", **question, relation=relation, fixed=at)
        assert verdict.status == status


def test_points_come_back_in_their_order():
    points = {"alpha": np.array([4.0, 2.0, 3.0]), "sigma": np.ones(3), "q": np.ones(3)}
    for of in ("gaussian", POISSON):
        _, upper = ends_at(subject("rdp", of), points, rtol=1e-3)
        assert upper == pytest.approx(points["alpha"] / 2)


@pytest.mark.slow
def test_every_quantity_of_every_mechanism_answers_and_serialises():
    for quantity, mechanisms in QUANTITIES.items():
        for of, truth in mechanisms.items():
            fixed = {n: PARAMETERS[n].usual for n in truth.names[1:]}
            verdict = verdict_on("inf", quantity=quantity, of=of, fixed=fixed)
            assert verdict.status in ("holds", "undecided"), str(verdict)
            plain = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
            assert plain["status"] == verdict.status and plain["of"] == of
            assert all(0 <= s < len(STATUS) for row in plain["map"]["status"] for s in row)


def test_what_a_claim_leaves_open():
    """No value is undefined; T, where it is not spoken of, is 1; axes of the map may be chosen."""
    verdict = verdict_on("log(-epsilon)*q", **AMPLIFIED)
    assert verdict.decided == 0 and verdict.status == "undecided"
    assert {STATUS[s] for row in verdict.map.status for s in row} == {"undefined"}
    verdict = verdict_on("sqrt(2*log(1.25/delta))/sigma", quantity="epsilon", of="gaussian")
    assert dict(verdict.fixed) == {"T": 1} and "with T = 1" in str(verdict)
    chosen = verdict_on("q*epsilon", **AMPLIFIED, axes=("q", "epsilon")).map
    assert chosen.axes == ("q", "epsilon")
    assert np.shape(chosen.ratio) == (len(chosen.y), len(chosen.x))


@each(
    "change, message",
    [
        ({"claim": "q*"}, "position 3"),
        ({"claim": "q*sigma"}, "names among epsilon, q, got sigma"),
        ({"quantity": "mu"}, "quantity among epsilon, delta, sigma"),
        ({"of": "shuffled"}, "amplified_epsilon of one of approximate_dp, pure_dp"),
        ({"relation": "about"}, "relation one of"),
        ({"fixed": {"q": 2.0}}, r"q to be a number or a range in \[1e-06, 1\], got 2"),
        ({"fixed": {"q": (0.5, 0.1)}}, "Expected q to be"),
        ({"fixed": {"T": 1.0}}, "got T"),
        ({"axes": ("q", "q")}, "two different parameters"),
    ],
)
def test_bad_questions(change, message):
    question = {"claim": "q", **AMPLIFIED} | change
    with pytest.raises(ValueError, match=message):
        verdict_on(question.pop("claim"), **question)


def test_a_claim_is_read_as_it_is_written_and_its_left_side_sets_the_question():
    question = {"quantity": "epsilon", "of": "gaussian"}
    verdict = verdict_on(r"\sigma \ge \sqrt{2\ln(1.25/\delta)}/\varepsilon", **question)
    plain = verdict_on("sqrt(2*log(1.25/delta))/epsilon", **question | {"quantity": "sigma"})
    assert (verdict.quantity, verdict.relation) == ("sigma", "upper")
    assert verdict.simplest == plain.simplest and verdict.map == plain.map
    # Noise is measured in sensitivities; other constants are given.
    of_delta = verdict_on("Δ √(2 ln(1.25/δ))/ε", **question | {"quantity": "sigma"})
    assert of_delta.simplest == plain.simplest
    held = verdict_on("c2 √(ln 1/δ)/ε", **question | {"quantity": "sigma"}, fixed={"c2": 2.0})
    assert held.points == plain.points
    with pytest.raises(ValueError, match=r"Expected a value of c2, got none: hold c2=1, say\."):
        verdict_on("c2 √(ln 1/δ)/ε", **question)
    with pytest.raises(ValueError, match="got sgima; did you mean sigma"):
        verdict_on("1/sgima", **question)


def test_settings_in_words():
    assert setting("q=0.01") == ("q", 0.01)
    assert setting("T=1..1e4") == ("T", (1, 1e4))
    assert setting(" δ = 10⁻⁵ ") == ("delta", 1e-5) and setting("q=1/8")[1] == 0.125
    for wrong in ("q", "q=", "q=a", "q=1..", "=1..2..3"):
        with pytest.raises(ValueError, match="NAME=VALUE"):
            setting(wrong)
