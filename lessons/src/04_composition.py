# %% [markdown]
# # 04 Composition, basic to optimal
#
# *A hundred harmless answers about the same person: what do they cost together?*
#
# **After this lesson you can**
#
# 1. explain why privacy losses add, even if each question depends on the answers before it, and why their sum almost never reaches the worst case;
# 2. compute the total $\varepsilon$ of $k$ releases by adding up, by two closed formulas and exactly, and say which of them to use;
# 3. spot four ways in which composition is misquoted, two of which promise privacy that is not there.
#
# * **Time** 45 minutes; the computer needs a few seconds of them.
# * **You need** lesson 01 (randomised response), lesson 02 (privacy loss, $\delta(\varepsilon)$), lesson 03 (three ways to compute one number).
# * **Beside it** [the explorer at this lesson's numbers](explorer:?mechanism=laplace&sampling=none&noise_multiplier=10&delta=1e-5&steps=1000&here=100&accountants=basic,advanced,optimal), if you have started it. Nothing below depends on it.
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `epsilon` | $\varepsilon$ | guarantee of *one* release | nats |
# | `steps` | $k$ | number of releases about the same people | none |
# | `total` | $\varepsilon_{\text{tot}}$ | guarantee of all releases together | nats |
# | `slack` | $\delta'$ | what the composition itself may fail with | probability |
# | `paid` | $\delta_0$ | the $\delta$ of one release, 0 for most of this lesson | probability |
# | `loss` | $L$ | privacy loss $\ln p(y)/q(y)$ of what was published | nats |

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One idea carries the lesson: the total loss is a random walk, so its mean grows like $k$ with a tiny slope, its spread like $\sqrt k$, and the end point $k\varepsilon$ is reached by nobody.
# >
# > | minutes | part | do |
# > |---|---|---|
# > | 5 | 1–2 question, guesses | hands up for each guess before anybody runs a cell |
# > | 8 | 3–4 experiment, picture | let them describe the walks in their own words |
# > | 11 | 5 statement | the chain rule on the board; the three ways |
# > | 7 | 6 closed formulas | the crossing; reveal the guesses |
# > | 5 | 7 prices and budgets | the table first, then the loop that stops |
# > | 6 | 8 is it true? | 8.2 for everyone, the others in groups |
# > | 3 | 9–10 slider, limits | ask for the frame at which adding up is nearly right |
# > | – | 11–12 exercises, questions | homework |

# %% [markdown]
# ## 1 The question
#
# Anna has joined a health panel. Every evening her phone asks her one yes/no question and replies for her by randomised response: with probability $p = e^{\varepsilon}/(1+e^{\varepsilon})$ the truth, otherwise the opposite. At $\varepsilon = 0.1$ this is hardly more than a fair coin, and one reply harms nobody.
#
# But there is a next evening. After a hundred evenings the panel holds a hundred replies about the same Anna, and it may choose tomorrow's question after seeing today's reply. What is the $\varepsilon$ of all hundred together?
#
# Two datasets are *neighbours* here if they differ in Anna's whole record, all evenings at once (`replace_one`). It is the person we protect, not the evening.

# %%
import math

import numpy as np
from scipy.integrate import dblquad
from scipy.stats import binom, norm

from dplearn.accountants import accountants
from dplearn.formulas.composition import (
    advanced_composition,
    advanced_composition_break_even,
    advanced_composition_kov,
    advanced_composition_kov_break_even,
    heterogeneous_composition,
    optimal_composition,
    optimal_composition_delta,
    total_delta,
)
from dplearn.lessons import Evidence, check, estimate, guess, predict, reveal, show
from dplearn.mechanisms import Gaussian, Laplace, RandomizedResponse
from dplearn.pld import PrivacyLossDistribution
from dplearn.plotting.lessons import Band, Bars, Line, Mark, curves, slider
from dplearn.profile import Profile

# %% [markdown]
# ## 2 Predict
#
# The obvious answer is to add up. There is also a theorem whose bound grows like $\sqrt k$ instead of $k$; you will meet it in section 6. Both at $\delta = 10^{-5}$:

