"""What the training page shows: sidebar, guarantee, picture, how far the run is, and in words."""

import math
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import streamlit as st

from dplearn.app.kit import controls, look
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.people import people
from dplearn.app.kit.run_fields import LENGTH_IN
from dplearn.app.kit.state import State
from dplearn.app.pages.train import fields
from dplearn.app.pages.train.fields import Training, ahead, attacker, guarantee
from dplearn.app.pages.train.runs import Run, begin, earlier
from dplearn.figures.kit import text
from dplearn.figures.training_run import training_run
from dplearn.ground.guarantee import Guarantee

_WAY = (
    "Proved by the PLD accountant for Poisson sampling; neighbours differ by one record added or "
    "removed. It is known before training and does not depend on the data."
)
_NO_TORCH = (
    'Training needs PyTorch, which is not installed: `pip install "dplearn-privacy[train]"`, or '
    "`make train` in a checkout of the project."
)
_CHANGED = "The plan was changed after this run. Press Train to see what the new one does."
_DRAWN = "Held-out accuracy and norms of gradients against steps."
_DRAWN_BESIDE = "Epsilon so far, training loss and share of clipped gradients against steps."
_NOTHING_YET = {
    "waiting": "Waiting for a place",
    "running": "Training begins",
    "stopped": "Stopped before the first step",
    "failed": "Nothing was trained",
    "done": "",
}
_AT = {
    "running": "Step {step} of {steps}: {reached}",
    "stopped": "Stopped at step {step} of {steps}: {reached}",
    "failed": "Ended at step {step} of {steps}: {reached}",
}
_LEFT = "Step {step} of {steps}, about {left:.0f} s left"
_QUEUE = "The server is busy: {runs} before yours. It starts by itself; keep this page open."
_PROMISE = (
    "**This plan guarantees {epsilon}** at δ = {delta}: {steps} on lots of about {lot} of {size} "
    "records, with noise of {noise}\u00a0× the clipping norm."
)
_SCOPE = (
    "Accuracy was measured on {held_out} held-out records that count as public, and chance moves "
    "it by about {chance:.1f} points. Loss, norms and clipped share are computed from the "
    "training records without noise: to look at, never to publish."
)
_CUT_SHORT = (
    "{epsilon} holds after {steps} if neither data nor model decided when to stop. Whoever stopped "
    "because of what they saw has the guarantee of all planned steps: {planned}."
)
_MEANING = (
    "**Clipping** shortens each record's gradient to length C\u00a0=\u00a0{norm:g} at most, so "
    "that no single record can pull the model far. **Noise** of standard deviation "
    "σ·C\u00a0=\u00a0{spread} on the sum of a lot hides what any one of them did: the more noise, "
    "the smaller ε and the harder it is to learn."
)


def sidebar(state: State, training: Training) -> None:
    """Data and model, then everything that the guarantee or the accuracy depends on."""
    st.markdown(translated("**dplearn** · training with privacy"))
    left, right = st.columns([3, 2])
    controls.choice(state, fields.DATASET, then=fields.suit, place=left)
    controls.choice(state, fields.MODEL, then=fields.suit, place=right)
    by_target = state.values["noise_from"] == "epsilon"
    noise = fields.TARGET if by_target else fields.NOISE
    controls.quantity(state, noise, unit=fields.NOISE_FROM)
    lot = replace(fields.LOT, upper=float(training.size))
    by_lot = state.values["lot_from"] == "lot"
    controls.quantity(state, lot if by_lot else fields.RATE, unit=fields.LOT_FROM)
    in_steps = state.values["length_in"] == "steps"
    epochs = replace(fields.EPOCHS, label=f"T = {text.spaced(training.plan.steps)}")
    controls.quantity(state, fields.STEPS if in_steps else epochs, unit=LENGTH_IN)
    for kind in (fields.CLIPPING, fields.LEARNING_RATE, fields.DELTA):
        controls.quantity(state, kind)
    left, right = st.columns(2)
    controls.choice(state, fields.BOUND, place=left)
    controls.choice(state, fields.COMPARE, place=right)


def heading(training: Training, run: Run | None) -> None:
    """The guarantee of the plan, and the button."""
    left, right = st.columns([6, 1], vertical_alignment="center")
    button = right.container(key="button").button
    promise = translated(
        _PROMISE,
        epsilon=_epsilon(training.guarantee),
        delta=fields.DELTA.show(training.delta),
        steps=_steps(training.plan.steps),
        lot=text.spaced(training.lot),
        size=text.spaced(training.size),
        noise=text.plain(training.plan.noise_multiplier),
    )
    left.container(key="words").markdown(promise, help=translated(_WAY))
    if run is not None and run.live:
        stop = translated("Stop")
        button(stop, on_click=run.stop, width="stretch", icon=":material/stop:")
        return
    able = find_spec("torch") is not None  # which does not load it
    button(
        translated("Train"),
        on_click=begin,
        args=(training,),
        type="primary",
        width="stretch",
        icon=":material/play_arrow:",
        disabled=not able,
    )
    if not able:
        st.warning(translated(_NO_TORCH), icon=":material/download:")


