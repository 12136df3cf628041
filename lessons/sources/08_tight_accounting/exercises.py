"""Exercises of lesson 08, tight accounting."""

import math
from functools import cache

from scipy.special import ndtr, ndtri

from dplearn.accountants import ACCOUNTANTS
from dplearn.mechanisms import Composed, Gaussian, PoissonSubsampled
from dplearn.teaching.classroom import Exercise, Mistake, Program

# The losses of two steps, as lists of the probabilities of cells.


def _at(place):
    """Return the function that adds each product to the cell of a place."""

    def added(first, second):
        total = [0.0] * (len(first) + len(second) - 1)
        for i, p in enumerate(first):
            for j, q in enumerate(second):
                total[place(i, j)] += p * q
        return total

    return added


_sum = Program(
    key="8.1",
    right=_at(lambda i, j: i + j),
    cases=(
        ([0.75, 0.25], [0.75, 0.25]),
        ([0.5, 0.3, 0.2], [0.9, 0.1]),
        ([0.2, 0.8], [0.1, 0.2, 0.3, 0.4]),
    ),
    praise="This is a convolution: with it you can add up the losses of any number of steps.",
    mistakes=(
        Mistake(
            _at(lambda i, j: i),
            ("Does the second step lose nothing?", "Add its cells as well: i + j."),
        ),
        Mistake(
            _at(lambda i, j: j),
            ("Does the first step lose nothing?", "Add its cells as well: i + j."),
        ),
        Mistake(
            _at(lambda i, j: i * j),
            (
                "Which numbers are multiplied, losses or probabilities?",
                "Losses add up, probabilities multiply: the cell is i + j.",
            ),
        ),
        Mistake(
            _at(lambda i, j: max(i, j)),
            ("Is the total the larger loss, or the sum?", "Both losses count: i + j."),
        ),
        Mistake(
            _at(lambda i, j: abs(i - j)),
            ("Do the two losses cancel?", "They add up: the cell is i + j."),
        ),
        Mistake(
            _at(lambda i, j: i + j - 1),
            ("Where does the list begin?", "Cell 0 is the loss 0: the sum is in cell i + j."),
        ),
    ),
    hints=(
        "A loss of i cells and one of j cells: how many cells are that together?",
        "total[i + j]",
    ),
)

# Three tables


def _epsilon(mu: float, delta: float = 1e-6) -> float:
    """Return the exact epsilon of one normal release at distance mu."""
    return float(Gaussian(1 / mu).profiles()[0].epsilon(delta))


_TABLES = Composed([(Gaussian(float(sigma)), 1) for sigma in (2, 3, 6)])
_MU = math.sqrt(1 / 4 + 1 / 9 + 1 / 36)

_tables = Exercise(
    key="8.2",
    right=ACCOUNTANTS["pld"]().epsilon(_TABLES, delta=1e-6).epsilon,
    praise="Squares of mu add up, and the conversion to epsilon is exact and made once.",
    mistakes=(
        Mistake(
            _epsilon(1 / 2 + 1 / 3 + 1 / 6),
            (
                "Three normal observations: how far apart are the two possible means?",
                "mu does not add up, its square does: take the root of the sum of squares.",
            ),
        ),
        Mistake(
            _epsilon(_MU**2),
            (
                "Something is missing between the sum and mu.",
                "That uses mu squared as mu: take the square root of the sum.",
            ),
        ),
        Mistake(
            _epsilon(math.sqrt(4 + 9 + 36)),
            (
                "More noise must mean a smaller mu. Does it, in your formula?",
                "mu is 1/sigma: add 1/sigma^2, not sigma^2.",
            ),
        ),
        Mistake(
            _epsilon(_MU, 1e-5),
            ("Which delta did you use?", "That is the epsilon at 1e-5; the question has 1e-6."),
        ),
        Mistake(
            _MU,
            (
                "You are half way. What is your number called?",
                "That is mu; ask the profile of Gaussian(1/mu) for epsilon at 1e-6.",
            ),
        ),
        Mistake(
            _epsilon(1 / 2),
            (
                "Do the other two tables tell nothing?",
                "That is the table with the least noise alone; all three are published.",
            ),
        ),
        Mistake(
            sum(_epsilon(1 / sigma) for sigma in (2, 3, 6)),
            (
                "A bound, if you had divided delta as well. What adds up exactly?",
                "Do not add epsilons: add the squares of mu, and convert once.",
            ),
        ),
    ),
    hints=(
        "What is the mu of one table, and what adds up?",
        "mu = sqrt(1/2^2 + 1/3^2 + 1/6^2), then Gaussian(1/mu).profiles()[0].epsilon(1e-6).",
    ),
)

