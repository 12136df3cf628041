"""A privacy statement is complete or refused, and each of its forms says the same."""

import html
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import norm

from dplearn import DPSGD, Phases, Tuned
from dplearn.certificates import NotProvedError, certify, check
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.pate import PATE
from plans import PLAN

RUN = DPSGD(noise_multiplier=1.1, sample_rate=0.01, steps=500)
PARTS: dict[str, Any] = {
    "delta": 1e-5,
    "unit": "one <image> of 5_000 & more",
    "period": "once",
    "sampling": "poisson",
    "tuning": "fixed",
}
PATE_PLAN = PATE(answers=100, noise_std=40)
USERS = replace(PLAN, sampling="without_replacement")
STATED = RUN.statement(**PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_a_missing_part_is_named(part):
    with pytest.raises(ValueError, match=rf"^Expected {part}, .*, got nothing\.$"):
        RUN.statement(**{k: v for k, v in PARTS.items() if k != part})


# Every word that a reader of one kind of plan must not miss, and what the plan itself decides.
PLANS = {
    "run": (RUN, {}, ["one <image>", "added or removed", "Poisson sampling", "certified"]),
    "phases": (Phases((RUN, replace(RUN, steps=20))), {}, ["Phases", "Poisson sampling"]),
    "users": (
        USERS,
        {"unit": "", "sampling": "without_replacement"},
        ["one user, with all that the user has", "replaced", "without replacement"],
    ),
    "teachers": (PATE_PLAN, {"unit": "", "sampling": ""}, ["the data of one teacher", "upper"]),
}


@pytest.mark.parametrize(("plan", "own", "words"), PLANS.values(), ids=PLANS)
def test_a_statement_of_each_plan_is_complete(plan, own, words):
    stated = plan.statement(**PARTS | own)
    assert stated.guarantee == plan.guarantee(delta=1e-5)
    unfolded = " ".join(str(stated).split())
    assert all(word in unfolded for word in [str(stated.guarantee), repr(plan), *words])
    assert all(assumed in unfolded for assumed in stated.guarantee.assumptions)


def test_the_attacker_in_words_is_the_best_one_against_a_gaussian():
    whole = DPSGD(noise_multiplier=2.0, sample_rate=1.0, steps=4, sampling="none")
    stated = whole.statement(**PARTS | {"sampling": "none"})  # type: ignore[arg-type]
    assert stated.caught == pytest.approx(norm.cdf(norm.ppf(0.01) + 1.0), rel=1e-6)
    tuned = whole.statement(**PARTS | {"sampling": "none", "tuning": Tuned(whole.composed, 3)})
    assert tuned.guarantee.epsilon > stated.guarantee.epsilon and tuned.caught > stated.caught
    # No test does better than the two lines of (epsilon, delta) allow.
    assert tuned.guarantee.epsilon == Tuned(whole.composed, 3).guarantee(delta=1e-5).epsilon


REFUSED = {
    "another sampling": ({"sampling": "shuffled"}, "state the plan of what was run"),
    "no bound": ({"accountant": "gdp"}, "proves a bound, got 'gdp'"),
    "unknown tuning": ({"tuning": "none"}, "one of fixed, public, uncounted, got tuning='none'"),
    "no tuning": ({"tuning": 3}, "got tuning=3"),
    "another run's tuning": ({"tuning": Tuned(Gaussian(1.0), 2)}, r"Tuned\(plan.composed"),
    "delta of 1": ({"delta": 1}, r"delta in \(0, 1\)"),
}


@pytest.mark.parametrize(("part", "message"), REFUSED.values(), ids=REFUSED)
def test_what_would_be_untrue_is_refused(part, message):
    with pytest.raises(ValueError, match=message):
        RUN.statement(**PARTS | part)


def test_no_privacy_is_no_statement():
    with pytest.raises(ValueError, match="Expected a finite epsilon"):
        replace(RUN, noise_multiplier=0.0).statement(**PARTS)


@pytest.mark.slow
def test_a_certificate_is_of_this_run_and_survives():
    step = PoissonSubsampled(Gaussian(1.1), 0.01)
    proof = certify(step, steps=500, delta=1e-5)
    stated = RUN.statement(**PARTS, certificate=proof)
    assert check(json.dumps(json.loads(stated.json())["certificate"]))
    assert f"{check(proof)}, says `dplearn check`; SHA-256 " in stated.rows["Certificate"]
    forged = json.loads(proof) | {"upper": "9\x00e-3"}
    with pytest.raises(NotProvedError, match="not proved"):
        RUN.statement(**PARTS, certificate=json.dumps(forged))
    with pytest.raises(ValueError, match="one of another steps"):
        replace(RUN, steps=499).statement(**PARTS, certificate=proof)
    with pytest.raises(ValueError, match="certificate of this run"):
        Phases((RUN, replace(RUN, sample_rate=0.02))).statement(**PARTS, certificate=proof)


def test_the_card_holds_every_part_and_nothing_from_elsewhere():
    card = STATED.card()
    assert not re.search(r"src=|href=|url\(|<image>", card)
    for part, words in STATED.rows.items():
        words = words.replace("epsilon", "ε").replace("delta", "δ").replace("<=", "≤")
        assert f">{words}</" in html.unescape(card) and (f">{part}</" in card or part == "Promise")


def test_latex_leaves_no_special_sign_bare():
    body = STATED.latex().splitlines()[1:-1]
    bare = re.compile(r"(?<!\\)[%#_]")
    assert len(body) == len(STATED.rows) and not [row for row in body if bare.search(row)]
    # One separator in a row: the one in the unit is escaped.
    assert all(len(re.findall(r"(?<!\\)&", row)) == 1 for row in body)


def test_json_holds_the_numbers_in_full():
    written = json.loads(STATED.json())
    assert written["guarantee"]["epsilon"] == STATED.guarantee.epsilon
    assert written["unit"] == PARTS["unit"] and written["certificate"] is None
