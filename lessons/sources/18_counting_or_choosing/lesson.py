# %% [markdown]
# # 18 Counting or choosing
#
# *One person changes thirty of sixty-four counts. How much noise does it take if we publish only which count is the largest?*
#
# The maker of a writing pad wants to know which square of its field people use most. It has 1,797 handwritten digits on $8\times8$ squares, each the secret of one person. It needs only **one name**: the square with the largest count.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. name a winner among many noisy scores, or find the few that exceed a threshold, and state what it costs;
# 2. compute the chance of an outcome of a sparse vector exactly, and refute printed variants of it;
# 3. compare noise that every phone adds with noise that one trusted counter adds.
#
# * **Time** NN minutes in class, and as much at home; the computer needs half a minute.
# * **You need** lesson 01 (randomised response), lesson 02 (loss, pure DP) and lesson 04 (composition).
# * **An excursion** from the school: this lesson needs many counts that one person changes at once, and the pupils' table has no such column. Later lessons do not need this one.
# * **Beside it** [the exponential mechanism in the explorer](explorer:mechanisms?mechanism=exponential&range_epsilon=1&epsilon=0.5), if you have started it. Nothing below depends on it.
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
# | 5 | 0 The first screen | let two students shade a digit on squared paper; everybody types a guess |
# | 3 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again |
# | 3 | 3 Two ways to spend ε = 1 | which of the two would you publish? |
# | 6 | 4 The winner | the proof aloud: what is held still? |
# | 6 | 5 The first above a threshold | the same proof, with a line to lift |
# | 6 | 6 An exercise | 18.1, alone |
# | 5 | 7 Is it true as printed? | a guess first; then: what does the published number reveal? |
# | 1 | 8 Where this breaks | the second bullet aloud |
# | – | 9 to 12 | homework |

# %% tags=["hide-input"]
import numpy as np
from scipy.integrate import quad
from scipy.special import log_softmax, logsumexp
from scipy.stats import gumbel_r, laplace

from dplearn.accountants import ACCOUNTANTS
from dplearn.datasets import digits
from dplearn.teaching.book import (
    exponential_mechanism_epsilon,
    grr_variance,
    gumbel_max_probability,
    oue_variance,
    permute_and_flip_probability,
    sparse_vector,
    sparse_vector_split,
)
from dplearn.teaching.classroom import Evidence, check, estimate, predict, reveal, show
from dplearn.teaching.figures import Curve, Dot, curves, slider
from dplearn.teaching.figures.drawings import Sheet, arrow, circle, lettering, rectangle

images, labels = digits()
inked = images.reshape(-1, 64) >= 0.5
counts = inked.sum(axis=0)
best = np.argsort(-counts)
BLUE, RED, GREY = "#0072b2", "#d55e00", "#8a8a8a"
shades = [f"rgb({v},{v},{v})" for v in np.rint(255 - 175 * counts / counts.max()).astype(int)]
hers = inked[0]

# %% [markdown]
# A square is *inked* if it is at least half black, and neighbouring tables differ in one person who joins or leaves. The picture shows Anna's digit, the counts that change when she leaves, and what is published.


