# %% [markdown]
# # 02 (ε, δ)-DP as a hypothesis test
#
# *What can someone who knows everybody else still find out about you?*
#
# The school reports how many of the nine-year-olds from Oak have copied homework. A teacher knows about eleven of the twelve: six have copied. If the report says 7, so has Anna. So the school adds random noise to the count. The teacher reads one noisy number and decides "she copied" or "she did not", by any rule.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. compute the privacy loss of a mechanism and its exact $\delta(\varepsilon)$, and confirm it in three independent ways;
# 2. say in words what $\varepsilon$ and $\delta$ allow: how often an attacker is right, what he may come to believe, and how many records may be lost;
# 3. (at home) read a privacy claim as a region of two error rates.
#
# * **Time** NN minutes in class; what comes after section 9 is for the evening.
# * **You need** lesson 01 (randomised response, neighbours, $\varepsilon$ as a bound on a likelihood ratio), densities, logarithms.
# * **Beside it** [the explorer at this lesson's numbers](explorer:mechanisms?mechanism=laplace&noise_multiplier=1&epsilon=0.5&false_positive_rate=0.01), if you have started it. Nothing below depends on it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `p`, `q` | $P$, $Q$ | distributions of the published number with and without one person | – |
# | `sensitivity` | $\Delta$ | how far one person can move the answer; here 1 | of the answer |
# | `noise_multiplier` | $b/\Delta$ or $\sigma$ | scale of the noise divided by $\Delta$ | none |
# | `loss` | $L$ | privacy loss $\ln p(x)/q(x)$ of an output $x$ | nats |
# | `fpr` | FPR | false alarms: how often a rule accuses someone who is not in the data | probability |
# | `tpr` | TPR | caught: how often it accuses someone who is | probability |
# | `epsilon`, `delta` | $\varepsilon$, $\delta$ | the guarantee | nats, probability |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** The whole lesson is one sentence: *no event may become much likelier because Anna is there*, and $\delta(\varepsilon)$ is the area by which one does.
#
# | minutes | part | do |
# |---|---|---|
# | 5 | 0 The first screen | ask for a rule, collect two or three; everybody types a guess |
# | 3 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again; section 3 decides it |
# | 4 | 3 A small experiment | cover the ratios, let the class say where they will go |
# | 4 | 4 The privacy loss | three values of $L$ on the board, then the histograms |
# | 4 | 5 The statement | the best event on the board |
# | 7 | 6 An exercise | alone, with pencil; then the slider |
# | 5 | 7 What the teacher can do with it | a second guess; Bayes with odds |
# | 4 | 8 What δ is not | ask for the meaning of δ before the cell runs |
# | 2 | 9 Where this breaks | one limit, chosen by the class |
# | – | 10 to 13 | at home |

# %% tags=["hide-input"]
import numpy as np
from scipy.integrate import quad
from scipy.stats import laplace, norm

from dplearn.core.guarantee import round_down, round_up
from dplearn.datasets import school
from dplearn.mechanisms import Gaussian, Laplace, RandomizedResponse
from dplearn.teaching.book import (
    approximate_dp_tradeoff,
    group_privacy_delta,
    hockey_stick,
    somebody_published,
)
from dplearn.teaching.classroom import Evidence, check, estimate_delta, predict, reveal, show
from dplearn.teaching.figures import Band, Bars, Curve, Dot, curves, flow, leak, panels, slider

pupils = school()
asked = pupils.copied[(pupils.age == 9) & (pupils.village == "Oak")]
yes = int(asked.sum())
worlds = [f"Anna copied:\ncount {yes}", f"Anna did not:\ncount {yes - 1}"]
verdicts, rule = ["she copied", "she did not"], "the teacher's\nrule"
noisy, seen = "count + noise", "report x"
drawing = flow(
    [worlds, [noisy], [seen], [rule], verdicts],
    [(world, noisy) for world in worlds]
    + [(noisy, seen), (seen, rule)]
    + [(rule, verdict) for verdict in verdicts],
    title="Which world did the report come from?",
    strong=(noisy, seen),
)
show(drawing, f"Of {len(asked)} pupils {yes} copied, {yes - 1} without Anna; noise, then a rule.")

# %% [markdown]
# The noise is usually smaller than 2. The teacher wants to be fair: *without* Anna's yes, the rule may accuse her in 1 % of all cases only. In how many per cent of the cases can it catch her *with* her yes, at most?

