# %% [markdown]
# # 16 Is it true? Twelve printed formulas, put to the test
#
# *A wrong formula looks exactly like a right one. What would change your mind?*
#
# A paper, a slide or the comment above a function contains a formula for $\varepsilon$, and a system will be built on it. The mistake is seldom in the proof; it is in the copy, where a bracket, a root or a condition is lost. To refute a claim, **one point is enough**, and a computer can try many. We practise on one claim: *"the Rényi divergence of order 2 obeys the triangle inequality, $D_2(P\Vert Q)\le D_2(P\Vert R)+D_2(R\Vert Q)$"*.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. read a printed formula as a claim that can fail: about which quantity, in which direction, under which condition;
# 2. look for a counterexample by computation, and say whether the error promises too much privacy or only too little;
# 3. recognise ten formulas that are in circulation and fail, say what holds instead, and trust two that look no better and hold.
#
# * **Time** NN minutes in class, and as much again at home; no other lesson needs this one.
# * **You need** lessons 03 (Gaussian noise) and 05 (Rényi divergence); composition and sampling as in lessons 04 and 06; nothing by heart.
# * **Beside it** the explorer, if you have started it: [type a claim of your own](explorer:check_a_claim?claim=sigma%20%3D%20sqrt%282*ln%281.25/delta%29%29/epsilon), or open [the formula book](explorer:formula_book?id=G-B4&misprint=any-epsilon); nothing below depends on it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `epsilon`, `delta` | $\varepsilon$, $\delta$ | the guarantee | nats, probability |
# | `noise_multiplier` | $\sigma$ | noise / largest norm of one contribution | none |
# | `order`, `rdp` | $\alpha$, $\tau$ | order, and a bound on the Rényi divergence $D_\alpha$ | none, nats |
# | `sample_rate` | $q$ | chance of a record to be in a batch | probability |
# | `steps` | $k$, $T$ | number of releases | none |
# | `loss` | $L$ | privacy loss of an output: its log likelihood ratio | nats |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** A tournament: teams vote before each claim, one point goes to whoever names the side of the error, another to whoever says what repairs it, a condition or another formula. One sentence to leave with: to destroy a claim one point is enough; to believe it you need a proof or an independent oracle.
#
# | minutes | part | do |
# |---|---|---|
# | 8 | 0 The first screen | whose formula would you not dare to doubt? everybody types one expression, then a guess |
# | 3 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again; it is decided in section 9 |
# | 3 | 3 Three friendly points | stop after three triples and ask who is convinced |
# | 4 | 4 What a computation can say | write the three questions on the board; they stay there |
# | 3 | 5 The ballot | fingers for all five claims; somebody types the majority |
# | 2 | 6 Claim 1 | an argument before the cell |
# | 6 | 7 An exercise | alone, then compare with the neighbour |
# | 7 | 8 Claims 7, 10 and 11 | an argument before each cell |
# | 4 | 9 The scoreboard, and a slider | which side was guessed worst? |
# | 2 | 10 Where this breaks | one line |
# | – | 11 to 14 | homework |

# %% tags=["hide-input"]
import numpy as np

from dplearn.mechanisms import Gaussian
from dplearn.teaching.classroom import check, pictures, predict, reveal

draw = pictures("16")
draw.triple()

# %% [markdown]
# **★ 16.1** *(In class, 2 minutes.)* $D_2(P\Vert Q)$ is the logarithm of the mean of $(p/q)^2$ over $Q$. Replace `...` by what an outcome of chances $p$ and $q$ adds to this mean.

# %%
import math


def divergence(first, second):
    pairs = zip(first, second)
    return math.log(sum(... for p, q in pairs))


check("16.1", divergence)

# %% [markdown]
# <details><summary>Solution of 16.1</summary>
#
# ```python
# import math
#
#
# def divergence(first, second):
#     pairs = zip(first, second)
#     return math.log(sum(p**2 / q for p, q in pairs))
#
#
# check("16.1", divergence)
# ```
#
# The square $(p/q)^2$ is weighted with $q$.
#
# </details>

# %%
draw.three(divergence)

# %% [markdown]
# By this function, this triple and two more obey the inequality. How many per cent of 2,000 random triples break it?

# %%
predict("per cent of triples that break it", None)

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Answer three questions from earlier lessons.
#
# **1** 03.3
#
# **2** 06.1
#
# **3** 05.5

