"""A sweep has the same answers on threads, processes and a Dask cluster, and goes on when cut."""

import json
import operator
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import soundness

from dplearn import DPSGD, sweep

PLANS = [DPSGD(noise_multiplier=1.0, sample_rate=0.01, steps=n) for n in (40, 10, 30, 20)]
QUESTION = operator.methodcaller("guarantee", "rdp", delta=1e-5)
drawn = lambda plan: os.urandom(8).hex()


def refused(plan):
    raise ArithmeticError(f"refused after {plan.steps} steps")


@pytest.mark.slow
def test_every_executor_gives_the_same_answers_in_order(tmp_path, monkeypatch):
    from distributed import Client

    expected = [plan.guarantee("rdp", delta=1e-5) for plan in PLANS]
    assert sweep(QUESTION, PLANS, batch=2, progress=False) == expected
    local = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    monkeypatch.chdir(tmp_path)  # where workers keep what does not fit into memory
    with ThreadPoolExecutor(2) as threads, Client(**local, set_as_default=False) as client:
        for executor in (threads, client.get_executor(pure=False)):
            ask = {"executor": executor, "progress": False}
            assert sweep(QUESTION, PLANS, **ask) == expected
            # Two equal plans are asked twice, also where a cluster could remember the first answer.
            assert len(set(sweep(drawn, [*PLANS, *PLANS], **ask))) == 8
            with pytest.raises(ArithmeticError, match="refused after 40") as caught:
                sweep(refused, PLANS, **ask)
            assert "batch that begins with DPSGD(" in caught.value.__notes__[0]


def test_a_sweep_goes_on_where_it_was_cut(tmp_path, capsys):
    calls, file = [], tmp_path / "rows"

    def question(plan):
        calls.append(plan.steps)
        return {"steps": plan.steps, "epsilon": (float("inf"),)}

    with ThreadPoolExecutor(1) as pool:
        before = sweep(question, PLANS[:3], executor=pool, rows=file)
        assert "\r3/3 answers" in capsys.readouterr().err
        assert before[0] == {"steps": 40, "epsilon": [float("inf")]}  # as the file has it
        file.write_bytes(file.read_bytes()[:-5])  # killed while it wrote
        assert sweep(question, [*PLANS, PLANS[1]], executor=pool, rows=file)[:3] == before
        assert calls == [40, 10, 30, 30, 20, 10]
        # Another question of that plan.
        assert len(sweep(drawn, PLANS[1:2], executor=pool, rows=file)) == 1
        assert len(file.read_text().splitlines()) == 6
        with pytest.raises(TypeError, match="not JSON serializable"):
            sweep(QUESTION, PLANS, executor=pool, rows=file, progress=False)


def test_the_soundness_sweep_goes_on_and_has_its_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(soundness, "pool", lambda options: ThreadPoolExecutor(options.workers))
    words = ["soundness.py", "--points", "300", "--only", "truth", "--rows", str(tmp_path / "rows")]
    monkeypatch.setattr(sys, "argv", words)
    tables = []
    for _ in range(2):
        assert soundness.main() == 0
        tables.append([line for line in capsys.readouterr().out.splitlines() if "truth" in line])
    assert tables[0] == tables[1] != []
    cases = list(map(json.loads, (tmp_path / "rows").read_text().splitlines()))
    assert sum(len(rows) for _, rows in cases) >= 20
