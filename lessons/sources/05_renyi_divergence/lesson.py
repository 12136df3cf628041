# %% [markdown]
# # 05 Rényi divergence and RDP
#
# *A pair (ε, δ) forgets most of the loss. What should an account of a hundred releases remember instead?*
#
# Every week the school publishes a report about its pupils, always with Anna, and with Gaussian noise of multiplier 10. The picture shows her privacy loss in one of them. For a hundred reports, adding up (lesson 04) gives $\varepsilon=44.71$ at $\delta = 10^{-5}$, because a pair $(\varepsilon,\delta)$ forgets most of the loss and must assume the worst.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. read the Rényi divergence $D_\alpha$ as a dial between the average and the worst privacy loss;
# 2. add up the cost of many releases order by order, and convert the sum into $(\varepsilon,\delta)$ at the best order;
# 3. say which divergences can be measured, and which can only be computed.
#
# * **Time** NN minutes in class; what comes after section 9 is for the evening.
# * **You need** lesson 03 (Gaussian noise, $\delta(\varepsilon)$), lesson 04 (composition), logarithms and exponentials.
# * **Beside it** [the explorer at this lesson's numbers](explorer:?mechanism=gaussian&sampling=none&noise_multiplier=10&delta=1e-5&steps=1000&here=100), if you have started it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `order` | $\alpha$ | how strongly large losses are weighted: 1 as all others, $\infty$ only the largest | none |
# | `rdp` | $D_\alpha$, $\tau$ | Rényi divergence of the worst pair of neighbours, and a bound on it at one order | nats |
# | `rho` | $\rho$ | its slope, where $D_\alpha=\rho\,\alpha$ | nats |
# | `steps` | $T$ | number of releases | none |
# | `noise_multiplier` | $\sigma$ | noise / sensitivity | none |
# | `epsilon`, `delta` | $\varepsilon$, $\delta$ | the guarantee for all releases together | nats, probability |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence to leave with: keep the account in divergences, which add exactly, and convert once, at the end.
#
# | minutes | part | do |
# |---|---|---|
# | 8 | 0 The first screen | everybody types one expression, then a guess; write the median on the board |
# | 3 | 1 Warm-up | hands up for each letter; explain only what half of the class has missed |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again; do not say who is right |
# | 3 | 3 A million losses | run it; the last two lines decide the vote |
# | 4 | 4 Which losses decide | move α until the blue curve has left the sample |
# | 5 | 5 The definition, and how it adds | the definition on the board; the proof is two lines |
# | 5 | 6 Conversion, once | derive Markov's step; the class guesses the lowest point before the picture |
# | 6 | 7 An exercise | with pencil; who has finished explains it to a neighbour |
# | 3 | 8 What was lost | your guesses, and where the rest of the gap comes from |
# | 2 | 9 Where this breaks | the record that is shown once in a thousand times |
# | – | 10 to 13 | at home |

# %% tags=["hide-input"]
from dplearn.teaching.classroom import check, pictures, predict, reveal, yours

draw = pictures("05")
draw.one_report()

# %% [markdown]
# **★ 5.1** *(In class, 2 minutes.)* We look for a number that *adds up exactly* and is converted (转换) into $(\varepsilon,\delta)$ once, at the end. Here is a candidate for a list of equally likely losses $L=\ln p(x)/q(x)$: the average of $e^{(\alpha-1)L}$, its logarithm, divided by $\alpha-1$. Replace `...` by the power of one loss, and run the cell.


# %%
import math


def divergence(losses, order):
    powers = [... for loss in losses]
    average = sum(powers) / len(powers)
    return math.log(average) / (order - 1)


check("5.1", divergence)

# %% [markdown]
# <details><summary>Solution of 5.1</summary>
#
# ```python
# import math
#
#
# def divergence(losses, order):
#     powers = [math.exp((order - 1) * loss) for loss in losses]
#     average = sum(powers) / len(powers)
#     return math.log(average) / (order - 1)
#
#
# check("5.1", divergence)
# ```
#
# The logarithm and the division by $\alpha-1$ undo the power, so a list of equal losses has this loss as its number.
#
# </details>

# %% [markdown]
# In the drawing five losses are equally likely, and each has the weight $e^{(\alpha-1)L}$. The triangle is where the beam balances, the mean loss after the weighting. The dot is $D$, the number that the function returns. It climbs more slowly, because it remembers how rare large losses are.

# %%
draw.beam(divergence)

# %% [markdown]
# How small is the true $\varepsilon$ of a hundred reports, at $\delta=10^{-5}$? Write your guess in place of `None`, and run the cell.

