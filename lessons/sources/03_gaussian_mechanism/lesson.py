# %% [markdown]
# # 03 The Gaussian mechanism
#
# *How much Gaussian noise makes a list of numbers safe to publish?*
#
# **After this lesson you can**
#
# 1. say which sensitivity the Gaussian mechanism needs, why it is the length of a vector, and bound it by clipping;
# 2. compute the exact $\delta$ that a noise level delivers, and confirm it in three independent ways;
# 3. choose the smallest noise for a target $(\varepsilon,\delta)$, and hold the textbook recipe against it.
#
# * **Time** 32 minutes in class; what comes after section 10 is for the evening.
# * **You need** lesson 02 (neighbours, privacy loss, $\delta(\varepsilon)$), the normal distribution, logarithms.
# * **Beside it** [the explorer at this lesson's numbers](explorer:?mechanism=gaussian&sampling=none&noise_multiplier=1&delta=1e-5&steps=100&here=1), if you have started it. Nothing below depends on it.
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `sensitivity` | $\Delta$ | how far one person can move the answer, Euclidean length | of the answer |
# | `noise_multiplier` | $\sigma$ | standard deviation of the noise divided by $\Delta$ | none |
# | `epsilon`, `delta` | $\varepsilon$, $\delta$ | the guarantee | nats, probability |
# | `loss` | $L$ | privacy loss $\ln p(x)/q(x)$ of an output $x$ | nats |

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence to leave with: noise is measured in lengths of one person, and the textbook recipe is a sufficient condition with a range.
#
# | minutes | part | do |
# |---|---|---|
# | 3 | 1 The question | let the class name a number before any formula |
# | 1 | 2 Predict | hands up for three ranges, then type the median |
# | 2 | 3 A small experiment | run it live; stop at the last column |
# | 2 | 4 The picture | draw the two bells on the board first |
# | 3 | 5 The statement | derive the loss on the board, skip the rotation; then ball and cube |
# | 5 | 6 Two ways to choose the noise | read the table aloud, both ends |
# | 7 | 7 Is it true as printed? | 7.1 whole, 7.2 the table, 7.3 in one sentence |
# | 1 | 8 Turn the knob yourself | a student at the keyboard |
# | 2 | 9 Where this breaks | the number for the two adjacencies |
# | 6 | 10 Exercises | 3.1, alone, then compare |
# | – | 11 to 14 | at home |

# %% [markdown]
# ## 1 The question
#
# A clinic wants to publish how many of its patients have each of 20 diagnoses. One patient may have many diagnoses, so one patient can move many counts at once. The clinic adds Gaussian noise to every count. How much?
#
# Almost every textbook gives this recipe: give the noise the standard deviation
#
# $$\Delta\,\frac{\sqrt{2\ln(1.25/\delta)}}{\varepsilon}.$$
#
# We will test it. What is $\Delta$ here? Is the recipe enough? Is it more than enough?
#
# First the tools. `Gaussian` describes the mechanism; everything from `dplearn.classroom` is only for teaching.

# %%
import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from dplearn.calibrate import smallest_noise_multiplier
from dplearn.classroom import Evidence, check, estimate_delta, guess, predict, reveal, show
from dplearn.figures import Curve, Dot, curves, leak, slider
from dplearn.mechanisms import Gaussian, Laplace

# %% [markdown]
# ## 2 Predict
#
# Here is what the recipe asks for at $\delta = 10^{-5}$, in units of the sensitivity.


# %%
def recipe(epsilon, delta=1e-5):
    return np.sqrt(2 * np.log(1.25 / delta)) / epsilon


print("noise multiplier sqrt(2 ln(1.25/delta))/epsilon")
for epsilon in (1, 10):
    print(f"  epsilon = {epsilon:<3} {recipe(epsilon):.4f}")

# %% [markdown]
# Before you read on, write down your guesses. Nobody sees them.
#
# * **Noise at epsilon 1.** The recipe says 4.845. What is the *smallest* noise multiplier (噪声乘子) that still gives $(1, 10^{-5})$?
# * **Delta at epsilon 10.** The recipe says 0.4845 and promises $\delta = 10^{-5}$. Which $\delta$ does it really deliver?

