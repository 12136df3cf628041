"""Exercises of lesson 16, Is it true?"""

import math

import numpy as np
from scipy.special import ndtr

from dplearn.core.solve import first_true
from dplearn.mechanisms import Gaussian
from dplearn.teaching.book import optimal_composition
from dplearn.teaching.classroom import Exercise, Mistake, Program

_DELTA, _LOG = 1e-5, math.log(1e5)


def _divergence(adds):
    """Return the log of a sum over outcomes, with `adds` of both probabilities as its terms."""
    return lambda first, second: math.log(sum(map(adds, first, second)))


_order_2 = Program(
    key="16.1",
    right=_divergence(lambda p, q: p**2 / q),
    cases=(
        ([0.5, 0.3, 0.2], [0.2, 0.5, 0.3]),
        ([0.25, 0.25, 0.25, 0.25], [0.4, 0.3, 0.2, 0.1]),
        ([0.9, 0.1], [0.5, 0.5]),
    ),
    praise="The pictures of triples are drawn from your function.",
    mistakes=(
        Mistake(
            _divergence(lambda p, q: (p / q) ** 2),
            ("Is a sum a mean?", "A mean over Q weights each square with q: q * (p / q)**2."),
        ),
        Mistake(
            _divergence(lambda p, q: p * (p / q) ** 2),
            ("Over which of the two is the mean?", "Over Q: weight with q, not with p."),
        ),
        Mistake(
            _divergence(lambda p, q: q * p / q),
            ("What is squared?", "The ratio: q * (p / q)**2. Without a square it adds up to 1."),
        ),
        Mistake(
            _divergence(lambda p, q: p / q),
            ("What is squared, and what is the weight?", "Square the ratio, and weight it with q."),
        ),
        Mistake(
            _divergence(lambda p, q: q**2 / p),
            ("Which distribution stands above?", "The ratio is p / q, not q / p."),
        ),
        Mistake(
            _divergence(lambda p, q: (p - q) ** 2 / q),
            (
                "Is it the mean of a square, or a variance?",
                "Do not subtract q: the square is p**2.",
            ),
        ),
    ),
    hints=(
        "One outcome adds its chance under Q times the square of p / q.",
        "q * (p / q)**2, which is p**2 / q",
    ),
)


def _reported(sigma, *, sign=-1, log=_LOG):
    """Return epsilon as the tool reports it; `sign` and `log` give the common mistakes."""
    return math.sqrt(2 * log) / sigma + sign / (2 * sigma**2)


def _delivered(epsilon, sigma=0.5):
    return float(Gaussian(sigma).profiles()[0].delta(epsilon))


_shift = Exercise(
    key="16.2",
    right=_delivered(_reported(0.5)),
    praise="About a hundred times the promise, and nothing in the report shows it.",
    mistakes=(
        Mistake(
            _reported(0.5),
            (
                "That is what the tool prints. What was asked?",
                "You have the reported epsilon; now put it into the profile delta(epsilon).",
            ),
        ),
        Mistake(
            _DELTA,
            (
                "That is what is promised. Is it kept?",
                "Compute delta at the reported epsilon: Gaussian(0.5).profiles()[0].delta(...).",
            ),
        ),
        Mistake(
            _delivered(_reported(0.5, sign=1)),
            (
                "Whose formula did you use, the tool's or the right one?",
                "The tool subtracts 1/(2 sigma^2); you added it.",
            ),
        ),
        Mistake(
            _delivered(_reported(1.0), sigma=1.0),
            ("Check the noise.", "You took sigma = 1; here it is 0.5."),
        ),
        Mistake(
            float(ndtr(1 - 0.5 * _reported(0.5))),
            (
                "Is that the definition of delta? Claim 2 is about it.",
                "You computed P(L > epsilon); delta is smaller.",
            ),
        ),
        Mistake(
            _delivered(_reported(0.5, log=math.log10(1e5))),
            ("Which logarithm?", "It is the natural one: np.log, not np.log10."),
        ),
        Mistake(
            _delivered(_reported(0.5)) / _DELTA,
            (
                "Interesting, but that is a ratio.",
                "You divided by the promised delta; give the delivered one.",
            ),
        ),
    ),
    hints=(
        "Two steps: first the epsilon that the tool reports, then the delta it has.",
        "Gaussian(0.5).profiles()[0].delta(sqrt(2 ln(1/delta))/0.5 - 1/(2*0.5^2)).",
    ),
)


def _overtakes(rate):
    """Return the point beyond which ln(1 + q(e^x - 1)) exceeds 2qx."""
    return float(
        first_true(lambda x: np.log1p(rate * np.expm1(x)) > 2 * rate * x, lower=0.5, upper=10.0)
    )


