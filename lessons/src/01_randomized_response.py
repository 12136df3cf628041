# %% [markdown]
# # 01 Why anonymisation fails
#
# *The names are gone. Is Anna safe?*
#
# **After this lesson you can**
#
# 1. find a person in a table without names, and in two harmless counts, with school arithmetic;
# 2. rebuild a secret table from noisy answers, and say how the noise must grow with the number of questions;
# 3. run a survey with a coin, compute the promise $\varepsilon$ that it makes to everybody, and its price in accuracy.
#
# * **Time** 45 minutes; the computer needs a few seconds of them.
# * **You need** probability as taught at school, the standard deviation, the natural logarithm $\ln$. No earlier lesson.
# * **Beside it** [the explorer at this lesson's coin](explorer:mechanisms?mechanism=randomized_response&local_epsilon=1.0986&answers=2&adjacency=replace_one&epsilon=1), if you have started it. Nothing below depends on it.
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `n` | $n$ | number of people | people |
# | `questions`, `noise` | $m$, $s$ | number of answers, standard deviation of the error of each | none, people |
# | `truth` | $p$ | chance that the coin makes you tell the truth | probability |
# | `share` | $\pi$ | true share of people whose answer is yes | none |
# | `loss` | $L$ | logarithm of how many times likelier an output is for one neighbour than for the other | nats |
# | `epsilon` | $\varepsilon$ | the largest privacy loss | nats |

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence to leave with: privacy is not a property of a table but of the random process that publishes it, and it has a size.
# >
# > | minutes | part | do |
# > |---|---|---|
# > | 2 | 1 The question | tell the story; collect ideas for protecting Anna |
# > | 3 | 2 Predict | three hands-up rounds; write the medians on the board |
# > | 8 | 3 A small experiment | let a student find Anna; then the two counts |
# > | 8 | 4 The picture | run the attack live; proof of the first bullet on the board |
# > | 8 | 5 The statement | play it with real coins; the table before the definition |
# > | 4 | 6 What the coin costs | the turning-around by hand |
# > | 4 | 7 What ε promises | one tree diagram for the 25 % |
# > | 6 | 8 Is it true as printed? | 8.1 and 8.4 whole, 8.2 and 8.3 one sentence each |
# > | 2 | 9 Turn the knob yourself | a student at the keyboard |
# > | – | 10 to 14 | homework; 1.1 in class if minutes are left |

# %% [markdown]
# ## 1 The question
#
# A school asked its 64 pupils one question: *have you ever handed in copied homework?* It wants to publish what it learned, and it has promised that nobody will find out what Anna said.
#
# Three ideas are on the table. Take the names away. Publish only counts about groups. Make the counts a little wrong. Each sounds safe. We shall play the attacker and try each of them. At the end comes a fourth idea, and it carries a promise that one can compute.
#
# A word about the tools: `predict` notes a guess of yours, `reveal` compares it with the truth, `show` draws, `Evidence` holds three independent computations of one number against each other, and `check` answers your exercises. Nothing leaves your computer.

# %%
from itertools import product

import numpy as np
from scipy.linalg import hadamard
from scipy.stats import binom

from dplearn.formulas.local import randomized_response_variance
from dplearn.formulas.mechanisms import two_coin_epsilon
from dplearn.lessons import Evidence, check, estimate, guess, predict, reveal, show
from dplearn.mechanisms import RandomizedResponse
from dplearn.plotting.lessons import Band, Bars, Line, Mark, curves, panels, slider

# %% [markdown]
# The pupils are invented, with the computer's dice. Names are already gone. Besides the answer, 1 for yes, two harmless columns remain: month of birth and village.

# %%
n, rng = 64, np.random.default_rng(10)
month = rng.integers(1, 13, n)
village = rng.choice(["Ash", "Elm", "Fir", "Lime", "Oak", "Yew"], n)
copied = rng.integers(0, 2, n)
print("month  village  copied")
for row in range(3):
    print(f"{month[row]:5}  {village[row]:<7}  {copied[row]:6}")

# %% [markdown]
# ## 2 Predict
#
# Commit yourself before you read on. Nobody sees your guesses, and a wrong one will teach you more than none.
#
# * **Alone.** No pupil is the only one of a month, none the only one of a village. How many of the 64 are the only one with their month *and* village?
# * **Rebuilt.** The school now answers questions such as "how many of these 32 pupils have copied?", each answer with an error of about 4 pupils. Somebody asks 640 questions about groups drawn by lot. Of how many pupils does he get the secret right? (Tossing coins would give 32.)
# * **Belief.** Anna answers with a coin that makes her tell the truth three times out of four, and lie otherwise. A teacher believes with probability 0.25 that she has copied. Her slip says *yes*. What does the teacher believe now?

# %%
predict("alone", None)
predict("rebuilt", None)
predict("belief", None)

# %% [markdown]
# ## 3 A small experiment
#
# ### 3.1 Take the names away
#
# A friend of Anna's knows two things about her. She was born in October and lives in Oak.

# %%
anna = (month == 10) & (village == "Oak")
print(f"rows that fit: {anna.sum()}, its answer: {copied[anna][0]}")

# %% [markdown]
# One row fits. Anna has copied, and now the friend knows. Nothing was broken into: he **linked** what he knew with what was published. Is Anna unlucky? We count the pupils who share their entries with nobody.


# %%
def alone(*columns):
    rows = list(zip(*columns, strict=True))
    return sum(rows.count(row) == 1 for row in rows)


print(f"month only {alone(month)}, village only {alone(village)}, both {alone(month, village)}")
reveal("alone", truth=alone(month, village), others={"expected": 64 * (71 / 72) ** 63})

