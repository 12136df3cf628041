"""Write sampled_gaussian_epsilon.csv: epsilon of Poisson-subsampled Gaussian runs.

Method, independent of the package: with M(z) = E[exp(z L)], L the privacy loss of one
step (one record removed), for every lam > 0

    delta(eps) = (1 / 2 pi) * integral over t of M(z)^T exp(-z eps) / (z (1 + z)),  z = lam + i t.

The other direction, one record added, is smaller for this mechanism and is not computed.
Both integrals are trapezoidal sums in 40-digit arithmetic; the inner one runs along the
line Im x = eta, where the integrand does not oscillate. Each epsilon is found twice, with
different lam, period and steps. All errors of the sums change between the two runs, so the
digits on which they agree are digits of the truth; at most 16 of them are written.

    python tests/golden/make_sampled_gaussian_epsilon.py     (a quarter of an hour on two cores)

Rows marked "tabulated" have few steps and need too many nodes here; they are copied from an
earlier computation of the same kind, with the digits on which its two runs agreed.
"""

import csv
from multiprocessing import Pool
from pathlib import Path

import mpmath
from mpmath import mp, mpc, mpf

PRECISION = 40
TAIL = 75  # exp(-75) = 3e-33: what is left out of each sum, relative to what is kept
DIGITS = 16
HEADER = [
    "setting",
    "noise_multiplier",
    "sample_rate",
    "steps",
    "delta",
    "adjacency",
    "value",
    "digits",
    "source",
    "version",
]

SETTINGS = {  # name: noise_multiplier, sample_rate, delta
    "S1": ("1.1", "256/60000", "1e-5"),
    "S2": ("4", "0.01", "1e-5"),
    "S3": ("0.8", "0.001", "1e-6"),
    "S4": ("0.5", "0.01", "1e-6"),
    "S5": ("2", "0.1", "1e-5"),
}
GRID = [
    (name, steps, delta)
    for name, (_, _, delta) in SETTINGS.items()
    for steps in (100, 1000, 10**4, 10**5, 10**6)
    if (name, steps) != ("S3", 100)
]
SMALL_DELTA = [
    ("S1", 1000, "1e-10"),
    ("S1", 1000, "1e-20"),
    ("S1", 1000, "1e-30"),
    ("S5", 1000, "1e-12"),
    ("S5", 1000, "1e-15"),
    ("S5", 1000, "1e-20"),
    ("S5", 1000, "1e-30"),
    ("S5", 1000, "1e-100"),
    ("S2", 10**4, "1e-15"),
    ("S2", 10**4, "1e-50"),
    ("S4", 1000, "1e-20"),
    ("S3", 10**5, "1e-12"),
    ("S1", 30000, "1e-12"),
    ("S1", 30000, "1e-14"),
    ("S5", 30000, "1e-11"),
    ("S3", 30000, "1e-11"),
]
OTHER = [  # runs that papers and libraries quote; see data/published.csv
    ("1", "0.01", 1000, "1e-5"),
    ("1", "0.01", 10**4, "1e-5"),
    ("1", "0.1", 1000, "1e-5"),
    ("1", "0.001", 1000, "1e-5"),
    ("1", "0.001", 10**5, "1e-5"),
    ("1.1", "256/60000", 14063, "1e-5"),
    ("1.3", "256/60000", 3516, "1e-5"),
    ("0.7", "256/60000", 10547, "1e-5"),
    ("1.1", "256/60000", 235, "1e-5"),
    ("1.1", "256/60000", 469, "1e-5"),
    ("0.7", "240/60000", 11250, "1e-5"),
    ("1.1", "240/60000", 15000, "1e-5"),
    ("1.3", "240/60000", 3750, "1e-5"),
    ("1.3", "240/60000", 250, "1e-5"),
    ("1.5", "0.04", 2249, "1e-5"),
    ("1.5", "0.04", 2250, "1e-5"),
    ("1.06", "256/60000", 4688, "1e-5"),
    ("0.638", "256/60000", 16407, "1e-5"),
    ("4", "0.01", 40000, "1e-5"),
    ("2", "0.01", 10**4, "1e-6"),
    ("2", "0.01", 10**5, "1e-6"),
    ("2", "0.01", 10**4, "1e-5"),
    ("1", "0.01", 10**4, "1e-6"),
    ("1", "0.02", 10**4, "1e-6"),
    ("10", "4096/50000", 875, "1e-5"),
    ("21.1", "16384/50000", 250, "1e-5"),
    ("2.5", "16384/1281167", 71589, "8e-7"),
    ("0.5", "1/10000", 10**4, "1e-6"),
    ("1.28997", "0.04", 2000, "1e-5"),
    ("1.3459", "0.04", 2250, "1e-5"),  # epsilon near 8
    ("2", "0.01", 10**4, "0.01022491122"),
    ("2", "0.01", 10**5, "0.39205728965"),  # near 1
    ("2", "0.01", 10**4, "0.02285033960"),
    ("1", "0.01", 10**4, "0.23914296154"),  # 0.8 and 1
    ("2", "0.02", 10**4, "0.14991732966"),
]
TABULATED = [
    ("S1", 10, "0.1016741364393", 12),
    ("S2", 10, "0.02405446370803448", 16),
    ("S5", 10, "0.7984673843006732", 16),
    ("S3", 100, "0.26033709434", 11),
]


