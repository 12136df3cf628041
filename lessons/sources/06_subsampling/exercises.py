"""Exercises of lesson 06, amplification by subsampling."""

import math
import random

from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.teaching.book import (
    amplified_epsilon,
    sampled_gaussian_rdp_integer,
    small_rate_log_moment,
)
from dplearn.teaching.classroom import Exercise, Mistake, Program, settled

_SAMPLED = amplified_epsilon(epsilon=2.0, sample_rate=0.05)

_forwards = Exercise(
    key="6.2",
    right=_SAMPLED,
    praise="Seven times less than 2, not twenty times less.",
    mistakes=(
        Mistake(
            0.1,
            (
                "That rule was put to the test in section 5. On which side did it fail?",
                "You multiplied the loss by q; only e^epsilon - 1 is multiplied by q.",
            ),
        ),
        Mistake(
            0.05 * math.expm1(2.0),
            (
                "You are one step away. In which unit is an epsilon?",
                "That is e^epsilon' - 1; add 1 and take the logarithm.",
            ),
        ),
        Mistake(
            math.log1p(0.05 * math.exp(2.0)),
            (
                "Try q = 1 in what you typed: does 2 come out?",
                "It is the distance from 1 that shrinks: e^2 - 1, not e^2.",
            ),
        ),
        Mistake(
            math.log10(1 + 0.05 * math.expm1(2.0)),
            ("Which logarithm?", "Epsilon is in nats: np.log, not np.log10."),
        ),
        Mistake(
            math.log1p(math.expm1(2.0) / 0.05),
            (
                "Larger than 2? Sampling never hurts.",
                "You went backwards: multiply by q, do not divide.",
            ),
        ),
        Mistake(
            2 - math.log(20),
            (
                "Can an epsilon be negative?",
                "Subtracting ln(1/q) is right for very large losses only; use the whole formula.",
            ),
        ),
        Mistake(
            math.log1p(0.05 * 2.0),
            (
                "What is averaged: losses or likelihood ratios?",
                "Inside the logarithm stands q (e^epsilon - 1); you wrote q epsilon.",
            ),
        ),
        Mistake(
            amplified_epsilon(epsilon=4.0, sample_rate=0.05),
            (
                "Who are the neighbours?",
                "A record is added or removed, not replaced: do not double epsilon.",
            ),
        ),
    ),
    hints=(
        "By how much does the likelihood ratio e^2 move towards 1?",
        "epsilon' = ln(1 + q (e^epsilon - 1)) with q = 0.05 and epsilon = 2.",
    ),
)


def _noise(epsilon, delta):
    return Gaussian.analytic(epsilon=epsilon, delta=delta).noise_multiplier


def _smallest_noise():
    """Return the least noise multiplier by bisection on the profile of the sampled step."""
    low, high = 0.5, 50.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        leaves, _ = PoissonSubsampled(Gaussian(middle), 0.01).profiles()
        low, high = (low, middle) if leaves.delta(0.1) <= 1e-6 else (middle, high)
    return high


_BASE = math.log1p(math.expm1(0.1) / 0.01)
_SMALLEST = _smallest_noise()

_backwards = Exercise(
    key="6.3",
    right=_SMALLEST,
    praise="A secret sample of one in a hundred saves more than nine tenths of the noise.",
    mistakes=(
        Mistake(
            _noise(10.0, 1e-4),
            (
                "How did you undo the amplification of epsilon?",
                "epsilon'/q is the naive rule; the base is ln(1 + (e^epsilon' - 1)/q).",
            ),
        ),
        Mistake(
            _noise(_BASE, 1e-6),
            (
                "Half of the pair is inverted. Which half is not?",
                "delta' = q delta, so the base may have delta = 1e-6 / 0.01.",
            ),
        ),
        Mistake(
            _noise(_BASE, 1e-8),
            (
                "Is the base allowed a larger delta than the sampled step, or a smaller one?",
                "You multiplied delta by q; backwards it is divided.",
            ),
        ),
        Mistake(
            _noise(0.1, 1e-6),
            (
                "Private, but far from the smallest. What did sampling contribute?",
                "That is the noise without sampling; first find the pair of the unsampled step.",
            ),
        ),
        Mistake(
            _noise(amplified_epsilon(epsilon=0.1, sample_rate=0.01), 1e-4),
            (
                "In which direction did you use the formula?",
                "You sampled a step that is sampled already; solve for the base epsilon.",
            ),
        ),
        Mistake(
            math.sqrt(2 * math.log(1.25 / 1e-4)) / _BASE,
            (
                "The pair is right. Is the recipe?",
                "The textbook recipe is proved for epsilon < 1; use Gaussian.analytic.",
            ),
        ),
        Mistake(
            _SMALLEST**2,
            ("What is the unit of your number?", "That is the variance; take the square root."),
        ),
        Mistake(
            2 * _SMALLEST,
            (
                "Who are the neighbours?",
                "Twice the noise is for a replaced record; here one is added or removed.",
            ),
        ),
    ),
    hints=(
        "Which pair may the step have before it is sampled?",
        "epsilon = ln(1 + (e^0.1 - 1)/0.01) and delta = 1e-6/0.01, then Gaussian.analytic.",
    ),
)


