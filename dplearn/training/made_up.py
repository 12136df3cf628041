"""Records made up from shapes and types alone, so that no real one decides what is accepted.

Which numbers a model takes (tokens, classes, logarithms) is tried out: each tensor gets the first
of the kinds below with which the model works.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from dplearn.training.twin import widened

# Values of a tensor, from standard normals of its shape and a positive scale for each record.
Kind = Callable[[Tensor, Tensor], Tensor]


def _below(stop: int) -> Kind:
    """Whole numbers less than `stop`, small where the scale is; the first record has the last."""
    share = lambda normal, scale: torch.special.ndtr(normal) ** (1 / scale)
    last = lambda values: torch.cat([torch.full_like(values[:1], stop - 1), values[1:]])
    return lambda normal, scale: last((stop * share(normal, scale)).floor().clamp(max=stop - 1))


# What tells most comes first, what most models take comes last.
_FLOATS: tuple[Kind, ...] = (
    lambda normal, scale: normal * scale,
    lambda normal, _: normal,
    lambda normal, scale: 1 + normal.abs() * scale,
    lambda normal, _: torch.special.ndtr(normal),
)
_INTEGERS = (_below(64), _below(8), _below(2), lambda normal, _: normal * 0 + 1, _below(1))
_TRUTHS = (
    lambda normal, _: normal > 0,
    lambda normal, _: normal * 0 + 1,
    lambda normal, _: normal * 0,
)


class MadeUp:
    """Pairs (inputs, targets) like an example, which `works` takes without raising.

    They are rows of the example if that is public. If `precise`, they are in float64. ValueError,
    or what `works` raises of the plainest numbers, is raised if it takes none.
    """

    def __init__(
        self, example: Any, works: Callable[[Any], Any], *, precise: bool, public: bool
    ) -> None:
        self._leaves, self._structure = tree_flatten(example)
        tensors = [x for x in self._leaves if isinstance(x, Tensor)]
        self._rows, self._precise = len(tensors[0]) if tensors else 0, precise
        options = [() if public else _options(x, self._rows) for x in self._leaves]
        kinds = self._plainest(options, works)
        for place, better in enumerate(options):
            tried = ([*kinds[:place], kind, *kinds[place + 1 :]] for kind in better)
            kinds = next((x for x in tried if x == kinds or not self._error(x, works)), kinds)
        self._kinds = kinds

    def draw(self, scales: list[float], missing: int) -> Any:
        """One record of each scale, of which the last so many lack a tenth of their numbers."""
        return self._drawn(self._kinds, [1.0, *scales], missing)

    def rows(self, pair: Any, numbers: Sequence[int]) -> Any:
        """Some of the records that were drawn; what is no record stays whole."""
        places = [1 + number for number in numbers]  # the first record is for trying
        take = lambda like, x: x[places] if _is_drawn(like, self._rows) else x
        leaves = zip(self._leaves, tree_leaves(pair), strict=True)
        return tree_unflatten([take(*leaf) for leaf in leaves], self._structure)

    def _plainest(self, options, works) -> list[Kind | None]:
        """For each tensor one of the last kinds."""
        errors = []
        for plain in product(_FLOATS[::-1], _INTEGERS[:-3:-1], _TRUTHS[:-3:-1]):
            kinds = [next((x for x in plain if x in kinds), None) for kinds in options]
            errors.append(self._error(kinds, works))
            if errors[-1] is None:
                return kinds
        types = [f"{x.dtype} {tuple(x.shape)}" for x in self._leaves if isinstance(x, Tensor)]
        errors[0].add_note(f"Inputs and targets that were tried: {', '.join(types)}.")
        raise errors[0]

    def _error(self, kinds: list[Kind | None], works: Callable[[Any], Any]) -> Exception | None:
        try:
            works(self._drawn(kinds, [1.0] * 8, 0))
        except Exception as error:  # whatever it raises of numbers that it does not take
            return error
        return None

    def _drawn(self, kinds: list[Kind | None], scales: list[float], missing: int) -> Any:
        rng = torch.Generator().manual_seed(0)
        leaves = zip(self._leaves, kinds, strict=True)
        drawn = [self._like(*leaf, torch.tensor(scales), missing, rng) for leaf in leaves]
        return tree_unflatten(drawn, self._structure)

    def _like(self, leaf: Any, kind: Kind | None, scales: Tensor, missing: int, rng: Any) -> Any:
        """Values of one tensor; anything else as it is."""
        if not isinstance(leaf, Tensor):
            return leaf
        if not _is_drawn(leaf, self._rows):
            return widened(leaf, self._precise)
        draw = lambda *shape: torch.randn(len(scales), *shape, generator=rng).double()
        normal, sizes = draw(*leaf.shape[1:]), draw(*[1] * (leaf.dim() - 1)).exp()
        rows = torch.randint(self._rows, (len(scales),), generator=rng)
        if kind is None:
            values = leaf[rows.to(leaf.device)]
        else:
            values = kind(normal, scales.view(sizes.shape) * sizes).to(leaf)
        values = widened(values, self._precise)
        if missing and values.is_floating_point():
            spoilt = values[-missing:]
            spoilt[torch.rand(spoilt.shape, generator=rng).to(leaf.device) < 0.1] = torch.nan
        return values


def _is_drawn(leaf: Any, rows: int) -> bool:
    return isinstance(leaf, Tensor) and leaf.shape[:1] == (rows,)


def _options(leaf: Any, rows: int) -> tuple[Kind, ...]:
    """Kinds of numbers for such a tensor."""
    if not _is_drawn(leaf, rows):
        return ()
    if leaf.dtype == torch.bool:
        return _TRUTHS
    if leaf.is_floating_point() or leaf.is_complex():
        return _FLOATS
    # A number that is out of range ends the use of an accelerator, where a processor raises.
    return _INTEGERS if leaf.device.type == "cpu" else _INTEGERS[2:]
