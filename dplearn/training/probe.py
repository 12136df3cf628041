"""A probe of a model with synthetic records, so that no real one decides what is accepted.

Records are made up from shapes and types alone. Which numbers a model takes (tokens, classes,
logarithms) is tried out: each tensor gets the first of the kinds below with which the model works.
Some more records have the form of masks, lengths and ignored labels.
"""

import copy
import functools
import inspect
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

# Values of a tensor, from standard normals of its shape and a positive scale for each record.
Kind = Callable[[Tensor, Tensor], Tensor]


@contextmanager
def probing(*modules: nn.Module, precise: bool) -> Iterator[None]:
    """Move trainable parameters a little and copy all attributes, while this lasts.

    Everything is in float64 if `precise`. Gradients behind a head of zeros do not vanish then.
    Modules and parameters stay the same objects: a loss that refers to them is probed too.
    """
    every = list(dict.fromkeys(part for module in modules for part in module.modules()))
    parameters = list(dict.fromkeys(p for part in every for p in part.parameters(recurse=False)))
    attributes, data = [dict(vars(part)) for part in every], [p.data for p in parameters]
    same: dict[int, Any] = {id(x): x for x in (*every, *parameters)}
    rng = torch.Generator().manual_seed(0)
    try:
        for part in every:
            for name, value in list(vars(part).items()):
                with suppress(Exception):  # generators, locks: whatever their type raises
                    vars(part)[name] = copy.deepcopy(value, same)
        for p in parameters:
            p.data = p.data.clone()
            if p.requires_grad:  # signs stay, and zeros become small numbers
                normal = torch.randn(p.shape, generator=rng, dtype=torch.float64).to(p.data)
                p.data = torch.where(p.data == 0, 0.1 * normal, p.data * (0.3 * normal).exp())
        for module in modules if precise else ():
            module.double()
        torch.clear_autocast_cache()  # it holds the weights as they were
        yield
    finally:
        torch.clear_autocast_cache()
        for part, before in zip(every, attributes, strict=True):
            vars(part).clear()
            vars(part).update(before)
        for p, before in zip(parameters, data, strict=True):
            p.data = before


def widened(values: Tensor) -> Tensor:
    """The values in float64 or complex128 if they are no whole numbers."""
    if _is_whole(values, bool_too=True):
        return values
    return values.to(torch.complex128 if values.is_complex() else torch.float64)


def holdings(*roots: Any) -> dict[str, Any]:
    """Everything that objects hold, by the way to it; a digest of tensors and arrays."""
    values, visited, queue = {}, {}, [("", root) for root in roots]
    while queue:
        path, value = queue.pop()
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            values[path] = value
        elif id(value) not in visited:
            visited[id(value)] = value
            if isinstance(value, Tensor | np.ndarray):
                values[path] = _digest(value)
            queue += [(f"{path}.{name}".lstrip("."), part) for name, part in _parts(value)]
    return values


@contextmanager
def check_stored(model: nn.Module) -> Iterator[None]:
    """Raise if parameters or buffers of one shape, but for counts, are others afterwards."""
    stored = lambda: [*model.named_parameters(), *model.named_buffers()]
    before = {name: (x.shape, _digest(x)) for name, x in stored()}
    yield
    for name, x in stored():
        shape, digest = before.get(name, (None, 0))
        counts = x.numel() == 1 and not x.is_floating_point()
        if x.shape == shape and _digest(x) != digest and not counts:
            raise ValueError(
                f"Expected the passes over a lot to leave {name!r} as it is, but it changed: the "
                "model holds data without noise now, and no guarantee covers that."
            )


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, types.ModuleType | type | Tensor | np.ndarray):
        return
    if isinstance(value, nn.Module) and not type(value).__module__.startswith("torch."):
        yield from vars(type(value)).items()  # its functions may refer to something global
    if isinstance(value, Mapping):
        yield from list(value.items())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from enumerate(value)
    elif isinstance(value, types.MethodType):
        yield "__self__", value.__self__
    elif isinstance(value, functools.partial):
        yield from (("func", value.func), *enumerate(value.args), *value.keywords.items())
    elif isinstance(value, types.FunctionType):
        with suppress(ValueError):  # a variable is empty
            own, shared, *_ = inspect.getclosurevars(value)
            kinds = int | float | list | dict | Tensor | np.ndarray | nn.Module
            yield from {**own, **{n: x for n, x in shared.items() if isinstance(x, kinds)}}.items()
    for name, part in getattr(value, "__dict__", {}).items():
        inside = name in ("_parameters", "_buffers", "_modules")  # found by their names
        yield from part.items() if inside else ((name, part),)


