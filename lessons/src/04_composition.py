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
