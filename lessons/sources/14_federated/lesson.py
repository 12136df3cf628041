# %% [markdown]
# # 14 Federated learning
#
# *The server sees only the sum: what is left to protect?*
#
# Ten pupils of Anna's school have collected the digits of all 1,438 on their phones, and want to train one model. Nobody uploads an image. A server sends the model to all phones; each phone computes how *its* digits would change the model, and sends back that change, its **update** (更新). The server adds up and starts over. This is **federated learning** (联邦学习), and it is sold with a sentence: *the data never leave the phone*.
#
# <details><summary>Goals, minutes, needs and notation</summary>
#
# **After this lesson you can**
#
# 1. turn one gradient back into the digit it came from, and hide it under masks that cancel;
# 2. say what a sum still tells, where noise can stand, and what each place costs;
# 3. state $\varepsilon$ for a *user*, and refute four sentences that are printed about all this.
#
# * **Time** NN minutes in class, and as much again at home if you do all of it; the computer needs half a minute.
# * **You need** lesson 03 (Gaussian mechanism), lesson 07 (sampling) and lesson 10 (clipping).
# * **Words** key terms come with their Chinese name at first use; all are in the [glossary](README.md#glossary-english中文).
#
# | in code | symbol | meaning | unit |
# |---|---|---|---|
# | `noise_multiplier` | $z$ | standard deviation of the noise on the sum / $C$ | none |
# | `max_update_norm` | $C$ | length to which a user's whole update is clipped | of the update |
# | `clients` | $n$ | phones whose noise is in the sum, at least | phones |
# | `epsilon` | $\varepsilon$ | guarantee for one user, with all that the user has | nats |
#
# </details>

# %% [markdown] tags=["instructor"]
# > **For the teacher.** One sentence to leave with: masks decide *who* sees, noise decides *what can be seen*; a sum without noise is as private as a difference of two sums.
#
# | minutes | part | do |
# |---|---|---|
# | 4 | 0 The first screen | "the data never leave the phone": who feels safe? |
# | 3 | 1 Warm-up | hands up for each letter |
# | 4 | 2 A vote | vote, two minutes in pairs, vote again; section 6 decides it |
# | 2 | 3 One division | let a student say which division to make |
# | 3 | 4 Masks | five pupils at the blackboard, ten slips of paper |
# | 6 | 5 An exercise | alone, then compare with a neighbour |
# | 3 | 6 Two sums | subtract the two sums aloud |
# | 4 | 7 Noise | whom do you trust? |
# | 5 | 8 A mean by weight | everybody types a guess |
# | 2 | 9 Move the slider | records or users: ask whose promise it is |
# | 1 | 10 Where this breaks | the second bullet aloud |
# | – | 11 to 14 | homework |

# %% tags=["hide-input"]
import numpy as np

from dplearn import DPSGD, Gaussian, smallest_noise_multiplier
from dplearn.datasets import school
from dplearn.federated import FederatedPlan, user_level
from dplearn.federated.noise import DistributedNoise
from dplearn.teaching.classroom import check, mine, predict, reveal, show
from dplearn.teaching.figures import Curve, curves, flow, images, slider

pupils, rng = school(), np.random.default_rng(15)
everyone, sizes = np.arange(len(pupils.digit)), np.array([719] + 8 * [80] + [79])
order = [pupils.anna, *rng.permutation(everyone[everyone != pupils.anna])]
first = [order[i] for i in np.cumsum([0, *sizes[:-1]])]  # a digit of each phone


def update(image, label):
    """What one digit changes in a model that knows nothing yet, shape (10, 65)."""
    return np.outer(np.full(10, 0.1) - np.eye(10)[label], np.append(image.ravel(), 1.0))


hers = update(pupils.images[first[0]], pupils.digit[first[0]])
grey = 0.5 + 0.5 * (hers[0, :64] / np.abs(hers[0]).max()).reshape(8, 8)
drawn = images(
    {"on Anna's\nphone": pupils.images[first[0]], "one row of\nher update": grey},
    title="Kept, and sent",
)
show(drawn, f"8 x 8 pixels each, one of {len(pupils.digit)} digits. Grey is 0, darker is more.")

# %% [markdown]
# On the left is Anna's five. On the right is one row of her phone's update for it, ten of which go to the server. It does not know her image. How many of its 64 pixels can it compute exactly?

# %%
predict("pixels the server knows", None)

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Usual guesses are 0 and "some". Do not comment.

# %% [markdown]
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# Three questions from earlier lessons.
#
# **1** 03.2
#
# **2** 10.1
#
# **3** 11.2