def _digest(value: Tensor | np.ndarray) -> int:
    """A number that tells values apart; of one whole number, itself."""
    if isinstance(value, Tensor):
        if value.layout is not torch.strided:
            return value._version
        if value.numel() == 1 and _is_whole(value, bool_too=True):
            return int(value)
        value = value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()
    return hash(np.ascontiguousarray(value).tobytes())


def _below(stop: int, start: int = 0) -> Kind:
    """Whole numbers less than `stop`, small where the scale is; the first record has the last."""

    def kind(normal: Tensor, scale: Tensor) -> Tensor:
        share = torch.special.ndtr(normal) ** (1 / scale)
        values = (start + (stop - start) * share).floor().clamp(max=stop - 1)
        values[:1] = stop - 1
        return values

    return kind


def _ones_then(rest: int) -> Kind:
    """Ones, as many as a record's share of the last dimension, more where the scale is large."""

    def kind(normal: Tensor, scale: Tensor) -> Tensor:
        if normal.dim() == 1:  # every second record, or all but every seventh
            return torch.where(
                torch.arange(len(normal)) % torch.where(scale < 1, 2, 7) != 0, 1.0, rest
            )
        first = lambda x: x.flatten(1)[:, 0].view(-1, *[1] * (x.dim() - 1))
        count = first(torch.special.ndtr(normal)) ** (1 / first(scale)) * normal.shape[-1]
        ones = torch.arange(normal.shape[-1]) < count.ceil()
        return torch.where(ones, 1.0, rest).expand(normal.shape)

    return kind


# What tells most comes first, what most models take comes last.
_FLOATS: tuple[Kind, ...] = (
    lambda normal, scale: normal * scale,
    lambda normal, _: normal,
    lambda normal, scale: 1 + normal.abs() * scale,
    lambda normal, _: torch.special.ndtr(normal),
)
_PLAIN_INTEGERS = (_below(2), _below(2, start=1), _below(1))
_INTEGERS = (_below(64), _below(8), *_PLAIN_INTEGERS)
_TRUTHS = (_below(2), _below(2, start=1), _below(1))


class _Watch(TorchFunctionMode):
    """Notes which whole numbers a model treats in a way of their own; the CTC loss may crash."""

    def __init__(self) -> None:
        super().__init__()
        self.special: set[int] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = kwargs or {}, getattr(func, "__name__", "").strip("_")
        if name in ("eq", "ne") and any(_is_whole(x) for x in args):
            self.special |= {x for x in args if type(x) is int}
        if type(kwargs.get("ignore_index")) is int:
            self.special.add(kwargs["ignore_index"])
        if name == "ctc_loss":
            labels = next(x for x in tree_leaves((args, kwargs)) if _is_whole(x))
            if not 0 <= labels.min() <= labels.max() < args[0].shape[-1]:
                raise ValueError(f"Expected labels below {args[0].shape[-1]} in the CTC loss.")
        return func(*args, **kwargs)


def _is_whole(leaf: Any, bool_too: bool = False) -> bool:
    other = not isinstance(leaf, Tensor) or leaf.is_floating_point() or leaf.is_complex()
    return not other and (bool_too or leaf.dtype != torch.bool)


