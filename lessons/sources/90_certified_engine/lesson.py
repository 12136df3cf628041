# %% [markdown]
# # 90 The certified engine
#
# *An appendix: derive, with pencil and paper, every inequality behind the numbers of the PLD accountant.*
#
# **After this appendix you can**
#
# 1. say what a two-sided certificate is, and why bounds on one step survive a thousand steps;
# 2. rederive the contour engine: the integral, its exact trapezoidal sum, and a bound for everything that is cut off;
# 3. rederive the lattice engine: chords above, moved cells below, a tilted Fourier transform;
# 4. rebuild both in about a hundred lines of NumPy, and say which of their claims are theorems and which are engineering;
# 5. prove what an epoch of shuffled batches leaks at most if it leaves a record out.
#
# * **Time** three evenings, one per part; the computer needs a few seconds of them.
# * **You need** lesson 03 (privacy loss, $\delta(\varepsilon)$), lesson 05 (Rényi divergence), convolution, and from complex analysis Cauchy's theorem.
# * **Beside it** [the explorer at this appendix's numbers](explorer:?mechanism=gaussian&sampling=poisson&noise_multiplier=2&sample_rate=0.1&delta=1e-5&steps=10000&here=1000); the modules `dplearn.engine.contour`, `dplearn.engine.lattice.laws` and `dplearn.engine.lattice`, which do the same with more care. Nothing below depends on them.
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `eps`, `delta` | $\varepsilon$, $\delta$ | the guarantee; also $x=e^{\varepsilon}$ | nats, probability |
# | `steps` | $T$ | number of releases | none |
# | `lam`, `mu` | $\lambda$, $\mu$ | tilts: real parts at which a transform is taken | 1/nats |
# | `mgf` | $M$, $K$ | $M(z)=\mathbb E_P\,e^{zL}$ of one step, and its logarithm | none |
# | `period` | $\Lambda$ | $2\pi$ / step of the trapezoidal sum | nats |
# | `tau` | $\tau$ | step of a trapezoidal sum over outputs $x$ | of the output |
# | `h` | $h$ | width of a lattice cell | nats |

# %% [markdown]
# ## 1 The question
#
# A thousand steps of the sampled Gaussian, noise multiplier 2, sample rate 0.1, at $\delta=10^{-5}$. The PLD accountant answers with two numbers:

# %%
import json
from dataclasses import replace

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import norm

from dplearn import DPSGD
from dplearn.accountants import ACCOUNTANTS
from dplearn.certificates import NotProvedError, certify, check
from dplearn.core.guarantee import round_down, round_up
from dplearn.engine.contour import SampledGaussian, brackets
from dplearn.mechanisms import Gaussian, Laplace, PoissonSubsampled
from dplearn.teaching.classroom import pictures

figures = pictures("90")

# %% [markdown]
# The accountant only hands out the numbers, and this appendix proves their digits.

# %%
step = PoissonSubsampled(Gaussian(2.0), sample_rate=0.1)
answer = ACCOUNTANTS["pld"]().epsilon(step, delta=1e-5, steps=1000)
print(f"{round_down(answer.lower, 8)} <= epsilon <= {round_up(answer.epsilon, 8)}")

# %% [markdown]
# Both ends agree but for the last digit shown, where one is rounded down and the other up. Why should you believe either of them? There is a sum of a thousand random losses behind them, whose law nobody can write down; there are integrals replaced by sums, sums cut off, and rounding in every operation.
#
# A **certificate** for $\delta_T(\varepsilon)$ is a pair of functions with $\text{lower}(\varepsilon)\le\delta_T(\varepsilon)\le\text{upper}(\varepsilon)$ at *every* $\varepsilon$. Since $\delta_T$ decreases, an $\varepsilon$ with $\text{upper}(\varepsilon)\le\delta$ is large enough and one with $\text{lower}(\varepsilon)\ge\delta$ is not too large. So solving two equations brackets the answer, and *every* error is a term that we add to the upper function or subtract from the lower one. The rest of this appendix is the list of these terms.

# %% [markdown]
# ## 2 Order survives composition
#
# Write the profile of a pair $(P,Q)$ as a function of $x=e^{\varepsilon}$: $v(x)=\mathbb E_P(1-xe^{-L})_+$. It is convex and decreasing, with $v(0)=1$. If two steps have independent losses $L_1$, $L_2$, condition on the second:
#
# $$(v_1\otimes v_2)(x)=\mathbb E\big(1-xe^{-L_1-L_2}\big)_+=\mathbb E_{L_2}\big[\,v_1(xe^{-L_2})\,\big].\tag{1}$$
#
# Read (1) for a fixed second law. The right side is an *average of values of $v_1$*. So if $v_1\le w_1$ at every point, then $v_1\otimes v_2\le w_1\otimes v_2$. The left side is symmetric, so the same holds in the other argument, and by induction:
#
# > **Order survives.** If $v\le w$ at every point, then $v^{\otimes T}\le w^{\otimes T}$ at every point.
#
# The proof uses nothing about $Q$. It does not use that masses add up to 1: (1) holds for any finite measure, so a law from which some mass was thrown away is a legal lower bound. Nor does it use that one loss is larger than the other: only the profiles are compared. And if the second step looks at the outcome of the first, $v_2$ depends on that outcome; inside the average, replace it by the bound that holds for all outcomes, and the line still stands, which is adaptive composition.
#
# A law is a pair of arrays, losses and masses. Composition:


# %%
def compose(a, b):
    return np.add.outer(a[0], b[0]).ravel(), np.multiply.outer(a[1], b[1]).ravel()


# %% [markdown]
# The profile at an array of $\varepsilon$, straight from its definition:


# %%
def profile(law, eps):
    losses, masses = law
    return np.maximum(0, 1 - np.exp(np.subtract.outer(eps, losses))) @ masses


# %% [markdown]
# *Experiment.* In the middle, randomised response at local $\varepsilon = 1$: two losses, $\pm1$. Above it, the same at 1.3. Below it something that is no probability law at all: the loss $+1$ lowered to 0.8, the loss $-1$ dropped.


# %%
def coin(eps):
    return np.array([-eps, eps]), np.array([1, np.exp(eps)]) / (1 + np.exp(eps))


# %% [markdown]
# The three laws:

# %%
middle, above = coin(1.0), coin(1.3)
below = np.array([0.8]), middle[1][1:]
print("       mean loss   mass")
for name, (losses, masses) in {"below": below, "middle": middle, "above": above}.items():
    print(f"{name:6} {losses @ masses:9.4f}   {masses.sum():.4f}")

# %% [markdown]
# The lower law has the *larger* mean loss. Never mind: its profile is below, and that is what counts. We compose each law five times and compare everywhere.

# %%
grid = np.linspace(-3, 7, 201)
one = [profile(law, grid) for law in (below, middle, above)]

# %% [markdown]
# Four more compositions make five steps:

# %%
laws = [below, middle, above]
for _ in range(4):
    laws = [compose(law, single) for law, single in zip(laws, (below, middle, above), strict=True)]
five = [profile(law, grid) for law in laws]

# %% [markdown]
# Are the three in order at every point of the grid, before and after?

# %%
ordered = [bool(np.all(a <= b + 1e-12) and np.all(b <= c + 1e-12)) for a, b, c in (one, five)]
print(f"ordered at all {grid.size} points: one step {ordered[0]}, five steps {ordered[1]}")

# %% [markdown]
# The picture after five steps:

# %%
figures.ordered(grid, five, [float(profile(law, np.array([2.0]))[0]) for law in laws])

# %% [markdown]
# For the upper end it is enough to bound a *dominating* pair, one whose profile is at least that of every pair of neighbours. For the lower end the pair must really occur, as it does for the sampled Gaussian: a lower bound for a pair that only dominates says nothing about the mechanism. And there are two directions, one record added and one removed; below we follow "removed". The answer is the larger, so the upper end must hold for both, while either lower end will do.
#
# # Part one: the contour
#
# ## 3 One integral
#
# Multiply the hockey stick by $e^{z\varepsilon}$ with $\operatorname{Re}z=\lambda>0$ and integrate over all real $\varepsilon$:
#
# $$\int_{-\infty}^{L}e^{z\varepsilon}\big(1-e^{\varepsilon-L}\big)\,d\varepsilon=\frac{e^{zL}}{z}-\frac{e^{zL}}{1+z}=\frac{e^{zL}}{z(1+z)}.$$
#
# Average over $L$: the two-sided Laplace transform of $\delta_1$ is $M(z)/(z(1+z))$. Losses of $T$ independent steps add, so $M$ becomes $M^T$. On the line $z=\lambda+it$ this is the Fourier transform of $e^{\lambda\varepsilon}\delta_T(\varepsilon)$, and because of the factor $1/z^2$ it may be inverted:
#
# $$\delta_T(\varepsilon)=\frac1{2\pi}\int_{-\infty}^{\infty}\frac{M(z)^T\,e^{-z\varepsilon}}{z(1+z)}\,dt,\qquad z=\lambda+it.\tag{2}$$
#
# Any $\lambda>0$ with $M(\lambda)<\infty$ will do. The sum of a thousand losses has become a *power*.
#
# *Experiment.* For Gaussian noise $M(z)=e^{z(1+z)\mu^2/2}$ with $\mu=1/\sigma$, and lesson 03 has the closed form. Three short functions: the kernel,


