"""Exercises of lesson 05, Rényi divergence and RDP."""

import math

import numpy as np

from dplearn.mechanisms import RandomizedResponse
from dplearn.teaching.classroom import Exercise, Mistake, Program


def _dial(power):
    """Return a function that computes the number of a list of losses from their powers."""
    return lambda losses, order: (
        math.log(sum(power(loss, order) for loss in losses) / len(losses)) / (order - 1)
    )


_number = Program(
    key="5.1",
    right=_dial(lambda loss, order: math.exp((order - 1) * loss)),
    cases=(([0.5, 0.5], 2.0), ([1.0, 2.0, 3.0], 3.0), ([0.1, 0.4, 2.5, 0.2], 8.0)),
    praise="A notebook now draws the beam below with your function.",
    mistakes=(
        Mistake(
            _dial(lambda loss, order: math.exp(order * loss)),
            ("Which power, the order or one less?", "Multiply the loss by order - 1."),
        ),
        Mistake(
            _dial(lambda loss, order: math.exp(loss)),
            ("Does your power depend on the order?", "Multiply the loss by order - 1."),
        ),
        Mistake(
            _dial(lambda loss, order: (order - 1) * loss),
            ("Where is the exponential?", "math.exp of (order - 1) times the loss."),
        ),
        Mistake(
            _dial(lambda loss, order: loss ** (order - 1)),
            ("Is the loss raised to a power, or e?", "math.exp((order - 1) * loss)"),
        ),
        Mistake(
            _dial(lambda loss, order: math.exp((1 - order) * loss)),
            ("Do large losses get more weight, or less?", "The exponent has no minus."),
        ),
    ),
    hints=("One loss becomes e to the power of what?", "math.exp((order - 1) * loss)"),
)

_RHO, _LOG = 60 / 32, math.log(1e6)

_best_order = Exercise(
    key="5.2",
    right=1 + math.sqrt(_LOG / _RHO),
    praise="Less noise or more releases would move it further down, towards 1.",
    mistakes=(
        Mistake(
            math.sqrt(_LOG / _RHO),
            (
                "An order must exceed 1, and yours is off by exactly that much.",
                "The root is alpha - 1; add 1.",
            ),
        ),
        Mistake(
            1 + _LOG / _RHO,
            (
                "Set the derivative to zero once more: what is squared?",
                "(alpha - 1)^2 = ln(1/delta) / rho, so the square root is missing.",
            ),
        ),
        Mistake(
            1 + math.sqrt(_LOG * 32),
            (
                "How many releases are there?",
                "That rho belongs to one release; sixty have sixty times as much.",
            ),
        ),
        Mistake(
            1 + math.sqrt(_LOG / (2 * _RHO)),
            ("Where does the 2 of the variance go?", "rho = T / (2 sigma^2): the 2 is missing."),
        ),
        Mistake(
            1 + math.sqrt(_LOG * 2 * 4 / 60),
            (
                "Check the noise in your rho.",
                "You divided by sigma; rho = T / (2 sigma^2) has its square.",
            ),
        ),
        Mistake(
            1 + math.sqrt(math.log10(1e6) / _RHO),
            ("Which logarithm?", "It is the natural one: np.log, not np.log10."),
        ),
        Mistake(
            1 + math.sqrt(math.log(1e5) / _RHO),
            ("Look at delta again.", "Here delta is 1e-6; you used the lesson's 1e-5."),
        ),
    ),
    hints=(
        "Write the divergence of all sixty releases as rho times alpha. What is rho?",
        "alpha = 1 + sqrt(ln(1/delta) / rho) with rho = T / (2 sigma^2).",
    ),
)

_ORDERS = np.arange(2.0, 65.0)
_EACH = RandomizedResponse(local_epsilon=0.1).rdp(_ORDERS, adjacency="replace_one")


def _converted(divergence):
    return float(np.min(divergence + _LOG / (_ORDERS - 1)))


