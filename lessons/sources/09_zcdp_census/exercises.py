"""Exercises of lesson 09, zCDP and the Census."""

import math

from dplearn.calibrate import largest_steps
from dplearn.mechanisms import Composed, Gaussian
from dplearn.teaching.book import zcdp_to_epsilon_bun_steinke
from dplearn.teaching.classroom import Exercise, Mistake, Program


def _sum_of(price):
    """Return a function that adds the `price` of each table."""
    return lambda multipliers: sum(price(sigma) for sigma in multipliers)


_prices = Program(
    key="9.1",
    right=_sum_of(lambda sigma: 1 / (2 * sigma**2)),
    cases=(([2.0],), ([4.0, 4.0, 2.0],), ([0.5, 3.0],), ([10.0] * 8,)),
    praise="A notebook now draws the next picture with your prices.",
    mistakes=(
        Mistake(
            _sum_of(lambda sigma: 1 / sigma**2),
            ("What stands before alpha in alpha / (2 sigma^2)?", "The 2 is missing."),
        ),
        Mistake(
            _sum_of(lambda sigma: 1 / (2 * sigma)),
            ("Twice the noise: half the price, or a quarter?", "Square sigma."),
        ),
        Mistake(
            _sum_of(lambda sigma: sigma**2 / 2),
            ("Does more noise cost more?", "Turn it upside down: 1 / (2 * sigma**2)."),
        ),
        Mistake(
            _sum_of(lambda sigma: 1 / (2 * sigma) ** 2),
            ("Is the 2 squared, too?", "Only sigma is squared: 2 * sigma**2."),
        ),
        Mistake(
            lambda multipliers: len(multipliers) ** 2 / (2 * sum(multipliers) ** 2),
            ("Does the average noise tell the price?", "Add the price of each table."),
        ),
    ),
    hints=("The price is the slope of alpha / (2 sigma^2).", "1 / (2 * sigma**2)"),
)

_DELTA, _LOG = 1e-8, math.log(1e8)
_TABLES = (4.0, 4.0, 8.0)
_RHO = Composed([(Gaussian(sigma), 1) for sigma in _TABLES]).zcdp() or math.nan


def _simple(rho, log=_LOG):
    return rho + 2 * math.sqrt(rho * log)


_conversion = Exercise(
    key="9.2",
    right=float(zcdp_to_epsilon_bun_steinke(_RHO, delta=_DELTA)),
    praise="Add in rho, convert once.",
    mistakes=(
        Mistake(
            _RHO + math.sqrt(_RHO * _LOG),
            (
                "Close. Compare the second term with section 4.",
                "The 2 before the root is missing.",
            ),
        ),
        Mistake(
            2 * math.sqrt(_RHO * _LOG),
            ("Very close, and too small. What does the mean loss cost?", "Add rho itself."),
        ),
        Mistake(
            _RHO + 2 * _RHO * _LOG,
            ("Which part stands under a root?", "It is 2 sqrt(rho ln(1/delta))."),
        ),
        Mistake(
            _simple(_RHO, math.log10(1e8)),
            ("Which logarithm?", "It is the natural one: np.log, not np.log10."),
        ),
        Mistake(
            _simple(2 * _RHO),
            (
                "Check the price of one table.",
                "rho = 1 / (2 sigma^2): the 2 in the denominator is missing.",
            ),
        ),
        Mistake(
            _simple(sum(1 / (2 * sigma) for sigma in _TABLES)),
            (
                "What happens to the price when the noise doubles?",
                "It falls to a quarter: square the noise multiplier.",
            ),
        ),
        Mistake(
            sum(_simple(1 / (2 * sigma**2)) for sigma in _TABLES),
            (
                "How often did you convert?",
                "Add the three rho first, and use the rate once.",
            ),
        ),
        Mistake(
            _simple(1 / (2 * sum(_TABLES) ** 2)),
            (
                "More releases cannot be cheaper than one of them. What adds up?",
                "You added the noises; add the prices 1 / (2 sigma^2).",
            ),
        ),
    ),
    hints=(
        "Two steps: the price of all three tables in rho, then one conversion.",
        "Each table costs 1 / (2 noise^2); add them up, then rho + 2 sqrt(rho ln(1/delta)).",
    ),
)


def _allowed(accountant="pld", epsilon=2.0, delta=1e-6, adjacency="add_remove"):
    asked = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency}
    return largest_steps(Gaussian(20.0), accountant, **asked).value


def _allowed_by_the_simple_rate(log):
    """Return the number of releases that rho + 2 sqrt(rho L) <= 2 allows."""
    root = math.sqrt(2 + log) - math.sqrt(log)
    return float(math.floor(root**2 * 2 * 20**2))


