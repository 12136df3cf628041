"""Sums over a random subset of given records: the good case, the bad case, and the worst."""

from dplearn.core.logspace import log_bernoulli, log_sum
from dplearn.teaching.book.chapters.families import renyi_gaussian
from dplearn.teaching.book.chapters.sampled_gaussian import sampled_gaussian_rdp_integer
from dplearn.teaching.book.chapters.sampling import log_mixture, sum_counts
from dplearn.teaching.book.kit.vocabulary import *

_SUBSET = {"records": Whole(2, 9),
           "batch": Drawn(lambda rng, records: int(rng.integers(1, records + 1)))}
_NOISY = {"order": Log(1.1, 40.0), "noise_std": Log(0.3, 10.0), **_SUBSET}
_ALIKE = Drawn(lambda rng, records: int(rng.integers(records)))
_MANY = {"records": 10**6, "batch": 1000}
_BAD, _GOOD = {**_MANY, "noise_std": 0.5, "alike": 0}, {**_MANY, "noise_std": 5.0, "alike": 500_000}


def _by_all_subsets(*, order, noise_std, records, batch, alike):
    others = [0.5] * alike + [-0.5] * (records - 1 - alike)
    pair = (sum_counts(itertools.combinations([x, *others], batch)) for x in (0.5, -0.5))
    p, q = (log_mixture(means, noise_std) for means in pair)
    far = 40 * noise_std + order + batch
    return max(oracles.density_renyi(*pair, order, -far, far) for pair in ((p, q), (q, p)))


def _normal(*, order, noise_std, records, batch, alike):
    """Return normal laws with the mean of the sum and the variance of a sample with replacement."""
    rates = ((alike + 1) / records, alike / records)
    laws = [(batch * p, math.sqrt(noise_std**2 + batch * p * (1 - p))) for p in rates]
    return max(
        renyi_gaussian(order=order, mean_p=p[0], std_p=p[1], mean_q=q[0], std_q=q[1])
        for p, q in (laws, laws[::-1])
    )


def _log_excess(order, noise_std, records, batch, alike):
    """log of E_Q[(P/Q)^order] - 1, by the trapezoidal rule over the noisy sum in `sampled`.

    Of m records drawn the ones have the law Hyp(n, k, m) under Q, Hyp(n, k + 1, m) under P. Their
    polynomials in z = e^{x / sigma^2} have real zeros (Vatutin & Mikhailov 1982), which interlace:
    P/Q is a + bz + a sum of cz / (z + r), none negative. So at x + iy its modulus is at most that
    at x divided by cos(y / 2 sigma^2).
    """
    first, last = max(0, batch - records + alike), min(batch, alike)
    # Q by ratios of neighbours: factorials of a million records would cost nine digits.
    c = np.arange(first, last, dtype=float)
    up = np.log((alike - c) * (batch - c)) - np.log((c + 1) * (records - alike - batch + c + 1))
    log_q = np.append(0.0, np.cumsum(up))
    log_q -= log_sum(log_q)
    # P / Q - 1 of each count, without cancellation; where Q is 0, P is counted in its place.
    count = np.append(c, float(last))
    more = (count - first) * (records + 1) + (first * (records + 1) - batch * (alike + 1))
    rise = np.maximum(more / ((alike + 1 - count) * (records - alike)), -1.0)
    with np.errstate(divide="ignore"):
        log_p = log_q + np.log1p(rise)
    if alike < batch:
        count, rise = np.append(count, alike + 1.0), np.append(rise, 1.0)
        log_p = np.append(log_p, log_q[-1] + math.log((batch - alike) / (records - alike)))
        log_q = np.append(log_q, -np.inf)
    # Ratios are at most (k + 1) / (k + 1 - m): what is rarer than this weighs nothing.
    largest = -math.log1p(-batch / (alike + 1)) if batch <= alike else math.inf
    near = np.maximum(log_p, log_q) > max(-80 - np.max(order) * largest, -1e300)
    count, log_q, log_p, rise = count[near], log_q[near], log_p[near], rise[near]
    seen = np.isfinite(log_q)
    # In units of noise_std: at height y the integrand is e^{growth y^2 / 2} times as large at most.
    growth = 1 + 0.3 * np.max(order) / noise_std**2
    strip = min(0.5 * math.pi * noise_std, math.sqrt(78.0 / growth))
    step = noise_std * 2 * math.pi / (0.5 * growth * strip + 39.0 / strip)
    reach = 9.5 * noise_std
    x = np.arange(count[0] - reach, count[-1] + np.max(order) + reach, step)[:, None]
    noise = -0.5 * ((x - count) / noise_std) ** 2
    density, above = log_sum(log_q + noise), log_sum(log_p + noise)
    weights = np.where(seen, log_q, log_p) + noise - density[:, None]
    excess = np.exp(np.minimum(weights, 600.0)) @ rise
    small = np.clip(excess, -0.5, 0.5)
    log_f = np.where(small == excess, np.log1p(small), above - density)
    terms = log_bernoulli(np.atleast_1d(order)[:, None], excess, log_f) + density
    return log_sum(terms) + math.log(step / noise_std / math.sqrt(2 * math.pi))


