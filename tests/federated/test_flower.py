"""Flower carries our protocol: real SuperLink, real SuperNodes, on loopback."""

import json
import re

import pytest
from support.flower import PROGRAMS, ROOT, flower


@pytest.mark.slow
@pytest.mark.skipif(not PROGRAMS.exists(), reason="no Flower: see `make test`")
def test_a_flower_app_makes_a_round_of_ours(tmp_path):
    config = f"clients=2 corrupt=0 dropouts=0 time-limit=1800.0 record='{tmp_path}/sums.jsonl'"
    nodes = [f'vector="{vector}"' for vector in ("1,2,4294967295", "10,20,3")]
    with flower(tmp_path, nodes) as run:
        lines = run(ROOT / "dplearn" / "federated" / "flower", config)
    (told,) = [line for line in lines if line.startswith("round ")]
    assert re.fullmatch(r"round 1: 2 clients, sum \[11 22  2\], [\d.]+ s", told), told
    _, begun, kept = map(json.loads, (tmp_path / "sums.jsonl").read_text().splitlines())
    assert (begun, kept) == ({"round": 1}, {"round": 1, "clients": [0, 1], "total": [11, 22, 2]})
