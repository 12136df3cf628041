"""Write sampled_gaussian_rdp.csv: Renyi divergence of the Poisson-subsampled Gaussian.

With P = (1 - q) N(0, s^2) + q N(1, s^2) and Q = N(0, s^2) the definition is integrated as it
stands, for real and whole orders, in both directions: "remove" is D(P || Q), "add" is
D(Q || P). The integrand is analytic and decays like a Gaussian, so a trapezoidal sum
converges exponentially; the step is halved until two sums agree to 30 digits.
No series, no binomial coefficient: nothing in common with the closed forms under test.

    python tests/golden/make_sampled_gaussian_rdp.py          (half a minute)

Five further rows are copied: two of the binomial sum, three of a test of dp-accounting. The
values of that test at orders 1.5 and 2.5 are left out: they are too large (see P21 in data/).
"""

import csv
from pathlib import Path

import mpmath
from mpmath import mp, mpf

PRECISION = 60
REACH = 16  # standard deviations kept on each side: exp(-16^2 / 2) = 3e-56
AGREE = mpf(10) ** -30
DIGITS = 20
HEADER = [
    "noise_multiplier",
    "sample_rate",
    "order",
    "steps",
    "direction",
    "value",
    "digits",
    "source",
    "version",
]

POINTS = [  # sample_rate, noise_multiplier, order: the corners of what people use, and beyond
    ("1e-5", "0.3", "1.1"),
    ("1e-5", "0.3", "64"),
    ("1e-5", "1", "2"),
    ("1e-5", "20", "1.5"),
    ("1e-5", "20", "64"),
    ("1e-3", "0.5", "1.25"),
    ("1e-3", "0.7", "4.5"),
    ("1e-3", "1", "32"),
    ("0.01", "0.3", "2.5"),
    ("0.01", "0.4", "1.6"),
    ("0.01", "1", "8"),
    ("0.01", "1", "9.5"),
    ("0.01", "2.5", "1.5"),
    ("0.01", "2.5", "2.5"),
    ("0.01", "4", "20.5"),
    ("0.1", "0.5", "1.1"),
    ("0.1", "1", "1.5"),
    ("0.1", "0.8", "5.5"),
    ("0.1", "2", "16"),
    ("0.2", "2", "1.5"),
    ("0.5", "0.7", "8"),
    ("0.5", "20", "64"),
    ("0.9", "0.3", "1.1"),
    ("0.9", "0.3", "64"),
    ("0.9", "5", "3.3"),
    ("0.9", "20", "2"),
]
SUM = ("binomial sum (G-E4)", "mpmath 1.4.1, 30 digits")
TEST = ("rdp_privacy_accountant_test.py (P21)", "dp-accounting 0.6.0")
COPIED = [  # noise_multiplier, sample_rate, order, steps, value, digits, source, version
    ("1", "0.01", "8", 1, "8.936439076e-4", 10, *SUM),
    ("1", "0.01", "32", 1, "11.24627594", 10, *SUM),
    ("2.5", "0.01", "5", 50, "2.18075656e-3", 9, *TEST),
    ("2.5", "0.01", "50", 50, "2.38460375e-2", 9, *TEST),
    ("2.5", "0.01", "100", 50, "167.416308", 9, *TEST),
]


def moment_less_one(q, s, order, step, direction):
    """Integral of Q ((P/Q)^power - 1), so that a tiny divergence keeps its digits."""
    power = order if direction == "remove" else 1 - order
    low, high = -order - REACH * s, order + REACH * s

    def integrand(x):
        loss = mp.log1p(q * mp.expm1((2 * x - 1) / (2 * s**2)))
        return mp.exp(-(x**2) / (2 * s**2)) * mp.expm1(power * loss)

    total = mp.fsum(integrand(low + step * j) for j in range(int((high - low) / step) + 1))
    return total * step / (s * mp.sqrt(2 * mp.pi))


def renyi(q, s, order, direction):
    """D_order in nats, agreed by two steps to 30 digits."""
    step, old = s / 2, mpf(0)
    while True:
        new = moment_less_one(q, s, order, step, direction)
        if abs(new - old) < AGREE * abs(new):
            return mp.log1p(new) / (order - 1)
        step, old = step / 2, new


def rows():
    source = "integral of the definition, make_sampled_gaussian_rdp.py"
    version = f"mpmath {mpmath.__version__}, {PRECISION} digits"
    for q, s, order in POINTS:
        for direction in ("remove", "add"):
            exact = renyi(mpf(q), mpf(s), mpf(order), direction)
            value = mpmath.nstr(exact, DIGITS, min_fixed=-3, max_fixed=9)
            yield [s, q, order, 1, direction, value, DIGITS, source, version]
    for s, q, order, steps, value, digits, source, version in COPIED:
        yield [s, q, order, steps, "remove", value, digits, source, version]


if __name__ == "__main__":
    target = Path(__file__).with_name("sampled_gaussian_rdp.csv")
    with mp.workdps(PRECISION), target.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows()])