def _first(ratio, limit=2.0):
    """Return the first integer order at which exact / rule exceeds the limit."""
    return next(order for order in range(3, 200) if ratio(order) > limit)


def _excess(order, noise_multiplier=2.0, sample_rate=0.05):
    """Return the exact divergence divided by that of the small-rate rule."""
    at = {"noise_multiplier": noise_multiplier, "sample_rate": sample_rate}
    rule = small_rate_log_moment(moment=order - 1, **at) / (order - 1)
    return sampled_gaussian_rdp_integer(order=order, **at) / rule


_TURN = _first(_excess)

_turn = Exercise(
    key="6.4",
    right=_TURN,
    praise="Sampling helps up to here; a few orders on, it saves little more than ln(1/q).",
    mistakes=(
        Mistake(
            _TURN - 1,
            (
                "Off by one. Is your number an order, or a moment?",
                "lambda = alpha - 1 is the moment; the order is one more.",
            ),
        ),
        Mistake(
            _TURN + 1,
            (
                "Very close. Is this computed, or is it alpha*? And is it the first such order?",
                "alpha* is where the last term reaches 1; the sum passes twice the rule before.",
            ),
        ),
        Mistake(
            _first(lambda order: _excess(order, noise_multiplier=math.sqrt(2))),
            (
                "Check the noise in the exponent.",
                "The exponent is (k^2 - k)/(2 sigma^2): you used sigma = 2 without the square.",
            ),
        ),
        Mistake(
            _first(lambda order: (order - 1) * _excess(order)),
            (
                "Too early. Compare your divergence with the rule at order 3.",
                "The logarithm of the sum must be divided by alpha - 1.",
            ),
        ),
        Mistake(
            _first(_excess, limit=10.0),
            (
                "How many times the rule is the divergence at your order?",
                "More than ten times; the question asks for more than twice.",
            ),
        ),
        Mistake(
            _first(lambda order: _excess(order, sample_rate=0.01)),
            ("Look at the rate again.", "Here q = 0.05; you used the lesson's 0.01."),
        ),
        Mistake(
            _first(lambda order: _excess(order, noise_multiplier=1.0)),
            ("Look at the noise again.", "Here sigma = 2; you used the lesson's 1."),
        ),
    ),
    hints=(
        "Print the ratio of divergence and rule for the orders up to alpha*.",
        "The first order with divergence(a, 2.0, 0.05) > 2 * small_rate(a, 2.0, 0.05).",
    ),
)


# A sampler.


def _drawn(sampler, n, q):
    """Return statistics of 4000 samples; right ones are rejected with probability below 1e-4."""
    rng, steps, sizes, twice = random.Random(7), 4000, [], 0
    taken = [0] * n  # entry i: the samples that have record i, as the bits of a number
    for step in range(steps):
        sample = sampler(n, q, rng)
        sample = sample.tolist() if hasattr(sample, "tolist") else list(sample)
        if len(sample) == n and {*sample} <= {0, 1}:  # what each coin says
            sample = [record for record, head in enumerate(sample) if head]
        sizes.append(len(sample))
        twice += len({*sample}) < len(sample)
        for record in {*sample}:
            taken[int(record)] |= 1 << step
    mean, spread = sum(sizes) / steps, n * q * (1 - q)
    variance = sum((size - mean) ** 2 for size in sizes) / steps
    rarest = min(record.bit_count() for record in taken) / steps
    measured = {  # value, truth, standard error
        "mean size": (mean, n * q, math.sqrt(spread / steps)),
        "variance of the size": (variance, spread, spread * math.sqrt(2 / steps)),
        "rate of the rarest record": (rarest, q, math.sqrt(spread / n / steps)),
        "largest correlation": (_largest_correlation(taken, steps - 1), 0.0, 0.04),
    }
    settle = {name: settled(*values) for name, values in measured.items()}
    return {**settle, "samples with a record twice": twice}


