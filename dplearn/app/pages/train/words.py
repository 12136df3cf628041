"""What a training run is, has reached and guarantees, in words."""

import math

from dplearn.app.pages.train.fields import BOUND, DATASET, DELTA, MODEL
from dplearn.app.pages.train.plan import Training, guarantee
from dplearn.app.pages.train.runs import Run
from dplearn.figures import text
from dplearn.ground.guarantee import Guarantee

WAY = (
    "Proved by the PLD accountant for Poisson sampling; neighbours differ by one record added or "
    "removed. It is known before training and does not depend on the data."
)
NO_TORCH = (
    'Training needs PyTorch, which is not installed: `pip install "dplearn-privacy[train]"`, or '
    "`make train` in a checkout of the project."
)
CHANGED = "The plan was changed after this run. Press Train to see what the new one does."
_NOTHING_YET = {
    "waiting": "Waiting for a place",
    "running": "Training begins",
    "stopped": "Stopped before the first step",
    "failed": "Nothing was trained",
    "done": "",
}


def promise(training: Training) -> str:
    """The guarantee of the plan, in one sentence."""
    plan, delta = training.plan, DELTA.show(training.delta)
    lots = f"lots of about {text.whole(training.lot)} of {text.whole(training.size)} records"
    return (
        f"**This plan guarantees {_epsilon(training.guarantee)}** at δ = {delta}: "
        f"{_counted(plan.steps, 'step')} on {lots}, with noise of "
        f"{text.plain(plan.noise_multiplier)}\u00a0× the clipping norm."
    )


def headline(run: Run | None) -> str:
    """Where the run stands."""
    if run is None:
        return "Before training, ε is known and accuracy is not"
    if not run.progress:
        return _NOTHING_YET[run.phase]
    last, steps = run.progress[-1], run.training.plan.steps
    spent = guarantee(run.training.plan, run.training.delta, last["step"])
    reached = f"{_percent(last['accuracy'])} at {_epsilon(spent)}"
    if "plain_accuracy" in last:
        reached += f"; {_percent(last['plain_accuracy'])} without privacy"
    if run.phase == "done":
        return reached
    begin = {"stopped": "Stopped at step", "failed": "Ended at step"}.get(run.phase, "Step")
    return f"{begin} {text.whole(last['step'])} of {text.whole(steps)}: {reached}"


def run_in_a_line(training: Training) -> str:
    """The run, short enough for a subtitle."""
    plan, kind = training.plan, BOUND.options[training.bound].lower()
    kind = "" if kind == "flat" else f" {kind}"
    parts = (
        f"{DATASET.options[training.dataset]}, {MODEL.options[training.model]}",
        f"σ = {plan.noise_multiplier:.4g}",
        f"q = {plan.sample_rate:.4g}",
        f"T = {text.whole(plan.steps)}",
        f"C = {plan.max_grad_norm:g}{kind}",
        f"η = {training.learning_rate:g}",
        f"δ = {DELTA.show(training.delta)}",
    )
    return ", ".join(parts)


def queue(before: int) -> str:
    """How long one waits."""
    runs = _counted(before, "run")
    return f"The server is busy: {runs} before yours. It starts by itself; keep this page open."


def remaining(run: Run) -> tuple[float, str]:
    """Share of the work that is done, and the time that the rest takes."""
    if not run.progress:
        return 0.0, "Starting: PyTorch is being loaded …"
    last, steps = run.progress[-1], run.training.plan.steps
    left = last["seconds"] / last["step"] * (steps - last["step"])
    return last["step"] / steps, f"Step {last['step']} of {steps}, about {left:.0f} s left"


def scope(run: Run) -> str:
    """What the numbers of a whole run mean."""
    held_out, share = run.events[0]["held_out"], run.progress[-1]["accuracy"]
    chance = 100 * math.sqrt(share * (1 - share) / held_out)
    return (
        f"Accuracy was measured on {text.whole(held_out)} held-out records that count as public, "
        f"and chance moves it by about {chance:.1f} points. The loss is computed from the training "
        "records without noise: to look at, never to publish."
    )


def cut_short(run: Run) -> str:
    """What holds after a run that did not end as planned."""
    if not run.progress:
        return ""
    training, done = run.training, run.progress[-1]["step"]
    spent = guarantee(training.plan, training.delta, done)
    return (
        f"{_epsilon(spent)} holds after {_counted(done, 'step')} if neither data nor model "
        "decided when to stop. Whoever stopped because of what they saw has the guarantee of all "
        f"planned steps: {_epsilon(training.guarantee)}."
    )


def meaning(training: Training) -> str:
    """What clipping and noise do."""
    norm = training.plan.max_grad_norm
    spread = text.plain(training.plan.noise_multiplier * norm)
    return (
        f"**Clipping** shortens each record's gradient to length C\u00a0=\u00a0{norm:g} at most, "
        "so that no single record can pull the model far. **Noise** of standard deviation "
        f"σ·C\u00a0=\u00a0{spread} on the sum of a lot hides what any one of them did: the more "
        "noise, the smaller ε and the harder it is to learn."
    )


def _epsilon(guarantee: Guarantee) -> str:
    return f"ε\u00a0{text.relation(guarantee)}\u00a0{text.bare(guarantee)}"


def _counted(count: int, noun: str) -> str:
    return f"{text.whole(count)} {noun}{'' if count == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\u00a0%"