# %% tags=["hide-input"]
def field(left, fills, edges):
    """Sixty-four squares whose colours are given."""
    at = [(left + 20 * (i % 8), 66 + 20 * (i // 8)) for i in range(64)]
    return [rectangle(*at[i], 18, 18, edge=edges[i], fill=fills[i]) for i in range(64)]


shapes = field(40, [BLUE if i else "white" for i in hers], [GREY] * 64)
shapes += field(290, shades, [RED if i else GREY for i in hers])
shapes += field(540, [RED if i == best[0] else "white" for i in range(64)], [GREY] * 64)
shapes += [arrow((200, 136), (270, 136)), arrow((450, 136), (520, 136))]
shapes += [lettering(235, 124, "adds up", size=13), lettering(485, 124, "+ noise", size=13)]
notes = (
    f"Anna inks {hers.sum()} squares",
    f"{hers.sum()} of 64 counts move",
    "one name is published",
)
shapes += [lettering(110 + 250 * i, 240, note) for i, note in enumerate(notes)]
moving = Sheet(720, 262, "Many counts move, one name leaves", shapes)
show(
    moving,
    f"Anna's digit inks {hers.sum()} of 64 squares, which changes {hers.sum()} counts; one square is named.",
)

# %% [markdown]
# We add Laplace noise of scale 1 to each of the 64 counts and publish only which noisy count is the largest. One person changes up to 30 counts by 1. Which $\varepsilon$ does this have?

# %%
predict("epsilon of the winner", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Expect 30 or 64. Do not correct it: section 4 does.

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Three questions from earlier lessons.
#
# **1** 01.4
#
# **2** 02.3
#
# **3** 04.1

# %%
answers = ""  # three letters, such as "bca"
check("18.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# Now the maker asks for square after square: "do more than 1,400 people ink this one?" The threshold gets noise once, and each answer gets fresh noise. The reply is "no" a hundred times. Which $\varepsilon$ do the hundred answers have together?
#
# <details><summary>a. Nothing: a "no" names nobody.</summary>
#
# No. A "no" says that a noisy count is low, and Anna may have made the difference.
#
# </details>
#
# <details><summary>b. A hundred times that of one answer.</summary>
#
# No. That would be so if the noisy threshold were known.
#
# </details>
#
# <details><summary>c. The same as one "no", however many there are.</summary>
#
# Right. The noise on the threshold protects all of them, as section 5 proves.
#
# </details>
#
# <details><summary>d. About ten times that of one answer: the root of a hundred.</summary>
#
# No. That would be a hundred independent releases, but these share one secret threshold.
#
# </details>

# %%
vote = ""  # one letter
check("18.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 Two ways to spend the same ε
#
# To publish all 64 counts we must allow for a person who inks every square, which takes Laplace noise of scale 64 for $\varepsilon=1$. To publish only the winner, scale 1 is enough, as section 4 proves.

# %%
rng, runs = np.random.default_rng(18), 20_000


def winners(noise):
    """Square with the largest noisy count in each run."""
    return np.argmax(counts + noise, axis=1)


print(f"{len(inked)} people, largest counts:", *counts[best[:6]])
for told, scale in (("all 64 counts", 64), ("the winner", 1)):
    won = winners(rng.laplace(scale=scale, size=(runs, 64)))
    short = counts[best[0]] - counts[won].mean()
    share = np.mean(won == best[0])
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
# *Why.* Fix the noise of all scores but that of $r$, and let Anna join. The best of the other scores rises by at most 1, and $u_r$ does not fall. So $r$ still wins if its own noise is larger by 1, and the chance of that is at least $e^{-1/b}$ times the old one. If she leaves, the best of the others does not rise and $u_r$ falls by at most 1, which gives the same gap. **The noise on one count was enough to protect all 64.** If scores may move in opposite directions, the gap is 2.
#
# Counts are **monotone** (单调): one person moves all of them in the same direction. Let each of the 1,797 people leave in turn. How large is the exact privacy loss of a winner?

# %%
law = log_softmax(counts.astype(float))
losses = log_softmax(counts - inked.astype(float), axis=1) - law
print(f"largest loss of all people and squares: {np.abs(losses).max():.6f}")
price = exponential_mechanism_epsilon(rate=1, sensitivity=1, monotone=True)
reveal("epsilon of the winner", truth=price, others={"each count on its own": 64})

# %% [markdown]
# Real people reach the bound of the theorem. The picture shows the chance that the right square is named against $\varepsilon$. It is exact: given the winner's noise, all other noisy counts must stay below it.


# %% tags=["hide-input"]
def chance_right(law):
    """Chance that the largest count wins after noise of a law on every count."""
    lead = counts[best[0]] - counts[best[1:]]
    others_below = lambda t: np.prod(law.cdf(law.ppf(t) + lead))
    return quad(others_below, 0, 1, epsabs=1e-10, epsrel=1e-9, limit=300)[0]


grid = np.geomspace(0.01, 10, 13)
top = counts[best].astype(float)
flips = [permute_and_flip_probability(scores=top, scale=1 / e) for e in grid]
softmax = [gumbel_max_probability(scores=top, scale=1 / e) for e in grid]
noisy = [chance_right(laplace(scale=1 / e)) for e in grid]
every = [chance_right(laplace(scale=64 / e)) for e in grid]
lines = [
    Curve(x=grid, y=flips, label="permute-and-flip", label_at=0.42, side="top left"),
    Curve(x=grid, y=noisy, label="Laplace", role="second", label_at=0.25, side="bottom right"),
    Curve(x=grid, y=softmax, label="exponential", role="third", label_at=0.67, side="bottom right"),
    Curve(x=grid, y=every, label="all 64", role="wrong", label_at=0.7, side="bottom right"),
]
picture = curves(
    lines, title="One name needs the noise of one count", x="ε", y="right square named", log_x=True
)
at = f"At epsilon {grid[4]:.2g} a winner is right with {noisy[4]:.2f}, all 64 published with {every[4]:.2f}."
show(picture, at)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask for the horizontal distance between the upper three and the lowest: a factor of 64 in ε, the number of squares. It does not depend on the data.

# %% [markdown]
# The kind of noise hardly matters. What matters is how much is published. With Gaussian noise on all 64 counts the factor would be $\sqrt{64}=8$ instead of 64 (lesson 03).
#
# *To here NN minutes.*
#
# ## 5 The first above a threshold
#
# The procedure of the vote is the **sparse vector** technique (稀疏向量技术). The threshold gets noise $\mathrm{Lap}(b_1)$ *once*, every answer gets fresh noise $\mathrm{Lap}(b_2)$, only yes or no is published, and the procedure **ends after $c$ yeses**.
#
# > **Theorem.** However many noes there are, this is $\varepsilon$-DP with $\varepsilon=\dfrac1{b_1}+\dfrac{2c}{b_2}$, and for monotone answers with $\varepsilon=\dfrac1{b_1}+\dfrac c{b_2}$.
# >
# > Dwork & Roth (2014), section 3.6; Lyu, Su & Li (2017), Theorem 5.
#
# *Why.* Let every answer move by 1, and raise the threshold by 1, which costs $1/b_1$ once. Then no answer "no" has become less likely: **the noise on the threshold covers all the noes together**. For a yes the gap is at most 2, and its own noise covers it at the cost of $2/b_2$. If answers can only rise, the gap is at most 1.
#
# The drawing shows the proof. Dots are noisy answers, and the dashed line is the noisy threshold.

# %% tags=["hide-input"]
depths = [62, 34, 84, 22, 52, 30, 74, 44, -14]
rises = [1, 0.5, 0, 1, 0.5, 1, 0, 1, 0]
shapes, unit = [], 24
for left, raised in ((40, 0), (400, 1)):
    level = 150 - unit * raised
    shapes.append(arrow((left - 14, level), (left + 270, level), colour=RED, dash="6 4"))
    for i, (depth, rise) in enumerate(zip(depths, rises, strict=True)):
        x, y = left + 30 * i, 150 + depth
        if raised and rise:
            shapes.append(circle(x, y, 6, edge="#d0d0d0"))
        yes = "none" if depth > 0 else BLUE
        shapes.append(circle(x, y - unit * rise * raised, 6, edge=BLUE, fill=yes))
shapes += [arrow((640, 136), (640, 104), colour=BLUE, dash="4 3")]
shapes += [arrow((640, 110), (640, 102), colour=BLUE)]
shapes += [lettering(165, 66, "without Anna: eight noes, then a yes", size=14)]
shapes += [lettering(520, 66, "with her: each answer rises by 1 at most", size=14)]
shapes += [lettering(165, 262, "threshold plus noise, dashed", size=14, colour=RED)]
shapes += [lettering(500, 262, "the line raised by 1: 1/b₁, once", size=14, colour=RED)]
shapes += [lettering(655, 142, "1/b₂", size=14, colour=BLUE, anchor="start")]
lifted = Sheet(720, 280, "Lift the line, and every no stays a no", shapes)
show(
    lifted, "Nine answers: 8 noes stay below the line raised by 1; the yes needs noise of its own."
)

# %% [markdown]
# Allow five yeses with $\varepsilon=\frac12+\frac5{10}=1$; five counts are above 1,400. How often is at least one of the 64 answers wrong? The second row answers 64 separate questions for the same $\varepsilon$.

# %%
over = counts > 1400
for way, b1, b2 in (("sparse vector", 2, 10), ("64 separate questions", 0, 64)):
    line = 1400 + rng.laplace(scale=b1, size=(runs, 1))
    answered = counts + rng.laplace(scale=b2, size=(runs, 64)) > line
    wrong = np.sum(np.any(answered != over, axis=1))
    print(f"{way:21} a wrong answer in {wrong:6,} of {runs:,} runs")

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask what the attacker learns from a "no" that everybody expected. Then: what if the threshold's noise were published? That is section 7.

# %% [markdown]
# *To here NN minutes.*
#
# ## 6 An exercise
#
# Replace `None` by your number, or by an expression, and run the cell. A wrong answer gets a hint; the same wrong answer again gets a plainer one.
#
# **★ 18.1** *(In class, 5 minutes.)* A sparse vector runs over 10,000 counts, and neighbouring tables differ in one person who joins or leaves. The threshold has Laplace noise of scale 4, every answer has noise of scale 10, and the procedure ends after 5 yeses. Which $\varepsilon$ does it have?

# %%
answer = None
check("18.1", answer)

# %% [markdown]
# <details><summary>Solution of 18.1</summary>
#
# ```python
# answer = 1 / 4 + 5 / 10
# check("18.1", answer)
# ```
#
# Counts are monotone, so the factor 2 is not needed. The number of questions does not matter.
#
# </details>

# %% [markdown]
# ## 7 Is it true as printed?
#
# The proof needs a secret noisy threshold, noise on every answer, and a limit on the yeses. Each of these conditions has been forgotten in print; Lyu, Su & Li (2017) collect the variants.
#
# "The noisy answer above the threshold may be published, too", because it has noise of its own. Take a hundred and one questions, and noise of scale 2 on the threshold and on every answer. A hundred are answered "no", the last is above the threshold, and its noisy count is published. Lecture notes claim $\varepsilon=1$. How large is $\varepsilon$ at least?

# %%
predict("epsilon of a hundred noes", None)

# %% [markdown]
# We compute the chance of an outcome by a sum over the noise of the threshold.

# %%
steps = np.arange(-80, 140, 0.01)  # noise of the threshold


def log_chance(outcome, answers, b1, b2, highest=np.inf):
    """Log chance of these noes (0) and yeses (1); the threshold without noise is 0."""
    total = np.where(steps <= highest, laplace.logpdf(steps, scale=b1), -np.inf)
    for yes, answer in zip(outcome, answers, strict=True):
        side = laplace.logsf if yes else laplace.logcdf
        total = total + side(steps, loc=answer, scale=b2)
    return logsumexp(total) + np.log(0.01)


def loss(outcome, moves, b1, b2, highest=np.inf):
    """Loss of an outcome: all answers 0 here, and `moves` for the neighbour."""
    here, there = np.zeros(len(outcome)), moves
    p, q = (log_chance(outcome, x, b1, b2, highest) for x in (here, there))
    return p - q


# %% [markdown]
# An attacker who reads the published number 0 knows that the noisy threshold was *below* 0. So the proof can no longer raise the threshold above this number, and every earlier "no" has a cost of its own. For the neighbour let the hundred answers rise by 1, and let the last stay as it is:

# %%
told = loss([0] * 100, [1] * 100, 2, 2, highest=0.0)
about = {"kind": "lower", "others": {"claimed": 1}}
reveal("epsilon of a hundred noes", truth=round(told, 9), **about)

# %% [markdown]
# If the maker needs the count, it takes a release of its own, with its own $\varepsilon$. Three other variants have been printed as well; section 9 computes what they lose.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask which sentence of the proof no longer holds.

# %% [markdown]
# ## 8 Where this breaks
#
# * **Publish the winner, never its noisy score.** Fix the candidates beforehand, because a list of the words that people typed already leaks.
# * **Each person has one record.** A person who writes ten digits changes a count by up to ten.
# * **Yeses must be rare.** The noise grows with $c$, and if there are many yeses, noisy counts are cheaper.
# * **A trusted counter sees the true counts.** Without one, each phone adds its own noise: section 9 shows that this needs 147,308 phones where a trusted counter needs 283 people.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 9 At home
#
# ### Which noise
#
# *Exponential noise* in place of Gumbel's makes **permute-and-flip** ([in the book](explorer:formula_book?id=G-B10b)), which is never worse: the upper line of the picture. The cell computes the exponential mechanism ([in the book](explorer:formula_book?id=G-B10)) at $\varepsilon=0.1$ in three ways. The fourth number comes from the usual printed formula, which halves the rate for counts, too, although counts need only noise of scale $\Delta/\varepsilon$.

# %%
draws = winners(rng.gumbel(scale=10, size=(runs, 64))) == best[0]
right = Evidence(
    "chance to name the right square, Gumbel noise of scale 10",
    closed=gumbel_max_probability(scores=top, scale=10),
    exact=chance_right(gumbel_r(scale=10)),
    simulated=estimate(draws),
    printed=gumbel_max_probability(scores=top, scale=20),
)
print(right)

# %% [markdown]
# ([In the book](explorer:formula_book?id=G-B10&misprint=half-scale).) A wrong square is rarely far from the best: the score falls short of it by more than $\frac{2\Delta}\varepsilon(\ln|R|+t)$ with a chance of at most $e^{-t}$; for monotone scores half of that ([in the book](explorer:formula_book?id=G-B8), [for a chance of β](explorer:formula_book?id=G-B8b&misprint=no-two)). With a thousand candidates instead of a hundred the result falls short by a few people more, not by ten times as many.
#
# For all 64 counts at once the book has [the scale](explorer:formula_book?id=G-B2c&misprint=each-alone), [the variance](explorer:formula_book?id=G-B14c&misprint=square-of-scale), [the largest error](explorer:formula_book?id=G-B14d&misprint=one-answer) and [the mean error](explorer:formula_book?id=G-B14h&misprint=deviation).
#
# What do many choices cost? The losses of an exponential mechanism on one pair of neighbours lie in an interval of length $\varepsilon$, not $2\varepsilon$, its **bounded range** ([in the book](explorer:formula_book?id=G-B7b)), so $D_\alpha\le\alpha\varepsilon^2/8$, a quarter of what $\varepsilon$-DP alone gives ([in the book](explorer:formula_book?id=G-B7), with [the least $\rho$](explorer:formula_book?id=G-B7c&misprint=eighth)). The cell composes a hundred choices with $\varepsilon=0.1$ each at $\delta=10^{-5}$:

# %%
from dplearn.mechanisms import (
    ExponentialMechanism,
    PermuteAndFlip,
    RandomizedResponse,
    SparseVector,
)

pld = ACCOUNTANTS["pld"]()
run = {"delta": 1e-5, "steps": 100}
coin = RandomizedResponse(local_epsilon=0.1, answers=2)
print(pld.epsilon(ExponentialMechanism(0.1), **run))
print(pld.epsilon(PermuteAndFlip(0.1), **run))
print(pld.epsilon(coin, **run, adjacency="replace_one"))

# %% [markdown]
# The last line, randomised response, is the worst case that 0.1-DP alone allows. Permute-and-flip lies between: for two candidates the difference of two exponential noises is Laplace noise, whose losses fill all of $[-\varepsilon,\varepsilon]$. So it has *no* bounded range, and $D_\alpha\le\alpha\varepsilon^2/8$ is false for it. It is more accurate in one choice and has a larger $\varepsilon$ after a hundred.
#
# For sparse vectors over counts the two directions differ. Anna makes no "no" likelier, so evidence *for* her presence is at most $c/b_2$, and only evidence *against* it includes the $1/b_1$ of the threshold. A hundred of them, each 0.1-DP, have a larger $\varepsilon$ than a hundred choices and a smaller one than a hundred randomised responses:

# %%
print(pld.epsilon(SparseVector(20, 100, positives=5), **run))

# %% [markdown]
# ### The other variants
#
# The book has the two theorems: [the winner by Laplace noise](explorer:formula_book?id=G-B6), [where its 2 is needed](explorer:formula_book?id=G-B9&misprint=any-scores), [the sparse vector](explorer:formula_book?id=G-H1). It also has the variants that were refuted above: [the noisy answer is published](explorer:formula_book?id=G-H2c), [no noise on the answers](explorer:formula_book?id=G-H2), [no end](explorer:formula_book?id=G-H2b). Two relatives are [the accuracy of the answers](explorer:formula_book?id=G-H4&misprint=no-queries) and [a threshold for keys](explorer:formula_book?id=G-B20&misprint=gaussian).
#
# One variant says that noise on the threshold is enough. Let two answers be 0 and 1 without Anna, and 1 and 1 with her. The outcome "no, yes" happens without her whenever the noisy threshold falls between the answers, and with her it *cannot* happen. Another goes on after a yes: ten answers that rise get a no, then ten that fall get a yes. The table compares the right procedure and three wrong ones, which all claim $\varepsilon=1$:

# %%
sound = loss([0] * 99 + [1], [1] * 99 + [-1], 2, 4)
between = laplace.cdf(1, scale=2) - laplace.cdf(0, scale=2)
forever = loss([0] * 10 + [1] * 10, [1] * 10 + [-1] * 10, 2, 2)
rows = [("right, c = 1", sound), ("publishes the noisy answer", told)]
rows += [("no noise on answers", np.inf), ("no end, ten yeses", forever)]
for what, value in rows:
    print(f"{what:26} loss {value:.4g}")
print(f"chance of no, yes without noise on answers: {between:.4f} without her, 0 with her")

# %% [markdown]
# All four procedures add noise, and only a computed ratio shows which of them keep the promise.
#
# One more variant ends after $c$ yeses but forgets $c$ in the scale of the noise ([in the book](explorer:formula_book?id=G-H1&misprint=query-noise-once)). It claims $\varepsilon=1$, too:

# %%
capped = loss([0] * 20 + [1] * 10, [1] * 20 + [-1] * 10, 4, 4 / 3)
print(f"right: loss {sound:.6f}, theorem {sparse_vector(threshold_scale=2, query_scale=4):g}")
print(f"c = 10 forgotten: loss {capped:.4g}")

# %% [markdown]
# Two equal scales $b_1=b_2=1/\varepsilon$ for a single yes cost $3\varepsilon$ ([in the book](explorer:formula_book?id=G-H1&misprint=one-scale-for-both)). And a score $-2|q-r|$ moves by twice what the query $q$ moves ([in the book](explorer:formula_book?id=G-B11b&misprint=of-the-query)).
#
# ### How to split a budget
#
# Split a budget of $\varepsilon=1$ for monotone answers into $\varepsilon_1$ for the threshold and $\varepsilon_2$ for $c$ yeses, so that $b_1=1/\varepsilon_1$ and $b_2=c/\varepsilon_2$. The slider sets $c$, and the curve shows the total noise in one decision for every split. Its variance is $2b_1^2+2b_2^2$, which is least at $\varepsilon_2/\varepsilon_1=c^{2/3}$, or at $(2c)^{2/3}$ if answers may move both ways ([in the book](explorer:formula_book?id=G-H3)).

# %% tags=["hide-input"]
share = np.linspace(0.05, 0.9, 86)


def deviation(share, c):
    """Standard deviation of the noise if the threshold gets this share of epsilon."""
    return np.sqrt(2 * (1 / share) ** 2 + 2 * (c / (1 - share)) ** 2)


def frame(c):
    ratio = sparse_vector_split(positives=c, monotone=True)
    best = 1 / (1 + ratio)
    narrow, wide = deviation(best, c), deviation(0.5, c)
    marks = [
        Dot(x=0.5, y=wide, label="halves", role="quiet", side="bottom right"),
        Dot(x=best, y=narrow, label="best split", side="bottom left"),
    ]
    title = f"c = {c}, ratio {ratio:.3g}: deviation {narrow:.3g} instead of {wide:.3g} people"
    axes = {"x": "ε₁, share of the threshold", "y": "deviation of the noise (people)"}
    line = Curve(x=share, y=deviation(share, c), label="")
    return curves([line], marks=marks, title=title, **axes, log_y=True, y_range=(2.5, 300))


frames = {str(c): frame(c) for c in (1, 2, 5, 10, 20)}
texts = "; ".join(f.layout.title.text for f in frames.values())
show(slider(frames, name="c", start=2), f"All frames. {texts}.")

# %% [markdown]
# The number $c$ matters more than the split: the deviation is 4 people for one yes and 34.2 for twenty.
#
# ### Noise on every phone
#
# In **local differential privacy** (本地差分隐私) each phone adds its own noise. Which *digit* do people write most, if each phone sends a random digit, and the true one is $e^\varepsilon$ times as likely as each other ([in the book](explorer:formula_book?id=G-I2))?

# %%
people = len(labels)
keep, other = np.e / (np.e + 9), 1 / (np.e + 9)
lies = (labels + rng.integers(1, 10, people)) % 10
sent = np.where(rng.random(people) < keep, labels, lies)
guesses = (np.bincount(sent, minlength=10) - people * other) / (keep - other)
print("true   ", *(f"{n:4d}" for n in np.bincount(labels)))
print("phones ", *(f"{n:4.0f}" for n in guesses))
direct = people * np.sqrt(grr_variance(epsilon=1, users=people, symbols=10))
one_hot = people * np.sqrt(oue_variance(epsilon=1, users=people))
print(f"deviation {direct:.1f} people, one-hot {one_hot:.1f}, trusted {np.sqrt(2):.1f}")

# %% [markdown]
# The error is eighty people instead of 1.4, which hides the true order. *One-hot* is another **frequency oracle** (频率估计协议), *optimised unary encoding*. Each phone sends one bit for each candidate: the true bit is set with chance $\frac12$, each other bit with chance $1/(e^\varepsilon+1)$ ([in the book](explorer:formula_book?id=G-I3b), [its variance](explorer:formula_book?id=G-I5)). Its variance does not depend on the number $d$ of candidates and is the smaller one from $d=3e^\varepsilon+2$ on, which is 10.15 at $\varepsilon=1$ ([in the book](explorer:formula_book?id=G-I2c)). For ten digits the two are nearly equal.
#
# How many phones does it take until a word that one person in a hundred types stands out by two deviations?

# %%
phones = (2 / 0.01) ** 2 * oue_variance(epsilon=1, users=1)
trusted = 2 * np.sqrt(2) / 0.01
print(f"noise on every phone {phones:,.0f} phones, one trusted counter {trusted:.0f}")
print(f"direct and one-hot meet at {3 * np.e + 2:.2f} candidates")

# %% [markdown]
# The noise of $n$ phones grows with $\sqrt n$, while the noise of one counter does not grow. The secure sums of lesson 14 come close to the counter without trusting it.

# %% [markdown]
# ### Noise that looks at the data
#
# Take the *median* of the mean ink. One replaced picture can move it by 16 in the worst data, and not at all in ours, where many pictures share the middle value. Noise in proportion to our data's sensitivity would be zero, and the missing noise would reveal this. Two methods solve the problem.
#
# **Smooth sensitivity** (平滑敏感度) takes $S=\max_k e^{-\beta k}A_k$, where $A_k$ is the most that one replacement moves the median after $k$ other replacements, so that $\ln S$ changes by at most $\beta$ between neighbours ([in the book](explorer:formula_book?id=G-B17), [what it guarantees](explorer:formula_book?id=G-B17b)). **Propose-test-release** (提议–测试–发布) proposes a small noise, and first measures privately how many records must change before this noise would be too small ([in the book](explorer:formula_book?id=G-B15)).

# %%
ink = np.sort(16 * images.mean(axis=(1, 2)).astype(float))
padded = np.concatenate([np.zeros(300), ink, np.full(300, 16.0)])
middle = 300 + ink.size // 2


def moved(k):
    """A_k: the largest move of the median by one replacement, after k others."""
    return max(padded[middle + t] - padded[middle + t - k - 1] for t in range(k + 2))


local = np.array([moved(k) for k in range(300)])
beta = 1 / (2 * np.log(2 / 1e-5))
smooth = np.max(np.exp(-beta * np.arange(300)) * local)
print(f"ours {local[0]:.0f}, smooth {smooth:.4f}, worst 16")

# %% [markdown]
# (Beyond 300 replacements even a move of 16 weighs less: $16e^{-300\beta}<0.0001$.) Smooth sensitivity adds noise of scale $2S$ for $\varepsilon=1$ and $\delta=10^{-5}$, where the worst case needs scale 16. The next cell runs propose-test-release with the proposal 0.1:

# %%
away, needed = int(np.argmax(local > 0.1)), np.log(1e5)
print(f"{away} replacements away, noisy distance must exceed {needed:.2f}")
print(f"16 e^(-300 beta) = {16 * np.exp(-300 * beta):.1e}")

# %% [markdown]
# The test passes almost surely, and the total is $(2\varepsilon,\delta)$-DP, because the test is a release as well ([in the book](explorer:formula_book?id=G-B15&misprint=one-epsilon)). The local sensitivity of a *clipped mean* of $n$ values in $[0,u]$ is $u/n$ when one leaves ([in the book](explorer:formula_book?id=G-B16)), so noise in proportion to it reveals $n$.
#
# ### Numbers by choosing, whole numbers, best noise
#
# Give each number $r$ the score $-|q-r|$: the exponential mechanism is then Laplace noise of *twice* the needed scale ([in the book](explorer:formula_book?id=G-B11); [why half is enough](explorer:formula_book?id=G-B11&misprint=needed)); its [score moves as the query does](explorer:formula_book?id=G-B11b). Counts are whole, and so may be their noise: the geometric distribution ([in the book](explorer:formula_book?id=G-B3)) is [as private as Laplace noise](explorer:formula_book?id=G-B3b) with [a smaller variance](explorer:formula_book?id=G-B3c&misprint=laplace) and has no bits of a floating-point number to leak. The least variance of all for pure DP is a staircase ([in the book](explorer:formula_book?id=G-B13)). And the best of a *random number of private runs*, such as trainings with other settings, costs $(2+\eta)\varepsilon$, never $\varepsilon$ ([in the book](explorer:formula_book?id=G-S1b)).
#
# ### Reports day after day: RAPPOR
#
# A browser sets $h$ bits for a value, randomises each bit *once and for ever* with noise $f$, and sends a freshly randomised copy of the result each day. For $f=\frac12$ and $h=2$ all reports together have $\varepsilon=4.39$, however many there are ([in the book](explorer:formula_book?id=G-I4)), and one report has 1.07 with rates $\frac12$ and $\frac34$ ([in the book](explorer:formula_book?id=G-I4b)). A common mistake is to count $h$ bits where two values differ in $2h$; for one-hot bits the loss is that of *two* bits ([in the book](explorer:formula_book?id=G-I3)).

# %%
from dplearn.teaching.book import (
    randomized_response_variance,
    rappor_epsilon,
    rappor_report_epsilon,
)

day = rappor_report_epsilon(noise=0.5, hashes=2, zero_rate=0.5, one_rate=0.75)
print(f"for ever {rappor_epsilon(noise=0.5, hashes=2):.2f}, one report {day:.2f}")
print(f"1,797 coins: deviation {np.sqrt(randomized_response_variance(epsilon=1, users=1797)):.4f}")

# %% [markdown]
# The last line is the deviation of the randomised response of lesson 01 ([in the book](explorer:formula_book?id=G-I1)). In a *survey* the variance of drawing the people is added ([in the book](explorer:formula_book?id=G-I1b)). For one-hot reports on an item that a share $f$ of all people have, $f/n$ is added to the variance: half of them do not report it ([in the book](explorer:formula_book?id=G-I5)).
#
# ### Two more exercises
#
# **★★ 18.2** The exponential mechanism with $\varepsilon=1$ chooses among 1,000 words by how many people typed them; counts only rise when one joins, and the mechanism makes use of it. By how many people can the chosen word fall short of the best, with a chance of at most 0.01 of more?

# %%
answer = None
check("18.2", answer)

# %% [markdown]
# <details><summary>Solution of 18.2</summary>
#
# ```python
# answer = np.log(1000) + np.log(100)
# check("18.2", answer)
# ```
#
# For monotone scores $\frac\Delta\varepsilon(\ln|R|+t)$ with $e^{-t}=0.01$.
#
# </details>

# %% [markdown]
# **★★ 18.3** Write the sparse vector. `answers` and their `noise` are arrays of one length, `threshold` already has its noise. Return an array: 1 for yes (above), 0 for no, and -1 for what is not answered any more after `cap` yeses.


# %%
def sparse_answers(answers, noise, threshold, cap):
    # Write your code here.
    return None


check("18.3", sparse_answers)

# %% [markdown]
# <details><summary>Solution of 18.3</summary>
#
# ```python
# def sparse_answers(answers, noise, threshold, cap):
#     yes = np.asarray(answers) + np.asarray(noise) > threshold
#     before = np.cumsum(yes) - yes
#     return np.where(before < cap, yes.astype(int), -1)
#
#
# check("18.3", sparse_answers)
# ```
#
# In a service the questions after the last yes are not even looked at.
#
# </details>

# %% [markdown]
# ## 10 Ask yourself
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
# **3** After a yes the same noisy threshold goes on, without an end. What is wrong?
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
# **4** A thousand candidates instead of a hundred, the same $\varepsilon$. What happens to the exponential mechanism?
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
check("18.test", answers)

# %% [markdown]
# ## 11 On one card
#
# | | |
# |---|---|
# | **Winner** | noise $2\Delta/\varepsilon$ on every score, publish one name; $\Delta/\varepsilon$ if all scores move one way |
# | **Exponential** | $P(r)\propto e^{\varepsilon u_r/2\Delta}$; short by $\frac{2\Delta}\varepsilon(\ln\lvert R\rvert+t)$ with chance $e^{-t}$; $D_\alpha\le\alpha\varepsilon^2/8$ |
# | **Sparse vector** | $\varepsilon=1/b_1+2c/b_2$, monotone $1/b_1+c/b_2$; the noes add nothing |
# | **Never publish** | the winning score, the noisy answer, answers without noise, yeses without a limit |
# | **Local** | deviation of a count $\sqrt{4ne^\varepsilon}/(e^\varepsilon-1)$, not $\sqrt2/\varepsilon$ |
#
# ## 12 Further reading
#
# * McSherry & Talwar (2007), *Mechanism design via differential privacy*: the exponential mechanism.
# * Lyu, Su & Li (2017), *Understanding the sparse vector technique for differential privacy*: six variants, two of them right.
# * McKenna & Sheldon (2020), *Permute-and-flip*; Dong, Durfee & Rogers (2020), *Optimal differential privacy composition for exponential mechanisms*.
# * Wang, Blocki, Li & Jha (2017), *Locally differentially private protocols for frequency estimation*; Erlingsson, Pihur & Korolova (2014), *RAPPOR*.
# * Nissim, Raskhodnikova & Smith (2007), *Smooth sensitivity and sampling in private data analysis*.
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert right.agree and right.refuted and np.abs(losses).max() <= price * (1 + 1e-12)
assert sound <= 1 < min(told, capped, forever) and abs(told - 50) < 1e-9 and capped <= (1 + 60) / 4
assert np.all(np.array(every) < noisy) and np.all(np.array(softmax) <= flips)
assert trusted < phones / 500 and local[0] < 0.1 and away > needed
print("all checks passed")
