"""The parts of the training page: sidebar, guarantee, button, picture, how far the run is."""

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
from dplearn.app.pages.train import fields, words
from dplearn.app.pages.train.plan import Training, ahead, attacker
from dplearn.app.pages.train.runs import Run, begin, earlier
from dplearn.figures.kit import text
from dplearn.figures.training_run import training_run


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
    epochs = replace(fields.EPOCHS, label=f"T = {text.whole(training.plan.steps)}")
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
    left.container(key="words").markdown(words.promise(training), help=translated(words.WAY))
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
        st.warning(translated(words.NO_TORCH), icon=":material/download:")


def picture(training: Training, run: Run | None) -> None:
    """The run, or the plan before there is one."""
    shown = training if run is None else run.training
    headline = words.headline(run)
    with st.container(key="reached", gap=None):
        st.markdown(f"**{headline}**")
        st.caption(words.run_in_a_line(shown))
    figures = training_run(
        run.events if run else (),
        plan=shown.plan,
        planned=ahead(shown.plan, shown.delta),
        earlier={words.headline(old): old.progress for old in earlier() if old is not run},
    )
    drawn = translated(words.DRAWN), translated(words.DRAWN_BESIDE)
    alts = [f"{what} {headline}." for what in drawn]
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
    shown = training if run is None else run.training
    left, right = st.columns([3, 2])
    with left:
        status(training, run)
        st.markdown(words.meaning(training))
    with right:
        # Of the steps so far, as in the headline.
        people(attacker(shown.plan, run.done if run and run.done else shown.plan.steps))


def status(training: Training, run: Run | None) -> None:
    """Below the picture: how far the run is, or how it ended."""
    with st.container(key="status", gap="small"):
        if run is None:
            st.caption(translated("Press Train: the curves grow as the model learns."))
        elif run.before and run.live:
            st.info(words.queue(run.before), icon=":material/hourglass_top:")
        elif run.live:
            st.progress(*words.remaining(run))
        else:
            if run.phase == "failed":
                st.error(retold(run.problem), icon=":material/error:")
            if run.phase != "done":
                st.markdown(words.cut_short(run))
            if run.training != training:
                st.caption(translated(words.CHANGED))
            elif run.phase == "done":
                st.caption(words.scope(run))