def _largest_correlation(taken, steps):
    """Return the largest correlation of two records, in one sample or in two in a row."""
    now = [record & ((1 << steps) - 1) for record in taken]
    columns = [*now, *(record >> 1 for record in taken)]
    rates = [column.bit_count() / steps for column in columns]
    largest = 0.0
    for i, (a, p) in enumerate(zip(columns, rates, strict=True)):
        for b, q in zip(columns[:i], rates[:i], strict=True):
            scale = math.sqrt(p * (1 - p) * q * (1 - q))
            moved = (a & b).bit_count() / steps - p * q
            largest = max(largest, abs(moved) / scale if scale else 1.0)
    return largest


def _poisson(rng, mean):
    """Return a Poisson number: how many exponential waiting times fit into `mean`."""
    count, time = 0, rng.expovariate(1.0)
    while time < mean:
        count, time = count + 1, time + rng.expovariate(1.0)
    return count


def _coins(n, q, rng):
    return [record for record in range(n) if rng.random() < q]


def _window(n, q, rng):
    first = rng.randrange(n)
    return [(first + record) % n for record in range(len(_coins(n, q, rng)))]


_sampler = Program(
    key="6.1",
    right=_coins,
    measure=_drawn,
    cases=((50, 0.3), (10, 0.8)),
    rtol_mistakes=0.12,
    seconds=20.0,
    praise="Every record has a coin of its own: this is what the accountants mean by q.",
    mistakes=(
        Mistake(
            lambda n, q, rng: range(n),
            ("Does your condition ever say no?", "Compare each coin with q: rng.random() < q."),
        ),
        Mistake(
            lambda n, q, rng: rng.sample(range(n), round(n * q)),
            (
                "May the size of your sample vary?",
                "That is a batch of fixed size, whose guarantee is another; give each record "
                "its own coin.",
            ),
        ),
        Mistake(
            lambda n, q, rng: rng.choices(range(n), k=round(n * q)),
            (
                "Can a record be in your sample twice?",
                "You draw with replacement; give each record its own coin.",
            ),
        ),
        Mistake(
            lambda n, q, rng: rng.sample(range(n), min(n, _poisson(rng, n * q))),
            (
                "Which distribution has the number of heads of n coins?",
                "The size of a Poisson sample is binomial, in spite of its name; yours is Poisson.",
            ),
        ),
        Mistake(
            lambda n, q, rng: range(len(_coins(n, q, rng))),
            (
                "Has the last record the same chance as the first?",
                "The size is right, but you always take the first records.",
            ),
        ),
        Mistake(
            lambda n, q, rng: _coins(n, q, random.Random(0)),
            (
                "Are two of your samples ever different?",
                "You make a generator of your own, with the same seed each time; use rng.",
            ),
        ),
        Mistake(
            lambda n, q, rng: range(n) if rng.random() < q else [],
            (
                "How many coins do you toss?",
                "One coin decides for everybody; toss n of them, each with rng.random().",
            ),
        ),
        Mistake(
            _window,
            (
                "Record 5 is in your sample. What do you then know of record 6?",
                "Your records come in groups; each of them needs a coin of its own.",
            ),
        ),
        Mistake(
            lambda n, q, rng: _coins(n, 1 - q, rng),
            ("How large is your sample on average?", "A record is taken if its number is below q."),
        ),
    ),
    hints=(
        "Toss one coin for each record: rng.random() is a number between 0 and 1.",
        "[record for record in range(n) if rng.random() < q]",
    ),
)

EXERCISES = (_sampler, _forwards, _backwards, _turn)
