"""Fast runs: a small model, a few records and six steps."""

import torch
from torch import nn

from dplearn.run import DPSGD
from dplearn.training import Trainer, fit

torch.set_num_threads(1)  # small models, and tests run in parallel

PLAN = DPSGD(noise_multiplier=1.0, sample_rate=0.25, steps=6, max_grad_norm=0.5)
CROSS_ENTROPY = nn.CrossEntropyLoss(reduction="none")


def small_model(seed=0, *, dropout=0.0, width=8):
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        last = nn.Linear(width, 2)
        return nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Dropout(dropout), last)


def small_data():
    random = generator(1)
    return torch.randn(32, 3, generator=random), torch.randint(2, (32,), generator=random)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def started(model=None, plan=PLAN, *, use=Trainer, optimizer=None, lr=0.1, **options):
    model = small_model() if model is None else model
    options["optimizer"] = optimizer or torch.optim.SGD(model.parameters(), lr=lr)
    loss_fn, data = options.pop("loss_fn", CROSS_ENTROPY), options.pop("data", small_data())
    return use(model, loss_fn, data, plan, **options)


def run(model=None, plan=PLAN, **options):
    model = small_model() if model is None else model
    options = {"delta": 1e-5, "accountant": "rdp", "progress": False, **options}
    options.setdefault("generator", generator())
    history = started(model, plan, use=fit, **options)
    return flat(model.state_dict()), history


def flat(tensors):
    """Return all numbers of a state dict or an iterable of tensors as one flat tensor."""
    values = tensors.values() if isinstance(tensors, dict) else tensors
    return torch.cat([value.detach().flatten() for value in values])
