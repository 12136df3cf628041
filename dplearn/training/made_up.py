"""Records made up from shapes and types alone, so that no real one decides what is accepted.

Which numbers a model takes (tokens, classes, logarithms) is tried out: each tensor gets the first
of the kinds below with which the model works. Some more records have the form of masks, lengths
and ignored labels.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from dplearn.training.twin import widened

# Values of a tensor, from standard normals of its shape and a positive scale for each record.
Kind = Callable[[Tensor, Tensor], Tensor]


def _below(stop: int, start: int = 0) -> Kind:
    """Whole numbers less than `stop`, small where the scale is; the first record has the last."""
    share = lambda normal, scale: torch.special.ndtr(normal) ** (1 / scale)
    last = lambda values: torch.cat([torch.full_like(values[:1], stop - 1), values[1:]])
    drawn = lambda normal, scale: (start + (stop - start) * share(normal, scale)).floor()
    return lambda normal, scale: last(drawn(normal, scale).clamp(max=stop - 1))


def _ones_then(rest: int) -> Kind:
    """Ones, as many as a record's share of the last dimension, more where the scale is large."""

    def kind(normal: Tensor, scale: Tensor) -> Tensor:
        if normal.dim() == 1:  # every second record, or all but every seventh
            ones = torch.arange(len(normal)) % torch.where(scale < 1, 2, 7) != 0
            return torch.where(ones, 1.0, rest)
        share = torch.special.ndtr(normal)
        first = lambda x: x.flatten(1)[:, 0].view(-1, *[1] * (x.dim() - 1))
        places = torch.arange(normal.shape[-1])
        ones = places < (first(share) ** (1 / first(scale)) * len(places)).ceil()
        return torch.where(ones, 1.0, rest).expand(normal.shape)

    return kind


# What tells most comes first, what most models take comes last.
_FLOATS: tuple[Kind, ...] = (
    lambda normal, scale: normal * scale,
    lambda normal, _: normal,
    lambda normal, scale: 1 + normal.abs() * scale,
    lambda normal, _: torch.special.ndtr(normal),
)
_PLAIN_INTEGERS: tuple[Kind, ...] = (_below(2), lambda normal, _: normal * 0 + 1, _below(1))
_INTEGERS = (_below(64), _below(8), *_PLAIN_INTEGERS)
_TRUTHS = (
    lambda normal, _: normal > 0,
    lambda normal, _: normal * 0 + 1,
    lambda normal, _: normal * 0,
)


class _Watch(TorchFunctionMode):
    """Notes which whole numbers a model treats in a way of their own, and stops what may crash.

    Kernels of PyTorch raise where an index is out of range, but for the CTC loss.
    """

    def __init__(self) -> None:
        super().__init__()
        self.special: set[int] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        whole = [x for x in tree_leaves((args, kwargs)) if _is_whole(x)]
        if whole and name.strip("_") in ("eq", "ne"):
            self.special |= {x for x in args if type(x) is int}
        if whole and type(kwargs.get("ignore_index")) is int:
            self.special.add(kwargs["ignore_index"])
        if name == "ctc_loss" and not 0 <= whole[0].min() <= whole[0].max() < args[0].shape[-1]:
            raise ValueError(f"Expected labels below {args[0].shape[-1]} in the CTC loss.")
        return func(*args, **kwargs)


def _is_whole(leaf: Any) -> bool:
    """Whether this is a tensor of whole numbers."""
    other = not isinstance(leaf, Tensor) or leaf.is_floating_point() or leaf.is_complex()
    return not other and leaf.dtype != torch.bool


