"""What a training run is, has reached and guarantees, in words."""

import math

from dplearn.app.kit.language import translated
from dplearn.app.pages.train.fields import BOUND, DATASET, DELTA, MODEL
from dplearn.app.pages.train.plan import Training, guarantee
from dplearn.app.pages.train.runs import Run
from dplearn.figures.kit import text
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
DRAWN = "Held-out accuracy and norms of gradients against steps."
DRAWN_BESIDE = "Epsilon so far, training loss and share of clipped gradients against steps."
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


def promise(training: Training) -> str:
    """The guarantee of the plan, in one sentence."""
    return translated(
        _PROMISE,
        epsilon=_epsilon(training.guarantee),
        delta=DELTA.show(training.delta),
        steps=_steps(training.plan.steps),
        lot=text.whole(training.lot),
        size=text.whole(training.size),
        noise=text.plain(training.plan.noise_multiplier),
    )


def headline(run: Run | None) -> str:
    """Where the run stands."""
    if run is None:
        return translated("Before training, ε is known and accuracy is not")
    if not run.progress:
        return translated(_NOTHING_YET[run.phase])
    last, steps = run.progress[-1], run.training.plan.steps
    spent = guarantee(run.training.plan, run.training.delta, last["step"])
    accuracy = _percent(last["accuracy"])
    reached = translated("{accuracy} at {epsilon}", accuracy=accuracy, epsilon=_epsilon(spent))
    if "plain_accuracy" in last:
        plain = _percent(last["plain_accuracy"])
        reached += translated("; {accuracy} without privacy", accuracy=plain)
    if run.phase == "done":
        return reached
    places = {"step": text.whole(last["step"]), "steps": text.whole(steps)}
    return translated(_AT[run.phase], reached=reached, **places)


def run_in_a_line(training: Training) -> str:
    """The run, short enough for a subtitle."""
    plan, bound = training.plan, translated(BOUND.options[training.bound]).lower()
    kind = "" if training.bound == "Flat" else f" {bound}"
    parts = (
        f"{translated(DATASET.options[training.dataset])}, "
        f"{translated(MODEL.options[training.model])}",
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
    runs = translated("{count} run" if before == 1 else "{count} runs", count=text.whole(before))
    return translated(
        "The server is busy: {runs} before yours. It starts by itself; keep this page open.",
        runs=runs,
    )


def remaining(run: Run) -> tuple[float, str]:
    """Share of the work that is done, and the time that the rest takes."""
    if not run.progress:
        return 0.0, translated("Starting: PyTorch is being loaded …")
    last, steps = run.progress[-1], run.training.plan.steps
    left = last["seconds"] / last["step"] * (steps - last["step"])
    return last["step"] / steps, translated(_LEFT, step=last["step"], steps=steps, left=left)


def scope(run: Run) -> str:
    """What the numbers of a whole run mean."""
    held_out, share = run.events[0]["held_out"], run.progress[-1]["accuracy"]
    chance = 100 * math.sqrt(share * (1 - share) / held_out)
    return translated(_SCOPE, held_out=text.whole(held_out), chance=chance)


def cut_short(run: Run) -> str:
    """What holds after a run that did not end as planned."""
    if not run.progress:
        return ""
    training, done = run.training, run.progress[-1]["step"]
    spent = guarantee(training.plan, training.delta, done)
    planned = _epsilon(training.guarantee)
    return translated(_CUT_SHORT, epsilon=_epsilon(spent), steps=_steps(done), planned=planned)


def meaning(training: Training) -> str:
    """What clipping and noise do."""
    norm = training.plan.max_grad_norm
    spread = text.plain(training.plan.noise_multiplier * norm)
    return translated(_MEANING, norm=norm, spread=spread)


def _epsilon(guarantee: Guarantee) -> str:
    return f"ε\u00a0{text.relation(guarantee)}\u00a0{text.bare(guarantee)}"


def _steps(count: int) -> str:
    return translated("{count} step" if count == 1 else "{count} steps", count=text.whole(count))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\u00a0%"
