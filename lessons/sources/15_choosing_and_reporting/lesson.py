# %% [markdown]
# # 15 Choosing and reporting ε
#
# *A training run is finished. Which ε goes into its report, and what does it promise to whom?*
#
# The network of Anna's school is trained, as in lesson 10, on 1,438 images of digits, with noise multiplier 4 and in 80 lots. Its plan proves $\varepsilon=3.03$ at $\delta=10^{-4}$. Anna's parents ask what this number promises her, and the picture shows it among four published ones.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. write a privacy statement that nobody can misread, and refuse one in which a part is missing;
# 2. say what ε and δ promise to whom: odds, false alarms, victims, and for how long;
# 3. (at home) choose ε from the accuracy that is needed, before a single private record is touched.
#
# * **Time** NN minutes in class, and as much again at home if you do all of it; the computer needs half a minute.
# * **You need** lesson 02 (ε and δ as a test) and lesson 10 (DP-SGD); lesson 08 helps.
# * **Beside it** [the run of this lesson on the first page](explorer:?mechanism=gaussian&sampling=poisson&noise_multiplier=4&rate_from=counts&dataset_size=1438&batch_size=512&delta=1e-4&steps=1000&here=80), if you have started it; nothing below depends on it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `records` | $n$ | records that are trained on; a public number | none |
# | `epsilon`, `delta` | $\varepsilon$, $\delta$ | the guarantee for one *unit of privacy* | nats, probability |
# | `prior` | $p$ | what the attacker believed before, that she is in | probability |
# | `losses` | $L$ | privacy loss of an output: log of a ratio of densities | nats |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence to leave with: an ε without a unit, a period, neighbours, a δ and a sampling scheme is not a small number or a large one, it is no statement.
#
# | minutes | part | do |
# |---|---|---|
# | 8 | 0 The first screen | ask who would sign "ε = 3"; everybody types one expression, then a guess |
# | 3 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again |
# | 3 | 3 Name and shame | the vote is decided |
# | 6 | 4 Nine honest numbers | cover all rows but the second |
# | 6 | 5 An exercise | alone, then compare with a neighbour |
# | 6 | 6 What is promised | everybody types a guess |
# | 5 | 7 In full | read the refusals aloud |
# | 2 | 8 ε for a day, ε for a month | who has such a telephone? |
# | 2 | 9 Where this breaks | whose ε is it? |
# | – | 10 to 13 | homework |

# %% tags=["hide-input"]
import numpy as np

from dplearn import ACCOUNTANTS, DPSGD
from dplearn.mechanisms import Gaussian
from dplearn.teaching.classroom import check, pictures, predict, reveal

run = DPSGD(noise_multiplier=4.0, sample_rate=512 / 1438, steps=80)
planned, figures = run.guarantee(delta=1e-4), pictures("15")
figures.in_print()

# %% [markdown]
# **★ 15.1** *(In class, 2 minutes.)* An attacker believes with probability `prior` that Anna's image is in the data. A release with $\delta=0$ multiplies his odds by at most $e^\varepsilon$. Replace `...` by this factor.

# %%
import math


def believed(prior, epsilon):
    odds = prior / (1 - prior) * ...
    return odds / (1 + odds)


check("15.1", believed)

# %% [markdown]
# <details><summary>Solution of 15.1</summary>
#
# ```python
# import math
#
#
# def believed(prior, epsilon):
#     odds = prior / (1 - prior) * math.exp(epsilon)
#     return odds / (1 + odds)
#
#
# check("15.1", believed)
# ```
#
# Odds are multiplied by at most $e^\varepsilon$, then turned back into a probability.
#
# </details>

# %% [markdown]
# The next picture shows his belief after the release, by this function, for three beliefs before it.

# %%
figures.beliefs(believed)

# %% [markdown]
# The ε of 3.03 supposes that nobody knows which lots contained her image. How large is ε if an attacker knows the lots, and her image was in all 80 of them?

