"""Training of models on a simulated accelerator, whose tensors have shapes but no values.

Such a tensor raises when it meets one of another device, or when its value is read, which would
wait for a real accelerator. The script prints other problems: copies for which the program waits,
and float64 tensors, which Apple's devices do not have.
"""

import sys

import torch
from parts import Model
from torch import nn
from torch._subclasses import fake_tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend
from torch.utils.data import DataLoader

from dplearn import DPSGD
from dplearn.training import Trainer, checks, gradients

WORDS, HEAD = nn.Embedding(7, 8), nn.Linear(8, 7, bias=False)
HEAD.weight = WORDS.weight
CELL = nn.LSTM(8, 8, batch_first=True)
ENCODER = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
LAST = Model(lambda m, x: m.head(m.cell(m.words(x))[0])[:, -1], words=WORDS, cell=CELL, head=HEAD)
linear = lambda size: (nn.Flatten(), nn.Linear(size, 3))
MODELS = {
    "convolution": ([nn.Conv2d(1, 2, 3), nn.GroupNorm(1, 2), *linear(32)], (1, 6, 6)),
    "attention": ([ENCODER, nn.LayerNorm(8), *linear(40)], (5, 8)),
    "words": ([LAST], (5,)),
}


class Strict(TorchDispatchMode):
    """Dispatch mode that notes blocking copies to the accelerator and float64 tensors on it."""

    def __init__(self, place):
        super().__init__()
        self.place, self.problems = place, set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        far = [x for x in tree_leaves(result) if getattr(x, "device", None) == self.place]
        near = any(getattr(x, "device", None) == torch.device("cpu") for x in tree_leaves(args))
        copied = function.overloadpacket is torch.ops.aten._to_copy and near
        if far and copied and not kwargs.get("non_blocking"):
            self.problems.add("a copy that waits")
        if any(x.dtype == torch.float64 for x in far):
            self.problems.add(f"{function} with numbers of 64 bits")
        return result


def on(device, model):
    """Move a model's parameters to a device, without values; shared ones stay shared."""
    moved = {p: nn.Parameter(torch.empty(p.shape, device=device)) for p in model.parameters()}
    for module in model.modules():
        for name, parameter in module._parameters.items():
            module._parameters[name] = moved.get(parameter)
    return model


def is_recorded(self, pair, how):
    tape = gradients.Tape(self.parameters, self.facts, gradients._LOOK, learns=True)
    return bool(tape.gradients(gradients.passed(self.model, self.loss_fn, pair, tape)))


def nothing(*_):
    """Return None, as a generator that the simulated device lacks."""


def fake_device():
    """Return the simulated device, after replacing all functions that read tensor values."""
    _setup_privateuseone_for_python_backend("fake")
    converter = fake_tensor.FakeTensorConverter
    convert = converter.from_real_tensor  # constants lose their values too
    converter.from_real_tensor = lambda *a, make_constant=False, **k: convert(*a, **k)
    # The simulated device has no generator.
    torch.Generator = type("Generator", (), dict.fromkeys(("__init__", "manual_seed"), nothing))
    checks.check_gradients = lambda gradients, pair, **_: gradients.learn(pair)
    # `_is_right` reads values
    gradients.Gradients._is_right = is_recorded
    checks.refusal = lambda *_, **__: None
    checks.stored = lambda _: {}
    begin = DataLoader.__iter__  # draws a seed for its workers on the CPU

    def really(loader):
        with fake_tensor.unset_fake_temporarily():
            return begin(loader)

    DataLoader.__iter__ = really
    return torch.device("fake", 0)


def steps(place, name, rows):
    """Train a model for three steps on the device, and return their problems, or "fine"."""
    with fake_tensor.FakeTensorMode():
        layers, shape = MODELS[name]
        model = nn.Sequential(*layers)
        kind = torch.long if name == "words" else torch.float32
        data = torch.zeros(32, *shape, dtype=kind), torch.empty(32, dtype=torch.long)
        plan = DPSGD(noise_multiplier=1.0, sample_rate=0.5, steps=3)
        optimizer = torch.optim.SGD(on(place, model).parameters(), lr=0.1, momentum=0.9)
        losses = nn.CrossEntropyLoss(reduction="none")
        options = {"optimizer": optimizer, "micro_batch": rows}
        begun = Trainer(model, losses, data, plan, **options)
        begun.step()  # the first step may wait
        with Strict(place) as strict:
            for _ in range(2):
                begun.step()
        assert begun.steps == 3 and begun.records[1].tally.device == place
    return sorted(strict.problems) or "fine"


if __name__ == "__main__":
    device = fake_device()
    for name, rows in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        print(name, steps(device, name, int(rows) or None))