# %%
predict("epsilon of 100 reports", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** The usual guess is 44.71 divided by ten, because of a square root somewhere in lesson 04. It is close enough to be worth praising: ask where the square root came from.

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Three questions from earlier lessons prepare what follows.
#
# **1** 04.3
#
# **2** 03.1
#
# **3** 02.4

# %%
answers = ""  # three letters, such as "bca"
check("5.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# The larger $\alpha$, the more weight large losses get in your function. For noise multiplier 1 the exact value of
#
# $$\frac{1}{\alpha-1}\,\ln \operatorname{mean}\, e^{(\alpha-1)L}$$
#
# is $\alpha/2$, so it is 8 at $\alpha = 16$. What will we measure at $\alpha=16$ with a million simulated releases?
#
# <details><summary>a. A value close to 8: a million releases are plenty.</summary>
#
# No. They are plenty for the mean of the loss, but not for the mean of $e^{15L}$.
#
# </details>
#
# <details><summary>b. A value well above 8: one very large loss decides the mean.</summary>
#
# No. That would need a loss which is far larger than a million releases produce.
#
# </details>
#
# <details><summary>c. A value well below 8.</summary>
#
# Right. The losses that carry this mean are so rare that a million releases contain none of them.
#
# </details>
#
# <details><summary>d. Sometimes above 8 and sometimes below, depending on the seed.</summary>
#
# No. That is what happens to means in general, and here it happens up to order 3 or so. At order 16 the result is below 8 for nearly every seed.
#
# </details>

# %%
vote = ""  # one letter
check("5.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 A million losses
#
# The next cell applies the function of 5.1 to a million losses.

# %%
import numpy as np

from dplearn.mechanisms import Gaussian

dial = yours("5.1", divergence)  # our function until yours is right
rng = np.random.default_rng(5)
loss = Gaussian(1.0).release(np.ones(1_000_000), sensitivity=1, rng=rng) - 0.5
print(f"mean loss {loss.mean():.3f}, largest of a million {loss.max():.3f}")
for order in (1.001, 2, 3, 8, 16):
    print(f"order {order:5g}: simulated {dial(loss.tolist(), order):.3f}, exact {order / 2:.3g}")

# %% [markdown]
# Near $\alpha = 1$ we get the mean loss. As $\alpha$ grows, the result climbs towards the largest loss: **$\alpha$ is a dial from the average to the worst case.** The last two lines decide the vote.
#
# *To here NN minutes.*
#
# ## 4 Which losses decide
#
# The grey curve is the distribution of the loss, normal with mean $\frac12$ and variance 1. The blue curve is the same after the weighting, the **tilted distribution** (倾斜分布): it shows which losses decide about $D$. At which $\alpha$ does the blue curve leave the losses that a million releases contain?

# %%
draw.tilts(loss.max())

# %% [markdown]
# At order 16 the mean is decided by losses near 15.5, and the sample has none of these. **High orders cannot be measured, only computed,** so the formulas had better be right.
#
# The next picture shows three mechanisms. Randomised response and Laplace noise are purely private with $\varepsilon=1$: no loss exceeds 1, and their curves stay below 1. Gaussian noise has no largest loss, and its curve never stops.

# %%
draw.mechanisms()

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask why the simulation is *below* the exact value and never above. Somebody will say "bad luck"; run it with another seed. Rare, large losses carry the mean, and a sample that misses them is always too small.

# %% [markdown]
# *To here NN minutes.*
#
# ## 5 The definition, and how it adds
#
# > **Definition.** For $\alpha > 1$ the **Rényi divergence** (Rényi 散度) is $$D_\alpha(P\Vert Q)=\frac{1}{\alpha-1}\ln \mathbb E_{x\sim P}\,e^{(\alpha-1)L(x)},\qquad {L(x)=\ln\frac{p(x)}{q(x)}.}$$ A mechanism is **$(\alpha,\tau)$-RDP** if $D_\alpha\le\tau$ for all neighbours, in both orders of the pair. *One* $\alpha$, one $\tau$. (Mironov 2017, who writes $\varepsilon$ for our $\tau$.)
# >
# > **Facts.** $D_\alpha$ is never negative and never decreases in $\alpha$. At $\alpha\to1$ it is the mean loss, if it is finite at some $\alpha>1$; at $\infty$ it is the largest loss. (van Erven & Harremoës 2014.) **Gaussian noise:** $D_\alpha=\alpha/(2\sigma^2)$.
# >
# > **Theorem.** If one release is $(\alpha,\tau_1)$-RDP and the next, which may look at the first, is $(\alpha,\tau_2)$-RDP, then both together are $(\alpha,\tau_1+\tau_2)$-RDP. (Mironov 2017.)
#
# *Why.* The losses of two independent releases add up, so the mean of $e^{(\alpha-1)(L_1+L_2)}$ is a product of two means, and the logarithm makes a sum of it. If the second release looks at the first, bound its factor by the worst that it may see. **The same $\alpha$** stands in both terms.
#
# For Gaussian noise nothing is lost: a hundred releases with $\sigma = 10$ have the same divergences as one release with $\sigma = 1$.

# %%
report, delta = Gaussian(noise_multiplier=10.0), 1e-5
four = np.array([1.5, 2, 5, 20])
print("order                  ", four)
print("100 releases, sigma 10 ", 100 * report.rdp(four))
print("one release, sigma 1   ", Gaussian(1.0).rdp(four))

# %% [markdown] tags=["instructor"]
# > **For the teacher.** "The same $\alpha$ in both terms" is what students forget in the exam. Have them say why $(2, 0.3)$ and $(4, 0.5)$ cannot simply be added to order 4.

# %% [markdown]
# *To here NN minutes.*
#
# ## 6 Conversion, once
#
# > **Theorem.** If a mechanism is $(\alpha,\tau)$-RDP, then it is $(\varepsilon,\delta)$-DP with
# > $$\varepsilon=\tau+\frac{\ln(1/\delta)}{\alpha-1}.$$
# > (Mironov 2017.) A sharper conversion at the same order is $\varepsilon=\tau+\ln\frac{\alpha-1}{\alpha}-\frac{\ln\delta+\ln\alpha}{\alpha-1}$. (Balle et al. 2020; Canonne, Kamath & Steinke 2020.)
#
# <details><summary>Why the simple one holds: one line of Markov</summary>
#
# A loss with a bounded exponential moment is rarely large: by Markov's inequality $P(L>\varepsilon)\le e^{-(\alpha-1)(\varepsilon-\tau)}$. Set the right side to $\delta$ and solve for $\varepsilon$: then $P(L>\varepsilon)\le\delta$, which suffices (lesson 02).
#
# </details>
#
# The theorem holds at *every* order, and we may take the best one. Trying many costs nothing: the curve $\tau(\alpha)$ does not depend on the data.


# %%
def simple(order, steps, sigma=10.0):
    return steps * Gaussian(sigma).rdp(order) + np.log(1 / delta) / (order - 1)


def sharper(order, steps, sigma=10.0):
    gain = np.log((order - 1) / order) - np.log(order) / (order - 1)
    return simple(order, steps, sigma) + gain


# %% [markdown]
# At a small order the term of $\delta$ is large, at a large order the divergence is. Which order between 1.3 and 60 gives the smallest $\varepsilon$ for our hundred reports?

# %%
predict("best order", None)

# %% [markdown]
# The picture shows both conversions and the exact value over the orders.

# %%
draw.conversions(simple, sharper)

# %% [markdown]
# For Gaussian noise the best order has a closed form. All releases together have $D_\alpha = \rho\,\alpha$, here with $\rho = 100/(2\cdot10^2) = 0.5$. The derivative of $\rho\,\alpha+\ln(1/\delta)/(\alpha-1)$ is zero at
#
# $$\alpha^*=1+\sqrt{\ln(1/\delta)/\rho},\qquad\text{where}\quad {\varepsilon=\rho+2\sqrt{\rho\ln(1/\delta)}.}$$
#
# *To here NN minutes.*
#
# ## 7 An exercise
#
# Replace `None` by your number, or by an expression, and run the cell.
#
# **★★ 5.2** *(In class, 5 minutes.)* Sixty releases have noise multiplier 4 each, and $\delta = 10^{-6}$. Which order is best for the simple conversion, without a search?

# %%
answer = None
check("5.2", answer)

# %% [markdown]
# <details><summary>Solution of 5.2</summary>
#
# ```python
# rho_all = 60 / (2 * 4**2)
# answer = 1 + np.sqrt(np.log(1e6) / rho_all)
# check("5.2", answer)
# ```
#
# All releases together have $D_\alpha=\rho\,\alpha$ with $\rho = 60/32$, so the best order is 3.714.
#
# </details>

# %% [markdown]
# *To here NN minutes.*
#
# ## 8 What was lost
#
# Here are four answers to the question of the first screen, and your guesses:

# %%
from dplearn.accountants import ACCOUNTANTS

best = 1 + np.sqrt(np.log(1 / delta) / 0.5)
lowest, true = float(simple(best, 100)[0]), float(Gaussian(1.0).profiles()[0].epsilon(delta))
run = {"delta": delta, "steps": 100}
added, by_rdp = (ACCOUNTANTS[name]().epsilon(report, **run).epsilon for name in ("basic", "rdp"))
print(f"adding up {added:.4f}, simple {lowest:.4f}, sharper {by_rdp:.4f}, exact {true:.4f}")
reveal("epsilon of 100 reports", truth=true, others={"adding up": added})
reveal("best order", truth=best)

# %% [markdown]
# Adding up was too large by a factor of ten. The small gap between RDP and the truth does *not* come from the composition, which was exact. It comes from the conversion: one moment of the loss knows less than the whole distribution, and lesson 08 removes the gap.
#
# Students who type the conversion often lose its bracket: $\varepsilon = \tau + \ln(1/\delta)/\alpha - 1$. At order 5, for our hundred reports:

# %%
wrong_epsilon = 2.5 + np.log(1 / delta) / 5 - 1
right_epsilon = float(simple(5, 100)[0])
print(f"as printed {wrong_epsilon:.5f}, with the bracket {right_epsilon:.5f}, exact {true:.5f}")

# %% [markdown]
# Without the bracket the value is *below the exact one*: it promises privacy that is not there.
#
# *To here NN minutes.*
#
# ## 9 Where this breaks, and what it does not protect
#
# The curve $D_\alpha$ bounds **all** neighbours in **both** directions, and every release adds fresh noise.
#
# * **Not everything has a curve:** a mechanism that publishes a whole record with probability 0.001, and otherwise nothing, is $(0, 0.001)$-DP, yet its divergence is infinite at every order above 1. So RDP is not "DP, only more general": it excludes mechanisms that $(\varepsilon,\delta)$ admits.

# %%
from dplearn.engine.profile import Profile

shame = Profile.from_atoms(np.log([0.999, 0.001]), [0.0, -np.inf])
print(f"name and shame: delta(0) = {float(shame.delta(0)):.3g},", end=" ")
print(f"order 0.5: {float(shame.renyi(0.5)):.4g}, order 2: {float(shame.renyi(2)):.4g}")

# %% [markdown]
# * **The conversion loses:** for a single release RDP is worse than adding up, because there is nothing to add.
# * **It is still about one record.** RDP does not hide what holds for a population or a family.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 10 At home: three misprints, a hidden cost, two more exercises
#
# ### Move the slider
#
# The slider changes the number of releases, $T$; the diamond marks the lowest point of the sharper conversion. Before you move it: will the best order go up or down?

# %%
draw.u_curves(sharper)

# %% [markdown]
# More releases push the best order *down*: the divergence grows with $T$, and the term of $\delta$ does not.
#
# ### How much the lost bracket promises
#
# We compute the $\delta$ that truly belongs to the value without the bracket ([in the formula book](explorer:formula_book?id=G-D1&misprint=bracket)), with the tools of lesson 03.


# %%
from scipy.integrate import quad
from scipy.stats import norm


def area(epsilon):
    gap = lambda x: norm.pdf(x, 1) - np.exp(epsilon) * norm.pdf(x, 0)
    return quad(gap, epsilon + 0.5, epsilon + 13, epsabs=0)[0]


# %% [markdown]
# The simulation draws the losses, normal with mean $\frac12$ and variance 1.

# %%
from dplearn.teaching.classroom import Evidence, estimate, estimate_delta

lost_bracket = Evidence(
    f"delta at epsilon = {wrong_epsilon:.5f}",
    closed=float(Gaussian(1.0).profiles()[0].delta(wrong_epsilon)),
    exact=area(wrong_epsilon),
    simulated=estimate_delta(wrong_epsilon, rng.normal(0.5, 1, 4_000_000)),
    printed=delta,
)
print(lost_bracket)

# %% [markdown]
# The true $\delta$ is ten times the promised one. Such a slip is dangerous: it is easily overlooked, it looks plausible, and it is unsafe.
#
# ### The same run, more releases
#
# *Basic* adds up; *Optimal* is the best that can be said about $(\varepsilon,\delta)$ pairs (lesson 04); *PLD* is exact here (lesson 08), the others are upper bounds. In [the explorer](explorer:?mechanism=gaussian&sampling=none&noise_multiplier=10&delta=1e-5&steps=10000&here=1000) you can follow all accountants.

# %%
draw.accounts()

# %% [markdown]
# ### Two Gaussians, and the lost root
#
# > **Two Gaussians.** With $\sigma_\alpha^2=(1-\alpha)\sigma_0^2+\alpha\sigma_1^2 > 0$,
# > $$D_\alpha\big(N(\mu_0,\sigma_0^2)\Vert N(\mu_1,\sigma_1^2)\big)=\frac{\alpha(\mu_0-\mu_1)^2}{2\sigma_\alpha^2}+\frac{1}{1-\alpha}\ln\frac{\sigma_\alpha}{\sigma_0^{1-\alpha}\sigma_1^{\alpha}},$$
# > and $\infty$ if $\sigma_\alpha^2\le0$. For equal variances this is $\alpha/(2\sigma^2)$ when the shift is 1. (Gil, Alajaji & Linder 2013.)
#
# We check it against the integral in the definition, at unequal variances, too.


# %%
def formula(order, mean_0, std_0, mean_1, std_1):
    variance = (1 - order) * std_0**2 + order * std_1**2
    ratio = np.sqrt(variance) / (std_0 ** (1 - order) * std_1**order)
    return order * (mean_0 - mean_1) ** 2 / (2 * variance) + np.log(ratio) / (1 - order)


# %% [markdown]
# The definition is an integral, which we compute by quadrature:


# %%
def integral(order, mean_0, std_0, mean_1, std_1, window=40):
    def integrand(x):
        log_p, log_q = norm.logpdf(x, mean_0, std_0), norm.logpdf(x, mean_1, std_1)
        return np.exp(order * log_p + (1 - order) * log_q)

    return np.log(quad(integrand, -window, window, epsabs=0, limit=500)[0]) / (order - 1)


# %% [markdown]
# We also average the losses of section 3, at order 3, where a simulation can still follow (`map` carries the mean and its interval through the logarithm):

# %%
at_three = estimate(np.exp(2 * loss)).map(lambda mean: np.log(mean) / 2)
print(f"formula     {formula(3, 1, 1, 0, 1):.6f}")
print(f"quadrature  {integral(3, 1, 1, 0, 1):.6f}")
print(f"simulation  {at_three}")

# %% [markdown]
# Students often lose a root here, and write $\sigma_\alpha^2$ in the logarithm where $\sigma_\alpha$ belongs ([in the formula book](explorer:formula_book?id=G-A4&misprint=no-root)):
#
# $$\frac{\alpha(\mu_0-\mu_1)^2}{2\sigma_\alpha^2}+\frac{1}{1-\alpha}\ln\frac{\sigma_\alpha^2}{\sigma_0^{1-\alpha}\sigma_1^{\alpha}}\qquad\text{(wrong)}$$
#
# Nothing in the formula looks odd, but one example with unequal variances shows the error: $N(0,1)$ from $N(1, 1.5^2)$ at order 2.


# %%
def as_printed(order, mean_0, std_0, mean_1, std_1):
    variance = (1 - order) * std_0**2 + order * std_1**2
    lost = 0.5 * np.log(variance) / (1 - order)  # ln of the square is twice ln of the root
    return formula(order, mean_0, std_0, mean_1, std_1) + lost


true_root, printed_root = formula(2, 0, 1, 1, 1.5), as_printed(2, 0, 1, 1, 1.5)
x = rng.normal(0, 1, 1_000_000)
simulated = estimate(norm.pdf(x, 0, 1) / norm.pdf(x, 1, 1.5)).map(np.log)
print(f"printed {printed_root:.4f}, true {true_root:.4f}, by the integral", end=" ")
print(f"{integral(2, 0, 1, 1, 1.5):.4f}, simulated {simulated}")

# %% [markdown]
# The printed value is $-0.1561$; the true one is 0.4703. No simulation was needed to see that something is wrong: a divergence is never negative. The picture shows the two formulas for other second spreads. They agree at a single point, where $\sigma_\alpha = 1$.

# %%
draw.lost_root(formula, as_printed, simulated.value)

# %% [markdown]
# Just as easily lost is the condition $\sigma_\alpha^2>0$. For $N(0,1)$ from $N(1, 0.7^2)$ at order 2 it fails: $\sigma_\alpha^2 = -1+2\cdot0.49 < 0$, and the divergence is infinite. A numerical integral does not tell you so by itself, but reports a finite number, whatever its window holds:

# %%
for window in (10, 20, 40, 80):
    print(f"integral over [-{window}, {window}]: {integral(2, 0, 1, 1, 0.7, window):.4g}")

# %% [markdown]
# A number that grows with the window is not a value of the integral. Variances differ in privacy whenever the *amount* of noise depends on the data: then look at this condition first.
#
# ### "$(\alpha,\varepsilon)$-RDP if $D_\alpha\le\varepsilon$ for all $\alpha$"
#
# A third slip puts "for all $\alpha\in(1,\infty)$" into the definition, with one $\varepsilon$ for all ([in the formula book](explorer:formula_book?id=G-A3&misprint=every-order)). Gaussian noise with $\sigma = 1$ has $D_2 = 1$, but at order 3 the formula gives 1.5, so that $\varepsilon = 1$ does not serve there.
#
# No larger $\varepsilon$ would serve at all orders either. The table shows why: the quantifier turns RDP back into pure differential privacy, which bounds the largest loss, and Gaussian noise has none.

# %%
from dplearn.mechanisms import RandomizedResponse

few = np.array([2, 10, 100, np.inf])
(fair,) = RandomizedResponse(local_epsilon=1.0).profiles("replace_one")
(gauss,) = Gaussian(1.0).profiles()
print("order              ", "".join(f"{a:>10g}" for a in few))
print("randomised response", "".join(f"{d:10.6f}" for d in fair.renyi(few)))
print("Gaussian           ", "".join(f"{d:10g}" for d in gauss.renyi(few)))

# %% [markdown]
# ### A short list of orders
#
# Some programs try no order above 100 or so. With much noise and few releases the best order lies far beyond, and the result is larger than need be, without a warning:

# %%
for top in (100, 10_000):
    tried = np.geomspace(1.1, top, 3000)
    cost = simple(tried, 10, sigma=200.0)
    print(f"orders up to {top:6}: epsilon {cost.min():.4f} at order {tried[np.argmin(cost)]:.4g}")

# %% [markdown]
# ### At the ends: orders 0, 1 and infinity
#
# A divergence grows with its order, and three orders have names. Order 0 asks how likely the outputs of $P$ are under $Q$: $D_0=-\ln Q(p>0)$. Order 1 is the mean loss, the Kullback–Leibler divergence, as a limit; from above only where some order is finite. Order infinity is the largest loss, and only there RDP *is* pure differential privacy. A bound at a finite order does not follow from $(\varepsilon,\delta)$. If $P$ and $Q$ change places, order $\alpha$ becomes $1-\alpha$ and a factor comes before it: $D_\alpha(P\Vert Q)=\frac{\alpha}{1-\alpha}D_{1-\alpha}(Q\Vert P)$ for $0<\alpha<1$.

# %%
half, quarter = np.log(0.5), np.log(0.25)
ends = Profile.from_atoms([half, half, -np.inf], [quarter, half, quarter])
values = ends.renyi(np.array([0, 0.001, 1, 1.001, 1000, np.inf]))
print("orders 0, 0.001, 1, 1.001, 1000, inf:", ", ".join(f"{v:.4f}" for v in values))
print(f"-ln 3/4 = {-np.log(0.75):.4f}, mean loss {0.5 * np.log(2):.4f}, largest {np.log(2):.4f}")

# %% [markdown]
# At order 1 the formula is zero divided by zero, so that the mean loss needs a proof. Take finitely many outputs, each possible under $Q$.
#
# <details><summary>The proof, with the mean value theorem</summary>
#
# Write $g(\alpha)=\ln\sum_i p_i^\alpha q_i^{1-\alpha}$. Then $g(1)=\ln\sum_ip_i=0$, so $D_\alpha=\frac{g(\alpha)-g(1)}{\alpha-1}$ is the slope of a chord of $g$. By the mean value theorem this slope is $g'(\xi)$ for some $\xi$ between 1 and $\alpha$, and
#
# $$g'(\xi)=\sum_iw_i\ln\frac{p_i}{q_i},\qquad w_i=\frac{p_i^\xi q_i^{1-\xi}}{\sum_jp_j^\xi q_j^{1-\xi}}.$$
#
# So every divergence is a mean loss; above order 1 its weights $w$ lean further towards large losses than those of $P$. When $\alpha$ goes to 1, so does $\xi$, and $w$ goes to $p$: the limit is $\sum_ip_i\ln\frac{p_i}{q_i}$, the Kullback–Leibler divergence. With infinitely many outputs the sums must be finite near 1, which is the condition above.
#
# </details>
#
# For three outputs we look for the $\xi$ of each order:

# %%
from scipy.optimize import brentq

p, q = np.array([0.3, 0.5, 0.2]), np.array([0.1, 0.3, 0.6])


def mean_loss(xi):
    weights = p**xi * q ** (1 - xi)
    return np.sum(weights * np.log(p / q)) / np.sum(weights)


for order in (3, 2, 1.1, 1.001):
    divergence = np.log(np.sum(p**order * q ** (1 - order))) / (order - 1)
    xi = brentq(lambda xi, d=divergence: mean_loss(xi) - d, 1, order)
    print(f"order {order:5}: divergence {divergence:.5f} is the mean loss at xi = {xi:.4f}")
print(f"order     1: the mean loss under P, {np.sum(p * np.log(p / q)):.5f}")

# %% [markdown]
# ### Noise for a budget
#
# Read backwards, the formula of section 5 says how much noise a budget $\varepsilon$ at order $\alpha$ needs: $\sigma=\Delta\sqrt{\alpha/2\varepsilon}$. The same formula is $\sigma^2=\Delta^2\alpha/2\varepsilon$; whoever hands that to a function which asks for a standard deviation adds too little noise wherever it is below 1.

# %%
budget = np.sqrt(10 / (2 * 8.0))
for name, sigma in (("root", budget), ("variance taken for it", budget**2)):
    print(
        f"{name:<22} noise {sigma:.4f}, divergence of order 10: {Gaussian(sigma).rdp([10])[0]:.4g}"
    )

# %% [markdown]
# ### Other neighbours
#
# Under `replace_one` a Gaussian release can cost up to four times the divergence: four times if the vector may be replaced by its opposite, twice in a histogram, and nothing more for a single count.
#
# ### Two more exercises
#
# **★★★ 5.3** An app answers 200 yes/no questions about you by randomised response: each time it tells the truth with probability $e^{0.1}/(1+e^{0.1})$. Neighbours replace your answers. Compute $D_\alpha$ from the definition with its two outcomes, add up, and find the smallest $\varepsilon$ at $\delta = 10^{-6}$ over the integer orders 2 to 64, with the simple conversion.

# %%
answer = None
check("5.3", answer)

# %% [markdown]
# <details><summary>Solution of 5.3</summary>
#
# ```python
# truth = np.exp(0.1) / (1 + np.exp(0.1))
# p, q, whole = np.array([truth, 1 - truth]), np.array([1 - truth, truth]), np.arange(2, 65)
# each = [np.log(np.sum(p**a * q ** (1 - a))) / (a - 1) for a in whole.astype(float)]
# answer = np.min(200 * np.array(each) + np.log(1e6) / (whole - 1))
# check("5.3", answer)
# ```
#
# The result is 8.292, while adding up two hundred times 0.1 would give 20.
#
# </details>

# %% [markdown]
# **★★★ 5.4** Write $D_\alpha(P\,\|\,Q)$ for two lists of probabilities. It must work where an output has probability 0 under $P$ or $Q$, and must not overflow at order 2000.


# %%
def renyi(p, q, order):
    # Write your code here.
    return None


check("5.4", renyi)

# %% [markdown]
# <details><summary>Solution of 5.4</summary>
#
# ```python
# def renyi(p, q, order):
#     from scipy.special import logsumexp
#
#     p, q = np.array(p), np.array(q)
#     p, q = p[p > 0], q[p > 0]
#     if np.any(q == 0):
#         return np.inf
#     return logsumexp(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1)
#
#
# check("5.4", renyi)
# ```
#
# An output that $P$ never produces adds nothing. One that $Q$ never produces gives everything away, and the divergence is infinite. The powers overflow long before the divergence does, so they stay logarithms.
#
# </details>

# %% [markdown]
# ## 11 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** What do D at order 1 and D at order ∞ measure?
#
# <details><summary>a. The smallest and the largest loss.</summary>
#
# No. Order 1 averages; it does not look for a smallest one.
#
# </details>
#
# <details><summary>b. The variance of the loss, and its mean.</summary>
#
# No. The mean is at order 1, and the slope there is half the variance.
#
# </details>
#
# <details><summary>c. The mean of the loss, and its largest value.</summary>
#
# Right. One is the mean privacy loss (the Kullback–Leibler divergence), the other the largest one. Everything between weighs large losses more as the order grows.
#
# </details>
#
# **2** One release is (2, 0.3)-RDP, another is (4, 0.5)-RDP. Are both together (2, 0.8)-RDP?
#
# <details><summary>a. Yes: at order 2 the second costs at most 0.5.</summary>
#
# Right. Different orders are not added: $D_\alpha$ never decreases in $\alpha$, so the second is also $(2, 0.5)$-RDP, and at order 2 the costs add. $(4, 0.8)$ would not follow.
#
# </details>
#
# <details><summary>b. No: different orders never add.</summary>
#
# No. A bound at order 4 is also a bound at order 2.
#
# </details>
#
# <details><summary>c. No, they are (6, 0.8)-RDP.</summary>
#
# No. Orders do not add, but divergences at one order do.
#
# </details>
#
# **3** A program reports ε after trying 500 orders. Must δ be divided by 500?
#
# <details><summary>a. Yes, like 500 tests of one hypothesis.</summary>
#
# No. Nothing is tested: the curve is a fact about the mechanism, not about data.
#
# </details>
#
# <details><summary>b. No: all these statements hold together.</summary>
#
# Right. All the statements hold at once, because the curve does not depend on the data. Choosing the best one reveals nothing.
#
# </details>
#
# <details><summary>c. Only by the number of orders that were close.</summary>
#
# No. Choosing costs nothing where nothing was learned from data.
#
# </details>
#
# **4** For 100 Gaussian releases RDP gives a larger ε than the exact value. Where was it lost?
#
# <details><summary>a. In adding up a hundred divergences.</summary>
#
# No. Divergences of independent releases add without loss.
#
# </details>
#
# <details><summary>b. In rounding the orders to integers.</summary>
#
# No. The best order may be any number, and a finer grid changes little.
#
# </details>
#
# <details><summary>c. In the conversion to (ε, δ).</summary>
#
# Right. The divergences of Gaussians add exactly; one moment of the loss says less than its distribution.
#
# </details>
#
# **5** Your formula for a divergence returns −0.2 at some parameters. What do you know?
#
# <details><summary>a. It is wrong there, or digits were lost.</summary>
#
# Right. The formula or its conditions are wrong there, or you lost digits: no divergence of order $\alpha > 0$ is negative.
#
# </details>
#
# <details><summary>b. The mechanism is more than private.</summary>
#
# No. Nothing can be more private than a divergence of 0.
#
# </details>
#
# <details><summary>c. The two distributions were exchanged.</summary>
#
# No. That gives another number, and it is not negative either.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("5.test", answers)

# %% [markdown]
# ## 12 On one card
#
# | | |
# |---|---|
# | **Rényi divergence** | $D_\alpha(P\Vert Q)=\frac1{\alpha-1}\ln\mathbb E_P\,e^{(\alpha-1)L}$, a dial from mean to largest loss |
# | **Gaussian noise** | $D_\alpha=\alpha/(2\sigma^2)$; unequal variances: the root, and $\sigma_\alpha^2>0$ |
# | **Composition** | add at the same order |
# | **Conversion** | $\varepsilon=D_\alpha+\frac{\ln(1/\delta)}{(\alpha-1)}$, once, at the best order |
# | **Best order** | $1+\sqrt{\ln(1/\delta)/\rho}$ when $D_\alpha=\rho\,\alpha$ |
# | **Not** | one $\varepsilon$ for all orders (that is pure DP); not a superset of $(\varepsilon,\delta)$ |
#
# ## 13 Further reading
#
# * Mironov (2017), *Rényi differential privacy*: definition, composition, conversion.
# * van Erven & Harremoës (2014), *Rényi divergence and Kullback–Leibler divergence*: everything about $D_\alpha$.
# * Canonne, Kamath & Steinke (2020), *The discrete Gaussian for differential privacy*; Balle et al. (2020), *Hypothesis testing interpretations and Rényi differential privacy*: the sharper conversion.
# * Bun & Steinke (2016), *Concentrated differential privacy*: what follows when $D_\alpha\le\rho\alpha$ at all orders; lesson 09.
#
# <details><summary>In the formula book</summary>
#
# * The divergence: [never decreases in its order](explorer:formula_book?id=G-A3), [skew symmetry](explorer:formula_book?id=G-A3c), [the limit at order 1](explorer:formula_book?id=G-A3d), [post-processing](explorer:formula_book?id=G-A5), [weak triangle](explorer:formula_book?id=G-A6&misprint=plain), [probabilities of events](explorer:formula_book?id=G-A7), [mixtures](explorer:formula_book?id=G-A11&misprint=convex), [mean loss of pure DP](explorer:formula_book?id=G-A12), [its first bound](explorer:formula_book?id=G-A12c&misprint=tight).
# * Mechanisms: [two Gaussians](explorer:formula_book?id=G-A4), [Laplace noise](explorer:formula_book?id=G-A8&misprint=square), [randomised response](explorer:formula_book?id=G-A9), [noise for a budget](explorer:formula_book?id=G-B19&misprint=variance).
# * Conversion: [to (ε, δ)](explorer:formula_book?id=G-D1), [from pure DP](explorer:formula_book?id=G-D4&misprint=epsilon), [what does not follow](explorer:formula_book?id=G-D5&misprint=dp-bounds-rdp); [pure DP at every order](explorer:formula_book?id=G-D4c&misprint=half), [several releases](explorer:formula_book?id=G-D1b&misprint=bracket), [with Gaussian noise](explorer:formula_book?id=G-B5e&misprint=one-step), [groups](explorer:formula_book?id=G-C8f&misprint=same-order).
#
# </details>
#
# **Next** [lesson 06](06_subsampling.ipynb): what it is worth that nobody knows whether you took part. The last cell re-examines what this lesson claimed.

# %%
# Checks
assert lost_bracket.refuted and 1.5 in at_three and np.isclose(integral(3, 1, 1, 0, 1), 1.5)
assert true_root in simulated and np.isclose(integral(2, 0, 1, 1, 1.5), true_root)
assert np.isclose(true_root, 0.470263, atol=1e-6) and printed_root < 0
assert true < float(sharper(np.geomspace(1.3, 60, 120), 100).min()) < lowest and np.isclose(
    lowest, 5.29853, atol=1e-5
)
assert np.allclose(100 * report.rdp(four), Gaussian(1.0).rdp(four))
print("all checks passed")
