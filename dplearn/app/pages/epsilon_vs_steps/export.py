"""What a reader takes along: numbers as CSV, a certificate, and Python that draws the picture."""

import csv
import io
from functools import lru_cache
from importlib import util

from dplearn.app.pages.epsilon_vs_steps.answers import CLAIM, Answers, poisson_claim
from dplearn.app.pages.epsilon_vs_steps.run import REFERENCE, Scenario
from dplearn.app.pages.epsilon_vs_steps.words import claimed as proved_of
from dplearn.figures import certificate
from dplearn.run import sampled

# Asked at every move, and answered from the disk.
find_spec = lru_cache(maxsize=1)(util.find_spec)
COLUMNS = ("method", "steps", "lower", "epsilon", "kind", "delta", "adjacency", "order")
SETTING = ("mechanism", "noise_multiplier", "sampling", "sample_rate", "then")
NO_FORM = (
    "This run has no certificate: a proof that anybody can check has a form for Gaussian noise "
    "alone, the same in every step, with Poisson sampling or with all records."
)
NO_FLINT = (
    "A certificate, which proves ε to anybody, is made with python-flint: "
    "`pip install python-flint`, then start the explorer again."
)


def as_csv(answers: Answers) -> str:
    """One row per curve and number of steps, epsilon to 17 digits, each with the whole setting."""
    setting = [getattr(answers.scenario, name) for name in SETTING]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*COLUMNS, *SETTING))
    for name, curve in {**answers.curves, **answers.claims}.items():
        method = name if name in answers.claims else curve[0].method
        for t, g in zip(answers.steps, curve, strict=True):
            order = g.details.get("order", "")
            ends = repr(certificate.floor(g)), repr(g.epsilon)
            writer.writerow((method, t, *ends, g.kind, g.delta, g.adjacency, order, *setting))
    return out.getvalue()


def no_certificate(scenario: Scenario) -> str:
    """Why a run has no certificate to take along, in a sentence; empty where it has one."""
    formed = scenario.mechanism == "gaussian" and scenario.sampling in ("poisson", "none")
    if not formed or scenario.then:
        return NO_FORM
    return "" if find_spec("flint") else NO_FLINT


def as_certificate(answers: Answers) -> str:
    """Certificate at the chosen number of steps; where no proof is found, the reason."""
    # Loads python-flint, which the explorer does without until somebody asks.
    from dplearn.certificates import certify

    run, steps = answers.scenario, answers.here
    step = sampled(run.base, sampling=run.sampling, sample_rate=run.sample_rate)  # type: ignore[arg-type]
    try:
        return f"{certify(step, steps=steps, delta=run.delta, adjacency=run.adjacency)}\n"
    except NotImplementedError as error:
        return f"{error}\n"


def _run(scenario: Scenario) -> tuple[list[str], list[str], str]:
    """Lines that import what a run needs, that make it, and what is asked of it by each name."""
    if scenario.then:
        promise = f"delta={scenario.delta!r}, adjacency={scenario.adjacency!r}"
        phases = [f"    {phase!r}," for phase in scenario.phases]
        asked = f"run.guarantees(laws[name], steps=steps, {promise})"
        return ["from dplearn.run import DPSGD, Phases"], ["run = Phases((", *phases, "))"], asked
    law = type(scenario.base)
    imports = ["from dplearn.run import guarantees", f"from {law.__module__} import {law.__name__}"]
    base = f"base = {law.__name__}(noise_multiplier={scenario.noise_multiplier!r})"
    asked = "guarantees(laws[name], base, steps=steps, **run)"
    return imports, [base, f"run = {scenario.keywords}"], asked


def as_python(answers: Answers) -> str:
    """Lines that compute the same numbers and draw the same pictures."""
    scenario, here, names = answers.scenario, answers.here, list(answers.curves)
    quoted, measured = poisson_claim(scenario), REFERENCE in names
    imports, run, asked = _run(scenario)
    shown = f"{{**curves, {CLAIM!r}: claim}}" if quoted else "curves"
    marked = f", claims={proved_of(answers)}" if quoted else ""
    extras = f", reference={REFERENCE!r}" if measured else ""
    extras += f"{marked}, stairs=True" if quoted else ""
    figures = ["epsilon_curves", *["log_steps"] * (not scenario.by_epoch)]
    figures += ["looseness"] * measured
    # As a call, or one by one where they depend on the epochs.
    marks = sorted({here, *scenario.marks})
    steps = f"log_steps({scenario.largest}, include={marks})"
    steps = str(sorted({*scenario.steps, here})) if scenario.by_epoch else steps
    claimed = []
    if quoted:
        other = f"{{'sampling': {quoted.sampling!r}, 'adjacency': {quoted.adjacency!r}}}"
        claimed = [
            f"poisson = run | {other}",
            f"quoted = guarantees(accountants[{REFERENCE!r}](), base, steps=steps, **poisson)",
            'claim = [replace(g, kind="approximate") for g in quoted]',
        ]
    lines = [
        *(["from dataclasses import replace", ""] if quoted else []),
        "from dplearn.accountants import accountants",
        *imports,
        f"from dplearn.figures import {', '.join(figures)}",
        "",
        *run,
        f"steps = {steps}",
        f"names = {names}",
        "laws = {name: accountants[name]() for name in names}",
        f"curves = {{name: {asked} for name in names}}",
        *claimed,
        f"print(*(curves[name][steps.index({here})] for name in names), sep='\\n')",
        f"epsilon_curves({shown}, steps, here={here}, budget={answers.budget:g}{extras}).show()",
    ]
    if measured:
        lines += [f"looseness({shown}, curves[{REFERENCE!r}], steps, here={here}{marked}).show()"]
    return "\n".join(lines) + "\n"
