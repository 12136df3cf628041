"""Noise is normal, of the size that the bound asks for, and never repeats by accident.

False alarms: below 1e-6 per test; where seeds are given, none.
"""

import math
from itertools import product

import numpy as np
import pytest
import torch
from scipy import stats

from cases import each
from dplearn.training import AdaptiveQuantile, Flat, Grouped, PerLayer, noise
from dplearn.training.noise import LOTS, Randomness, add_noise

CPU = torch.device("cpu")
SOURCES = [Randomness(seed=1), Randomness(), Randomness(secure=True)]


def drawn(source, *shape, dtype=torch.float64):
    value = torch.zeros(shape, dtype=dtype)
    source.normals(CPU, 0)(value, 1.0)
    return value


BOUNDS = [
    Flat(0.5),
    PerLayer(max_grad_norm=3.0, allocation="dimension"),
    Grouped(norms={"a": 1.0, "b": 0.1}, noise_multipliers={"a": 1.0, "b": 3.0}),
    AdaptiveQuantile(max_grad_norm=2.0, count_noise=1.5),
]


@each("source, bound", product(SOURCES, BOUNDS))
def test_noise_of_each_group_is_normal_with_the_scale_of_the_bound(source, bound):
    sums = {"a.weight": torch.full((700, 100), 7.0), "b.weight": torch.zeros(120, 100)}
    assert sums["a.weight"].numel() > noise._CHUNK
    add_noise(sums, bound=bound, noise_multiplier=2.0, add_normals=source.normals(CPU, 0))
    groups = bound.groups({name: value.numel() for name, value in sums.items()})
    for name, value in sums.items():
        assert len(value.unique()) > 0.9 * value.numel() and value.dtype == torch.float32
        scale = bound.gradient_noise(2.0) * groups.scales[groups.of[name]]
        normal = (value.double() - (7.0 if name == "a.weight" else 0.0)).flatten().numpy() / scale
        assert abs(normal.mean()) < 5 / math.sqrt(normal.size)
        assert abs(normal.var() - 1) < 5 * math.sqrt(2 / normal.size)
        assert stats.kstest(normal, "norm").pvalue > 1e-7
    a, b = (value.flatten()[:12_000].double().numpy() for value in sums.values())
    assert abs(np.corrcoef(a, b)[0, 1]) < 5 / math.sqrt(12_000)


def test_normals_reach_far_and_are_never_infinite(monkeypatch):
    # P(|normal| > 5.8) = 6.6e-9: float32 torch.randn on a processor never gets there.
    def largest(word):
        words = lambda count: np.full(count, word, np.uint64)
        monkeypatch.setattr(noise, "_system_words", words)
        return drawn(Randomness(secure=True), 2).abs().max().item()

    assert largest(1 << 63) == pytest.approx(math.sqrt(106 * math.log(2)))  # least of 2^52 values
    assert 0 < largest((1 << 63) - 1) < 1e-7


def test_normals_of_any_number_and_type_and_the_two_halves_of_pairs_are_independent():
    for count, dtype in product([0, 1, 2, 3, 5, 6, 7], [torch.float32, torch.float64]):
        assert len(drawn(Randomness(seed=0), count, 1, dtype=dtype).unique()) == count
    a, b = drawn(Randomness(seed=0), 2, noise._CHUNK // 2).numpy()
    for power in (1, 2, 3):
        assert abs(np.corrcoef(np.abs(a) ** power, np.abs(b) ** power)[0, 1]) < 5e-2 / math.sqrt(10)


def test_the_operating_system_never_repeats_and_seeded_streams_do_by_name():
    for source in SOURCES[1:]:
        assert len({drawn(source).item() for _ in range(100)}) == 100
        assert len({int(source.stream(LOTS, 0).integers(2**62)) for _ in range(100)}) == 100
    seeded = Randomness(seed=3)
    draw = lambda *key: int(seeded.stream(*key).integers(2**62))
    names = [(use, rank, step) for use in range(3) for rank in range(2) for step in range(50)]
    assert len({draw(*name) for name in names}) == len(names)
    assert [draw(*name) for name in names] == [draw(*name) for name in names]
    # torch.Generator on a processor keeps the last 32 bits of a seed only.
    assert draw(0) != int(Randomness(seed=3 + 2**32).stream(0).integers(2**62))


def test_a_generator_gives_a_fresh_seed_each_time_and_none_beside_secure_noise():
    generator = torch.Generator().manual_seed(0)
    first, second = Randomness.of(generator), Randomness.of(generator)
    assert first.seed != second.seed
    assert Randomness.of(torch.Generator().manual_seed(0)) == first
    with pytest.raises(ValueError, match="Expected secure=True without a generator"):
        Randomness.of(torch.Generator(), secure=True)


def test_dropout_is_seeded_without_touching_the_global_generator():
    numbers = []
    for step in (1, 1, 2):
        torch.rand(1)
        before = torch.get_rng_state()
        with Randomness(seed=0).for_model(CPU, 0, step):
            numbers.append(torch.rand(3).tolist())
        assert torch.equal(torch.get_rng_state(), before)
    assert numbers[0] == numbers[1] != numbers[2]
