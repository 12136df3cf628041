"""Brackets of the pld accountant for random mechanisms do not contradict each other.

Cases are drawn log-uniformly, including the ends of every range. Warnings of numpy are errors.
"""

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from cases import each
from dplearn import (
    ACCOUNTANTS,
    MECHANISMS,
    Composed,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    RandomAllocation,
    RandomizedResponse,
    Shuffled,
    WithoutReplacement,
)
from dplearn.accountants.pld import PLD
from dplearn.core.guarantee import ADJACENCIES
from dplearn.mechanisms import Mechanism
from dplearn.teaching.book.kit.oracles import coins_delta

pytestmark = pytest.mark.slow
# Relative difference allowed between two root searches for the same number.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Opaque(Mechanism):
    """Mechanism that has only the profiles of `base`, so that the lattice composes it."""

    base: Mechanism
    name: ClassVar[str] = "opaque"

    def _profiles(self, adjacency):
        return self.base.profiles(adjacency)

    @property
    def attained(self):
        return self.base.attained

    @classmethod
    def examples(cls):
        return ()


def opaque(mechanism):
    return Composed([(Opaque(part), count) for part, count in mechanism.parts()])


class Draw:
    """Random mechanisms, numbers of steps and deltas of one case."""

    def __init__(self, *seed):
        self.rng = np.random.default_rng(seed)

    def between(self, low, high):
        """Draw log-uniformly; a tenth of the draws is an end of the range."""
        part = self.rng.choice([0.0, 1.0]) if self.rng.random() < 0.1 else self.rng.random()
        return float(low * (high / low) ** part)

    def steps(self, most):
        return round(self.between(1, most))

    def delta(self):
        ranges = [(1e-30, 1e-3), (1e-3, 0.9), (1e-60, 1e-30)]
        return self.between(*ranges[self.rng.choice(3, p=[0.7, 0.15, 0.15])])

    def rate(self):
        """Draw a rate from 1e-8 to 1, log-uniformly or close to 1."""
        near_one = 1 - self.between(1e-6, 1) * (1 - 1e-8)
        return self.between(1e-8, 1) if self.rng.random() < 0.7 else near_one

    def noise(self):
        return self.between(1e-2, 1e3)

    def base(self):
        noise, whole = self.noise(), int(self.rng.integers(1, 5))
        options = [Gaussian(noise), Laplace(noise), ExponentialMechanism(self.between(1e-3, 40))]
        options += [Geometric(noise, whole), DiscreteGaussian(noise, whole)]
        return options[self.rng.integers(5)]

    def mechanism(self):
        """Draw a registered mechanism uniformly, with random parameters or an example."""
        name, noise, rate = str(self.rng.choice(list(MECHANISMS))), self.noise(), self.rate()
        answers = int(self.rng.choice([2, 3, 10, 1000]))
        makers = {
            "poisson_subsampled": lambda: PoissonSubsampled(self.base(), rate),
            "without_replacement": lambda: WithoutReplacement(self.base(), rate),
            "randomized_response": lambda: RandomizedResponse(self.between(1e-3, 40), answers),
            "random_allocation": lambda: RandomAllocation(Gaussian(noise), self.steps(1e5)),
            "shuffled": lambda: Shuffled(Gaussian(noise), self.steps(1e6)),
            "composed": lambda: Composed([(self.base(), self.steps(1e4)) for _ in range(3)]),
        }
        examples = MECHANISMS[name].examples()
        return makers.get(name, lambda: examples[self.rng.integers(len(examples))])()

    def adjacency(self, mechanism):
        return str(self.rng.choice([a for a in ADJACENCIES if PLD().supports(mechanism, a)]))


def ask(mechanism, delta, steps=1, adjacency="add_remove", accountant=None):
    """Return the guarantee; check that 0 <= lower <= epsilon."""
    law = accountant or PLD()
    answer = law.epsilon(mechanism, delta=delta, steps=steps, adjacency=adjacency)
    assert 0 <= answer.lower <= answer.epsilon, answer
    return answer


def ordered(*answers):
    """Raise unless increasing exact values can lie in the brackets."""
    for less, more in itertools.combinations(answers, 2):
        assert less.lower <= more.epsilon * (1 + ROUNDING), (less, more)


def agree(one, other):
    ordered(one, other)
    ordered(other, one)


def exact(answer, delta_of, delta, slack):
    """Raise unless the exact delta is <= delta at the upper end and >= delta at the lower end."""
    if math.isfinite(answer.epsilon):
        assert delta_of(answer.epsilon * (1 + ROUNDING)) <= delta * (1 + slack), answer
    if answer.lower > 0:
        assert delta_of(answer.lower * (1 - ROUNDING)) >= delta * (1 - slack), answer