def picture(training: Training, run: Run | None) -> None:
    """The run, or the plan before there is one."""
    shown = training if run is None else run.training
    title = headline(run)
    with st.container(key="reached", gap=None):
        st.markdown(f"**{title}**")
        st.caption(_run_in_a_line(shown))
    figures = training_run(
        run.events if run else (),
        plan=shown.plan,
        planned=ahead(shown.plan, shown.delta),
        earlier={headline(old): old.progress for old in earlier() if old is not run},
    )
    drawn = translated(_DRAWN), translated(_DRAWN_BESIDE)
    alts = [f"{what} {title}." for what in drawn]
    with st.container(key="picture"):
        _without_a_blink(figures, alts)


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
                        look.chart(frame[0][rank], key, frame[1][1][rank])
    st.html(f'<i class="front_{front}"></i>')


def below(training: Training, run: Run | None) -> None:
    """How far the run is, or how it ended, and what its epsilon is for people."""
    plan = (training if run is None else run.training).plan
    left, right = st.columns([3, 2])
    with left:
        with st.container(key="status", gap="small"):
            _status(training, run)
        norm = training.plan.max_grad_norm
        spread = text.plain(training.plan.noise_multiplier * norm)
        st.markdown(translated(_MEANING, norm=norm, spread=spread))
    with right:
        # Of the steps so far, as in the headline.
        people(attacker(plan, run.done if run and run.done else plan.steps))


def _status(training: Training, run: Run | None) -> None:
    """How far the run is, or how it ended."""
    if run is None:
        st.caption(translated("Press Train: the curves grow as the model learns."))
    elif run.before and run.live:
        many = {"count": text.spaced(run.before)}
        runs = translated("{count} run" if run.before == 1 else "{count} runs", **many)
        st.info(translated(_QUEUE, runs=runs), icon=":material/hourglass_top:")
    elif run.live:
        st.progress(*_remaining(run))
    else:
        if run.phase == "failed":
            st.error(retold(run.problem), icon=":material/error:")
        if run.phase != "done" and run.progress:
            epsilon, planned = _epsilon(_spent(run)), _epsilon(run.training.guarantee)
            held = {"epsilon": epsilon, "steps": _steps(run.done), "planned": planned}
            st.markdown(translated(_CUT_SHORT, **held))
        if run.training != training:
            st.caption(translated(_CHANGED))
        elif run.phase == "done":
            held_out, share = run.events[0]["held_out"], run.progress[-1]["accuracy"]
            chance = 100 * math.sqrt(share * (1 - share) / held_out)
            st.caption(translated(_SCOPE, held_out=text.spaced(held_out), chance=chance))


def headline(run: Run | None) -> str:
    """Where the run stands."""
    if run is None:
        return translated("Before training, ε is known and accuracy is not")
    if not run.progress:
        return translated(_NOTHING_YET[run.phase])
    last, steps = run.progress[-1], run.training.plan.steps
    accuracy = _percent(last["accuracy"])
    reached = translated(
        "{accuracy} at {epsilon}", accuracy=accuracy, epsilon=_epsilon(_spent(run))
    )
    if "plain_accuracy" in last:
        plain = _percent(last["plain_accuracy"])
        reached += translated("; {accuracy} without privacy", accuracy=plain)
    if run.phase == "done":
        return reached
    places = {"step": text.spaced(last["step"]), "steps": text.spaced(steps)}
    return translated(_AT[run.phase], reached=reached, **places)


def _run_in_a_line(training: Training) -> str:
    """The run, short enough for a subtitle."""
    plan, bound = training.plan, translated(fields.BOUND.options[training.bound]).lower()
    kind = "" if training.bound == "Flat" else f" {bound}"
    parts = (
        f"{translated(fields.DATASET.options[training.dataset])}, "
        f"{translated(fields.MODEL.options[training.model])}",
        f"σ = {plan.noise_multiplier:.4g}",
        f"q = {plan.sample_rate:.4g}",
        f"T = {text.spaced(plan.steps)}",
        f"C = {plan.max_grad_norm:g}{kind}",
        f"η = {training.learning_rate:g}",
        f"δ = {fields.DELTA.show(training.delta)}",
    )
    return ", ".join(parts)


def _remaining(run: Run) -> tuple[float, str]:
    """Share of the work that is done, and the time that the rest takes."""
    if not run.progress:
        return 0.0, translated("Starting: PyTorch is being loaded …")
    last, steps = run.progress[-1], run.training.plan.steps
    left = last["seconds"] / last["step"] * (steps - last["step"])
    return last["step"] / steps, translated(_LEFT, step=last["step"], steps=steps, left=left)


def _spent(run: Run) -> Guarantee:
    """What the steps so far have cost."""
    return guarantee(run.training.plan, run.training.delta, run.done)


def _epsilon(guarantee: Guarantee) -> str:
    return f"ε\u00a0{text.relation(guarantee)}\u00a0{text.bare(guarantee)}"


def _steps(count: int) -> str:
    return translated("{count} step" if count == 1 else "{count} steps", count=text.spaced(count))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\u00a0%"