# %%
predict("noise at epsilon 1", None)
predict("delta at epsilon 10", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Most classes guess that the recipe is tight, so 4.8, and that δ at ε = 10 is exactly as promised. Write the guesses on the board and leave them there. The second surprises everybody who has used the recipe in code.

# %% [markdown]
# ## 3 A small experiment
#
# Take one count. With Anna in the data it is 1, without her it is 0; the noise has standard deviation 1. We publish both versions many times and ask, for the events "the published number exceeds $t$", how much more likely they are *with* her.

# %%
draws, rng = 1_000_000, np.random.default_rng(3)
mechanism = Gaussian(noise_multiplier=1.0)
with_anna = mechanism.release(np.ones(draws), sensitivity=1, rng=rng)
without = mechanism.release(np.zeros(draws), sensitivity=1, rng=rng)

# %% [markdown]
# For a few thresholds $t$:

# %%
print("  t   with Anna    without   ratio   with - e * without")
for t in (0, 1, 2, 3):
    p, q = np.mean(with_anna > t), np.mean(without > t)
    print(f"  {t}   {p:9.4f}  {q:9.4f}  {p / q:6.2f}   {p - np.e * q:12.4f}")

# %% [markdown]
# The ratio grows with $t$ and never stops growing: rare, extreme outputs point at Anna as strongly as you like. So no finite $\varepsilon$ covers every event, and Gaussian noise never gives pure differential privacy.
#
# Now look at the last column. At $\varepsilon = 1$ the definition asks that $P(S) - e^{\varepsilon} Q(S) \le \delta$ for every event $S$. The excess is largest somewhere between $t = 1$ and $t = 2$ and shrinks beyond, because extreme outputs are also rare. That excess is what $\delta$ pays for.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask: for which $t$ is the ratio largest, and why is that not the event to worry about? Students confuse the largest *ratio* with the largest *excess*. One minute here saves five in section 5.

# %% [markdown]
# ## 4 The picture
#
# Let $p$ and $q$ be the two densities. The worst event collects every output with $p(x) > e^{\varepsilon}q(x)$, so the excess is an **area**: what $p$ rises above $e^{\varepsilon}q$. On the left you see it shaded for $\varepsilon = 1$. On the right, the size of that area for every $\varepsilon$ is the mechanism's **privacy profile** (隐私曲线) $\delta(\varepsilon)$.


# %%
def profile(sigma):
    return Gaussian(noise_multiplier=sigma).profiles()[0]


delta_1 = float(profile(1.0).delta(1.0))
print(f"delta(1) = {delta_1:.4f} at noise multiplier 1")

# %% [markdown]
# (The library returns one profile per direction, adding Anna and removing her. For Gaussian noise both are the same, hence the `[0]`.)

# %% tags=["hide-input"]
x, epsilons = np.linspace(-3.5, 5.5, 181), np.linspace(0, 4, 81)
figure = leak(
    x=x,
    p=norm.pdf(x, 1),
    scaled_q=np.e * norm.pdf(x, 0),
    curve=(epsilons, profile(1.0).delta(epsilons)),
    here=(1, delta_1),
    title=f"What p rises above e · q has the area δ(1) = {delta_1:.4f}",
)
show(figure, f"Densities with and without Anna; shaded area delta(1) = {delta_1:.4f}.")

# %% [markdown]
# ## 5 The statement
#
# > **Theorem** (the **Gaussian mechanism**, 高斯机制)**.** Let $f$ have $\ell_2$ **sensitivity** (敏感度) $\Delta=\sup\lVert f(d)-f(d')\rVert_2$, the largest over all pairs of *neighbours* $d, d'$. Publishing $f(d)$ plus independent $N(0, \sigma^2\Delta^2)$ noise on every coordinate is $(\varepsilon,\delta)$-differentially private **if and only if**
# >
# > $$\Phi\!\left(\frac{1}{2\sigma}-\varepsilon\sigma\right)-e^{\varepsilon}\,\Phi\!\left(-\frac{1}{2\sigma}-\varepsilon\sigma\right)\;\le\;\delta .$$
# >
# > Balle & Wang (2018), the analytic Gaussian mechanism.
#
# (If $\Delta$ is only an upper bound of that length, the *if* stays true and the *only if* does not.)
#
# *Why.* Rotate space so that the two answers differ along one axis only; the other coordinates are pure noise and say nothing. On that axis the loss is $L(x) = (2x-1)/(2\sigma^2)$, with $x$ in units of $\Delta$. It exceeds $\varepsilon$ exactly when $x > \varepsilon\sigma^2 + \tfrac12$, and the two $\Phi$ terms are the probabilities of that event with and without Anna.
#
# Only the *length* of the difference matters, not the number of coordinates. Laplace noise without a $\delta$ is different: there the $\ell_1$ sensitivity counts, the sum of all changes. For one count the two are equal. For a patient who moves $d$ counts by 1 they are $\sqrt d$ and $d$.

# %% tags=["hide-input"]
drawing = "03_gaussian_mechanism/ball_and_cube.svg"
show(drawing, "In 2 dimensions: Ben's vector has length C, Anna's length 1.414 C, by the axes 2 C.")

# %% [markdown]
# We compute $\delta$ in three ways that share no code. First the formula of the theorem:


# %%
def formula(epsilon, sigma):
    a, b = 1 / (2 * sigma), epsilon * sigma
    return norm.cdf(a - b) - np.exp(epsilon) * norm.cdf(-a - b)


# %% [markdown]
# Then the area, integrated numerically from the point where $p$ overtakes $e^{\varepsilon}q$:


# %%
def area(epsilon, sigma):
    start = epsilon * sigma**2 + 0.5
    gap = lambda x: norm.pdf(x, 1, sigma) - np.exp(epsilon) * norm.pdf(x, 0, sigma)
    return quad(gap, start, start + 12 * sigma, epsabs=0)[0]


# %% [markdown]
# And a simulation: $\delta(\varepsilon)$ is also the mean of $(1-e^{\varepsilon-L})_+$ over releases *with* Anna. `estimate_delta` takes that mean and puts an interval around it which misses the truth once in a thousand times.
#
# At $\varepsilon=1$, $\sigma = 1$ the loss is $x - \frac12$:

# %%
print(f"formula     {formula(1, 1.0):.6f}")
print(f"quadrature  {area(1, 1.0):.6f}")
print(f"simulation  {estimate_delta(1, with_anna - 0.5)}")

# %% [markdown] tags=["instructor"]
# > **For the teacher.** The words *if and only if* carry the lesson. Ask what an "if" alone would allow us to say about a mechanism that fails the condition. (Nothing.)

# %% [markdown]
# ## 6 Two ways to choose the noise
#
# Because the theorem is an *if and only if*, we can turn it around: search for the smallest $\sigma$ whose $\delta(\varepsilon)$ is at most the target. That is what `Gaussian.analytic` does. Next to it, the recipe, and the $\delta$ that the recipe's noise really delivers.

# %%
print("target delta 1e-05")
print("epsilon   recipe    exact   recipe/exact   delta of the recipe")
for epsilon in (0.1, 0.5, 1, 5, 10, 20):
    exact = Gaussian.analytic(epsilon=epsilon, delta=1e-5).noise_multiplier
    delta = float(profile(recipe(epsilon)).delta(epsilon))
    row = f"{epsilon:7}  {recipe(epsilon):7.4f}  {exact:7.4f}"
    print(f"{row}  {recipe(epsilon) / exact:13.3f}  {delta:20.4g}")

# %% [markdown]
# Read the table in both directions.
#
# * **Small $\varepsilon$: wasteful.** At $\varepsilon = 0.1$ the recipe uses 1.576 times the noise that is needed, at $\varepsilon = 1$ still 1.299 times. The answers are less accurate than they could be.
# * **Large $\varepsilon$: wrong.** At $\varepsilon = 10$ the recipe uses *less* than needed, and the $\delta$ it delivers is more than twice the promise. At $\varepsilon = 20$ it is over a hundred times the promise.
#
# Time to look at your guesses.

# %%
smallest = Gaussian.analytic(epsilon=1, delta=1e-5).noise_multiplier
reveal("noise at epsilon 1", truth=smallest, others={"recipe": recipe(1)})

delivered = float(profile(recipe(10)).delta(10))
reveal("delta at epsilon 10", truth=delivered, others={"promised": 1e-5})

# %% [markdown]
# The whole range in one picture: how many times the smallest noise does the recipe use? Your first guess, if you made one, is in it.

# %% tags=["hide-input"]
grid = np.geomspace(0.1, 30, 61)
exact = np.array([Gaussian.analytic(epsilon=e, delta=1e-5).noise_multiplier for e in grid])
mine = guess("noise at epsilon 1")
figure = curves(
    [
        Curve(x=grid, y=recipe(grid) / exact, label="recipe ÷ smallest"),
        Curve(
            x=grid,
            y=np.ones(61),
            label="smallest = 1",
            role="quiet",
            label_at=0.1,
            side="top center",
        ),
    ],
    marks=[Dot(x=1, y=mine / smallest, label="your guess", role="guess")] if mine else [],
    zone=(0.5, 1, "too little noise"),
    title="The recipe wastes noise on the left and falls short on the right",
    x="ε (nats), at δ = 10⁻⁵",
    y="noise of the recipe / smallest noise",
    log_x=True,
)
show(figure, f"Recipe over smallest noise: {recipe(1) / smallest:.3f} at epsilon 1.")

# %% [markdown]
# **Why Gaussian noise at all?** How much noise does each of $d$ counts need, if one patient may change all of them? In the second column Laplace noise keeps $\varepsilon=1$ without any $\delta$. In the third it has the same $(1, 10^{-5})$ as the Gaussian noise beside it; the library adds up the losses of the $d$ counts (lesson 09).


# %%
def laplace_noise(d, epsilon=1, delta=1e-5):
    least = smallest_noise_multiplier(Laplace(1.0), epsilon=epsilon, delta=delta, steps=d)
    return np.sqrt(2) * least.value


print("standard deviation on each count")
print("counts   Laplace, (1, 0)   Laplace, (1, 1e-05)   Gaussian, (1, 1e-05)   ratio")
for d in (1, 7, 20, 100, 1000):
    pure, same, normal = np.sqrt(2) * d, laplace_noise(d), smallest * np.sqrt(d)
    print(f"{d:6}   {pure:15.2f}   {same:19.2f}   {normal:20.2f}   {same / normal:5.3f}")

# %% [markdown]
# Compare the last two columns, which make the same promise. At a thousand counts Laplace noise is $\sqrt2$ times as wide, not twelve times: what saves the factor of twelve in the second column is $\delta$, for either noise. Below seven counts Laplace noise is even the smaller one.
#
# What is left for Gaussian noise, and why deep learning uses it? That $\sqrt2$. A guarantee in closed form that asks for nothing but the Euclidean length of a contribution, and that length is what we clip. And sums of Gaussian noise are Gaussian again, so many releases are as easy to account for as one.

# %% [markdown]
# ## 7 Is it true as printed?
#
# Formulas are copied, and copies lose their conditions. Here are three such sentences. Zhao et al. (2019) list papers that print the first; the other two are slips that students make.
#
# ### 7.1 "For any $\varepsilon$, noise of $\sqrt{2\ln(1.25/\delta)}/\varepsilon$ gives $(\varepsilon,\delta)$"
#
# ([In the formula book](explorer:formula_book?id=G-B4&misprint=any-epsilon).) The proof (Dwork & Roth 2014, appendix A) assumes $\varepsilon < 1$. Our library refuses to go further:

# %%
try:
    Gaussian.classical(epsilon=10, delta=1e-5)
except ValueError as refusal:
    print(refusal)

# %% [markdown]
# Is that only caution, or is the claim false? One counterexample refutes a claim, and `Evidence` compares our three ways with the printed value. At this noise a loss above 10 turns up in fewer than one release in ten thousand, so we need millions of them.

# %%
sigma = recipe(10)
noisy = Gaussian(sigma).release(np.ones(4_000_000), sensitivity=1, rng=rng)
loss = (2 * noisy - 1) / (2 * sigma**2)
at_ten = Evidence(
    "delta at epsilon = 10 with the recipe's noise",
    closed=formula(10, sigma),
    exact=area(10, sigma),
    simulated=estimate_delta(10, loss),
    printed=1e-5,
)
print(at_ten)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Before running the cell, ask how many of four million releases have a loss above 10. When time is short, go straight to the picture of promised against delivered.

# %% [markdown]
# Refuted: the true value is $2.265\times10^{-5}$. Where does the promise begin to fail? Where the delivered $\delta$ crosses the promised one, and that is a root we can find.


# %%
def broken_by(epsilon, delta=1e-5):
    return float(profile(recipe(epsilon, delta)).log_delta(epsilon)) - np.log(delta)


crossing = brentq(broken_by, 1, 15)
print(f"at delta = 1e-05 the recipe holds up to epsilon = {crossing:.4f}")

# %% [markdown]
# Delivered against promised, over the whole range:

# %% tags=["hide-input"]
span = np.linspace(0.5, 20, 79)
truth = np.array([float(profile(recipe(e)).delta(e)) for e in span])
figure = curves(
    [
        Curve(x=span, y=np.full(79, 1e-5), label="promised", role="quiet"),
        Curve(x=span, y=truth, label="delivered"),
    ],
    marks=[Dot(x=crossing, y=1e-5, label=f"ε = {crossing:.2f}", role="wrong", side="top left")],
    title=f"Beyond ε = {crossing:.2f} the recipe breaks its promise",
    x="ε (nats) put into the recipe",
    y="δ",
    log_y=True,
)
show(figure, f"Delivered delta crosses the promised 1e-05 at epsilon = {crossing:.2f}.")

# %% [markdown]
# The recipe is *proved* for $\varepsilon < 1$. At $\delta = 10^{-5}$ it happens to be enough up to $\varepsilon = 8.42$. Beyond that it is not. Note also the left side: at $\varepsilon = 1$ the recipe is *sufficient*, never *necessary*. A text that calls it "the condition for privacy" confuses the two.
#
# ### 7.2 "Clip every gradient to $[-C, C]$; then the sensitivity is $C$"
#
# ([In the formula book](explorer:formula_book?id=G-F1&misprint=by-coordinate).) True for one number. For a vector, clipping each coordinate allows a gradient of length $C\sqrt d$, its farthest corner. Suppose we add noise $4C$ and believe in sensitivity $C$. We would report the $\varepsilon$ of the first line; the other lines are what holds.

# %%
claimed = float(profile(4.0).epsilon(1e-5))
print("coordinates   true sensitivity   epsilon at delta = 1e-05")
for d in (1, 10, 100, 1000):
    print(f"{d:11}   {np.sqrt(d):14.4f} C   {float(profile(4 / np.sqrt(d)).epsilon(1e-5)):.4g}")

# %% [markdown]
# In ten dimensions with all ten coordinates: Anna's gradient is $(C, \dots, C)$. Which $\delta$ belongs to the $\varepsilon$ that was claimed, by the formula and by simulation?

# %%
d, sigma = 10, 4.0
vectors = Gaussian(sigma).release(np.ones((500_000, d)), sensitivity=1, rng=rng)
loss = (np.sum(vectors**2, axis=1) - np.sum((vectors - 1) ** 2, axis=1)) / (2 * sigma**2)
corner, simulated = formula(claimed, sigma / np.sqrt(d)), estimate_delta(claimed, loss)
print(f"promised 1e-05, formula {corner:.4f}, simulated {simulated}")

# %% [markdown]
# Clip the *length* instead: multiply the vector by $\min(1, C/\lVert g\rVert_2)$. Then $\Delta = C$ in every dimension, provided the query is a **sum** and neighbours differ by **adding or removing** one record.
#
# ### 7.3 "$\Delta = \max_{d,d'}\lVert f(d)-f(d')\rVert_2$ over all datasets"
#
# The word *neighbouring* has gone missing. For one count over $n$ patients, two arbitrary datasets can differ by $n$, neighbours by 1. This mistake does not harm privacy, but it ruins accuracy. The opposite mistake is dangerous: the largest difference *seen in your own data* is no bound for data you have not seen.

# %% [markdown]
# ## 8 Turn the knob yourself
#
# The slider moves the noise multiplier while $\varepsilon = 1$ stays fixed. On the left the noise is the unit of length, so more noise brings the two densities together; the heights are logarithmic, so you see the tail that $\delta$ pays for. On the right, follow the point down to the dotted line at $\delta = 10^{-5}$. Where do you meet it, and how much further down does the recipe go? (In Jupyter, move the mouse over the picture to wake it up.)

# %% tags=["hide-input"]
levels = [0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 3.25, 3.5, 3.73, 4, 4.25, 4.5, 4.845, 5.2]
deltas = [float(profile(sigma).delta(1)) for sigma in levels]
wide = np.linspace(-3, 8, 221)


def frame(sigma, delta):
    return leak(
        x=wide,
        p=norm.pdf(wide, 1 / sigma),
        scaled_q=np.e * norm.pdf(wide, 0),
        curve=(levels, deltas),
        here=(sigma, delta),
        title=f"Noise multiplier {sigma:g} delivers δ(1) = {delta:.3g}",
        axes=("published number / noise", "noise multiplier σ", "δ at ε = 1"),
        log_y=True,
        target=1e-5,
        lens=1e-9,
    )


frames = {f"{s:g}": frame(s, d) for s, d in zip(levels, deltas, strict=True)}
words = ", ".join(f"{deltas[i]:.3g} at noise {levels[i]:g}" for i in (2, 10, 14))
show(slider(frames, name="σ", start=2), f"delta at epsilon 1: {words}.")

# %% [markdown]
# The explorer shows what becomes of this noise [when it is used more than once](explorer:?mechanism=gaussian&sampling=none&noise_multiplier=3.73&delta=1e-5&steps=100&here=1).
#
# ## 9 Where this breaks, and what it does not protect
#
# *What the guarantee assumes.* One release. A proven bound on every record's length. An agreed meaning of "neighbour". The last one is worth a number: if neighbours *replace* a record instead of adding one, the difference can be up to twice as long. (Twice for one clipped vector and its opposite; $\sqrt2$ times for a person who moves from one cell of a histogram to another; for a single count nothing changes.)

# %%
for adjacency in ("add_remove", "replace_one"):
    (pair,) = Gaussian(noise_multiplier=1.0).profiles(adjacency)
    print(f"noise multiplier 1, {adjacency:<12} epsilon = {float(pair.epsilon(1e-5)):.4f}")

# %% [markdown]
# So an $\varepsilon$ without its adjacency is half a statement. Further limits:
#
# * **Every further release costs more.** Noise averages out when an answer is repeated. Lessons 04 and 05 do the accounting.
# * **Computers do not draw real numbers.** Floating-point samples leave traces in the last bits (Mironov 2012). Lesson 06 draws whole-number noise instead. `release` here is for teaching.
# * **It hides a person, not a fact.** If the study shows that smoking causes cancer, everyone learns it, smokers outside the study included.
# * **It protects one record's worth.** For a family of five the sensitivity is five times as large.
# * **$\delta$ must be small against $1/n$.** Publishing the file of one random patient is $(0, 1/n)$-private, and it publishes a whole file.

# %% [markdown]
# ## 10 Exercises
#
# In a new session, first run the cells above. Then replace `None` by your number, or by an expression, and run the cell. A wrong answer gets a hint; the same wrong answer again gets a plainer one. The last exercise asks for a function, which is tried on cases that you do not see.
#
# **★ 3.1** *(In class, 5 minutes.)* The gradients of 4 000 records are clipped to length $C = 2.5$ and summed. Neighbours add or remove a record. With the textbook recipe for $\varepsilon = 0.5$ and $\delta = 10^{-6}$: what is the *standard deviation* of the noise on each coordinate?

# %%
answer = None
check("3.1", answer)

# %% [markdown]
# <details><summary>Solution of 3.1</summary>
#
# ```python
# answer = 2.5 * recipe(0.5, delta=1e-6)
# check("3.1", answer)
# ```
#
# The recipe gives the noise in units of the sensitivity, and the sensitivity of the sum is $C$, so the standard deviation is 26.49. The number of records plays no part. It would if we published the mean.
#
# </details>

# %% [markdown]
# ## 11 At home: one table, three more exercises
#
# ### A count, a sum, a mean, a histogram
#
# The daily bread of a clinic: 400 patients and their ages (invented here). How many are there, how old are they on average, how many are in each age group? Each answer shall be $(1, 10^{-5})$-DP when a patient is added or removed.
#
# A count moves by 1. A sum of ages moves by an age, so it needs a bound, here 100 years, that is *chosen* before anybody looks. In a histogram a patient is in one cell only. So its vector moves by 1, however many cells there are: this is called **parallel composition** (并行组合). (All three answers together cost more than one: lesson 04.)

# %%
ages = np.random.default_rng(4).gamma(6, 8, size=400).round()
cells = np.histogram(ages, bins=[0, 20, 40, 60, 80, np.inf])[0]
questions = {"count": ([400], 1), "sum": ([np.minimum(ages, 100).sum()], 100), "ages": (cells, 1)}
for name, (truth, length) in questions.items():
    published = Gaussian(smallest).release(np.array(truth), sensitivity=length, rng=rng)
    print(f"{name:6} true {np.array(truth)}, published {published.round()}", end="")
    print(f", give or take {2 * smallest * length:.0f}")

# %% [markdown]
# (Two standard deviations of the noise. They are public, so an error bar costs nothing.)
#
# A mean is a noisy sum divided by a noisy count. Measured in units of its bound, each of the two moves by at most 1, so both together are a vector of length at most $\sqrt2$. A smaller bound lets in less noise, and cuts off more ages:

# %%
print("bound   mean of the cut ages   published   noise on it")
for bound in (40, 60, 80, 100):
    pair = np.array([len(ages), np.minimum(ages, bound).sum() / bound])
    count, total = Gaussian(smallest).release(pair, sensitivity=np.sqrt(2), rng=rng)
    mean = np.minimum(ages, bound).mean()
    wide = np.sqrt(2) * smallest * np.hypot(bound, mean) / len(ages)
    print(f"{bound:5} {mean:18.1f} {bound * total / count:15.1f} {wide:12.2f}")
print(f"true mean {ages.mean():.1f}")

# %% [markdown]
# At 40 the bound itself is the larger error, at 100 the noise is. No rule finds the best bound without looking at the ages, and looking is a release.
#
# ### Three more exercises
#
# (In the book: [the analytic noise](explorer:formula_book?id=G-B5b), [both adjacencies](explorer:formula_book?id=G-F7&misprint=doubles), [where the classical recipe ends](explorer:formula_book?id=G-F9&misprint=one-number), [sensitivity of a sum](explorer:formula_book?id=G-B18&misprint=difference) and of [a sum of vectors](explorer:formula_book?id=G-B18b&misprint=coordinatewise), [Laplace noise on a vector](explorer:formula_book?id=G-B2&misprint=euclidean), [its tail](explorer:formula_book?id=G-B14&misprint=one-side) and [variance](explorer:formula_book?id=G-B14b&misprint=square).)
#
# **★★ 3.2** Back to the clinic: 20 counts, and nobody has more than 6 diagnoses. Neighbours add or remove one patient. What is the smallest standard deviation of the noise on each count that gives $(1, 10^{-5})$?

# %%
answer = None
check("3.2", answer)

# %% [markdown]
# <details><summary>Solution of 3.2</summary>
#
# ```python
# answer = np.sqrt(6) * Gaussian.analytic(epsilon=1, delta=1e-5).noise_multiplier
# check("3.2", answer)
# ```
#
# A patient moves at most six of the counts, each by one: a vector of length $\sqrt6$. Times the exact multiplier 3.731 this is 9.138. With the $\ell_1$ norm you would pay for 6 instead of $\sqrt6$.
#
# </details>

# %% [markdown]
# **★★★ 3.3** At $\delta = 10^{-5}$ the recipe holds up to $\varepsilon = 8.42$. Up to which $\varepsilon$ does it hold at $\delta = 10^{-6}$?

# %%
answer = None
check("3.3", answer)

# %% [markdown]
# <details><summary>Solution of 3.3</summary>
#
# ```python
# answer = brentq(lambda epsilon: broken_by(epsilon, delta=1e-6), 1, 15)
# check("3.3", answer)
# ```
#
# At the crossing the delivered $\delta$ equals the promised one, so we look for a root of their log ratio: 8.782. A smaller $\delta$ moves the crossing only a little, because the recipe's safety margin sits in a logarithm.
#
# </details>

# %% [markdown]
# **★★★ 3.4** Write the calibration that makes every recipe unnecessary: the smallest standard deviation of the noise that gives $(\varepsilon,\delta)$ to an answer of this sensitivity. It needs nothing but `math`: $\Phi(x)$ of section 5 is `math.erfc(-x / math.sqrt(2)) / 2`, and halving an interval finds where $\delta$ is reached.


# %%
def least_noise(epsilon, delta, sensitivity):
    # Write your code here.
    return None


check("3.4", least_noise)

# %% [markdown]
# <details><summary>Solution of 3.4</summary>
#
# ```python
# import math
#
#
# def least_noise(epsilon, delta, sensitivity):
#     def phi(x):
#         return math.erfc(-x / math.sqrt(2)) / 2
#
#     low, high = 0.01, 1000
#     for _ in range(100):
#         sigma = (low + high) / 2
#         a, b = 1 / (2 * sigma), epsilon * sigma
#         if phi(a - b) - math.exp(epsilon) * phi(-a - b) > delta:
#             low = sigma
#         else:
#             high = sigma
#     return sensitivity * high
#
#
# check("3.4", least_noise)
# ```
#
# More noise, smaller $\delta$: the two meet once. (In this notebook, `brentq(lambda sigma: formula(epsilon, sigma) - delta, 0.01, 1000)` finds the same place.) Everything is measured in units of the sensitivity, so it multiplies at the end.
#
# </details>

# %% [markdown]
# ## 12 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** Why does Gaussian noise never give pure differential privacy?
#
# <details><summary>a. Because δ is never exactly 0 in a computer.</summary>
#
# No. The reason is in the mathematics: the loss grows with the output, without end.
#
# </details>
#
# <details><summary>b. Because its loss has no largest value.</summary>
#
# Right. The loss $(2x-1)/(2\sigma^2)$ grows without bound in $x$. Whatever $\varepsilon$ you name, outputs far enough out exceed it; they are rare, never impossible.
#
# </details>
#
# <details><summary>c. It does, if σ is large enough.</summary>
#
# No. A larger σ makes large losses rarer; it never makes them impossible.
#
# </details>
#
# **2** You publish 1 000 numbers instead of 10. Must the noise on each grow?
#
# <details><summary>a. Yes, a hundred times.</summary>
#
# No. Numbers that a person does not touch need no noise because of her.
#
# </details>
#
# <details><summary>b. Yes, ten times: like the root of the number.</summary>
#
# No. That is so if one person may change every one of the numbers.
#
# </details>
#
# <details><summary>c. Only if one person can move the vector further.</summary>
#
# Right. Only if one person can move the vector further. What counts is the length of a person's contribution, not the number of coordinates.
#
# </details>
#
# **3** A paper uses the textbook recipe at ε = 0.5. Is its privacy claim false?
#
# <details><summary>a. No: there the recipe is enough, and more than needed.</summary>
#
# Right. In that range the recipe is sufficient. The authors added more noise than they had to, and lost accuracy.
#
# </details>
#
# <details><summary>b. Yes: the recipe is a mistake.</summary>
#
# No. It is a theorem with a condition, and ε = 0.5 meets it.
#
# </details>
#
# <details><summary>c. Nobody can tell without the data.</summary>
#
# No. The guarantee depends on the noise and the sensitivity only.
#
# </details>
#
# **4** A paper uses it at ε = 10 and reports δ = 10⁻⁵. And now?
#
# <details><summary>a. It holds, because the recipe adds too much noise.</summary>
#
# No. It adds too much at small ε, and too little at large ε.
#
# </details>
#
# <details><summary>b. It is false, and the noise protects nobody.</summary>
#
# No. The noise still gives some pair (ε, δ), a weaker one.
#
# </details>
#
# <details><summary>c. It is false: the true δ is more than twice as large.</summary>
#
# Right. Now the claim is false: the delivered $\delta$ is about $2.3\times10^{-5}$. The noise is still worth something. Report the exact pair instead.
#
# </details>
#
# **5** Someone measures the largest difference between all pairs of rows in her table and calls it the sensitivity. What is wrong?
#
# <details><summary>a. She should have taken the mean difference.</summary>
#
# No. A mean protects the average person, and nobody asked for that.
#
# </details>
#
# <details><summary>b. Sensitivity is a maximum over all possible neighbours, not over the rows at hand.</summary>
#
# Right. Sensitivity is a property of the query over all possible neighbours. A bound read off the data says nothing about the next person, and it leaks: it depends on the data itself.
#
# </details>
#
# <details><summary>c. Nothing, if the table is large.</summary>
#
# No. The next person may differ from all who are there.
#
# </details>

# %%
answers = ""  # five letters, such as "abcab"
check("3.test", answers)

# %% [markdown]
# ## 13 On one card
#
# | | |
# |---|---|
# | **Publish** | $f(d) + N(0, \sigma^2\Delta^2 I)$, with $\Delta$ the largest $\ell_2$ length one neighbour can add |
# | **Exact guarantee** | $\delta(\varepsilon)=\Phi(\frac1{2\sigma}-\varepsilon\sigma)-e^\varepsilon\Phi(-\frac1{2\sigma}-\varepsilon\sigma)$ |
# | **Choose the noise** | `Gaussian.analytic(epsilon=..., delta=...)` |
# | **The recipe** | sufficient for $\varepsilon<1$; wasteful there; false beyond 8.42 at $\delta=10^{-5}$ |
# | **Clip** | the length of the whole vector, never coordinate by coordinate |
# | **Always say** | adjacency, $\Delta$, $\varepsilon$ *and* $\delta$ |
#
# ## 14 Further reading
#
# * Balle & Wang (2018), *Improving the Gaussian mechanism for differential privacy*: the exact condition, and an algorithm to invert it.
# * Dwork & Roth (2014), *The algorithmic foundations of differential privacy*, appendix A: where the recipe is proved, with its condition.
# * Zhao et al. (2019), *Reviewing and improving the Gaussian mechanism*: how many papers used the recipe outside its range.
# * Mironov (2012), *On significance of the least significant bits for differential privacy*: why floating point matters.
#
# **Next** [lesson 04](04_composition.ipynb): the same people are asked again and again.
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert at_ten.refuted and np.isclose(formula(1, 1.0), area(1, 1.0))
assert formula(1, 1.0) in estimate_delta(1, with_anna - 0.5) and corner in simulated
assert np.isclose(Laplace(7.0).pure_epsilon("add_remove"), 1 / 7)
assert smallest * np.sqrt(6) > np.sqrt(2) * 6 and smallest * np.sqrt(7) < laplace_noise(7)
assert 1.40 < laplace_noise(1000) / (smallest * np.sqrt(1000)) < np.sqrt(2)
assert np.isclose(smallest, 3.730632, atol=1e-6) and np.isclose(crossing, 8.41977, atol=1e-5)
assert np.isclose(formula(2, 1.5), float(profile(1.5).delta(2)))
print("all checks passed")