# %%
def kernel(z):
    return 1 / (z * (1 + z))


# %% [markdown]
# the transform of one normal step,


# %%
def plain(z, mu=1.0):
    return np.exp(z * (1 + z) * mu**2 / 2)


# %% [markdown]
# The closed form to compare with:


# %%
def closed(eps, mu=1.0):
    return norm.cdf(mu / 2 - eps / mu) - np.exp(eps) * norm.cdf(-mu / 2 - eps / mu)


# %% [markdown]
# The integrand at $-t$ is the conjugate of that at $t$, so half the line and the real part are enough.


# %%
def integrand(t, eps, lam):
    z = lam + 1j * t
    return (plain(z) * kernel(z) * np.exp(-z * eps)).real


# %% [markdown]
# The choice of $\lambda$ should not matter.

# %%
for lam in (0.5, 1.5, 4.0):
    value = quad(integrand, 0, 12, args=(2.0, lam), epsabs=1e-14)[0] / np.pi
    print(f"lambda = {lam}: delta(2) = {value:.10f}")
print(f"closed form:  delta(2) = {closed(2.0):.10f}")

# %% [markdown]
# ## 4 The sum is the answer plus aliases
#
# A computer adds, so take the trapezoidal sum of (2) with step $2\pi/\Lambda$. One would expect an approximation, but **Poisson's summation formula** says what it *is*: for the transform of $g(\varepsilon)=e^{\lambda\varepsilon}\delta_T(\varepsilon)$, the sum is $\sum_m g(\varepsilon+m\Lambda)$. Divide by $e^{\lambda\varepsilon}$:
#
# $$S(\varepsilon)=\frac1\Lambda\sum_{k\in\mathbb Z}\frac{M(z_k)^Te^{-z_k\varepsilon}}{z_k(1+z_k)}=\delta_T(\varepsilon)+\sum_{m\ne0}e^{\lambda m\Lambda}\,\delta_T(\varepsilon+m\Lambda),\qquad z_k=\lambda+\tfrac{2\pi i k}{\Lambda}.\tag{3}$$
#
# Every alias is non-negative, so the sum over all $k$ is an *upper bound, for every $\Lambda$*, and only the lower side pays. How much? From $(1-e^{-s})_+\le c(\mu)\,e^{\mu s}$ for all real $s$, where the best constant is $c(\mu)=\mu^\mu/(1+\mu)^{1+\mu}$ (put $u=e^{-s}$ and maximise $(1-u)u^\mu$),
#
# $$\delta_T(\varepsilon)\le c(\mu)\,e^{TK(\mu)-\mu\varepsilon}\quad\text{for every }\mu>0.\tag{4}$$
#
# This is the sharper conversion of lesson 05 at order $1+\mu$. On the right of $\varepsilon$ use a $\mu>\lambda$, on the left a $\mu<\lambda$ or simply $\delta\le1$; the aliases are geometric series:
#
# $$\sum_{m\ge1}\le\frac{c(\mu)\,e^{TK(\mu)-\mu\varepsilon}}{e^{(\mu-\lambda)\Lambda}-1},\qquad\sum_{m\le-1}\le\frac{1}{e^{\lambda\Lambda}-1}\ \text{ or }\ \frac{c(\mu)\,e^{TK(\mu)-\mu\varepsilon}}{e^{(\lambda-\mu)\Lambda}-1}.$$


# %%
def line_sum(eps, lam, period, mgf, last=12.0):
    k = np.arange(int(last * period / (2 * np.pi)) + 1)
    z = lam + 2j * np.pi / period * k
    terms = (mgf(z) * kernel(z) * np.exp(-z * eps)).real
    return (2 * terms.sum() - terms[0]) / period


# %% [markdown]
# For the bound we need $\ln c(\mu)$,


# %%
def log_c(mu):
    return mu * np.log(mu) - (1 + mu) * np.log1p(mu)


# %% [markdown]
# It takes $\ln M^T$ as a function of real $\mu$. Many $\mu$ are tried on either side, in logarithms, and the best is kept.


# %%
def alias_bound(eps, lam, period, log_mgf):
    mu = lam * np.geomspace(0.01, 3, 300)
    gap = np.clip(np.abs(mu - lam) * period, 1e-6, 600)
    logs = log_c(mu) + log_mgf(mu) - mu * eps - np.log(np.expm1(gap))
    left = min(logs[mu < lam].min(), -np.log(np.expm1(lam * period)))
    return np.exp(logs[mu > lam].min()) + np.exp(left)


# %% [markdown]
# *Experiment.* At $\varepsilon=2$, $\lambda=1.5$, with few nodes. Here the aliases are known exactly, from the closed form.

# %%
periods = np.array([2.0, 3.0, 4.0, 6.0, 8.0, 10.0])
excess = np.array([line_sum(2.0, 1.5, P, plain) - closed(2.0) for P in periods])
m = np.array([k for k in range(-8, 9) if k])

# %% [markdown]
# The aliases from the closed form, and their bound:

# %%
alias_at_periods = np.array([np.sum(np.exp(1.5 * m * P) * closed(2.0 + m * P)) for P in periods])
plain_k = lambda mu: mu * (1 + mu) / 2
bound_at_periods = np.array([alias_bound(2.0, 1.5, P, plain_k) for P in periods])

# %% [markdown]
# Side by side:

# %%
print("period   sum - delta       aliases      bound")
for row in zip(periods, excess, alias_at_periods, bound_at_periods, strict=True):
    print("{:6g}   {:.8f}    {:.8f}   {:.3g}".format(*row))

# %% [markdown]
# The two middle columns agree in every digit: (3) is an identity, not an estimate. And the aliases vanish like $e^{-\lambda\Lambda}$.

# %%
fine = np.linspace(2, 12, 81)
alias = [np.sum(np.exp(1.5 * m * P) * closed(2.0 + m * P)) for P in fine]
bounds = [alias_bound(2.0, 1.5, P, plain_k) for P in fine]

# %% [markdown]
# Their ratio to $\delta(2)$:

# %%
figures.longer_period(fine, np.divide(alias, closed(2.0)), np.divide(bounds, closed(2.0)))

# %% [markdown]
# ## 5 The saddle, or why $10^{-30}$ is an ordinary input
#
# Equation (2) holds for every $\lambda$, but not all are equally good numerically. On the line the integrand is largest at $t=0$, where it is
#
# $$\frac{e^{TK(\lambda)-\lambda\varepsilon}}{\lambda(1+\lambda)}.$$
#
# Its logarithm is convex in $\lambda$. If this peak is $10^{20}$ times the answer, twenty digits must cancel, and double precision has sixteen. So go to the $\lambda$ where the peak is *smallest*: there the derivative along the real axis vanishes, therefore (an analytic function has one derivative) also the derivative along the line. The phase stands still, and the integrand is a bell without oscillation: a **saddle point**.
#
# $$TK'(\lambda)-\varepsilon-\frac1\lambda-\frac1{1+\lambda}=0,\qquad\delta_T(\varepsilon)\approx\frac{e^{TK(\lambda)-\lambda\varepsilon}}{\lambda(1+\lambda)\sqrt{2\pi\big(TK''+\lambda^{-2}+(1+\lambda)^{-2}\big)}}.$$
#
# *Experiment.* The $\varepsilon$ of Gaussian noise at $\delta=10^{-30}$, and the same sum with different $\lambda$.

# %%
(reference,) = Gaussian(1.0).profiles()
far = float(reference.epsilon(1e-30))
truth = float(reference.delta(far))
print(f"epsilon {far:.6f} at delta = {truth:.4g}")

# %% [markdown]
# How large is the peak at each $\lambda$, and what does the sum give?

# %%
print("lambda   peak / answer   sum")
for lam in (0.5, 2.0, 6.0, 10.0, 11.0, 13.0):
    peak = plain(lam) * np.exp(-lam * far) * kernel(lam) / truth
    error = abs(line_sum(far, lam, 40.0, plain) / truth - 1)
    print(f"{lam:6g}   {peak:13.3g}   {'right to 1e-6' if error < 1e-6 else 'noise'}")

