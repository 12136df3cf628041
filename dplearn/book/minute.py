"""What the five scenes of one minute show that the library knows."""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from dplearn import browser
from dplearn.book.published import drawn_figures
from dplearn.run import DPSGD, Sampling

# Of the curve that is claimed.
_POINTS = 24
_NAMES = {"sigma": "noise_multiplier", "q": "sample_rate", "delta": "delta", "T": "here"}


@cache
def told() -> dict[str, Any]:
    """Published figures, and shuffled batches."""
    return {"published": list(drawn_figures()), "shuffled": shuffled()}


def shuffled() -> dict[str, Any]:
    """Both ends of epsilon of the shuffled preset, the curve that Poisson accounting claims of it,
    and both ends of the first published run, were it shuffled."""
    queries = (dict(parse_qsl(preset["query"])) for preset in browser.presets())
    asked = next(query for query in queries if query.get("sampling") == "shuffled")
    run = {symbol: float(asked[name]) for symbol, name in _NAMES.items()}
    steps = sorted({max(1, round(run["T"] * (k / _POINTS) ** 2)) for k in range(1, _POINTS + 1)})
    claim = _plan(run, "poisson").guarantees(
        delta=run["delta"],
        steps=steps,
        adjacency=asked["adjacency"],  # type: ignore[arg-type]
    )
    first = next(drawn_figures())
    return {
        "run": {**run, "adjacency": asked["adjacency"]},
        "claim": [(t, guarantee.epsilon) for t, guarantee in zip(steps, claim, strict=True)],
        **_ends(run),
        "before": {name: first[name] for name in _NAMES} | _ends(first),
    }


def _plan(run: Mapping[str, float], sampling: Sampling) -> DPSGD:
    return DPSGD(
        noise_multiplier=run["sigma"], sample_rate=run["q"], steps=int(run["T"]), sampling=sampling
    )


def _ends(run: Mapping[str, float]) -> dict[str, float]:
    """What is proved from below and above of a run on shuffled batches."""
    proved = _plan(run, "shuffled").guarantee(delta=run["delta"])
    return {"lower": proved.lower, "upper": proved.epsilon}
