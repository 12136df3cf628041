"""Table of deployments of DP: allowed values, sources and checksums."""

import hashlib
import re
from pathlib import Path

from dplearn.core.guarantee import ADJACENCIES
from dplearn.datasets import deployments

DATA = Path(__file__).parents[2] / "data"
MODELS = ("local", "central")
UNITS = ("user", "person", "housing_unit", "unsaid")
PERIODS = ("report", "query", "day", "week", "month", "model", "once", "unsaid")
USES = {use.id: use for use in deployments()}


def test_every_deployment_has_allowed_values_and_a_source():
    assert len(USES) == len(deployments()) >= 15
    for use in deployments():
        assert use.model in MODELS and use.unit in UNITS and use.period in PERIODS, use.id
        assert use.adjacency in ("", *ADJACENCIES) and 2000 < use.year <= 2026, use.id
        assert use.epsilon > 0 and (use.delta is None or 0 <= use.delta < 1e-3), use.id
        assert use.organisation and use.what and re.search(r"\d{4}|Desfontaines", use.source), (
            use.id
        )


def test_unpublished_parameters_of_a_deployment_are_listed():
    for use in deployments():
        silent = {
            "delta": use.delta is None,
            "unit": use.unit == "unsaid",
            "period": use.period == "unsaid",
            "neighbours": not use.adjacency,
        }
        assert [part for part, empty in silent.items() if empty != (part in use.unsaid)] == [], use


def test_readme_lists_the_checksum_of_every_table():
    for table in DATA.glob("*.csv*"):
        digest = hashlib.sha256(table.read_bytes()).hexdigest()
        assert f"{digest}  {table.name}" in (DATA / "README.md").read_text()