@formula("G-E12", "A sum over a random subset: what two given data sets leak")
@given("order > 1 and noise_std > 0 and alike < records and batch <= records", _NOISY, alike=_ALIKE)
@identity("Wang, Balle & Kasiviswanathan 2019, Section 5, both cases made exact", _by_all_subsets,
          tolerance=1e-8, absolute=1e-12, points=40)
@printed("0.00005359671370", order=2, at=_BAD)
@printed("0.00000000363967", order=2, at=_GOOD)
@printed("1.5964117081", order=1000, noise_std=3.0, records=60, batch=6, alike=6)
@wrong("normal", "A mixture is not normal: its divergence is finite at every order.", _normal,
       says=r"D_\alpha\Big(N\big(-\tfrac12 + \tfrac{k+1}n, \tfrac{\sigma^2}{m^2} + "
       r"\dots\big)\,\Vert\,N\big(-\tfrac12 + \tfrac kn, \dots\big)\Big) \text{ for the means}")
@wrong("far-below", "Where the noise is larger than the spread of the subsets they coincide.",
       lambda order, noise_std, records, batch: 0.5 * subset_sum_rdp(order=order,
       noise_std=noise_std, records=records, batch=batch, alike=0),
       says=r"D_\alpha(\text{half ones}) \le \tfrac12D_\alpha(\text{no ones})", kind="upper",
       given="order > 1 and noise_std > 0 and 2*batch <= records", noise_std=Log(0.3, 100.0),
       batch=Drawn(lambda rng, records: int(rng.integers(1, records // 2 + 1))),
       alike=Drawn(lambda rng, records: (records - 1) // 2))
def subset_sum_rdp(*, order, noise_std, records, batch, alike):
    r"""D_\alpha\big((1-q)S + q(U+1)\,\Vert\,(1-q)S + qU\big) + \text{noise},\quad
    S \sim \mathrm{Hyp}(n-1, k, m),\ U \sim \mathrm{Hyp}(n-1, k, m-1),\ q = \tfrac mn

    Records are -1/2 or 1/2, and one turns from the first to the second. S and U count the halves
    among the others that are drawn; of both orders the larger counts.

    alike: how many of the other records are 1/2; 0 is the bad case, half of them the good one"""
    order = np.asarray(order, dtype=float)
    # Turned round, every record changes its sign.
    both = [_log_excess(order, noise_std, records, batch, k) for k in (alike, records - 1 - alike)]
    return (np.logaddexp(0.0, np.max(both, axis=0)) / (order - 1)).reshape(order.shape)[()]


@formula("G-E12b", "Variance of the mean of a random subset")
@given("records >= 2 and batch <= records and ones <= records", _SUBSET,
       ones=Drawn(lambda rng, records: int(rng.integers(records + 1))))
@identity("Cochran 1977, Sampling Techniques, Theorem 2.2", lambda records, batch, ones:
          float(np.var([np.mean(s) for s in itertools.combinations([0.5] * ones + [-0.5] * (records
          - ones), batch)])), unsafe="larger")
@printed("0.00111111", "0.00111111", records=10, batch=9, ones=1)
@printed("0.0", records=10, batch=10, ones=1)
@wrong("with-replacement", "What was drawn cannot come again; all records together do not vary.",
       "ones*(records - ones)/(records**2*batch)")
def subset_mean_variance(*, records, batch, ones):
    r"""\mathrm{Var} = \frac{k(n-k)}{n^2m}\cdot\frac{n-m}{n-1}

    For one record of 1/2 among others of -1/2 it is (n - m)/(n^2 m).

    ones: how many records are 1/2; all others are -1/2"""
    return ones * (records - ones) * (records - batch) / (records**2 * batch * (records - 1))


def worst_subset_sum_rdp(*, order, noise_std, records, batch):
    r"""Largest divergence of a subset sum over all data of -1/2 and 1/2: that of the bad case.

    Give the sum of m - 1 of the others away, and who is drawn if the record is not. What is left
    is the sampled Gaussian or its reverse, whose divergence is smaller; joint quasi-convexity.
    """
    return sampled_gaussian_rdp_integer(
        order=order, noise_multiplier=noise_std, sample_rate=batch / records
    )


enter(worst_subset_sum_rdp,
      formula("G-E12c", "A sum over a random subset: the supremum over the data",
              statement=r"\sup_{D\sim D'} D_\alpha(M(D)\,\Vert\,M(D')) = "
              r"D_\alpha\big((1-q)N(0)+qN(1)\,\Vert\,N(0)\big),\quad q = \tfrac mn"),
      given("floor(order) == order and noise_std > 0 and batch <= records", _NOISY,
            order=Whole(2, 40)),
      identity("Mironov, Talwar & Zhang 2019, Theorem 5, and quasi-convexity",
               lambda order, noise_std, records, batch: max(_by_all_subsets(order=order,
               noise_std=noise_std, records=records, batch=batch, alike=alike) for alike in
               range(records)), tolerance=1e-8, absolute=1e-12, points=20),
      wrong("one-pass", "Moments take a supremum over all data; those of one's own are smaller.",
            subset_sum_rdp, says=r"K(\lambda) \text{ is found by one pass over the data}",
            given="noise_std > 0 and batch <= records and alike < records", alike=_ALIKE))
