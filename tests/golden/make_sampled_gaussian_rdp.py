"""Fill sampled_gaussian_rdp.csv: Rényi divergences of the Poisson-subsampled Gaussian.

With P = (1 - q) N(0, s^2) + q N(1, s^2) and Q = N(0, s^2) the definition is integrated
directly, for real and whole orders, in both directions: "remove" is D(P || Q), "add" is
D(Q || P). The integrand is analytic and decays like a Gaussian, so a trapezoidal sum
converges exponentially; the step is halved until two sums agree to 30 digits.
Unlike the tested closed forms it uses no series and no binomial coefficients.

    python tests/golden/make_sampled_gaussian_rdp.py          (half a minute)

Lines without value and source are filled in. Five lines are copied and kept:
two of the binomial sum, three of a test of dp-accounting. The values of that test at orders
1.5 and 2.5 are omitted: they are too large (see P21 in data/).
"""

import mpmath
from mpmath import mp, mpf
from refill import refill

PRECISION = 60
REACH = 16  # standard deviations integrated on each side: exp(-16^2 / 2) = 3e-56
AGREE = mpf(10) ** -30
DIGITS = 20
SOURCE = "integral of the definition, make_sampled_gaussian_rdp.py"


def moment_less_one(q, s, order, step, direction):
    """Return the integral of Q ((P/Q)^power - 1), accurate for tiny divergences."""
    power = order if direction == "remove" else 1 - order
    low, high = -order - REACH * s, order + REACH * s

    def integrand(x):
        loss = mp.log1p(q * mp.expm1((2 * x - 1) / (2 * s**2)))
        return mp.exp(-(x**2) / (2 * s**2)) * mp.expm1(power * loss)

    total = mp.fsum(integrand(low + step * j) for j in range(int((high - low) / step) + 1))
    return total * step / (s * mp.sqrt(2 * mp.pi))


def renyi(q, s, order, direction):
    """Return D_order in nats, to 30 digits that two step sizes agree on."""
    step, old = s / 2, mpf(0)
    while True:
        new = moment_less_one(q, s, order, step, direction)
        if abs(new - old) < AGREE * abs(new):
            return mp.log1p(new) / (order - 1)
        step, old = step / 2, new


def computed(line):
    """Return value, digits and version for a line of the table."""
    with mp.workdps(PRECISION):
        q, s, order = (mpf(line[k]) for k in ("sample_rate", "noise_multiplier", "order"))
        exact = renyi(q, s, order, line["direction"])
        value = mpmath.nstr(exact, DIGITS, min_fixed=-3, max_fixed=9)
    version = f"mpmath {mpmath.__version__}, {PRECISION} digits"
    return {"value": value, "digits": DIGITS, "version": version}


if __name__ == "__main__":
    refill("sampled_gaussian_rdp.csv", SOURCE, computed)
