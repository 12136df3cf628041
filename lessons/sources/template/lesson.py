# %% [markdown]
# # NUMBER TITLE
#
# *TODO: which question does this lesson answer?*
#
# TODO: somebody has to decide something, in five sentences at most. What does the picture show?
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. TODO: say what a theorem needs and gives;
# 2. TODO: compute its number, and confirm it in three independent ways;
# 3. TODO: tell a printed formula that holds from one that does not.
#
# * **Time** NN minutes in class; what comes after section 6 is for the evening.
# * **You need** TODO: earlier lessons, and what of each.
# * **Beside it** [the explorer at this lesson's numbers](explorer:?mechanism=gaussian&sampling=none&noise_multiplier=1&delta=1e-5&here=100), if you have started it. Nothing below depends on it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `epsilon`, `delta` | $\varepsilon$, $\delta$ | the guarantee | nats, probability |
# | `sigma` | $\sigma$ | noise / sensitivity | none |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** TODO: one sentence to leave with.
#
# | minutes | part | do |
# |---|---|---|
# | 8 | 0 The first screen | everybody types one expression, then a guess; TODO |
# | 3 | 1 Warm-up | TODO |
# | 3 | 2 A vote | TODO |
# | 2 | 3 TODO an experiment | TODO |
# | 2 | 4 TODO a theorem | TODO |
# | 6 | 5 An exercise | TODO |
# | 2 | 6 TODO what it does not protect | TODO |
# | – | 7 At home | homework, with all that follows |

# %% tags=["hide-input"]
import numpy as np

from dplearn.mechanisms import Gaussian
from dplearn.teaching.classroom import check, pictures, predict, reveal

draw = pictures("NUMBER")
draw.two_worlds()

# %% [markdown]
# **★ KEY.1** *(In class, 2 minutes.)* TODO: the one line of code that is the lesson, in a skeleton of four lines with one `...`; such as $\delta(\varepsilon)=\Phi(\frac1{2\sigma}-\varepsilon\sigma)-e^\varepsilon\,\Phi(-\frac1{2\sigma}-\varepsilon\sigma)$.

# %%
import math
from statistics import NormalDist


def delta_of(epsilon, sigma):
    below = NormalDist().cdf
    return below(1 / (2 * sigma) - epsilon * sigma) - math.exp(epsilon) * ...


check("KEY.1", delta_of)

# %% [markdown]
# <details><summary>Solution of KEY.1</summary>
#
# ```python
# import math
# from statistics import NormalDist
#
#
# def delta_of(epsilon, sigma):
#     below, shift = NormalDist().cdf, epsilon * sigma
#     return below(1 / (2 * sigma) - shift) - math.exp(epsilon) * below(-1 / (2 * sigma) - shift)
#
#
# check("KEY.1", delta_of)
# ```
#
# TODO: why.
#
# </details>

# %% [markdown]
# TODO: what the next picture shows by this function.

# %%
draw.profile(delta_of)

# %% [markdown]
# TODO: what is to be guessed, in words.

