"""Curves of guarantees for figures over the number of steps, and the words found on these."""

import dataclasses
from collections.abc import Sequence

from dplearn.ground.guarantee import Guarantee

STEPS = [1, 10, 100, 1000]


def curve(name: str, values: Sequence[float], kind: str = "upper", **more) -> list[Guarantee]:
    bare = Guarantee(epsilon=1.0, delta=1e-5, kind="upper", method=name, adjacency="add_remove")
    return [dataclasses.replace(bare, epsilon=e, kind=kind, **more) for e in values]


def notes(figure) -> list[str]:
    return [note.text for note in figure.layout.annotations if note.visible is not False]
