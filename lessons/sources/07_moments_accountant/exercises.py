"""Exercises of lesson 07, the moments accountant."""

import math

import numpy as np

from dplearn.accountants import ACCOUNTANTS
from dplearn.accountants.moments import Moments
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.teaching.classroom import Exercise, Mistake, Program


def _log_mean(of):
    return lambda losses, moment: math.log(sum(of(x, moment) for x in losses) / len(losses))


_measured = Program(
    key="7.1",
    right=_log_mean(lambda x, m: math.exp(m * x)),
    cases=(([0.0, 1.0], 2), ([0.2, 0.1, 0.5], 4), ([0.01, -0.02, 0.03, 0.4], 3)),
    praise="This one number of a step is all that the new bookkeeping remembers.",
    mistakes=(
        Mistake(
            _log_mean(lambda x, m: x**m),
            (
                "Is this a power of the loss, or a power of e?",
                "The loss stands in the exponent: math.exp(moment * loss).",
            ),
        ),
        Mistake(
            _log_mean(lambda x, m: math.exp(x)),
            ("Where is lambda?", "Multiply the loss by moment inside math.exp."),
        ),
        Mistake(
            _log_mean(lambda x, m: m * math.exp(x)),
            (
                "Does lambda multiply the loss, or the power?",
                "It belongs inside the brackets: math.exp(moment * loss).",
            ),
        ),
        Mistake(
            _log_mean(lambda x, m: m * x),
            ("What happened to e?", "Take math.exp of moment * loss."),
        ),
        Mistake(
            _log_mean(lambda x, m: m**x),
            ("Which number is raised to a power?", "It is e: math.exp(moment * loss)."),
        ),
        Mistake(
            _log_mean(lambda x, m: math.exp(-m * x)),
            (
                "Should a large loss make the number larger or smaller?",
                "Leave out the minus: math.exp(moment * loss).",
            ),
        ),
    ),
    hints=(
        "Inside the sum stands the power of e that the question names.",
        "math.exp(moment * loss)",
    ),
)

# 2 000 steps of divergence 0.00015 at order 9.
_RHO = 2000 * 0.00015

_tail = Exercise(
    key="7.2",
    right=math.exp((9 - 1) * (_RHO - 1)),
    praise="One moment is enough for a valid bound; the best one makes it smaller.",
    mistakes=(
        Mistake(
            math.exp(_RHO - 8),
            (
                "What turns a divergence into a log moment?",
                "You used D itself; K(lambda) = lambda D of order lambda + 1.",
            ),
        ),
        Mistake(
            math.exp(9 * _RHO - 8),
            (
                "Which number multiplies the divergence, the moment or the order?",
                "K(8) is 8 times the divergence of order 9, not 9 times.",
            ),
        ),
        Mistake(
            math.exp(9 * _RHO - 9),
            (
                "Which moment belongs to order 9?",
                "You took lambda = 9; the order is one larger than the moment.",
            ),
        ),
        Mistake(
            math.exp(8 * 0.00015 - 8),
            ("How long is the run?", "That is one step; the log moments of 2 000 steps add up."),
        ),
        Mistake(
            math.exp(8 - 8 * _RHO),
            ("A probability above 1? Check a sign.", "The exponent is K - lambda epsilon."),
        ),
        Mistake(
            8 * (_RHO - 1),
            (
                "A probability is never negative. What is left to do?",
                "That is the exponent; delta is e to that power.",
            ),
        ),
        Mistake(
            10 ** (8 * (_RHO - 1)),
            ("To which base?", "The logarithms are natural: np.exp, not a power of 10."),
        ),
        Mistake(
            math.exp(8 * _RHO - 1),
            (
                "Which of the two terms grows with lambda?",
                "Both: the exponent is K - lambda epsilon, and you left out one lambda.",
            ),
        ),
    ),
    hints=(
        "Three steps: the log moment of one step, of the run, then the tail bound.",
        "K(8) = 8 times 0.00015 for one step, 2 000 times that for the run; delta = exp(K - 8).",
    ),
)