# One release, one attacker

_SIGMA = Gaussian.analytic(epsilon=1, delta=1e-5).noise_multiplier


def _caught(mu: float, rate: float = 0.001) -> float:
    """Return the largest true positive rate against a release at distance mu."""
    return float(ndtr(ndtri(rate) + mu))


_attacker = Exercise(
    key="8.3",
    right=_caught(1 / _SIGMA),
    praise="Two or three in a thousand, and less than the pair alone allows.",
    mistakes=(
        Mistake(
            math.e * 0.001 + 1e-5,
            (
                "A true bound. Does this attacker reach it?",
                "That is the line of the single pair; the noise is normal, so use its curve G.",
            ),
        ),
        Mistake(
            1 - _caught(1 / _SIGMA),
            (
                "Does such a small test catch almost everybody?",
                "That is the share he misses; subtract it from 1.",
            ),
        ),
        Mistake(
            _caught(-1 / _SIGMA),
            (
                "Is he better or worse than guessing?",
                "Check the sign of mu: the caught share is Phi(Phi^-1(a) + mu).",
            ),
        ),
        Mistake(
            _caught(_SIGMA),
            (
                "With more noise, should he catch more or fewer?",
                "You used sigma where mu = 1/sigma belongs.",
            ),
        ),
        Mistake(
            _caught(1.0),
            ("Is epsilon the same as mu?", "That is mu = 1; here epsilon = 1 and mu = 1/sigma."),
        ),
        Mistake(
            _caught(1 / _SIGMA, 0.01),
            (
                "How many false alarms may he raise?",
                "That is for one in a hundred, not a thousand.",
            ),
        ),
        Mistake(
            2 * float(ndtr(0.5 / _SIGMA)) - 1,
            (
                "Your attacker chooses his own rate of false alarms.",
                "That is the largest advantage over all rates; the question fixes 0.001.",
            ),
        ),
    ),
    hints=(
        "Which mu does this release have, and what does G of mu say at 0.001?",
        "mu = 1/Gaussian.analytic(epsilon=1, delta=1e-5).noise_multiplier; caught is 1 - G(0.001).",
    ),
)

# Steps within a budget


@cache
def _steps(name: str, delta: float = 1e-5) -> int:
    """Return the largest number of steps within epsilon = 1, by bisection."""
    step, accountant = PoissonSubsampled(Gaussian(4.0), 0.01), ACCOUNTANTS[name]()
    good, bad = 1, 100_000
    while bad - good > 1:
        middle = (good + bad) // 2
        fits = accountant.epsilon(step, delta=delta, steps=middle).epsilon <= 1
        good, bad = (middle, bad) if fits else (good, middle)
    return good


_budget = Exercise(
    key="8.4",
    right=_steps("pld") - _steps("rdp"),
    praise="That many steps for nothing but a better proof.",
    mistakes=(
        Mistake(
            _steps("pld"),
            ("All of them? The question says: more.", "That is what PLD allows; subtract RDP's."),
        ),
        Mistake(
            _steps("rdp"),
            ("Whose steps are these?", "That is what RDP allows; subtract it from PLD's."),
        ),
        Mistake(
            _steps("rdp") - _steps("pld"),
            ("Which of the two is tighter?", "Check the order of the difference."),
        ),
        Mistake(
            _steps("pld") - _steps("moments"),
            (
                "Compared with which accountant?",
                "That is the gain over the moments accountant; compare with \"rdp\".",
            ),
        ),
        Mistake(
            _steps("gdp") - _steps("rdp"),
            (
                "Is your tight accountant a bound?",
                "That is the central limit, which allows too many steps; use \"pld\".",
            ),
        ),
        Mistake(
            _steps("pld") / _steps("rdp"),
            ("A ratio is good to know. What is asked?", "Subtract instead of dividing."),
        ),
        Mistake(
            _steps("pld", 1e-6) - _steps("rdp", 1e-6),
            ("Look at the exponent of delta.", "That is the gain at 1e-6; the budget has 1e-5."),
        ),
    ),
    hints=(
        "For each accountant: up to which number of steps does epsilon stay at or below 1?",
        "largest_steps of dplearn.calibrate, once with \"pld\", once with \"rdp\".",
    ),
)  # fmt: skip