# %%
predict("epsilon if the lots are known", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Expect "about 4", or "80 times 3". Do not comment; section 4 computes it in one line.

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Answer three questions from earlier lessons.
#
# **1** 10.4
#
# **2** 14.4
#
# **3** 11.5

# %%
answers = ""  # three letters, such as "bca"
check("15.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# A school of 1,438 pupils is offered a program with $\varepsilon=0$ and $\delta=\frac1{1438}$, which is what a rule of thumb asks for. How often may this program publish somebody's whole record?
#
# <details><summary>a. Never: ε = 0 says that the output does not depend on anybody.</summary>
#
# No. That would be so if δ were 0 as well.
#
# </details>
#
# <details><summary>b. In one of 1,438 releases on average.</summary>
#
# No. That is the chance for one person who is chosen beforehand.
#
# </details>
#
# <details><summary>c. In more than half of its releases.</summary>
#
# Right. Each of the 1,438 pupils has the chance δ, as section 3 computes.
#
# </details>
#
# <details><summary>d. In each release, as δ says nothing about records.</summary>
#
# No. δ does bound this chance, and n times δ is one victim *on average*.
#
# </details>

# %%
vote = ""  # one letter
check("15.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 Name and shame
#
# **Name and shame** (点名公布) is such a program. It publishes each record in full with probability $\delta$ and otherwise nothing. One record changes the output with probability at most $\delta$, so the program is $(0,\delta)$-DP. A tutorial of TensorFlow Privacy says that $\delta$ "bounds the probability of the privacy guarantee not holding", and that a value below $1/n$ is enough. How often is there a victim?

# %%
from dplearn.datasets import school
from dplearn.teaching.classroom import Evidence, estimate

n, rng = len(school().age), np.random.default_rng(16)
victim = Evidence(
    f"chance that somebody is published, delta = 1/n, {n} people",
    closed=-np.expm1(n * np.log1p(-1 / n)),
    exact=1 - float(np.prod(np.full(n, 1 - 1 / n))),
    simulated=estimate(rng.binomial(n, 1 / n, size=20_000) > 0),
    printed=1 / n,
    exact_by="product",
)
print(victim)

# %% [markdown]
# $\delta$ is a chance *for each person*, so a bad program has $n\delta$ victims on average. With $\delta=1/n^2$ the chance of a victim falls below $1/n$. The pair $(\varepsilon,\delta)$ alone does not tell whether the program is a bad one.
#
# ## 4 Nine honest numbers
#
# The same run has a number for each δ. If the attacker knows the lots, sampling hides nothing, and $k$ lots with her image are one Gaussian release with noise $4/\sqrt k$ (lesson 08):

# %%
for delta in (1 / n, 1e-4, 1 / n**2):
    print("secret lots:", run.guarantee(delta=delta))
for lots in (28, 80):
    release = Gaussian(4 / np.sqrt(lots)).profiles()[0]
    print(f"{lots} known lots: epsilon = {release.epsilon(1e-4):.2f} at delta = 1e-4")
reveal("epsilon if the lots are known", truth=float(release.epsilon(1e-4)))

# %% [markdown]
# An image is in about 28 of the 80 lots, and the promise is about the worst case. The picture has nine readings of this run, each an upper bound on ε beside the assumption that it needs.

# %%
told = figures.nine(n)

# %% [markdown]
# From top to bottom, all rows but the last are about one image:
#
# * **Rows 1 to 3** differ only in $\delta$. The smallest ε has $\delta=1/n$, which allows the one expected victim of section 3.
# * **Row 4** is the same promise with a looser proof, and is true as well.
# * **Row 5** includes tuning, because the choice of the best of about ten settings depends on the data.
# * **Rows 6 and 7** are about other programs. In row 6 an ordinary loader shuffles the records; in row 7 lots have a fixed size, and a record is replaced instead of removed.
# * **Row 8** is the guess: the attacker knows the lots, because he saw the traffic of the training.
# * **Row 9** protects a person instead of an image. Thirteen people wrote the images of our school, 110 each on average.
#
# No honest ε is the largest, because assumptions can be combined, and a smaller $\delta$ gives a larger ε under each of them.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Let them argue which row is *the* ε. The answer is that the row follows from who is promised what. Somebody will want the smallest: ask for whom it is true.

# %% [markdown]
# *To here NN minutes.*
#
# ## 5 An exercise
#
# **★ 15.2** *(In class, 5 minutes.)* A watch sends one report a day, each with $\varepsilon=2$, $\delta=0$. An attacker begins with odds of 1 to 1. After how many days does the promise first allow odds of a million to 1 or more?

# %%
answer = None
check("15.2", answer)

# %% [markdown]
# <details><summary>Solution of 15.2</summary>
#
# ```python
# answer = int(np.ceil(np.log(10**6) / 2))
# print(f"ln of a million: {np.log(10**6):.1f}")
# check("15.2", answer)
# ```
#
# Each day multiplies the odds by at most $e^2$, and $\ln10^6=13.8$ is below $7\cdot2$ for the first time on day seven.
#
# </details>

# %% [markdown]
# *To here NN minutes.*
#
# ## 6 What is promised
#
# > **Definition and theorem.** Let $D$ and $D'$ differ in one *unit of privacy* (隐私单位), and for every event $S$ let
# >
# > $$\Pr[M(D)\in S]\le e^{\varepsilon}\Pr[M(D')\in S]+\delta.$$
# >
# > Then for $\delta=0$ the attacker's **odds** that she is in grow by at most the factor $e^\varepsilon$, whatever the output is. For any $\delta$ an attacker who accuses a share $a$ of the outsiders finds at most a share $e^\varepsilon a+\delta$ of the members.
#
# *Why.* Let $S$ be the set of outputs on which the attacker says "in". By Bayes' rule the odds are multiplied by the ratio of the two probabilities of the output. $\square$
#
# An attacker of our run may accuse one outsider in a hundred. How many of a hundred members does the pair with $\varepsilon=3.03$ allow him to find?

# %%
predict("members found in a hundred", None)

# %% [markdown]
# We put the numbers into the formula. The pair is one point of a curve, which the accountant computes for this run:

# %%
by_pair = 100 * (math.exp(planned.epsilon) * 0.01 + 1e-4)
reveal("members found in a hundred", truth=by_pair, kind="upper")
low, high = ACCOUNTANTS["pld"]().true_positive_rate(run.composed, false_positive_rate=0.01)
print(f"by the pair {by_pair:.1f} %, by the whole curve at most {high:.2%}, by a guess 1 %")

# %% [markdown]
# Both bounds are true: the formula holds for every program with this pair, and the curve holds for ours.
#
# *To here NN minutes.*
#
# ## 7 In full
#
# A **privacy statement** (隐私声明) answers the six questions of the drawing, each of which changes the number or its meaning.

# %%
figures.six_questions()

# %% [markdown]
# Our statement asks for what the plan does not contain, and raises an error while a part is missing:

# %%
from datetime import date

parts = {"delta": 1e-4, "unit": "one image of a digit", "records": n, "tuning": "public"}
parts |= {"sampling": "poisson", "released": "last_model"}
parts |= {"trust": "central", "trusted": "the school", "date": date(2026, 3, 1)}
for wrong in ({}, {"period": "once", "delta": 1 / n}):
    try:
        run.statement(**parts | wrong)
    except ValueError as refusal:
        print(refusal)
full = run.statement(**parts, period="once")
print(full)

# %% [markdown]
# `full.latex()` is a table for the paper, `full.json()` is for programs, and `full.card()` is a page to print. If the loader had shuffled the records, plan and program would differ, and the statement would raise an error.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** The plan also proves a lower bound of 3.03, but for an attacker who sees all 80 noisy steps. For the last model alone no lower bound is known, so the statement says "at most".

# %% [markdown]
# ## 8 ε for a day, ε for a month
#
# Who reports "ε = 8", and for what period? These organisations published both a daily and a monthly value:

# %%
from dplearn.datasets import deployments

uses = {}
for use in deployments():
    uses.setdefault(f"{use.organisation}: {use.what}", {})[use.period] = use.epsilon
for name, epsilons in uses.items():
    if {"day", "month"} <= epsilons.keys():
        print(f"{epsilons['day']:6} a day, {epsilons['month']:5} a month   {name}")

# %% [markdown]
# The budget is **renewed** every day, and losses of independent releases add up. Two values of ε can be compared only if the noise is added at the same place, and if unit, period and $\delta$ agree.
#
# ## 9 Where this breaks
#
# * **A person is not a record.** The unit was an image, and for a writer of 110 images somebody prints $110\cdot3.03=333$ in good faith. Look at the $\delta$ of this number:

# %%
from dplearn.teaching.book import group_privacy_delta

delta = group_privacy_delta(epsilon=planned.epsilon, delta=1e-4, group=110)
print(f"naive epsilon {110 * planned.epsilon:.0f}, with delta = {delta:g}")
print(told["a person with 110 records"])

# %% [markdown]
# $\delta=1$ allows everything, so 333 is no bound. The ε that is proved for her exceeds 4,000 and protects nobody.
#
# * **A statement is about a plan.** Whether the program does what it says is the question of lesson 14.
# * **A right is not a number.** European law gives her the right to be forgotten (被遗忘权). No law that we know contains an ε; section 10 says more.
#
# *To here NN minutes: the class ends here.*

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Somebody will ask which ε is "legal". No law names one; ask back what people were promised, and whether that holds for persons.

# %% [markdown]
# ## 10 At home
#
# ### "With probability $1-\delta$ the loss is at most $\varepsilon$"
#
# Many slides say this. Suppose that the attacker knows all 80 lots: the run is one Gaussian with $\mu=\sqrt{80}/4$, and the loss is $L\sim N(\mu^2/2,\mu^2)$.

# %%
from dplearn.teaching.book import gaussian_loss_tail

mu, known = np.sqrt(80) / 4, told["the attacker knows the lots"]
losses = mu**2 / 2 + mu * rng.standard_normal(4_000_000)
tail = gaussian_loss_tail(mu=mu, epsilon=known.epsilon)
print(f"P(L > {known.epsilon:.4g}): {tail:.3g}, simulated {np.mean(losses > known.epsilon):.3g}")

# %% [markdown]
# $\delta$ is $10^{-4}$, and the chance of a larger loss is 2.7 times as large. The reason is that $\delta$ is the mean of $(1-e^{\varepsilon-L})_+$, to which a loss just above $\varepsilon$ adds almost nothing. The converse is true: a tail of at most $\delta$ gives $(\varepsilon,\delta)$-DP. The error is unsafe: the sentence promises too much.
#
# ### "The posterior is at most $e^\varepsilon$ times the prior"
#
# Take our pair and a prior of one half:

# %%
print(f"e^epsilon times the prior: {0.5 * np.exp(planned.epsilon):.3g}")
print(f"by odds, for delta = 0:    {1 / (1 + np.exp(-planned.epsilon)):.4f}")

# %% [markdown]
# For $\delta=0$ the sentence is true and useless, because it allows a probability of ten; the factor belongs to the odds. For $\delta>0$ it is false: name and shame has $\varepsilon=0$, and a victim's posterior is 1.
#
# ### Which uses can be compared?
#
# Uses can be compared if the noise is added at the same place, and if unit and period agree:

# %%
groups = {}
for use in deployments():
    groups.setdefault(use.comparable, []).append(f"{use.organisation} {use.epsilon:g}")
for key, members in groups.items():
    if len(members) > 3:
        print(f"{', '.join(key)}: {'; '.join(members)}")

# %% [markdown]
# Their $\delta$ should be alike, too:

# %%
for use in deployments():
    if "census" in use.what:
        print(f"{use.epsilon:6} at delta {use.delta:g}: {use.what}")

# %% [markdown]
# The bureau adds the first two up; the third is the *same noise* at another $\delta$. In the table `unsaid` lists what a source does not state, and hardly any source states the neighbours.
#
# ### Law and rights
#
# European law (GDPR) gives a person rights: to *know* what is kept of her (Article 15), to have it *corrected* (16), to have it *erased*, the right to be forgotten (17), to *object* (21), and not to be subject to a decision that a machine makes alone (22). Differential privacy is none of these rights.
#
# * *Forgotten* is about what is kept. DP bounds what a release can show; her record still lies on the disk and must go. Whether the model may stay is for a court, for which a bound on her influence is an argument and no erasure.
# * *Many people may ask.* After 110 requests the promise is that for a group of 110, as above, and to train again without them is the honest way.
# * *Anonymous* is a word of law (Recital 26: means "reasonably likely to be used").
# * *Consent* cannot be computed, and records of people who refuse must be removed before training, however small ε is.
# * *True and harmful* statements stay possible: if smokers fall ill, the model says so of a smoker as well, whether or not she took part.
#
# ### How ε grows as δ shrinks
#
# The cell prints ε of the run at six values of $\delta$:

# %%
for exponent in range(3, 9):
    print(f"delta 1e-{exponent}: {run.guarantee(delta=10.0**-exponent).epsilon:.3f}")

# %% [markdown]
# Each factor of ten in $\delta$ adds less to ε, and the run never publishes a record outright. Name and shame with $\delta=10^{-4}$ has $\varepsilon=0$ there and $\varepsilon=\infty$ at every smaller $\delta$. One pair does not distinguish the two; a statement that names the mechanism does.
#
# ### Rehearse
#
# Choose ε from the accuracy that you need. Each point of a curve of accuracy against ε on *our* digits would use up a part of the budget, and so would the choice among them. So **rehearse** with the same plan and the same code on records that need no protection, here drawn digits. Does accuracy at a given ε depend on the number of people?

# %%
import torch
from torch.nn import CrossEntropyLoss, Linear

from dplearn.datasets import Labelled, digits, oriented_gradients, split, synthetic_digits
from dplearn.teaching.choosing import rehearse
from dplearn.training import fit


def features(part):
    return torch.from_numpy(oriented_gradients(part.images)), torch.from_numpy(part.labels)


def accuracy(plan, seed, train, unseen):
    model = Linear(128, 10, bias=False)
    torch.nn.init.zeros_(model.weight)
    sgd = torch.optim.SGD(model.parameters(), lr=10.0, momentum=0.9)
    coins = {"generator": torch.Generator().manual_seed(seed), "progress": False, "delta": 1e-4}
    fit(model, CrossEntropyLoss(reduction="none"), train, plan, optimizer=sgd, **coins)
    return float((model(unseen[0]).argmax(1) == unseen[1]).float().mean())


# %% [markdown]
# The model is linear in the directions of edges, and each point of the curve is one run:

# %%
drawn_digits = synthetic_digits(count=3876, seed=16)
unseen = features(Labelled(drawn_digits.images[:1000], drawn_digits.labels[:1000]))
x, y = features(Labelled(drawn_digits.images[1000:], drawn_digits.labels[1000:]))
small = DPSGD(noise_multiplier=4.0, sample_rate=512 / 1438, steps=60, max_grad_norm=0.1)
wanted = (0.1, 0.3, 1.0, 3.0, 10.0)
rehearsed = {
    count: rehearse(
        lambda plan, seed, c=count: accuracy(plan, seed, (x[:c], y[:c]), unseen),
        small,
        epsilons=wanted,
        delta=1e-4,
        repeats=1,
    )
    for count in (359, 1438, 2876)
}

# %% [markdown]
# The slider sets the number of people:

# %%
figures.knee(rehearsed, wanted)

# %% [markdown]
# The curve rises steeply and then becomes flat: beyond this knee a larger ε gains almost nothing. More people move the knee to the left, because they share the noise. With 1,438 people $\varepsilon=1$ lies beyond it. Decide first, then train once on the private digits:

# %%
train, _, test = split(digits(), validation=0)
once = rehearsed[1438][2].plan
reached = accuracy(once, 0, features(train), features(test))
print(f"rehearsed {rehearsed[1438][2].mean:.1%}, on the private digits {reached:.1%}")
print(once.guarantee(delta=1e-4))

# %% [markdown]
# The rehearsal predicted a wrong accuracy, because drawn digits are harder than the private ones. A rehearsal is an estimate from other data, and it uses no budget.
#
# ### One more exercise
#
# **★★ 15.3** A release covers 60,000 people, and its program is unknown, so it might be name and shame. Which $\delta$ allows at most one expected victim in a hundred releases?

# %%
answer = None
check("15.3", answer)

# %% [markdown]
# <details><summary>Solution of 15.3</summary>
#
# ```python
# answer = 0.01 / 60_000
# check("15.3", answer)
# ```
#
# The expected number of victims is $n\delta$.
#
# </details>

# %% [markdown]
# ## 11 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** A report says "ε = 1". Which part would you ask for first?
#
# <details><summary>a. The learning rate of the training.</summary>
#
# No. The guarantee does not depend on it.
#
# </details>
#
# <details><summary>b. Whose data one unit is, and for how long.</summary>
#
# Right. Without them the number promises nothing to anybody.
#
# </details>
#
# <details><summary>c. The accuracy of the trained model.</summary>
#
# No. It says whether the release is useful, not what it promises.
#
# </details>
#
# **2** Why is $\delta=1/n$ not negligible?
#
# <details><summary>a. A program with that δ may publish one person in each release, on average.</summary>
#
# Right. It is a chance for each of $n$ people.
#
# </details>
#
# <details><summary>b. It makes ε larger than it need be.</summary>
#
# No. It makes ε smaller, which is why people choose it.
#
# </details>
#
# <details><summary>c. Accountants cannot compute with such a δ.</summary>
#
# No. Accountants compute ε at any δ in (0, 1).
#
# </details>
#
# **3** Two uses print ε = 2 and ε = 8. When is the second the weaker promise?
#
# <details><summary>a. Always, since 8 is the larger number.</summary>
#
# No. 2 a day is 60 a month.
#
# </details>
#
# <details><summary>b. Never, since both are below ten.</summary>
#
# No. There is no line at ten, and it depends on unit and period.
#
# </details>
#
# <details><summary>c. If place of noise, unit, period and neighbours agree, and δ is alike.</summary>
#
# Right. Otherwise they are numbers about different things.
#
# </details>
#
# **4** May you draw the curve of accuracy against ε with the private data?
#
# <details><summary>a. Yes, because each of the runs was private.</summary>
#
# No. Several runs have a larger ε than one, and so has the choice among them.
#
# </details>
#
# <details><summary>b. Only if all those runs are counted in ε; rehearse on other data first.</summary>
#
# Right. A rehearsal uses no budget and shows where the knee is, not how high the curve is.
#
# </details>
#
# <details><summary>c. Yes, if the picture is not published.</summary>
#
# No. The setting that you choose by it is published.
#
# </details>
#
# **5** Anna asks to be forgotten. The model is $(1,10^{-6})$-DP per person. Has it forgotten her?
#
# <details><summary>a. Yes: the model is nearly the same without her.</summary>
#
# No. That is an argument about the model; her record is still kept.
#
# </details>
#
# <details><summary>b. Yes, since δ is below 1/n.</summary>
#
# No. Her record is still kept, whatever δ is.
#
# </details>
#
# <details><summary>c. No: erasure is about what is kept, and DP about what a release shows.</summary>
#
# Right. Delete the record; whether the model may stay is not for a theorem to say.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("15.test", answers)

# %% [markdown]
# ## 12 On one card
#
# | | |
# |---|---|
# | **A statement has** | unit, neighbours, $n$ and $n\delta$, period, sampling really used, $\delta$, $\varepsilon$ with its kind, accountant and proof, tuning, what is released, who is trusted, version and date, what is not covered |
# | **Odds** | multiplied by at most $e^\varepsilon$ if $\delta=0$; a share $a$ of false alarms finds at most $e^\varepsilon a+\delta$ |
# | **$\delta$** | for each person: $n\delta$ victims are allowed; not the chance of a loss above $\varepsilon$ |
# | **Comparable** | same place of noise, unit and period, $\delta$ alike |
# | **Renewed** | after $k$ periods the total is $k\varepsilon$ |
# | **Choosing** | rehearse on public or drawn records; decide; spend once |
# | **Never** | report an ε for records as one for persons; say "forgotten" for "private" |
#
# ## 13 Further reading
#
# * Chaudhuri & Sarwate (2017), *Differentially private machine learning: theory, algorithms, and applications*, a tutorial at NIPS: the whole field in one afternoon, with slides.
# * Dwork, Kohli & Mulligan (2019), *Differential privacy in practice: expose your epsilons!*
# * Ponomareva et al. (2023), *How to DP-fy ML*, section 5.3: what to report.
# * Rogers et al. (2020), *LinkedIn's Audience Engagements API*: the table by day and by month.
# * Desfontaines, *A list of real-world uses of differential privacy*.
#
# <details><summary>In the formula book</summary>
#
# [What δ allows](explorer:formula_book?id=G-D5b&misprint=small-delta), [the tail of the loss](explorer:formula_book?id=G-D8&misprint=equivalent), [the posterior](explorer:formula_book?id=G-N5&misprint=approximate-dp), [a group](explorer:formula_book?id=G-C8&misprint=linear), [the best of several settings](explorer:formula_book?id=G-S1).
#
# </details>
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert victim.refuted and 2.6e-4 < tail < 2.8e-4 and delta == 1
shown = [float(f"{g.epsilon:.3g}") for g in told.values()]
assert shown[:8] == [2.56, 3.03, 3.97, 3.36, 5.7, 6.62, 7.91, 10.2]
assert low <= high < np.exp(planned.epsilon) * 0.01 and "not covered" in str(full).lower()
assert rehearsed[1438][2].mean < reached and rehearsed[359][1].mean < rehearsed[2876][1].mean
print("all checks passed")