_QUIET, _DELTA = PoissonSubsampled(Gaussian(6.0), 0.002), 1e-6


def _moments(largest=1000, *, steps=500, delta=_DELTA):
    return Moments(largest).epsilon(_QUIET, delta=delta, steps=steps)


def _other(name):
    return ACCOUNTANTS[name]().epsilon(_QUIET, delta=_DELTA, steps=500).epsilon


_LAMBDA = np.arange(1.0, 1001.0)
_RUN = 500 * _LAMBDA * _QUIET.rdp(_LAMBDA + 1)

_orders = Exercise(
    key="7.3",
    right=_moments().epsilon,
    praise="A tenth of what a list that stops at 32 reports, for the same run.",
    mistakes=(
        Mistake(
            _moments(32).epsilon,
            (
                "Valid, but look at the moment that won. Where does your list end?",
                "That is with as few moments as in the lesson; pass largest=1000.",
            ),
        ),
        Mistake(
            _moments().details["moment"],
            (
                "You found the place. Which of the two results is asked for?",
                "That is the best moment; the function returns epsilon first.",
            ),
        ),
        Mistake(
            _moments(steps=1).epsilon,
            ("How long is the run?", "That is one step; the run has 500."),
        ),
        Mistake(
            _moments(delta=1e-5).epsilon,
            ("Look at delta again.", "That is delta = 1e-5; here it is 1e-6."),
        ),
        Mistake(
            float(np.min((_RUN + math.log10(1 / _DELTA)) / _LAMBDA)),
            ("Which logarithm?", "It is the natural one: np.log, not np.log10."),
        ),
        Mistake(
            float(np.min(_RUN / _LAMBDA - math.log(_DELTA))),
            (
                "At which moment did you divide, and what?",
                "Both terms are divided by lambda: (K + ln(1/delta)) / lambda.",
            ),
        ),
        Mistake(
            _other("rdp"),
            (
                "Smaller, and valid. Is it the tail bound of this lesson?",
                "That is the sharper conversion of lesson 05; use the tail bound.",
            ),
        ),
        Mistake(
            _other("pld"),
            (
                "That is the best anyone can say. What was asked?",
                "You asked the pld accountant; use the moments.",
            ),
        ),
    ),
    hints=(
        "The accountant of this lesson takes all that varies here as arguments.",
        "moments_accountant(6.0, 0.002, 500, delta=1e-6, largest=1000)[0].",
    ),
)


def _noise(name, epsilon=2.0):
    """Return the smallest noise multiplier for 60 epochs of MNIST in batches of 256."""
    step = PoissonSubsampled(Gaussian(1.0), 256 / 60_000)
    return smallest_noise_multiplier(step, name, epsilon=epsilon, delta=1e-5, steps=14_063).value


_BY_MOMENTS, _BY_PLD = _noise("moments"), _noise("pld")
_RATIO = _BY_MOMENTS / _BY_PLD

_saving = Exercise(
    key="7.4",
    right=_RATIO,
    praise="Better bookkeeping, nothing else, and the same promise needs less noise.",
    mistakes=(
        Mistake(
            1 / _RATIO,
            (
                "Which of the two asks for more noise?",
                "You divided the wrong way round: noise by moments over noise by pld.",
            ),
        ),
        Mistake(
            _RATIO**2,
            (
                "Is that a ratio of standard deviations?",
                "You compared variances; the noise multiplier is a standard deviation.",
            ),
        ),
        Mistake(
            _BY_MOMENTS,
            (
                "Half the way. What was asked?",
                "That is the noise by the moments accountant; divide by that of pld.",
            ),
        ),
        Mistake(
            _BY_PLD,
            (
                "Half the way. What was asked?",
                "That is the noise by the pld accountant; the question is for a ratio.",
            ),
        ),
        Mistake(
            _BY_MOMENTS / _noise("rdp"),
            (
                "Compared with which accountant?",
                "You compared with rdp; pld is the one that proves both ends.",
            ),
        ),
        Mistake(
            _BY_MOMENTS - _BY_PLD,
            ("Is it asked how much more, or how many times?", "Divide instead of subtracting."),
        ),
        Mistake(
            _noise("moments", 1.0) / _noise("pld", 1.0),
            ("For which epsilon?", "That is for epsilon = 1; here the target is 2."),
        ),
    ),
    hints=(
        "Two searches, one for each accountant: at which noise does epsilon fall to 2?",
        "Root of moments_accountant(s, q, steps)[0] - 2 over s, then the same with pld.",
    ),
)