# %% [markdown]
# Near $\lambda=11$ the peak is about the size of the answer and nothing cancels: every digit of $10^{-30}$ is there, and there would be no difference at $10^{-300}$ if we worked with logarithms. Predict before you move the slider: what does the integrand look like at $\lambda=0.5$? (It is drawn relative to its peak. In Jupyter the mouse wakes the picture up.)

# %%
figures.bells(lambda t, lam: integrand(t, far, lam), truth)

# %% [markdown]
# ## 6 The transform of one step
#
# For the sampled Gaussian, $P=(1-q)N(0,\sigma^2)+qN(1,\sigma^2)$ and $Q=N(0,\sigma^2)$, with density $\nu$. So
#
# $$e^{L}=f(x)=1-q+q\,e^{(2x-1)/2\sigma^2},\qquad M(z)=\int\nu(x)\,f(x)^{1+z}\,dx.\tag{5}$$
#
# Again a sum replaces the integral, and again a shift of the contour bounds the error. If $F$ is analytic for $|\operatorname{Im}x|\le a$, its trapezoidal sum with step $\tau$ errs by at most
#
# $$\frac{\int|F(x+ia)|\,dx+\int|F(x-ia)|\,dx}{e^{2\pi a/\tau}-1}.\tag{6}$$
#
# *(Poisson once more: the error is the sum of $\hat F(2\pi m/\tau)$ over $m\ne0$; shift the line of each integral up or down by $a$, and it shrinks by $e^{-2\pi|m|a/\tau}$.)* Where is $f^{1+z}$ analytic? Where $f\ne0$. At $x+iy$ the exponential has argument $y/\sigma^2$; as long as $|y|<\pi\sigma^2$ it cannot be negative, so $f\ne0$ and $\log f$ has one branch. That is the strip: half-width $\pi\sigma^2$.
#
# **On the real axis**, for real $z=\lambda$: $|f(x+ia)|\le f(x)$ and $|\nu(x+ia)|=e^{a^2/2\sigma^2}\nu(x)$. So the relative error is at most $2e^{a^2/2\sigma^2}/(e^{2\pi a/\tau}-1)$; for small $\tau$ the best $a$ is the edge of the strip.

# %%
sigma, q, steps = 2.0, 0.1, 1000


def ratio(x):
    return 1 - q + q * np.exp((2 * x - 1) / (2 * sigma**2))


# %% [markdown]
# The transform is a trapezoidal sum with step $\tau$ on the line $\operatorname{Im}x=\eta$ (for now $\eta=0$):


# %%
def mgf(z, tau=0.25, eta=0.0, reach=20.0):
    x = np.arange(-9.3 * sigma, 1 + reach + 9.3 * sigma, tau) + 1j * eta
    nu = np.exp(-(x**2) / (2 * sigma**2)) / (sigma * np.sqrt(2 * np.pi))
    return tau * np.exp(np.outer(1 + np.atleast_1d(z), np.log(ratio(x)))) @ nu


# %% [markdown]
# The sum runs to $9.3\sigma$ beyond the bumps, where a normal tail is below $10^{-19}$. *Experiment:* error against step,

# %%
widths = 36 / np.linspace(6, 18, 25)
exact = mgf(1.5)[0].real
seen = np.array([abs(mgf(1.5, tau)[0].real / exact - 1) for tau in widths])

# %% [markdown]
# The bound, with the best $a$ in the strip:

# %%
a = np.minimum(0.999 * np.pi * sigma**2, 2 * np.pi * sigma**2 / widths)
bound = 2 * np.exp(a**2 / (2 * sigma**2)) / np.expm1(2 * np.pi * a / widths)
print(f"step 4: error {seen[6]:.1e}, bound {bound[6]:.1e}; step 2: {seen[-1]:.0e}, {bound[-1]:.0e}")

# %% [markdown]
# More nodes, shorter steps:

# %%
figures.nodes(36 / widths, seen, bound)

# %% [markdown]
# **Away from the real $z$ axis** there is a snag: $f^{it}$ turns, faster and faster as $t$ grows, and a rule on the real axis must follow. The remedy is to sum along another line, $\operatorname{Im}x=\eta$. There, with $\theta=\arg f\in(0,\eta/\sigma^2)$,
#
# $$\big|f(x+i\eta)^{it}\big|=e^{-t\,\theta(x)}\le1\qquad\text{for all }t\ge0.\tag{7}$$
#
# Use (6) around this line with $a=\eta$. Shifting down ends on the real axis, where $|f^{1+z}|=f^{1+\lambda}$; shifting up ends at $2\eta<\pi\sigma^2$, where (7) still helps. So the error is at most $M(\lambda)\,(1+e^{2\eta^2/\sigma^2})/(e^{2\pi\eta/\tau}-1)$, **for all $t$ at once**. One set of some hundred nodes serves every $z_k$.

# %%
eta, tau = 3.0, 0.8
uniform = (1 + np.exp(2 * eta**2 / sigma**2)) / np.expm1(2 * np.pi * eta / tau)
print(f"bound for every t on the line Im x = {eta:g}: {uniform:.1e}")

# %% [markdown]
# Now $M(1.5+it)$ for growing $t$, by both rules with the same step.

# %%
print("  t   real axis   shifted line    (errors relative to M(1.5))")
for t in (0, 20, 40, 60, 80):
    best = mgf(1.5 + 1j * t, 0.05, reach=3)
    errors = [abs(mgf(1.5 + 1j * t, tau, y, 3) - best)[0] / exact for y in (0.0, eta)]
    print(f"{t:3}   " + "   ".join(f"{e:9.0e}" if e > 1e-12 else " < 1e-12 " for e in errors))

# %% [markdown]
# ## 7 One number certifies the whole tail
#
# The sum (3) has infinitely many terms. To stop at $t_n$ we need a bound on $|M(\lambda+it')|$ for *all* $t'\ge t_n$. The modulus itself does not decrease in general. But from (7), for any fixed $\eta$,
#
# $$|M(\lambda+it')|\;\le\;B_\eta(t):=e^{\eta^2/2\sigma^2}\int\nu(x)\,|f(x+i\eta)|^{1+\lambda}\,e^{-t\,\theta(x)}\,dx\qquad\text{for all }t'\ge t,$$
#
# because $\theta>0$: the right side *decreases in $t$*. With $|z(1+z)|\ge t^2$ the terms beyond $t_n$ add up to at most
#
# $$\frac1\pi\,e^{-\lambda\varepsilon}B_\eta(t_n)^T\int_{t_n}^\infty\frac{dt}{t^2}=\frac{e^{-\lambda\varepsilon}B_\eta(t_n)^T}{\pi\,t_n}.\tag{8}$$
#
# Every $\eta$ is allowed, so we try several and keep the smallest value.


# %%
def log_bound(t, lam, tau=0.1, reach=20.0):
    x = np.arange(-9.3 * sigma, 1 + reach + 9.3 * sigma, tau)
    eta = np.pi * sigma**2 * np.geomspace(0.002, 0.9, 120)[:, None]
    f = ratio(x + 1j * eta)
    logs = -((x / sigma) ** 2) / 2 + (1 + lam) * np.log(np.abs(f)) - t * np.angle(f)
    each = logsumexp(logs, axis=1) + eta[:, 0] ** 2 / (2 * sigma**2)
    return each.min() + np.log(tau / sigma / np.sqrt(2 * np.pi))


# %% [markdown]
# *Experiment.* At $T=1000$ and the saddle for $\delta=10^{-5}$, near $\lambda=2.4$. We look at $|M|^T$ and $B^T$ relative to their value at $t=0$.

# %%
lam, t = 2.4, np.linspace(0, 4, 61)
log_m = np.log(np.abs(mgf(lam + 1j * t)))
log_b = np.array([log_bound(s, lam) for s in t])

# %% [markdown]
# The $T$-th powers:

# %%
true_tail = np.exp(steps * (log_m - log_m[0]))
certified = np.exp(np.minimum(steps * (log_b - log_m[0]), 0))
assert np.all(log_b >= log_m)
print(f"at t = 4: power {true_tail[-1]:.3g}, bound {certified[-1]:.3g}")

# %% [markdown]
# Over the whole range:

# %%
figures.rest_of_the_line(t, true_tail, certified)

# %% [markdown]
# ## 8 Rounding, a thousand times
#
# Rounding is the last term. A computed $M$ is $M(1+r)$, with $|r|$ some hundred units in the last place, and its power is wrong by a factor $(1+r)^T\approx1+Tr$. So charge
#
# $$\frac1P\sum_k\left|\frac{M(z_k)^T e^{-z_k\varepsilon}}{z_k(1+z_k)}\right|\cdot T\,|r|.\tag{9}$$
#
# At the saddle the sum of moduli is hardly larger than the sum itself, another reason to go there. *Experiment.* Double precision is too good to see anything, so we spoil each $M(z_k)$ by a random relative error of at most $10^{-9}$.

