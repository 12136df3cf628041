"""A sweep has the same answers on threads, processes and the workers of a Dask scheduler."""

import json
import operator
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
import soundness

from cases import each
from dplearn import DPSGD, sweep
from dplearn.sweeps import executor_at

ROOT = Path(__file__).parents[2]
PLANS = [DPSGD(noise_multiplier=1.0, sample_rate=0.01, steps=n) for n in (40, 10, 30, 20)]
QUESTION = operator.methodcaller("guarantee", "rdp", delta=1e-5)


def drawn(plan):
    """What no other call returns; each later plan is answered sooner."""
    time.sleep(plan.steps / 400)
    return os.urandom(8).hex()


def refused(plan):
    raise ArithmeticError(f"refused after {plan.steps} steps")


def waited_for(check, *processes):
    """What a check returns once it is true."""
    for _ in range(1200):
        assert all(process.poll() is None for process in processes)
        if value := check():
            return value
        time.sleep(0.1)
    raise TimeoutError("two minutes")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Address of a scheduler, a process, with two workers that are processes of their own."""
    folder = tmp_path_factory.mktemp("dask")
    paths = [ROOT, ROOT / "benchmarks", ROOT / "tests", Path(__file__).parent]
    settings = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    settings |= {"DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "false"}
    common = ["--host", "127.0.0.1", "--scheduler-file", f"{folder}/scheduler.json"]
    worker = ["worker", "--no-nanny", "--no-dashboard", "--nthreads", "1", *common]
    with ExitStack() as stack:

        def started(kind, *words):
            command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words]
            log = stack.enter_context(open(folder / "log", "ab"))
            process = subprocess.Popen(command, cwd=folder, env=settings, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        scheduler = started("scheduler", "--port", "0", "--no-dashboard", "--no-show", *common)
        waited_for((folder / "scheduler.json").exists, scheduler)
        for number in range(2):
            started(*worker, "--name", str(number), "--local-directory", str(folder))
        address = json.loads((folder / "scheduler.json").read_text())["address"]
        yield address.replace("tcp", "dask")


@pytest.mark.slow
def test_every_engine_gives_the_same_answers_in_order(cluster):
    expected = [plan.guarantee("rdp", delta=1e-5) for plan in PLANS]
    for executor in ("threads", "processes", cluster):
        assert sweep(QUESTION, PLANS, executor=executor, progress=False) == expected, executor
        # Two equal plans are asked twice, also where a cluster could remember the first answer.
        answers = sweep(drawn, [*PLANS, *PLANS], executor=executor, batch=2, progress=False)
        assert len(set(answers)) == 8, executor
        with pytest.raises(ArithmeticError, match="refused after") as caught:
            sweep(refused, PLANS, executor=executor, progress=False)
        assert any("This came of DPSGD(" in note for note in caught.value.__notes__), executor


@pytest.mark.slow
def test_the_soundness_sweep_runs_on_a_cluster(cluster, tmp_path, monkeypatch, capsys):
    tables = []
    for executor in ("threads", cluster):
        words = ["soundness.py", "--points", "900", "--only", "truth", "--executor", executor]
        monkeypatch.setattr(sys, "argv", [*words, "--rows", str(tmp_path / executor[:4])])
        assert soundness.main() == 0
        cases = map(json.loads, (tmp_path / executor[:4]).read_text().splitlines())
        tables.append({(r["index"], r["lower"], r["upper"]) for _, rows in cases for r in rows})
    assert tables[0] == tables[1] and len(tables[0]) >= 60


def test_a_sweep_goes_on_where_it_was_cut(tmp_path, capsys):
    calls, file = [], tmp_path / "rows"

    def question(plan):
        calls.append(plan.steps)
        return {"steps": plan.steps, "epsilon": float("inf")}

    with ThreadPoolExecutor(1) as pool:
        before = sweep(question, PLANS[:3], executor=pool, rows=file)
        assert "\r3/3 answers" in capsys.readouterr().err
        file.write_bytes(file.read_bytes()[:-5])  # killed while it wrote
        assert sweep(question, [*PLANS, PLANS[1]], executor=pool, rows=file)[:3] == before
        assert calls == [40, 10, 30, 30, 20, 10]
        sweep(drawn, PLANS[1:2], executor=pool, rows=file)  # another question of that plan
    assert len(file.read_text().splitlines()) == 6


@each(
    "options, error",
    [
        ({"executor": "ray"}, "Expected executor one of dask://HOST:PORT, processes, threads, got"),
        ({"batch": 0}, "Expected batch a whole number >= 1"),
        ({"executor": "threads", "rows": "rows"}, "Expected answers of numbers, text, lists and"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(options, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, TypeError), match=error):
        sweep(QUESTION, PLANS, progress=False, **options)


def test_a_cluster_needs_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ModuleNotFoundError, match=r"pip install .dplearn-privacy\[dask\]"),
        executor_at("dask://127.0.0.1:1"),
    ):
        pass