def loss(x, q, s):
    """Privacy loss at the output x."""
    return mp.log(1 - q + q * mp.exp((2 * x - 1) / (2 * s**2)))


def log_moment(lam, q, s):
    """log M(lam) for real lam, to about ten digits: only for planning."""
    with mp.workdps(15):
        low, step = -9 * s, s / 8
        count = int((18 * s + 1 + lam) / step)
        nodes = [low + step * j for j in range(count)]
        terms = [(1 + lam) * loss(x, q, s) - x**2 / (2 * s**2) for x in nodes]
        top = max(terms)
        total = mp.fsum(mp.exp(t - top) for t in terms)
        return top + mp.log(total * step / (s * mp.sqrt(2 * mp.pi)))


def plan(q, s, steps, delta):
    """Bound on epsilon, abscissa near the saddle point, period with negligible aliases."""
    grid = [mpf(2) ** (mpf(j) / 4) for j in range(-20, 44)]
    table = [(lam, steps * log_moment(lam, q, s)) for lam in grid]
    target = mp.log(delta)
    eps = min(
        (k + lam * mp.log(lam) - (1 + lam) * mp.log(1 + lam) - target) / lam for lam, k in table
    )
    lam = min(table, key=lambda row: row[1] - row[0] * eps - mp.log(row[0] * (1 + row[0])))[0]

    def alias(period):
        """Log of the larger of the two nearest aliases, by Markov's inequality."""
        right = min(k - mu * (eps / 2 + period) + lam * period for mu, k in table if mu > lam)
        left = [k - mu * eps / 2 - (lam - mu) * period for mu, k in table if mu < lam]
        return max(right, min([-lam * period, *left]))

    period = mpf(1)
    while alias(period) > target - TAIL:
        period *= mpf("1.1")
    return eps, lam, period


def powers(q, s, steps, lam, period, shrink):
    """M(lam + i t)^T at t = 0, h, 2h, ... with h = 2 pi / period, until negligible."""
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
    """epsilon with delta(epsilon) = delta; `scale` changes every numerical setting."""
    eps, lam, period = plan(q, s, steps, delta)
    lam, period = lam * scale, period * (2 - scale) * (2 - scale)
    log_top, found = powers(q, s, steps, lam, period, shrink=scale)
    h = 2 * mp.pi / period
    z = [mpc(lam, h * k) for k in range(len(found))]
    weighted = [g / (a * (1 + a)) for g, a in zip(found, z, strict=True)]
    weighted[0] /= 2

    def excess(e):
        """log delta(e) less the log of the delta asked for."""
        total = mp.fsum(w * mp.expj(-h * k * e) for k, w in enumerate(weighted))
        return log_top - lam * e + mp.log(h / mp.pi * total.real) - mp.log(delta)

    return mp.findroot(excess, (eps, eps * mpf("0.99")), tol=1e-50)


def fraction(text):
    top, _, bottom = text.partition("/")
    return mpf(top) / mpf(bottom or 1)


def row(job):
    """One line of the table."""
    _, noise, rate, steps, delta = job
    with mp.workdps(PRECISION):
        run = fraction(rate), mpf(noise), steps, mpf(delta)
        one, two = solve(*run, mpf(1)), solve(*run, mpf("0.8"))
        agree = int(-mp.log10(abs(one / two - 1) + mpf(10) ** -30))
        digits = min(agree - 1, DIGITS)
        value = mpmath.nstr(one, digits, min_fixed=-9, max_fixed=9)
    print(*job, value, "agree to", agree, flush=True)
    source = "contour integral, make_sampled_gaussian_epsilon.py"
    version = f"mpmath {mpmath.__version__}, {PRECISION} digits"
    return [*job, "add_remove", value, digits, source, version]


def main():
    jobs = [(n, *SETTINGS[n][:2], t, d) for n, t, d in GRID + SMALL_DELTA]
    jobs += [("", *job) for job in OTHER]
    with Pool() as pool:
        rows = pool.map(row, jobs, chunksize=1)
    origin = ("tabulated: contour integral, two runs", "mpmath 1.3.0, 28 to 40 digits")
    for name, steps, value, digits in TABULATED:
        noise, rate, delta = SETTINGS[name]
        rows.append([name, noise, rate, steps, delta, "add_remove", value, digits, *origin])
    target = Path(__file__).with_name("sampled_gaussian_epsilon.csv")
    with target.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


if __name__ == "__main__":
    main()