# %%
answers = ""  # three letters, such as "bca"
check("16.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# Adding up is a theorem: $k$ releases are $k\varepsilon$-DP together. A text prints another bound, which is *smaller* for many $k$. What does that tell you about the text?
#
# <details><summary>a. It is false: nothing can be less than a theorem.</summary>
#
# No. A theorem about an upper bound says "at most", and another theorem may be better.
#
# </details>
#
# <details><summary>b. It is false where it is smaller, and true elsewhere.</summary>
#
# No. Compare it with the truth, not with another upper bound.
#
# </details>
#
# <details><summary>c. Nothing yet, before the truth is known.</summary>
#
# Right. To refute an upper bound you need the truth from *below*.
#
# </details>
#
# <details><summary>d. It is true: a better bound needs a better proof.</summary>
#
# No. A printed formula may have no proof at all.
#
# </details>

# %%
vote = ""  # one letter
check("16.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 Three friendly points
#
# The picture shows all gaps, sorted, and what lies in the red zone is a counterexample.

# %%
gaps = draw.every(divergence)
reveal("per cent of triples that break it", truth=100 * float(np.mean(gaps < 0)))

# %% [markdown]
# Almost one triple in five breaks the inequality. The search need not be blind: `refute` walks downhill from the worst point, then rounds the numbers until a person can check them by hand. `verify` applies the same search to the true statement, which has larger orders on its right side.

# %%
from dplearn.teaching.book import book, refute, verify

triangle = book["G-A6"]
print("plain ", refute(triangle, triangle.misprint("plain")).counterexample)
print("weak  ", verify(triangle, points=20).status)

# %% [markdown]
# The second line matters as much as the first, because a search that refutes every statement shows nothing.
#
# ## 4 What a computation can say
#
# > Let a text claim $\text{truth}(\theta)\le c(\theta)$ for all parameters $\theta$ in a set.
# >
# > * If at *one* $\theta$ of the set a **proved lower bound** on the truth exceeds $c(\theta)$, the claim is false.
# > * If the claim holds at a *million* points, it has survived, but it is not proved.
# > * An equality is two claims, one for each direction.
# >
# > The truth must not come from the formula, but from the definition by quadrature or enumeration, or from an accountant that proves both ends.

# %%
draw.ends()

# %% [markdown]
# `judge` does this for an entry of the book, from twenty starting points. If somebody proposes a missing condition, it tries the claim again inside it. *UNSAFE* is the word to watch for: an error on the safe side costs accuracy, and an error on the unsafe side is a promise that is not kept.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** For each claim ask in this order: what is claimed to bound what, under which condition, and which side is dangerous? Teams that answer "it is wrong" without a side get no point.

# %% [markdown]
# *To here NN minutes.*
#
# ## 5 The ballot
#
# The class judges four formulas (eight more follow at home), and each was printed or programmed by somebody. Give every one a number: **0** true as printed; **1** false, but it never claims more privacy than there is; **2** false, and somewhere it claims more.
#
# | | the claim |
# |---|---|
# | **1** | For every $\varepsilon>0$, Gaussian noise of $\sigma=\sqrt{2\ln(1.25/\delta)}/\varepsilon$ on a query of sensitivity 1 is $(\varepsilon,\delta)$-DP. |
# | **7** | After $k$ releases that are $\varepsilon$-DP each, the total at $\delta$ is at most $2\varepsilon\sqrt{2k\ln(1/\delta)}$. |
# | **10** | Shuffle the data, cut it into $B$ batches: the epoch leaks no more than $B$ Poisson steps at rate $1/B$. |
# | **11** | If $D_\alpha\le\tau$, the mechanism is $(\varepsilon,\delta)$-DP with $\varepsilon=\tau+\ln\frac{\alpha-1}\alpha-\frac{\ln\delta+\ln\alpha}{\alpha-1}$ (or 0, if that is negative). |

# %%
ballot = {
    "1 classical noise": None,
    "7 2ε √(2k ln 1/δ)": None,
    "10 shuffled batches": None,
    "11 no bracket": None,
}
for name, number in ballot.items():
    predict(name, number)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Claims 1 and 10 are believed by most people who have used them, and hardly anybody trusts 11. Do not resolve anything yet.

# %% [markdown]
# ## 6 Claim 1
#
# Claim 1 states the classical noise for every ε. What in it makes you suspicious? Decide before you look at the verdict.

# %%
noise = draw.judge("1 classical noise", "G-B4/any-epsilon", condition="epsilon <= 1")
usual = noise.value({"epsilon": 10.0, "delta": 1e-5})
needed = Gaussian.analytic(epsilon=10, delta=1e-5)
print(f"at delta 1e-05: {usual:.4f} instead of {needed.noise_multiplier:.4f}")

# %% [markdown]
# *Why.* The proof bounds a normal tail by a simpler one, and this step needs a small $\varepsilon$. The error is on the unsafe side for large $\varepsilon$. The exact condition, `Gaussian.analytic`, replaces it.
#
# *To here NN minutes.*
#
# ## 7 An exercise
#
# **★ 16.2** *(In class, 5 minutes.)* A tool reports $\varepsilon=\frac{\sqrt{2\ln(1/\delta)}}{\sigma}-\frac1{2\sigma^2}$ for one release with Gaussian noise; a shifted order made a minus of a plus. For $\sigma=0.5$ and $\delta=10^{-5}$: which $\delta$ does the reported $\varepsilon$ really have?


# %%
answer = None
check("16.2", answer)

# %% [markdown]
# <details><summary>Solution of 16.2</summary>
#
# ```python
# reported = np.sqrt(2 * np.log(1e5)) / 0.5 - 1 / (2 * 0.5**2)
# answer = float(Gaussian(0.5).profiles()[0].delta(reported))
# check("16.2", answer)
# print(f"reported epsilon {reported:.3f}, delivered delta {answer:.3g}")
# ```
#
# The tool reports 7.597, and there $\delta$ is $9.75\times10^{-4}$: almost a hundred times the promise.
#
# </details>

# %% [markdown]
# *To here NN minutes.*
#
# ## 8 Claims 7, 10 and 11
#
# **Claim 7** is a curve that lacks the drift, the mean of the losses; Near & Abuah, *Programming Differential Privacy*, chapter 6, plot it as advanced composition. We try a condition that a better theorem suggests, and then compute, for $\varepsilon=1$ each, the exact optimum and the theorem that the curve was meant to be.

# %%
from dplearn.teaching.book import optimal_composition

small = "steps*tanh(epsilon/2)**2 <= 2*log(1/slack)"
plotted = draw.judge("7 2ε √(2k ln 1/δ)", "G-C2/plotted", condition=small)
print("    k   curve   optimum   adding up   the theorem")
for k in (50, 100, 200, 500):
    at = {"epsilon": 1.0, "steps": k, "slack": 1e-5}
    values = plotted.value(at), float(optimal_composition(**at)), k, book["G-C2"].value(at)
    print(f"{k:5} {values[0]:7.1f} {values[1]:9.1f} {values[2]:11} {values[3]:13.2f}")

# %% [markdown]
# The mean of the sum of $k$ losses grows like $k$, and in the end it exceeds any multiple of $\sqrt k$. The error is on the unsafe side for many releases. The book also calls 966.44 "much lower" than adding up, which gives 500: the theorem is true, but useless here.
#
# **Claim 10** is about shuffled batches. Almost every training program shuffles, and almost every report assumes Poisson sampling. The cell computes one epoch of 10,000 batches at $\delta=10^{-6}$, with both ends proved:

# %%
from dplearn.accountants import ACCOUNTANTS
from dplearn.mechanisms import PoissonSubsampled, Shuffled

shuffled, pld = draw.judge("10 shuffled batches", "G-E11/poisson"), ACCOUNTANTS["pld"]()
noisy = Gaussian(noise_multiplier=0.5)
claimed = pld.epsilon(PoissonSubsampled(noisy, 1e-4), delta=1e-6, steps=10_000)
real = pld.epsilon(Shuffled(noisy, 10_000), delta=1e-6, adjacency="zero_out")
print(f"Poisson  {claimed}\nshuffled {real}")

# %% [markdown]
# *Why.* The reason is Anna's empty seat (lesson 06): without her, one batch of a shuffled epoch still stands out. The error is on the unsafe side, by a factor of five and more. Either sample as the accountant assumes, or take an accountant for shuffled batches.
#
# **Claim 11** has lost its brackets, and looks more garbled than any other claim.

# %%
sharper = draw.judge("11 no bracket", "G-D2")

# %% [markdown]
# It survives, for it is the sharper conversion of lesson 05. A reader who distrusts every formula rejects it, and adds more noise than needed.
#
# *To here NN minutes.*
#
# ## 9 The scoreboard, and a slider
#
# The verdict *unsafe* is red, any other verdict is blue, and your guesses are purple. Two players never compute: the believer says 0 to everything, the cynic 2.


# %%
draw.scoreboard(list(ballot))

# %% [markdown]
# The cynic does well only because a lesson about errors collects errors.
#
# We return to claim 7, and the slider sets the $\varepsilon$ of one release. Will a *smaller* $\varepsilon$ rescue the curve, or only postpone the failure?


# %%
draw.drift()

# %% [markdown]
# It only postpones the failure, which moves right, roughly like $1/\varepsilon^2$. The curve falls below the grey line, adding up, at the same $k$ for every $\varepsilon$. This alone refutes nothing, since a theorem may be better than adding up. Where the curve is *below the blue line*, the exact optimum, it is false, which decides the vote.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** The safe-side errors (claim 2, at home) are worth a minute: what did they cost the people who used them? (Accuracy, money, and sometimes the whole project.)

# %% [markdown]
# ## 10 Where this breaks, and what it does not protect
#
# * **Surviving is not proof.** A search that stops at $\varepsilon=4$ finds no fault in claim 1:


# %%
from dplearn.teaching import claims

text = "sigma = sqrt(2*log(1.25/delta))/epsilon"
for range_ in ("for epsilon <= 4", "for epsilon <= 40"):
    print(f"{text} {range_}: {claims.proofread(text, words=range_).verdict}")

# %% [markdown]
# * **The question must be complete.** It names the adjacency, the sampling and the units: claim 10 is a true formula about another mechanism.
# * **A false formula does not make a program leak.** Claim 1 at $\varepsilon=0.5$ is fine. Say what fails, where, and by how much.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 11 At home: the other eight claims
#
# | | the claim |
# |---|---|
# | **2** | $(\varepsilon,\delta)$-DP means $\Pr[L>\varepsilon]\le\delta$; so that probability is the $\delta$ of Gaussian noise. |
# | **3** | If $D_\alpha\le\tau$, the mechanism is $(\varepsilon,\delta)$-DP with $\varepsilon=\tau+\ln(1/\delta)/\alpha-1$. |
# | **4** | $D_\alpha\big(N(\mu_0,\sigma_0^2)\Vert N(\mu_1,\sigma_1^2)\big)=\frac{\alpha(\mu_0-\mu_1)^2}{2\sigma_\alpha^2}+\frac1{1-\alpha}\ln\frac{\sigma_\alpha^2}{\sigma_0^{1-\alpha}\sigma_1^\alpha}$ with $\sigma_\alpha^2=(1-\alpha)\sigma_0^2+\alpha\sigma_1^2>0$. |
# | **5** | An $\varepsilon$-DP mechanism that runs on a Poisson sample at rate $q$ is $q\varepsilon$-DP. |
# | **6** | Batches of exactly $m$ out of $n$ records, a record replaced: account as for Poisson samples at $q=m/n$, with noise / clipping norm as $\sigma$. |
# | **8** | Add Laplace noise of scale $\Delta/\varepsilon$ to every candidate's score and print only the winner's name: $\varepsilon$-DP. |
# | **9** | $T$ steps of DP-SGD are $\mu$-Gaussian DP with $\mu=q\sqrt{T(e^{1/\sigma^2}-1)}$. |
# | **12** | Every $\varepsilon$-DP mechanism has $D_\alpha\le\min(\varepsilon,\frac12\alpha\varepsilon^2)$, at every order. |

# %%
at_home = {
    "2 tail of the loss": None,
    "3 lost bracket": None,
    "4 two Gaussians": None,
    "5 sampled: q ε": None,
    "6 fixed batches": None,
    "8 noisy winner": None,
    "9 central limit": None,
    "12 half α ε²": None,
}
for name, number in at_home.items():
    predict(name, number)

# %% [markdown]
# ### Claim 2: The tail of the loss
#
# "$(\varepsilon,\delta)$-DP means that the loss exceeds $\varepsilon$ with probability at most $\delta$." Below, `mu` is the sensitivity divided by the noise.

# %%
tail = draw.judge("2 tail of the loss", "G-D8/equivalent")

# %% [markdown]
# Here are the exact $\delta$ and the tail for $\sigma=1$, at the same $\varepsilon$:

# %%
exact = float(Gaussian(1.0).profiles()[0].epsilon(1e-5))
above = tail.value({"mu": 1.0, "epsilon": exact})
print(f"at epsilon {exact:.4f}: delta 1e-05, tail {above:.4g}, {above / 1e-5:.2f} times as much")

# %% [markdown]
# For every other $\varepsilon$ the two run side by side, and never meet:


# %%
draw.tails(tail)

# %% [markdown]
# *Why.* A loss just above $\varepsilon$ hardly counts: its weight in the definition is $1-e^{\varepsilon-L}$, not 1. *Instead:* $\delta(\varepsilon)=\mathbb E[(1-e^{\varepsilon-L})_+]$; the tail is sufficient, not necessary. *Side:* the claim takes the tail for the $\delta$, and that is safe: you publish less than you could. Read from left to right, "a private mechanism loses more than $\varepsilon$ with probability at most $\delta$", the same sentence is unsafe: here by 5.28 times.

# %% [markdown]
# ### Claim 3: The lost bracket
#
# The term $\frac{\ln(1/\delta)}{\alpha-1}$ became $\frac{\ln(1/\delta)}{\alpha}-1$. For Gaussian noise with $\sigma=1$, where $\tau=\alpha/2$, take the best of many orders, and ask which $\delta$ truly belongs to the result.

# %%
bracket = draw.judge("3 lost bracket", "G-D1/bracket")
orders, normal = np.geomspace(2, 40, 80), Gaussian(1.0).profiles()[0]
tried = [{"orders": a, "rdp": a / 2, "delta": 1e-5} for a in orders]
printed, right = (np.array([f.value(s) for s in tried]) for f in (bracket, book["G-D1"]))
delivered = float(normal.delta(printed.min()))
print(f"printed {printed.min():.4f}, with the bracket {right.min():.4f}, exact {exact:.4f}")
print(f"delta at the printed epsilon: {delivered:.3g} instead of 1e-05")

# %% [markdown]
# Where the dashed curve is below the blue line, it promises what nobody can keep:

# %%
draw.bracket(orders, printed, right, exact)

# %% [markdown]
# *Side:* unsafe, by a factor of ten in $\delta$. A sign for next time: at $\tau=0$ the printed $\varepsilon$ can be negative.

# %% [markdown]
# ### Claim 4: Two Gaussians
#
# The divergence of normal distributions with different spreads, with $\sigma_\alpha^2$ in the logarithm. Then order 2, means 0 and 1, three pairs of standard deviations. The last column integrates the definition.

# %%
no_root = draw.judge("4 two Gaussians", "G-A4/no-root")
print("std_0  std_1   as printed   with the root   by quadrature")
for std_p, std_q in ((1, 1.5), (2, 2.5), (2, 2)):
    at = {"order": 2.0, "mean_p": 0.0, "std_p": std_p, "mean_q": 1.0, "std_q": std_q}
    values = no_root.value(at), book["G-A4"].value(at), no_root.truth(at).low
    print(f"{std_p:5}  {std_q:5}", *(f"{value:13.4f}" for value in values))

# %% [markdown]
# *Why.* The normalising constants give $\sigma_\alpha$, the square root. *Instead:* $\ln\frac{\sigma_\alpha}{\sigma_0^{1-\alpha}\sigma_1^\alpha}$. *Side:* unsafe as soon as $\sigma_\alpha>1$, and here absurd, for no divergence is negative. Even for equal spreads the answer should be $\alpha/(2\sigma^2)=0.25$ in the last line. The formula is right where $\sigma_\alpha=1$ and nowhere else: the standard example is exactly the one that hides the slip.

# %% [markdown]
# ### Claim 5: Sampling divides ε
#
# "Use one record in a hundred, and ε is one hundredth." How many times this claim is the truth, $\varepsilon'=\ln(1+q(e^\varepsilon-1))$?

# %%
linear = draw.judge("5 sampled: q ε", "G-E1/linear")
for epsilon in (0.1, 1.0, 5.0):
    at = {"epsilon": epsilon, "sample_rate": 0.01}
    print(f"epsilon {epsilon:3}: true / claimed = {linear.truth(at).low / linear.value(at):.4f}")

# %% [markdown]
# *Why.* An attacker who sees the record *in* the sample learns $e^\varepsilon$, not $\varepsilon$: sampling averages probabilities (lesson 06), and $e^\varepsilon-1$ is larger than $\varepsilon$. The error is on the unsafe side for every $q<1$.
#
# Such an error has consequences in print. A well-known paper compares its new accountant with "strong composition" and prints 9.34 for the old way ($q=0.01$, $\sigma=4$, ten thousand steps). We recompute: each step has classical noise at a small $\delta_0$, is sampled, then composed; the split of $\delta$ is optimised.


# %%
from dplearn.teaching.book import advanced_composition
from dplearn.teaching.book.published import check_figure, published

part, steps, q = np.linspace(0.01, 0.99, 981), 10_000, 0.01
one = np.sqrt(2 * np.log(1.25 * q * steps / (part * 1e-5))) / 4
print("printed            ", published()["P03a"]["published"])
for name, step in (("with q ε", q * one), ("with the theorem", np.log1p(q * np.expm1(one)))):
    total = advanced_composition(epsilon=step, steps=steps, slack=(1 - part) * 1e-5).min()
    print(f"{name:<19} {total:.2f}")

# %% [markdown]
# The printed baseline comes out, nearly, with $q\varepsilon$; done properly, with the textbook's noise and advanced composition, the old way gives 26.39 (lesson 07 gets about half of that, from the exact profile of a step and a sharper composition). If that is where it comes from, the slip made a competitor look *good*.

# %% [markdown]
# ### Claim 6: Batches of a fixed size
#
# Loaders draw exactly $m$ of $n$ records, and accountants assume Poisson sampling. The cell has one in ten records, noise 1, at the $\varepsilon'$ that belongs to $\varepsilon=1$; then a whole training run.

# %%
from dplearn.mechanisms import WithoutReplacement

batches = draw.judge("6 fixed batches", "G-E2/own-norm")
at = {"records": 10, "batch": 1, "noise_multiplier": 1.0, "epsilon": np.log1p(0.1 * np.expm1(1))}
print(f"one step: claimed delta {batches.value(at):.4g}, true {batches.truth(at).low:.4g}")
little, run = Gaussian(noise_multiplier=0.8), {"delta": 1e-6, "steps": 10_000}
print(pld.epsilon(PoissonSubsampled(little, 0.001), **run))
print(pld.epsilon(WithoutReplacement(little, 0.001), **run, adjacency="replace_one"))

# %% [markdown]
# *Why.* With a fixed size, a record cannot just leave: another takes its place. A clipped contribution may be replaced by its opposite, from $C$ to $-C$, a distance of $2C$. (Take all of them, $m=n$: nothing is sampled, and the factor 2 is still there.) *Instead:* the theorem for subsets, with the base mechanism at $2C$ (Balle, Barthe & Gaboardi 2018). *Side:* unsafe; four times in $\delta$ for one step, from below 1 to above 15 in $\varepsilon$ for a run with little noise.

# %% [markdown]
# ### Claim 8: The noisy winner
#
# One candidate leads, and `others` follow it. In the neighbouring data the leader's score changes by `move`, those of the others by `other_move`. The leader moves down by 1. Either the others stay (all scores move one way), or they move up by 1. Noise of scale 1, so the claim is $\varepsilon=1$.

# %%
winner = draw.judge("8 noisy winner", "G-B9/any-scores", condition="monotone > 0")
field = np.array([1, 2, 3, 5, 9, 16, 30, 60, 100])
crowd = {"scale": 1.0, "lead": 1.0, "move": -1.0, "sensitivity": 1.0}
one_way, both_ways = (
    [winner.truth({**crowd, "others": n, "other_move": up}).low for n in field] for up in (0.0, 1.0)
)
print(f"9 others: one way {one_way[4]:.4f}, both ways {both_ways[4]:.4f}")

# %% [markdown]
# With one rival, with two, with a hundred:

# %%
draw.winner(field, one_way, both_ways)

# %% [markdown]
# *Why.* The leader's chance falls when it moves down *and* when its rivals move up; each adds $\varepsilon$. For counts, where a new record only adds, one of the two cannot happen, and the proof is about counts. In general the scale must be $2\Delta/\varepsilon$; the error is on the unsafe side, by a factor of two. In the picture, where the leader moves down, a single rival shows nothing: a test with this one example would have passed. The search moves it up as well, and finds 1.489 with one rival.

# %% [markdown]
# ### Claim 9: The central limit as a guarantee
#
# A sum of many losses is nearly normal, so $T$ steps are nearly $\mu$-Gaussian DP. With `spread` for $q\sqrt T$, read the counterexample slowly: which quantity is too small, $\varepsilon$, $\delta$ or $\mu$?

# %%
limit = draw.judge("9 central limit", "G-K2/as-a-bound")

# %% [markdown]
# It is $\mu$: no Gaussian as good as the promised one explains the true $\delta$. In $\varepsilon$, for a training run that a paper reports:


# %%
lines = draw.limit()

# %% [markdown]
# *Why.* A limit theorem describes the middle of a distribution; $\delta=10^{-5}$ lives in its tail, and the loss of a sampled step has a heavy one. *Instead:* an accountant that proves both ends (lesson 08): at most 9.478, and not 8.68. *Side:* unsafe, worst for few steps. An approximation becomes wrong when somebody writes $\le$.
#
# ### Claim 12: half of α ε²
#
# It gives a mechanism without any $\delta$ a divergence that vanishes like $\varepsilon^2$.

# %%
half_square = draw.judge("12 half α ε²", "G-D4b")

# %% [markdown]
# True. It is the reason why $\varepsilon$-DP is $\frac{\varepsilon^2}2$-zCDP (Bun & Steinke 2016): the loss is at most $\varepsilon$, and on average much less. The scoreboard of all twelve claims:

# %%
truth = dict(sorted(draw.TRUTH.items(), key=lambda item: int(item[0].split()[0])))
draw.scoreboard(list(truth))

# %% [markdown]
# *Where* a formula fails, and *for whom* that is bad, takes a computation. Three of the ten false ones, numbers 1, 7 and 8, are good formulas that lost their condition.
#
# ### How far does the classical noise happen to hold?
#
# Below the dotted line it is proved, between the lines it is true by luck, above the curve it is false.


# %%
at_usual = draw.classical()

# %% [markdown]
# ### Shuffled batches with more noise
#
# Claim 10 at two more settings:

# %%
for sigma, parts in ((0.7, 10_000), (1.0, 1000)):
    each = Gaussian(noise_multiplier=sigma)
    coins = pld.epsilon(PoissonSubsampled(each, 1 / parts), delta=1e-6, steps=parts)
    seats = pld.epsilon(Shuffled(each, parts), delta=1e-6, adjacency="zero_out")
    print(f"sigma {sigma}, {parts:5} batches, Poisson  {coins}")
    print(f"sigma {sigma}, {parts:5} batches, shuffled {seats}")

# %% [markdown]
# ### A page of lecture notes
#
# Seven of its formulas make a claim, and five of them are slips. Which? Mark them, and compare with what is found below; in Jupyter, put a claim of your own into the page after that. (`dplearn proofread notes.tex` does this for a file, and [the explorer](explorer:check_a_claim?claim=epsilon%20%3D%20sqrt%282*T*ln%281/delta%29%29/sigma) lists the settings of a single formula and draws its map.)


# %%
page = r"""
Laplace noise of scale $b = \Delta/\varepsilon$ makes one count $\varepsilon$-DP. After $k$ such
releases the total is $\varepsilon' = 2\varepsilon\sqrt{2k\ln(1/\delta')}$ at $\delta'$.

Noise with $\sigma^2 = 2\ln(1.25/\delta)\,\Delta/\varepsilon^2$ is $(\varepsilon,\delta)$-DP, and
its Rényi divergence is $D_\alpha = \frac{\alpha\Delta}{2\sigma^2}$. If that is at most $\tau$,

$$\varepsilon = \tau + \ln(1/\delta)/\alpha - 1.$$

What is $\rho$-zCDP has $\varepsilon = \rho + 2\sqrt{\rho\ln(1/\delta)}$.

On a Poisson sample at rate $q$ an $\varepsilon$-DP mechanism has $\varepsilon' = q\varepsilon$.
"""

# %% [markdown]
# What is found about each, with the line in which it stands:

# %%
found = {}
for place in claims.places_in(page.encode(), "notes.md"):
    found[place.formula] = claims.proofread(place.formula, words=place.words)
    print(f"line {place.line}: {found[place.formula].verdict}. {found[place.formula].reason}")

# %% [markdown]
# Two of the five fail before anything is computed: their units are wrong. Twice the sensitivity with twice the noise is the same mechanism, so a scale must double and a divergence must stay. The other three need a counterexample.
#
# ### The truth is a program, too
#
# A library tests its Rényi accountant against a stored value. The stored value came from the accountant, which drops a sign:


# %%
figure_21 = check_figure("P21a")
print(f"in the library's test {float(figure_21.printed):.6g}, by quadrature {figure_21.value:.6g}")

# %% [markdown]
# ### Three more exercises
#
# The last one asks for a function, which is tried on cases that you do not see.
#
# **★★ 16.3** Somebody repairs claim 5 with a factor: $\varepsilon'\le2q\varepsilon$. For $q=0.1$, up to which $\varepsilon$ is this true? (Solve the equation by bisection, or read it off a curve.)

# %%
answer = None
check("16.3", answer)

# %% [markdown]
# <details><summary>Solution of 16.3</summary>
#
# ```python
# x = np.linspace(0.1, 5, 100_001)
# answer = x[np.argmax(np.log1p(0.1 * np.expm1(x)) > 0.2 * x)]
# check("16.3", answer)
# ```
#
# The true $\ln(1+0.1(e^\varepsilon-1))$ overtakes $0.2\,\varepsilon$ at 1.509. A factor does not repair a wrong shape: the true curve bends up, the claim is straight.
#
# </details>

# %% [markdown]
# **★★★ 16.4** Somebody repairs claim 7 by taking the 2 away: $\varepsilon\sqrt{2k\ln(1/\delta)}$. With $\varepsilon=0.5$ per release and $\delta=10^{-5}$, find the simplest counterexample: the smallest $k$ at which the claim lies below `optimal_composition`.

# %%
answer = None
check("16.4", answer)

# %% [markdown]
# <details><summary>Solution of 16.4</summary>
#
# ```python
# k = np.arange(1, 1001)
# claim = 0.5 * np.sqrt(2 * k * np.log(1e5))
# answer = k[claim < optimal_composition(epsilon=0.5, steps=k, slack=1e-5)][0]
# check("16.4", answer)
# ```
#
# Below adding up it falls a little earlier, but that alone refutes nothing: a bound may be better than adding up. To refute, you need the truth from below, and that is what the optimum is.
#
# </details>

# %% [markdown]
# **★★ 16.5** Write the referee that looks for the simplest counterexample. `candidates` are settings in order, `claimed` the $\varepsilon$ that a formula claims at each of them, `needed` the true one. Return the first candidate at which less is claimed than needed, by more than a relative $10^{-9}$, and −1 if there is none.


# %%
def counterexample(candidates, claimed, needed):
    # Write your code here.
    return None


check("16.5", counterexample)

# %% [markdown]
# <details><summary>Solution of 16.5</summary>
#
# ```python
# def counterexample(candidates, claimed, needed):
#     for k, c, n in zip(candidates, claimed, needed):
#         if c < n * (1 - 1e-9):
#             return k
#     return -1
#
#
# check("16.5", counterexample)
# ```
#
# A claim about an upper bound is refuted by one setting where it is too small. The tolerance keeps rounding errors from becoming discoveries.
#
# </details>

# %% [markdown]
# ## 12 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** A colleague has checked a bound at a hundred random points, and it held. What do you know?
#
# <details><summary>a. That it is true.</summary>
#
# No. A hundred points leave room for a false one between them.
#
# </details>
#
# <details><summary>b. Nothing.</summary>
#
# No. A claim that fails at most points would have been caught.
#
# </details>
#
# <details><summary>c. That it is not wrong almost everywhere.</summary>
#
# Right. That it is not wrong almost everywhere. The triangle inequality of section 3 holds at four points in five. Ask where the hundred points were, and who supplied the truth.
#
# </details>
#
# **2** Claim 2 takes the tail of the loss for δ, and the tail is larger. Why is it an error at all?
#
# <details><summary>a. Because the text says that both are the same.</summary>
#
# Right. Because the text says "means". As a sufficient condition it is a theorem. As an equivalence it calls private mechanisms unsafe, and whoever calibrates by it adds noise for nothing.
#
# </details>
#
# <details><summary>b. Because whoever calibrates by the tail promises too much privacy.</summary>
#
# No. She promises too little: with the noise that she adds, the true δ is smaller.
#
# </details>
#
# <details><summary>c. It is none: a larger tail is on the safe side.</summary>
#
# No. As a condition that is enough, yes; the text says it is the meaning.
#
# </details>
#
# **3** Which of the false ones would you have caught with paper and pencil, and how?
#
# <details><summary>a. None: all need a computer.</summary>
#
# No. Put in a case whose answer you know without computing.
#
# </details>
#
# <details><summary>b. Some of them, at extremes: nothing at all, equal distributions, very many steps.</summary>
#
# Right. Number 3: no divergence at all, $\tau=0$, must not give a negative $\varepsilon$. Number 4: two equal distributions, both with $\sigma=2$, must give 0. Number 7: let $k$ grow, and a square root loses against a mean. Try the extremes first; they are free.
#
# </details>
#
# <details><summary>c. All of them, with enough patience.</summary>
#
# No. Some need a distribution that nobody sums by hand.
#
# </details>
#
# **4** Claims 6 and 10 use correct formulas. What is wrong?
#
# <details><summary>a. Their constants.</summary>
#
# No. Both formulas are printed correctly in the text.
#
# </details>
#
# <details><summary>b. They are formulas of another mechanism.</summary>
#
# Right. They are about Poisson sampling, and the program does something else. A theorem covers the mechanism in its hypothesis, not the one that resembles it.
#
# </details>
#
# <details><summary>c. Their δ is too large.</summary>
#
# No. No δ repairs a formula for other sampling.
#
# </details>
#
# **5** You find a counterexample by simulation. Is the claim refuted?
#
# <details><summary>a. For all purposes, if the claimed value is far outside of the interval.</summary>
#
# Right. With the confidence of the interval: if the claimed value lies far outside, yes for all purposes. For a proof you need a lower bound on the truth, by quadrature with an error bound or by exact enumeration.
#
# </details>
#
# <details><summary>b. Yes, always.</summary>
#
# No. A simulation has an interval, and the claim may lie within.
#
# </details>
#
# <details><summary>c. No, never: only a proof refutes.</summary>
#
# No. Far outside of a good interval nobody waits for a proof.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("16.test", answers)

# %% [markdown]
# ## 13 On one card
#
# | printed | what holds | side |
# |---|---|---|
# | classical noise for every $\varepsilon$ | proved for $\varepsilon<1$; beyond, calibrate exactly | unsafe for large $\varepsilon$ |
# | $\delta=\Pr[L>\varepsilon]$ | $\delta=\mathbb E[(1-e^{\varepsilon-L})_+]$ | safe |
# | $\ln(1/\delta)/\alpha-1$ | $\ln(1/\delta)/(\alpha-1)$ | unsafe |
# | $\ln\sigma_\alpha^2$ | $\ln\sigma_\alpha$ | unsafe |
# | $q\varepsilon$ | $\ln(1+q(e^\varepsilon-1))$ | unsafe |
# | fixed batches as Poisson | theorem for subsets, with $2C$ | unsafe |
# | $2\varepsilon\sqrt{2k\ln(1/\delta)}$ | $\varepsilon\sqrt{2k\ln(1/\delta)}+k\varepsilon\tanh(\varepsilon/2)$ | unsafe for many $k$ |
# | winner with $\mathrm{Lap}(\Delta/\varepsilon)$ | $\mathrm{Lap}(2\Delta/\varepsilon)$, unless all scores move one way | unsafe |
# | central limit $\le$ | a proved bracket | unsafe |
# | shuffled as Poisson | sample as you account | unsafe |
# | $\tau+\ln\frac{\alpha-1}\alpha-\frac{\ln\delta+\ln\alpha}{\alpha-1}$ | the same | true |
# | $D_\alpha\le\min(\varepsilon,\frac12\alpha\varepsilon^2)$ | the same | true |
#
# **And always:** which quantity, which direction, which condition, whose truth?
#
# ## 14 Further reading
#
# * Balle & Wang (2018), *Improving the Gaussian mechanism for differential privacy*: what replaces number 1.
# * Mironov (2017), *Rényi differential privacy*, and van Erven & Harremoës (2014): numbers 3 and 4 as they should be.
# * Balle, Barthe & Gaboardi (2018), *Privacy amplification by subsampling*: which theorem goes with which sampling and which neighbours.
# * Kairouz, Oh & Viswanath (2015), *The composition theorem for differential privacy*: the exact optimum.
# * Ding et al. (2018), *Detecting violations of differential privacy*: the same idea for programs instead of formulas.
# * Chua et al. (2024), *How private are DP-SGD implementations?*: number 10, with proofs.
#
# <details><summary>In the formula book</summary>
#
# [1](explorer:formula_book?id=G-B4&misprint=any-epsilon), [2](explorer:formula_book?id=G-D8&misprint=equivalent), [3](explorer:formula_book?id=G-D1&misprint=bracket), [4](explorer:formula_book?id=G-A4&misprint=no-root), [5](explorer:formula_book?id=G-E1&misprint=linear), [6](explorer:formula_book?id=G-E2&misprint=own-norm), [7](explorer:formula_book?id=G-C2&misprint=plotted), [8](explorer:formula_book?id=G-B9&misprint=any-scores), [9](explorer:formula_book?id=G-K2&misprint=as-a-bound), [10](explorer:formula_book?id=G-E11&misprint=poisson), [11](explorer:formula_book?id=G-D2&misprint=none), [12](explorer:formula_book?id=G-D4b&misprint=none). On the map of settings: [1](explorer:check_a_claim?claim=sigma%20%3D%20sqrt%282*ln%281.25/delta%29%29/epsilon), [3](explorer:check_a_claim?claim=epsilon%20%3D%20alpha/%282*sigma%5E2%29%2Bln%281/delta%29/alpha-1&words=Gaussian%20noise), [5](explorer:check_a_claim?claim=epsilon%27%20%3D%20q*epsilon&words=amplification%20by%20sampling), [7](explorer:check_a_claim?claim=epsilon%27%20%3D%202*epsilon*sqrt%282*k*ln%281/delta%27%29%29&words=k-fold%20composition).
#
# </details>
#
# **Next** [lesson 17](17_capstone.ipynb): the functions that you wrote become one library. The last cell re-examines what this lesson claimed.

# %%
# Checks
assert list(truth.values()) == [2, 1, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0]
assert truth.keys() == ballot.keys() | at_home.keys()
assert 0.1 < np.mean(gaps < 0) < 0.3 and np.all(gaps[:3] > 0) and np.isclose(at_usual, 8.41977)
assert printed.min() < exact < right.min() and delivered > 9e-5 and np.isclose(above, 5.28375e-5)
assert [f.verdict for f in found.values()].count("refuted") == 5 and len(found) == 7
assert lines["gdp"][-1].epsilon < lines["pld"][-1].lower and claimed.epsilon < real.lower
print("all checks passed")