class SyntheticBatch:
    """Pairs (inputs, targets) like an example, which `works` takes without raising.

    They are rows of the example if that is public. What `works` raises of the plainest numbers is
    raised if it takes none. They are numbered: `size` ordinary ones, as many that are larger,
    smaller, and that lack a tenth of their values; then in each of several `styles` as many short
    ones and long ones.
    """

    def __init__(
        self, example: Any, works: Callable[[Any], Any], size: int, *, public: bool
    ) -> None:
        self._leaves, self._structure = tree_flatten(example)
        self._works, self._watch = works, _Watch()
        self._rows = next((len(x) for x in self._leaves if isinstance(x, Tensor)), 0)
        options = [() if public else self._options(x) for x in self._leaves]
        kinds = self._plainest(options)
        first_target = len(tree_leaves(example[0]))
        # Losses may not look at the range of classes, which models tell by the sizes of outputs.
        outputs = [x for x in tree_leaves(self._tried(kinds)) if isinstance(x, Tensor)]
        sizes = [size for x in outputs for size in x.shape[1:] if size > 1]
        for place in range(first_target, len(options)):
            if options[place][-1:] == _INTEGERS[-1:]:
                options[place] = (_below(min(sizes, default=2)), *_PLAIN_INTEGERS)
        kinds = self._best(kinds, options)
        special = [] if public else [0, *sorted(self._watch.special - {0, 1})]
        styles = [self._best(kinds, self._forms(rest, first_target)) for rest in special]
        styles = [x for n, x in enumerate(styles) if x not in [kinds, *styles[:n]]]
        self.styles = len(styles)
        # The first of each drawing is for trying: it has the largest whole numbers.
        scales = [1.0] * (1 + size) + [9.0] * size + [0.1] * size + [1.0] * size
        drawn = [self._drawn(kinds, scales, missing=size)]
        drawn += [self._drawn(x, [1.0] + [0.01] * size + [9.0] * size) for x in styles]
        join = lambda like, *x: torch.cat([y[1:] for y in x]) if self._is_row(like) else x[0]
        self._pool = [join(*x) for x in zip(self._leaves, *map(tree_leaves, drawn), strict=True)]

    def rows(self, numbers: Sequence[int]) -> Any:
        """Some of the records; what is no record stays whole."""
        take = lambda like, x: x[list(numbers)] if self._is_row(like) else x
        return tree_unflatten(map(take, self._leaves, self._pool), self._structure)

    def _plainest(self, options: Sequence[tuple[Kind, ...]]) -> list[Kind | None]:
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
        given = [f"{x.dtype} {tuple(x.shape)}" for x in self._leaves if isinstance(x, Tensor)]
        why = " ".join(str(errors[0]).split())
        raise RuntimeError(
            f"Expected inputs and targets that suit the model, got {', '.join(given)}: {why}"
        ) from errors[0]

    def _best(self, kinds: list[Kind | None], options: Sequence[tuple[Kind, ...]]) -> list[Any]:
        for place, better in enumerate(options):
            for kind in better:
                tried = [*kinds[:place], kind, *kinds[place + 1 :]]
                with suppress(Exception):
                    self._tried(tried)
                    kinds = tried
                    break
        return kinds

    def _tried(self, kinds: list[Kind | None]) -> Any:
        with self._watch:
            return self._works(self._drawn(kinds, [1.0] * 8))

    def _is_row(self, leaf: Any) -> bool:
        return isinstance(leaf, Tensor) and leaf.shape[:1] == (self._rows,)

    def _options(self, leaf: Any) -> tuple[Kind, ...]:
        if not self._is_row(leaf):
            return ()
        if not _is_whole(leaf):
            return _TRUTHS if leaf.dtype == torch.bool else _FLOATS
        # A number that is out of range ends the use of an accelerator, where a processor raises.
        return _INTEGERS if leaf.device.type == "cpu" else _PLAIN_INTEGERS

    def _forms(self, rest: int, first_target: int) -> list[tuple[Kind, ...]]:
        """Kinds of masks and lengths for each tensor, where `rest` is what does not count."""
        inputs = [x for x in self._leaves[:first_target] if self._is_row(x)]
        lengths = sorted({x.shape[1] for x in inputs if x.dim() > 1}, reverse=True)

        def of(place: int, leaf: Any) -> tuple[Kind, ...]:
            if not self._is_row(leaf) or not _is_whole(leaf, bool_too=True):
                return ()
            if leaf.dim() > 1:
                return (_ones_then(rest),) * _is_whole(leaf) + (_ones_then(0),)
            if place < first_target and _is_whole(leaf):
                return tuple(_below(1 + n, start=1) for n in (*lengths, 3))
            return (_ones_then(rest),) * (rest < 0)

        return [of(*each) for each in enumerate(self._leaves)]

    def _drawn(self, kinds: list[Kind | None], scales: list[float], missing: int = 0) -> Any:
        """A record of each scale, of which the last so many lack a tenth of their numbers."""
        rng, scale = torch.Generator().manual_seed(0), torch.tensor(scales)
        draw = lambda *shape: torch.randn(len(scale), *shape, generator=rng).double()

        def like(leaf: Any, kind: Kind | None) -> Any:
            if not self._is_row(leaf):
                return leaf
            normal, sizes = draw(*leaf.shape[1:]), draw(*[1] * (leaf.dim() - 1)).exp()
            rows = torch.randint(self._rows, (len(scale),), generator=rng)
            if kind is None:
                values = leaf[rows.to(leaf.device)]
            else:
                values = kind(normal, scale.view(sizes.shape) * sizes).to(leaf)
            if missing and values.is_floating_point():
                spoilt = values[-missing:]
                spoilt[torch.rand(spoilt.shape, generator=rng).to(leaf.device) < 0.1] = torch.nan
            return values

        return tree_unflatten(map(like, self._leaves, kinds), self._structure)
