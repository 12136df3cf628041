"""The table of public uses: closed lists, sources, and printed numbers that agree."""

import hashlib
import re
from collections import defaultdict
from pathlib import Path

import pytest

from dplearn import ACCOUNTANTS, Gaussian
from dplearn.core.guarantee import ADJACENCIES
from dplearn.datasets import deployments

DATA = Path(__file__).parents[2] / "data"
MODELS = ("local", "central")
UNITS = ("user", "person", "housing_unit", "unsaid")
PERIODS = ("report", "query", "day", "week", "month", "model", "once", "unsaid")
USES = {use.id: use for use in deployments()}


def test_every_row_is_from_closed_lists_and_has_a_source():
    assert len(USES) == len(deployments()) >= 15
    for use in deployments():
        assert use.model in MODELS and use.unit in UNITS and use.period in PERIODS, use.id
        assert use.adjacency in ("", *ADJACENCIES) and 2000 < use.year <= 2026, use.id
        assert use.epsilon > 0 and (use.delta is None or 0 <= use.delta < 1e-3), use.id
        assert use.organisation and use.what and re.search(r"\d{4}|Desfontaines", use.source), (
            use.id
        )


def test_what_is_empty_is_said_to_be_unsaid():
    for use in deployments():
        silent = {
            "delta": use.delta is None,
            "unit": use.unit == "unsaid",
            "period": use.period == "unsaid",
            "neighbours": not use.adjacency,
        }
        assert [part for part, empty in silent.items() if empty != (part in use.unsaid)] == [], use


def test_a_month_is_thirty_days_and_a_day_so_many_reports():
    by_use = defaultdict(dict)
    for use in deployments():
        by_use[use.organisation, use.what][use.period] = use.epsilon
    renewed = [e for e in by_use.values() if {"day", "month"} <= e.keys()]
    assert len(renewed) == 5
    for epsilons in renewed:
        assert epsilons["month"] == pytest.approx(30 * epsilons["day"], rel=1e-3)
        reports = epsilons["day"] / epsilons.get("report", epsilons["day"])
        # 2.74 was rounded to three digits.
        assert reports == pytest.approx(round(reports), rel=2e-3)


def test_the_census_printed_one_noise_at_two_deltas():
    noise = Gaussian((2 * (2.56 + 0.07)) ** -0.5)
    at_both = [USES["D17a"].epsilon + USES["D17b"].epsilon, USES["D17c"].epsilon]
    for printed, delta in zip(at_both, (1e-10, 1e-5), strict=True):
        proved = ACCOUNTANTS["zcdp"]().epsilon(noise, delta=delta).epsilon
        assert proved <= printed <= 1.13 * proved


def test_the_readme_knows_every_table():
    for table in DATA.glob("*.csv*"):
        digest = hashlib.sha256(table.read_bytes()).hexdigest()
        assert f"{digest}  {table.name}" in (DATA / "README.md").read_text()
