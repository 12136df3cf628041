# %% [markdown]
# # 19 Counting or choosing
#
# *An option: one person changes thirty of sixty-four counts. How much noise does it take if we publish only which count is the largest?*
#
# The maker of a writing pad wants to know which square of its field people use most. It has 1,797 handwritten digits on $8\times8$ squares, each the secret of one person. A square is *inked* if it is at least half black, and neighbouring tables differ in one person who joins or leaves. The picture shows Anna's digit, the counts that change when she leaves, and what is published.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. name a winner among many noisy scores, and state what it costs;
# 2. prove it, and say which further number breaks the proof;
# 3. (at home) find the few scores above a threshold, and compare noise on every phone with noise at one counter.
#
# * **Time** NN minutes in class, and as much at home; the computer needs half a minute.
# * **You need** lesson 01 (randomised response), lesson 02 (loss, pure DP) and lesson 04 (composition).
# * **An excursion** from the school: this lesson needs many counts that one person changes at once, and the pupils' table has no such column. No other lesson needs this one.
# * **Beside it** [the exponential mechanism in the explorer](explorer:mechanisms?mechanism=exponential&range_epsilon=1&epsilon=0.5), if you have started it; nothing below depends on it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `counts` | $u_r$ | score of candidate $r$, here how many people ink square $r$ | people |
# | `scale` | $b$ | scale of Laplace, Gumbel or exponential noise | people |
# | `b1`, `b2` | $b_1$, $b_2$ | scale of the noise on a threshold, on every answer | people |
# | `positives` | $c$ | how many answers "yes" there may be | none |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence to leave with: fix all noises but the winner's, and the noise on one count protects all of them; this proof fails as soon as more than the winner is published.
#
# | minutes | part | do |
# |---|---|---|
# | 8 | 0 The first screen | let two students shade a digit on squared paper; everybody types one expression, then a guess |
# | 3 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again; section 6 decides it |
# | 3 | 3 Two ways to spend ε = 1 | which of the two would you publish? |
# | 7 | 4 The winner | the proof aloud: what is held still? |
# | 6 | 5 An exercise | 19.2, alone |
# | 5 | 6 Is it true as printed? | a guess first; then: what does the published number reveal? |
# | 1 | 7 Where this breaks | the second bullet aloud |
# | – | 8 to 11 | homework |

# %% tags=["hide-input"]
from dplearn.teaching.classroom import check, pictures, predict, reveal

figures = pictures("19")
figures.one_name()

# %% [markdown]
# **★ 19.1** *(In class, 2 minutes.)* Noise is added to each count, and only the index of the largest noisy count is published. Replace `...` by this index, which begins with 0.


# %%
def winner(counts, noise):
    noisy = [count + extra for count, extra in zip(counts, noise)]
    return ...


check("19.1", winner)

# %% [markdown]
# <details><summary>Solution of 19.1</summary>
#
# ```python
# def winner(counts, noise):
#     noisy = [count + extra for count, extra in zip(counts, noise)]
#     return noisy.index(max(noisy))
#
#
# check("19.1", winner)
# ```
#
# The list `noisy` stays secret: the place of its largest value leaves the function, and the value itself does not.
#
# </details>

# %% [markdown]
# To publish all 64 counts with $\varepsilon=1$ we must allow for a person who inks every square, which takes Laplace noise of scale 64. The next picture shows which squares this function names with such noise, and with noise of scale 1.

# %%
figures.two_scales(winner)

# %% [markdown]
# Suppose that each count gets Laplace noise of scale 1 and only the winner is published. One person changes up to 30 counts by 1. Which $\varepsilon$ does the published winner have?