# %%
rng, z = np.random.default_rng(90), lam + 2j * np.pi / 30 * np.arange(40)
values, weight = mgf(z) / mgf(lam), np.where(np.arange(40) == 0, 1, 2) * kernel(z)
spoiled = values * (1 + 1e-9 * rng.uniform(-1, 1, 40))

# %% [markdown]
# The sum with true and with spoiled values, and the charge (9):

# %%
print("    T   relative error   charge")
for T in (10, 100, 1000, 10_000):
    phase = np.exp(-1j * z.imag * 0.0083 * T)  # epsilon grows with T, to 8.3 at T = 1000
    terms, wrong = weight * values**T * phase, weight * spoiled**T * phase
    error, charge = abs((wrong - terms).sum().real), T * 1e-9 * np.abs(terms).sum()
    assert error <= 1.001 * charge
    print(f"{T:5}   {error / terms.sum().real:14.1e}   {charge / terms.sum().real:.1e}")

# %% [markdown]
# ## 9 The first bracket
#
# All terms are on the table:
#
# | | upper side | lower side | by |
# |---|---|---|---|
# | aliases | 0 | alias bound | (3), (4) |
# | end of the line | (8) | (8) | $B$ decreases |
# | quadrature in $x$, rounding | (9) | (9) | (6), a model of rounding |
#
# Together these parts are an engine. First $\lambda$: a safe $\varepsilon$ comes from (4), and the saddle belonging to it is close enough, since any $\lambda$ is *valid*. So we need $\ln M^T$ at real arguments,


# %%
def log_power(mu):
    return steps * np.log(mgf(mu).real)


# %% [markdown]
# then the best tilt for it.


# %%
def saddle(delta):
    mu = np.geomspace(0.05, 12, 300)
    safe = np.min((log_power(mu) + log_c(mu) - np.log(delta)) / mu)
    return safe, mu[np.argmin(log_power(mu) - mu * safe + np.log(kernel(mu)))]


# %% [markdown]
# Then the period and the length of the line, both from their bounds: as much as is needed to push them below $10^{-9}\,\delta$.


# %%
def length(delta, safe, lam):
    period, last = 5.0, 1.0
    while alias_bound(safe, lam, period, log_power) > 1e-9 * delta:
        period *= 1.1
    while steps * log_bound(last, lam) - lam * safe > np.log(1e-9 * delta * np.pi * last):
        last *= 1.1
    return period, np.arange(int(last * period / (2 * np.pi)) + 2)


# %% [markdown]
# The sum at any $\varepsilon$, with its charges. In (9) the relative error of one $M$ is taken as $10^{-14}$, a generous ninety units.


# %%
def contour(delta):
    safe, lam = saddle(delta)
    period, k = length(delta, safe, lam)
    z = lam + 2j * np.pi / period * k
    terms = np.where(k == 0, 1, 2) / period * kernel(z) * mgf(z, 0.3, 3.0) ** steps
    log_b, last = steps * log_bound(z.imag[-1], lam), z.imag[-1]

    def value(eps):
        now = terms * np.exp(-z * eps)
        numeric = np.exp(log_b - lam * eps) / (np.pi * last)
        numeric += (steps + 1) * 1e-14 * np.abs(now).sum()
        return now.real.sum(), numeric, alias_bound(eps, lam, period, log_power)

    return value, safe, k.size


# %% [markdown]
# Solve $S+E=\delta$ for the upper end, $S-E-A=\delta$ for the lower one.


# %%
def contour_bracket(delta):
    value, safe, nodes = contour(delta)

    def too_much(eps, side):
        total, numeric, aliases = value(eps)
        bound = total + numeric if side == "upper" else total - numeric - aliases
        return np.log(max(bound, 1e-300) / delta)

    ends = [brentq(too_much, 0.8 * safe, safe, args=(s,), xtol=1e-13) for s in ("lower", "upper")]
    return *ends, nodes


# %% [markdown]
# *Experiment.* The true values, to 16 digits, were computed with 40 digits of working precision, every one twice with different $\lambda$, $\Lambda$ and nodes; they are in `tests/golden/sampled_gaussian_epsilon.csv`. That of our setting is 8.27929061409816 (the file holds one digit more).

# %%
golden = {1e-5: 8.279290614098163, 1e-15: 15.19623469871208, 1e-30: 22.14397357427624}

# %% [markdown]
# At $\delta=10^{-5}$ and far below:

# %%
print("delta              truth   nodes   lower - truth   upper - truth")
for delta, truth in golden.items():
    low, high, nodes = contour_bracket(delta)
    assert low < truth < high
    print(f"{delta:.0e} {truth:18.15g}   {nodes:5}   {low - truth:13.0e}   {high - truth:13.0e}")

# %% [markdown]
# About ten nodes, nine digits, on both sides, at any $\delta$. No convolution, no grid of losses.

# %% [markdown]
# ## 10 A proof that anybody can check
#
# One line of the table is no theorem: rounding, which (9) only models. **Ball arithmetic** removes the model. Each number is a *ball*, a midpoint with a radius, and every operation returns a ball that contains all results for numbers from its arguments, its own rounding included. What comes out is a statement: the true sum lies in this ball. It takes longer than floating point, though not long, and it changes who has to be believed: whoever *proposes* $\lambda$, $P$, the nodes and the precision may err, since a poor proposal only makes the ball wide. A **certificate** is such a proposal together with the two ends. The checker encloses, from nothing but the run and these numbers,
#
# * **$M(z)$** at every node, by the sum in $x$ on a shifted line. Its error is bounded as in (6) by how far the line may be moved to either side (Trefethen & Weideman 2014, Theorem 5.1), for both directions;
# * **its ends**, where that line is cut: beyond them the modulus falls at least like a geometric series, which is summed;
# * **$B$**, which bounds $|M|$ from the last node on, and with it all of the line that is left out;
# * **aliases**, by (4), now at one $\mu$ on either side of $\lambda$ that the certificate names.
#
# Then it asks three questions: is $\delta_T$ at the upper end at most $\delta$, for "removed" and for "added", and is it at least $\delta$ at the lower end, for one of them? Three times "yes" is a proof, anything else is "not proved". So nobody gains by tampering: with a changed number the proof still holds, or it is refused.
#
# Let us certify our run, check the certificate, and then claim a little less than the truth:

# %%
proof = certify(step, steps=1000, delta=1e-5)
print(check(proof).split(" for ")[0])
tampered = json.dumps(json.loads(proof) | {"lower": "8.278", "upper": "8.279"})
try:
    check(tampered)
except NotProvedError as error:
    refusal = str(error)
    print(refusal)

# %% [markdown]
# The true value is above 8.279, so $\delta_T(8.279)$ is above $10^{-5}$, if only in the fourth digit, and the checker says no. On a command line these are `dplearn certify` and `dplearn check`, and the checker is one file, `dplearn/certificates/check.py`, that imports nothing of the engine.

# %% [markdown]
# # Part two: the lattice
#
# ## 11 From above: chords
#
# The contour needs an analytic loss and a transform that dies off. Laplace noise has neither: its loss has atoms. Now we use section 2 in earnest. Choose nodes $t_i$ with spacing $h$, and find two laws *on the nodes*, one whose profile is above and one whose profile is below. Laws on a lattice can be composed by Fourier transform.
#
# As a function of $x=e^{\varepsilon}$ the profile is convex. So **connect the dots**: chords between neighbouring nodes lie above. And a convex, piecewise linear function is again a profile: each corner is a loss. In terms of masses: let the cell $(t_i,t_{i+1}]$ carry $P_i$ and $Q_i$, and move the part
#
# $$R_i=\frac{P_i-e^{t_i}Q_i}{1-e^{-h}}\quad\text{of }P_i\text{ to the right node, the rest to the left one.}$$
#
# That is the split which keeps both $P_i$ and $Q_i$. It has a cost: a loss $t_i+s$ becomes, on average, $t_i+s+\frac12s(h-s)+\dots$; the second moment grows by $s(h-s)$. Averaged over $s$, and to leading order,
#
# $$K_{\text{upper}}(\lambda)-K(\lambda)\approx\frac{h^2}{6}\Big(\frac\lambda2+\frac{\lambda^2}{2}\Big)=\frac{h^2\lambda(1+\lambda)}{12}.\tag{10}$$

