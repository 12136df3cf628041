r"""Composition of the sampled Gaussian by a contour integral, with certified bounds.

With the privacy loss L of one step, M(z) = E_P e^{zL}, K = log M, any lambda > 0 and
z = lambda + it, delta after T steps is

.. math:: \delta_T(\varepsilon) = \frac1{2\pi}\int M(z)^T e^{-z\varepsilon} \frac{dt}{z(1+z)}.

The trapezoidal sum S with step h = 2 pi / P is exactly :math:`\sum_m e^{\lambda mP}
\delta_T(\varepsilon + mP)`: delta plus aliases, all non-negative. Bounds on errors (`Charges`):

* aliases, for the lower bound: :math:`\delta_T(\varepsilon) \le c(\mu)e^{TK(\mu)-\mu\varepsilon}`,
  :math:`c(\mu)=\mu^\mu/(1+\mu)^{1+\mu}`, for the best mu on either side of lambda;
* truncation at t: :math:`e^{-\lambda\varepsilon}B(t)^T/(\pi t)`, where B(t) >= |M| beyond t;
* rounding, amplified T-fold by the power, and the error of the sums over x that give M.

The integral is from Alghamdi et al. (2023); the aliases follow from Poisson summation.
"""

from dplearn.engine.contour.epsilon import Ends, brackets, deltas, worse_brackets
from dplearn.engine.contour.pair import SampledGaussian
from dplearn.engine.contour.table import log_moments

__all__ = ["Ends", "SampledGaussian", "brackets", "deltas", "log_moments", "worse_brackets"]