def sampled(draw):
    """Compare contour integral and lattice; compare with parameters that leak slightly less."""
    sigma, q, steps, delta = draw.noise(), draw.rate(), draw.steps(1e9), draw.delta()
    step, by = PoissonSubsampled(Gaussian(sigma), q), draw.between(1e-7, 0.5)
    kind = draw.adjacency(step)
    of = lambda step=step, delta=delta, steps=steps: ask(step, delta, steps, kind)
    answer = of()
    agree(answer, of(opaque(step)))
    ordered(of(PoissonSubsampled(Gaussian(sigma * (1 + by)), q)), answer)
    ordered(of(PoissonSubsampled(Gaussian(sigma), q / (1 + by))), answer)
    ordered(of(steps=math.floor(steps / (1 + by))), answer)
    ordered(of(delta=min(delta * (1 + by), (1 + delta) / 2)), answer)


def in_a_curve(draw):
    """Compare epsilon curves with single results, the lattice and other accountants."""
    mechanism, delta, most = draw.mechanism(), draw.delta(), draw.steps(1e7)
    steps = sorted({draw.steps(most) for _ in range(4)} | {1, most})
    adjacency = draw.adjacency(mechanism)
    question = {"delta": delta, "steps": steps, "adjacency": adjacency}
    curve = PLD().epsilon_curve(mechanism, **question)
    ordered(*curve)
    row = draw.rng.integers(len(steps))
    agree(ask(mechanism, delta, steps[row], adjacency), curve[row])
    agree(ask(opaque(mechanism), delta, steps[row], adjacency), curve[row])
    agree(ask(mechanism, delta, steps[row], adjacency, PLD(rtol=1e-2)), curve[row])
    larger = {"delta": min(delta * draw.between(1.0001, 10), (1 + delta) / 2)}
    for less, more in zip(PLD().epsilon_curve(mechanism, **question | larger), curve, strict=True):
        ordered(less, more)
    for name, law in ACCOUNTANTS.items():
        # The optimal composition is slow on long lists.
        if law.kind == "upper" and name != "optimal" and law().supports(mechanism, adjacency):
            for less, more in zip(curve, law().epsilon_curve(mechanism, **question), strict=True):
                ordered(less, more)


def against_truth(draw):
    """Compare randomized responses, and Gaussians in four forms, with the exact delta."""
    local, steps, delta = draw.between(1e-3, 40), draw.steps(1e5), draw.delta()
    answer = ask(RandomizedResponse(local), delta, steps, "replace_one")
    exact(answer, lambda epsilon: coins_delta(epsilon, local=local, steps=steps), delta, 1e-9)
    plain = [(Gaussian(draw.noise()), draw.steps(1e9)) for _ in range(draw.rng.integers(1, 4))]
    shift = math.sqrt(sum(n / law.noise_multiplier**2 for law, n in plain))
    (whole,) = Gaussian(1 / shift).profiles()
    hidden = [(Opaque(law), n) for law, n in plain]
    always = [(PoissonSubsampled(law, 1.0), n) for law, n in plain]
    for parts in (plain, always, hidden, [*plain[:1], *hidden[1:]]):
        exact(ask(Composed(parts), delta), lambda x: float(whole.delta(x)), delta, 1e-11)


def lists(draw):
    """Compare composed lists of mechanisms with permuted, divided, shortened, repeated lists."""
    parts = [(draw.base(), draw.steps(1000)) for _ in range(draw.rng.integers(2, 5))]
    whole, delta, times = Composed(parts), draw.delta(), int(draw.rng.integers(2, 50))
    adjacency = draw.adjacency(whole)
    of = lambda parts, steps=1: ask(Composed(parts), delta, steps, adjacency)
    answer = of(parts)
    agree(of([parts[i] for i in draw.rng.permutation(len(parts))]), answer)
    agree(of([(m, n // 2) for m, n in parts] + [(m, n - n // 2) for m, n in parts]), answer)
    agree(of(parts, times), of([(m, n * times) for m, n in parts]))
    ordered(of(parts[1:]), answer)
    weak, few, many = Laplace(draw.noise()), draw.steps(100), draw.steps(1000)
    strong = weak.vary(noise_multiplier=weak.noise_multiplier * (1 + draw.between(1e-6, 0.3)))
    mixed = [(weak, few), (strong, many)]
    ordered(of([(strong, few + many)]), of(mixed), of([(weak, few + many)]))


# Number of random cases for each comparison.
CASES = {sampled: 4, in_a_curve: 4, against_truth: 4, lists: 2}


@each("law, index", [(law, index) for law, count in CASES.items() for index in range(count)])
def test_brackets_of_related_compositions_do_not_contradict_each_other(law, index):
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        law(Draw(13, *law.__name__.encode(), index))
