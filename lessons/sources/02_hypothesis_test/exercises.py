"""Exercises of lesson 02, (epsilon, delta)-DP as a hypothesis test."""

import math

import numpy as np

from dplearn.engine.profile import Profile
from dplearn.mechanisms import Laplace
from dplearn.teaching.classroom import Exercise, Mistake, Program


def _laplace(epsilon, scale):
    """Return delta at `epsilon` for a scale in units of the sensitivity."""
    return float(Laplace(noise_multiplier=scale).profiles()[0].delta(epsilon))


_loss = Program(
    key="2.1",
    right=lambda report: abs(report - 6) - abs(report - 7),
    cases=((11.0,), (6.2,), (6.8,), (5.0,)),
    praise="That is the privacy loss; section 4 draws a million of them.",
    mistakes=(
        Mistake(
            lambda report: abs(report - 7) - abs(report - 6),
            ("Which count is that of Anna's yes?", "Divide density(report - 7) by the other one."),
        ),
        Mistake(
            lambda report: math.exp(abs(report - 6) - abs(report - 7)),
            ("Is that the ratio or its logarithm?", "Take math.log of the ratio."),
        ),
        Mistake(
            lambda report: (math.exp(-abs(report - 7)) - math.exp(-abs(report - 6))) / 2,
            ("How many times likelier, or by how much?", "Divide the two densities."),
        ),
        Mistake(
            lambda report: (abs(report - 6) - abs(report - 7)) / math.log(10),
            ("Which logarithm is it?", "The natural one is math.log, not math.log10."),
        ),
        Mistake(
            lambda report: math.log(0.5) - abs(report - 7),
            ("And without Anna's yes?", "Divide by density(report - 6) before the logarithm."),
        ),
    ),
    hints=(
        "The noise is the report minus the count, which is 7 or 6.",
        "math.log(density(report - 7) / density(report - 6))",
    ),
)

_by_hand = Exercise(
    key="2.2",
    right=_laplace(0.2, scale=2.0),
    praise="Sensitivity over scale, and half of what epsilon falls short of it.",
    mistakes=(
        Mistake(
            _laplace(0.2, scale=6.0),
            (
                "Is it pupils that are counted, or homeworks?",
                "One person moves the count by up to 3: the ratio is 3/6, not 1/6.",
            ),
        ),
        Mistake(
            _laplace(0.2, scale=1 / 3),
            (
                "What is the noise in your formula?",
                "You took the sensitivity 3 for the ratio; divide it by the scale: 3/6.",
            ),
        ),
        Mistake(
            _laplace(0.2, scale=0.5),
            (
                "Would more noise make your delta larger?",
                "The ratio is sensitivity over scale, 3/6; you took 6/3.",
            ),
        ),
        Mistake(
            1 - math.exp(0.2 - 0.5),
            ("Compare the exponent with section 5.", "Half of the difference: (0.2 - 0.5)/2."),
        ),
        Mistake(
            math.exp(-0.15),
            (
                "At epsilon = 0.5 delta must be 0. Is yours?",
                "You stopped at the exponential; delta is 1 minus it.",
            ),
        ),
        Mistake(
            1 - 0.5 * math.exp(-0.15),
            (
                "The whole price, or only what lies above e^epsilon q?",
                "That is P(L > epsilon); subtract e^epsilon Q(L > epsilon).",
            ),
        ),
        Mistake(
            _laplace(0.0, scale=2.0),
            ("At which epsilon is that?", "That is delta(0); put in epsilon = 0.2."),
        ),
        Mistake(
            math.expm1(0.15),
            (
                "Check the order of the difference.",
                "1 - e^(-x), not e^x - 1; x is half of the difference.",
            ),
        ),
        Mistake(
            _laplace(0.0, scale=2.0) * (1 - 0.2 / 0.5),
            (
                "Is the profile a straight line?",
                "You interpolated between its ends; use 1 - e^((epsilon - ratio)/2).",
            ),
        ),
    ),
    hints=(
        "Which epsilon does this noise have at delta = 0? Begin with that ratio.",
        "delta = 1 - e^((epsilon - ratio)/2) with ratio = sensitivity / scale = 3/6.",
    ),
)


_P = np.array([0.02, 0.0, 0.98 * 0.75, 0.98 * 0.25])
_Q = np.array([0.0, 0.02, 0.98 * 0.25, 0.98 * 0.75])
with np.errstate(divide="ignore"):
    _MIXED = Profile.from_atoms(np.log(_P), np.log(_Q))
_RESPONSE = 0.75 - math.e * 0.25