# %%
answers = ""  # three letters, such as "bca"
check("14.warmup", answers)

# %% [markdown]
# ## 2 A vote
#
# The phones learn to hide their updates: with a clever protocol the server reads nothing but their exact sum. It sends the same model out twice. In the first round all ten phones are there, in the second Anna's is switched off. Is she protected?
#
# <details><summary>a. Yes: no single update can be read.</summary>
#
# No. Whoever has two sums need not read one.
#
# </details>
#
# <details><summary>b. Yes, if there are many phones.</summary>
#
# No. A thousand others cancel as well as nine do.
#
# </details>
#
# <details><summary>c. A little: ε is finite, but large.</summary>
#
# No. The sum is exact: some sums are impossible without her, so no ε is finite.
#
# </details>
#
# <details><summary>d. No: the server can compute her update.</summary>
#
# Right. It subtracts, in section 6.
#
# </details>

# %%
vote = ""  # one letter
check("14.vote", vote)

# %% [markdown]
# *To here NN minutes.*
#
# ## 3 One division
#
# A linear model that knows nothing yet gives each digit the chance 0.1. Its gradient for one image $x$ (64 pixels) has a row for each class: (predicted chance − truth) times the pixels, and a last entry for the bias, where the "pixel" is 1. Divide a row by its last entry: the factor cancels, and the pixels are left.

# %%
back = hers[0, :64] / hers[0, 64]
exact = np.isclose(back, pupils.images[first[0]].ravel(), rtol=0, atol=1e-12).sum()
reveal("pixels the server knows", truth=exact)
print("her label:", np.argmin(hers[:, 64]), "of", pupils.digit[first[0]])

# %% [markdown]
# This is **gradient inversion** (梯度反演) in one line. (A deep network gives a harder puzzle, though a dense first layer is such a product, too.) The update *is* the digit. The server must not see it.
#
# ## 4 Masks
#
# Can a server add up numbers that it cannot read? Five pupils can. Their pocket money is 12, 7, 0, 25 and 9. Every two of them agree in secret on a number below 100, a **mask** (掩码). The first of the two adds it to her number, the second subtracts it from his, modulo 100.

# %%
money = np.array([12, 7, 0, 25, 9])
masks = np.triu(rng.integers(100, size=(5, 5)), 1)  # entry i, j: agreed by pupils i < j
board = (money + masks.sum(axis=1) - masks.sum(axis=0)) % 100
print("on the board:", board, " sum:", board.sum() % 100, " true sum:", money.sum())

# %% [markdown]
# The ten masks cancel, and the sum is right.

# %% tags=["hide-input"]
names = ("Anna", "Ben", "Chen", "Dana", "Emil")
boxes = [f"{name} has {m}\nwrites {b}" for name, m, b in zip(names, money, board, strict=True)]
board_box, sum_box = "the board adds\nmodulo 100", f"the sum\n{money.sum()}"
drawn = flow(
    [boxes, [board_box], [sum_box]],
    [*((box, board_box) for box in boxes), (board_box, sum_box)],
    title="Ten masks, and none in the sum",
    strong={boxes[0], board_box},
)
words = ", ".join(map(str, board))
show(drawn, f"Five pupils write {words} on the board; modulo 100 these add up to {money.sum()}.")

# %% [markdown]
# Anna's number on the board tells nothing: with fresh masks every number from 0 to 99 is equally likely, whatever she has.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Do the five pupils for real: ten slips of paper, each torn in two. Then send one pupil out of the room *before* she wrote, and ask what is wrong with the sum. Section 11 takes her masks off.

# %% [markdown]
# *To here NN minutes.*
#
# ## 5 An exercise
#
# A wrong answer gets a hint; the same wrong answer again gets a plainer one.
#
# **★★ 14.3** *(In class, 5 minutes.)* Write what phone number `own` sends: its `vector` under all masks, modulo `modulus`. Row $j$ of `masks` is what it has agreed on with phone $j$; its own row is rubbish. Of two phones the one with the smaller number adds their mask, and the other subtracts it. Return an array of numbers from 0 to `modulus` − 1.


# %%
def sent(vector, own, masks, modulus):
    # Write your code here.
    return None


check("14.3", sent)

# %% [markdown]
# <details><summary>Solution of 14.3</summary>
#
# ```python
# def sent(vector, own, masks, modulus):
#     total = np.array(vector)
#     for other, mask in enumerate(masks):
#         if other != own:
#             total = total + np.array(mask) * (1 if own < other else -1)
#     return total % modulus
#
#
# check("14.3", sent)
# ```
#
# Over all phones each mask comes once with each sign, so the sum of what is sent is the sum of the vectors. `check("14.3", sent, keep=True)` keeps your function.
#
# </details>