_releases = Exercise(
    key="9.3",
    right=_allowed(),
    praise="Better accounts are worth as much as less noise, and cost nobody anything.",
    mistakes=(
        Mistake(
            _allowed_by_the_simple_rate(math.log(1e6)),
            (
                "That number is in the question. Which rate is asked for?",
                "That is the simple conversion; use exact(rho, delta) of section 4.",
            ),
        ),
        Mistake(
            _allowed("zcdp"),
            (
                "A valid bound. Is it exact?",
                "That is the improved conversion; Gaussian noise has an exact profile.",
            ),
        ),
        Mistake(
            _allowed() + 1,
            (
                "Is the promise still kept there?",
                "That is the first number that breaks it; one less.",
            ),
        ),
        Mistake(
            _allowed(delta=1e-5),
            ("Look at delta again.", "Here delta is 1e-6, not 1e-5."),
        ),
        Mistake(
            _allowed(delta=1e-10),
            ("Look at delta again.", "Here delta is 1e-6; 1e-10 was the Census."),
        ),
        Mistake(
            _allowed(adjacency="replace_one"),
            (
                "Which price does one release have?",
                "rho = 1 / (2 sigma^2); a length of 2 was not meant here.",
            ),
        ),
        Mistake(
            float(math.floor(2 / Gaussian(20.0).profiles()[0].epsilon(1e-6))),
            (
                "In which currency did you add?",
                "You added epsilons; k releases have rho = k / (2 sigma^2), converted once.",
            ),
        ),
        Mistake(
            2 * _allowed(),
            ("Check the 2 in the price.", "rho = k / (2 sigma^2), and sigma = 1/sqrt(2 rho)."),
        ),
    ),
    hints=(
        "k releases are as revealing as one with which rho?",
        "Increase k until exact(k / (2 * 20**2), 1e-6) exceeds 2; the last k before that.",
    ),
)


# A queue of releases and a budget.


def _affordable(multipliers, rho, price=lambda sigma: 1 / (2 * sigma**2), stop=True):
    """Return the number of releases that fit; without `stop`, also after one that does not."""
    spent, count = 0.0, 0
    for sigma in multipliers:
        if spent + price(sigma) <= rho * (1 + 1e-9):
            spent, count = spent + price(sigma), count + 1
        elif stop:
            break
    return count


_filter = Program(
    key="9.4",
    right=_affordable,
    cases=(
        ([], 1.0),
        ([2.0, 2.0, 2.0], 0.3),
        ([2.0, 2.0, 2.0, 2.0], 0.375),
        ([1.0], 0.1),
        ([4.0, 4.0, 1.0, 4.0, 4.0], 0.2),
        ([10.0] * 300, 1.0),
        ([8.0, 4.0, 2.0, 1.0, 0.5], 1.0),
    ),
    praise="A filter: the price is known before the answer, so it may stop in time.",
    mistakes=(
        Mistake(
            lambda multipliers, rho: _affordable(multipliers, rho, lambda s: 1 / s**2),
            (
                "What does noise multiplier 1 cost in rho?",
                "A release costs 1/(2 sigma^2); the 2 is missing.",
            ),
        ),
        Mistake(
            lambda multipliers, rho: _affordable(multipliers, rho, lambda s: 1 / (2 * s)),
            (
                "Twice the noise: half the price, or a quarter?",
                "A release costs 1/(2 sigma^2), with the square.",
            ),
        ),
        Mistake(
            lambda multipliers, rho: _affordable(multipliers, rho, lambda s: s**2 / 2),
            (
                "Is more noise dearer or cheaper?",
                "A release costs 1/(2 sigma^2); you turned it upside down.",
            ),
        ),
        Mistake(
            lambda multipliers, rho: min(_affordable(multipliers, rho) + 1, len(multipliers)),
            (
                "Do you look at the budget before you answer, or after?",
                "You count the release that breaks the budget; check before you answer it.",
            ),
        ),
        Mistake(
            lambda multipliers, rho: _affordable(multipliers, rho, stop=False),
            (
                "What happens to the queue when one release is too dear?",
                "It ends there; you go on with cheaper ones further back.",
            ),
        ),
        Mistake(
            lambda multipliers, rho: _affordable(multipliers, rho * (1 - 1e-6)),
            (
                "May the budget be spent to the last bit?",
                "Exactly rho is allowed: compare with <=.",
            ),
        ),
    ),
    hints=(
        "Which rho has one release? Add up from the front.",
        "Add 1/(2 sigma^2) while the sum stays at most rho; return how many were added.",
    ),
)

EXERCISES = (_prices, _conversion, _releases, _filter)
