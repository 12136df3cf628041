"""PATE: teachers vote, noise is added to the counts, and the largest count wins."""

from dplearn.pate import theorems
from dplearn.teaching.book.chapters import choices
from dplearn.teaching.book.chapters.divergences import worse_renyi
from dplearn.teaching.book.kit.vocabulary import *

NORMAL: choices.Law = (oracles.log_normal(), log_ndtr)
_MOMENT = {"moment": Log(0.02, 40.0), "inverse_scale": Log(0.005, 1.0)}
_ORDERS = "1 < order and order_1 > 1 and order_2 > 1 and 0 < flip < 1"
_IN_ORDER = " and order <= order_1"
_RISING = """ and log(flip) <= (order_2 - 1)*rdp_2
    - order_2*log(order_1/(order_1 - 1)*order_2/(order_2 - 1))"""
_POSITIVE = " and log(flip) + rdp_2 < 0"


def neighbours(votes: ArrayLike) -> Iterator[NDArray]:
    """Yield all vote counts in which one teacher votes differently."""
    votes, one = np.asarray(votes), np.eye(np.size(votes), dtype=int)
    for a, b in itertools.permutations(range(votes.size), 2):
        if votes[a] > 0:
            yield votes - one[a] + one[b]


def gnmax_law(votes: ArrayLike, noise_std: float) -> NDArray:
    """Return each class's log probability of winning with Gaussian noise on the vote counts."""
    counts = np.asarray(votes, dtype=float) / noise_std
    x = np.linspace(counts.min() - 12, counts.max() + 12, 2001)
    below = log_ndtr(x - counts[:, None])
    wins = oracles.log_normal()(x - counts[:, None]) + below.sum(axis=0) - below
    law = np.logaddexp.reduce(wins, axis=1) + math.log(x[1] - x[0])
    # Compute the largest probability more accurately as 1 minus the sum of the others.
    first = int(np.argmax(law))
    law[first] = math.log1p(-float(np.sum(np.exp(np.delete(law, first)))))
    return law


def gnmax_worst(*, votes, noise_std, order, reverse=False):
    """Return the winner's largest Rényi divergence between `votes` and neighbouring counts."""
    law = gnmax_law(votes, noise_std)
    pairs = ((law, gnmax_law(other, noise_std)) for other in neighbours(votes))
    turned = ((q, p) if reverse else (p, q) for p, q in pairs)
    return max(oracles.log_moment(p, q, order - 1) for p, q in turned) / (order - 1)


def flips(votes: ArrayLike, scale: float, law: choices.Law) -> float:
    """Return the probability that a class other than the first has the largest noisy count."""
    turned = (np.roll(votes, -j) for j in range(1, np.size(votes)))
    return math.fsum(choices.argmax_probability(scores=x, scale=scale, law=law) for x in turned)


def largest_moment(*, moment, inverse_scale, flip):
    """Return the largest log moment of the loss over pairs of distributions on three outcomes.

    One outcome has probability 1 - rare >= 1 - flip and a loss in [-epsilon, epsilon]; the losses
    of the other two are epsilon and -epsilon.
    """
    epsilon = 2 * inverse_scale
    rare = flip * np.linspace(0.02, 1.0, 50)[:, None]
    rare_q = rare * np.exp(epsilon * np.linspace(-1, 1, 401))
    up = (rare * math.exp(epsilon) - rare_q) / (2 * math.sinh(epsilon))
    ratio = np.log1p(-rare) - np.log1p(-np.minimum(rare_q, 0.999999))
    gain = (1 - rare) * np.expm1(moment * ratio) + up * math.expm1(moment * epsilon)
    gain += (rare - up) * math.expm1(-moment * epsilon)
    return math.log1p(float(np.max(gain[(rare_q < 0.999999) & (np.abs(ratio) <= epsilon)])))


def moment_of_a_tie(*, moment, inverse_scale):
    """Return the log moment of the privacy loss when one vote breaks a tie of two classes."""
    ahead = (np.array([lead, 0.0]) * inverse_scale for lead in (0.0, 2.0))
    wins = [choices.argmax_log_probability(x, np.array([0, 1]), choices.LAPLACE) for x in ahead]
    log_p, log_q = (np.array([x, math.log(-math.expm1(x))]) for x in wins)
    return max(oracles.log_moment(*pair, moment) for pair in ((log_p, log_q), (log_q, log_p)))