_coins = Exercise(
    key="5.3",
    right=_converted(200 * _EACH),
    praise="Less than half of what adding up would charge.",
    mistakes=(
        Mistake(
            20.0,
            (
                "That is a valid bound. Is it the one asked for?",
                "You added up the epsilons; add up the divergences, then convert.",
            ),
        ),
        Mistake(
            _converted(_EACH),
            ("For how many questions?", "That is one question; the divergences of 200 add up."),
        ),
        Mistake(
            float(np.min(200 * _EACH + _LOG / _ORDERS - 1)),
            (
                "Too good to be true. Have you met this mistake in class?",
                "The bracket: ln(1/delta) / (alpha - 1).",
            ),
        ),
        Mistake(
            float(200 * _EACH[0] + _LOG),
            ("Which orders did you try?", "That is order 2 alone; take the best of 2 to 64."),
        ),
        Mistake(
            200 * _converted(_EACH),
            (
                "In which order do you add and convert?",
                "You converted each release and then added; add first, convert once.",
            ),
        ),
        Mistake(
            float(np.min(200 * _EACH * (_ORDERS - 1) + _LOG / (_ORDERS - 1))),
            (
                "Does your divergence stay below 0.1 at every order?",
                "The factor 1/(alpha - 1) before the logarithm is missing.",
            ),
        ),
    ),
    hints=(
        "With two outcomes the mean in the definition is a sum of two terms. Which?",
        "D = ln(p^a q^(1-a) + q^a p^(1-a)) / (a - 1), times 200, then convert at each order.",
    ),
)


# The divergence from its definition.


def _renyi(p, q, order):
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a > 0]
    if any(b == 0 for _, b in pairs):
        return math.inf
    terms = [order * math.log(a) + (1 - order) * math.log(b) for a, b in pairs]
    top = max(terms)
    return (top + math.log(sum(math.exp(term - top) for term in terms))) / (order - 1)


def _plain(p, q, order, weight=1, by=lambda order: order - 1):
    """Return the formula term by term, with NumPy's inf and nan."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    with np.errstate(all="ignore"):
        return np.log(np.sum(p**order * q ** (weight - order))) / by(order)


_divergence = Program(
    key="5.4",
    right=_renyi,
    cases=(
        ([0.75, 0.25], [0.25, 0.75], 2.0),
        ([0.2, 0.3, 0.5], [0.4, 0.4, 0.2], 3.0),
        ([0.5, 0.5], [0.5, 0.5], 8.0),
        ([0.5, 0.5, 0.0], [0.4, 0.4, 0.2], 1.5),
        ([0.4, 0.4, 0.2], [0.5, 0.5, 0.0], 2.0),
        ([0.75, 0.25], [0.25, 0.75], 2000.0),
    ),
    praise="Impossible outputs and orders in the thousands included.",
    mistakes=(
        Mistake(
            _plain,
            (
                "What does a float do with 0.25 to the power of -2000?",
                "It overflows: take logarithms of the terms, and put them together with logsumexp.",
            ),
        ),
        Mistake(
            lambda p, q, order: _renyi(q, p, order),
            (
                "Is the divergence of p from q that of q from p?",
                "The roles are exchanged: p has the power alpha, q the power 1 - alpha.",
            ),
        ),
        Mistake(
            lambda p, q, order: _renyi(p, q, order) * (order - 1),
            (
                "That grows with the order even for a single loss. What is in front of the log?",
                "Divide by alpha - 1.",
            ),
        ),
        Mistake(
            lambda p, q, order: _plain(p, q, order, by=lambda order: 1),
            (
                "That grows with the order even for a single loss. What is in front of the log?",
                "Divide by alpha - 1, and take logarithms before the powers overflow.",
            ),
        ),
        Mistake(
            lambda p, q, order: _plain(p, q, order, by=lambda order: order),
            ("By what do you divide?", "Divide by alpha - 1, not by alpha."),
        ),
        Mistake(
            lambda p, q, order: _plain(p, q, order + 1, by=lambda order: order - 1),
            (
                "Is your mean taken over p or over q?",
                "Under p the power is alpha - 1: that is the order alpha, you have alpha + 1.",
            ),
        ),
        Mistake(
            lambda p, q, order: _plain(p, q, order) / math.log(2),
            ("In which unit is the loss?", "Use the natural logarithm, not that to base 2."),
        ),
    ),
    hints=(
        "Add p_i^alpha q_i^(1 - alpha) over the outputs, take the log, divide by alpha - 1.",
        "Skip p_i = 0; p_i > 0 with q_i = 0 gives inf; scipy.special.logsumexp avoids overflow.",
    ),
)

EXERCISES = (_number, _best_order, _coins, _divergence)