# %%
predict("caught in per cent", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Most classes guess 20 to 50: the noise looks small beside a count of 7, and nobody thinks of the false alarms. Leave it. Ask instead which rule they would use; nearly all say "accuse above 6.5".

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Three questions from lesson 01.
#
# **1** 01.3
#
# **2** 01.4
#
# **3** 01.5

# %%
answers = ""
check("2.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# The school uses **Laplace noise** (the Laplace mechanism, 拉普拉斯机制) of scale $b=1$: density $\tfrac1{2b}e^{-|x|/b}$, a steep peak with two exponential sides. Eight reports about a count of 7:

# %%
rng = np.random.default_rng(2)
mechanism = Laplace(noise_multiplier=1.0)
print(mechanism.release(np.full(8, 7.0), sensitivity=1, rng=rng).round(2))

# %% [markdown]
# Suppose the report is 8, or suppose it is 11. How much more does 11 say for a true count of 7, against 6, than 8 does?
#
# <details><summary>a. Much more: so large a number is hardly possible with 6.</summary>
#
# No. It is hardly possible with 7, either.
#
# </details>
#
# <details><summary>b. A little more.</summary>
#
# No. Compare the heights of the two densities, at 8 and at 11.
#
# </details>
#
# <details><summary>c. Nothing more.</summary>
#
# Right. Beyond 7 both densities fall at the same rate, so their ratio stays the same.
#
# </details>

# %%
vote = ""
check("2.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 A small experiment
#
# The data with Anna's record and those without it are *neighbours*. In lesson 01 neighbours differed in one reply; here one record is **added or removed**. Subtract the six that the teacher knows: the report is $1+\text{noise}$ with her (*distribution*, 概率分布, $P$) and $0+\text{noise}$ without her ($Q$). We draw a million reports of each kind, and follow one rule: *accuse when the number exceeds $t$.*

# %%
draws = 1_000_000
with_anna = mechanism.release(np.ones(draws), sensitivity=1, rng=rng)
without = mechanism.release(np.zeros(draws), sensitivity=1, rng=rng)
print("    t   caught   false alarms   ratio   caught - e^0.5 * false alarms")
for t in (-1, 0, 0.5, 0.75, 1, 2, 3):
    p, q = np.mean(with_anna > t), np.mean(without > t)
    print(f"{t:5}   {p:.4f}   {q:12.4f}   {p / q:5.2f}   {p - np.exp(0.5) * q:20.4f}")

# %% [markdown]
# The ratio grows, and then it *stops*, at $2.72\approx e$. Beyond $t=1$ a stricter teacher accuses more rarely, not more convincingly. This is what $\varepsilon=1$ means: no event is more than $e^1$ times as likely with Anna as without her.
#
# Could somebody promise $\varepsilon=0.5$ for the same noise? Not for every event, says the last column. But the promise is broken by at most about 0.22, near $t=0.75$. Such a breach, too, can be part of a promise. We shall call it $\delta$ (松弛项).

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Compute three losses on the board before showing the picture: $x=0$, $x=\tfrac12$, $x=5$ give $-1$, 0, 1. The last one surprises, although the class has voted on it. Ask why half of all reports sit at $+1$ (half of the noise is positive). A common slip: to draw the distribution of $L$ under $Q$, where it is the mirror image. We always draw under $P$.

# %% [markdown]
# *To here NN minutes.*
#
# ## 4 The privacy loss
#
# How much does one report $x$ tell? Compare how likely it is with Anna and without: $L(x)=\ln\frac{p(x)}{q(x)}$ is the **privacy loss** (隐私损失) of $x$. For Laplace noise of scale 1 it is $|x|-|x-1|$: never above 1, never below $-1$, and $2x-1$ in between. Gaussian noise with standard deviation 1 (lesson 03) has $L(x)=x-\tfrac12$, without an end on either side.

# %%
loss = np.abs(with_anna) - np.abs(with_anna - 1)
normal_loss = rng.normal(1, 1, draws) - 0.5
at_top, at_bottom = np.mean(np.isclose(loss, 1)), np.mean(np.isclose(loss, -1))
print(f"Laplace:  L = 1 in {at_top:.1%}, L = -1 in {at_bottom:.1%} of all reports with Anna")
print(f"Gaussian: L > 1 in {np.mean(normal_loss > 1):.1%}, largest {normal_loss.max():.2f}")
# %% [markdown]
# The report is random, so its loss is a random variable. Its distribution decides how well the two cases can be told apart. (The vertical axes differ.)


# %% tags=["hide-input"]
def histogram(losses, width, low, high):
    edges = np.arange(low - width / 2, high + width, width)
    shares = np.histogram(losses, edges)[0] / draws
    return Bars(x=(edges[1:] + edges[:-1]) / 2, y=shares, label="")


axes = {"x": "privacy loss L (nats)", "y": "share of reports"}
left = curves(
    [histogram(loss, 0.1, -1, 1)], title="Laplace: from −1 to 1", x_range=(-1.2, 1.2), **axes
)
right = curves([histogram(normal_loss, 0.25, -4, 5)], title="Gaussian: no end", **axes)
figure = panels(left, right, title="Laplace noise has a largest loss, Gaussian noise has none")
words = f"Laplace {at_top:.3f} of the mass at 1 and {at_bottom:.3f} at -1"
show(figure, f"{words}; Gaussian noise beyond every bound, here up to {normal_loss.max():.2f}.")
# %% [markdown]
# *To here NN minutes.*
#
# ## 5 The statement
#
# > **Definition.** A mechanism is **$(\varepsilon,\delta)$-differentially private** if for all neighbours, *in both orders*, with output distributions $P$ and $Q$, and for *every* event $S$,
# >
# > $$P(S)\;\le\;e^{\varepsilon}\,Q(S)+\delta .$$
# >
# > (Dwork, Kenthapadi, McSherry, Mironov & Naor 2006. With $\delta=0$ it is called *pure*.)
# >
# > **Theorem.** The smallest $\delta$ for an ordered pair is
# >
# > $$\delta(\varepsilon)=\sup_S\,\big[P(S)-e^{\varepsilon}Q(S)\big]\;=\;P(L>\varepsilon)-e^{\varepsilon}Q(L>\varepsilon)\;=\;\mathbb E_P\big[(1-e^{\varepsilon-L})_+\big].$$
# >
# > (Barthe & Olmedo 2013; Balle & Wang 2018.) As a function of $\varepsilon$ this is the pair's **privacy profile** (隐私曲线), or hockey-stick divergence (曲棍球棒散度).
# >
# > **Laplace noise** of scale $b$ on a number that one person changes by at most $\Delta$ has $\delta(\varepsilon)=1-e^{(\varepsilon-\Delta/b)/2}$ up to $\varepsilon=\Delta/b$, and 0 from there on. (Balle, Barthe & Gaboardi 2018.)
#
# <details><summary>Why</summary>
#
# $P(S)-e^{\varepsilon}Q(S)$ is the integral of $p-e^{\varepsilon}q$ over $S$. It is largest when $S$ collects every output where the integrand is positive and no other. These are the outputs with $L>\varepsilon$ (where $q=0$, read $L=\infty$): **the best event is a threshold on the loss.** That it is also the best *test* is the lemma of Neyman and Pearson (1933). Taking $p$ out of the integrand leaves $1-e^{\varepsilon-L}$.
#
# For our noise $L>\varepsilon$ means $x>\frac{1+\varepsilon}2$. Without Anna this has probability $\frac12e^{-(1+\varepsilon)/2}$, with her $1-\frac12e^{-(1-\varepsilon)/2}$. Now subtract $e^\varepsilon$ times the first, $\frac12e^{(\varepsilon-1)/2}$, from the second: $1-e^{(\varepsilon-1)/2}$. If some person does change the number by $\Delta$, no smaller $\delta$ is true. ([In the book](explorer:formula_book?id=G-B1&misprint=straight-line); the pure promise is in Dwork, McSherry, Nissim & Smith 2006.)
#
# </details>
#
# At $\varepsilon=0.5$ the formula must reproduce the largest breach of our table. (`estimate_delta` averages $(1-e^{\varepsilon-L})_+$ over our million reports.)


# %%
def formula(epsilon, ratio=1.0):
    return max(0.0, 1 - np.exp((epsilon - ratio) / 2))


print(f"delta at epsilon 0.5: formula {formula(0.5):.4f}, simulated {estimate_delta(0.5, loss)}")
# %% [markdown]
# So $\delta(\varepsilon)$ is an **area**: what $p$ rises above $e^{\varepsilon}q$. The slider moves $\varepsilon$. Before you touch it: where will the area disappear?

# %% tags=["hide-input"]
laplace_profile = Laplace(noise_multiplier=1.0).profiles()[0]
normal_profile = Gaussian(noise_multiplier=1.0).profiles()[0]
x, epsilons = np.linspace(-3.5, 4.5, 161), np.linspace(0, 1.4, 57)


def shaded(epsilon):
    return leak(
        x=x,
        p=laplace.pdf(x, 1),
        scaled_q=np.exp(epsilon) * laplace.pdf(x, 0),
        curve=(epsilons, laplace_profile.delta(epsilons)),
        here=(epsilon, formula(epsilon)),
        title=f"ε = {epsilon:g}: the shaded area is δ = {formula(epsilon):.4f}",
        names=("p", "e<sup>ε</sup> · q"),
        axes=("report minus 6", "ε (nats)", "δ"),
    )


areas = {f"{epsilon:g}": shaded(epsilon) for epsilon in (0, 0.2, 0.4, 0.5, 0.6, 0.8, 1, 1.2)}
words = "; ".join(areas[e].layout.title.text for e in ("0", "0.5", "1"))
show(slider(areas, name="ε", start=3), f"Three of 8 frames. {words}.")

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Draw two crossing densities, and let the class build $S$ outcome by outcome: "does this one pay?" It pays if $p>e^{\varepsilon}q$. That is the proof.

# %% [markdown]
# *To here NN minutes.*
#
# ## 6 An exercise
#
# **★ 2.1** *(In class, 5 minutes.)* The school counts *copied homeworks* instead of pupils. No pupil has more than 3, and the Laplace noise has scale 6. With paper and pencil: what is $\delta$ at $\varepsilon=0.2$? (The calculator is for the exponential.)

# %%
answer = None
check("2.1", answer)

# %% [markdown]
# <details><summary>Solution of 2.1</summary>
#
# ```python
# answer = formula(0.2, ratio=3 / 6)
# check("2.1", answer)
# ```
#
# The ratio $\Delta/b$ is one half, so $\delta=1-e^{(0.2-0.5)/2}=1-e^{-0.15}$, which is 0.1393. The same noise is purely private with $\varepsilon=0.5$.
#
# </details>
# %% [markdown]
# *To here NN minutes.*
#
# ## 7 What the teacher can do with it
#
# "Accuse" is an event. So a rule with 1 % false alarms catches at most $e\cdot1\,\%$ of those who copied, whatever it computes from the report: further computation is one more rule (**post-processing**, 后处理).

# %%
caught = 1 - float(laplace_profile.tradeoff(0.01))
print(f"caught at 1 %: at most {np.e * 0.01:.4f}, best rule {caught:.4f}, ", end="")
print(f"simulated {np.mean(with_anna > np.log(50)):.4f}")
reveal("caught in per cent", truth=100 * caught, others={"no noise": 100})

# %% [markdown]
# A fair teacher catches hardly anybody. What becomes of belief? Before the report the teacher believes at 10 % that Anna copied. What is the most that any report can make of it, in per cent?

# %%
predict("belief in per cent", None)

# %% [markdown]
# As in lesson 01, Bayes' rule is one multiplication: odds after $=e^{L(x)}\times$ odds before. The privacy loss is what the report adds to the logarithm of the odds. Pure privacy says $-\varepsilon\le L\le\varepsilon$, so **the odds change by a factor of at most $e^{\varepsilon}$**. Odds of 1 to 9 become at most $e$ to 9.

# %%
before, epsilon = 0.1, 1
odds = np.exp(epsilon) * before / (1 - before)
after = odds / (1 + odds)
least = before / (before + (1 - before) * np.exp(epsilon))
print(f"belief before {before:.1%}, after at most {round_up(100 * after, 3)} %,", end=" ")
print(f"at least {round_down(100 * least, 3)} %")
# %% [markdown]
# Your guess:

# %%
reveal("belief in per cent", truth=100 * after, others={"before": 100 * before})
# %% [markdown]
# With $\delta>0$ some reports may have a larger loss.
#
# *To here NN minutes.*
#
# ## 8 What δ is not
#
# *"δ is the probability that the loss exceeds ε."* A popular reading. Try Gaussian noise with $\sigma=1$ at $\varepsilon=1$.

# %%
at_one = Evidence(
    "delta at epsilon = 1, Gaussian noise with sigma 1",
    closed=norm.cdf(0.5 - 1) - np.e * norm.cdf(-0.5 - 1),
    exact=quad(lambda x: norm.pdf(x, 1) - np.e * norm.pdf(x), 1.5, 14, epsabs=0)[0],
    simulated=estimate_delta(1, normal_loss),
    printed=norm.sf(0.5),
)
print(at_one)
# %% [markdown]
# The tail $\Pr[L>\varepsilon]$ is more than twice as large as $\delta$. A loss just above $\varepsilon$ costs next to nothing: the theorem charges $1-e^{\varepsilon-L}$ for it, the sentence charges 1.
#
# *"δ, usually 0.01."* The worst school publishes no count at all. It tosses a biased coin for each of its 64 nine-year-olds, and with probability $\delta$ it publishes this child's whole file. That is $(0,\delta)$-DP: when Anna joins or leaves, no probability changes by more than $\delta$.

# %%
coins = rng.binomial(64, 0.01, draws)
formula_64 = somebody_published(records=64, delta=0.01)
print(f"somebody's file: formula {formula_64:.4f}, simulated {np.mean(coins > 0):.4f}")

# %% [markdown]
# $\delta$ is a chance *per person*. Hence the rule: **$\delta$ much smaller than one over the number of records.** Gaussian noise does not fail like this; but $(\varepsilon,\delta)$ alone does not tell the two apart.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Before the first cell, ask for the meaning of $\delta$ in one sentence; "the probability that privacy fails" will come. Write it on the board. It is wrong twice: a loss above $\varepsilon$ is not a failure of all privacy, and its probability is not $\delta$. After the second cell return to the sentence: for *that* school it was exactly right.

# %% [markdown]
# ## 9 Where this breaks, and what it does not protect
#
# *What the guarantee assumes.* One report, noise that nobody else sees, a sensitivity that holds for everybody, and an agreed meaning of neighbour.
#
# * **Every further report costs more.** Twelve reports, twelve losses, and they add up (lesson 04).
# * **It hides Anna's part, not every fact about Anna.** If nearly everybody copies, the teacher may conclude something about her, without her record, too.
# * **It says how much changes, not what is harmless.** A belief of 90 % may rise to 96 % at $\varepsilon=1$.
# * **Sisters are a group.** Five of them cost more than five times $\delta$ (section 10).
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 10 At home
#
# ### The attacker's region
#
# A rule for accusing is an event: *the report lies in $S$*. Then $P(S)$ is the **true positive rate** (真阳性率, TPR: caught) and $Q(S)$ the **false positive rate** (假阳性率, FPR: false alarms). The teacher performs a **hypothesis test** (假设检验).
#
# > **Theorem.** A mechanism is $(\varepsilon,\delta)$-DP if and only if, for all neighbours, every rule obeys
# >
# > $$\mathrm{TPR}\le e^{\varepsilon}\,\mathrm{FPR}+\delta\qquad\text{and}\qquad 1-\mathrm{FPR}\le e^{\varepsilon}(1-\mathrm{TPR})+\delta ,$$
# >
# > so that it is not too good, and the same with TPR and FPR exchanged, so that it is not too bad. (Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015.)
#
# *Why.* Take the definition for $S$ ("the rule accuses") and for its complement ("the rule acquits"), in both orders: four inequalities. A rule that tosses a coin is an average of rules that do not. (No rule may be too bad, because a rule that is always wrong is perfect with the verdicts exchanged.)
#
# In the plane of false alarms and caught, $(\varepsilon,\delta)$ is therefore a region with four slanting sides. A mechanism is a *curve* inside: the best TPR for each FPR, which by Neyman and Pearson comes from thresholds on $L$. The library finds it from the profile; `tradeoff` returns the misses, $1-\mathrm{TPR}$ (a **trade-off function**, 权衡函数).

# %%
rates = np.union1d(np.linspace(0, 1, 101), [np.exp(-1) / 2, 1 / (1 + np.e)])
coin_profile = RandomizedResponse(local_epsilon=1.0).profiles("replace_one")[0]
coin, best, normal = (
    1 - profile.tradeoff(rates) for profile in (coin_profile, laplace_profile, normal_profile)
)
normal_delta = float(normal_profile.delta(1))
touch = {"x": norm.sf(1.5), "y": norm.sf(0.5)}
print(f"Gaussian noise: delta(1) = {normal_delta:.4f}, reached by 'accuse when L > 1':")
print(f"false alarms {touch['x']:.4f}, caught {touch['y']:.4f}")

# %% [markdown]
# On the left is pure privacy with $\varepsilon=1$: randomised response from lesson 01 fills the grey region to its corner. The Laplace curve runs along the two upper edges of the region and leaves them only near the corner. Right, Gaussian noise leaves every region with $\delta=0$ at the left edge. Its region must start higher, at $\delta(1)$; then each upper side touches the curve in a single point.


# %% tags=["hide-input"]
def region(epsilon, delta, label="allowed"):
    claim = {"epsilon": epsilon, "delta": delta}
    top = 1 - approximate_dp_tradeoff(rates, **claim)
    bottom = approximate_dp_tradeoff(1 - rates, **claim)
    where = {"label_at": 0.62, "side": "bottom center"}
    return Band(x=rates, lower=bottom, upper=top, label=label, **where)


axes = {"x": "false alarms FPR", "y": "caught TPR", "x_range": (0, 1), "y_range": (0, 1.02)}
response = Curve(x=rates, y=coin, label="response", role="second", label_at=0.34, side="top left")
curve = Curve(x=rates, y=best, label="Laplace", label_at=0.4, side="bottom right")
pure = curves([region(1, 0), response, curve], title="ε = 1, δ = 0", **axes)

end = (1 - normal_delta) / (1 + np.e)
side = Curve(
    x=[0, end], y=[normal_delta, 1 - end], label="slope e", role="second", side="top center"
)
curve = Curve(x=rates, y=normal, label="Gaussian", label_at=0.4, side="bottom right")
marks = [Dot(**touch, label="L > 1", side="bottom right")]
marks += [Dot(x=0, y=normal_delta, label="δ(1)", side="bottom right", role="second")]
heading = f"ε = 1, δ = {normal_delta:.3f}"
right = curves([region(1, normal_delta), side, curve], marks=marks, title=heading, **axes)
figure = panels(pure, right, title="Every rule for accusing stays inside the region")
show(figure, f"Regions for epsilon 1: delta 0, and delta {normal_delta:.4f} for Gaussian noise.")
# %% [markdown]
# Look at the right panel. The side of slope $e^{\varepsilon}$ touches the curve in *one* rule, "accuse when $L>\varepsilon$". Where that tangent meets the axis of no false alarms, there you read $\delta(\varepsilon)$. Another $\varepsilon$ is another tangent. **A pair $(\varepsilon,\delta)$ is one tangent; the mechanism is the whole curve.**
#
# How much does a single pair $(\varepsilon,\delta)$ tell us? Take Gaussian noise with $\sigma=1$, reported at $\delta=10^{-5}$ as is usual:

# %%
reported = float(normal_profile.epsilon(1e-5))
tangent = 1 - float(approximate_dp_tradeoff(0.01, epsilon=reported, delta=1e-5))
normal_caught = 1 - float(normal_profile.tradeoff(0.01))
print(f"reported epsilon {reported:.4f} at delta 1e-05: ", end="")
print(f"caught at 1 % is at most {round_up(100 * tangent, 3)} %")
print(f"by the whole curve: {normal_caught:.2%}")

# %% [markdown]
# Both are true; the second is exact, the first an upper bound. The pair touches the curve where false alarms are very rare. At 1 % it lies far above the curve. Whoever has the profile should use it.
# %% [markdown] tags=["instructor"]
# > **For the teacher.** Let somebody draw the region for $\varepsilon=0$ (a strip of width $\delta$ along the diagonal), then for $\varepsilon\to\infty$ (everything). Many take the left panel's corner for the mechanism's guarantee: ask at which FPR Laplace noise and randomised response differ. Between the two points where the blue curve leaves the sides, there only.

# %% [markdown]
# The rule again is *accuse above $t$*. On the left, the shaded area under the blue curve is the caught, that under the grey one the false alarms. On the right, where this rule stands in the region for $\varepsilon=1$. Start at $t=3$ and move down. Where does the point run along a straight side, where does it leave it, and where does it meet the other one? (In Jupyter, move the mouse over the picture to wake it up.)

# %% tags=["hide-input"]
outputs = np.linspace(-4, 5, 181)


def accusations(t):
    p, q, accused = laplace.pdf(outputs, 1), laplace.pdf(outputs), outputs >= t
    areas = [
        Band(x=outputs, lower=0 * p, upper=p * accused, label="", role="exact"),
        Band(x=outputs, lower=0 * q, upper=q * accused, label=""),
        Curve(x=outputs, y=p, label="p", label_at=0.58, side="top right"),
        Curve(x=outputs, y=q, label="q", role="quiet", label_at=0.42, side="top left"),
    ]
    names = {"x": "report minus 6", "y": "density", "y_range": (0, 0.56)}
    return curves(areas, title="with Anna p, without q", **names)


def frame(t):
    fpr, tpr = laplace.sf(t), laplace.sf(t, 1)
    here = Dot(x=fpr, y=tpr, label=f"{100 * tpr:.1f} %", side="bottom right")
    shapes = [region(1, 0, label=""), Curve(x=rates, y=best, label="")]
    right = curves(shapes, marks=[here], title="the region for ε = 1", **axes)
    title = f"Accuse above {t:g}: {100 * fpr:.1f} % false alarms, {100 * tpr:.1f} % caught"
    return panels(accusations(t), right, title=title)


thresholds = [-2, -1.5, -1, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3]
frames = {f"{t:g}": frame(t) for t in thresholds}
three = [frames[t].layout.title.text for t in ("0", "0.5", "1")]
show(slider(frames, name="t", start=9), "Three of 15 frames. " + "; ".join(three) + ".")
# %% [markdown]
# The slope of the curve at the point is $e^{L(t)}$: constant at $e$ while $t\ge1$, falling between 1 and 0, constant at $1/e$ below. The curve and the distribution of the losses contain the same information. The rule that most people choose at once, $t=\tfrac12$, is the balanced one: there both errors are equal. [The explorer](explorer:mechanisms?mechanism=gaussian&noise_multiplier=1&epsilon=1&false_positive_rate=0.01) shows the same for every mechanism in the library.
#
# ### Is the bound on belief true?
#
# We let one Anna in ten copy, and look only at those whom the teacher accuses.

# %%
guilty = rng.random(draws) < before
reports = mechanism.release(guilty.astype(float), sensitivity=1, rng=rng)
for t in (0.5, 1, 2, 3):
    print(f"accused above {t:3}: {np.mean(guilty[reports > t]):.3f} of them copied")

# %% [markdown]
# However strict the teacher is, more than three in four accusations hit somebody who never copied. With $\delta>0$ there is no such bound for *every* report: it holds for all reports with $\lvert L\rvert\le\varepsilon$.
#
# ### Why both orders?
#
# For our noise they agree, by symmetry. In general they do not. Suppose the school writes to the parents of those who copied, and one letter in ten goes astray and is read by everybody. Outputs: *letter seen*, *no letter*.

# %%
copier, other = [0.1, 0.9], [0.0, 1.0]
print("epsilon   copier against other   other against copier")
for epsilon in (0.05, 0.2, 5.0):
    there = hockey_stick(copier, other, epsilon=epsilon)
    back = hockey_stick(other, copier, epsilon=epsilon)
    print(f"{epsilon:7}   {there:20.4f}   {back:20.4f}")

# %% [markdown]
# In one order $\delta$ is soon 0, and the scheme looks purely private. In the other it is 0.1 for ever: a letter that is seen proves everything. A definition printed with [one order only](explorer:formula_book?id=G-A1&misprint=one-order) may let it pass.
#
# ### Which neighbours?
#
# If a record is *replaced* and not only removed, it may move a sum of values between $-1$ and 1 by 2:

# %%
for adjacency in ("add_remove", "replace_one"):
    pure = mechanism.pure_epsilon(adjacency)
    print(f"Laplace noise of scale 1, {adjacency:<12} epsilon = {pure:g}")
# %% [markdown]
# ### Whatever is done afterwards
#
# > **Theorem.** If $M$ is $(\varepsilon,\delta)$-DP, then so is $g\circ M$, for every function $g$ that does not look at the data again, random or not. (Dwork & Roth 2014, Proposition 2.1.)
#
# *Why.* "The processed output lies in $S$" is the event "the report lies in $g^{-1}(S)$". These events are only some of all events, so their best is not better than the best of all. A random $g$ is a mixture of functions, and a mean cannot beat its best term.
#
# No computation by the teacher can weaken the guarantee, and the school cannot lower the $\varepsilon$ of a number that is already out. It could round its number, or say only whether it exceeds 6.5. Both are functions of the report. Their outputs are separate cells, so $\delta$ is a sum. (Rounding has infinitely many of them; the code stops at 40, beyond which hardly anything happens.)


# %%
def delta_of_cells(edges, epsilon):
    p, q = (np.diff(laplace.cdf(edges, place)) for place in (1, 0))
    return hockey_stick(p, q, epsilon=epsilon)


whole, yes_no = np.arange(-40.5, 42), [-np.inf, 0.5, np.inf]
print("epsilon   the report   rounded   yes/no")
for epsilon in (0, 0.25, 0.5, 0.75):
    rounded, reply = (delta_of_cells(edges, epsilon) for edges in (whole, yes_no))
    raw = laplace_profile.delta(epsilon)
    print(f"{epsilon:7}   {raw:10.4f}   {rounded:7.4f}   {reply:6.4f}")
# %% [markdown]
# Never more, sometimes less, and equal where the cells keep the best event. (At $\varepsilon=0$ that is "above $\tfrac12$", and even the yes/no answer keeps it.)
#
# ### More about "δ is the probability that the loss exceeds ε"
#
# Where $\delta$ is small, the two are further apart:

# %%
delta, tail = float(normal_profile.delta(reported)), norm.sf(reported - 0.5)
print(f"at epsilon {reported:.7f}: delta {delta:.6g}, tail {tail:.6g}")
# %% [markdown]
# $\Pr[L>\varepsilon]\le\delta$, in both orders, is *sufficient* for $(\varepsilon,\delta)$-DP. It is not what the words mean. *Direction of the error:* safe for whoever adds noise. Unsafe for whoever reads it backwards, "the loss exceeds 4.377 with probability at most $10^{-5}$": it does so five times as often. [In the book](explorer:formula_book?id=G-D8&misprint=equivalent).
#
# And training sets are larger than a class:

# %%
people = 60_000
print("  delta   files expected   chance of at least one")
for delta in (0.01, 1e-4, 1e-5, 1e-6, 1e-8):
    chance = somebody_published(records=people, delta=delta)
    print(f"{delta:7g}   {people * delta:14g}   {chance:.4g}")
# %% [markdown]
# With 60 000 records, as in the digits of MNIST, $\delta=0.01$ would tolerate 600 published files. Even $10^{-5}$, the usual choice, would tolerate at least one with probability 0.45. *Direction of the error:* unsafe. [In the book](explorer:formula_book?id=G-D5b&misprint=small-delta).
#
# ### "The goal is $\sup\,\lvert\ln P/Q\rvert\le\varepsilon$"
#
# It is tempting to introduce it so. But a bound on the largest loss is *pure* privacy. What is the $\varepsilon$ of our mechanisms at $\delta=0$, and what at $\delta(1)$ of the Gaussian noise?

# %%
for name, profile in {"Laplace": laplace_profile, "normal": normal_profile}.items():
    pure, other = float(profile.epsilon(0.0)), float(profile.epsilon(normal_delta))
    print(f"{name:<8} epsilon {pure:.4g} at delta 0, {other:.4g} at delta {normal_delta:.4f}")
# %% [markdown]
# No Gaussian noise reaches that goal, for any $\varepsilon$, however much of it you add. *Direction of the error:* unsafe, if a text states this goal and then adds Gaussian noise. It promises what no amount delivers. [In the book](explorer:formula_book?id=G-A2&misprint=for-approximate-dp).
#
# ### "A group of $k$ people is protected with $(k\varepsilon, k\delta)$"
#
# Five sisters copy together. For pure privacy $k\varepsilon$ is right: five steps from neighbour to neighbour, a factor $e^{\varepsilon}$ each. With $\delta$? Gaussian noise with $\sigma=4$, and $\varepsilon$ such that one person has $\delta=0.001$. The family shifts the number by 5.

# %%
noise, alone, group = 4.0, 0.001, 5
epsilon = float(Gaussian(noise).profiles()[0].epsilon(alone))
family = float(Gaussian(noise / group).profiles()[0].delta(group * epsilon))
bound = group_privacy_delta(epsilon=epsilon, delta=alone, group=group)
shift = group / noise
family_loss = rng.normal(shift**2 / 2, shift, draws)  # L = shift * (x - shift/2), x = shift + Z
print(f"delta of a family of five at 5 * {epsilon:.4f}: printed {group * alone}")
print(f"true {family:.6f}, simulated {estimate_delta(group * epsilon, family_loss)}")
print(f"bound that holds for every mechanism: {bound:.6f}")
# %% [markdown]
# *Why.* Each further step multiplies what was conceded before: $P\le e^{\varepsilon}R+\delta\le e^{\varepsilon}(e^{\varepsilon}Q+\delta)+\delta$. *Instead:* $\big(k\varepsilon,\ \delta\,\frac{e^{k\varepsilon}-1}{e^{\varepsilon}-1}\big)$, the sum of these steps (after Vadhan 2017); an upper bound for every mechanism, and here not attained. *Direction of the error:* unsafe, here by a factor of almost three. [In the book](explorer:formula_book?id=G-C8&misprint=linear); [a simpler form](explorer:formula_book?id=G-C8d&misprint=no-k), [a replaced record](explorer:formula_book?id=G-C8e&misprint=same).
#
# ### Three more exercises
#
# **★★ 2.2** A report claims $(1, 0.05)$-DP. This teacher is ruthless and accepts false alarms in 30 % of all cases. What is the largest share of those who copied that any rule can catch?

# %%
answer = None
check("2.2", answer)

# %% [markdown]
# <details><summary>Solution of 2.2</summary>
#
# ```python
# steep, flat = np.e * 0.3 + 0.05, 1 - np.exp(-1) * (1 - 0.05 - 0.3)
# answer = min(steep, flat)
# check("2.2", answer)
# print(f"steep side {steep:.4f}, flat side {flat:.4f}")
# ```
#
# The steep side alone would allow 0.8655. But an acquittal is an event, too: $1-\mathrm{FPR}\le e(1-\mathrm{TPR})+\delta$, hence $\mathrm{TPR}\le 0.7609$. To the right of the corner the flat side is the stricter one.
#
# </details>
# %% [markdown] tags=["instructor"]
# > **For the teacher.** Almost everybody answers 0.8655, the steep side. Let two students draw the two sides and find out where they cross; then ask which one a teacher meets who accuses one in three.

# %% [markdown]
# **★★★ 2.3** A survey asks one yes/no question. With probability 0.02 the clerk loses the form, and everybody can read the true answer on it. Otherwise your answer goes out by randomised response, which tells the truth with probability 0.75. Neighbours replace your answer. What is the smallest $\delta$ at $\varepsilon=1$? (List the outputs first.)

# %%
answer = None
check("2.3", answer)

# %% [markdown]
# <details><summary>Solution of 2.3</summary>
#
# ```python
# # outputs: form says yes, form says no, response yes, response no
# p = np.array([0.02, 0, 0.98 * 0.75, 0.98 * 0.25])
# q = np.array([0, 0.02, 0.98 * 0.25, 0.98 * 0.75])
# answer = np.sum(np.maximum(p - np.e * q, 0))
# check("2.3", answer)
# print(f"lost form {p[0]}, response {p[2] - np.e * q[2]:.5f}, at ln 3: {hockey_stick(p, q, epsilon=np.log(3)):.4f}")
# ```
#
# Two outputs pay: the lost form with its full 0.02, because its loss is infinite, and the response "yes" with 0.06902. Together 0.08902. From $\varepsilon=\ln3$ on only the form is left, and no $\varepsilon$ brings $\delta$ below 0.02.
#
# </details>

# %% [markdown]
# **★★ 2.4** Write the definition of $\delta$ as a program. `p` and `q` are lists: the probabilities of the same outputs with the record and without it. Return the smallest $\delta$ for which the pair is $(\varepsilon,\delta)$-indistinguishable.


# %%
def delta_of(p, q, epsilon):
    # Write your code here.
    return None


check("2.4", delta_of)

# %% [markdown]
# <details><summary>Solution of 2.4</summary>
#
# ```python
# def delta_of(p, q, epsilon):
#     def one_way(p, q):
#         return sum(max(0, a - np.exp(epsilon) * b) for a, b in zip(p, q))
#
#     return max(one_way(p, q), one_way(q, p))
#
#
# check("2.4", delta_of)
# ```
#
# The worst set $S$ collects the outputs whose difference is positive; the others are cut at 0. The promise holds in both directions, so the larger of the two counts.
#
# </details>

# %% [markdown]
# ## 11 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** "At ε = 1 an attacker is right in at most 2.7 % of all cases." What is wrong?
#
# <details><summary>a. Nothing is wrong: e times 1 % is 2.7 %.</summary>
#
# No. The product is right, and it is not how often he is right.
#
# </details>
#
# <details><summary>b. At ε = 1 the bound is 37 %.</summary>
#
# No. 1/e is how far a probability may fall, not how often he is right.
#
# </details>
#
# <details><summary>c. 2.7 % is the share he catches at 1 % false alarms.</summary>
#
# Right. That number is the share he *catches* while he allows himself 1 % false alarms. With 27 % false alarms the region allows him to catch 73 %. And how often an accusation is right depends on how many came at all.
#
# </details>
#
# **2** "δ is the probability that the mechanism publishes everything." True?
#
# <details><summary>a. No: it is what a mechanism with this δ may do, and Gaussian noise never does.</summary>
#
# Right. It is what a mechanism with this $\delta$ *may* do, and the worst school of section 8 does it. Gaussian noise never does: its $\delta$ adds up the partial charges $1-e^{\varepsilon-L}$ of all losses above $\varepsilon$, and no finite loss is charged in full.
#
# </details>
#
# <details><summary>b. Yes, for every mechanism.</summary>
#
# No. Gaussian noise has δ > 0 at every ε, and never publishes everything.
#
# </details>
#
# <details><summary>c. No: it is the probability that the loss exceeds ε.</summary>
#
# No. That probability is mostly larger: δ charges each finite loss above ε only in part.
#
# </details>
#
# **3** The teacher buys a faster computer and invents a better rule. What happens to ε and δ?
#
# <details><summary>a. ε grows, δ stays.</summary>
#
# No. A rule that catches more than this does not exist, fast or slow.
#
# </details>
#
# <details><summary>b. Nothing happens to them.</summary>
#
# Right. They bound every rule, known or not, and whatever is computed from the report is one more rule.
#
# </details>
#
# <details><summary>c. Both grow, but slowly.</summary>
#
# No. They bound every rule, also those of tomorrow.
#
# </details>
#
# **4** Two mechanisms both have δ(1) = 0.1. Are they equally private?
#
# <details><summary>a. Yes, since ε and δ are the same.</summary>
#
# No. They are the same at one point of the curve δ(ε).
#
# </details>
#
# <details><summary>b. Yes, if both are continuous.</summary>
#
# No. Two continuous curves may meet in one point only.
#
# </details>
#
# <details><summary>c. Not necessarily: one point of two curves says little about the rest.</summary>
#
# Right. Each curve touches the same tangent, at some point. Elsewhere they may differ: one may be Laplace noise with a bounded loss, the other may betray one person in ten.
#
# </details>
#
# **5** Your auditor checks P(S) ≤ e^ε Q(S) + δ with P always the data with the record. What does she miss?
#
# <details><summary>a. Whatever leaves a trace of those who did not copy.</summary>
#
# Right. The other order. She finds the letters of section 10, where those who copied leave a trace. She would not find a school that leaves a trace of those who did *not*, by sending praise to one in ten of them.
#
# </details>
#
# <details><summary>b. Nothing: the definition is symmetric.</summary>
#
# No. The definition asks for both orders, and she checks one.
#
# </details>
#
# <details><summary>c. Rules that combine several reports.</summary>
#
# No. A rule that computes from the report is covered; another order is not.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("2.test", answers)

# %% [markdown]
# ## 12 On one card
#
# | | |
# |---|---|
# | **Privacy loss** | $L(x)=\ln p(x)/q(x)$: what a report adds to the log odds |
# | **$(\varepsilon,\delta)$-DP** | $P(S)\le e^{\varepsilon}Q(S)+\delta$ for all events, all neighbours, both orders |
# | **Exact $\delta$** | $\delta(\varepsilon)=\mathbb E_P[(1-e^{\varepsilon-L})_+]$, attained by the event $L>\varepsilon$; not $\Pr[L>\varepsilon]$ |
# | **Laplace noise** | $\varepsilon=\Delta/b$; before that $\delta(\varepsilon)=1-e^{(\varepsilon-\Delta/b)/2}$ |
# | **Attacker** | $\mathrm{TPR}\le e^{\varepsilon}\mathrm{FPR}+\delta$, and the same for acquittals |
# | **Belief** | odds change by at most $e^{\varepsilon}$ where $\lvert L\rvert\le\varepsilon$ |
# | **Afterwards** | no function of the report makes it worse |
# | **Choose** | $\delta$ much smaller than one over the number of records |
# | **Groups** | $\big(k\varepsilon,\ \delta\frac{e^{k\varepsilon}-1}{e^{\varepsilon}-1}\big)$ |
#
# ## 13 Further reading
#
# * Wasserman & Zhou (2010), *A statistical framework for differential privacy*: where privacy was first read as a test.
# * Kairouz, Oh & Viswanath (2015), *The composition theorem for differential privacy*: the region, drawn; and what follows for many releases (lesson 04).
# * Dong, Roth & Su (2022), *Gaussian differential privacy*: the whole curve as the definition (lesson 09).
# * Dwork & Roth (2014), *The algorithmic foundations of differential privacy*, chapters 2 and 3: definitions, post-processing, groups, and how large $\delta$ may be.
# * Kasiviswanathan & Smith (2014), *On the 'semantics' of differential privacy: a Bayesian formulation*: what an attacker may believe, with $\delta$ done carefully.
#
# <details><summary>In the formula book</summary>
#
# As trade-off curves: [Gaussian noise](explorer:formula_book?id=G-K1), [two of them](explorer:formula_book?id=G-K1b&misprint=sum), [Laplace noise](explorer:formula_book?id=G-K3&misprint=pure-dp) and [any $(\varepsilon,\delta)$](explorer:formula_book?id=G-K4&misprint=no-delta), [from profile to curve](explorer:formula_book?id=G-D7&misprint=one-branch) and [back](explorer:formula_book?id=G-D6), [pure DP as a $\mu$](explorer:formula_book?id=G-D6c&misprint=epsilon). Advantage and mean loss: [Pinsker](explorer:formula_book?id=G-A10&misprint=no-half), [its better half](explorer:formula_book?id=G-A10b). The loss itself: [its mean of $e^{-L}$ is 1](explorer:formula_book?id=G-A12b), [Laplace](explorer:formula_book?id=G-L2&misprint=two-atoms), [Gaussian](explorer:formula_book?id=G-L2b&misprint=no-drift), [its tail](explorer:formula_book?id=G-D8b&misprint=smaller-law).
#
# </details>
#
# **Next** [lesson 03](03_gaussian_mechanism.ipynb): how much Gaussian noise makes a list of numbers safe to publish?
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert formula(0.5) in estimate_delta(0.5, loss)
assert at_one.refuted and np.isclose(caught, np.e * 0.01)
assert group * alone < family < bound and family in estimate_delta(group * epsilon, family_loss)
assert abs(np.mean(coins > 0) - formula_64) < 0.002 and formula_64 > 30 * 0.01
assert np.all(best <= coin + 1e-12) and np.isclose(touch["y"], np.e * touch["x"] + normal_delta)
assert np.isclose(tail, 5.28375e-5, atol=1e-10) and np.isinf(normal_profile.epsilon(0.0))
print("all checks passed")
