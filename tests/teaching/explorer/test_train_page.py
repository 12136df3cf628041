"""The training page: what it promises, what it starts, and how it stays small."""

import dataclasses
import functools
import itertools
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dplearn.datasets
import explorer
from cases import each
from dplearn import smallest_noise_multiplier
from dplearn.datasets import PRACTICE_SIZES, Labelled, files, practice_names
from dplearn.run import DPSGD
from dplearn.teaching.explorer import models, runs
from dplearn.teaching.explorer.job import Job, spent
from dplearn.teaching.explorer.pages import train
from dplearn.teaching.explorer.pages.train import job_of, training_code
from dplearn.teaching.explorer.runs import Pool, Run
from dplearn.teaching.figures.kit import text
from explorer import checked, choose, enter, press
from explorer import words as shown

SMALL = Job(
    dataset="digits",
    model="linear",
    noise_multiplier=3.532,
    sample_rate=512 / 1438,
    steps=60,
    max_grad_norm=0.1,
    learning_rate=30.0,
    delta=1e-4,
)


opened = functools.partial(explorer.opened, "train")


def traces(app: AppTest) -> dict[str, dict]:
    """Those of both figures in the one of two frames that is to be seen."""
    first = 2 * app.session_state["training_front"] % len(app.get("plotly_chart"))
    return explorer.traces(app, first) | explorer.traces(app, first + 1)


def title(app: AppTest) -> str:
    """Where the run stands."""
    return app.main.markdown[1].value.replace("\u00a0", " ")


def until(app: AppTest, condition, seconds: float = 600) -> AppTest:
    """Look again, as the browser does by itself, until something is so."""
    end = time.monotonic() + seconds
    while not condition(app):
        assert time.monotonic() < end, shown(app)
        time.sleep(0.1)
        checked(app.run())
    return app


def over(app: AppTest) -> bool:
    return [b.label for b in app.button] == ["Train"]


@pytest.fixture(autouse=True)
def pool(monkeypatch) -> Iterator[Pool]:
    """A pool of this test; what it has not ended is ended."""
    mine = Pool(places=1)
    monkeypatch.setattr(runs, "pool", lambda: mine)
    yield mine
    for run in mine._runs:
        run.stop()
    if mine._prepared is not None:
        mine._prepared.close()


@pytest.fixture
def pretend(monkeypatch):
    """Run this instead of the worker."""

    def use(lines: str) -> None:
        command = (sys.executable, "-c", f"import os, sys, time\n{lines}")
        monkeypatch.setattr(runs, "_WORKER", command)

    return use


ENDLESS = "time.sleep(600)"
STEPS = """
for step in range(1, %d):
    print('{"event": "progress", "step": %%d, "epsilon": 1.0, "seconds": 1.0,'
          ' "accuracy": 0.5, "plain_accuracy": 0.9, "loss": 1.0}' %% step, flush=True)
"""
FIVE_STEPS = STEPS % 6 + ENDLESS
START, DONE = """print('{"event": "start", "held_out": 359}')""", """print('{"event": "done"}')"""
SIXTY_AT_ONCE = START + STEPS % 61 + DONE


def test_the_plan_is_promised_before_anything_is_trained():
    app = opened()
    promise = shown(app)
    assert "**This plan guarantees ε ≤ 3** at δ = 0.0001: 60 steps on lots of about 512" in promise
    assert "1\u202f438 records" in promise and "3.53 × the clipping norm" in promise
    assert over(app) and not traces(app)["accuracy"]["y"]
    assert traces(app)["ε of the plan"]["y"][-1] == pytest.approx(3, rel=1e-2)
    assert title(app) == "**Before training, ε is known and accuracy is not**"


@each("epsilon", [1, 3])  # to the nearest, one is rounded up and one down
def test_the_noise_is_the_least_for_the_target(epsilon):
    state = explorer.start(train)
    state.read({"target_epsilon": str(epsilon), "steps": "100", "batch_size": "100"})
    mechanism = DPSGD(noise_multiplier=1, sample_rate=100 / 1438, steps=100).mechanism
    target = {"steps": 100, "epsilon": epsilon, "delta": 1e-4}
    least = smallest_noise_multiplier(mechanism, **target).value
    assert least <= job_of(state).noise_multiplier <= least * 1.001


def test_noise_rate_and_epochs_can_be_given_instead():
    rate = {"lot_from": "rate", "sample_rate": "0.1", "length_in": "epochs", "epochs": "3"}
    app = opened(noise_from="noise", noise_multiplier="2", **rate)
    plan = DPSGD(noise_multiplier=2, sample_rate=0.1, steps=30)
    assert "30 steps on lots of about 144 of" in shown(app)
    assert f"ε ≤ {text.bound(plan.guarantee(delta=1e-4).epsilon)}" in shown(app)
    # A lot larger than the data is named and cut.
    app = opened(batch_size="1439")
    (message,) = explorer.errors(app)
    assert "at most the 1438 records" in message and "q = 1," in shown(app)