# %% [markdown]
# *To here NN minutes.*
#
# ## 6 Two sums
#
# Phones do the same with numbers modulo $2^{32}$. Each update becomes whole numbers, one unit is $2^{-16}$. The masks come from your function or ours:

# %%
write = mine("sent")
updates = [update(pupils.images[i], pupils.digit[i]).ravel() for i in first]
vectors = [np.rint(2**16 * each).astype(int) for each in updates]


def open_sum(vectors):
    """The sum that a server reads of vectors that are sent under fresh masks."""
    size = (len(vectors), len(vectors), 650)
    masks = np.triu(rng.integers(2**32, size=size).T, 1).T
    masks = masks + masks.swapaxes(0, 1)  # entry i, j: agreed by phones i and j
    phones = enumerate(zip(vectors, masks, strict=True))
    return sum(write(vector, own, mask, 2**32) for own, (vector, mask) in phones) % 2**32


with_anna, without = open_sum(vectors), open_sum(vectors[1:])
print(f"entry 64 of both sums: {with_anna[64]:,} and {without[64]:,}")

# %% [markdown]
# > **Theorem (secure aggregation, 安全聚合).** Every two phones agree on masks, and at least two phones are honest. A server that follows the protocol, even with the help of all others, learns of the honest phones' vectors only what their *sum* tells.
# >
# > Bonawitz et al. (2017), also for phones that leave and servers that lie; Bell et al. (2020), with few neighbours for each phone.
#
# Read the end again: *only what the sum tells*. The server has two sums.

# %%
difference = (with_anna - without) % 2**32
signed = np.where(difference < 2**31, difference, difference - 2**32)
print("her update, to the last bit:", np.array_equal(signed, vectors[0]))
errors = np.abs(signed[:64] / signed[64] - back)
print(f"largest error of a pixel: {errors.max():.0e}")

# %% [markdown]
# Her digit is back, up to the rounding of $2^{-16}$, and the vote is decided. Nothing was broken: masks hide *terms*, not *differences of sums*. A promise about the sum needs **noise**.
#
# *To here NN minutes.*
#
# ## 7 Noise
#
# > **Theorem (a noisy sum).** Every user's update is clipped to the norm $C$. If those who stay are at least $n$, and each of them adds $N(0,z^2C^2/n)$, the sum is the Gaussian mechanism of noise multiplier $z$, *for each user*.
#
# *Why.* Independent normal noises add up to $N(0,z^2C^2)$ or more, and a user moves the sum by at most $C$.
#
# Whom you trust decides where noise stands. A hundred phones, $z=1$, $C=1$; the noise on each coordinate of the sum:

# %%
size = {"max_update_norm": 1.0, "scale": 2.0**8, "dimension": 650}
shares = DistributedNoise(clients=100, noise_multiplier=1.0, **size)
for place, deviation in shares.deviations().items():
    print(f"{place:12} {deviation:7.4f}")

# %% [markdown]
# **Central**: the server sees the sum, and is trusted to add noise. **Local** (本地): each phone trusts nobody, and adds all the noise itself. **Distributed** (分布式噪声): each adds a share, and masks hide every single share. Before you move the slider ($\varepsilon$): do the lines meet?

# %% tags=["hide-input"]
many = [10, 30, 100, 300, 1000]


def places(epsilon):
    z = smallest_noise_multiplier(Gaussian(1.0), epsilon=epsilon, delta=1e-5).value
    noises = [DistributedNoise(clients=n, noise_multiplier=z, **size).deviations() for n in many]
    local, shares, central = (
        Curve(
            x=many,
            y=[noise[place] / n for noise, n in zip(noises, many, strict=True)],
            label=place,
            role=role,
            label_at=0.5,
            side=side,
        )
        for place, role, side in (
            ("local", "wrong", "top right"),
            ("distributed", "second", "top right"),
            ("central", "exact", "bottom left"),
        )
    )
    title = f"ε = {epsilon:g}: the mean of 100 has noise {shares.y[2]:.3g} C, or {local.y[2]:.3g} C"
    axes = {"x": "phones", "y": "noise on the mean, in C", "log_x": True, "log_y": True}
    return curves([local, shares, central], title=title, y_range=(3e-4, 3), **axes)