class MadeUp:
    """Pairs (inputs, targets) like an example, which `works` takes without raising.

    They are rows of the example if that is public. If `precise`, they are in float64. ValueError,
    or what `works` raises of the plainest numbers, is raised if it takes none.
    """

    def __init__(
        self, example: Any, works: Callable[[Any], Any], *, precise: bool, public: bool
    ) -> None:
        self._leaves, self._structure = tree_flatten(example)
        self._works, self._watch = works, _Watch()
        tensors = [x for x in self._leaves if isinstance(x, Tensor)]
        self._rows, self._precise = len(tensors[0]) if tensors else 0, precise
        options = [() if public else _options(x, self._rows) for x in self._leaves]
        kinds = self._plainest(options)
        first_target = len(tree_leaves(example[0]))
        # Losses may not look at the range of classes, which models tell by the sizes of outputs.
        outputs = tree_leaves(self._tried(kinds))
        sizes = [size for x in outputs if isinstance(x, Tensor) for size in x.shape[1:]]
        stop = min([size for size in sizes if size > 1], default=2)
        for place in range(first_target, len(options)):
            if options[place][-1:] == _INTEGERS[-1:]:
                options[place] = (_below(stop), *_PLAIN_INTEGERS)
        self._kinds = self._best(kinds, options)
        special = [0, *sorted(self._watch.special - {0, 1})]
        forms = [self._forms(rest, first_target) for rest in special] * (not public)
        styles = [self._best(self._kinds, options) for options in forms]
        self._styles = [x for n, x in enumerate(styles) if x not in [self._kinds, *styles[:n]]]

    @property
    def styles(self) -> int:
        """How many forms of masks, lengths and ignored labels there are."""
        return len(self._styles)

    def draw(self, scales: list[float], missing: int, styled: list[float]) -> Any:
        """One record of each scale, of which the last so many lack a tenth of their numbers.

        Then for each style records of other scales.
        """
        drawn = [self._drawn(self._kinds, [1.0, *scales], missing)]
        drawn += [self._drawn(kinds, [1.0, *styled], 0) for kinds in self._styles]
        after = lambda x, *more: torch.cat([x, *(other[1:] for other in more)])
        leaves = zip(self._leaves, *map(tree_leaves, drawn), strict=True)
        rows = [after(*x) if _is_drawn(like, self._rows) else x[0] for like, *x in leaves]
        return tree_unflatten(rows, self._structure)

    def rows(self, pair: Any, numbers: Sequence[int]) -> Any:
        """Some of the records that were drawn; what is no record stays whole."""
        places = [1 + number for number in numbers]  # the first record is for trying
        take = lambda like, x: x[places] if _is_drawn(like, self._rows) else x
        leaves = zip(self._leaves, tree_leaves(pair), strict=True)
        return tree_unflatten([take(*leaf) for leaf in leaves], self._structure)

    def _plainest(self, options: Sequence[tuple[Kind, ...]]) -> list[Kind | None]:
        """For each tensor one of the last kinds."""
        errors = []
        for plain in product(_FLOATS[::-1], _INTEGERS[:-3:-1], _TRUTHS[:-3:-1]):
            kinds = [next((x for x in plain if x in kinds), None) for kinds in options]
            try:
                self._tried(kinds)
            except Exception as error:  # whatever it raises of numbers that it does not take
                errors.append(error)
            else:
                return kinds
        if type(errors[0]) is not RuntimeError:
            raise errors[0]
        types = [f"{x.dtype} {tuple(x.shape)}" for x in self._leaves if isinstance(x, Tensor)]
        why = " ".join(str(errors[0]).split())
        raise RuntimeError(
            f"Expected inputs and targets that suit the model, got {', '.join(types)}: {why}"
        ) from errors[0]

    def _best(self, kinds: list[Kind | None], options: Sequence[tuple[Kind, ...]]) -> list[Any]:
        """For each tensor the first of its options that works, or the kind that it has."""
        for place, better in enumerate(options):
            for kind in better:
                tried = [*kinds[:place], kind, *kinds[place + 1 :]]
                with suppress(Exception):
                    self._tried(tried)
                    kinds = tried
                    break
        return kinds

    def _tried(self, kinds: list[Kind | None]) -> Any:
        """The model's outputs for such numbers."""
        with self._watch:
            return self._works(self._drawn(kinds, [1.0] * 8, 0))

    def _forms(self, rest: int, first_target: int) -> list[tuple[Kind, ...]]:
        """Kinds of masks and lengths for each tensor, where `rest` is what does not count."""
        inputs = [x for x in self._leaves[:first_target] if _is_drawn(x, self._rows)]
        lengths = sorted({x.shape[1] for x in inputs if x.dim() > 1}, reverse=True)
        forms: list[tuple[Kind, ...]] = []
        for place, leaf in enumerate(self._leaves):
            masks = _ones_then(rest), _ones_then(0)
            if not _is_drawn(leaf, self._rows) or not (_is_whole(leaf) or leaf.dtype == torch.bool):
                forms.append(())
            elif leaf.dim() > 1:
                forms.append(masks if _is_whole(leaf) else masks[1:])
            elif place < first_target and _is_whole(leaf):
                forms.append(tuple(_below(1 + n, start=1) for n in (*lengths, 3)))
            else:
                forms.append(masks[:1] * (rest < 0))
        return forms

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
