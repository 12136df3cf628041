"""Privacy statements are complete or refused, and all formats agree."""

import datetime
import html
import json
import re
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import pytest
from jsonschema import Draft7Validator
from scipy.stats import norm

from cases import ROOT, each
from dplearn import DPSGD, Phases, Tuned
from dplearn.certificates import NotProvedError, certify, check
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.pate import PATE
from plans import PLAN

RUN = DPSGD(noise_multiplier=1.1, sample_rate=0.01, steps=500)
PARTS: dict[str, Any] = {
    "delta": 1e-5,
    "unit": "one <image> of 5_000 & more",
    "records": 9_999,
    "period": "once",
    "sampling": "poisson",
    "tuning": "fixed",
    "released": "every_step",
    "trust": "central",
    "trusted": "the hospital",
}
DATE = datetime.date(2026, 3, 1)
PATE_PLAN = PATE(answers=100, noise_std=40)
USERS = replace(PLAN, sampling="without_replacement")
STATED = RUN.statement(**PARTS, date=DATE)


# Texts that the statement of each kind of plan must contain, and parts fixed by the plan.
PLANS = {
    "run": (RUN, {}, ["one <image>", "added or removed", "Poisson sampling", "certified"]),
    "phases": (Phases((RUN, replace(RUN, steps=20))), {}, ["Phases", "Poisson sampling"]),
    "users": (
        USERS,
        {"unit": "", "records": None, "sampling": "without_replacement", "trust": "distributed"},
        ["one user, with all that the user has", "replaced", "without replacement", "3,000; "],
    ),
    "teachers": (
        PATE_PLAN,
        {"unit": "", "sampling": "", "released": "answers"},
        ["the data of one teacher", "upper", "every answer"],
    ),
}


@each("plan, own, words", PLANS.values())
def test_statement_of_each_plan_is_complete(plan, own, words):
    words = [*words, "the hospital", version("dplearn-privacy"), "exact real numbers", "seed"]
    stated = plan.statement(**PARTS | own)
    assert stated.guarantee == plan.guarantee(delta=1e-5)
    unfolded = " ".join(str(stated).split())
    assert all(word in unfolded for word in [str(stated.guarantee), repr(plan), *words])
    assert all(assumed in unfolded for assumed in stated.guarantee.assumptions)


def test_statement_gives_the_largest_true_positive_rate_against_a_gaussian():
    whole = DPSGD(noise_multiplier=2.0, sample_rate=1.0, steps=4, sampling="none")
    stated = whole.statement(**PARTS | {"sampling": "none"})  # type: ignore[arg-type]
    assert stated.true_positive_rate == pytest.approx(norm.cdf(norm.ppf(0.01) + 1.0), rel=1e-6)
    tuned = whole.statement(**PARTS | {"sampling": "none", "tuning": Tuned(whole, 3)})
    assert tuned.guarantee.epsilon > stated.guarantee.epsilon
    assert tuned.true_positive_rate > stated.true_positive_rate
    # With tuning, (epsilon, delta) of `Tuned` alone bounds the attack.
    assert tuned.guarantee.epsilon == Tuned(whole, 3).guarantee(delta=1e-5).epsilon


NOTHING = {"delta": None, "records": None}
BY_USERS = {"sampling": "without_replacement", "unit": "", "records": None}
COUNTED = DPSGD.from_epochs(dataset_size=9_000, batch_size=90, epochs=5, noise_multiplier=1.1)
# Plan, changed parts and message.
REFUSED = [
    *((RUN, {part: NOTHING.get(part, "")}, rf"^Expected {part}, .*, got nothing\.$")
      for part in PARTS),
    (RUN, {"sampling": "shuffled"}, "state the plan of what was run"),
    (RUN, {"accountant": "gdp"}, "proves a bound, got 'gdp'"),
    (RUN, {"tuning": "none"}, "one of fixed, public, uncounted, got tuning='none'"),
    (RUN, {"tuning": 3}, "got tuning=3"),
    (RUN, {"tuning": Tuned(Gaussian(1.0), 2)}, r"Tuned\(plan,"),
    (RUN, {"delta": 1}, r"delta in \(0, 1\)"),
    (RUN, {"records": 100_000}, r"records \* delta < 1, got 100000 \* 1e-05 = 1: "),
    (RUN, {"records": 49, "delta": 1 / 49}, r"records \* delta < 1"),
    (RUN, {"records": 0}, "Expected records a whole number >= 1, got records=0"),
    (RUN, {"released": "answers"}, "one of every_step, last_model, metrics, got"),
    (RUN, {"trust": "none"}, "one of central, distributed, local, got trust='none'"),
    (RUN, {"period": ["once"]}, r"period to be a str, got period=\['once'\]"),
    (RUN, {"not_covered": "my cat"}, "not_covered to be a list of str, got 'my"),
    (RUN, {"date": "yesterday"}, "date to be a date, got date='yesterday'"),
    (RUN, {"date": datetime.date(2199, 1, 1)}, "date not after today, .*2199-01-01"),
    (RUN, {"trust": "local"}, "sampling='none' alone, got poisson"),
    (replace(RUN, noise_multiplier=0.0), {}, "Expected a finite epsilon"),
    (USERS, BY_USERS | {"records": 2000}, "records=3000 as in the plan, got records=2000"),
    (USERS, BY_USERS | {"unit": "one image"}, "as in the plan, got unit='one image"),
    (COUNTED, {}, "records=9000 as in the plan, got records=9999"),
    (Phases((RUN, COUNTED)), {}, "records=9000 as in the plan, got records=9999"),
]  # fmt: skip


