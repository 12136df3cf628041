"""The accountant that `dplearn.opacus` registers, in a run of opacus."""

import pytest

from dplearn import DPSGD, Phases

pytestmark = pytest.mark.slow


# Warnings of opacus (its generator is not secure) and torch (its hooks see no input gradient).
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_opacus_states_the_epsilon_of_the_steps_taken(tmp_path):
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    import dplearn.opacus  # noqa: F401  (registers the accountant)

    data, model = TensorDataset(torch.randn(64, 3), torch.randn(64, 1)), torch.nn.Linear(3, 1)
    engine = PrivacyEngine(accountant="dplearn")
    assert engine.get_epsilon(1e-5) == 0.0
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=DataLoader(data, batch_size=8),
        noise_multiplier=2.0,
        max_grad_norm=1.0,
    )
    for noise in (2.0, 1.5):
        optimizer.noise_multiplier = noise
        for inputs, targets in loader:
            optimizer.zero_grad()
            (model(inputs) - targets).square().mean().backward()
            optimizer.step()
    first = DPSGD(noise_multiplier=2.0, sample_rate=1 / 8, steps=8)
    plan = Phases((first, DPSGD(noise_multiplier=1.5, sample_rate=1 / 8, steps=8)))
    assert (len(engine.accountant), engine.accountant.history[1]) == (16, (1.5, 1 / 8, 8))
    assert engine.get_epsilon(1e-5) == pytest.approx(plan.guarantee(delta=1e-5).epsilon, rel=1e-6)
    # Checkpoints of opacus include the history.
    engine.save_checkpoint(path=tmp_path / "run.pt", module=model)
    again = PrivacyEngine(accountant="dplearn")
    again.load_checkpoint(path=tmp_path / "run.pt", module=model)
    assert again.get_epsilon(1e-5) == engine.get_epsilon(1e-5)