# %% [markdown]
# ## 12 From below: moved cells
#
# The lower end is harder: tangents lie below a convex curve, but the corners of a polygon of tangents do not fall on a lattice. (That polygon is the law in which every cell is lumped into one outcome, whose loss $\ln P_i/Q_i$ lies somewhere inside the cell.) Rounding every loss down to $t_i$ is a lower bound on the lattice, but costs $h/2$ per step, so $Th/2$ in all, where we want $h^2$.
#
# Here is the idea: *be post-processing first, and round only afterwards.* Send cell $i$ to its right node with probability $b_i$ and to its left node with $1-b_i$, whatever the outcome within the cell. This is a legal post-processing of $(P,Q)$, so its profile is below, whatever the $b_i$. Node $i$ collects from cells $i-1$ and $i$:
#
# $$P:\ b_{i-1}P_{i-1}+(1-b_i)P_i,\qquad Q:\ b_{i-1}Q_{i-1}+(1-b_i)Q_i .$$
#
# If the ratio of these two is at least $e^{t_i}$, its loss is at least $t_i$, and *calling it $t_i$ only lowers the profile*. With
#
# $$X_i=P_i-e^{t_i}Q_i\ge0,\qquad Y_i=e^{t_{i+1}}Q_i-P_i\ge0$$
#
# (signs because all losses of the cell lie between $t_i$ and $t_{i+1}$), the condition at node $i$ reads
#
# $$(1-b_i)\,X_i\;\ge\;b_{i-1}\,Y_{i-1}.\tag{11}$$
#
# One condition per junction, but each $b_i$ occurs in two of them. If both cells at junction $i$ used the same $b$, (11) would balance at $b^*_i=X_i/(X_i+Y_{i-1})$.
#
# > **Moved cells.** $b_i=\min(b^*_i,\,b^*_{i+1})$ satisfies (11) at every junction.
# >
# > *Proof.* $b_i\le b^*_i$, so $(1-b_i)X_i\ge(1-b^*_i)X_i$. By definition of $b^*_i$, $(1-b^*_i)X_i=b^*_iY_{i-1}$. And $b_{i-1}=\min(b^*_{i-1},b^*_i)\le b^*_i$, so $b^*_iY_{i-1}\ge b_{i-1}Y_{i-1}$. $\square$
#
# Explicit, no recursion, and for a smooth law of the right order: both $X_i$ and $Y_{i-1}$ are $\frac12h^2$ times the density of the loss near $t_i$, up to a relative $O(h)$, so $b^*=\frac12+O(h)$. A loss moves by $h/2$ to the right on average inside a cell, and it was $h/2$ from the left node: the mean is off by $O(h^2)$. Carrying the next order along (exercise 2),
#
# $$K(\lambda)-K_{\text{lower}}(\lambda)\approx\frac{h^2\lambda(1+\lambda)}{6},\tag{12}$$
#
# twice what the chords cost. Mass left of the first node is simply dropped (section 2 allows it), mass right of the last node is moved down to it.
#
# In code, with `tails(e)` the probabilities of a loss beyond $e$ under $P$ and $Q$, the masses of the cells:


# %%
def cells(tails, e):
    p, q = tails(e)
    return -np.diff(p), -np.diff(q), 1 - p[0], p[-1]


# %% [markdown]
# Chords. The last mass counts as infinite loss, that on the left goes up to the first node.


# %%
def chords(tails, e):
    p, q, left, right = cells(tails, e)
    moved = np.clip((p - np.exp(e[:-1]) * q) / -np.expm1(e[:-1] - e[1:]), 0, p)
    return np.append(p - moved, 0) + np.append(left, moved), right


# %% [markdown]
# The first and last junction have a cell on one side only: nothing limits what goes to the first node, and into the last node nothing may be rounded up.


# %%
def moved_cells(tails, e):
    p, q, _, right = cells(tails, e)
    x, y = np.maximum(p - np.exp(e[:-1]) * q, 0), np.maximum(np.exp(e[1:]) * q - p, 0)
    both = x[1:] + y[:-1]
    balance = np.divide(x[1:], both, out=np.zeros_like(both), where=both > 0)
    balance = np.concatenate([[1.0], balance, [0.0]])
    b = np.minimum(balance[:-1], balance[1:])
    return np.append((1 - b) * p, right) + np.append(0, b * p), b


# %% [markdown]
# *Experiment.* One release of Gaussian noise with $\sigma=1$, on meshes so coarse that you can see them. Its tails,


# %%
def normal(mu):
    return lambda e: (norm.sf(e, mu**2 / 2, mu), norm.sf(e, -(mu**2) / 2, mu))


# %% [markdown]
# the profile of a law on the nodes as a function of $x=e^\varepsilon$,


# %%
def height(e, masses, x):
    return np.maximum(0, 1 - np.multiply.outer(x, np.exp(-e))) @ masses


# %% [markdown]
# Both polygons:


# %%
def polygons(h, x):
    e = np.arange(-8, 9.01, h)
    (up, infinite), (low, _) = chords(normal(1.0), e), moved_cells(normal(1.0), e)
    return e, height(e, up, x) + infinite, height(e, low, x)


# %% [markdown]
# Both polygons have their corners at the same abscissae $e^{t_i}$. The upper one touches the curve there; the lower one stays below, even there.

# %%
x = np.linspace(0.01, 4, 400)
curve = closed(np.log(x))
gaps = {f"h = {h:g}": [p - curve for p in polygons(h, x)[1:]] for h in (0.8, 0.4)}
far_apart = {h: (g[0].max(), -g[1].min()) for h, g in gaps.items()}
words = "; ".join(f"{h}: above {a:.4f}, below {b:.4f}" for h, (a, b) in far_apart.items())

# %% [markdown]
# The corners, and the picture:

# %%
figures.polygons(polygons, x, curve, gaps, words)

# %% [markdown]
# The constants of (10) and (12), from the laws themselves, at $\lambda=2$:

# %%
print("   h     upper / (10)   lower / (12)   share b at loss 0")
for h in (0.4, 0.2, 0.1, 0.05):
    e = np.arange(-9, 10.01, h)
    (up, _), (low, b) = chords(normal(1.0), e), moved_cells(normal(1.0), e)
    rise, fall = (logsumexp(2 * e, b=law) - 3.0 for law in (up, low))  # K(2) = 3
    theory = h**2 * 2 * 3 / 12
    print(f"{h:5}   {rise / theory:12.4f}   {-fall / (2 * theory):12.4f}   {b[e.size // 2]:.4f}")

# %% [markdown]
# And the invariant that catches every mistake here: if the losses of a law on the nodes were true, $\sum_i\text{mass}_i\,e^{-t_i}$ would be the mass of $Q$, which is 1. Chords that see all mass give exactly 1. The moved cells give *more*, since every loss was called too small.

# %%
e = np.arange(-9, 10.01, 0.1)
totals = [
    masses @ np.exp(-e) for masses, _ in (chords(normal(1.0), e), moved_cells(normal(1.0), e))
]
print(f"chords {totals[0]:.12f}, moved cells {totals[1]:.8f}")

# %% [markdown]
# ## 13 A thousand steps by Fourier transform, tilted
#
# Composing $T$ laws on a lattice is $T$-fold convolution: transform, power, transform back. Two obstacles.
#
# **Tiny probabilities.** A transform returns every mass with an error near $10^{-16}$ of the *largest*; a tail of $10^{-30}$ drowns. So tilt first (Esscher): give loss $t_i$ the mass $p_ie^{\lambda t_i}/M(\lambda)$. Tilted laws compose to the tilted composition, and with the $\lambda$ of the saddle the losses that decide $\delta$ sit in the middle of it. With $c_s$ the tilted mass of the total loss $s$,
#
# $$\delta_T(\varepsilon)=e^{TK(\lambda)-\lambda\varepsilon}\sum_s c_s\,g(s-\varepsilon),\qquad g(u)=e^{-\lambda u}(1-e^{-u})_+\le c(\lambda).\tag{13}$$
#
# It is the same $c$ as in (4), and the same saddle: the lattice engine is the contour engine on a circle.
#
# **A circle is not a line.** A transform of $N$ cells folds the line modulo $Nh$. Let the window be $[w_0,w_1)$. Whatever lies outside is folded into it, and missing where it was. By (13) either effect is at most $c(\lambda)\,e^{TK(\lambda)-\lambda\varepsilon}$ times the tilted mass outside, and by Chernoff, for $\mu>\lambda$ on the right and $\mu<\lambda$ on the left,
#
# $$\text{outside}\;\le\;e^{T(K(\mu)-K(\lambda))-(\mu-\lambda)w_1}+e^{T(K(\mu')-K(\lambda))+(\lambda-\mu')w_0}.\tag{14}$$
#
# The choices, for a law on the nodes `e`: the saddle as in section 9, and a window outside of which at most $2e^{-25}$ remains.