_lost_form = Exercise(
    key="2.3",
    right=float(_MIXED.delta(1.0)),
    praise="An infinite loss pays in full, a finite one by what it exceeds epsilon.",
    mistakes=(
        Mistake(
            0.02,
            (
                "The form is found. Is the response harmless at this epsilon?",
                "Its epsilon is ln 3 > 1: the answer yes exceeds e q and pays, too.",
            ),
        ),
        Mistake(
            _RESPONSE,
            (
                "What about the form, and how often is there a response at all?",
                "Weigh the response with its chance, and add what the lost form costs.",
            ),
        ),
        Mistake(
            0.98 * _RESPONSE,
            ("Is that every output with loss above 1?", "Add the lost form: loss infinite, 0.02."),
        ),
        Mistake(
            0.02 + _RESPONSE,
            (
                "Do your probabilities add up to 1?",
                "There is a response where no form is lost: multiply its part by that chance.",
            ),
        ),
        Mistake(
            0.02 + 0.98 * 0.75,
            (
                "That is a tail. Is a tail delta?",
                "P(L > 1) is not delta; subtract e Q(L > 1).",
            ),
        ),
        Mistake(
            float(_MIXED.delta(0.0)),
            ("At which epsilon is that?", "You subtracted q; at epsilon = 1 subtract e q."),
        ),
    ),
    hints=(
        "There are four outputs. Which of them have p > e q?",
        "Sum of (p - e q) over the outputs where it is positive: the form and one response.",
    ),
)


# Delta of two lists of probabilities.


def _one_way(p, q, epsilon):
    return sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q, strict=True))


def _both_ways(p, q, epsilon):
    return max(_one_way(p, q, epsilon), _one_way(q, p, epsilon))


def _largest(p, q, epsilon):
    pairs = [*zip(p, q, strict=True), *zip(q, p, strict=True)]
    return max(0.0, *(a - math.exp(epsilon) * b for a, b in pairs))


def _plain_epsilon(p, q, epsilon):
    ways = ((p, q), (q, p))
    return max(sum(max(0, x - epsilon * y) for x, y in zip(a, b, strict=True)) for a, b in ways)


_hockey_stick = Program(
    key="2.4",
    right=_both_ways,
    cases=(
        ([0.5, 0.5], [0.5, 0.5], 0.0),
        ([0.75, 0.25], [0.25, 0.75], 0.0),
        ([0.75, 0.25], [0.25, 0.75], 1.0),
        ([0.25, 0.5, 0.25], [0.5, 0.5, 0.0], 0.5),
        ([0.6, 0.4, 0.0], [0.5, 0.3, 0.2], 0.1),
        ([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], 0.3),
        ([0.5, 0.5], [0.0, 1.0], 3.0),
    ),
    praise="Bad outputs add up, and the worse of the two directions counts.",
    mistakes=(
        Mistake(
            _one_way,
            (
                "May the attacker know the world with the record, or the one without it?",
                "You forgot the second direction: exchange p and q, and take the larger.",
            ),
        ),
        Mistake(
            lambda p, q, epsilon: _one_way(q, p, epsilon),
            (
                "May the attacker know the world with the record, or the one without it?",
                "You compare q with p only: exchange them as well, and take the larger.",
            ),
        ),
        Mistake(
            _largest,
            (
                "May a set S hold more than one output?",
                "You take the worst output; add up all outputs where the difference is positive.",
            ),
        ),
        Mistake(
            lambda p, q, epsilon: _one_way(p, q, epsilon) + _one_way(q, p, epsilon),
            (
                "Does one attacker play in both directions at once?",
                "You add the two directions; take the larger of them.",
            ),
        ),
        Mistake(
            lambda p, q, epsilon: min(_one_way(p, q, epsilon), _one_way(q, p, epsilon)),
            (
                "Which direction must the promise cover, the better or the worse one?",
                "You take the smaller of the two directions; take the larger.",
            ),
        ),
        Mistake(
            lambda p, q, epsilon: max(0.0, 1 - math.exp(epsilon)),
            (
                "What happens to the outputs where the difference is negative?",
                "Cut every difference at 0 before you add: the set S leaves these outputs out.",
            ),
        ),
        Mistake(
            _plain_epsilon,
            (
                "By which factor may a probability grow?",
                "The factor is exp(epsilon), not epsilon.",
            ),
        ),
    ),
    hints=(
        "Which outputs belong into the worst set S, and what does S add up to?",
        "Add max(0, p_i - exp(epsilon) q_i); do the same with p and q exchanged; take the larger.",
    ),
)

EXERCISES = (_loss, _by_hand, _lost_form, _hockey_stick)
