"""Noise is normal, has the scale of the clipping bound, and never repeats without a seed.

The false-alarm probability is below 1e-6 per test, and 0 with fixed seeds.
"""

import math
from itertools import product

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from cases import each
from dplearn import DPSGD
from dplearn.core import normals
from dplearn.training import Flat, Grouped, PerLayer, Trainer
from dplearn.training.noise import LOTS, Randomness

CPU = torch.device("cpu")
SOURCES = [Randomness(seed=1), Randomness()]
GROUPED = Grouped(norms={"0": 1.0, "1": 0.1}, noise_multipliers={"0": 1.0, "1": 3.0})
RUNS = [(700, 2.0), (70_000, 2.0), (100_001, 0.5), (3, 0.0)]


def drawn(source, *shape, dtype=torch.float64):
    return source.normals([(math.prod(shape), 1.0)], torch.empty(0, dtype=dtype), 0).view(shape)


def looks_normal(normal):
    """Return whether values pass tests of normality with false-alarm probability < 1e-6."""
    bins = np.floor(128 * stats.norm.cdf(normal)).astype(int)
    counts = np.bincount(bins, minlength=128)
    return (
        abs(normal.mean()) < 5 / math.sqrt(normal.size)
        and abs(normal.var() - 1) < 5 * math.sqrt(2 / normal.size)
        and stats.kstest(normal, "norm").pvalue > 1e-7
        and stats.chisquare(counts).pvalue > 1e-7
    )


@each("source", SOURCES)
def test_noise_of_consecutive_entries_is_normal_with_their_scale(source):
    flat = source.normals(RUNS, torch.empty(0, dtype=torch.float64), 0)
    assert len(flat.unique()) == len(flat) - 2  # no random word is used twice; three entries are 0
    for part, (_, scale) in zip(flat.split([size for size, _ in RUNS]), RUNS, strict=True):
        assert looks_normal(part.numpy() / scale) if scale else part.eq(0).all()
    assert torch.equal(flat, source.normals(RUNS, flat, 0)) is (source.seed is not None)


@each("bound", [Flat(0.5), PerLayer(3.0), GROUPED])
def test_noise_of_each_parameter_group_has_the_scale_of_the_group(bound):
    model = nn.Sequential(nn.Linear(100, 300), nn.Linear(300, 20, bias=False))
    norm = getattr(bound, "max_grad_norm", 1.0)
    plan = DPSGD(noise_multiplier=1.25, sample_rate=0.5, steps=1, max_grad_norm=norm)
    zero, data = lambda outputs, _: 0.0 * outputs[:, 0], (torch.ones(8, 100), torch.ones(8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    Trainer(model, zero, data, plan, optimizer=optimizer, bound=bound).step()
    groups = bound.groups({name: value.numel() for name, value in model.named_parameters()})
    for name, parameter in model.named_parameters():
        scale = 1.25 * groups.scales[groups.of[name]] / 4
        assert looks_normal(parameter.grad.double().flatten().numpy() / scale)


def test_normals_reach_9_standard_deviations_and_are_finite():
    # On a CPU, float32 torch.randn never exceeds 5.8, although P(|normal| > 5.8) = 6.6e-9.
    def radius(dtype, *words):
        out, words = np.empty(2, dtype), iter(words)
        normals.fill(out, 1.0, lambda count: np.full((2, count), next(words), np.uint32))
        return np.hypot(*out)

    for dtype, digits in ((np.float32, 1e-6), (np.float64, 1e-14)):
        assert radius(dtype, 0, 0) == pytest.approx(math.sqrt(130 * math.log(2)), rel=digits)
        assert radius(dtype, 0, 2**32 - 1) == pytest.approx(math.sqrt(64 * math.log(2)), rel=1e-6)
        assert radius(dtype, 256) == pytest.approx(math.sqrt(48 * math.log(2)), rel=digits)
        assert radius(dtype, 2**32 - 1) < 1e-4


def test_normals_of_any_count_and_type_are_distinct_and_uncorrelated():
    for count, dtype in product([0, 1, 2, 3, 5, 6, 7], [torch.float32, torch.float64]):
        assert len(drawn(Randomness(seed=0), count, 1, dtype=dtype).unique()) == count
    for source in SOURCES:
        # Correlate the halves of pairs, successive steps, and neighbouring coordinates.
        a, b = drawn(source, 2, normals.CHUNK // 2).numpy()
        steps = [source.normals([(2**15, 1.0)], torch.empty(0), i).numpy() for i in (1, 2)]
        for x, y in ((a, b), steps, (a[1:], a[:-1]), (a[7:], a[:-7])):
            for power in (1, 2, 3):
                deviation = np.corrcoef(np.abs(x) ** power, np.abs(y) ** power)[0, 1]
                assert abs(deviation) < 6 / math.sqrt(len(x))


def test_unseeded_streams_never_repeat_and_seeded_streams_repeat_by_key():
    for source in SOURCES[1:]:
        assert len({drawn(source).item() for _ in range(100)}) == 100
        assert len({int(source.stream(LOTS, 0).integers(2**62)) for _ in range(100)}) == 100
    seeded = Randomness(seed=3)
    draw = lambda *key: int(seeded.stream(*key).integers(2**62))
    names = [(use, rank, step) for use in range(3) for rank in range(2) for step in range(50)]
    assert len({draw(*name) for name in names}) == len(names)
    assert [draw(*name) for name in names] == [draw(*name) for name in names]
    # torch.Generator on a CPU uses only the last 32 bits of a seed.
    assert draw(0) != int(Randomness(seed=3 + 2**32).stream(0).integers(2**62))


def test_generator_seeds_each_run_differently_and_is_refused_with_secure_noise():
    generator = torch.Generator().manual_seed(0)
    first, second = Randomness.of(generator), Randomness.of(generator)
    assert first.seed != second.seed
    assert Randomness.of(torch.Generator().manual_seed(0)) == first
    with pytest.raises(ValueError, match="Expected secure=True without a generator"):
        Randomness.of(torch.Generator(), secure=True)