# %%
def choices(e, masses, steps, delta):
    mu = np.geomspace(0.02, 40, 300)
    log_m = steps * logsumexp(np.multiply.outer(mu, e), b=masses, axis=1)
    safe = np.min((log_m + log_c(mu) - np.log(delta)) / mu)
    i = int(np.argmin(log_m - mu * safe + np.log(kernel(mu))))
    part = (log_m - log_m[i] + 25) / np.where(mu == mu[i], np.nan, mu - mu[i])
    return safe, mu[i], log_m[i], (np.max(part[:i]), np.min(part[i + 1 :]))


# %% [markdown]
# (For $\mu<\lambda$ the quotient is $-(\ldots)/(\lambda-\mu)$, hence one line for both.) The composition:


# %%
def composed(e, masses, steps, lam, window):
    h = e[1] - e[0]
    size = 2 ** int(np.ceil(np.log2((window[1] - window[0]) / h + 2)))
    tilted = masses * np.exp(lam * e - logsumexp(lam * e, b=masses))
    phi = np.fft.rfft(np.bincount(np.arange(e.size) % size, tilted, size))
    first = int(np.floor(window[0] / h - steps * e[0] / h))
    law = np.roll(np.fft.irfft(phi**steps, size), -(first % size))
    # Rounding: the transform errs by u log N, its power T |phi|^{T-1} as much, and a mean remains.
    rounding = 8 * 2.0**-53 * np.log2(size) * (steps + 1) * np.mean(np.abs(phi) ** (steps - 1))
    return steps * e[0] + h * (first + np.arange(size)), law, rounding


# %% [markdown]
# And the end of the interval: (13) plus or minus its charges, solved for $\varepsilon$. Infinite losses cost $Tp_\infty$.


# %%
def lattice_end(e, masses, steps, delta, side, infinite=0.0):
    sign = 1 if side == "upper" else -1
    safe, lam, log_m, window = choices(e, masses, steps, delta)
    s, law, rounding = composed(e, masses, steps, lam, window)
    folded = np.exp(log_c(lam)) * 2 * np.exp(-25)

    def too_much(eps):
        u = np.maximum(s - eps, 0)
        g = np.exp(-lam * u) * -np.expm1(-u)
        total = law @ g + sign * (folded + rounding * g.sum())
        return np.log(max(np.exp(log_m - lam * eps) * total + steps * infinite, 1e-300) / delta)

    return brentq(too_much, safe - 8 / lam, safe + 1 / lam, xtol=1e-13)


# %% [markdown]
# Both ends for one mesh:


# %%
def lattice_bracket(e, tails, steps, delta):
    (up, infinite), (low, _) = chords(tails, e), moved_cells(tails, e)
    upper = lattice_end(e, up, steps, delta, "upper", infinite)
    return lattice_end(e, low, steps, delta, "lower"), upper


# %% [markdown]
# *Experiment.* A hundred releases of Gaussian noise with $\sigma=10$ are one release with $\sigma=1$, whose $\varepsilon$ we know. First at $\delta=10^{-30}$, where the tilt is needed:

# %%
e = np.arange(-140, 141) * 0.01
low, high = lattice_bracket(e, normal(0.1), 100, 1e-30)

# %% [markdown]
# Without tilt, at the same $\varepsilon$:

# %%
s, law, _ = composed(e, chords(normal(0.1), e)[0], 100, 0.0, (-12.0, 25.0))
untilted = law @ np.maximum(0, -np.expm1(far - s))
print(f"epsilon at 1e-30: truth {far:.4f}, tilted lattice [{low:.4f}, {high:.4f}]")
print(f"delta there, untilted: {'lost in rounding' if abs(untilted) > 1e-20 else untilted}")

# %% [markdown]
# ## 14 Half the mesh, a quarter of the gap, unless an atom sits between nodes
#
# By (10) and (12) the two ends differ in $\varepsilon$ by $T$ times the gap in $K$, divided by $\lambda$:
#
# $$\varepsilon_{\text{upper}}-\varepsilon_{\text{lower}}\approx\frac{T\,h^2\,(1+\lambda)}{4}.\tag{15}$$
#
# So on doubly logarithmic axes the gap has slope 2. Laplace noise of scale $b$ has losses between $-1/b$ and $1/b$ *and an atom at each end*, and together these carry most of the mass. If an atom lies on a node, it is exact, and costs nothing on either side: take it out of its cell and put it there.


# %%
scale, top = 10.0, 1 / 10.0


def laplace(e):  # P(L > e) and Q(L > e); one atom at top, one at -top
    place = (1 - np.clip(e / top, -1, 1)) / 2
    p, q = 1 - np.exp(-place / scale) / 2, np.exp((place - 1) / scale) / 2
    return [np.where(e < -top, 1, np.where(e < top, tail, 0)) for tail in (p, q)]


# %% [markdown]
# Under $P$ the atoms weigh $\frac12$ at the top and $\frac12e^{-1/b}$ at the bottom, under $Q$ the other way round. (The half-open cells exclude the bottom atom already; `chords` counts everything not in a cell as left of the first node.)


# %%
def laplace_on_nodes(n, steps, delta):
    e = np.linspace(-top, top, n + 1)
    weights = np.array([0.5, 0.5 * np.exp(-top)])
    smooth = lambda e: [t - w * (e < top) for t, w in zip(laplace(e), weights, strict=True)]
    (up, _), (low, _) = chords(smooth, e), moved_cells(smooth, e)
    up[[0, -1]] += [-weights[0], weights[0]]
    low[[0, -1]] += weights[::-1]
    return [lattice_end(e, law, steps, delta, s) for law, s in ((low, "lower"), (up, "upper"))]


# %% [markdown]
# *Experiment.* A hundred releases at $\delta=10^{-5}$: Gaussian noise; Laplace noise with its atoms on nodes; and the same lattice shifted by half a cell.

# %%
meshes = 2 * top / np.array([10, 20, 40, 80, 160, 320])
gaussian, on_nodes, between = [], [], []
for h in meshes:
    e = np.arange(-np.ceil(1.1 / h), np.ceil(1.1 / h) + 1) * h
    gaussian.append(lattice_bracket(e, normal(0.1), 100, 1e-5))
    on_nodes.append(laplace_on_nodes(round(2 * top / h), 100, 1e-5))
    shifted = np.arange(round(2 * top / h) + 2) * h - top - h / 2
    between.append(lattice_bracket(shifted, laplace, 100, 1e-5))

# %% [markdown]
# Slopes between the finest meshes, and a check that the brackets contain what they must.

# %%
width = {"Gaussian": gaussian, "atoms on nodes": on_nodes, "atoms between": between}
width = {name: np.diff(ends)[:, 0] for name, ends in width.items()}
slope = {name: np.log(w[-3] / w[-1]) / np.log(4) for name, w in width.items()}
print(", ".join(f"{name}: {value:.3f}" for name, value in slope.items()))

# %% [markdown]
# And do the brackets contain what they must?

# %%
known = float(Gaussian(1.0).profiles()[0].epsilon(1e-5))
assert all(low < known < high for low, high in gaussian)
assert all(a[0] <= b[0] < b[1] <= a[1] for a, b in zip(between, on_nodes, strict=True))
print(f"Laplace, finest mesh: [{on_nodes[-1][0]:.7f}, {on_nodes[-1][1]:.7f}]")

# %% [markdown]
# The widths:

# %%
figures.slopes(meshes, width, slope)

# %% [markdown]
# The slope is 1 because of the atom: an atom inside cell $i$ makes $X_i$ and $Y_i$ of order $h$, while the neighbours' are of order $h^2$. So at its left junction $b^*_i\approx1$, at its right junction $b^*_{i+1}\approx0$, and the minimum sends the *whole cell* to the left: a loss of order $h$ with the probability of the atom, at every step. The bracket is still valid, and chords do not suffer: their split keeps $P_i$ and $Q_i$ even for an atom, and the mean moves by $\frac12s(h-s)$ only. An *unresolved* peak, narrower than $h$, acts like an atom.

# %% [markdown]
# ## 15 Both engines at one setting
#
# Back to the question: the sampled Gaussian, a thousand steps. For the lattice we need the two tails. The loss exceeds $t$ where $x>\sigma^2\ln\frac{e^{t}-1+q}{q}+\frac12$, and it is never below $\ln(1-q)$, where the lattice begins.


# %%
def sampled(e):
    rest = np.maximum(np.expm1(e) + q, 1e-300) / q
    x = sigma**2 * np.log(rest) + 0.5
    p, noise = norm.sf((x - 1) / sigma), norm.sf(x / sigma)
    return (1 - q) * noise + q * p, noise


# %% [markdown]
# The bracket on a mesh:


# %%
def lattice_at(h, delta):
    e = np.log1p(-q) + h * np.arange(round(2.6 / h))
    return lattice_bracket(e, sampled, steps, delta)


# %% [markdown]
# One engine integrates an analytic function, the other convolves a polygon. They share the profile and nothing else.

# %%
truth = golden[1e-5]
cell_widths = np.array([4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4])
by_lattice = np.array([lattice_at(h, 1e-5) for h in cell_widths])

# %% [markdown]
# Beside the contour of section 9:

# %%
by_contour = np.array(contour_bracket(1e-5)[:2])
both = max(by_lattice[-1][0], by_contour[0]), min(by_lattice[-1][1], by_contour[1])
for name, ends in (("lattice", by_lattice[-1]), ("contour", by_contour), ("both", both)):
    print(f"{name:<8}  [{ends[0]:.8f}, {ends[1]:.8f}]")
print(f"truth      {truth:.8f}")

# %% [markdown]
# Two certificates may be intersected, because both are true. Were the intersection empty, one of them would be wrong: that is the cheapest test of an accountant, and it needs no reference. How far is each end from the truth?

# %%
distances = {
    "lattice, below": (truth - by_lattice[:, 0], "other"),
    "lattice, above": (by_lattice[:, 1] - truth, "rdp"),
    "contour, below": (np.full(6, truth - by_contour[0]), "exact"),
    "contour, above": (np.full(6, by_contour[1] - truth), "exact"),
}

# %% [markdown]
# On doubly logarithmic axes:

# %%
figures.distances(cell_widths, distances)

# %% [markdown]
# The library's own ends, by its public names: `ACCOUNTANTS["pld"]` of section 1 and the function `brackets` behind it, in both directions.

# %%
for direction in ("remove", "add"):
    pair = SampledGaussian(sigma, q, direction)
    (low,), (high,) = brackets(pair, np.array([steps]), delta=1e-5)
    print(f"{direction:<7} [{low:.7f}, {high:.7f}]")

# %% [markdown]
# "Added" is the easier direction here, so "removed" decides. That is an observation at these parameters; the accountant computes both.
#
# And its lattice, which serves Laplace noise, against ours of section 14:

# %%
other = ACCOUNTANTS["pld"]().epsilon(Laplace(scale), delta=1e-5, steps=100)
ours = on_nodes[-1]
assert max(other.lower, ours[0]) <= min(other.epsilon, ours[1])
for name, (low, high) in (("library", (other.lower, other.epsilon)), ("ours   ", ours)):
    print(f"{name} [{round_down(low, 6)}, {round_up(high, 6)}]")

# %% [markdown]
# # Part three: the shuffle
#
# ## 16 An epoch that leaves a record out
#
# Lesson 06 shows that shuffling is not sampling. What does an epoch of shuffled batches leak, then? Let $n$ records sit on $n$ seats in an order drawn uniformly. Batch $t=1,\dots,B$ reads its own seats, no more than $n/B$ of them, and at least one seat is read by nobody: that record is *left out*. Step $t$ releases the sum of the clipped gradients on its seats plus noise; gradients may depend on everything released before. In the neighbour the record of interest has its gradients zeroed out. Write $N_c=N(c/\sigma,1)$, $e=e^{\varepsilon}$, and $(u)_+=\max(u,0)$.
#
# > **Theorem.** Let $D$ be the number with the mean $1-e$ and
# >
# > $$\mathbb E(D-k)_+=\pi(k)=\begin{cases}\int(N_1-e\,N_0-k\,N_{-1})_+&k\ge0\\\int\big((1-k)N_1-e\,N_0\big)_+&k<0.\end{cases}$$
# >
# > Then, with independent $D_1,\dots,D_B$ of this law, $\displaystyle\delta(\varepsilon)\le\tfrac1B\,\mathbb E(D_1+\dots+D_B)_+.$
#
# (This is the direction "the record is there" against "it is not"; the other one has $\int(N_0-(e+k)N_1)_+$ and $\int(N_0-kN_{-1}-eN_1)_+$.)
#
# *Proof, first step: one swap.* Seat the record on the seat $b$ that nobody reads, and all others anywhere. Now let it change places with whoever sits on a seat $s$, drawn uniformly from all $n$: every order comes about exactly once. Tell the attacker who sits where before the swap, and for each batch one seat of it, drawn uniformly, of which the record takes the one if it comes to that batch. To be told more only helps him. All that he does not know is the batch $T$.
#
# *Second step: one reference.* Let $R$ be the law of the outputs before the swap. If $T=t$, step $t$ alone is different: its mean is $c_t+x_t$ with the record, $c_t$ without, and $c_t+v_t$ under $R$, where $v_t$ is the gradient of whom the record displaces. So at the outputs $y_1,\dots,y_B$
#
# $$\frac{P-eQ}{R}=\sum_t a_tD_t+a_0(1-e),\qquad D_t=\frac{N(c_t+x_t)-e\,N(c_t)}{N(c_t+v_t)}(y_t),\tag{16}$$
#
# where $a_t\le1/B$ is the chance of batch $t$ and $a_0$ that of being left out. And $\delta=\mathbb E_R(\cdot)_+$ of it.
#
# *Third step: the worst gradients.* Given the past, $D_t$ has the mean $1-e$, and $\mathbb E_R(D_t-k)_+=\int(N_x-eN_0-kN_v)_+$ with $|x|,|v|\le1$. For $k<0$ the law $(N_x-kN_v)/(1-k)$ is a mixture, no further from $N_0$ than the further one of its two parts: at most $\pi(k)$. For $k\ge0$ the integral is $\max_SN_x(S)-eN_0(S)-kN_v(S)$, and on the border of the best $S$ the gradient of the integrand's logarithm points along $x-lv$ with $0<l<1$. Turning $v$ away from $x$ moves mass of $N_v$ out of $S$; so does lengthening it then; lengthening $x$ moves mass of $N_x$ in. So the integral grows until $x=1$, $v=-1$ on one line: $\pi(k)$.
#
# *Fourth step: one after the other.* For a convex $\varphi$, $\mathbb E\varphi(D)$ is determined by $\mathbb E(D-k)_+$ and the mean, and grows with the former. So replace $D_B$ by an independent copy of the $D$ of the theorem, given everything before; then $D_{B-1}$; and so on to $D_1$. What remains is a convex function of the sum each time. Spreading $a_0$ over further copies, and then the weights evenly, raises it as well. $\square$
#
# The fourth step is where adaptive gradients are beaten: $x_t$ and $v_t$ may depend on the past, the bound on $D_t$ does not. And the first step is where a record must be left out: if every seat is read, the attacker sees the displaced record somewhere else, and this proof fails. The bound for an epoch that uses every record is that of one Gaussian release: for a known order that is exact.
#
# Two batches of one record each, out of three, can be computed completely. The transform of $D$, and its law by chords as in section 11:

# %%
noise, e = 1.5, np.exp(0.2)
x = np.linspace(-12, 12, 2401)
one, zero, other_way = (norm.pdf(x, c / noise) for c in (1, 0, -1))


def transform(k):
    inside = one - e * zero - k * other_way if k >= 0 else (1 - k) * one - e * zero
    return np.maximum(inside, 0).sum() * (x[1] - x[0])


def bound_of_epoch(batches, h=0.05, half=1200):
    values = np.array([transform(h * k) for k in range(-half, half + 1)])
    masses = total = np.diff(values, 2) / h
    for _ in range(batches - 1):
        total = np.convolve(total, masses)
    sums = h * (np.arange(total.size) - batches * (half - 1))
    return np.maximum(sums, 0) @ total / batches + values[-1]


# %% [markdown]
# Against it every order of three records: the one of interest, and two others that do their worst. They contribute $-1$ at step 1; at step 2 they contribute $-1$, or they look at the first output and contribute $1$ if it was above 1.

# %%
y = np.linspace(-9, 9, 451)


def leak(second):
    def density(record):
        at = lambda mean: norm.pdf(y, mean, noise)[:, None]
        others = norm.pdf(y[None, :], second(y)[:, None], noise)
        return (at(record) * others + at(-1) * at(record).T + at(-1) * others) / 3

    return np.maximum(density(1.0) - e * density(0.0), 0).sum() * (y[1] - y[0]) ** 2


leaks = {
    "others contribute -1": leak(lambda first: np.full(first.shape, -1.0)),
    "others adapt to step 1": leak(lambda first: np.where(first < 1, -1.0, 1.0)),
    "bound, times 2/3": bound_of_epoch(2) * 2 / 3,
    "bound of the theorem": bound_of_epoch(2),
    "order known, one Gaussian": float(Gaussian(noise).profiles()[0].delta(0.2)),
}
for name, value in leaks.items():
    print(f"{name:<26} {value:.4f}")

