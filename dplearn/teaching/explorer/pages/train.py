"""Training a model with differential privacy, and watching it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import streamlit as st

from dplearn.accountants.pld import PLD
from dplearn.core.guarantee import round_up
from dplearn.datasets import PRACTICE_SIZES, practice_names
from dplearn.mechanisms.sampling_scheme import steps_of
from dplearn.run import DPSGD
from dplearn.teaching.explorer import runs
from dplearn.teaching.explorer.job import BOUNDS, Job, spent
from dplearn.teaching.explorer.kit import controls, look
from dplearn.teaching.explorer.kit import fields as kit
from dplearn.teaching.explorer.kit.fields import Text, Words, by_key
from dplearn.teaching.explorer.kit.language import retold
from dplearn.teaching.explorer.kit.state import State, load, save
from dplearn.teaching.explorer.runs import Run
from dplearn.teaching.figures.kit import text
from dplearn.teaching.figures.training_run import training_run

_say = Words("train")
TITLE, GROUP, ORDER = _say["title"], "See", 40
# Seconds between two looks at a run.
_PAUSE = 0.3

_DATASETS = _say.table("dataset.options")
DATASET = _say.selection("dataset", {name: _DATASETS[name] for name in practice_names()})
MODEL = _say.selection("model")
NOISE_FROM = _say.selection("noise_from", segments=True)
TARGET = _say.quantity("target_epsilon", 3, 0.1, 50, per_decade=20)
NOISE = replace(kit.NOISE, default=3.54, lower=0.3)
LOT_FROM = _say.selection("lot_from", segments=True)
LOT = _say.quantity("batch_size", 512, 1, max(PRACTICE_SIZES.values()), whole=True)
RATE = replace(kit.RATE, default=0.356, lower=1e-3)
LENGTH_IN = _say.selection("length_in", segments=True)
STEPS = _say.quantity("steps", 60, 1, 2000, whole=True)
EPOCHS = _say.quantity("epochs", 20, 0.1, 500)
CLIPPING = _say.quantity("max_grad_norm", 0.1, 1e-3, 100)
BOUND = _say.selection("bound", {name: _say[f"bound.options.{name}"] for name in BOUNDS})
LEARNING_RATE = _say.quantity("learning_rate", 30, 1e-3, 1000)
DELTA = replace(kit.DELTA, default=1e-4, lower=1e-10, upper=1e-2)
COMPARE = _say.selection("compare", segments=True)
# In the address alone: the run that a reload finds again.
RUN = Text("run", "Run", "", default="")

FIELDS = (
    *(DATASET, MODEL, NOISE_FROM, TARGET, NOISE, LOT_FROM, LOT, RATE, LENGTH_IN),
    *(STEPS, EPOCHS, CLIPPING, BOUND, LEARNING_RATE, DELTA, COMPARE, RUN),
)
# The field that each option makes idle.
_IDLE = {"epsilon": "noise_multiplier", "noise": "target_epsilon", "lot": "sample_rate"}
_IDLE |= {"rate": "batch_size", "steps": "epochs", "epochs": "steps"}
HIDDEN = lambda values: {_IDLE[values[key]] for key in ("noise_from", "lot_from", "length_in")}
# Found by trying on the held-out records, at epsilon 3 within seconds.
_RECIPES: dict[str, dict[str, Any]] = {
    "digits": {"batch_size": 512, "sample_rate": 0.356, "steps": 60, "epochs": 20, "delta": 1e-4},
    "synthetic": {"batch_size": 1024, "sample_rate": 0.1, "steps": 100, "epochs": 10},
    "mnist": {"batch_size": 1024, "sample_rate": 0.02, "steps": 200, "epochs": 4},
    "synthetic cnn": {"batch_size": 512, "sample_rate": 0.05, "epochs": 5},
    "mnist cnn": {"batch_size": 512, "sample_rate": 0.01, "steps": 150, "epochs": 1.3},
}
_LEARNING_RATES = {"digits linear": 30, "synthetic linear": 60, "mnist linear": 60}
_NOISES = {"digits": 3.54, "synthetic": 1.71, "mnist": 0.8, "synthetic cnn": 1.1, "mnist cnn": 0.7}


def render() -> None:
    """Controls, the guarantee of the plan, and the run as it goes on."""
    state = load("training", lambda _: State(by_key(*FIELDS), HIDDEN))
    job = job_of(state)
    with st.sidebar:
        # Data and model, then everything that the guarantee or the accuracy depends on.
        st.markdown(_say("heading"))
        pair = st.columns([3, 2])
        for place, kind in zip(pair, (DATASET, MODEL), strict=True):
            controls.choice(state, kind, then=suit_recipe, place=place)
        given = state.values
        noise = TARGET if given["noise_from"] == "epsilon" else NOISE
        controls.quantity(state, noise, unit=NOISE_FROM)
        lot = replace(LOT, upper=float(PRACTICE_SIZES[job.dataset]))
        controls.quantity(state, lot if given["lot_from"] == "lot" else RATE, unit=LOT_FROM)
        epochs = replace(EPOCHS, label=f"T = {text.spaced(job.steps)}")
        length = STEPS if given["length_in"] == "steps" else epochs
        controls.quantity(state, length, unit=LENGTH_IN)
        for kind in (CLIPPING, LEARNING_RATE, DELTA):
            controls.quantity(state, kind)
        for place, kind in zip(st.columns(2), (BOUND, COMPARE), strict=True):
            controls.choice(state, kind, place=place)
    if runs.reader() and find_spec("torch"):
        runs.pool().prepare()
    run = runs.run_in_view(state.values["run"])
    state.values["run"] = run.name if run else ""
    save(state)
    _heading(job, run)
    st.fragment(_watch, run_every=_PAUSE if run and run.live else None)(job, run)
    with st.expander(_say("code")):
        st.code(training_code(job), wrap_lines=True)


def _watch(job: Job, run: Run | None) -> None:
    """Draw the picture, how far the run is or how it ended, and what its epsilon is for people."""
    went_on = run is not None and run.live
    run = runs.run_in_view(run.name if run else "")
    _picture(job, run)
    plan = (job if run is None else run.job).plan
    left, right = st.columns([3, 2])
    with left:
        with st.container(key="status", gap="small"):
            if run is None:
                st.caption(_say("press"))
            elif not run.live:
                _ended(job, run)
            elif run.before:
                queue = _say("queue", runs=_counted("run", run.before))
                st.info(queue, icon=":material/hourglass_top:")
            elif run.progress:
                last, steps = run.progress[-1], run.job.steps
                rest = last["seconds"] / last["step"] * (steps - last["step"])
                st.progress(run.done / steps, _say("left", step=run.done, steps=steps, left=rest))
            else:
                st.progress(0.0, _say("starting"))
        spread = text.rounded(job.noise_multiplier * job.max_grad_norm)
        st.markdown(_say("meaning", norm=job.max_grad_norm, spread=spread))
    with right:
        # Of the steps so far, as in the headline.
        look.people(attacker(plan, run.done if run and run.done else plan.steps))
    if run is not None and went_on and not run.live:
        st.rerun()


def _heading(job: Job, run: Run | None) -> None:
    left, right = st.columns([6, 1], vertical_alignment="center")
    button = right.container(key="button").button
    promise = _say(
        "promise",
        epsilon=_epsilon(job, job.steps),
        delta=DELTA.show(job.delta),
        steps=_counted("step", job.steps),
        lot=text.spaced(job.lot),
        size=text.spaced(PRACTICE_SIZES[job.dataset]),
        noise=text.rounded(job.noise_multiplier),
    )
    left.container(key="words").markdown(promise, help=_say("way"))
    if run is not None and run.live:
        button(_say("stop"), on_click=run.stop, width="stretch", icon=":material/stop:")
        return
    able = find_spec("torch") is not None  # which does not load it
    button(
        _say("title"),
        on_click=runs.begin,
        args=(job,),
        type="primary",
        width="stretch",
        icon=":material/play_arrow:",
        disabled=not able,
    )
    if not able:
        st.warning(_say("no_torch"), icon=":material/download:")


def _picture(job: Job, run: Run | None) -> None:
    job, title = run.job if run else job, headline(run)
    with st.container(key="reached", gap=None):
        st.markdown(f"**{title}**")
        kind = "" if job.bound == "Flat" else f" {retold(BOUND.options[job.bound]).lower()}"
        told = (
            retold(DATASET.options[job.dataset]),
            retold(MODEL.options[job.model]),
            f"σ = {job.noise_multiplier:.4g}",
            f"q = {job.sample_rate:.4g}",
            f"T = {text.spaced(job.steps)}",
            f"C = {job.max_grad_norm:g}{kind}",
            f"η = {job.learning_rate:g}",
            f"δ = {DELTA.show(job.delta)}",
        )
        st.caption(", ".join(told))
    figures = training_run(
        run.events if run else (),
        plan=job.plan,
        planned=ahead(job.plan, job.delta),
        earlier={headline(old): old.progress for old in runs.earlier() if old is not run},
    )
    with st.container(key="picture"):
        _without_a_blink(figures, [f"{_say(f'drawn.{at}')} {title}." for at in ("left", "right")])


def _without_a_blink(figures: Sequence[Any], alts: Sequence[str]) -> None:
    """Show figures beside each other in the place of others.

    Streamlit builds a chart anew whenever it changes, and for a moment there is none. So there are
    two frames in one place, changed in turn, and the old one is hidden once the new one is there.
    """
    frames = st.session_state.setdefault("training_frames", [None, None])
    front, new = st.session_state.get("training_front", 1), ([f.to_dict() for f in figures], alts)
    if (frames[front] or [None])[-1] != new:
        front = st.session_state["training_front"] = 1 - front
        frames[front] = figures, new
    for place, frame in enumerate(frames):
        with st.container(key=f"frame_{place}"):
            if frame is not None:
                for rank, column in enumerate(st.columns([3, 2])):
                    with column:
                        key = f"training_run_{place}_{rank}"
                        look.draw_figure(frame[0][rank], key, frame[1][1][rank])
    st.html(f'<i class="front_{front}"></i>')


def _ended(job: Job, run: Run) -> None:
    """Why a run ended, and what may be said of what it reached."""
    if run.phase == "failed":
        st.error(retold(run.problem), icon=":material/error:")
    if run.phase != "done" and run.progress:
        planned, steps = _epsilon(run.job, run.job.steps), _counted("step", run.done)
        epsilon = _epsilon(run.job, run.done)
        st.markdown(_say("cut_short", epsilon=epsilon, steps=steps, planned=planned))
    if run.job != job:
        st.caption(_say("changed"))
    elif run.phase == "done":
        held_out, share = run.events[0]["held_out"], run.progress[-1]["accuracy"]
        chance = 100 * math.sqrt(share * (1 - share) / held_out)
        st.caption(_say("scope", held_out=text.spaced(held_out), chance=chance))


def headline(run: Run | None) -> str:
    """Where the run stands."""
    if run is None or not run.progress:
        return _say(f"before.{run.phase if run else 'plan'}")
    last = run.progress[-1]
    percent = lambda share: f"{100 * share:.1f}\u00a0%"
    reached = _say(
        "reached", accuracy=percent(last["accuracy"]), epsilon=_epsilon(run.job, run.done)
    )
    if "plain_accuracy" in last:
        reached += _say("beside", accuracy=percent(last["plain_accuracy"]))
    step, steps = text.spaced(run.done), text.spaced(run.job.steps)
    return _say(f"after.{run.phase}", step=step, steps=steps, reached=reached)


def _epsilon(job: Job, steps: int) -> str:
    promised = spent(job, steps)
    return f"ε\u00a0{text.relation(promised)}\u00a0{text.bare(promised)}"


def _counted(what: str, count: int) -> str:
    return _say(f"count.{what}{'s' * (count > 1)}", count=text.spaced(count))


def suit_recipe(state: State) -> None:
    """After a change of data or model: settings that train it well; the target stays."""
    values = state.values
    dataset, both = values["dataset"], f"{values['dataset']} {values['model']}"
    recipe = {"delta": 1e-5} | _RECIPES[dataset] | _RECIPES.get(both, {})
    recipe["max_grad_norm"] = CLIPPING.default
    recipe["learning_rate"] = _LEARNING_RATES.get(both, 4)
    recipe["noise_multiplier"] = _NOISES.get(both, _NOISES[dataset])
    for key, value in recipe.items():
        kind: Any = state.fields[key]
        state.enter(kind, kind.show(value))


def job_of(state: State) -> Job:
    """The run in use; a lot larger than the data leaves a message at its control."""
    values, size = state.values, PRACTICE_SIZES[state.values["dataset"]]
    rate, steps = values["sample_rate"], values["steps"]
    if values["lot_from"] == "lot":
        lot, largest = values["batch_size"], _say.said("largest", size=size)
        rate = min(lot / size, 1.0)
        if lot > size:
            state.notes["batch_size"] = _say.said(
                "too_large", label=LOT.label, most=largest, entry=f"{lot}", value=f"{size}"
            )
        elif getattr(state.notes.get("batch_size"), "template", "") == _say["too_large"]:
            del state.notes["batch_size"]
    if values["length_in"] == "epochs":
        steps = min(max(steps_of(values["epochs"], batches=1 / rate), 1), int(STEPS.upper))
    noise = values["noise_multiplier"]
    if values["noise_from"] == "epsilon":
        noise = _least_noise(rate, steps, values["target_epsilon"], values["delta"])
    return Job(
        dataset=values["dataset"],
        model=values["model"],
        noise_multiplier=noise,
        sample_rate=rate,
        steps=steps,
        max_grad_norm=values["max_grad_norm"],
        learning_rate=values["learning_rate"],
        delta=values["delta"],
        compare=values["compare"] == "yes",
        bound=values["bound"],
    )


@lru_cache(maxsize=512)
def attacker(plan: DPSGD, steps: int) -> float:
    """Share of members that the best attacker finds after so many steps, with 1 % false alarms."""
    ends = PLD().true_positive_rate(plan.mechanism, false_positive_rate=0.01, steps=steps)
    return float(ends[1])


@lru_cache(maxsize=128)
def ahead(plan: DPSGD, delta: float) -> tuple[tuple[int, float], ...]:
    """Steps and epsilon of the whole plan: known before a record is touched."""
    steps = sorted({max(1, round(plan.steps * k / 60)) for k in range(1, 61)})
    curve = PLD().epsilon_curve(plan.mechanism, delta=delta, steps=steps)
    return tuple((t, g.epsilon) for t, g in zip(steps, curve, strict=True))


@lru_cache(maxsize=128)
def _least_noise(rate: float, steps: int, epsilon: float, delta: float) -> float:
    """Rounded up, so that what the page shows is enough."""
    plan = DPSGD.for_epsilon(epsilon, delta=delta, sample_rate=rate, steps=steps)
    return float(round_up(plan.noise_multiplier, 4))


def training_code(job: Job) -> str:
    """Lines that train the same model in the same way, and print what came of it."""
    more = ["micro_batch=64"] * (job.model == "cnn")
    kind, count = job.bound, job.count_noise
    if kind != "Flat":
        options = f", count_noise={count!r}" if count else ""
        more.append(f"bound={kind}(max_grad_norm={job.max_grad_norm!r}{options})")
    lines = "".join(f"\n    {line}," for line in more)
    return f"""\
import torch
from torch import nn
from dplearn import DPSGD
from dplearn.datasets import practice_set
from dplearn.training import {"" if kind == "Flat" else f"{kind}, "}fit
from dplearn.teaching.explorer.models import built, inputs_for

train, held_out = practice_set({job.dataset!r})
inputs = inputs_for({job.model!r}, train.images)
model = built({job.model!r}, inputs)
plan = DPSGD(
    noise_multiplier={job.noise_multiplier!r},
    sample_rate={job.sample_rate!r},
    steps={job.steps},
    max_grad_norm={job.max_grad_norm!r},
)
history = fit(
    model,
    nn.CrossEntropyLoss(reduction="none"),
    (inputs, torch.from_numpy(train.labels)),
    plan,
    optimizer=torch.optim.SGD(model.parameters(), lr={job.learning_rate!r}, momentum=0.9),
    delta={job.delta!r},{lines}
)
print(history.guarantee({job.delta!r}))
guesses = model(inputs_for({job.model!r}, held_out.images)).argmax(1)
print(f"held-out accuracy {{(guesses.numpy() == held_out.labels).mean():.1%}}")
"""