frames = {f"{epsilon:g}": places(epsilon) for epsilon in (0.5, 1, 2, 4, 8)}
words = "; ".join(f.layout.title.text for f in frames.values())
show(slider(frames, name="ε", start=1), f"All frames. {words}.")

# %% [markdown]
# Never. Shares cost hardly more than trust; local noise is $\sqrt n$ times as large.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask: what is a share of the noise worth without masks? Each phone's own update would carry a tenth of $C$: $z=0.1$. Both are needed.

# %% [markdown]
# *To here NN minutes.*
#
# ## 8 A mean by weight
#
# Noise is added that makes $\varepsilon=4.38$ for one round ($\delta=10^{-5}$). That is, on paper: *noise $zC/K$ on the mean of $K$ phones*. Now the updates are averaged in proportion to how many digits each phone has, and the divisor is the weight of those who are present, as federated averaging is usually written. Anna was diligent: half of all digits lie on her phone. Which $\varepsilon$ does she really get?

# %%
predict("epsilon of a mean by weight", None)

# %% [markdown]
# A mean with a public divisor moves by $wC$ when she leaves, where $w$ is her share, a half in place of a tenth. If the divisor leaves with her, the rest is the mean of the others: it moves by $w$ times her distance from them, up to $2C$.

# %%
once = {"users": 10, "sample_rate": 1.0, "rounds": 1, "sampling": "none"}
paper = FederatedPlan(noise_multiplier=1.0, max_update_norm=1.0, **once)
plans = {"on paper": paper}
for divisor in ("public", "present"):
    plans[divisor] = paper.weighted(sizes, divisor=divisor)
for divisor, plan in plans.items():
    print(f"{divisor:8} z = {plan.noise_multiplier:.2f}:", plan.guarantee(delta=1e-5))

# %% [markdown]
# With a public divisor $\varepsilon$ is seven and a half times what stands on paper, with the divisor of those present 21 times. Compare the last one with your guess:

# %%
epsilons = [plan.guarantee(delta=1e-5).epsilon for plan in plans.values()]
told = {"on paper": epsilons[0], "divisor public": epsilons[1]}
reveal("epsilon of a mean by weight", truth=epsilons[2], others=told)

# %% [markdown]
# Clipping to $C$ bounds the update, not what becomes of it. Give equal weights and a public divisor, or bound the weight and let noise follow.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Most think that weights change the accuracy and not the privacy. Even equal weights deliver only half of $z$ if the divisor is the number of those present.

# %% [markdown]
# *To here NN minutes.*
#
# ## 9 Move the slider
#
# *User or record?* (**User-level**, 用户级, against **record-level**, 记录级.) Lesson 10 promised something to a *record*. A phone has many. Both curves are what a *user* is promised, with 3,000 phones, one in twenty in a round, 150 rounds: dashed where records are clipped and sampled, solid where each user's whole update is. The slider is the noise. Before you move it: at how many records does the promise for records become worthless?

# %% tags=["hide-input"]
counts = np.array([1, 2, 5, 20, 50])


def frame(z):
    run = DPSGD(noise_multiplier=z, sample_rate=0.05, steps=150)
    each = [user_level(run, records=int(k), delta=1.5e-4).epsilon for k in counts]
    flat = np.full(counts.size, each[0])
    lines = [
        Curve(x=counts, y=flat, label="users clipped", label_at=0.5, side="bottom right"),
        Curve(
            x=counts, y=each, label="records clipped", role="wrong", label_at=0.5, side="top left"
        ),
    ]
    title = f"Noise {z:g}: a user with 20 records has ε = {each[3]:.3g}, or {flat[0]:.3g}"
    axes = {"x": "records of a user", "y": "ε of a user", "log_x": True, "log_y": True}
    return curves(lines, title=title, y_range=(0.1, 1e4), **axes)


frames = {f"{z:g}": frame(z) for z in (1, 1.5, 2.11, 3, 5)}
words = "; ".join(f.layout.title.text for f in frames.values())
show(slider(frames, name="z", start=2), f"All frames. {words}.")

# %% [markdown]
# The curves meet at one record. At twenty the same run, honestly told, has an $\varepsilon$ of 43.6. Clipping whole users costs no noise, but it costs signal: a user with much data has no more say than one with little.
#
# ## 10 Where this breaks
#
# * **A server that invents phones.** It could invent nine and add Anna to them: it knows all their vectors. Signed public keys help.
# * **Friends of the server.** Phones that reveal their own noise take it away from the sum. Count only those you trust.
# * **Who takes part is known to the server.** Sampling (lesson 07) amplifies against those who read the model, not against the server.
# * **Nobody checks an update.** Clipping happens on the phone, and masks hide who cheats.
#
# *To here NN minutes: the class ends here.*