# %%
predict("delta at epsilon 1", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** TODO: what most classes guess.

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# TODO: three questions from earlier lessons, such as question 1 of the self-test of lesson 01.
#
# **1** 01.1
#
# **2** 01.2
#
# **3** 01.3

# %%
answers = ""  # three letters, such as "bca"
check("KEY.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# TODO: a question that most would answer wrongly, before the lesson shows the truth.
#
# <details><summary>a. TODO: what a common misconception says.</summary>
#
# No. TODO: why.
#
# </details>
#
# <details><summary>b. TODO</summary>
#
# Right. TODO
#
# </details>

# %%
vote = ""  # one letter
check("KEY.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 TODO an experiment
#
# TODO: what we do many times, and what to look at.

# %%
rng = np.random.default_rng(0)
releases = Gaussian(1.0).release(np.ones(100_000), sensitivity=1, rng=rng)
print(f"mean {releases.mean():.2f}, standard deviation {releases.std():.2f}")

# %% [markdown]
# TODO: what the slider moves, and what to look for.

# %%
draw.noises(delta_of)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** TODO: a misreading, and the question that shows it.

# %% [markdown]
# ## 4 TODO a theorem
#
# > **Theorem.** TODO, with its condition.
# >
# > TODO: authors (year), theorem number.
#
# <details><summary>TODO: why it holds</summary>
#
# TODO
#
# </details>
#
# TODO: a second guess.

# %%
predict("delta at epsilon 2", None)

# %% [markdown]
# TODO: the same number in three ways that share no code, beside a printed sentence and where it was found.

# %%
from scipy.stats import norm

from dplearn.teaching.classroom import Evidence, estimate_delta

evidence = Evidence(
    "delta at epsilon = 1, noise multiplier 1",
    closed=norm.cdf(-0.5) - np.e * norm.cdf(-1.5),
    exact=float(Gaussian(1.0).profiles()[0].delta(1)),
    simulated=estimate_delta(1, releases - 0.5),
    printed=0.2,
)
print(evidence)

# %% [markdown]
# TODO: look back at the guesses.

# %%
reveal("delta at epsilon 1", truth=evidence.closed)
reveal("delta at epsilon 2", truth=norm.cdf(-1.5) - np.e**2 * norm.cdf(-2.5))

# %% [markdown] tags=["instructor"]
# > **For the teacher.** TODO: where a class stumbles.

# %% [markdown]
# *To here NN minutes.*
#
# ## 5 An exercise
#
# Replace `None` by your number, or by an expression, and run the cell. A wrong answer gets a hint; the same wrong answer again gets a plainer one.
#
# **★ KEY.2** *(In class, 5 minutes.)* TODO: which $\delta$ has noise multiplier 2 at $\varepsilon = 1$?

# %%
answer = None
check("KEY.2", answer)

# %% [markdown]
# <details><summary>Solution of KEY.2</summary>
#
# ```python
# answer = Gaussian(2.0).profiles()[0].delta(1)
# check("KEY.2", answer)
# ```
#
# TODO: why.
#
# </details>

# %% [markdown]
# ## 6 TODO what it does not protect
#
# TODO: what the guarantee assumes; what it does not protect.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 7 At home
#
# One more exercise, and what you may skip in class.
#
# **★★ KEY.3** TODO: and at $\varepsilon = 2$?

# %%
answer = None
check("KEY.3", answer)

# %% [markdown]
# <details><summary>Solution of KEY.3</summary>
#
# ```python
# answer = Gaussian(2.0).profiles()[0].delta(2)
# check("KEY.3", answer)
# ```
#
# TODO: why.
#
# </details>

# %% [markdown]
# ## 8 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** TODO?
#
# <details><summary>a. TODO</summary>
#
# Right. TODO
#
# </details>
#
# <details><summary>b. TODO</summary>
#
# No. TODO
#
# </details>
#
# **2** TODO?
#
# <details><summary>a. TODO</summary>
#
# No. TODO
#
# </details>
#
# <details><summary>b. TODO</summary>
#
# Right. TODO
#
# </details>
#
# **3** TODO?
#
# <details><summary>a. TODO</summary>
#
# Right. TODO
#
# </details>
#
# <details><summary>b. TODO</summary>
#
# No. TODO
#
# </details>
#
# **4** TODO?
#
# <details><summary>a. TODO</summary>
#
# No. TODO
#
# </details>
#
# <details><summary>b. TODO</summary>
#
# Right. TODO
#
# </details>
#
# **5** TODO?
#
# <details><summary>a. TODO</summary>
#
# Right. TODO
#
# </details>
#
# <details><summary>b. TODO</summary>
#
# No. TODO
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("KEY.test", answers)

# %% [markdown]
# ## 9 On one card
#
# | | |
# |---|---|
# | **TODO** | TODO |
#
# ## 10 Further reading
#
# * TODO: authors (year), *title*: what it is good for.
#
# <details><summary>In the formula book</summary>
#
# * TODO: [each entry](explorer:formula_book?id=G-B4) that the lesson teaches, once.
#
# </details>
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert evidence.agree and evidence.refuted
print("all checks passed")
