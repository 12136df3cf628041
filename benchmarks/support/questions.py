"""What is asked, and why two answers would contradict each other: one function per class."""

import math
from collections.abc import Callable, Iterator

from support import oracles, truths
from support.draws import (
    Rng,
    some_adjacency,
    some_base,
    some_delta,
    some_mechanism,
    some_noise,
    some_rate,
    some_steps,
    spread,
)
from support.sweep import PLD, Answer, Case, Opaque, Question, blind

from dplearn import (
    ACCOUNTANTS,
    MECHANISMS,
    Composed,
    DiscreteGaussian,
    Gaussian,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
)
from dplearn.accountants import Accountant
from dplearn.mechanisms import Mechanism


def _longest(mechanism: Mechanism) -> float:
    """Most steps of a run that is not refused for its releases."""
    return min(1e9, 1e12 // sum(count for _, count in mechanism.parts()))


def anywhere(rng: Rng, case: Case) -> None:
    """Any mechanism anywhere, against what one-line arguments and other accountants prove."""
    mechanism = some_mechanism(rng)
    adjacency, delta = some_adjacency(rng, mechanism), some_delta(rng)
    steps = some_steps(rng, _longest(mechanism))
    question = Question(mechanism, steps, delta, adjacency)
    answer = case.ask(question)
    for why, value in truths.at_least(mechanism, adjacency, steps, delta):
        case.at_least(answer, value, why)
    for why, value in truths.at_most(mechanism, adjacency, steps, delta):
        case.at_most(answer, value, why)
    if (shift := truths.dominating_shift(mechanism, adjacency, steps)) is not None:
        hidden = Answer(question, answer.source, answer.lower, math.inf)
        plain = all(isinstance(m, Gaussian) for m, _ in mechanism.parts())
        case.exact(answer if plain else hidden, oracles.gaussian(shift))
    for name, accountant in _others(mechanism, adjacency):
        case.ordered(answer, case.ask(question, accountant), f"the bound by {name}")


def _others(mechanism: Mechanism, adjacency: str) -> Iterator[tuple[str, Accountant]]:
    """Other accountants that prove an upper bound; optimal is slow on long lists."""
    names = {name for name, kind in ACCOUNTANTS.items() if kind.kind == "upper"}
    bounds = ((name, ACCOUNTANTS[name]()) for name in sorted(names - {"pld", "optimal"}))
    return ((name, a) for name, a in bounds if a.supports(mechanism, adjacency))


def sampled(rng: Rng, case: Case) -> None:
    """The sampled Gaussian: contour against lattice, and against settings a little better."""
    sigma, q = some_noise(rng), some_rate(rng)
    steps, delta = some_steps(rng, 1e9), some_delta(rng)

    def question(sigma: float, q: float, steps: int, delta: float) -> Question:
        return Question(PoissonSubsampled(Gaussian(sigma), q), steps, delta)

    base = case.ask(question(sigma, q, steps, delta))
    if rng.random() < 0.5:
        # The slow second opinion.
        asked = base.question
        lattice = case.ask(Question(blind(asked.mechanism), steps, delta))
        case.agree(base, lattice, "contour against lattice")
    by = spread(rng, 1e-7, 0.5)
    better = [
        question(sigma * (1 + by), q, steps, delta),
        question(sigma, q / (1 + by), steps, delta),
        question(sigma, q, math.floor(steps / (1 + by)), delta),
        question(sigma, q, steps, min(delta * (1 + by), (1 + delta) / 2)),
    ]
    for asked in better:
        case.ordered(case.ask(asked), base, "a better setting is worse")


def grouped(rng: Rng, case: Case) -> None:
    """Any mechanism: a row alone, the same row in a curve, and what the other bounds say."""
    mechanism = some_mechanism(rng)
    adjacency, delta = some_adjacency(rng, mechanism), some_delta(rng)
    longest = some_steps(rng, 1e7)
    steps = sorted({round(spread(rng, 1, longest)) for _ in range(7)} | {1, longest})
    question = Question(mechanism, 1, delta, adjacency)
    together = case.curve(question, steps)
    case.increasing(together, "more steps leak less")
    for i in rng.choice(len(steps), size=min(2, len(steps)), replace=False):
        alone = case.ask(Question(mechanism, steps[i], delta, adjacency))
        case.agree(alone, together[i], "alone against in a curve")
        other = case.ask(Question(blind(mechanism), steps[i], delta, adjacency))
        case.agree(other, together[i], "by its profiles alone against what it is")
    larger_delta = min(delta * spread(rng, 1.0001, 10), (1 + delta) / 2)
    larger = case.curve(Question(mechanism, 1, larger_delta, adjacency), steps)
    for less, more in zip(larger, together, strict=True):
        case.ordered(less, more, "a larger delta leaks more")
    for name, accountant in _others(mechanism, adjacency):
        bounds = case.curve(question, steps, accountant)
        for less, more in zip(together, bounds, strict=True):
            case.ordered(less, more, f"lower end above the bound by {name}")


def against_truth(rng: Rng, case: Case) -> None:
    """Compositions whose exact profile is known."""
    oracle = rng.choice([_binary, _on_line, _gaussians, _one_step])
    oracle(rng, case)


def _binary(rng: Rng, case: Case) -> None:
    mechanism = RandomizedResponse(spread(rng, 1e-3, 40))
    steps = sorted({some_steps(rng, 1e5) for _ in range(4)})
    for answer in case.curve(Question(mechanism, 1, some_delta(rng), "replace_one"), steps):
        truth = oracles.binary_response(mechanism.local_epsilon, answer.question.steps)
        case.exact(answer, truth, oracles.LONG_SLACK)


def _on_line(rng: Rng, case: Case) -> None:
    """Losses on a line: k answers, geometric and discrete Gaussian noise."""
    kind, adjacency = rng.integers(3), "replace_one"
    steps = sorted({some_steps(rng, 300 if kind < 2 else 24) for _ in range(3)})
    if kind == 0:
        mechanism = RandomizedResponse(spread(rng, 0.01, 8), int(rng.integers(2, 50)))
        exact = lambda t: oracles.many_answers(mechanism.local_epsilon, mechanism.answers, t)
    else:
        adjacency = str(rng.choice(["add_remove", "replace_one"]))
        name = "geometric" if kind == 1 else "discrete_gaussian"
        size = int(rng.integers(1, 4))
        mechanism = MECHANISMS[name](spread(rng, 0.3, 20 if kind == 1 else 3), size)
        scale = mechanism.noise_multiplier * mechanism.sensitivity
        shift = size * (2 if adjacency == "replace_one" else 1)
        exact = lambda t: getattr(oracles, name)(scale, shift, t)
    for answer in case.curve(Question(mechanism, 1, some_delta(rng), adjacency), steps):
        case.exact(answer, exact(answer.question.steps))


def _gaussians(rng: Rng, case: Case) -> None:
    """Lists of Gaussians: shifts add in squares, whoever computes it."""
    noise = [some_noise(rng) for _ in range(int(rng.integers(1, 4)))]
    counts = [some_steps(rng, 1e9) for _ in noise]
    shift = math.sqrt(sum(n / s**2 for s, n in zip(noise, counts, strict=True)))
    plain = [(Gaussian(s), n) for s, n in zip(noise, counts, strict=True)]
    whole = [(PoissonSubsampled(g, 1.0), n) for g, n in plain]
    unseen = [(Opaque(g), n) for g, n in plain]
    delta = some_delta(rng)
    for parts in (plain, whole, unseen, [*plain[:1], *unseen[1:]]):
        case.exact(case.ask(Question(Composed(parts), 1, delta)), oracles.gaussian(shift))


def _one_step(rng: Rng, case: Case) -> None:
    """One run needs no composition."""
    q, delta = some_rate(rng), some_delta(rng)
    sigma, scale = some_noise(rng), some_noise(rng)
    gaussian, laplace = PoissonSubsampled(Gaussian(sigma), q), PoissonSubsampled(Laplace(scale), q)
    case.exact(case.ask(Question(gaussian, 1, delta)), oracles.sampled_gaussian(sigma, q))
    case.exact(case.ask(Question(laplace, 1, delta)), oracles.sampled_laplace(scale, q))


def lists(rng: Rng, case: Case) -> None:
    """A list permuted, cut up, shortened, and squeezed between two that hold one mechanism."""
    size, delta = int(rng.integers(2, 5)), some_delta(rng)
    if rng.random() < 0.3:
        parts = [(Gaussian(some_noise(rng)), some_rate(rng)) for _ in range(size)]
        parts = [PoissonSubsampled(g, q) for g, q in parts]
    else:
        parts = [some_base(rng) for _ in range(size)]
    pairs = [(m, some_steps(rng, 1000)) for m in parts]
    whole = Composed(pairs)
    adjacency = some_adjacency(rng, whole)
    ask = lambda m, steps=1: case.ask(Question(m, steps, delta, adjacency))
    answer = ask(whole)
    shuffled = [pairs[i] for i in rng.permutation(size)]
    case.agree(ask(Composed(shuffled)), answer, "a permuted list")
    halves = [(m, n // 2) for m, n in pairs] + [(m, n - n // 2) for m, n in pairs]
    case.agree(ask(Composed(halves)), answer, "a list cut in halves")
    case.ordered(ask(Composed(pairs[1:])), answer, "a shorter list leaks more")
    # The same list many times over against counts many times larger, in one curve and alone.
    times = int(rng.integers(2, 50))
    case.agree(
        ask(whole, times), ask(Composed([(m, n * times) for m, n in pairs])), "steps against counts"
    )
    _squeezed(rng, case, parts[0], adjacency, delta)


def _squeezed(rng: Rng, case: Case, weak: Mechanism, adjacency: str, delta: float) -> None:
    """n of the better one <= a list of both <= n of the worse one."""
    name = next((f for f in ("noise_multiplier", "range_epsilon") if hasattr(weak, f)), None)
    if name is None or isinstance(weak, DiscreteGaussian):
        return  # less noise of the discrete Gaussian is not provably worse
    factor = 1 + spread(rng, 1e-6, 0.3)
    value = getattr(weak, name)
    strong = weak.vary(**{name: value * factor if name == "noise_multiplier" else value / factor})
    few, many = some_steps(rng, 100), some_steps(rng, 1000)
    ask = lambda m: case.ask(Question(m, 1, delta, adjacency))
    case.increasing(
        [
            ask(Composed([(strong, few + many)])),
            ask(Composed([(weak, few), (strong, many)])),
            ask(Composed([(weak, few + many)])),
        ],
        "a list outside its own extremes",
    )


def precision(rng: Rng, case: Case) -> None:
    """Brackets of every rtol overlap."""
    mechanism = some_mechanism(rng)
    adjacency, steps = some_adjacency(rng, mechanism), some_steps(rng, _longest(mechanism))
    question = Question(mechanism, steps, some_delta(rng), adjacency)
    answers = [case.ask(question, PLD(rtol=rtol)) for rtol in (1e-2, 1e-3, 1e-6)]
    for i, one in enumerate(answers):
        for other in answers[i + 1 :]:
            case.agree(one, other, "another rtol")


# Class, and points of one case and share of all points.
CLASSES: dict[str, tuple[Callable[[Rng, Case], None], float, float]] = {
    "anywhere": (anywhere, 1, 0.6),
    "sampled": (sampled, 5.5, 0.15),
    "grouped": (grouped, 12, 0.1),
    "truth": (against_truth, 3, 0.08),
    "lists": (lists, 9, 0.05),
    "precision": (precision, 3, 0.02),
}