# %% [markdown]
# ## 11 At home
#
# ### Phones that leave
#
# How can two phones agree on a mask, if all their letters go through the server? Each draws a secret number $s$ and publishes $g^s$ modulo a prime. Phones 1 and 2 can both compute $g^{s_1s_2}$: each raises what the other has published to its own secret. The server has $g^{s_1}$ and $g^{s_2}$, from which nobody knows how to compute it (Diffie & Hellman 1976). From that number a mask of any length grows:

# %%
import hashlib
import secrets

PRIME, GENERATOR = 2**521 - 1, 3  # for a class; real phones use elliptic curves


class Phone:
    """A phone of one round; all that it says goes through the server."""

    def __init__(self, number, vector):
        self.number, self.vector = number, vector
        self.secret = secrets.randbelow(PRIME)
        self.published = pow(GENERATOR, self.secret, PRIME)

    def mask(self, other, published):
        """Return what this phone adds to its vector because of another phone."""
        common = pow(published[other], self.secret, PRIME).to_bytes(66)
        words = hashlib.shake_256(common).digest(4 * len(self.vector))
        grown = np.frombuffer(words, np.uint32)
        return grown if self.number < other else -grown  # modulo 2**32

    def masks(self, others, published):
        """Return the sum of the masks with several other phones."""
        return sum(self.mask(other, published) for other in others)


# %% [markdown]
# Here are ten phones and what they send. All masks cancel:

# %%
vectors = [vector.astype(np.uint32) for vector in vectors]
phones = [Phone(number, vector) for number, vector in enumerate(vectors)]
published = [phone.published for phone in phones]
everybody = set(range(10))
sent_by = [p.vector + p.masks(everybody - {p.number}, published) for p in phones]
all_ten = sum(sent_by)
print("the same sum as in section 6:", np.array_equal(all_ten, with_anna))

# %% [markdown]
# Now Anna's phone, number 0, **drops out** (掉线) after the keys, before it has sent anything. Nine masks are left over in the sum of the others. So the server says who has left, and each phone that stayed tells it the mask that it had with her:

# %%
opened = [phone.mask(0, published) for phone in phones[1:]]
nine = sum(sent_by[1:]) - sum(opened)
print("the sum without her, as in section 6:", np.array_equal(nine, without))

# %% [markdown]
# ### "Each of the $m$ invited adds $\sigma^2/m$"
#
# Each of ten phones adds a tenth of the noise variance. Three leave, and take their noise along: what is left has the variance 0.7. As printed: with all ten.

# %%
from scipy.integrate import quad
from scipy.stats import norm

from dplearn.teaching.classroom import Evidence, estimate_delta

predict("epsilon when three leave", None)

# %% [markdown]
# The same $\varepsilon$ as on paper needs another $\delta$:


# %%
def delta_at(epsilon, sigma):
    """Delta of the Gaussian mechanism; lesson 03."""
    return norm.cdf(0.5 / sigma - epsilon * sigma) - np.exp(epsilon) * norm.cdf(
        -0.5 / sigma - epsilon * sigma
    )


noise = rng.normal(scale=np.sqrt(0.1), size=(7, 400_000)).sum(axis=0)  # of seven phones
with_her, alone = norm(1, np.sqrt(0.7)), norm(0, np.sqrt(0.7))
excess = lambda x: max(with_her.pdf(x) - np.exp(epsilons[0]) * alone.pdf(x), 0)
start = 0.5 + 0.7 * epsilons[0]  # where the loss is epsilon
gone = Evidence(
    f"delta at epsilon {epsilons[0]:.3f}, three of ten phones gone",
    closed=delta_at(epsilons[0], np.sqrt(0.7)),
    exact=quad(excess, start, start + 8, epsabs=0)[0],
    simulated=estimate_delta(epsilons[0], (noise + 0.5) / 0.7),
    printed=delta_at(epsilons[0], 1.0),
)
print(gone)

# %% [markdown]
# It is twenty-seven times the $\delta$; or, at the same $\delta$, this $\varepsilon$:

# %%
left = DPSGD(noise_multiplier=np.sqrt(0.7), sample_rate=1.0, steps=1, sampling="none")
told = {"on paper": epsilons[0]}
reveal("epsilon when three leave", truth=left.guarantee(delta=1e-5).epsilon, others=told)