# %%
predict("epsilon of the winner", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Expect 30 or 64. Do not correct it: section 4 does.

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Answer three questions from earlier lessons.
#
# **1** 01.4
#
# **2** 02.3
#
# **3** 04.1

# %%
answers = ""  # three letters, such as "bca"
check("19.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# The maker also wants to know *how many* people ink the winning square. From the same noise of scale 1 it publishes the winner together with its noisy count. Which $\varepsilon$ do the two have together?
#
# <details><summary>a. The same as the winner alone, since the noise is already there.</summary>
#
# No. The proof for the winner keeps the noise of all other counts fixed, and the published count says something about them.
#
# </details>
#
# <details><summary>b. Twice that of the winner: once for the name, once for the count.</summary>
#
# No. That would be right if the count had fresh noise.
#
# </details>
#
# <details><summary>c. As much as publishing all 64 noisy counts.</summary>
#
# Right. A low winning count says that all 64 noisy counts are low, and one person may have changed all of them: section 6.
#
# </details>
#
# <details><summary>d. Eight times that of the winner, the root of 64.</summary>
#
# No. A root belongs to many small losses that nearly cancel, and here all of them have one sign.
#
# </details>

# %%
vote = ""  # one letter
check("19.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 Two ways to spend the same ε
#
# Section 4 proves that both ways have $\varepsilon=1$: noise of scale 64 with all counts published, and noise of scale 1 with one name. How good are the two names?

# %%
import numpy as np

from dplearn.datasets import digits

images, labels = digits()
inked = images.reshape(-1, 64) >= 0.5
counts = inked.sum(axis=0)
best = np.argsort(-counts)
print(f"{len(inked)} people, largest counts:", *counts[best[:6]])

# %% [markdown]
# We let each way choose in 20,000 runs:

# %%
rng, runs = np.random.default_rng(18), 20_000
for told, scale in (("all 64 counts", 64), ("the winner", 1)):
    won = np.argmax(counts + rng.laplace(scale=scale, size=(runs, 64)), axis=1)
    short, share = counts[best[0]] - counts[won].mean(), np.mean(won == best[0])
    print(f"{told:14} right in {share:.1%}, on average {short:.2f} people short")

# %% [markdown]
# The second way is right three times as often, although the best square leads by only two people. When it is wrong, it names a square that is nearly as good.
#
# ## 4 The winner
#
# > **Theorem.** Add independent Laplace, Gumbel or exponential noise of scale $2\Delta/\varepsilon$ to every score, and publish only which is the largest. This is $\varepsilon$-DP for any number of candidates. If one person moves all scores in one direction, the scale $\Delta/\varepsilon$ is enough.
# >
# > McSherry & Talwar (2007); Dwork & Roth (2014), sections 3.3 and 3.4; McKenna & Sheldon (2020).
#
# With Gumbel noise this is the **exponential mechanism** (指数机制): it draws $r$ with probability proportional to $e^{u_r/b}$.
#
# *Why.* Fix the noise of all scores but that of $r$, and let Anna join. The best of the other scores rises by at most 1, and $u_r$ does not fall. Therefore $r$ still wins if its own noise is larger by 1, and the chance of that is at least $e^{-1/b}$ times the old one. If she leaves, the best of the others does not rise and $u_r$ falls by at most 1, which gives the same gap. **The noise on one count was enough to protect all 64.** If scores may move in opposite directions, the gap is 2.
#
# Counts are **monotone** (单调): one person moves all of them in the same direction. Let each of the 1,797 people leave in turn, under the exponential mechanism with $b=1$. How large is the exact privacy loss of a winner?

# %%
from scipy.special import log_softmax

law = log_softmax(counts.astype(float))
losses = log_softmax(counts - inked.astype(float), axis=1) - law
print(f"largest loss of all people and squares: {np.abs(losses).max():.6f}")
reveal("epsilon of the winner", truth=1.0, others={"each count on its own": 64})

# %% [markdown]
# Real people reach the bound of the theorem. The picture shows the exact chance that the right square is named: given the winner's noise, all other noisy counts must stay below it.

# %%
flips, softmax, noisy, every = figures.right_square()

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask for the horizontal distance between the upper three and the lowest: a factor of 64 in ε, the number of squares. It does not depend on the data.

# %% [markdown]
# The kind of noise hardly matters, but it matters how much is published. With Gaussian noise on all 64 counts the factor would be $\sqrt{64}=8$ instead of 64 (lesson 03).
#
# *To here NN minutes.*
#
# ## 5 An exercise
#
# Replace `None` by your number, or by an expression, and run the cell. A wrong answer gets a hint, and the same answer again gets a plainer one.
#
# **★ 19.2** *(In class, 5 minutes.)* Each of 5,000 listeners names up to three of 200 songs. A station publishes the song that most of them named, with $\varepsilon=0.5$, and neighbouring tables differ in one listener who joins or leaves. Which scale does Laplace noise on each of the 200 counts need?

# %%
answer = None
check("19.2", answer)

# %% [markdown]
# <details><summary>Solution of 19.2</summary>
#
# ```python
# answer = 1 / 0.5
# check("19.2", answer)
# ```
#
# One listener moves each count by at most 1, and all of them in the same direction. Neither the three names nor the 200 songs matter.
#
# </details>

# %% [markdown]
# ## 6 Is it true as printed?
#
# The proof needs that nothing but the name leaves. A common mistake publishes the winner and, from the same noise, its noisy count: "the count has noise of scale 1, so the two together have $\varepsilon=2$ at most". How large is the $\varepsilon$ of both together?

# %%
predict("epsilon of winner and count", None)

# %% [markdown]
# Take the hardest data: all 64 counts are equal, and one person who joins raises all of them by 1. The chance that square $r$ wins *with the noisy count $v$* is the density of its own noise at $v$, times the chance that the 63 others stay below $v$:

# %%
from scipy.stats import laplace


def log_density(value, count):
    others = 63 * laplace.logcdf(value - count)
    return laplace.logpdf(value - count) + others


for value in (8, 4, 2, 1, 0):
    loss = log_density(value, count=0) - log_density(value, count=1)
    print(f"noisy count {value:2}: loss {loss:8.4f}")
print(f"refuted: at most 2; the noisy count 0 alone has a loss of {loss:.0f}")
reveal("epsilon of winner and count", truth=round(loss, 9))

# %% [markdown]
# A winner at 0 means that all 64 noisy counts are at most 0, and each of them tells as much as if it were published. Such outcomes are rare, but $\varepsilon$ without a δ is a promise for every outcome. If the maker needs the count, it takes a release of its own with fresh noise, and the two ε add up.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask which sentence of the proof no longer holds: the noise of the others cannot be fixed, because the published number depends on all of them.

# %% [markdown]
# ## 7 Where this breaks
#
# * **Publish the winner, never its noisy score.** Fix the candidates beforehand, because a list of the words that people typed already leaks.
# * **Here each person has one record.** A person who writes ten digits changes a count by up to ten.
# * **A trusted counter sees the true counts.** If nobody is trusted, each phone adds its own noise. Section 8 shows that this needs 147,308 phones where a trusted counter needs 283 people.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 8 At home
#
# ### Which noise
#
# *Exponential noise* in place of Gumbel's makes **permute-and-flip** ([in the book](explorer:formula_book?id=G-B10b)), which is never worse: the upper line of the picture. The cell computes the exponential mechanism ([in the book](explorer:formula_book?id=G-B10)) at $\varepsilon=0.1$ in three ways. The fourth number comes from the usual printed formula, which halves the rate for counts, too, although counts need only noise of scale $\Delta/\varepsilon$ ([in the book](explorer:formula_book?id=G-B10&misprint=half-scale)).

# %%
from scipy.stats import gumbel_r

from dplearn.teaching.book import gumbel_max_probability
from dplearn.teaching.classroom import Evidence, estimate

top = counts[best].astype(float)
drawn = np.argmax(counts + rng.gumbel(scale=10, size=(runs, 64)), axis=1)
right = Evidence(
    "chance to name the right square, Gumbel noise of scale 10",
    closed=gumbel_max_probability(scores=top, scale=10),
    exact=figures.chance_right(gumbel_r(scale=10)),
    simulated=estimate(drawn == best[0]),
    printed=gumbel_max_probability(scores=top, scale=20),
)
print(right)

# %% [markdown]
# A wrong square is rarely far from the best: the score falls short of it by more than $\frac{2\Delta}\varepsilon(\ln|R|+t)$ with a chance of at most $e^{-t}$, and for monotone scores by half of that ([in the book](explorer:formula_book?id=G-B8)). With a thousand candidates instead of a hundred the result falls short by a few people more, not by ten times as many.
#
# What do many choices cost? The losses of an exponential mechanism on one pair of neighbours lie in an interval of length $\varepsilon$, not $2\varepsilon$, its **bounded range** ([in the book](explorer:formula_book?id=G-B7b)), so $D_\alpha\le\alpha\varepsilon^2/8$, a quarter of what $\varepsilon$-DP alone gives ([in the book](explorer:formula_book?id=G-B7)). The cell composes a hundred choices with $\varepsilon=0.1$ each at $\delta=10^{-5}$:

# %%
from dplearn.accountants import ACCOUNTANTS
from dplearn.mechanisms import ExponentialMechanism, PermuteAndFlip, RandomizedResponse

pld, run = ACCOUNTANTS["pld"](), {"delta": 1e-5, "steps": 100}
coin = RandomizedResponse(local_epsilon=0.1, answers=2)
print(pld.epsilon(ExponentialMechanism(0.1), **run))
print(pld.epsilon(PermuteAndFlip(0.1), **run))
print(pld.epsilon(coin, **run, adjacency="replace_one"))

# %% [markdown]
# The last line, randomised response, is the worst case that 0.1-DP alone allows. Permute-and-flip lies between: for two candidates the difference of two exponential noises is Laplace noise, whose losses fill all of $[-\varepsilon,\varepsilon]$. So it has *no* bounded range, and $D_\alpha\le\alpha\varepsilon^2/8$ is false for it.
#
# ### The first above a threshold
#
# Now the maker asks for square after square whether more than 1,400 people ink it. The **sparse vector** technique (稀疏向量技术) adds noise $\mathrm{Lap}(b_1)$ to the threshold *once* and fresh noise $\mathrm{Lap}(b_2)$ to every answer. It publishes only yes or no, and **ends after $c$ yeses**.
#
# > **Theorem.** However many noes there are, this is $\varepsilon$-DP with $\varepsilon=\dfrac1{b_1}+\dfrac{2c}{b_2}$, and for monotone answers with $\varepsilon=\dfrac1{b_1}+\dfrac c{b_2}$.
# >
# > Dwork & Roth (2014), section 3.6; Lyu, Su & Li (2017), Theorem 5.
#
# Let every answer move by 1, and raise the threshold by 1, which costs $1/b_1$ once. Then no answer "no" has become less likely: **the noise on the threshold covers all the noes together**. For a yes the gap is at most 2, and its own noise covers it at the cost of $2/b_2$. If answers can only rise, the gap is at most 1. In the drawing of this proof dots are noisy answers, and the dashed line is the noisy threshold:

# %%
figures.lifted()

# %% [markdown]
# The maker allows five yeses with $\varepsilon=\frac12+\frac5{10}=1$, and five counts are above 1,400. The second row answers 64 separate questions for the same $\varepsilon$:

# %%
over = counts > 1400
for way, b1, b2 in (("sparse vector", 2, 10), ("64 separate questions", 0, 64)):
    line = 1400 + rng.laplace(scale=b1, size=(runs, 1))
    answered = counts + rng.laplace(scale=b2, size=(runs, 64)) > line
    wrong = np.sum(np.any(answered != over, axis=1))
    print(f"{way:21} a wrong answer in {wrong:6,} of {runs:,} runs")

# %% [markdown]
# The proof needs a secret noisy threshold, noise on every answer, and a limit on the yeses. Each of these conditions has been forgotten in print (Lyu, Su & Li 2017). We compute the chance of an outcome by a sum over the noise of the threshold:

# %%
from scipy.special import logsumexp

steps = np.arange(-80, 140, 0.01)  # noise of the threshold


def log_chance(outcome, answers, b1, b2, highest=np.inf):
    """Return the log chance of these noes (0) and yeses (1); the true threshold is 0."""
    total = np.where(steps <= highest, laplace.logpdf(steps, scale=b1), -np.inf)
    for yes, answer in zip(outcome, answers, strict=True):
        side = laplace.logsf if yes else laplace.logcdf
        total = total + side(steps, loc=answer, scale=b2)
    return logsumexp(total) + np.log(0.01)


def loss_of(outcome, moves, b1, b2, highest=np.inf):
    """Return the loss of an outcome: all answers 0 here, and `moves` for the neighbour."""
    here, there = np.zeros(len(outcome)), moves
    p, q = (log_chance(outcome, x, b1, b2, highest) for x in (here, there))
    return p - q


# %% [markdown]
# One variant publishes the noisy answer of the yes. A reader of the number 0 knows that the noisy threshold was *below* 0, so each of a hundred earlier noes has a cost of its own. A second variant puts no noise on the answers: let two answers be 0 and 1 without Anna, and 1 and 1 with her, and the outcome "no, yes" *cannot* happen with her. A third goes on after a yes. The table compares the right procedure with the three wrong ones, which all claim $\varepsilon=1$:

# %%
sound = loss_of([0] * 99 + [1], [1] * 99 + [-1], 2, 4)
told = loss_of([0] * 100, [1] * 100, 2, 2, highest=0.0)
between = laplace.cdf(1, scale=2) - laplace.cdf(0, scale=2)
forever = loss_of([0] * 10 + [1] * 10, [1] * 10 + [-1] * 10, 2, 2)
rows = [("right, c = 1", sound), ("publishes the noisy answer", told)]
rows += [("no noise on answers", np.inf), ("no end, ten yeses", forever)]
for what, value in rows:
    print(f"{what:26} loss {value:.4g}")
print(f"chance of no, yes without noise on answers: {between:.4f} without her, 0 with her")

# %% [markdown]
# All four procedures add noise, and only a computed ratio shows which of them keep the promise.
#
# ### How to split a budget
#
# Split a budget of $\varepsilon=1$ for monotone answers into $\varepsilon_1$ for the threshold and $\varepsilon_2$ for $c$ yeses, so that $b_1=1/\varepsilon_1$ and $b_2=c/\varepsilon_2$. The slider sets $c$, and the curve shows the total noise in one decision for every split. Its variance is $2b_1^2+2b_2^2$, which is least at $\varepsilon_2/\varepsilon_1=c^{2/3}$, or at $(2c)^{2/3}$ if answers may move both ways ([in the book](explorer:formula_book?id=G-H3)).

# %%
figures.splits()

# %% [markdown]
# The number $c$ matters more than the split: the deviation is 4 people for one yes and 34.2 for twenty.
#
# ### Noise on every phone
#
# In **local differential privacy** (本地差分隐私) each phone adds its own noise. Which *digit* do people write most, if each phone sends a random digit, and the true one is $e^\varepsilon$ times as likely as each other ([in the book](explorer:formula_book?id=G-I2))? *One-hot* reports are another **frequency oracle** (频率估计协议), *optimised unary encoding*: each phone sends one bit for each candidate, the true one set with chance $\frac12$ and each other with chance $1/(e^\varepsilon+1)$ ([in the book](explorer:formula_book?id=G-I3b), [its variance](explorer:formula_book?id=G-I5)).

# %%
from dplearn.teaching.book import grr_variance, oue_variance

people = len(labels)
direct = people * np.sqrt(grr_variance(epsilon=1, users=people, symbols=10))
one_hot = people * np.sqrt(oue_variance(epsilon=1, users=people))
print(f"deviation {direct:.1f} people, one-hot {one_hot:.1f}, trusted {np.sqrt(2):.1f}")
print(f"direct and one-hot meet at {3 * np.e + 2:.2f} candidates")

# %% [markdown]
# The error is eighty people instead of 1.4. The variance of one-hot does not depend on the number $d$ of candidates and is the smaller one from $d=3e^\varepsilon+2$ on, which is 10.15 at $\varepsilon=1$ ([in the book](explorer:formula_book?id=G-I2c)). How many phones does it take until a word that one person in a hundred types stands out by two deviations?

# %%
phones = (2 / 0.01) ** 2 * oue_variance(epsilon=1, users=1)
trusted = 2 * np.sqrt(2) / 0.01
print(f"noise on every phone {phones:,.0f} phones, one trusted counter {trusted:.0f}")

# %% [markdown]
# The noise of $n$ phones grows with $\sqrt n$, while the noise of one counter does not grow. The secure sums of lesson 13 come close to the counter without trusting it.
#
# ### Three more exercises
#
# **★★ 19.3** A sparse vector runs over 10,000 counts, and neighbouring tables differ in one person who joins or leaves. The threshold has Laplace noise of scale 4, every answer has noise of scale 10, and the procedure ends after 5 yeses. Which $\varepsilon$ does it have?

# %%
answer = None
check("19.3", answer)

# %% [markdown]
# <details><summary>Solution of 19.3</summary>
#
# ```python
# answer = 1 / 4 + 5 / 10
# check("19.3", answer)
# ```
#
# Counts are monotone, so the factor 2 is not needed. The number of questions does not matter.
#
# </details>

# %% [markdown]
# **★★ 19.4** The exponential mechanism with $\varepsilon=1$ chooses among 1,000 words by how many people typed them; counts only rise when one joins, and the mechanism makes use of it. By how many people can the chosen word fall short of the best, with a chance of at most 0.01 of more?

# %%
answer = None
check("19.4", answer)

# %% [markdown]
# <details><summary>Solution of 19.4</summary>
#
# ```python
# answer = np.log(1000) + np.log(100)
# check("19.4", answer)
# ```
#
# For monotone scores $\frac\Delta\varepsilon(\ln|R|+t)$ with $e^{-t}=0.01$.
#
# </details>

# %% [markdown]
# **★★ 19.5** Write the sparse vector. `answers` and their `noise` are arrays of one length, `threshold` already has its noise. Return an array: 1 for yes (above), 0 for no, and -1 for what is not answered any more after `cap` yeses.


# %%
def sparse_answers(answers, noise, threshold, cap):
    # Write your code here.
    return None


check("19.5", sparse_answers)

# %% [markdown]
# <details><summary>Solution of 19.5</summary>
#
# ```python
# def sparse_answers(answers, noise, threshold, cap):
#     yes = np.asarray(answers) + np.asarray(noise) > threshold
#     before = np.cumsum(yes) - yes
#     return np.where(before < cap, yes.astype(int), -1)
#
#
# check("19.5", sparse_answers)
# ```
#
# In a service the questions after the last yes are not even looked at.
#
# </details>

# %% [markdown]
# ## 9 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** Why does naming the winner have the same $\varepsilon$ as publishing one count?
#
# <details><summary>a. The winner depends on one count only.</summary>
#
# No. It depends on all of them; all 64 may move.
#
# </details>
#
# <details><summary>b. With all other noises fixed, the winner's own noise covers every change.</summary>
#
# Right. The gap changes by 1 at most, or by 2 if scores move in opposite directions.
#
# </details>
#
# **2** After a hundred noes the maker wants to publish the noisy threshold: "it is only noise". May it?
#
# <details><summary>a. No: from then on every "no" has a cost of its own.</summary>
#
# Right. The proof can raise the threshold only while nobody knows where it is.
#
# </details>
#
# <details><summary>b. Yes: the noise of the threshold is already part of ε.</summary>
#
# No. The bound for all noes together holds only while that noise is secret.
#
# </details>
#
# **3** A sparse vector goes on after each yes, with the same noisy threshold and without an end. What is wrong?
#
# <details><summary>a. Nothing; the threshold's noise is still secret.</summary>
#
# No. Each further yes adds to ε: ten of them have a loss of 9.28 where 1 was claimed.
#
# </details>
#
# <details><summary>b. Nobody counts the yeses, and each one adds to ε.</summary>
#
# Right. Either end after c of them, with c in the scale of the noise, or add up each of them.
#
# </details>
#
# **4** There are a thousand candidates instead of a hundred. What happens to the exponential mechanism with the same $\varepsilon$?
#
# <details><summary>a. It falls short of the best by a few people more.</summary>
#
# Right. The shortfall grows with the logarithm of the number.
#
# </details>
#
# <details><summary>b. Ten times as much noise is needed.</summary>
#
# No. That holds for publishing all counts, not for naming one.
#
# </details>
#
# **5** Twice as many phones send noisy digits. What happens to the deviation of an estimated *count*?
#
# <details><summary>a. It stays as it is, as with a trusted counter.</summary>
#
# No. Every phone adds noise of its own.
#
# </details>
#
# <details><summary>b. It grows by the root of 2.</summary>
#
# Right. The estimated share becomes more accurate by that root, and the count less accurate.
#
# </details>

# %%
answers = ""  # five letters, such as "ababa"
check("19.test", answers)

# %% [markdown]
# ## 10 On one card
#
# | | |
# |---|---|
# | **Winner** | noise $2\Delta/\varepsilon$ on every score, publish one name; $\Delta/\varepsilon$ if all scores move one way |
# | **Exponential** | $P(r)\propto e^{\varepsilon u_r/2\Delta}$; short by $\frac{2\Delta}\varepsilon(\ln\lvert R\rvert+t)$ with chance $e^{-t}$; $D_\alpha\le\alpha\varepsilon^2/8$ |
# | **Sparse vector** | $\varepsilon=1/b_1+2c/b_2$, monotone $1/b_1+c/b_2$; the noes add nothing |
# | **Never publish** | the winning score, the noisy answer, answers without noise, yeses without a limit |
# | **Local** | deviation of a count $\sqrt{4ne^\varepsilon}/(e^\varepsilon-1)$, not $\sqrt2/\varepsilon$ |
#
# ## 11 Further reading
#
# * McSherry & Talwar (2007), *Mechanism design via differential privacy*: the exponential mechanism.
# * Lyu, Su & Li (2017), *Understanding the sparse vector technique for differential privacy*: six variants, two of them right.
# * McKenna & Sheldon (2020), *Permute-and-flip*; Dong, Durfee & Rogers (2020), *Optimal differential privacy composition for exponential mechanisms*.
# * Wang, Blocki, Li & Jha (2017), *Locally differentially private protocols for frequency estimation*; Erlingsson, Pihur & Korolova (2014), *RAPPOR*.
# * Nissim, Raskhodnikova & Smith (2007), *Smooth sensitivity and sampling in private data analysis*: noise that looks at the data, **smooth sensitivity** (平滑敏感度) and **propose-test-release** (提议–测试–发布).
#
# <details><summary>In the formula book</summary>
#
# * Choosing: [the winner by Laplace noise](explorer:formula_book?id=G-B6), [where its 2 is needed](explorer:formula_book?id=G-B9&misprint=any-scores), [how far it falls short with a chance of β](explorer:formula_book?id=G-B8b&misprint=no-two), [the least $\rho$ of many choices](explorer:formula_book?id=G-B7c&misprint=eighth), [the best of a random number of private runs](explorer:formula_book?id=G-S1b).
# * All 64 counts at once: [the scale](explorer:formula_book?id=G-B2c&misprint=each-alone), [the variance](explorer:formula_book?id=G-B14c&misprint=square-of-scale), [the largest error](explorer:formula_book?id=G-B14d&misprint=one-answer), [the mean error](explorer:formula_book?id=G-B14h&misprint=deviation).
# * The sparse vector: [its theorem](explorer:formula_book?id=G-H1), [its noise without $c$](explorer:formula_book?id=G-H1&misprint=query-noise-once), [equal scales](explorer:formula_book?id=G-H1&misprint=one-scale-for-both), [the noisy answer is published](explorer:formula_book?id=G-H2c), [no noise on the answers](explorer:formula_book?id=G-H2), [no end](explorer:formula_book?id=G-H2b), [its accuracy](explorer:formula_book?id=G-H4&misprint=no-queries), [a threshold for keys](explorer:formula_book?id=G-B20&misprint=gaussian).
# * Numbers by choosing: [the exponential mechanism becomes Laplace noise](explorer:formula_book?id=G-B11), [of half the scale](explorer:formula_book?id=G-B11&misprint=needed), [its score moves as the query does](explorer:formula_book?id=G-B11b), [twice as far with a factor 2](explorer:formula_book?id=G-B11b&misprint=of-the-query).
# * Noise for whole numbers: [the geometric distribution](explorer:formula_book?id=G-B3), [as private as Laplace noise](explorer:formula_book?id=G-B3b), [with a smaller variance](explorer:formula_book?id=G-B3c&misprint=laplace), [the staircase of least variance](explorer:formula_book?id=G-B13).
# * Noise that looks at the data: [smooth sensitivity](explorer:formula_book?id=G-B17), [what it guarantees](explorer:formula_book?id=G-B17b), [propose-test-release](explorer:formula_book?id=G-B15), [its second ε](explorer:formula_book?id=G-B15&misprint=one-epsilon), [the local sensitivity of a mean](explorer:formula_book?id=G-B16).
# * Phones: [RAPPOR for ever](explorer:formula_book?id=G-I4), [one report of it](explorer:formula_book?id=G-I4b), [two bits, not one](explorer:formula_book?id=G-I3), [the variance of a coin](explorer:formula_book?id=G-I1), [in a survey](explorer:formula_book?id=G-I1b).
#
# </details>
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert right.agree and right.refuted and np.abs(losses).max() <= 1 + 1e-12 and abs(loss - 64) < 1e-9
assert sound <= 1 < min(told, forever) and abs(told - 50) < 1e-9
assert np.all(every < noisy) and np.all(softmax <= flips) and trusted < phones / 500
print("all checks passed")
