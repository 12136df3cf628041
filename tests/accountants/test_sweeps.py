"""Sweeps give the same results on threads and processes, and resume after interruption."""

import operator
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from dplearn import DPSGD, sweep

PLANS = [DPSGD(noise_multiplier=1.0, sample_rate=0.01, steps=n) for n in (40, 10, 30, 20)]
QUESTION = operator.methodcaller("guarantee", "rdp", delta=1e-5)
drawn = lambda plan: os.urandom(8).hex()


def refused(plan):
    raise ArithmeticError(f"refused after {plan.steps} steps")


@pytest.mark.slow
def test_every_executor_gives_the_same_results_in_order():
    expected = [plan.guarantee("rdp", delta=1e-5) for plan in PLANS]
    assert sweep(QUESTION, PLANS, batch=2, progress=False) == expected
    with ThreadPoolExecutor(2) as threads:
        ask = {"executor": threads, "progress": False}
        assert sweep(QUESTION, PLANS, **ask) == expected
        # Two equal plans are asked twice.
        assert len(set(sweep(drawn, [*PLANS, *PLANS], **ask))) == 8
        with pytest.raises(ArithmeticError, match="refused after 40") as caught:
            sweep(refused, PLANS, **ask)
        assert "batch that begins with DPSGD(" in caught.value.__notes__[0]


def test_interrupted_sweep_resumes(tmp_path, capsys):
    calls, file = [], tmp_path / "rows"

    def question(plan):
        calls.append(plan.steps)
        return {"steps": plan.steps, "epsilon": (float("inf"),)}

    with ThreadPoolExecutor(1) as pool:
        before = sweep(question, PLANS[:3], executor=pool, rows=file)
        assert "\r3/3 answers" in capsys.readouterr().err
        assert before[0] == {"steps": 40, "epsilon": [float("inf")]}  # as the file has it
        file.write_bytes(file.read_bytes()[:-5])  # interrupted while writing
        assert sweep(question, [*PLANS, PLANS[1]], executor=pool, rows=file)[:3] == before
        assert calls == [40, 10, 30, 30, 20, 10]
        # Another question of that plan.
        assert len(sweep(drawn, PLANS[1:2], executor=pool, rows=file)) == 1
        assert len(file.read_text().splitlines()) == 6
        with pytest.raises(TypeError, match="not JSON serializable"):
            sweep(QUESTION, PLANS, executor=pool, rows=file, progress=False)