# %% [markdown]
# The cure stands in the theorem: let shares be those of the *fewest* who may stay, and abort below.
#
# ### A server that lies about who has left
#
# "Masks hide her vector, and those that are told are of a phone that sent nothing." That is so if she has sent nothing. Suppose that her vector has come, and the server says that she has left. Nobody can see the lie, and all nine tell it their masks with her:

# %%
stolen = sent_by[0] + sum(opened)  # what others add because of her, she subtracts
print("Anna's update alone, to the last bit:", np.array_equal(stolen, vectors[0]))

# %% [markdown]
# All ten took part, and the "sum" has one term. Bonawitz et al. (2017) let each phone add a second mask of its own, deal out the keys of both kinds in *shares* (**secret sharing**, 秘密共享), of which others give only one kind for each phone, and compare signed lists of who has stayed before they do (**consistency check**, 一致性检查). Bell et al. (2020) give each phone few neighbours to share masks with, so that thousands can take part.

# %% [markdown]
# ### A program of 2021
#
# Tutorials of that year joined two libraries, for federated learning and for DP-SGD, in some thirty lines. Shortened:
#
# ```python
# for clinic in clinics:                                          # 100, 300 and 1,200 patients
#     loader = DataLoader(clinic.data, batch_size=20, shuffle=True)   # (1)
#     engine = PrivacyEngine(model, loader, noise_multiplier=1.1)     # (2) counts records
# epsilon = mean(engine.epsilon for engine in engines)                # (3)
# total = secure_sum(models)                      # (4) "homomorphically encrypted, so private"
# ```
#
# Each line has a number. Two hundred steps, $\delta=10^{-5}$; (1) and (2) for the second clinic:

# %%
sampled, shuffled = (
    DPSGD(noise_multiplier=1.1, sample_rate=20 / 300, steps=200, sampling=scheme)
    for scheme in ("poisson", "shuffled")
)
print("(1) told:  ", coins := sampled.guarantee(delta=1e-5))
print("    proved:", order := shuffled.guarantee(delta=1e-5))
print("(2) a patient with 10 images:", ten := user_level(sampled, records=10, delta=1e-5))
runs = [DPSGD(noise_multiplier=1.1, sample_rate=20 / n, steps=200) for n in (100, 300, 1200)]
each = [run.guarantee(delta=1e-5).epsilon for run in runs]
print(f"(3) mean {np.mean(each):.2f}, of", ", ".join(f"{e:.2f}" for e in each))

# %% [markdown]
# 1. *Shuffled batches are no coins* (lesson 07): told is 5.4, for a record that is there or not; lost is at least 13.4, even if it is only zeroed in its place, the neighbours for which shuffling has a theorem.
# 2. *Records are not patients*, as above.
# 3. *A mean protects nobody.* The patients of the first clinic have 18.3, whatever the others have. The largest is a guarantee.
# 4. *Three things with similar names.* **Secure multi-party computation** (安全多方计算, MPC) lets parties compute a sum that nobody's input can be read from. **Homomorphic encryption** (同态加密, HE) is one tool for it, in which a server computes on what it cannot decrypt; masks are another. Neither adds noise. What comes out is the exact sum, as in section 6.
#
# ### Three thousand phones
#
# Does it still learn? Twelve thousand drawn digits are dealt to 3,000 users, four each and mostly of one or two classes. Ten gradient steps on each phone, their sum clipped; 150 rounds.

# %%
import torch
from torch import nn

from dplearn.datasets import oriented_gradients, synthetic_digits
from dplearn.federated.simulation import simulate

drawn_digits, labels = synthetic_digits(count=12_000, seed=14)
unseen, truth = synthetic_digits(count=2000, seed=2)
decks = np.array_split(np.argsort(labels, kind="stable"), 6000)
users = np.empty(12_000, int)
for deck, place in zip(decks, rng.permutation(6000), strict=True):
    users[deck] = place // 2

# %% [markdown]
# The guarantee is for users, each with all four digits, whatever happens on the phone.

# %%
model = nn.Linear(128, 10, bias=False)
nn.init.zeros_(model.weight)
plan = FederatedPlan(
    users=3000,
    sample_rate=0.05,
    rounds=150,
    noise_multiplier=2.11,
    max_update_norm=0.3,
    sampling="poisson",
)
run = {
    "loss_fn": nn.CrossEntropyLoss(reduction="none"),
    "records": (oriented_gradients(drawn_digits), labels, users),
    "optimizer": torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9),
    "local_steps": 10,
    "local_learning_rate": 1.0,
    "delta": 1.5e-4,
    "progress": False,
}
history = simulate(model, plan=plan, generator=torch.Generator().manual_seed(14), **run)
found = model(torch.from_numpy(oriented_gradients(unseen))).argmax(dim=1).numpy()
print(f"{np.mean(found == truth):.0%} of unseen digits,", history.guarantee(delta=1.5e-4))