@each("plan, part, message", REFUSED)
def test_incomplete_and_untrue_statements_are_refused(plan, part, message):
    with pytest.raises((TypeError, ValueError), match=message):
        plan.statement(**PARTS | part)


def test_statement_takes_the_number_of_records_from_the_plan():
    assert COUNTED.statement(**PARTS | {"records": None}).records == 9_000
    assert Phases((RUN, COUNTED)).units == 9_000 and Phases((RUN, RUN)).units is None
    with pytest.raises(ValueError, match="one dataset_size in all phases, got "):
        Phases((COUNTED, RUN, replace(COUNTED, dataset_size=9_001)))


def test_statement_for_the_last_model_has_no_lower_bound_on_epsilon():
    stated = RUN.statement(**PARTS | {"released": "last_model"})
    assert (stated.guarantee.kind, stated.guarantee.lower) == ("upper", 0.0)
    assert stated.guarantee.epsilon == STATED.guarantee.epsilon
    assert STATED.guarantee.kind == "bracket"


def test_statement_in_the_local_model_needs_no_trusted_party():
    plan = replace(RUN, sampling="none", sample_rate=1.0)
    own = {"sampling": "none", "trust": "local", "trusted": ""}
    assert plan.statement(**PARTS | own).rows["Trust"].startswith("local, trusting nobody: ")


FULL = replace(RUN, sampling="none", sample_rate=1.0)
PROOFS = [
    (RUN, {}, "contour integral"),
    (replace(RUN, sampling="without_replacement"), {}, "on a lattice"),
    (replace(RUN, steps=1), {}, "profile of the one release"),
    (FULL, {}, "sums of Gaussian losses"),
    (FULL, {"accountant": "gdp"}, "sums of Gaussian losses"),  # exact for Gaussians
    (replace(RUN, sample_rate=1e-3, steps=2), {"delta": 1e-3, "records": 9}, "total variation"),
    (replace(RUN, steps=0), {}, "nothing is released"),
    (RUN, {"tuning": Tuned(RUN, 3)}, "Papernot & Steinke"),
    (RUN, {"accountant": "rdp"}, "Canonne, Kamath & Steinke (2020), Proposition 12"),
]


@each("plan, own, words", PROOFS)
def test_statement_names_only_the_theorem_used(plan, own, words):
    result = plan.statement(**PARTS | {"sampling": plan.sampling} | own).rows["Accountant"]
    assert words in result and ("Doroshenko" in result) == (words == "on a lattice")


@pytest.mark.slow
def test_statement_includes_a_certificate_only_of_its_own_run():
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


def test_card_shows_every_part_of_the_statement_and_no_external_resources():
    card = STATED.card()
    assert not re.search(r"src=|href=|url\(|<image>", card)
    for part, words in STATED.rows.items():
        words = words.replace("epsilon", "ε").replace("delta", "δ").replace("<=", "≤")
        assert f">{words}</" in html.unescape(card) and (f">{part}</" in card or part == "Promise")


def test_latex_of_a_statement_escapes_special_characters():
    body = STATED.latex().splitlines()[1:-1]
    bare = re.compile(r"(?<!\\)[%#_]")
    assert len(body) == len(STATED.rows) and not [row for row in body if bare.search(row)]
    # Each row has one column separator; the ampersand in the unit is escaped.
    assert all(len(re.findall(r"(?<!\\)&", row)) == 1 for row in body)


def test_json_of_a_statement_has_full_precision():
    written = json.loads(STATED.json())
    assert written["guarantee"]["epsilon"] == STATED.guarantee.epsilon
    assert written["words"] == STATED.rows and written["certificate"] is None
    assert written["words"]["Computed"].startswith("2026-03-01, ") and written["records"] == 9_999


PRODUCT: dict[str, Any] = {
    "name": "Replies & more",
    "description": "A model that suggests replies.",
    "intended_use": "Shorter answers",
    "data_product_type": "Machine learning model",
    "data_product_region": "Global",
    "data_curators": ["The Hospital", "Its owner"],
    "publication_date": DATE,
}
SCHEMA = json.loads((ROOT / "tests/accountants/registry_schema.json").read_text())


def test_registry_entry_matches_its_schema_and_the_statement():
    valid = Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER)
    for plan, own, _ in PLANS.values():
        stated = plan.statement(**PARTS | own)
        entry = json.loads(stated.registry_entry(PRODUCT, registry_authors=["A. Author"]))
        assert not [*valid.iter_errors(entry)]
        loss = entry["deployment"]["privacy_loss"]
        assert loss["privacy_parameters"] == {"epsilon": stated.guarantee.epsilon, "delta": 1e-5}
        assert loss["privacy_unit"] == stated.parts["Unit of privacy"]
        assert entry["url_slug"] == "replies-more-the-hospital-2026"
        # The entry contains every part of the statement.
        assert all(words in str([*_texts(entry)]) for words in stated.rows.values())
    assert [*valid.iter_errors(entry | {"tier": 0})] and [*valid.iter_errors(entry | {"more": 1})]
    for part in SCHEMA["properties"]["deployment"]["properties"]["basic"]["required"]:
        with pytest.raises(ValueError, match=f"Expected {part}, got ''"):
            STATED.registry_entry(PRODUCT | {part: ""}, registry_authors=["A. Author"])
    with pytest.raises(TypeError, match="data_curators to be a list"):
        STATED.registry_entry(PRODUCT | {"data_curators": "Us"}, registry_authors=["A. Author"])


def _texts(entry):
    for value in entry.values() if isinstance(entry, dict) else [entry]:
        yield from _texts(value) if isinstance(value, dict) else [value]
