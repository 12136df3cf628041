"""Checks of the whole book: entries, misprints and published figures."""

import difflib
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from multiprocessing import get_context
from typing import Any

from dplearn.core.display import as_json
from dplearn.teaching.book import Refutation, Verification, book, refute, verify
from dplearn.teaching.book.kit.checks import Case
from dplearn.teaching.book.kit.verdicts import SEARCHES
from dplearn.teaching.book.published import Figure, check_figure, published

Result = Verification | Refutation | Figure


def all_ids() -> list[str]:
    """Return the ids of all entries and published figures."""
    return [*book, *published()]


def results_of(id: str, *, searches: int = SEARCHES) -> list[Result]:
    """Verify one entry and refute its misprints, or check one published figure."""
    if id not in book:
        return [check_figure(id)]
    misprints = (refutation(id, misprint.name) for misprint in book[id].misprints)
    return [verify(book[id], searches=searches), *misprints]


def verification(id: str) -> Verification:
    """Return the outcome of the check of one entry."""
    return verify(book[id])


def refutation(id: str, misprint: str) -> Refutation:
    """Return the outcome of the search for a counterexample to a misprint."""
    return refute(book[id], book[id].misprint(misprint))


def check_all(ids: Sequence[str] = (), *, searches: int = SEARCHES) -> Iterator[Result]:
    """Check entries and figures by id, or all in two processes, and yield the results in order.

    An entry is verified if `searches` searches find no error; misprints get the default number. An
    id without its number selects a group: "G-A", or "P" for all published figures. An unknown id
    raises ValueError.

    Examples
    --------
    >>> [result.status for result in check_all(["G-A8"])]
    ['verified', 'refuted', 'refuted']
    """
    one = partial(results_of, searches=searches)
    every = all_ids()
    chosen: dict[str, None] = {}
    for id in ids:
        matching = [k for k in every if id in (k, k.rstrip("abcdefgh0123456789"))]
        if not matching:
            near = difflib.get_close_matches(id, every, n=3, cutoff=0.0)
            raise ValueError(f"Expected ids of the book such as {', '.join(near)}, got {id!r}.")
        chosen |= dict.fromkeys(matching)
    return chain.from_iterable(map(one, chosen) if ids else _in_parallel(one))


def _in_parallel(one: Callable[[str], list[Result]]) -> Iterator[list[Result]]:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield from pool.map(one, all_ids())


def as_text(result: Result) -> str:
    """Format a result as a line of a table; misprints are indented below their entry."""
    seconds = f"{result.seconds:5.2f} s"
    if isinstance(result, Verification):
        head = f"{result.id:8}{book[result.id].title:57.57} {result.status:9}"
        why = f"\n        {result.reason}" if result.reason else ""
        return f"{head}{result.worst_slack:10.1e}  {seconds}{why}"
    if isinstance(result, Figure):
        what = f"{result.printed} ({result.source})"
        ours = "" if math.isnan(result.value) else f"{result.verdict}, here {result.value:.6g}"
        return f"{result.id:8}{what:57.57} {result.status:13}{ours}".rstrip()
    name = result.id.partition("/")[2]
    unsafe = ", unsafe" if result.unsafe else ""
    outcome = result.counterexample or result.reason or "no counterexample found"
    return f"{'':8}{result.status} {name}{unsafe}: {outcome}"


def as_row(result: Result) -> dict[str, Any]:
    """Return the result in JSON types; inf and nan become null."""
    row = {"id": result.id, "kind": result.kind, "status": result.status}
    row |= {"worst_slack": result.worst_slack, "seconds": round(result.seconds, 3)}
    if isinstance(result, Verification):
        row |= {"title": book[result.id].title, "points": result.points, "reason": result.reason}
    elif isinstance(result, Figure):
        row |= {"verdict": result.verdict, "why": result.why, "source": result.source}
        row |= {"printed": result.printed, "value": result.value}
    else:
        row |= {"kind": "misprint", "claims": result.kind, "reason": result.reason}
        row |= {"unsafe": result.unsafe, "safe_side": result.safe_side, "harmless": result.harmless}
        row |= {"counterexample": _case(result.counterexample), "worst": _case(result.worst)}
    return as_json(row)


def _case(case: Case | None) -> dict[str, Any] | None:
    if case is None:
        return None
    exact = [case.truth.low, case.truth.high]
    return {"parameters": case.parameters, "value": case.value, "truth": exact, "text": str(case)}