_twice = Exercise(
    key="16.3",
    right=_overtakes(0.1),
    praise="A straight line cannot bound a curve that bends up.",
    mistakes=(
        Mistake(
            _overtakes(1e-9),
            (
                "Right for another rate. Which?",
                "You solved e^x - 1 = 2x, the limit of small q; here q = 0.1.",
            ),
        ),
        Mistake(
            _overtakes(0.01),
            ("Check the rate.", "That is q = 0.01, the lesson's; here q = 0.1."),
        ),
        Mistake(
            1.0,
            (
                "All tried points up to 1 hold. Is 1 the border?",
                "It holds a little further: look between 1 and 2.",
            ),
        ),
        Mistake(
            10.0,
            (
                "It fails there. Does it fail earlier?",
                "That is a counterexample, and not the first one.",
            ),
        ),
        Mistake(
            math.log(2),
            (
                "Which two values are equal at the border?",
                "Compare ln(1 + q(e^x - 1)) with 2qx, not e^x - 1 with 1.",
            ),
        ),
    ),
    hints=(
        "Below the border 2qx is larger, beyond it ln(1 + q(e^x - 1)) is. They meet at one x > 0.",
        "x = np.linspace(0.1, 5, 100_001); x[np.argmax(np.log1p(0.1*np.expm1(x)) > 0.2*x)]",
    ),
)

_K = np.arange(1, 2001)


def _first(factor=1.0, *, delta=_DELTA, epsilon=0.5):
    """Return the smallest k at which the curve, times `factor`, lies below the optimum."""
    curve = factor * epsilon * np.sqrt(2 * _K * math.log(1 / delta))
    return int(_K[curve < optimal_composition(epsilon=epsilon, steps=_K, slack=delta)][0])


_drift = Exercise(
    key="16.4",
    right=_first(),
    praise="A counterexample that fits on a postcard.",
    mistakes=(
        Mistake(
            _first() - 1,
            (
                "Is the claim already false there?",
                "That is the last k at which it holds; one more.",
            ),
        ),
        Mistake(
            math.floor(2 * _LOG) + 1.0,
            (
                "What did you compare with?",
                "There it falls below adding up, k epsilon; compare with the optimum.",
            ),
        ),
        Mistake(
            _first(2.0),
            ("Which claim is it?", "That is claim 7, with the 2; here the 2 is gone."),
        ),
        Mistake(
            _first(delta=1e-6),
            ("Look at delta again.", "That is delta = 1e-6; here it is 1e-5."),
        ),
        Mistake(
            1.0,
            (
                "Is what you compared with the truth?",
                "A theorem with a drift is larger from k = 1 on; only the optimum refutes.",
            ),
        ),
        Mistake(
            _first(epsilon=0.2),
            ("Check epsilon.", "That is epsilon = 0.2; here each release has 0.5."),
        ),
    ),
    hints=(
        "Compute both curves for k = 1, 2, 3, ... and look for the first k at which they cross.",
        "k[0.5*np.sqrt(2*k*np.log(1e5)) < optimal_composition(epsilon=0.5, steps=k, slack=1e-5)]",
    ),
)


# A search for the simplest counterexample.


def _counterexample(candidates, claimed, needed, broken=lambda c, n: c < n * (1 - 1e-9)):
    triples = zip(candidates, claimed, needed, strict=True)
    return next((k for k, c, n in triples if broken(c, n)), -1)


def _last(candidates, claimed, needed):
    return _counterexample(candidates[::-1], claimed[::-1], needed[::-1])


def _widest(candidates, claimed, needed):
    gap, k = max((n - c, k) for k, c, n in zip(candidates, claimed, needed, strict=True))
    return k if gap > 0 else -1


_first = Program(
    key="16.5",
    right=_counterexample,
    cases=(
        ([1, 2, 3], [1.0, 1.0, 1.0], [0.5, 1.5, 2.0]),
        ([1, 2, 3], [1.0, 2.0, 3.0], [0.5, 1.0, 1.5]),
        ([10, 20, 30], [0.3, 0.2, 0.9], [0.1 + 0.2, 0.5, 1.0]),
        ([5, 7, 9, 11], [2.0, 2.0, 2.0, 2.0], [1.0, 4.0, 3.0, 1.0]),
    ),
    praise="One line refutes; that no line does proves nothing.",
    mistakes=(
        Mistake(
            lambda candidates, claimed, needed: _counterexample(
                candidates, claimed, needed, lambda c, n: c > n
            ),
            (
                "The claim promises that epsilon is enough. When is that false?",
                "It is false where less is claimed than needed; you look for more.",
            ),
        ),
        Mistake(
            lambda candidates, claimed, needed: _counterexample(
                candidates, claimed, needed, lambda c, n: c < n
            ),
            (
                "Is a sum of decimals exact in floating point?",
                "A difference in the last bit is no counterexample: allow a relative 1e-9.",
            ),
        ),
        Mistake(
            _last,
            ("Which is the simplest one?", "You return the last counterexample; return the first."),
        ),
        Mistake(
            _widest,
            (
                "Which is the simplest one?",
                "You return the worst counterexample; return the first.",
            ),
        ),
        Mistake(
            lambda candidates, claimed, needed: _counterexample(
                range(len(candidates)), claimed, needed
            ),
            (
                "Is that a candidate, or its place in the list?",
                "You return the index; return the candidate at it.",
            ),
        ),
    ),
    hints=(
        "Go through the candidates in order. What must hold for the first one you return?",
        "Return k at the first claimed < needed * (1 - 1e-9); return -1 after the loop.",
    ),
)

EXERCISES = (_order_2, _shift, _twice, _drift, _first)