# %% [markdown]
# To adapt helps the attacker: others that always contribute $-1$, the pair of lesson 06, are not the worst case. The theorem holds for all of them. One record in three meets nobody here, so two thirds of the bound would do; of a real epoch a thousandth is left out, and the factor is dropped.
#
# The bound on one epoch is a profile, and by section 2 it composes. The library's for a run of sixty epochs, with a record left out and with none, beside what the same run would cost if its batches were drawn by coins:

# %%
epochs = DPSGD(noise_multiplier=1.1, sample_rate=1 / 234, steps=60 * 234, sampling="shuffled")
for name, run in (
    ("a record left out", replace(epochs, drop_last=True)),
    ("every record used", epochs),
    ("coins", replace(epochs, sampling="poisson")),
):
    print(f"{name:<18}", run.guarantee(delta=1e-5))

# %% [markdown]
# The lower ends are attacks, the upper ends theorems. Where every record is used, the upper end is sixty Gaussian releases. A loader that leaves one record out (`drop_last`) still reads all others in every epoch, and the proof has its free seat: that costs nothing and saves much.

# %% [markdown]
# ## 17 What is proved, and what is engineered
#
# A certificate is as good as its weakest sentence. These are theorems about real numbers:
#
# | claim | by |
# |---|---|
# | order of profiles survives composition, also adaptive, also with missing mass | (1) |
# | the sum is the answer plus non-negative aliases, and these are bounded | (3), (4) |
# | what lies beyond the last node of the line is bounded | (7), (8) |
# | the sum in $x$ errs by a known amount, for all $t$ at once | (6), (7) |
# | chords above, moved cells below | convexity; (11) and its proof |
# | what folding adds and removes | (13), (14) |
# | a shuffled epoch that leaves a record out | (16) and its four steps |
#
# And these are *engineering*: true in every test, with a margin, but models.
#
# * **Rounding of one $M$.** The constant $10^{-14}$ here, and its relative in `dplearn.engine.contour`, are a priori models of how errors of `exp`, `log` and sums combine. Section 10 makes them theorems, for the contour and one run at a time.
# * **Rounding of the transform** in `composed`: a usual model of the FFT, with a factor in hand.
# * **$B$ is itself a sum.** Its integrand is analytic only in a strip of width $\pi\sigma^2-\eta$, which closes as $\eta$ approaches the edge.
# * **Differences.** $P_i$ and $Q_i$ are differences of tails, and $X_i=P_i-e^{t_i}Q_i$ is a small difference once more: with cells of width $h$ about $\log_{10}(2/h)$ digits are lost. The balance (11) then holds up to rounding only.
# * **Tails in $x$.** We stopped at $9.3\sigma$.
# * **The reference.** The values in `tests/golden` come from the same identity (2), though in 40 digits, and twice with different parameters. The lattice is the independent witness: it never saw a complex number outside its transform.
#
# What no engine certifies: that your training loop draws its batches the way the mechanism says, that gradients are really clipped, that the noise is really normal. The certificate is about the pair $(P,Q)$.

# %% [markdown]
# ## 18 Exercises
#
# With pencil and paper.
#
# **★ 1** Rounding every loss *up* to the next node is an upper bound, and every loss *down* a lower bound. How much do they cost in $\varepsilon$ after $T$ steps? In the language of section 12, which $b_i$ is "down"? Is (11) satisfied?
#
# <details><summary>Answer to 1</summary>
#
# On average $h/2$ per step on either side, so $Th/2$, first order in $h$: at $T=1000$ one needs $h=10^{-8}$ where (15) needs $h\approx10^{-4}$ for the same width. "Down" is $b_i=0$ for all $i$. Then (11) reads $X_i\ge0$, which is true.
#
# </details>
#
# **★★ 2** Prove (12). Start from a smooth density $g$ of the loss under $P$ and show $b^*_i=\frac12+h\big(\frac{g'}{3g}-\frac16\big)+O(h^2)$.
#
# <details><summary>Answer to 2</summary>
#
# $X_i=\int_0^hg(t_i+s)(1-e^{-s})\,ds=\frac{h^2}{2}g+\frac{h^3}{3}g'-\frac{h^3}{6}g+O(h^4)$ and, with the cell to the left, $Y_{i-1}=\int_0^hg(t_i-s)(e^{s}-1)\,ds=\frac{h^2}{2}g-\frac{h^3}{3}g'+\frac{h^3}{6}g+O(h^4)$. Their sum is $h^2g$, and the quotient is as stated. Neighbouring $b^*$ differ by $O(h^2)$, so the minimum changes nothing to this order.
#
# A loss in cell $i$ becomes $t_i+hb_i$ on average, and it was $t_i+\frac h2+\frac{h^2}{12}\frac{g'}{g}$. The mean moves by $h^2\big(\frac{g'}{4g}-\frac16\big)$. The second moment about $t_i$ was $\frac{h^2}{3}$ and becomes $h^2b_i=\frac{h^2}{2}$: it grows by $\frac{h^2}{6}$. So $M$ changes by $h^2\int e^{\lambda l}\big[\lambda\big(\frac{g'}{4}-\frac g6\big)+\frac{\lambda^2}{2}\frac g6\big]dl$. Integrate the $g'$ by parts, $\int e^{\lambda l}g'=-\lambda M$, which gives $-h^2M\big[\frac{\lambda^2}{4}+\frac\lambda6-\frac{\lambda^2}{12}\big]=-h^2M\,\frac{\lambda(1+\lambda)}{6}$.
#
# </details>
#
# **★★★ 3** The other direction: a record added. Now $P=N(0,\sigma^2)$, the loss is $-\ln f$, and $M(z)=\int\nu f^{-z}$. Which line $\operatorname{Im}x=\eta$ makes $|f^{-it}|\le1$ for $t\ge0$? And which step of section 6 breaks?
#
# <details><summary>Answer to 3</summary>
#
# $|f^{-it}|=e^{t\arg f}$, so $\arg f$ must be negative: take $\eta<0$, the mirror image. What breaks is $|f(x+ia)|\le f(x)$: with $-\lambda$ in the exponent we need $|f|$ bounded from *below*. With $\varphi$ the argument of the exponential, $|A+Be^{i\varphi}|\ge(A+B)\cos\frac\varphi2$ for $A,B\ge0$ (square both sides: the difference is $(A-B)^2\sin^2\frac\varphi2$). So $|f(x+ia)|^{-\lambda}\le f(x)^{-\lambda}\cos^{-\lambda}\frac{a}{2\sigma^2}$, which enters (6) as a factor, and everything else stands.
#
# </details>

# %% [markdown]
# ## 19 Further reading
#
# * Sommer, Meiser & Mohammadi (2019), *Privacy loss classes*; Koskela, Jälkö & Honkela (2020), *Computing tight differential privacy guarantees using FFT*: losses add, so convolve.
# * Zhu, Dong & Wang (2022), *Optimal accounting of differential privacy via characteristic function*: dominating pairs and their adaptive composition.
# * Doroshenko et al. (2022), *Connect the dots*: chords, and why they are the best upper law on given nodes.
# * Alghamdi et al. (2023), *The saddle-point method in differential privacy*: the integral (2) and the saddle.
# * Canonne, Kamath & Steinke (2020), *The discrete Gaussian for differential privacy*: the constant $c(\mu)$.
# * Trefethen & Weideman (2014), *The exponentially convergent trapezoidal rule*: (3) and (6), and much more.
#
# **Back** to [lesson 05](05_renyi_divergence.ipynb). The last cell re-examines what this appendix claimed.

# %%
# Checks
assert all(ordered) and np.allclose(excess, alias_at_periods) and np.all(bound_at_periods >= excess)
e = np.arange(-5, 5.01, 0.1)
(p, noise, *_), (_, b) = cells(normal(1.0), e), moved_cells(normal(1.0), e)
x, y = p - np.exp(e[:-1]) * noise, np.exp(e[1:]) * noise - p
assert np.all((1 - b[1:]) * x[1:] >= b[:-1] * y[:-1] - 1e-15)  # condition (11)
assert np.all(by_lattice[:, 0] < truth) and np.all(truth < by_lattice[:, 1])
assert by_contour[0] < truth < by_contour[1] and both[0] < both[1]
assert refusal.startswith("not proved: delta at the upper end")
by_others, by_adapting, of_two_thirds, of_all, of_one_gaussian = leaks.values()
assert by_others < by_adapting < of_two_thirds < of_all < of_one_gaussian
assert abs(slope["Gaussian"] - 2) < 0.05 and abs(slope["atoms on nodes"] - 2) < 0.05
assert abs(slope["atoms between"] - 1) < 0.05
print("all checks passed")