# An accountant that brackets.


def _delta_of(epsilon, law):
    return sum(p * max(0.0, 1 - math.exp(epsilon - loss)) for loss, p in law.items())


def _total(losses, probabilities, steps):
    """Return the distribution of the sum of `steps` losses, as probabilities by loss."""
    law = {0: 1.0}
    for _ in range(steps):
        before, law = law, {}
        for total, mass in before.items():
            for loss, p in zip(losses, probabilities, strict=True):
                law[total + loss] = law.get(total + loss, 0.0) + mass * p
    return law


def _ends_of(losses, probabilities, steps, width, epsilon, rules=(math.floor, math.ceil)):
    """Return delta of `steps` releases for each rule that rounds losses to multiples of `width`."""
    ends = []
    for rule in rules:
        places = [rule(round(loss / width, 9)) for loss in losses]
        law = _total(places, probabilities, steps)
        ends.append(_delta_of(epsilon, {width * place: p for place, p in law.items()}))
    return tuple(ends)


def _held(bracket, losses, probabilities, steps, width, epsilon):
    """Compare both ends of `bracket` with the exact delta, and with the ends by rounding."""
    case = losses, probabilities, steps, width, epsilon
    lower, upper = map(float, bracket(*case))
    below, above = _ends_of(*case)
    exact = _delta_of(epsilon, _total(losses, probabilities, steps))

    def side(end, holds):
        return "holds" if holds else f"{end:.6g} is on the wrong side of {exact:.6g}"

    gap = upper - lower
    return {
        "lower end": side(lower, lower <= exact + 1e-12),
        "upper end": side(upper, upper >= exact - 1e-12),
        "as narrow as ours": "yes" if gap <= (above - below) * (1 + 1e-9) else f"no, {gap:.6g}",
    }


def _with_rule(*rules):
    return lambda *case: _ends_of(*case, rules=rules)


def _rounded_at_the_end(losses, probabilities, steps, width, epsilon):
    """Return both ends from exact totals, each rounded to the nearest multiple."""
    law = _total(losses, probabilities, steps)
    rounded = {}
    for total, p in law.items():
        place = width * round(total / width)
        rounded[place] = rounded.get(place, 0.0) + p
    end = _delta_of(epsilon, rounded)
    return end, end


_ends = Program(
    key="8.5",
    right=_ends_of,
    measure=_held,
    cases=(
        ([1.0, -1.0], [0.75, 0.25], 1, 0.5, 0.3),
        ([0.83, -0.83], [0.7, 0.3], 4, 0.25, 0.7),
        ([0.31, 0.07, -0.4], [0.5, 0.2, 0.3], 6, 0.1, 0.2),
        ([0.58, -0.62], [0.65, 0.35], 8, 0.2, 1.0),
    ),
    praise="The truth lies between two numbers that you can prove.",
    mistakes=(
        Mistake(
            _rounded_at_the_end,
            (
                "On which side of the truth is the nearest grid point?",
                "Rounding to the nearest proves nothing: down for the lower end, up for the upper.",
            ),
        ),
        Mistake(
            _with_rule(math.ceil, math.floor),
            (
                "Does a larger loss give a larger or a smaller delta?",
                "The ends are exchanged: losses rounded down give the lower end.",
            ),
        ),
        Mistake(
            _with_rule(math.trunc, lambda x: math.copysign(math.ceil(abs(x)), x)),
            (
                "Where does your rounding move a negative loss?",
                "int() rounds towards 0; use math.floor and math.ceil, also for negative losses.",
            ),
        ),
        Mistake(
            lambda *case: (0.0, 1.0),
            (
                "True, but what does it tell?",
                "Round every loss to the grid, down and up, and compose both.",
            ),
        ),
    ),
    hints=(
        "Two runs of the same program: every loss rounded down, and every loss rounded up.",
        "math.floor(loss / width) and math.ceil; compose dictionaries from losses to probabilities "
        "over the steps, then delta of each.",
    ),
)

EXERCISES = (_sum, _tables, _attacker, _budget, _ends)
