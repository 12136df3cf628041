"""The truth about divergences: worst events, integrals over densities, sums over outcomes."""

import math

import numpy as np
from numpy.typing import NDArray

from dplearn.book.kit import oracles
from dplearn.book.kit.entry import Interval
from dplearn.ground.solve import first_true


def largest_distance(*, kl):
    """The largest total variation distance of two coins with this KL divergence."""
    q = np.linspace(0.001, 0.999, 999)

    def farther(distance: NDArray) -> NDArray:
        p = q + distance
        with np.errstate(divide="ignore", invalid="ignore"):
            tails = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
        return p * np.log(p / q) + tails > kl

    return float(np.max(first_true(farther, lower=0.0, upper=1 - q)))


def mean_loss_of_coins(*, epsilon):
    """KL of randomized response, the pair that attains the maximum."""
    return oracles.mean_loss(*oracles.randomized_response(epsilon))


def renyi_after_kernel(*, p, q, kernel, order):
    """Divergence of the outputs, a mass at a time."""
    laws = []
    for law in (p, q):
        out = [math.fsum(x * row[k] for x, row in zip(law, kernel, strict=True)) for k in range(3)]
        laws.append(np.divide(out, math.fsum(out)))  # which may miss 1 by a rounding
    return oracles.finite_renyi(laws[0], laws[1], order)


def renyi_of_normals(*, order, mean_p, std_p, mean_q, std_q):
    """Divergence of two Gaussians by quadrature.

    Nothing is said where the variance of the integrand is all but infinite: it falls off too far
    out, and its exponent is a difference of numbers without the digits for it.
    """
    inverse = order * std_q**2 + (1 - order) * std_p**2
    if 0 < inverse < 1e-3 * order * std_q**2:
        return Interval(0.0, math.inf)
    p, q = oracles.log_normal(mean_p, std_p), oracles.log_normal(mean_q, std_q)
    return oracles.density_renyi(p, q, order, -1e6, 1e6)


def renyi_of_laplace(*, order, scale):
    """Divergence of two Laplace laws at distance 1 by quadrature."""
    p, q = (oracles.log_laplace(x, scale) for x in (0.0, 1.0))
    far = 800.0 * scale + 1.0
    return oracles.density_renyi(p, q, order, -far, far, kinks=[0.0, 1.0])


def heavy_tail(*, order):
    """D_order of a Laplace law from a Gaussian; above order 1 the integrand grows for ever."""
    far = 60.0 + (4.0 / (order - 1) if order > 1 else 0.0)
    laws = oracles.log_laplace(), oracles.log_normal()
    return oracles.density_renyi(*laws, order, -far, far, kinks=[0.0])