# %%
p = 1 / (1 + np.exp(-0.1))
print(f"probability of the truth {p:.4f}")
print("replies   adding up   the other theorem")
for k in (1, 100):
    other = float(advanced_composition_kov(epsilon=0.1, steps=k, slack=1e-5))
    print(f"{k:7}   {0.1 * k:9.3g}   {other:17.4g}")

# %% [markdown]
# For one reply the other theorem is absurd, for a hundred it is the better one. Commit yourself:
#
# * **Epsilon of 100 replies.** Neither need be the best possible. What is the smallest $\varepsilon$ that is true at $\delta = 10^{-5}$?
# * **Crossing.** From how many replies on is the other theorem below adding up?

# %%
predict("epsilon of 100 replies", None)
predict("crossing", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Most answers to the first question lie between 5 and 10, because 10 has been on the screen; take them without comment. The second can be estimated in the head: 0.485 $\sqrt k$ meets 0.1 $k$ at $k\approx 23$. If somebody does this aloud, let the class try to say what the estimate leaves out.

# %% [markdown]
# ## 3 A small experiment
#
# Let Anna's true answer be 0 every evening, and that of the person who might be in her place 1. Then a reply of 0 has the loss $\ln\frac{p}{1-p} = +\varepsilon$: it speaks for Anna. A reply of 1 has the loss $-\varepsilon$. We play 5000 Annas for 1000 evenings and add up the losses of each.

# %%
coin, rng = RandomizedResponse(local_epsilon=0.1), np.random.default_rng(4)
replies = coin.release(np.zeros((5000, 1000), dtype=int), rng=rng)
loss = np.where(replies == 0, 0.1, -0.1)
walk = loss.cumsum(axis=1)

# %% [markdown]
# Every Anna now is a random walk with steps $\pm0.1$. Where are the 5000 after $k$ evenings?

# %%
print("    k     mean   0.005 k   spread   0.1 √k   largest   worst case")
for k in (1, 10, 100, 1000):
    now = walk[:, k - 1]
    middle = f"{now.mean():7.3f}   {0.1 * np.tanh(0.05) * k:7.3f}"
    spread = f"{now.std():6.3f}   {0.1 * np.sqrt(k):6.3f}"
    print(f"{k:5}  {middle}   {spread}   {now.max():7.1f}   {0.1 * k:10.1f}")

# %% [markdown]
# Read the columns against each other. The **mean** grows like $k$, but with a slope of 0.005 instead of 0.1: this slope is the **drift** $p\varepsilon-(1-p)\varepsilon=\varepsilon\tanh(\varepsilon/2)$. The **spread** grows like $\sqrt k$. The **worst case** $k\varepsilon$ runs away from both. After 1000 evenings the most exposed of 5000 Annas has lost 16 nats out of a possible hundred.
#
# Five of the walks for the first hundred evenings:

# %%
k = np.arange(1, 101)
drift, spread = 0.1 * np.tanh(0.05) * k, 0.1 * np.sqrt(k)
band = Band(x=k, lower=drift - 3 * spread, upper=drift + 3 * spread, label="")
walks = [Line(x=k, y=walk[i, :100], label="", role="other") for i in range(5)]
figure = curves(
    [
        band,
        *walks,
        Line(x=k, y=drift, label="mean"),
        Line(x=k, y=0.1 * k, label="worst case", role="basic"),
    ],
    title="The losses wander; adding up supposes that none ever turns back",
    x="evenings k",
    y="total loss (nats)",
    y_range=(-4, 10.5),
)
end = f"mean {drift[-1]:.3f}, spread {spread[-1]:.3f}, worst case {0.1 * k[-1]:.3g}"
show(figure, f"Five random walks of the loss; after 100 evenings {end}.")

# %% [markdown]
# (The shaded band is the mean plus and minus three spreads.)

# %% [markdown]
# ## 4 The picture
#
# A simulation cannot show what happens once in a hundred thousand times. Enumeration can. One coin moves the total by $+\varepsilon$ or $-\varepsilon$; the law of a sum of independent steps is a convolution. `unit` is the mesh on which all losses lie.


# %%
def law(epsilons, unit):
    masses = np.ones(1)
    for epsilon in epsilons:
        size = round(epsilon / unit)
        step = np.zeros(2 * size + 1)
        step[[0, -1]] = 1 / (1 + np.exp(epsilon)), 1 / (1 + np.exp(-epsilon))
        masses = np.convolve(masses, step)
    half = masses.size // 2
    return unit * np.arange(-half, half + 1), masses


# %% [markdown]
# The guarantee follows from that law, as in lesson 03: $\delta(\varepsilon_{\text{tot}})=\mathbb E\,(1-e^{\varepsilon_{\text{tot}}-L})_+$. The library inverts it.


# %%
def delta_of(total, losses, masses):
    return float(masses @ np.maximum(0, 1 - np.exp(total - losses)))


losses, masses = law([0.1] * 100, unit=0.1)
optimum = float(optimal_composition(epsilon=0.1, steps=100, slack=1e-5))
print(f"smallest epsilon at delta 1e-05   {optimum:.4f}")
print(f"delta there, from the law         {delta_of(optimum, losses, masses):.4g}")
print(f"probability of a larger loss      {masses[losses > optimum].sum():.4g}")
print(f"probability of the worst case     {masses[-1]:.3g}")

# %% [markdown]
# Here is the whole law on a logarithmic scale. Red: the losses above $\varepsilon_{\text{tot}}$, for which $\delta$ pays.


# %%
def tail(epsilon, steps=100, scale=1.0, x="total loss (nats)"):
    losses, masses = (values[::2] for values in law([epsilon] * steps, epsilon))
    optimum = float(optimal_composition(epsilon=epsilon, steps=steps, slack=1e-5))
    beyond, worst = losses > optimum, steps * epsilon
    inside = np.where(beyond, 0, masses)
    return curves(
        [
            Bars(x=losses / scale, y=inside, label=""),
            Bars(x=losses / scale, y=masses - inside, label="", role="wrong"),
            Line(x=[optimum / scale] * 2, y=[1e-32, 20], label=f"optimum {optimum:.4g}"),
            Line(x=[worst / scale] * 2, y=[1e-32, 20], label=f"adding up {worst:.4g}", role="basic"),
        ],
        title=f"ε = {epsilon:g}: the optimum is {optimum / worst:.0%} of adding up",
        x=x,
        y="probability",
        log_y=True,
        y_range=(1e-32, 1e4),
    )


# %% [markdown]
# What looks like a parabola is the bell of the normal distribution, seen in logarithms.

# %%
show(
    tail(0.1),
    f"Law of the total loss of 100 replies; optimum {optimum:.4g}, adding up 10.",
)

# %% [markdown]
# Adding up charges for the last column on the right, whose probability is $10^{-28}$. An attacker who waits for it waits in vain.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask why the red columns together weigh $5.3\times10^{-5}$ and yet cost only $10^{-5}$. (A loss just above $\varepsilon_{\text{tot}}$ costs next to nothing: the charge is $1-e^{\varepsilon_{\text{tot}}-L}$, not 1.) Then put the chain rule on the board, with two evenings, before anybody reads section 5. The usual stumble is the word *independent*: let them say which two things are independent.

# %% [markdown]
# ## 5 The statement
#
# ### 5.1 Losses add, whatever was asked
#
# Is it allowed to multiply chances at all, when the second question depends on the first reply? Suppose the first reply decides: after a 1 the panel asks something on which Anna and the other person would differ again, after a 0 something on which both would say no. Enumerate the four evenings that can be. Anna would first say 1, the other person 0.


# %%
def chance(reply, truth):
    return p if reply == truth else 1 - p


print("replies   with Anna   without   loss of both   first + second")
for first, second in ((1, 1), (1, 0), (0, 1), (0, 0)):
    anna, other = (1, 0) if first else (0, 0)  # their truths for the second question
    steps = [(chance(first, 1), chance(first, 0)), (chance(second, anna), chance(second, other))]
    with_anna, without = (math.prod(column) for column in zip(*steps, strict=True))
    summed = sum(math.log(a / b) for a, b in steps)
    ratio = math.log(with_anna / without)
    print(f"  {first}, {second}   {with_anna:9.4f}   {without:7.4f}   {ratio:+12.1f}   {summed:+14.1f}")

# %% [markdown]
# The last two columns agree because every joint probability is $p(y_1)\,p(y_2\mid y_1)$, and the logarithm of a product is a sum. This is the chain rule. It needs **no independence** of the replies: here the second depends on the first through the question. Only the *coin* of the second evening must be fresh.
#
# > **Basic composition.** If every release is $(\varepsilon_t,\delta_t)$-DP *whatever was published before it*, then all together are $(\sum\varepsilon_t,\sum\delta_t)$-DP. (Dwork, McSherry, Nissim & Smith 2006 for $\delta=0$; Dwork & Roth 2014, Theorem 3.16 and appendix B.)
#
# *Why, for $\delta_t=0$.* Each summand of the loss is at most $\varepsilon_t$.

# %% [markdown]
# ### 5.2 The best possible
#
# > **Optimal composition.** Let $k$ releases be $\varepsilon$-DP each, whatever was published before. Then for every $\varepsilon_{\text{tot}}\ge0$ they are together $(\varepsilon_{\text{tot}},\delta)$-DP with
# >
# > $$\delta=\sum_{j=0}^{k}\binom kj p^j(1-p)^{k-j}\Big(1-e^{\varepsilon_{\text{tot}}-(2j-k)\varepsilon}\Big)_+,\qquad p=\frac{e^\varepsilon}{1+e^\varepsilon},$$
# >
# > and $k$ randomised responses need all of it. (Kairouz, Oh & Viswanath 2015, Theorem 3.3.)
#
# *Why.* The sum is the $\delta$ of $k$ coins, $j$ of which told the truth: that is our picture. The surprise is that **nothing is worse than a coin**. Take any $\varepsilon$-DP release with densities $P$ (with Anna) and $Q$ (without), and set
#
# $$A=\frac{e^\varepsilon P-Q}{e^\varepsilon-1},\qquad B=\frac{e^\varepsilon Q-P}{e^\varepsilon-1}.$$
#
# Both are densities, because $\varepsilon$-DP says precisely that neither is negative. And $P=pA+(1-p)B$, $Q=(1-p)A+pB$. So the release can be staged: toss Anna's coin, then draw from $A$ or from $B$. Whoever sees the coin can produce the release without the data, and evening after evening it stays so. Whatever $k$ releases tell, $k$ coins had told before.
#
# For Laplace noise of scale 10, which is 0.1-DP for a count, in numbers:

# %%
y, e = np.linspace(-400, 400, 800_001), np.exp(0.1)
with_anna, without = np.exp(-np.abs(y - 1) / 10) / 20, np.exp(-np.abs(y) / 10) / 20
a, b = (e * with_anna - without) / (e - 1), (e * without - with_anna) / (e - 1)
mixed = np.abs(p * a + (1 - p) * b - with_anna).max()
print(f"smallest values of A and B   {a.min() > -1e-12}, {b.min() > -1e-12} (not negative)")
print(f"areas of A and B             {np.trapezoid(a, y):.4f}, {np.trapezoid(b, y):.4f}")
print(f"p A + (1 - p) B is P         {mixed < 1e-12}")

# %% [markdown]
# Three ways again, for the $\delta$ at $\varepsilon_{\text{tot}}=2$. The sum in the theorem:


# %%
def formula(total, epsilon, steps):
    j = np.arange(steps + 1)
    gain = np.maximum(0, 1 - np.exp(total - (2 * j - steps) * epsilon))
    return float(binom.pmf(j, steps, 1 / (1 + np.exp(-epsilon))) @ gain)


# %% [markdown]
# The convolution of section 4, which knows no binomial coefficient. And the walks of section 3, cut into 50 000 pieces of a hundred evenings.


# %%
def simulation(total, loss):
    return estimate(np.maximum(0, 1 - np.exp(total - loss)))


hundred = Evidence(
    "delta of 100 replies at a total epsilon of 2",
    closed=formula(2, 0.1, 100),
    exact=delta_of(2, losses, masses),
    simulated=simulation(2, loss.reshape(-1, 100).sum(axis=1)),
    exact_by="convolution",
)
print(hundred)

# %% [markdown]
# So is adding up wrong? No: it is the limit of the optimum as $\delta\to0$. Without any $\delta$ nothing better can be said.

# %%
print("delta     optimal epsilon of 100 replies")
for delta in (1e-2, 1e-5, 1e-10, 1e-20, 1e-30):
    print(f"{delta:5.0e}   {float(optimal_composition(epsilon=0.1, steps=100, slack=delta)):9.4f}")

# %% [markdown]
# Is "adding up is the best $\varepsilon$, at every $\delta$" printed anywhere? It is, and [the book refutes it](explorer:formula_book?id=G-C1&misprint=tight).
#
# ### 5.3 When every release has a delta of its own
#
# The worst $(\varepsilon,\delta_0)$ release is a coin that leaks: with probability $\delta_0$ it shows Anna's record to everybody, otherwise it is the coin from before. What do $k$ of them cost? Either some coin leaked, or none did, with probability $(1-\delta_0)^k$, and then the old $\delta'$ applies:
#
# $$\delta=1-(1-\delta_0)^k(1-\delta')\;\le\;k\delta_0+\delta'.$$
#
# (Kairouz, Oh & Viswanath 2015, Theorem 3.3.) So from a given $\delta$ the releases first take $k\delta_0$; what is left is the `slack` of the composition.

# %% [markdown]
# ## 6 Two closed formulas
#
# The optimum is a sum; in the head, in a proof or in a table one wants a formula.
#
# > **Advanced composition.** Let $k$ releases be $(\varepsilon,\delta_0)$-DP each, whatever was published before, and $0<\delta'<1$. Together they are $(\varepsilon_{\text{tot}},\,k\delta_0+\delta')$-DP with
# >
# > $$\varepsilon_{\text{tot}}=\underbrace{\varepsilon\sqrt{2k\ln(1/\delta')}}_{\text{spread}}+\underbrace{k\varepsilon\,(e^\varepsilon-1)}_{\text{drift}}\qquad\text{(Dwork, Rothblum & Vadhan 2010, Theorem III.3).}$$
# >
# > The drift may be replaced by $k\varepsilon\,\frac{e^\varepsilon-1}{e^\varepsilon+1}=k\varepsilon\tanh(\varepsilon/2)$ (Kairouz, Oh & Viswanath 2015, Theorem 3.4).
#
# *Why.* Given the past, one evening's loss lies between $-\varepsilon$ and $\varepsilon$, and its mean is at most the coin's, $\varepsilon\tanh(\varepsilon/2)$. What remains after the mean is taken off is a walk without drift. By the inequality of Azuma and Hoeffding it exceeds $t$ after $k$ steps with probability at most $e^{-t^2/(2k\varepsilon^2)}$. Set this to $\delta'$ and solve for $t$. (A tail is never smaller than the $\delta$ it stands for, so this is on the safe side.) The authors of 2010 bounded the mean more generously.
#
# We call the two DRV and KOV, after their authors.

# %%
methods = {"DRV": advanced_composition, "KOV": advanced_composition_kov}
methods["optimum"] = optimal_composition
print("  k   adding up      DRV      KOV   optimum")
for k in (1, 10, 25, 26, 100, 1000):
    row = [float(f(epsilon=0.1, steps=k, slack=1e-5)) for f in methods.values()]
    print(f"{k:4}   {0.1 * k:9.4g}   " + "   ".join(f"{value:6.3f}" for value in row))

# %% [markdown]
# Both formulas lose to adding up at first. Where they begin to win follows by solving for $k$: for KOV at $k^*=\frac12(e^\varepsilon+1)^2\ln(1/\delta')$.

# %%
crossing = advanced_composition_kov_break_even(epsilon=0.1, slack=1e-5)
drv_crossing = advanced_composition_break_even(epsilon=0.1, slack=1e-5)
print(f"KOV wins beyond k = {crossing:.3f}, DRV beyond k = {drv_crossing:.3f}")

# %% [markdown]
# Now your guesses.

# %%
others = {"adding up": 10.0, "DRV": float(advanced_composition(epsilon=0.1, steps=100, slack=1e-5))}
reveal("epsilon of 100 replies", truth=optimum, others=others)
reveal("crossing", truth=crossing)

# %% [markdown]
# And everything on one page. On logarithmic axes adding up is a straight line of slope 1. The others begin with slope ½, as long as the spread rules, and bend towards slope 1 when the drift takes over.

# %%
ks = np.unique(np.geomspace(1, 3000, 60).astype(int))
drv, kov, best = (f(epsilon=0.1, steps=ks, slack=1e-5) for f in methods.values())
marks = [Mark(x=crossing, y=0.1 * crossing, label=f"k* = {crossing:.1f}", role="advanced")]
if guess("epsilon of 100 replies"):
    marks += [Mark(x=100, y=guess("epsilon of 100 replies"), label="your ε", role="guess")]
if guess("crossing"):
    marks += [Mark(x=guess("crossing"), y=0.1 * guess("crossing"), label="your k*", role="guess")]

# %% [markdown]
# The diamond is the crossing; your guesses, if you made them, are on it too.

# %%
figure = curves(
    [
        Line(x=ks, y=0.1 * ks, label="adding up", role="basic"),
        Line(x=ks, y=drv, label="DRV", role="other"),
        Line(x=ks, y=kov, label="KOV", role="advanced", label_at=0.05, side="top right"),
        Line(x=ks, y=best, label="optimum", label_at=0.62, side="bottom right"),
    ],
    marks=marks,
    title="Adding up grows like k, the truth at first like √k",
    x="number of replies k, ε = 0.1 each",
    y="total ε (nats) at δ = 10⁻⁵",
    log_x=True,
    log_y=True,
)
end = f"adding up {0.1 * ks[-1]:.4g}, DRV {drv[-1]:.4g}, KOV {kov[-1]:.4g}, optimum {best[-1]:.4g}"
show(figure, f"Total epsilon after {ks[-1]} replies: {end}; KOV crosses at {crossing:.1f}.")

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Two questions for the board. Why does the optimum start *on* the grey line? (With few replies the worst case is not rare.) Why do KOV and the optimum come together on the right? (There the drift rules, and both know it exactly.) If time is short, skip 5.3 and come back to it in 8.4.

# %% [markdown]
# In programs you need not choose. The accountants `basic`, `advanced` (the smaller of KOV and adding up) and `optimal` take any mechanism, read off it the best $(\varepsilon,\delta_0)$ and split $\delta$. All three are upper bounds; the last column is what is true, with a bracket so narrow that four digits are the same at both ends.

# %%
cases = {"replies": (coin, "replace_one"), "Laplace noise, scale 10": (Laplace(10.0), "add_remove")}
cases["normal noise, σ = 10"] = (Gaussian(noise_multiplier=10.0), "add_remove")
print("100 releases at delta = 1e-05   basic   advanced   optimal     true")
for name, (mechanism, adjacency) in cases.items():
    run = {"delta": 1e-5, "steps": 100, "adjacency": adjacency}
    found = [accountants[a]().epsilon(mechanism, **run) for a in ("basic", "advanced", "optimal")]
    exact = accountants["pld"]().epsilon(mechanism, **run).epsilon
    print(f"{name:<29}" + "".join(f"{g.epsilon:9.4g}" for g in found) + f"{exact:9.3g}")

# %% [markdown]
# The last line is a warning. For normal noise even the "optimal" accountant is off by a factor of six, because the only thing it keeps of a release is one pair $(\varepsilon,\delta_0)$. Optimal means: the best for somebody who knows nothing but the pair. Lesson 05 keeps more.

# %% [markdown]
# ## 7 Different prices, and a budget that stops
#
# Not every question is worth the same. Let 20 of the hundred evenings have $\varepsilon=0.3$ and 80 have $\varepsilon=0.05$. The sum is 10 as before. Is the total then as before, too?
#
# > **Different releases.** $\varepsilon_{\text{tot}}=\sqrt{2\ln(1/\delta')\sum\varepsilon_t^2}+\sum\varepsilon_t\tanh(\varepsilon_t/2)$, or $\sum\varepsilon_t$ where that is smaller. (Kairouz, Oh & Viswanath 2015, Theorem 3.5.) The optimum takes in general more than polynomial time, unless a widely believed conjecture fails; on a common mesh a convolution does it. (Murtagh & Vadhan 2016.)

# %%
mixed_law = law([0.3] * 20 + [0.05] * 80, unit=0.05)
mixed_kov = float(heterogeneous_composition(epsilons=[0.3, 0.05], counts=[20, 80], slack=1e-5))
largest = float(optimal_composition(epsilon=0.3, steps=100, slack=1e-5))
print(f"adding up                          {20 * 0.3 + 80 * 0.05:.4f}")
print(f"a hundred times the largest        {largest:.4f}")
print(f"KOV                                {mixed_kov:.4f}")
print(f"a hundred times the average of 0.1 {optimum:.4f}, delta there ", end="")
print(f"{delta_of(optimum, *mixed_law):.3g}")

# %% [markdown]
# Putting in the largest price wastes ([the book](explorer:formula_book?id=G-C5&misprint=largest) measures how much). Putting in the **average is unsafe**: at that $\varepsilon_{\text{tot}}$ the true $\delta$ is over two hundred times the promised $10^{-5}$. What counts is $\sum\varepsilon_t^2$, and unequal prices make it larger. The exact value, from the convolution:


# %%
def smallest_total(losses, masses, delta=1e-5):
    low, high = 0.0, float(losses[-1])
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle, losses, masses) > delta else (low, middle)
    return high