# %% [markdown]
# Neither column tells anything about anybody, and both together give away more than a third of the school. School arithmetic explains it. There are $12\cdot6=72$ combinations. If all are equally common, each of the other 63 pupils misses mine with probability $71/72$, so I am alone with probability $(71/72)^{63}$.
#
# The same sum for larger crowds and finer columns: 365 birthdays, and 58,400 combinations of full date of birth (80 years) and sex.

# %%
crowd = np.geomspace(1, 200_000, 120)
cells = {"month, village": 12 * 6, "birthday": 365, "date of birth, sex": 365 * 80 * 2}
names = list(cells)
shares = {name: (1 - 1 / cells[name]) ** (crowd - 1) for name in names}
district = (1 - 1 / cells[names[2]]) ** 7999
print(cells, f"alone in a district of 8000: {district:.2f}")

# %% [markdown]
# Every further column multiplies the cells and moves the curve to the right, to larger and larger crowds.

# %%
figure = curves(
    [
        Line(x=crowd, y=shares[names[0]], label=names[0], label_at=0.44, side="bottom left"),
        Line(x=crowd, y=shares[names[1]], label=names[1], role="zcdp", label_at=0.47),
        Line(x=crowd, y=shares[names[2]], label=names[2], role="rdp", label_at=0.87),
    ],
    marks=[Mark(x=8000, y=district, label="a district", role="rdp", side="bottom left")],
    title="In a crowd of thousands, three columns are almost a name",
    x="people in the crowd",
    y="share who are alone in their cell",
    log_x=True,
    y_range=(0, 1.05),
)
show(figure, f"Alone in a district of 8000 by date of birth and sex: {district:.2f}.")

# %% [markdown]
# Real people are not spread evenly, but the order of magnitude is right. Sweeney (2000) estimated that 87 % of the people in the United States are alone with their postal code, date of birth and sex; Golle (2006), with other census data, 63 %.
#
# ### 3.2 Publish only counts about groups
#
# Then no rows at all: a counter that answers only about groups of at least five.


# %%
def counter(group):
    return copied[group].sum() if group.sum() >= 5 else "refused"


print("Anna alone          ", counter(anna))
print("pupils from Oak     ", counter(village == "Oak"), "of", (village == "Oak").sum())
print("... not from October", counter((village == "Oak") & (month != 10)))

# %% [markdown]
# The counter refuses the rude question and answers two polite ones. Their difference is Anna. This is **differencing**. Each answer alone is harmless; the leak is in the pair, so no rule that looks at one question at a time can stop it.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Students propose repairs: refuse large groups too, refuse overlapping groups, keep a log. Let them try each one on the board. A log helps only until two people ask, and refusing is an answer as well. The figure above deserves one question: where on it is our own school?

# %% [markdown]
# ## 4 The picture
#
# Third idea: make every answer a little wrong. The school adds fresh noise with standard deviation $s$. Differencing now fails, since the difference of two noisy answers is noise.
#
# But the attacker may ask more than two questions. He draws groups by lot, collects the answers, and looks for the 64 numbers that fit all answers best. That is *least squares*, one line of NumPy. Then he rounds each number to 0 or 1.


# %%
def attack(questions, noise, rng):
    groups = rng.integers(0, 2, (questions, n))
    answers = groups @ copied + rng.normal(0, noise, questions)
    best_fit = np.linalg.lstsq(groups, answers)[0]
    return np.sum((best_fit > 0.5) == copied)


# %% [markdown]
# 640 questions, every answer off by about 4:

# %%
rebuilt = attack(640, noise=4, rng=np.random.default_rng(1))
reveal("rebuilt", truth=rebuilt, others={"by tossing coins": 32})

# %% [markdown]
# Almost the whole school. No single answer was accurate, and together they are. Noise averages out, and the attacker is the one who averages: his error on one pupil is roughly $2s/\sqrt{m-n}$, so it shrinks with every further question. A bit comes out right when that error stays below one half, which for normal errors happens with probability $\Phi\big(\sqrt{m-n}/(4s)\big)$. ($\Phi$ is the area under the normal curve; the 2 is there because a question includes a given pupil only half of the time.)
#
# A rule of thumb must be tested. We repeat the attack ten times at each of 16 settings.

# %%
asked, noises, rng = [96, 160, 640, 2560], [1, 4, 8, 16], np.random.default_rng(2)
right = {
    (m, s): np.mean([attack(m, s, rng) for _ in range(10)]) / n for m in asked for s in noises
}
print("questions  " + "".join(f"  noise {s:<3}" for s in noises))
for m in asked:
    print(f"{m:9}  " + "".join(f"{right[m, s]:9.3f}" for s in noises))

# %% [markdown]
# Lines: the rule of thumb. Diamonds: the attacks.

# %%
from scipy.stats import norm

m = np.geomspace(70, 10_000, 80)
roles = dict(zip(noises, ("exact", "rdp", "zcdp", "moments"), strict=True))
names = {1: "noise 1", 4: "noise 4", 8: "noise 8 = √n", 16: "noise 16"}
lines = [
    Line(x=m, y=norm.cdf(np.sqrt(m - n) / (4 * s)), label=names[s], role=roles[s], label_at=0.3)
    for s in noises
]
marks = [Mark(x=k, y=right[k, s], label="", role=roles[s]) for k in asked for s in noises]
figure = curves(
    lines,
    marks=marks,
    title="Ask often enough, and noise of any fixed size hides nobody",
    x="questions m, about n = 64 pupils",
    y="share of secrets recovered",
    log_x=True,
    y_range=(0.45, 1.05),
)
ends = ", ".join(f"{right[640, s]:.3f} at noise {s}" for s in noises)
show(figure, f"Share recovered with 640 questions: {ends}.")