@each("dataset, model", itertools.product(PRACTICE_SIZES, train.MODEL.options))
def test_data_and_model_bring_settings_within_the_controls(dataset, model):
    state = explorer.start(train)
    state.values |= {"dataset": "digits", "model": model}
    state.values["dataset"] = dataset  # MNIST too, whether or not its files are here
    train.suit_recipe(state)
    assert not state.notes
    job = job_of(state)
    assert spent(job, job.steps).epsilon <= 3 and job.lot <= PRACTICE_SIZES[dataset]
    # Both ways of saying it agree, to the digits that a reader sees.
    for name in ("sample_rate", "noise_multiplier"):
        assert state.values[name] == pytest.approx(getattr(job, name), rel=0.2)


def test_an_address_reproduces_the_controls():
    app = opened()
    app = enter(choose(app, "model", "cnn"), "target_epsilon", "1")
    assert app.query_params == {"model": "cnn", "target_epsilon": "1", "learning_rate": "4"}
    twin = explorer.again(app, "train")
    assert twin.code[0].value == app.code[0].value and shown(twin) == shown(app)


def test_mnist_is_offered_only_where_its_files_are(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "mnist" not in practice_names()
    folder = tmp_path / "dplearn" / "mnist"
    folder.mkdir(parents=True)
    for name in files._MNIST:
        assert "mnist" not in practice_names()
        (folder / f"{name}.gz").touch()
    assert "mnist" in practice_names()


def test_a_run_from_the_button_to_the_last_word_is_found_again_and_drawn_over(pretend):
    """What a real worker tells, `test_worker` knows; that one is begun, `test_browser`."""
    pretend(SIXTY_AT_ONCE)
    app = press(opened(), "Train")
    assert [b.label for b in app.button] == ["Stop"]
    until(app, over)
    drawn, planned = traces(app), traces(app)["ε of the plan"]
    assert drawn["accuracy"]["x"][-1] == drawn["accuracy without privacy"]["x"][-1] == 60
    assert drawn["ε so far"]["y"][-1] == 1.0 and planned["y"][-1] == pytest.approx(3, rel=1e-2)
    assert title(app) == "**50.0 % at ε ≤ 3; 90.0 % without privacy**"
    assert "359 held-out records that count as public, and chance moves it by about 2.6" in shown(
        app
    )
    assert "to look at, never to publish" in shown(app)
    again = opened(run=app.session_state["training_run"].name)
    assert title(again) == title(app) and not traces(again)["earlier runs"]["x"]
    assert title(opened(run="guessed")) == "**Before training, ε is known and accuracy is not**"
    app = until(press(app, "Train"), over)
    behind = traces(app)["earlier runs"]
    assert len(behind["x"]) == 61 and behind["text"][0].startswith("50.0\xa0%")
    changed = enter(app, "steps", "30")
    assert title(changed) == title(app) and "The plan was changed after this run" in shown(changed)


def test_stop_ends_the_process_and_keeps_what_was_done(pretend):
    pretend(FIVE_STEPS)
    app = press(opened(), "Train")
    until(app, lambda a: len(traces(a)["accuracy"]["x"]) == 5)
    assert title(app).startswith("**Step 5 of 60: 50.0 % at ε ≤ ")
    run = app.session_state["training_run"]
    process = run.worker.process
    app = press(app, "Stop")
    assert process.poll() is not None
    assert over(app) and traces(app)["accuracy"]["x"] == [1, 2, 3, 4, 5]
    spent = text.bound(run.job.plan.guarantee(delta=1e-4, steps=5).epsilon)
    assert title(app).startswith("**Stopped at step 5 of 60")
    assert f"ε ≤ {spent} holds" in shown(app)
    assert "all planned steps: ε ≤ 3." in shown(app)


def test_the_picture_grows_also_where_training_takes_no_time(pretend, pool):
    pretend(SIXTY_AT_ONCE)
    run, lengths = Run(SMALL), set()
    while run.live:
        pool.look(run)
        lengths.add(len(run.progress))
    assert run.phase == "done" and len(lengths) >= 10 and max(lengths) == 60


def test_a_second_run_ends_the_first(monkeypatch, pretend, pool):
    pretend(ENDLESS)
    session: dict = {}
    monkeypatch.setattr(runs.st, "session_state", session)
    runs.begin(SMALL)
    first = runs.run_in_view()
    assert first is not None and first.phase == "running"
    runs.begin(SMALL)
    assert first.phase == "stopped" and runs.run_in_view().phase == "running"


def test_a_browser_that_comes_back_finds_its_run_and_never_waits_behind_it(
    monkeypatch, pretend, pool
):
    pretend(ENDLESS)
    monkeypatch.setattr(runs, "reader", lambda: "mine")
    sessions = [{}, {}]
    monkeypatch.setattr(runs.st, "session_state", sessions[0])
    assert runs.run_in_view() is None
    runs.begin(SMALL)
    ghost = runs.run_in_view()
    monkeypatch.setattr(runs.st, "session_state", sessions[1])
    assert ghost is not None and runs.run_in_view() is ghost
    # Another page of this browser, opened before, begins a run: it has the place at once.
    runs.begin(SMALL)
    assert runs.run_in_view().phase == "running" and ghost.phase == "stopped"
    for stranger in ("", "another"):
        monkeypatch.setattr(runs, "reader", lambda name=stranger: name)
        assert pool.of(stranger) is None


def test_a_worker_is_prepared_and_the_next_run_is_its_job(pretend, pool):
    pretend("input();" + SIXTY_AT_ONCE)
    pool.prepare()
    worker = pool._prepared
    pool.prepare()
    assert pool._prepared is worker and worker.lives
    run = Run(SMALL)
    pool.look(run)
    assert run.worker is worker and pool._prepared is None
    run.stop()
    pool.prepare()
    pool._prepared.process.kill()
    pool._prepared.process.wait()
    pool.look(run := Run(SMALL))
    assert run.worker.lives, "one that died is not waited for"


DEATHS = {
    'sys.exit("MemoryError: all gone")': "MemoryError: all gone",
    "os._exit(3)": "The training process ended with status 3.",
    'print(\'{"event": "error", "message": "Stopped."}\')': "Stopped.",
    "print(os.environ['OMP_NUM_THREADS'], file=sys.stderr)": "1",
}


@each("lines, problem", DEATHS.items())
def test_a_worker_has_one_thread_and_it_is_said_why_it_died(pretend, pool, lines, problem):
    pretend(lines)
    run = Run(SMALL)
    while run.live:
        pool.look(run)
    assert run.problem == problem and train.headline(run) == "Nothing was trained"


def test_a_process_that_cannot_be_started_is_said(monkeypatch):
    monkeypatch.setattr(runs, "_WORKER", ("/nowhere/python",))
    app = until(press(opened(), "Train"), over)
    (problem,) = explorer.errors(app)
    assert problem.startswith("No process for training could be started")
    assert title(app) == "**Nothing was trained**"


def test_a_full_server_says_how_many_are_before(pool):
    pool.places = 0
    app = press(opened(), "Train")
    assert "The server is busy: 1 run before yours." in shown(app)
    assert title(app) == "**Waiting for a place**" and not over(app)
    assert over(press(app, "Stop")) and title(app) == "**Stopped before the first step**"


def test_runs_start_in_order_and_who_does_not_look_loses_the_place(pretend, pool, monkeypatch):
    pretend(ENDLESS)
    first, second, gone, last = queue = [Run(SMALL) for _ in range(4)]
    for run in queue[:3]:
        pool.look(run)
    assert [run.phase for run in queue[:3]] == ["running", "waiting", "waiting"]
    assert [run.before for run in queue[:3]] == [0, 1, 2]
    first.stop()
    for run in (gone, second, first):
        pool.look(run)
    assert [run.phase for run in (first, second, gone)] == ["stopped", "running", "waiting"]
    assert [run.before for run in (second, gone)] == [0, 1]
    second.stop()
    monkeypatch.setattr(runs, "PATIENCE", 0.2)
    time.sleep(0.3)
    pool.look(last)
    assert last.phase == "running" and gone.phase == "waiting"
    pool.look(gone)
    assert gone.before == 1


def few(side: int = 28) -> Labelled:
    images = np.random.default_rng(0).random((30, side, side), dtype=np.float32)
    return Labelled(images, np.arange(30) % 10)


@pytest.mark.slow
@pytest.mark.parametrize("model", train.MODEL.options)
@pytest.mark.parametrize("dataset", ["digits", "synthetic", "mnist"])
def test_the_code_does_the_same_run(dataset, model, monkeypatch, capsys):
    monkeypatch.setattr(dplearn.datasets.files, "synthetic_digits", lambda **_: few())
    monkeypatch.setattr(dplearn.datasets.files, "mnist", lambda _: (few(), few()))
    about = {"dataset": dataset, "model": model, "noise_multiplier": 2.5, "steps": 2}
    job = dataclasses.replace(SMALL, **about, learning_rate=4.0, compare=False)
    scope: dict = {}
    exec(training_code(job), scope)
    assert scope["history"].plan == job.plan and scope["history"].steps == 2
    assert str(spent(job, 2)) in capsys.readouterr().out
    inputs = models.inputs_for(model, few(side=8 if dataset == "digits" else 28).images)
    assert str(models.built(model, inputs)) == str(scope["model"])
    assert scope["inputs"].shape[1:] == inputs.shape[1:]


@pytest.mark.slow
def test_the_code_on_the_page_reaches_what_the_page_does(capsys):
    exec(opened().code[0].value, {})
    *_, last = capsys.readouterr().out.splitlines()
    # About 97 %, a standard deviation of 0.6 %.
    assert float(last.removeprefix("held-out accuracy ").removesuffix("%")) > 92
