"""Fill sampled_gaussian_epsilon.csv with epsilons of Poisson-subsampled Gaussian runs.

The package supplies only initial guesses. Method: with M(z) = E[exp(z L)], L the
privacy loss of one step (one record removed), for every lam > 0

    delta(eps) = (1 / 2 pi) * integral over t of M(z)^T exp(-z eps) / (z (1 + z)),  z = lam + i t.

The other direction, one record added, is smaller for this mechanism and is not computed.
Both integrals are trapezoidal sums in 40-digit arithmetic; the inner one runs along the
line Im x = eta, where the integrand does not oscillate. Each epsilon is computed twice, with
different lam, period and steps. All errors of the sums differ between the two runs, so
common digits are correct; at most 16 of them are written.

    python tests/golden/make_sampled_gaussian_epsilon.py     (a quarter of an hour on two cores)

Lines without value and source are filled in. Lines marked "two runs" have few steps
and need too many nodes here; they are kept from an earlier computation of the same
kind, with the common digits of its two runs.
"""

import csv
from multiprocessing import Pool
from pathlib import Path

import mpmath
import numpy as np
from mpmath import mp, mpc, mpf

from dplearn.engine.contour import SampledGaussian
from dplearn.engine.contour.table import Table, largest_power, shared

PRECISION = 40
TAIL = 75  # exp(-75) = 3e-33: relative truncation error of each sum
DIGITS = 16
SOURCE = "contour integral, make_sampled_gaussian_epsilon.py"


def loss(x, q, s):
    """Return the privacy loss at the output x."""
    return mp.log(1 - q + q * mp.exp((2 * x - 1) / (2 * s**2)))


def plan(q, s, steps, delta):
    """Return guesses of epsilon, its saddle point and a period; two runs check the result."""
    pair, log_delta = SampledGaussian(float(s), float(q), "remove"), float(mp.log(delta))
    table, row = Table(pair, largest_power(pair, log_delta)), np.array([float(steps)])
    eps = table.guess_epsilon(row, log_delta)
    needs = table.needs(row, eps / 2, np.array([log_delta]), -TAIL)
    ((_, lam),) = shared(*table.tilts(needs, row, 2.0, 1.4), 1.4)
    return mpf(eps[0]), mpf(lam), mpf(table.period(needs, lam))


def powers(q, s, steps, lam, period, shrink):
    """Return M(lam + i t)^T at t = 0, h, 2h, ... with h = 2 pi / period, until negligible."""
    eta = min(mp.pi * s**2 / 2, mpf(3) / 2 * s)
    step = shrink * 2 * mp.pi * eta / (TAIL + 2 * eta**2 / s**2)
    reach = s * mp.sqrt(2 * TAIL) + eta
    count = int((2 * reach + 1 + lam) / step) + 1
    nodes = [mpc(-reach + step * j, eta) for j in range(count)]
    losses = [loss(x, q, s) for x in nodes]
    weight = step / (s * mp.sqrt(2 * mp.pi))
    terms = [
        weight * mp.exp((1 + lam) * y - x**2 / (2 * s**2))
        for x, y in zip(nodes, losses, strict=True)
    ]
    turns = [mp.exp(2j * mp.pi / period * y) for y in losses]
    first, found, quiet = mp.fsum(terms), [], 0
    while quiet < 40:
        found.append(mp.exp(steps * mp.log(mp.fsum(terms) / first)))
        quiet = quiet + 1 if abs(found[-1]) < mp.exp(-TAIL) else 0
        terms = [a * b for a, b in zip(terms, turns, strict=True)]
    return steps * mp.log(first.real), found


def solve(q, s, steps, delta, scale):
    """Return epsilon with delta(epsilon) = delta; `scale` changes every numerical setting."""
    eps, lam, period = plan(q, s, steps, delta)
    lam, period = lam * scale, period * (2 - scale) * (2 - scale)
    log_top, found = powers(q, s, steps, lam, period, shrink=scale)
    h = 2 * mp.pi / period
    z = [mpc(lam, h * k) for k in range(len(found))]
    weighted = [g / (a * (1 + a)) for g, a in zip(found, z, strict=True)]
    weighted[0] /= 2

    def excess(e):
        """Return log delta(e) - log delta."""
        total = mp.fsum(w * mp.expj(-h * k * e) for k, w in enumerate(weighted))
        return log_top - lam * e + mp.log(h / mp.pi * total.real) - mp.log(delta)

    return mp.findroot(excess, (eps, eps * mpf("0.99")), tol=1e-50)


def computed(line):
    """Return value, digits and version for a line of the table."""
    with mp.workdps(PRECISION):
        names = "sample_rate", "noise_multiplier", "steps", "delta"
        run = [mpf(line[name]) for name in names]
        one, two = solve(*run, mpf(1)), solve(*run, mpf("0.8"))
        agree = int(-mp.log10(abs(one / two - 1) + mpf(10) ** -30))
        digits = min(agree - 1, DIGITS)
        value = mpmath.nstr(one, digits, min_fixed=-9, max_fixed=9)
    print(*run, value, "agree to", agree, flush=True)
    version = f"mpmath {mpmath.__version__}, {PRECISION} digits"
    return {"value": value, "digits": digits, "version": version}


if __name__ == "__main__":
    table = Path(__file__).with_name("sampled_gaussian_epsilon.csv")
    with table.open(newline="") as file:
        lines = list(csv.DictReader(file))
    due = [line for line in lines if line["source"] in (SOURCE, "")]
    with Pool() as pool:
        for line, values in zip(due, pool.map(computed, due, chunksize=1), strict=True):
            line |= {"source": SOURCE, **values}
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
