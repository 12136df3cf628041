"""An audit of a loop that is not ours: opacus, as it is used, and with less noise than reported."""

import itertools

import pytest

from dplearn.audit import observe
from dplearn.run import DPSGD

# Opacus keeps what it calls secret in a module; warnings are its own.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
AXES, RECORDS = 200, 20
PLAN = DPSGD(noise_multiplier=3.0, sample_rate=0.5, steps=4)


def opacus_loop(included, seed, *, noise_multiplier):
    """Scores of canaries, each with a weight of its own that nobody else moves."""
    import torch
    from opacus import PrivacyEngine
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(seed)
    canaries = 10 * torch.eye(AXES)[torch.from_numpy(included)]
    data = TensorDataset(torch.cat([canaries, torch.zeros(RECORDS, AXES)]))
    model = nn.Linear(AXES, 1, bias=False)
    sgd, loader = torch.optim.SGD(model.parameters(), lr=0.0), DataLoader(data, len(data) // 2)
    model, sgd, loader = PrivacyEngine().make_private(
        module=model,
        optimizer=sgd,
        data_loader=loader,
        noise_multiplier=noise_multiplier,
        max_grad_norm=1.0,
    )
    scores = torch.zeros(AXES)
    lots = itertools.chain.from_iterable(itertools.repeat(loader))
    for (x,) in itertools.islice(lots, PLAN.steps):
        sgd.zero_grad()
        model(x).sum().backward()
        sgd.step()
        # The noisy mean times the lot that opacus expects: 1 where a canary was drawn.
        scores += model._module.weight.grad[0] * sgd.expected_batch_size
    return scores.numpy()


@pytest.mark.parametrize(("noise_multiplier", "caught"), [(3.0, False), (0.1, True)])
def test_opacus_is_caught_with_less_noise_than_reported_and_only_then(noise_multiplier, caught):
    def train(included, seed):
        return opacus_loop(included, seed, noise_multiplier=noise_multiplier)

    seen = observe(train, canaries=AXES, runs=4, progress=False)
    bound = seen.bound(delta=1e-5, confidence=0.99)
    assert bound.contradicts(PLAN.guarantee(delta=1e-5)) is caught, bound