def _random_votes(most: int, classes: int) -> Drawn:
    """Return a domain: random vote counts of 2 to `classes` classes, in decreasing order."""
    size = lambda rng: rng.integers(2, classes + 1)
    return Drawn(lambda rng: np.sort(rng.integers(1, most + 1, size(rng)))[::-1])


@formula("G-M1", "GNMax: the noisy winner")
@given("order > 1 and noise_std > 0", order=Log(1.02, 100.0), noise_std=Log(0.5, 40.0),
       votes=_random_votes(20, 4))
@upper("Papernot, Song, Mironov, Raghunathan, Talwar & Erlingsson 2018, Proposition 8", gnmax_worst,
       absolute=0.0, points=60)
@setting("the noisy winner of the teachers' votes, RDP of order α", "教师投票的噪声胜者，α 阶 RDP",
         "rdp", "vote teacher pate gnmax winner label 投票", rare=True, below="exact", order=ORDER,
         noise_std=NOISE)
@printed("0.00625", order=10.0, noise_std=40.0)
@wrong("one-count", "A changed vote moves two counts, a distance of the root of 2.",
       "order / (2 * noise_std**2)")
def gnmax_rdp(*, order, noise_std):
    r"""D_\alpha(\text{winner}\Vert\text{winner}') \le \frac{\alpha}{\sigma^2}"""
    return order / noise_std**2


def _plurality_first(*, votes: ArrayLike) -> bool:
    """The first class has the most votes."""
    return bool(np.argmax(votes) == 0)


_TWO_CLASSES = _random_votes(200, 2)

enter(theorems.lnmax_flip_bound,
      formula("G-M2", "LNMax: how rarely noise changes the winner"),
      given(_plurality_first, votes=_random_votes(200, 5), inverse_scale=Log(0.005, 1.0)),
      upper("Papernot, Abadi, Erlingsson, Goodfellow & Talwar 2017, Lemma 4",
            lambda votes, inverse_scale: flips(votes, 1 / inverse_scale, choices.LAPLACE),
            absolute=0.0, points=60),
      printed("0.0117914072", "0.0117914072", votes=[150, 50], inverse_scale=0.05),
      printed("0.1545794589", votes=[120, 70, 60], inverse_scale=0.05),
      wrong("no-quarter",
            "Still a bound, but four times the truth: it misses the constants of the law.",
            lambda **at: 4 * theorems.lnmax_flip_bound(**at), kind="identity", votes=_TWO_CLASSES,
            says=r"P(\text{winner} \ne j^*) = (2+\gamma\,\Delta n)\,e^{-\gamma\,\Delta n} "
            r"\text{ of two classes}"))


enter(theorems.gnmax_flip_bound,
      formula("G-M3", "GNMax: how rarely noise changes the winner"),
      given(_plurality_first, votes=_random_votes(200, 5), noise_std=Log(5.0, 200.0)),
      upper("Papernot, Song, Mironov, Raghunathan, Talwar & Erlingsson 2018, Proposition 7",
            lambda votes, noise_std: flips(votes, noise_std, NORMAL), absolute=0.0, points=60),
      printed("0.03854993587", "0.03854993587", votes=[150, 50], noise_std=40.0),
    wrong("one-noise", "The difference of two counts has a deviation of sigma times the root of 2.",
          lambda noise_std, **votes: theorems.gnmax_flip_bound(noise_std=noise_std / math.sqrt(2),
          **votes), says=r"\frac12\sum_{i\ne i^*}\operatorname{erfc}\big((n_{i^*}-n_i)/"
          r"(\sqrt2\,\sigma)\big)"),
    wrong("twice-the-root", "A bound, and too large: erfc already holds one of the roots.",
          lambda noise_std, **votes: theorems.gnmax_flip_bound(noise_std=noise_std * math.sqrt(2),
          **votes), says=r"\frac12\operatorname{erfc}\Big(\frac{\Delta n}{2\sqrt2\,\sigma}\Big) "
          r"\text{ of two classes}", kind="identity", votes=_TWO_CLASSES))


enter(theorems.lnmax_log_moment,
      formula("G-M4", "LNMax: log-moments for any votes"),
      given("moment > 0 and inverse_scale > 0", _MOMENT),
      upper("Papernot, Abadi, Erlingsson, Goodfellow & Talwar 2017, Theorem 2", lambda moment,
            inverse_scale: moment * oracles.finite_renyi(*oracles.randomized_response(2
            * inverse_scale), moment + 1), absolute=0.0),
      setting("the Laplace winner of the teachers' votes, log moment",
              "教师投票的拉普拉斯噪声胜者，对数矩", "log_moment",
              "vote teacher pate lnmax winner label 投票", rare=True, below=lambda: 0.0),
      printed("0.36", moment=8, inverse_scale=0.05))