# %% [markdown]
# ### Phones that come when they are charged
#
# No coin draws them, and the $\varepsilon$ above is not theirs. What a server can see to is that a phone comes at most four times, say, and 37 rounds apart. And noise need not be fresh: if each round takes back a part of the noise before, the *sum* of all rounds so far, which is the model, has less of it (DP-FTRL, matrix factorisation). A matrix, the strategy, says how much. First two that have one guarantee, then none of this:

# %%
from dplearn.federated import CorrelatedPlan

taken = np.cumprod([1, *(1 - 0.5 / np.arange(1, 37))])
roots = sum(part * np.eye(150, k=-j) for j, part in enumerate(taken))
phones = {"users": 3000, "sample_rate": 0.05, "rounds": 150, "max_update_norm": 0.3}
schema = {"participations": 4, "min_separation": 37}
for name, strategy in {"fresh": np.eye(150), "taken back": roots}.items():
    z = 6 * np.linalg.norm(strategy, axis=0).max()
    rounds = CorrelatedPlan(**phones, **schema, strategy=strategy, noise_multiplier=z)
    left_over = np.tril(np.ones((150, 150))) @ np.linalg.inv(strategy)
    noise = z * np.linalg.norm(left_over, axis=1).mean()
    print(f"{name:11} noise on the model {noise:5.1f} C,", rounds.guarantee(delta=1.5e-4))
free = FederatedPlan(**phones, noise_multiplier=6.0, sampling="none")
print("as often as they like:", free.guarantee(delta=1.5e-4))

# %% [markdown]
# ### Small noises do not add up to a Gaussian
#
# "A hundred phones with a discrete Gaussian of $\sigma=\frac12$ make one with $\sigma=5$." From $\sigma=1$ on that is nearly so. Below, most phones add 0, and each noise is narrower than its $\sigma^2$, so the sum is narrower than $n\sigma^2$. A change by 5, certified:

# %%
from dplearn import ACCOUNTANTS, DiscreteGaussian
from dplearn.mechanisms import Skellam, SummedDiscreteGaussian

for each in (
    DiscreteGaussian(1.0, 5),
    SummedDiscreteGaussian(1.0, 5, clients=100),
    Skellam(1.0, 5),
):
    print(f"{each.name:26}", ACCOUNTANTS["pld"]().epsilon(each, delta=1e-5))

# %% [markdown]
# Choose a finer unit, so that each phone's noise is a few units wide; the third row, Skellam noise, is closed under sums for any width.
#
# ### Two more exercises
#
# **★ 14.1** Twenty phones, a mean by weight with a public divisor, noise $zC/20$ on it with $z=2$. The largest phone has 30 % of all records. Which noise multiplier is delivered?

# %%
answer = None
check("14.1", answer)

# %% [markdown]
# <details><summary>Solution of 14.1</summary>
#
# ```python
# answer = 2 / (20 * 0.3)
# check("14.1", answer)
# ```
#
# The mean moves by $0.3\,C$; noise $2C/20=0.1\,C$ is a third of that, where twice as much is on paper. If the divisor left with the phone it would be a sixth.
#
# </details>

# %% [markdown]
# **★★ 14.2** A hundred phones are invited. Each adds a share such that the 80 who may stay at least have multiplier 1 together. On a good day all hundred stay. What is the multiplier of the sum then?

# %%
answer = None
check("14.2", answer)

# %% [markdown]
# <details><summary>Solution of 14.2</summary>
#
# ```python
# answer = np.sqrt(100 / 80)
# check("14.2", answer)
# ```
#
# Each adds the variance $\frac1{80}$; a hundred of them have $\frac{100}{80}$, and the multiplier is its root.
#
# </details>