mixed_best = smallest_total(*mixed_law)
print(f"optimum for 20 x 0.3 and 80 x 0.05   {mixed_best:.4f}")
print(f"optimum for 100 x 0.1                {smallest_total(losses, masses):.4f}")

# %% [markdown]
# So far all prices were fixed in advance. Often they are not: the panel pays more for an interesting follow-up, and stops when the budget is gone. Then even the number of releases depends on the replies, and a theorem with a fixed $k$ does not apply as it stands. A **privacy filter** is a rule for when to stop that is proved to keep the total within the budget. Adding up is one. Another: go on while $\sqrt{2\ln(1/\delta)\sum\varepsilon_t^2}+\frac12\sum\varepsilon_t^2$ stays within it (Rogers et al. 2016 introduced the question, Whitehouse et al. 2023 proved this rule). The rule decides *before* each release whether it still fits.


# %%
def ask_until(budget, cost, rng):
    prices, price = [], 0.05
    while cost([*prices, price]) <= budget:
        prices.append(price)
        reply = RandomizedResponse(price).release(1, rng=rng)
        price = 0.1 if reply == 1 else 0.05  # interesting: pay more next time
    return prices


def walk_cost(prices):
    squares = sum(price**2 for price in prices)
    return math.sqrt(2 * math.log(1e5) * squares) + squares / 2


# %% [markdown]
# A budget of $\varepsilon_{\text{tot}}=3$ at $\delta=10^{-5}$:

# %%
for name, cost in (("adding up", math.fsum), ("filter", walk_cost)):
    spent = ask_until(3.0, cost, np.random.default_rng(40))
    print(f"{name:<9}  stops after {len(spent)} replies, {cost(spent):.4f} of 3 spent")

# %% [markdown]
# Why so careful? Because *looking before stopping* changes the odds. Each evening on its own, one walk in a hundred may lie above the level below. How many of our 5000 walks lie above it on **some** evening?

# %%
evenings = np.arange(1, 1001)
level = 0.1 * (2 * binom.isf(0.01, evenings, p) - evenings)
above = walk > level + 1e-9
print(f"above on evening 1000   {above[:, -1].mean():.1%}")
print(f"above on some evening   {above.any(axis=1).mean():.1%}")

# %% [markdown]
# Ten times as many. So a bound for a $k$ chosen in advance is no bound for a $k$ chosen by looking. A **filter** answers "may I ask once more?" and costs next to nothing extra. An **odometer**, which shows a valid $\varepsilon$ at *every* moment, must be a little more expensive (Rogers et al. 2016).
