# %% [markdown]
# # 10 DP-SGD I: clip, add noise, count
#
# *A network was trained on Anna's handwriting. How do we train it so that nobody can tell?*
#
# Anna's school trains a network with the digits of its 1,438 pupils and puts it on the web. Each five below is in the data; the first one is Anna's, and it looks like a nine. In every step each image pulls the weights along an arrow, the gradient of its own loss, and unusual images pull hardest. So the school first shortens long arrows.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. write private training in a dozen lines, and say which line carries which part of the guarantee;
# 2. tell a lot from a batch, and compute $q$, $T$ and $\varepsilon$ from lots, micro-batches and epochs;
# 3. audit somebody's training step with two lengths: how far one record can move it, and how wide the noise is.
#
# * **Time** NN minutes in class, and as much again at home; the computer needs some seconds.
# * **You need** lesson 03 (Gaussian noise), lesson 06 (Poisson sampling), lesson 07 or 08 (accounting), one gradient step in PyTorch.
# * **Beside it** the explorer, if you have started it: [what each of its steps costs](explorer:?mechanism=gaussian&sampling=poisson&noise_multiplier=4&rate_from=counts&dataset_size=1438&batch_size=512&delta=1e-4&steps=1000&here=80).
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `rows` | $g_i$ | gradient of record $i$'s own loss, one row per record | of the gradient |
# | `max_grad_norm` | $C$ | length to which each gradient is clipped | of the gradient |
# | `noise_multiplier` | $\sigma$ | standard deviation of the noise on the sum, divided by $C$ | none |
# | `sample_rate` | $q$ | chance of a record to be in a lot | probability |
# | `expected` | $B$ | expected size $qN$ of a lot, fixed beforehand; $N$ records in all | records |
# | `steps` | $T$ | number of noisy updates | none |
# | `epsilon`, `delta` | $\varepsilon$, $\delta$ | the guarantee for the whole training | nats, probability |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence carries the hour: *two lengths decide everything, how far one record can move the sum and how wide the noise is; the rest is counting.*
#
# | minutes | part | do |
# |---|---|---|
# | 9 | 0 The first screen | everybody types the factor, then a guess; a student moves the slider |
# | 3 | 1 Warm-up | hands up for each letter |
# | 5 | 2 A vote | vote, two minutes in pairs, vote again; it is decided in section 7 |
# | 4 | 3 One arrow among many | unveil the guess; who sees Anna in the numbers? |
# | 5 | 4 The algorithm | the four points on the projector; which one would a thief delete? |
# | 6 | 5 An exercise | alone, then compare with the neighbour |
# | 6 | 6 A whole run | the second guess before any code runs |
# | 3 | 7 And Anna? | the vote is decided |
# | 2 | 8 Where this breaks | the writers, if nothing else |
# | – | 9 to 12 | homework |

# %% tags=["hide-input"]
import random
from dataclasses import replace

import numpy as np
import torch
from torch.func import functional_call, grad, vmap

from dplearn import DPSGD
from dplearn.teaching.classroom import check, mine, pictures, predict, reveal

figures = pictures("10")
figures.fives()

# %% [markdown]
# **★ 10.1** *(In class, 2 minutes.)* The list `row` is one gradient. Replace `...` by the factor that makes a longer arrow exactly as long as `norm`, and leaves every other arrow as it is.


# %%
def clip(row, norm):
    length = sum(x * x for x in row) ** 0.5
    factor = ...
    return [factor * x for x in row]


check("10.1", clip)

# %% [markdown]
# <details><summary>Solution of 10.1</summary>
#
# ```python
# def clip(row, norm):
#     length = sum(x * x for x in row) ** 0.5
#     factor = min(1, norm / length)
#     return [factor * x for x in row]
#
#
# check("10.1", clip)
# ```
#
# The factor `norm / length` alone would lengthen short arrows, so it is at most 1.
#
# </details>

# %% [markdown]
# The next picture cuts the gradients of eight pupils with this function. Their lengths are those after 60 ordinary steps, their directions are invented, and the slider moves `norm`, which we call $C$.

# %%
figures.arrows(clip)

# %% [markdown]
# This is **clipping** (裁剪), and $C$ is the *clipping norm* (裁剪范数). A network that was trained *without* Anna, by 200 ordinary steps, gives her five 0.0013 per cent. How much does it give if it was trained with her, and nothing was clipped?