enter(theorems.lnmax_log_moment_at,
      formula("G-M4b", "LNMax: log-moments where teachers agree"),
      given("0 < flip and flip <= (exp(2*inverse_scale) - 1) / (exp(4*inverse_scale) - 1)",
            _MOMENT, flip=Log(1e-9, 0.5)),
      upper("Papernot, Abadi, Erlingsson, Goodfellow & Talwar 2017, Theorem 3", largest_moment,
            absolute=0.0, points=60),
      setting("the Laplace winner of given votes, log moment",
              "给定票数时的拉普拉斯噪声胜者，对数矩", "log_moment",
              "vote teacher pate lnmax winner label 投票", rare=True, below=lambda: 0.0),
      printed("2.066907e-06", moment=8, inverse_scale=0.05, flip=1e-6),
      wrong("no-condition", "Past 1/(1+e^(2 gamma)) it is useless, and past e^(-2 gamma) wrong.",
            says=r"\text{the same for every } q < 1", given="0 < flip < 1 and "
            "flip*exp(2*inverse_scale) != 1", moment=Choice(2, 4, 8, 16), flip=Linear(0.01, 0.99)),
      wrong("for-all-data", "Other votes leak more, and the number itself tells of the votes; "
            "smooth it.", says=r"\text{the moment at the data at hand is that of the mechanism}",
            oracle=moment_of_a_tie))

enter(theorems.data_dependent_rdp,
      formula("G-M5", "Data-dependent RDP where one outcome is likely"),
      given(_ORDERS + _IN_ORDER + _RISING + _POSITIVE, p=Drawn(lambda rng: np.append(1 - (others :=
            10 ** rng.uniform(-5.0, -0.5) * rng.dirichlet(np.ones(2))).sum(), others)),
            q=Drawn(lambda rng, p: (tilted := p * np.exp(10 ** rng.uniform(-1.5, 0.7) *
            rng.normal(size=3))) / tilted.sum()), order=Log(1.05, 30.0), order_1=Log(1.05, 60.0),
            order_2=Log(1.05, 60.0), rdp_1=worse_renyi("order_1"), rdp_2=worse_renyi("order_2"),
            looseness=Choice(1.0, 1.5),
            flip=Derived(lambda looseness, p: looseness * math.fsum(p[1:]))),
      upper("Papernot, Song, Mironov, Raghunathan, Talwar & Erlingsson 2018, Theorem 6",
            lambda p, q, order: oracles.log_moment(np.log(p), np.log(q), order - 1) / (order - 1),
            absolute=0.0),
      wrong("any-order", "A divergence of order mu_1 says nothing about a larger order.",
            says=r"\text{the same for } \alpha > \mu_1",
            given=_ORDERS + " and order > order_1" + _RISING + _POSITIVE),
      wrong("as-printed", "Otherwise A is negative, and nothing is proved.",
            says=r"\text{without the condition } q\,e^{\varepsilon_2} < 1",
            given=_ORDERS + _IN_ORDER + _RISING, met="Papernot et al. 2018, Theorem 6 as printed",
            order=Choice(2.0, 3.0, 5.0), order_1=Log(3.0, 20.0)))

enter(theorems.gnmax_data_dependent_rdp,
      formula("G-M5b", "GNMax: data-dependent RDP"),
      given("order > 1 and noise_std > 0 and 0 < flip < 1", order=Log(1.05, 50.0),
            noise_std=Log(0.5, 40.0), votes=_random_votes(60, 4),
            flip=Derived(theorems.gnmax_flip_bound)),
      upper("Papernot, Song, Mironov, Raghunathan, Talwar & Erlingsson 2018, Theorem 6 and "
            "Proposition 10", gnmax_worst, absolute=0.0, points=60),
      printed("8.9835e-09", order=10.0, noise_std=40.0, flip=1e-8),
      wrong("no-conditions",
            "With little noise mu_2 falls below 1, where the formula claims too little.",
            theorems.gnmax_unchecked_rdp,
            says=r"\text{the theorem, whatever } q \text{ and } \alpha", order=Log(1.05, 1.5),
            noise_std=Log(0.3, 0.5), votes=_random_votes(2, 2)),
      wrong("both-directions", "The neighbour may be less certain of the winner, and its "
            "divergence larger.", says=r"D_\alpha(M(D')\Vert M(D)) \text{ is bounded as well}",
            oracle=partial(gnmax_worst, reverse=True)))
