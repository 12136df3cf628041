"""Formulas are typed in many ways here: those with equal values are searched once in a session."""

import pytest

from dplearn.teaching.book import refute, starting_points
from dplearn.teaching.claims import judging


@pytest.fixture(autouse=True, scope="session")
def searched_once():
    outcomes = {}

    def remembered(entry, trial):
        values = [trial.claim]
        if not trial.note:  # typed, and no misprint of the book
            points = starting_points(entry, points=24)
            values = [f"{trial.claim(**point):.9e}" for point in points]
        where = (repr(trial.given), repr(trial.domain), trial.oracle)
        key = (entry.id, trial.name, trial.kind, *where, *values)
        if key not in outcomes:
            outcomes[key] = refute(entry, trial)
        return outcomes[key]

    judging.proofread(r"\rho + 2\sqrt{\rho}")  # the first one looks at every entry
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "refute", remembered)
        yield
