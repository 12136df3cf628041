"""What the training page shows: fields, guarantee, picture, how far the run is, and in words."""

import math
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import streamlit as st

from dplearn.app.job import Job, spent
from dplearn.app.kit import controls, look
from dplearn.app.kit.fields import Words
from dplearn.app.kit.language import retold
from dplearn.app.kit.state import State
from dplearn.app.pages.train import fields
from dplearn.app.pages.train.runs import Run, begin, earlier
from dplearn.datasets import PRACTICE_SIZES
from dplearn.figures.kit import text
from dplearn.figures.training_run import training_run

_say = Words("train")


def settings(state: State, job: Job) -> None:
    """Data and model, then everything that the guarantee or the accuracy depends on."""
    st.markdown(_say("heading"))
    pair = st.columns([3, 2])
    for place, kind in zip(pair, (fields.DATASET, fields.MODEL), strict=True):
        controls.choice(state, kind, then=fields.suit_recipe, place=place)
    given = state.values
    noise = fields.TARGET if given["noise_from"] == "epsilon" else fields.NOISE
    controls.quantity(state, noise, unit=fields.NOISE_FROM)
    lot = replace(fields.LOT, upper=float(PRACTICE_SIZES[job.dataset]))
    controls.quantity(
        state, lot if given["lot_from"] == "lot" else fields.RATE, unit=fields.LOT_FROM
    )
    epochs = replace(fields.EPOCHS, label=f"T = {text.spaced(job.steps)}")
    length = fields.STEPS if given["length_in"] == "steps" else epochs
    controls.quantity(state, length, unit=fields.LENGTH_IN)
    for kind in (fields.CLIPPING, fields.LEARNING_RATE, fields.DELTA):
        controls.quantity(state, kind)
    for place, kind in zip(st.columns(2), (fields.BOUND, fields.COMPARE), strict=True):
        controls.choice(state, kind, place=place)


def heading(job: Job, run: Run | None) -> None:
    """The guarantee of the plan, and the button."""
    left, right = st.columns([6, 1], vertical_alignment="center")
    button = right.container(key="button").button
    promise = _say(
        "promise",
        epsilon=_epsilon(job, job.steps),
        delta=fields.DELTA.show(job.delta),
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
        on_click=begin,
        args=(job,),
        type="primary",
        width="stretch",
        icon=":material/play_arrow:",
        disabled=not able,
    )
    if not able:
        st.warning(_say("no_torch"), icon=":material/download:")


def picture(job: Job, run: Run | None) -> None:
    """The run, or the plan before there is one."""
    job, title = run.job if run else job, headline(run)
    with st.container(key="reached", gap=None):
        st.markdown(f"**{title}**")
        kind = "" if job.bound == "Flat" else f" {retold(fields.BOUND.options[job.bound]).lower()}"
        told = (
            retold(fields.DATASET.options[job.dataset]),
            retold(fields.MODEL.options[job.model]),
            f"σ = {job.noise_multiplier:.4g}",
            f"q = {job.sample_rate:.4g}",
            f"T = {text.spaced(job.steps)}",
            f"C = {job.max_grad_norm:g}{kind}",
            f"η = {job.learning_rate:g}",
            f"δ = {fields.DELTA.show(job.delta)}",
        )
        st.caption(", ".join(told))
    figures = training_run(
        run.events if run else (),
        plan=job.plan,
        planned=fields.ahead(job.plan, job.delta),
        earlier={headline(old): old.progress for old in earlier() if old is not run},
    )
    with st.container(key="picture"):
        _without_a_blink(figures, [f"{_say(f'drawn.{at}')} {title}." for at in ("left", "right")])


def _without_a_blink(figures: Sequence[Any], alts: Sequence[str]) -> None:
    """Show figures beside each other in the place of others.

    Streamlit builds a chart anew whenever it changes, and for a moment there is none. So there are
    two frames in one place, changed in turn, and the old one is hidden once the new one is there.
    """
    frames = st.session_state.setdefault("training_frames", [None, None])
    front, new = st.session_state.get("training_front", 1), ([f.parts for f in figures], alts)
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


def outcome(job: Job, run: Run | None) -> None:
    """How far the run is, or how it ended, and what its epsilon is for people."""
    plan = (job if run is None else run.job).plan
    left, right = st.columns([3, 2])
    with left:
        with st.container(key="status", gap="small"):
            if run is None:
                st.caption(_say("press"))
            elif run.live:
                _waiting(run)
            else:
                _ended(job, run)
        spread = text.rounded(job.noise_multiplier * job.max_grad_norm)
        st.markdown(_say("meaning", norm=job.max_grad_norm, spread=spread))
    with right:
        # Of the steps so far, as in the headline.
        look.people(fields.attacker(plan, run.done if run and run.done else plan.steps))


def _waiting(run: Run) -> None:
    """How long a run waits, or how far it is."""
    if run.before:
        runs = _counted("run", run.before)
        st.info(_say("queue", runs=runs), icon=":material/hourglass_top:")
    elif run.progress:
        last, steps = run.progress[-1], run.job.steps
        left = last["seconds"] / last["step"] * (steps - last["step"])
        st.progress(run.done / steps, _say("left", step=run.done, steps=steps, left=left))
    else:
        st.progress(0.0, _say("starting"))


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
    """Epsilon of so many steps."""
    promised = spent(job, steps)
    return f"ε\u00a0{text.relation(promised)}\u00a0{text.bare(promised)}"


def _counted(what: str, count: int) -> str:
    return _say(f"count.{what}{'s' * (count > 1)}", count=text.spaced(count))
