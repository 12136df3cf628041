"""``dplearn pate votes.npy``: what a holder of published votes needs to check a paper's epsilon."""

import argparse
import dataclasses
from collections.abc import Iterator

from dplearn.ground.guarantee import Guarantee
from dplearn.pate.as_printed import answered, as_printed
from dplearn.pate.at_these_votes import at_these_votes
from dplearn.pate.plan import PATE
from dplearn.pate.votes import Votes, read_votes


def read(options: argparse.Namespace) -> tuple[Votes, PATE]:
    """The votes in the file and the plan that the options describe."""
    votes = read_votes(options.votes, labels=options.labels, classes=options.classes)
    votes = votes if options.queries is None else votes.first(options.queries)
    plan = PATE(
        queries=votes.queries,
        answers=votes.queries,
        noise_std=options.noise_std,
        threshold=options.threshold,
        check_std=options.check_std,
        noise="laplace" if options.laplace else "gaussian",
    )
    cap = round(answered(votes, plan).sum()) if options.answers is None else options.answers
    return votes, dataclasses.replace(plan, answers=cap)


def statements(votes: Votes, plan: PATE, *, delta: float) -> Iterator[tuple[str, Guarantee]]:
    """What may be published, what papers print, and the truth at these votes, each with a title."""
    yield (
        f"for any votes, if no more than {plan.answers} may be answered",
        plan.guarantee(delta=delta),
    )
    printed = as_printed(votes, plan, delta=delta)
    first = printed.details["first_conversion"]
    yield f"as the papers print it ({first:.4g} by their conversion)", printed
    if plan.noise == "gaussian":
        yield (
            "exact, all of these queries asked",
            at_these_votes(votes, plan).guarantee(delta=delta),
        )