# %%
predict("belief in her five, in per cent", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Most say ten times as much, some a hundred times. Ask what one image of 1,438 can do to 2,410 weights, and do not comment.

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Answer three questions from earlier lessons.
#
# **1** 08.5
#
# **2** 06.4
#
# **3** 03.2

# %%
answers = ""  # three letters, such as "bca"
check("10.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# The school repairs its training: every step shortens each long gradient to the same length before it takes the mean, and adds no noise. Now the network gives Anna's five less than one per cent, about as much as a network without her. Is she protected after this repair?
#
# <details><summary>a. Yes, because the attack now fails.</summary>
#
# No. This attack fails, and another one may succeed.
#
# </details>
#
# <details><summary>b. Yes, if the length is small enough.</summary>
#
# No. However short her gradient is, without noise it is in the sum exactly.
#
# </details>
#
# <details><summary>c. A little, because ε is finite but large.</summary>
#
# No. Without noise no ε is finite: some sums are impossible without her.
#
# </details>
#
# <details><summary>d. No, because ε is still infinite.</summary>
#
# Right. One attack that fails proves nothing, and section 7 has one that works.
#
# </details>

# %%
vote = ""  # one letter
check("10.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 One arrow among many
#
# The network is trained as usual, once with Anna and once without her:

# %%
learned, absent = (figures.belief(figures.ordinary(200, anna=she)) for she in (True, False))
reveal("belief in her five, in per cent", truth=learned, others={"without her": absent})

# %% [markdown]
# The network has learned her five by heart. How can one image do that? *Stochastic gradient descent* (随机梯度下降) with learning rate $\eta$ moves the weights by the rule
#
# $$w\;\leftarrow\;w-\frac\eta B\sum_{i\in\text{batch}}g_i .$$
#
# PyTorch returns the mean gradient only. We need the gradient of each record's own loss (*per-example gradients*, 逐样本梯度): `grad` differentiates the loss of one record, and `vmap` does so for all of them.


# %%
x, y, everyone, anna = figures.x, figures.y, figures.everyone, figures.pupils.anna


def gradients_of(model, lot):
    weights = {name: value.detach() for name, value in model.named_parameters()}

    def loss_of_one(weights, image, label):
        return figures.loss_fn(functional_call(model, weights, image[None]), label[None])[0]

    parts = vmap(grad(loss_of_one), in_dims=(None, 0, 0))(weights, x[lot], y[lot])
    return torch.cat([part.flatten(1) for part in parts.values()], dim=1)


# %% [markdown]
# There is one row for each record, and one column for each weight. Without privacy, the rule takes two lines (`move` adds a vector to the weights):


# %%
def sgd_step(model, lot, learning_rate=0.5):
    rows = gradients_of(model, lot)
    figures.move(model, -learning_rate * rows.sum(0) / len(rows))


# %% [markdown]
# How long are the rows of the network after 60 steps?

# %%
rows = gradients_of(figures.ordinary(60), everyone)
lengths = rows.norm(dim=1)
print(f"{len(rows)} rows of {rows.shape[1]} numbers, median length {lengths.median():.4f}")
print(f"Anna's row {lengths[anna]:.4g}, sum of all rows {rows.sum(0).norm():.4g}")

# %% [markdown]
# Anna's row is the longest, 1,244 times the median, and almost as long as the sum of all, in which the others cancel each other. Noise must cover the longest row that is *possible*, and clipping makes that $C$. With $C=0.5$ it happens to 215 pupils.
#
# *To here NN minutes.*
#
# ## 4 The algorithm
#
# > **DP-SGD** (差分隐私随机梯度下降; Song, Chaudhuri & Sarwate 2013; for networks, with clipping, Abadi et al. 2016). Fix $C$, $\sigma$, $q$, $T$ and $B$ beforehand, as numbers. In each of $T$ steps
# >
# > 1. every record joins the *lot* (批) with probability $q$, by a fresh coin of its own;
# > 2. each gradient in the lot is clipped: $\pi_C(g)=g\cdot\min\!\big(1,\,C/\lVert g\rVert_2\big)$;
# > 3. noise is added to the sum, once, and the *fixed* $B$ divides: $\ \tilde g=\frac1B\big(\sum_{i\in\text{lot}}\pi_C(g_i)+N(0,\sigma^2C^2I)\big)$;
# > 4. the weights move by any rule that sees nothing of the data but $\tilde g$.
# >
# > **Theorem.** All $T$ vectors $\tilde g$ together are at least as private as $T$ Poisson-sampled Gaussian releases with noise multiplier $\sigma$ and rate $q$, for neighbours that differ by *adding or removing* one record. (Abadi et al. 2016; Mironov, Talwar & Zhang 2019; Zhu, Dong & Wang 2022.)
#
# *Why.* Fix everybody's coins except for those of Anna. With her, the sum moves by a vector of length at most $C$, and the noise is $\sigma$ times that (lesson 03). Her coin makes it the sampled Gaussian of lesson 06. Division and learning rate only process what is already noisy. The next step starts from weights that the attacker may know, which composition allows, so we count the steps (lessons 07 and 08).
#
# Compare this with `sgd_step`; `clip_rows` does for all rows what your function does for one:


# %%
def clip_rows(rows, norm):
    return rows * (norm / rows.norm(dim=1, keepdim=True)).clamp(max=1)


def noisy_sum(rows, norm, sigma):
    return clip_rows(rows, norm).sum(0) + sigma * norm * torch.randn(rows.shape[1])


def private_step(model, lot, plan, learning_rate=5, expected=512):
    rows = gradients_of(model, lot)
    total = noisy_sum(rows, plan.max_grad_norm, plan.noise_multiplier)
    figures.move(model, -learning_rate * total / expected)


# %% [markdown] tags=["instructor"]
# > **For the teacher.** Hide the code and let the class dictate it from the four points; most divide by `len(rows)` instead of a fixed number (at home), and some clip the mean (exercise 10.4). Then ask: *which single token would a thief change, so that nobody notices in the accuracy?* `sigma * norm` to `norm`, or the row-wise norm to the norm of the sum.

# %% [markdown]
# *To here NN minutes.*
#
# ## 5 An exercise
#
# Replace `None` by your number, or by an expression, and run the cell. A wrong answer gets a hint, and the same answer again gets a plainer one.
#
# **★ 10.2** *(In class, 5 minutes.)* Gradients are clipped to length $C=2.5$, the noise multiplier is $\sigma=1.2$, and lots have 300 records in expectation. What is the *standard deviation* of the noise on each coordinate of the mean gradient $\tilde g$?

# %%
answer = None
check("10.2", answer)

# %% [markdown]
# <details><summary>Solution of 10.2</summary>
#
# ```python
# answer = 1.2 * 2.5 / 300
# check("10.2", answer)
# ```
#
# On the sum it is $\sigma C=3$, and the mean divides sum and noise by $B$. The lot that was really drawn plays no part.
#
# </details>

# %% [markdown]
# *To here NN minutes.*
#
# ## 6 A whole run
#
# The school's plan holds public numbers only: $\sigma=4$, 80 steps, and lots of about 512. Before the first step, $\varepsilon$ is already known:

# %%
plan = DPSGD(noise_multiplier=4.0, sample_rate=512 / 1438, steps=80, max_grad_norm=0.5)
print(f"q = {plan.sample_rate:.4f}:", plan.guarantee(delta=1e-4))

# %% [markdown]
# After ordinary training the network misreads 2.1 of a hundred unseen digits. How many does it misread after the private run?

# %%
predict("wrong in 100, private", None)

# %% [markdown]
# Your sampler of lesson 06 draws the lots, or ours; 512 is an expectation.

# %%
draw = mine("draw")


def run(plan, seed, keep=everyone):
    model, rng, errors = figures.network(seed), random.Random(seed), []
    for _ in range(plan.steps):
        private_step(model, keep[draw(len(keep), plan.sample_rate, rng)], plan)
        errors.append(figures.wrong(model))
    return model, errors


# %% [markdown]
# We make three private runs, and one with clipping but no noise:

# %%
runs = [run(plan, seed) for seed in range(3)]
clipped_only, noiseless = run(replace(plan, noise_multiplier=0.0), 0)
private = np.array([errors for _, errors in runs])
usual = np.mean([figures.wrong(figures.ordinary(80, seed)) for seed in range(2)])
ends = {"no noise": round(noiseless[-1], 1), "ordinary": round(usual, 1)}
reveal("wrong in 100, private", truth=round(private[:, -1].mean(), 1), others=ends)

# %% [markdown]
# The left side shows what is spent, and the right what it buys: the mean and the range of three private runs.

# %%
figures.spent_and_bought(plan, private, noiseless)

# %% [markdown]
# So little is lost because the task never needed Anna's arrow: a good reader is made by what the pupils have in common, and that survives a bound on each of them.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Usual guesses: "wrong every third time". Noise is far less harmful, and clipping far more necessary, than people expect. Ask *why* ε could be printed before training: nothing in the plan depends on the data. (A rate computed as `512 / len(x)` would: it changes with every pupil who joins.)

# %% [markdown]
# *To here NN minutes.*
#
# ## 7 And Anna?
#
# We ask the three private networks for her five, then one that was trained without her, and last the one with clipping and no noise.

# %%
models = [model for model, _ in [*runs, run(plan, 0, figures.others)]] + [clipped_only]
print(*(f"{figures.belief(model):.2f} %" for model in models))

# %% [markdown]
# None of them believes in it, not even the last one: this attack sees clipping, not privacy. In another attack somebody knows all other pupils and sees the sum of one step. He subtracts what he knows, and compares the rest with Anna's clipped gradient. (Cosine 1 means the same direction.)

# %%
known, hers = clip_rows(rows[figures.others], 0.5).sum(0), clip_rows(rows, 0.5)[anna]
for sigma in (0, 4):
    rest = noisy_sum(rows, 0.5, sigma) - known
    print(f"sigma = {sigma}: cosine {float(rest @ hers / (rest.norm() * hers.norm())):.3f}")

# %% [markdown]
# Without noise the attacker holds her gradient exactly, which decides the vote. With noise almost nothing of it is left in one step, and the theorem bounds *every* attack over all steps.
#
# ## 8 Where this breaks, and what it does not protect
#
# * **Each record has a gradient of its own.** In batch normalisation Anna's image changes everybody's gradient, so clipping rows means nothing, and the library refuses it.
# * **Coins must draw the lots.** A loader that shuffles is another mechanism.
# * **You may publish only what has noise.** The loss of a lot and its size have none.
# * **One record is not one person.** These digits were written by 13 people. Our $\varepsilon\approx3$ hides one image; a writer has about a hundred, and for her the guarantee is as good as none. To protect her, draw and clip whole writers.
# * **Choosing settings means looking at data.** We tried ours on unseen digits, which we call public. On private ones every try is a release.
#
# *To here NN minutes: the class ends here.*

# %% [markdown] tags=["instructor"]
# > **For the teacher.** If only two minutes are left, do the writers: the class has believed for three quarters of an hour that a record is a person. Ask who in their own data has several rows.

# %% [markdown]
# ## 9 At home
#
# ### One arrow, measured
#
# The guarantee rests on a single length: how far one record can move the clipped sum. Remove Anna and measure. (`clipped_sum` of the library must return the same sum.)


# %%
from dplearn.training import Flat, clipped_sum, fit, plain

trained, loss_fn = figures.ordinary(60), figures.loss_fn


def library_sum(lot):
    found = clipped_sum(trained, loss_fn, x[lot], y[lot], bound=Flat(0.5))
    return torch.cat([part.flatten() for part in found.sums.values()])


clipped = clip_rows(rows, 0.5)
everybody, without = library_sum(everyone), library_sum(figures.others)
print(f"same sum as ours: {torch.allclose(everybody, clipped.sum(0))}")
print(f"without Anna the sum moves by        {(everybody - without).norm():.4f}")
print(f"with the worst exchange of two       {torch.cdist(clipped, clipped).max():.4f}")

# %% [markdown]
# The second line is $C$, exactly: a pupil outside the ball moves the sum by $C$, and everybody else moves it by less. The number of pupils and the number of weights do not matter.
#
# Now suppose that neighbours *replace* one record. Then one arrow vanishes and another appears, and if they point in opposite directions the sum moves by $2C$. In our data the worst exchange reaches 0.9766; the bound must be $2C$, because it must hold for data we have not seen. The same noise is then worth half.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Draw the sum as a chain of arrows, head to tail. Removing one arrow shifts the rest rigidly: the end moves by that arrow and nothing else. Then replace an arrow by its opposite: $2C$. Students who say "the average changes by $C/B$" are right and should be asked what happens to the noise (it is divided too).

# %% [markdown]
# ### Which C?
#
# $\varepsilon$ does not depend on $C$, but the learning does. If $C$ is too large, the mean drowns in noise. If it is too small, all arrows become equally long, and the mean points elsewhere. For gradients after ten ordinary steps, the picture shows the cosine to the true gradient.

# %%
figures.which_norm(gradients_of(figures.ordinary(10), everyone), plan)

# %% [markdown]
# Too small a $C$ is a mild mistake here: sum and noise shrink together, and a larger learning rate makes up for both (lesson 11).

# %% [markdown]
# ### Does the step keep its promise?
#
# Take a hard pair of neighbours, a school where Anna is alone and the empty school, and $\sigma=1$. We release ten thousand noisy sums, compute the privacy loss of an attacker who knows her gradient, and compare with the library.

# %%
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.teaching.classroom import Evidence, estimate, estimate_delta

q, alone, arrow_of = plan.sample_rate, rows[[anna]], hers / 0.5**2
torch.manual_seed(10)
seen = [noisy_sum(alone[torch.rand(1) < q], 0.5, sigma=1) @ arrow_of for _ in range(10_000)]
loss = np.log1p(q * np.expm1(np.array(seen) - 0.5))
removed = PoissonSubsampled(Gaussian(noise_multiplier=1.0), q).profiles()[0]
print(f"delta at epsilon 1: {float(removed.delta(1)):.4f}, our code {estimate_delta(1, loss)}")

# %% [markdown]
# ### A lot is not a batch
#
# A **lot** is what the theorem speaks about, the records whose coin put them in. We draw 1,000 lots for our school:

# %%
rng = random.Random(10)
sizes = np.array([len(draw(len(x), q, rng)) for _ in range(1000)])
print(f"mean {sizes.mean():.1f}, smallest {sizes.min()}, largest {sizes.max()}")

# %% [markdown]
# A lot may even be empty. Then the step is pure noise and counts like any other, because skipping it would tell that nobody was there.
#
# A **batch** is what the graphics card holds. If a lot is too large, cut it into *micro-batches*, clip and sum each, add the sums, and then add the noise once for the lot. This changes neither the sum nor the guarantee. `lot_sum` is exercise 10.5, below.

# %%
lot_sum = mine("lot_sum")
micro = [rows[m].tolist() for m in everyone.split(128)]
together = torch.tensor(lot_sum(micro, 0.5, 0.0, rng))
print(f"{len(micro)} micro-batches, the same sum: {torch.allclose(together, everybody)}")

# %% [markdown]
# But account with the micro-batch instead of the lot, and the $\varepsilon$ on paper is too small:

# %%
price = plan.guarantee(delta=1e-4)
print("lot of 512         ", price)
print("micro-batch of 128 ", replace(plan, sample_rate=128 / 1438).guarantee(delta=1e-4))

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Let everyone toss a coin: those with heads are the lot. Ask three people how large the lot "is", then count. Many believe that gradient accumulation *is* a privacy mechanism, or that it needs an accountant of its own. It needs neither: $q$ and $T$ are those of the lot, whatever the card can hold.

# %% [markdown]
# ### The library's two versions
#
# The file `dplearn/training/plain.py` is a page to read aloud: nothing in it is fast, and everything is there. Find the four points of section 4.

# %%
import inspect

print(inspect.getsource(plain.clipped_sum), inspect.getsource(plain.train), sep="\n\n")

# %% [markdown]
# The other version is fast, and the tests of the library compare the two. Do they agree about the first hundred pupils?

# %%
one_by_one = plain.clipped_sum(trained, loss_fn, x[:100], y[:100], norm=0.5)
slow = torch.cat([part.flatten() for part in one_by_one.values()])
print("one record at a time, the same sum:", torch.allclose(slow, clipped[:100].sum(0)))

# %% [markdown]
# `fit` does all of it: lots, clipping, noise, division by the fixed $B$, any optimizer of PyTorch, and the counting. (The generator repeats lots and noise for the class. A real run gets none, because somebody who knows its seed can subtract the noise.)


# %%
def fitted(plan, seed):
    model = figures.network(seed)
    fit(
        model,
        loss_fn,
        (x, y),
        plan,
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9),
        delta=1e-4,
        expected_batch_size=512,
        progress=False,
        generator=torch.Generator().manual_seed(seed),
    )
    return figures.wrong(model)


print(f"wrong in 100: {np.mean([fitted(plan, seed) for seed in range(2)]):.1f}")

# %% [markdown]
# The loss of a lot, its size and the fraction that was clipped are in the `private` part of each record of the history: nothing of it may be published. And shuffled batches? For the same plan the library proves only this:

# %%
print(replace(plan, sampling="shuffled").guarantee(delta=1e-4))

# %% [markdown]
# All this supposes that the attacker sees every step. If only the last network is published, the truth may be smaller, and for networks in general it need not be (Annamalai 2024). So count all steps.
#
# ### "The noise has *variance* noise_multiplier · max_grad_norm"
#
# The theorem asks for the standard deviation $\sigma C=4\cdot0.5$ on the sum. Whoever believes the sentence draws noise of variance $\sigma C$, and noise / $C$ is not $\sigma$ but $\sqrt{\sigma/C}$:

# %%
noise = noisy_sum(torch.zeros(1, 1_000_000), 0.5, 4)
print(f"standard deviation: ours {noise.std():.3f}, as printed {np.sqrt(4 * 0.5):.3f}")

# %% [markdown]
# The printed noise delivers this, with our $C$ and with a tenth of it:

# %%
print("claimed               ", price)
for c in (0.5, 0.05):
    believed = replace(plan, noise_multiplier=np.sqrt(4 / c)).guarantee(delta=1e-4)
    print(f"delivered at C = {c:<5}", believed)

# %% [markdown]
# The slip is unsafe above $C=1/\sigma$, and adds too much noise below. It also has the wrong unit: a variance has the square of the unit of $C$, and $\sigma C$ has not. **Check units before you check proofs.**
#
# ### `_generate_noise`, and several processes
#
# In Opacus 0.15 the function `_generate_noise` makes a normal draw of standard deviation `noise_multiplier * max_grad_norm`, in the shape of the gradient. (Checked in the source tagged v0.15.0, as is what follows.) That is right. When four processes share a lot, `step` calls the function in the process of rank 0 alone, and the four sums are added. Is that too little noise, because three processes add none?


# %%
def generate_noise(noise_multiplier, max_norm, shape=(1_000_000,)):
    return torch.normal(0.0, noise_multiplier * max_norm, shape)


shares = {
    "rank 0 alone": [generate_noise(4, 0.5)],
    "each of four": [generate_noise(4, 0.5) for _ in range(4)],
    "each, a quarter": [generate_noise(4, 0.5) / 4 for _ in range(4)],
    "each, a half": [generate_noise(4, 0.5) / 2 for _ in range(4)],
    "one seed for all": [generate_noise(4, 0.5)] * 4,
}
for who, drawn in shares.items():
    worth = round(float(sum(drawn).std()) / 0.5, 1)
    spent = replace(plan, noise_multiplier=worth).guarantee(delta=1e-4)
    print(f"{who:17} noise multiplier {worth:4.1f}, epsilon {spent.epsilon:6.3f}")

# %% [markdown]
# Rank 0 is right, because only the noise of the *sum* counts. Four full draws are worth twice the noise, which is safe and wasted. A quarter each looks fair and is unsafe: variances add, so four processes need a half each. If somebody can see the sum of one process before the noise is added, each process must add all of it.
#
# ### "With mean reduction, divide sum and noise by the batch size"
#
# This is true if "the batch size" is a number fixed beforehand. Often it is the number of records that were drawn, as in that version of Opacus without its option `poisson`. The simplest case has no coins: everybody is in the lot, 512 records with Anna, 511 without. Each of the others pulls with $-C$, Anna with $+C$; noise of $4C$ is added; sum and noise are divided by the number that is there.
#
# In units of $C/512$, and seen from $-C$, the result is $N(2, 4^2)$ with Anna and $N(0, (4\cdot\tfrac{512}{511})^2)$ without. The shift is 2, not 1: Anna adds her arrow *and* changes the divisor of all the others. Which $\delta$ belongs to the $\varepsilon$ that is claimed for $10^{-4}$? The widths differ as well, so the worst event lies between two roots.

# %%
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

claimed = float(Gaussian(4.0).profiles()[0].epsilon(1e-4))
with_anna, nobody = norm(2, 4), norm(0, 4 * 512 / 511)
over = lambda v: with_anna.logpdf(v) - nobody.logpdf(v) - claimed
low, high = brentq(over, 0, 100), brentq(over, 100, 5000)
between = lambda outputs: outputs.cdf(high) - outputs.cdf(low)
gap = lambda v: max(0.0, with_anna.pdf(v) - np.exp(claimed) * nobody.pdf(v))
means = (511 * -1 + 1 + 4 * np.random.default_rng(10).standard_normal(1_000_000)) / 512

# %% [markdown]
# We compute it in three ways: closed form, quadrature, and a simulation that adds up the 512 arrows and divides.

# %%
realised = Evidence(
    f"delta at epsilon = {claimed:.4f}, divided by the 512 or 511 records there",
    closed=between(with_anna) - np.exp(claimed) * between(nobody),
    exact=quad(gap, -30, 70, limit=200)[0],
    simulated=estimate(np.maximum(0, 1 - np.exp(-over(512 * (means + 1))))),
    printed=1e-4,
)
print(realised)

# %% [markdown]
# The true $\delta$ is more than a hundred times the promised one: the noise multiplier is worth half. Random lots do not repair this, and neither does `q * len(x)`, which changes with $N$. *Instead:* divide by a fixed, public $B$.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Vote by show of hands for each sentence: true, safe slip, unsafe slip. For the second many say "true", because all ordinary code does it. Ask for the smallest lot where the shift is 2: one other pupil is enough.

# %% [markdown]
# ### "$\tilde g=\frac1B\sum_i\big(\pi_C(g_i)+N(0,\sigma^2C^2I)\big)$"
#
# One bracket has moved: every record in the lot brings noise of its own, while the accounting is still done with $\sigma$. So the sum gets $\sigma C\sqrt B$. Is that too much noise, or too little?

# %%
noises = 4 * 0.5 * torch.randn(512, rows.shape[1])  # a row of noise for each record
worth = noises.sum(0).std() / 0.5
spent = replace(plan, noise_multiplier=float(4 * np.sqrt(512))).guarantee(delta=1e-4)
print(
    f"noise multiplier of the sum {worth:.1f}, sqrt(512) times 4 is {4 * np.sqrt(512):.1f}:", spent
)
print(f"noise {noises.sum(0).norm():.0f} long, the sum of 512 clipped rows at most {512 * 0.5:.0f}")

# %% [markdown]
# It is far too much: the noise is nine times as long as the longest possible sum, and nothing is learned. At least it is safe? No. The width of the noise now tells the size of the lot, and an *empty lot gets no noise at all*. Let Anna be the only pupil. Without her every step is exactly zero; with her it is not, whenever she is drawn. No $\varepsilon$ covers that: the $\delta$ of one step is the chance that she is drawn.

# %%
print(f"delta = {q:.4f} at every epsilon")

# %% [markdown]
# Eighty steps are sure to betray her. Noise belongs to the step and not to the records: it is added once, with a width that is known beforehand.
#
# ### "The privacy loss depends on the noise multiplier alone, so $\sigma=1$ is a good choice"

# %%
for rate, steps in ((0.001, 1000), (0.001, 100_000), (0.01, 1000), (0.01, 10_000), (0.1, 1000)):
    found = DPSGD(noise_multiplier=1.0, sample_rate=rate, steps=steps).guarantee(delta=1e-5)
    print(f"q = {rate:<5}  T = {steps:<6} ", found)

# %% [markdown]
# It ranges from 0.149 to 25.2. "Clip, add noise" is two thirds of the algorithm, and the last third is **count**.
#
# ### "Noise must come as early as possible" and "$\theta+$ noise is private"
#
# Noise may stand at four places: on the data, on each step, on the trained parameters, on the predictions. The teachers of lesson 12 put it on their votes, the very last. The third place needs a *sensitivity of training*. Take least squares through the origin with one record $(10^{-k}, 1)$: a second record $(10^{-k}, -1)$ moves the slope from $10^k$ to 0. With a ridge $\lambda$, strongly convex, the slope has a bound.

# %%
slope = lambda data, ridge: data[:, 0] @ data[:, 1] / (data[:, 0] @ data[:, 0] + ridge)
for k in (0, 1, 2, 3):
    data = np.array([[10.0**-k, 1.0], [10.0**-k, -1.0]])
    moved = [abs(slope(data[:1], ridge) - slope(data, ridge)) for ridge in (0.0, 1.0)]
    print(f"10^-{k}: the slope moves by {moved[0]:6.4g}, with ridge 1 by {moved[1]:.4g}")

# %% [markdown]
# For a network no such bound is known, so DP-SGD puts noise on every step.
#
# ### Three more exercises
#
# The last one asks for a function, which is tried on cases that you do not see.
#
# **★★ 10.3** Each of 60,000 people gave one image. Lots of expected size 512 are drawn by coins, but the card holds only 128 rows, so every lot is cut into about four micro-batches. $\sigma=1.1$, 15 epochs of $N/B$ steps each, $\delta=10^{-5}$. What is $\varepsilon$, by the `pld` accountant?

# %%
answer = None
check("10.3", answer)

# %% [markdown]
# <details><summary>Solution of 10.3</summary>
#
# ```python
# long = DPSGD.from_epochs(dataset_size=60_000, batch_size=512, epochs=15, noise_multiplier=1.1)
# answer = long.guarantee(delta=1e-5).epsilon
# check("10.3", answer)
# print(f"{long.steps} steps, q = {long.sample_rate:.5f}:", long.guarantee(delta=1e-5))
# ```
#
# The lot decides: $q=512/60000=0.00853$, and $15\cdot60000/512$ rounded up is 1758 steps. The card plays no part. The result is 1.696.
#
# </details>

# %% [markdown]
# **★★★ 10.4** Bug hunt. Each of these three versions of a step has a slip. `rows` are the gradients of the lot.


# %%
def version_a(rows, norm=0.5, sigma=4, expected=512):
    mean = rows.mean(0)
    mean = mean * min(1, norm / mean.norm())
    return mean + sigma * norm / expected * torch.randn(len(mean))


def version_b(rows, norm=0.5, sigma=4, expected=512):
    total = torch.zeros(rows.shape[1])
    for part in rows.tensor_split(4):
        total += clip_rows(part, norm).sum(0) + sigma * norm * torch.randn(len(total))
    return total / expected


def version_c(rows, norm=0.5, sigma=4, expected=512):
    total = clip_rows(rows, norm).sum(0)
    total += sigma * norm / expected * torch.randn(len(total))
    return total / expected


# %% [markdown]
# For each version find the two lengths: the standard deviation of the noise on a coordinate of the result, and the farthest that adding or removing one record can move the result. Their ratio should be $\sigma=4$. What is the *smallest* of the three ratios? (Think of data that nobody has, or try some with `sigma=0`.)

# %%
answer = None
check("10.4", answer)

# %% [markdown]
# <details><summary>Solution of 10.4</summary>
#
# ```python
# answer = (4 * 0.5 / 512) / (2 * 0.5)
# check("10.4", answer)
# push = torch.cat([torch.full((1, 2), 1e6), -torch.ones(511, 2)])
# for version in (version_a, version_b, version_c):
#     moved = version(push, sigma=0) - version(push[1:], sigma=0)
#     wide = torch.stack([version(push) for _ in range(2000)]).std()
#     print(f"moves {moved.norm():.4f}, noise {wide:.2g}, ratio {wide / moved.norm():.2g}")
# print(f"epsilon of one step: {float(Gaussian(answer).profiles()[0].epsilon(1e-4)):.2g}")
# ```
#
# Version a clips after the mean. One huge gradient can turn the clipped mean from one side of the ball to the other, a change of $2C$, and the noise is only $\sigma C/B$: the ratio is 0.0039, and $\varepsilon$ of one step is in the tens of thousands. Version c divides the noise by $B$ twice: $\sigma/B$, twice as much as version a. Version b adds the noise four times: 8, on the safe side. Accuracy is no alarm: with so little noise, version c learns better than the right one.
#
# </details>

# %% [markdown]
# **★★ 10.5** Write the noisy sum of a lot that comes in micro-batches. `batches` is a list of micro-batches, each of them a list of gradients, each of these a list of numbers. `rng` is a generator of Python's module `random`: `rng.gauss(0, s)` is a new normal number of standard deviation `s`. Return the noisy sum of the clipped gradients, coordinate by coordinate. The library looks at the sum with `sigma = 0`, and at the noise of 3000 calls.


# %%
def lot_sum(batches, norm, sigma, rng):
    # Write your code here.
    return None


check("10.5", lot_sum)

# %% [markdown]
# <details><summary>Solution of 10.5</summary>
#
# ```python
# import math
#
#
# def lot_sum(batches, norm, sigma, rng):
#     total = [0.0] * len(batches[0][0])
#     for batch in batches:
#         for row in batch:
#             factor = min(1, norm / max(math.hypot(*row), 1e-12))
#             total = [x + factor * y for x, y in zip(total, row)]
#     return [x + rng.gauss(0, sigma * norm) for x in total]
#
#
# check("10.5", lot_sum)
# ```
#
# Each record is clipped, whichever micro-batch it is in. The noise belongs to the lot, so it is added once, in units of the clipping norm. A gradient of length 0 stays what it is.
#
# </details>

# %% [markdown]
# ## 10 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** Why do we clip each gradient and not their mean?
#
# <details><summary>a. Because one record can turn the whole mean around.</summary>
#
# Right. The clipped mean can be anywhere in a ball of radius $C$, and one record may move it from one end to the other: $2C$ instead of $C/B$. Clipping rows first bounds what *one* row can do.
#
# </details>
#
# <details><summary>b. Because it is faster.</summary>
#
# No. It is slower; every record needs its own gradient.
#
# </details>
#
# <details><summary>c. Because the mean is usually short already.</summary>
#
# No. However short it is, a clipped mean does not bound one record.
#
# </details>
#
# **2** Halving C halves the privacy loss. True?
#
# <details><summary>a. Yes: one record moves the sum half as far.</summary>
#
# No. And the noise is half as large as well.
#
# </details>
#
# <details><summary>b. No, it doubles it.</summary>
#
# No. Sensitivity and noise shrink together.
#
# </details>
#
# <details><summary>c. No: the noise shrinks with C, and ε stays.</summary>
#
# Right. The noise is $\sigma C$ and shrinks with $C$; the ratio stays $\sigma$, and so does $\varepsilon$. What changes is how much the sum is bent, and how long it is.
#
# </details>
#
# **3** The lot was empty. The step added nothing but noise. May we leave it out, or at least not count it?
#
# <details><summary>a. We may leave it out: nobody took part.</summary>
#
# No. Then everybody learns that the lot was empty.
#
# </details>
#
# <details><summary>b. Neither.</summary>
#
# Right. A step that is left out tells that the lot was empty, and the number of steps is fixed beforehand. Pure noise is what protects the one who was *not* there.
#
# </details>
#
# <details><summary>c. We may take the step and not count it.</summary>
#
# No. The count is fixed beforehand; a step of noise protects whoever was absent.
#
# </details>
#
# **4** Training was private. In the paper we also print the loss of the final network on the training data. Covered?
#
# <details><summary>a. Yes: it is computed from a private network.</summary>
#
# No. And from the data, which is the point.
#
# </details>
#
# <details><summary>b. No: the loss reads the training data again.</summary>
#
# Right. The *network* is covered, and everything computed from it without the data. The training loss uses the data once more, without noise.
#
# </details>
#
# <details><summary>c. Yes, if it is printed with few digits.</summary>
#
# No. Rounding is no noise.
#
# </details>
#
# **5** The guarantee needs convergence, or a small learning rate, or smooth losses. Which of them?
#
# <details><summary>a. All three.</summary>
#
# No. They matter for learning; the proof looks at one sum and its noise.
#
# </details>
#
# <details><summary>b. A small learning rate.</summary>
#
# No. The learning rate multiplies what is already noisy.
#
# </details>
#
# <details><summary>c. None of them.</summary>
#
# Right. The theorem looks only at how far one record moves one sum, and counts. A network that learns nothing is as private as one that learns everything.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("10.test", answers)

# %% [markdown]
# ## 11 On one card
#
# | | |
# |---|---|
# | **Each step** | lot by coins, clip rows to $C$, sum, add $N(0,\sigma^2C^2I)$ once, divide by a fixed $B$ |
# | **Sensitivity** | of the clipped sum: $C$ for add or remove, $2C$ for replace |
# | **Noise** | standard deviation $\sigma C$ on the sum, $\sigma C/B$ on the mean |
# | **ε** | $T$ sampled Gaussians $(\sigma, q)$: `plan.guarantee(delta=...)`, known before training; free of $C$ |
# | **Micro-batches** | sum first, noise once; $q$ and $T$ are those of the lot |
# | **Never** | divide by the realised size, clip the mean, mix records, publish what is under `private` |
# | **Audit** | noise width / largest move $\ge\sigma$, and a width that does not depend on the data |
#
# ## 12 Further reading
#
# * Abadi et al. (2016), *Deep learning with differential privacy*: the algorithm, lots, and the first good accountant.
# * Mironov, Talwar & Zhang (2019), *Rényi differential privacy of the sampled Gaussian mechanism*: the theorem behind the count.
# * Ponomareva et al. (2023), *How to DP-fy ML*: a guide to practice, with its traps.
# * Bu et al. (2023), *Differentially private optimization on large model at small cost*: clipped sums at the price of ordinary ones.
# * Feldman et al. (2018), *Privacy amplification by iteration*, and Annamalai (2024), *It's our loss: no privacy amplification for hidden state DP-SGD with non-convex loss*: what publishing only the last network brings, and when nothing.
#
# <details><summary>In the formula book</summary>
#
# [Noise of an update](explorer:formula_book?id=G-F1&misprint=variance), [noise for each example](explorer:formula_book?id=G-F1&misprint=per-example), [a whole run](explorer:formula_book?id=G-F1b&misprint=noise-alone), [divided by the realised size: the width](explorer:formula_book?id=G-F6&misprint=no-leak) and [the shift](explorer:formula_book?id=G-F6b&misprint=fixed), [only the last network](explorer:formula_book?id=G-S2), [noise on trained parameters](explorer:formula_book?id=G-B5&misprint=trained-parameters).
#
# </details>
#
# **Next** [lesson 11](11_dpsgd_in_practice.ipynb): groups and layers, choosing $C$ and $\sigma$, and the same run in another library.
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert realised.refuted and float(removed.delta(1)) in estimate_delta(1, loss)
assert torch.allclose(everybody, clip_rows(rows, 0.5).sum(0)) and torch.allclose(
    together, everybody
)
assert torch.isclose((everybody - without).norm(), torch.tensor(0.5))
assert torch.cdist(clipped, clipped).max() <= 2 * 0.5 and clipped.norm(dim=1).max() <= 0.5 + 1e-12
assert 3.03 < price.lower <= price.epsilon < 3.04 and private[:, -1].max() < 10
assert noiseless[-1] < 10 and lengths.argmax() == anna and 89 < worth < 92
assert learned > 1000 * absent and figures.belief(clipped_only) < 1
print("all checks passed")