# %% [markdown]
# ## 12 Ask yourself
#
# Choose an answer to each question, write the five letters into the cell below, and run it. Each line opens and says why.
#
# **1** Why can a gradient be turned back into the digit?
#
# <details><summary>a. The model was trained on it.</summary>
#
# No. This model knew nothing yet.
#
# </details>
#
# <details><summary>b. Each row is the pixels times one factor, and the bias tells the factor.</summary>
#
# Right. One division is enough.
#
# </details>
#
# **2** The server holds Anna's masked vector. What does it know of her?
#
# <details><summary>a. Nothing: every vector is equally likely, whatever she has.</summary>
#
# Right. As long as one of her masks is unknown to it.
#
# </details>
#
# <details><summary>b. The order of magnitude of her update.</summary>
#
# No. Modulo $2^{32}$ there is none: a masked zero looks like everything else.
#
# </details>
#
# **3** Two exact sums, with and without her. What does secure aggregation promise?
#
# <details><summary>a. That they cannot be told apart.</summary>
#
# No. Both are opened; that is what the protocol is for.
#
# </details>
#
# <details><summary>b. Nothing about that: it hides terms, and noise hides differences.</summary>
#
# Right. Their difference is her update to the last bit.
#
# </details>
#
# **4** Noise in shares, at most 20 of 100 phones leave. How large is a share of the variance $z^2C^2$?
#
# <details><summary>a. An eightieth.</summary>
#
# Right. Those who stay, 80 at least, have all of it.
#
# </details>
#
# <details><summary>b. A hundredth.</summary>
#
# No. Then those who leave take noise along that was counted.
#
# </details>
#
# <details><summary>c. All of it.</summary>
#
# No. That is local noise: safe, and far too much for a sum.
#
# </details>
#
# **5** A clinic reports $\varepsilon=1$ of DP-SGD on images. A patient has twenty. What is she promised?
#
# <details><summary>a. The same: sampling hides her anyway.</summary>
#
# No. Twenty images have twenty chances to be drawn, and move the sum twenty times as far.
#
# </details>
#
# <details><summary>b. Much less, unless all of hers was clipped together.</summary>
#
# Right. The unit of a guarantee is what was clipped and sampled as one.
#
# </details>

# %%
answers = ""  # five letters, such as "ababa"
check("14.test", answers)

# %% [markdown]
# ## 13 On one card
#
# | | |
# |---|---|
# | **Update** | of a linear layer it is the input times a number: raw, it is the data |
# | **Masks** | $x_i+\sum_{j>i}r_{ij}-\sum_{j<i}r_{ij}$ modulo $2^b$: uniform alone, cancel together |
# | **Sum** | exact, so two of them give one user; no $\varepsilon$ |
# | **Noise** | central $zC$; local $zC\sqrt n$; in shares $z^2C^2/n$ for the fewest who stay |
# | **Unit** | one user = one clipped update a round, equal weights |
# | **Never** | $zC/K$ on a mean by weight, $\sigma^2/m$ with dropouts, a mean of $\varepsilon$'s, records for users |
#
# ## 14 Further reading
#
# * Bonawitz et al. (2017), *Practical secure aggregation for privacy-preserving machine learning*; Bell, Bonawitz, Gascón, Lepoint & Raykova (2020), *Secure single-server aggregation with (poly)logarithmic overhead*.
# * McMahan, Ramage, Talwar & Zhang (2018), *Learning differentially private recurrent language models*: users as the unit, and what a weighted mean needs.
# * Kairouz, Liu & Steinke (2021), *The distributed discrete Gaussian mechanism for federated learning with secure aggregation*; Agarwal, Kairouz & Liu (2021), *The Skellam mechanism*.
# * Zhu, Liu & Han (2019), *Deep leakage from gradients*: inversion for deep networks.
#
# <details><summary>In the formula book</summary>
#
# Noise in whole numbers: [a discrete Gaussian hides as much as the normal one](explorer:formula_book?id=G-J2b), [its variance](explorer:formula_book?id=G-J1&misprint=sigma-squared), [sums of discrete Gaussians](explorer:formula_book?id=G-J3), [how close they are](explorer:formula_book?id=G-J3b), [as one](explorer:formula_book?id=G-J3b&misprint=as-one), [with shares as invited](explorer:formula_book?id=G-J3b&misprint=as-invited), [Skellam noise](explorer:formula_book?id=G-J4).
#
# </details>
#
# The last cell re-examines what this lesson claimed.

# %%
# Checks
assert gone.agree and gone.refuted and exact == 64
assert np.array_equal(stolen, vectors[0])
assert board.sum() % 100 == money.sum() and np.array_equal(all_ten - nine, vectors[0])
assert np.array_equal(all_ten, with_anna) and np.array_equal(nine, without)
assert epsilons[1] > 7 * epsilons[0] and epsilons[2] > 20 * epsilons[0]
assert order.lower > 2 * coins.epsilon and ten.epsilon > 5 * coins.epsilon
assert shares.deviations()["distributed"] < 1.01 and np.mean(found == truth) > 0.9
print("all checks passed")