# An accountant of a run in phases. A phase is (steps, divergences of one step, one per order).


def _epsilon_of(phases, orders, delta, slack=lambda order, log: log / (order - 1)):
    totals = [sum(steps * curve[i] for steps, curve in phases) for i in range(len(orders))]
    log = math.log(1 / delta)
    return min(total + slack(order, log) for total, order in zip(totals, orders, strict=True))


def _lines(sigma, orders):
    return [order / (2 * sigma**2) for order in orders]


_FEW, _MANY = [2, 4, 8, 16], list(range(2, 65))
# Two mechanisms whose best orders differ.
_EARLY, _LATE = [0.1, 0.2, 4.0, 9.0], [0.4, 0.5, 0.6, 0.7]

_accountant = Program(
    key="7.5",
    right=_epsilon_of,
    cases=(
        ([(1, _lines(4.0, _FEW))], _FEW, 1e-5),
        ([(100, _lines(20.0, _FEW))], _FEW, 1e-5),
        ([(1, _EARLY), (1, _LATE)], _FEW, 1e-3),
        ([(50, _lines(10.0, _MANY)), (200, _lines(30.0, _MANY))], _MANY, 1e-6),
    ),
    praise="Every order is carried to the end; δ is paid once.",
    mistakes=(
        Mistake(
            lambda phases, orders, delta: sum(
                _epsilon_of([phase], orders, delta) for phase in phases
            ),
            (
                "How often do you pay for delta?",
                "You convert each phase; add the divergences first, and convert once.",
            ),
        ),
        Mistake(
            lambda phases, orders, delta: sum(
                steps * _epsilon_of([(1, curve)], orders, delta) for steps, curve in phases
            ),
            (
                "How often do you pay for delta?",
                "You convert each step; add the divergences first, and convert once.",
            ),
        ),
        Mistake(
            lambda phases, orders, delta: _epsilon_of(
                [(1, curve) for _, curve in phases], orders, delta
            ),
            ("How many steps has a phase?", "Multiply each divergence by the steps of its phase."),
        ),
        Mistake(
            lambda phases, orders, delta: _epsilon_of(
                phases, orders, delta, lambda order, log: log / order
            ),
            (
                "Moment or order?",
                "Divide by alpha - 1; the moment lambda is alpha - 1.",
            ),
        ),
        Mistake(
            lambda phases, orders, delta: _epsilon_of(
                phases, orders, delta, lambda order, log: -log / (order - 1)
            ),
            ("Does a smaller delta cost more or less?", "ln(1/delta) is positive; add it."),
        ),
        Mistake(
            lambda phases, orders, delta: max(
                _epsilon_of([(n, [curve[i]]) for n, curve in phases], [order], delta)
                for i, order in enumerate(orders)
            ),
            (
                "Each order proves something. Which proof do you report?",
                "Every order gives a true bound, so take the smallest.",
            ),
        ),
        Mistake(
            lambda phases, orders, delta: _epsilon_of(
                phases, orders, delta, lambda order, log: 0.0
            ),
            ("Where is delta?", "Add ln(1/delta)/(alpha - 1) before you take the minimum."),
        ),
    ),
    hints=(
        "One total for each order, over all phases. Then one conversion.",
        "min over i of sum(steps * curve[i]) + ln(1/delta)/(orders[i] - 1)",
    ),
)

EXERCISES = (_measured, _tail, _orders, _saving, _accountant)
