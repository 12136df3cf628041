"""Ledger: the budget holds for adaptively chosen releases."""

import copy
import dataclasses
import math

import numpy as np
import pytest

from cases import each
from dplearn import (
    ACCOUNTANTS,
    DPSGD,
    ZCDP,
    ApproximateDP,
    Composed,
    DiscreteGaussian,
    Gaussian,
    Laplace,
    Ledger,
    Phases,
    PoissonSubsampled,
    RandomizedResponse,
)
from dplearn.ledger import BudgetExceeded, Release

BUDGET = {"epsilon": 1.0, "delta": 1e-5}


def next_release(transcript, pairs):
    """Choose a release by the number of earlier lies; with `pairs` every fourth has a delta."""
    lies = transcript.count(0)
    epsilon = 0.05 + 0.3 * lies if len(transcript) % 3 else 0.4 / (1 + lies)
    return ApproximateDP(epsilon, 1e-3 if pairs and len(transcript) % 4 == 3 else 0.0)


def transcripts(ledger, log_p=0.0, log_q=0.0, transcript=()):
    """Yield log probabilities of every transcript under two neighbours."""
    release, here = next_release(transcript, bool(ledger.reserve)), copy.copy(ledger)
    if len(transcript) == 9 or not here.fits(release):
        yield log_p, log_q
        return
    here.add(release)
    if release.delta:  # results that reveal which neighbour is used
        yield log_p + math.log(release.delta), -math.inf
        yield -math.inf, log_q + math.log(release.delta)
    rest = math.log1p(-release.delta)
    expected, lie = (rest - math.log1p(math.exp(sign * release.epsilon)) for sign in (-1, 1))
    yield from transcripts(here, log_p + expected, log_q + lie, (*transcript, 1))
    yield from transcripts(here, log_p + lie, log_q + expected, (*transcript, 0))


@each(
    "epsilon, delta, settings",
    [
        (1.0, 1e-2, {"reserve": 2e-3}),
        (1.0, 1e-2, {"reserve": 2e-3, "order": 5.0}),
        (2.5, 4e-3, {"reserve": 2e-3}),
        (1.5, 2e-3, {"reserve": 2e-3}),  # nothing is left for the Rényi filter
        (1.0, 1e-2, {}),
    ],
)
@pytest.mark.slow
def test_adaptively_chosen_releases_stay_within_the_budget(epsilon, delta, settings):
    ledger = Ledger(epsilon=epsilon, delta=delta, adjacency="replace_one", **settings)
    pairs = list(transcripts(ledger))
    assert sum(math.exp(p) for p, _ in pairs) == pytest.approx(1)
    assert len(pairs) >= 5
    leak = sum(max(math.exp(p) - math.exp(epsilon + q), 0) for p, q in pairs)
    assert leak <= delta
    # The releases use the budget: at 70 % of epsilon, delta is positive.
    assert sum(max(math.exp(p) - math.exp(0.7 * epsilon + q), 0) for p, q in pairs) > 0


def test_budget_of_epsilon_1_accepts_ten_releases_of_epsilon_one_tenth():
    for delta, adaptive in ((0, True), (0, False), (1e-5, True)):
        ledger = Ledger(epsilon=1.0, delta=delta, adaptive=adaptive)
        for _ in range(10):
            ledger.add(Laplace(10.0))
        if delta == 0:
            assert ledger.guarantee.epsilon == pytest.approx(1.0, rel=1e-12)
            assert str(ledger.guarantee).startswith("epsilon <= 1 at delta = 0,")
            with pytest.raises(BudgetExceeded, match=r"together epsilon 1\.01, 0\.01 too much"):
                ledger.add(Laplace(100.0))
    ledger = Ledger(epsilon=1.0, delta=0, adjacency="replace_one")
    ledger.add(RandomizedResponse(1.0))
    assert ledger.remaining == 0.0


@each("method", ["pld", "rdp"])
@each("adaptive", [True, False])
def test_plan_fits_a_budget_equal_to_its_epsilon(method, adaptive):
    first = DPSGD(noise_multiplier=2.0, sample_rate=0.01, steps=2000)
    for plan in (first, Phases((first, DPSGD(noise_multiplier=3.0, sample_rate=0.02, steps=9)))):
        stated = plan.guarantee(method, delta=1e-5)
        order = stated.details.get("order")
        ledger = Ledger(epsilon=stated.epsilon, delta=1e-5, adaptive=adaptive, order=order)
        ledger.add(plan, name="training")
        assert ledger.guarantee.epsilon <= stated.epsilon * (1 + 1e-12)
        assert set(first.mechanism.assumptions) < set(ledger.guarantee.assumptions)
    if method == "rdp" and adaptive:
        stated = first.guarantee("rdp", delta=1e-5)
        order = stated.details["order"]
        parts = Ledger(epsilon=stated.epsilon, delta=1e-5, order=order)
        for _ in range(4):
            parts.add(first.mechanism, steps=500)
        assert not parts.fits(first.mechanism, steps=10)


def test_epsilon_of_a_fixed_list_of_releases_is_that_of_their_composition():
    ledger = Ledger(delta=1e-5, adaptive=False)
    run = [(Gaussian(30.0), 40), (Laplace(20.0), 3), (PoissonSubsampled(Gaussian(1.0), 0.01), 50)]
    for mechanism, steps in run:
        ledger.add(mechanism, steps=steps)
    composed = ACCOUNTANTS["pld"]().epsilon(Composed(run), delta=1e-5)
    assert (ledger.guarantee.lower, ledger.guarantee.epsilon) == (composed.lower, composed.epsilon)
    assert ledger.guarantee.lower > 0.99 * ledger.guarantee.epsilon
    # A ZCDP release has no profile to compose, so Rényi divergences are summed.
    ledger.add(ZCDP(0.01))
    rdp = ACCOUNTANTS["rdp"]().epsilon(Composed([*run, ZCDP(0.01)]), delta=1e-5)
    assert ledger.guarantee.epsilon == rdp.epsilon


def test_remaining_budget_is_the_largest_pure_epsilon_that_fits():
    for adaptive in (True, False):
        ledger = Ledger(**BUDGET, adaptive=adaptive)
        assert ledger.remaining == pytest.approx(1.0)
        ledger.add(Gaussian(10.0), steps=3)
        left = ledger.remaining
        assert 0.1 < left < 0.9
        assert ledger.fits(ApproximateDP(left)) and not ledger.fits(ApproximateDP(left + 2e-4))


def test_refused_releases_leave_the_ledger_unchanged():
    ledger = Ledger(**BUDGET)
    ledger.add(Gaussian(20.0))
    before = copy.copy(ledger)
    for loud in (Gaussian(0.0), Gaussian(0.1), Laplace(0.5), ApproximateDP(0.1, 1e-7), ZCDP(1.0)):
        with pytest.raises(BudgetExceeded, match=f"got '{loud.name}': together"):
            ledger.add(loud)
    assert ledger == before


def test_approximate_dp_releases_use_the_delta_reserved_for_them():
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    for _ in range(10):
        ledger.add(ApproximateDP(0.1, 1e-7))
    with pytest.raises(BudgetExceeded, match=r"deltas of pairs sum to 1\.1e-06, and 1e-06 of"):
        ledger.add(ApproximateDP(0.0, 1e-7))
    # Each repetition of an (epsilon, delta) release uses its delta.
    assert not Ledger(**BUDGET | {"delta": 1e-6}).fits(Composed([(ApproximateDP(0.01, 1e-7), 11)]))
    ledger = Ledger(epsilon=3.0, delta=1e-6, reserve=5e-7)
    ledger.add(Gaussian(3.0))
    ledger.add(ApproximateDP(0.1, 5e-7))
    assert not ledger.fits(ApproximateDP(0.0, 1e-12))
    exact = Composed([(ApproximateDP(0.1, 1e-7), 10)])
    optimal = ACCOUNTANTS["optimal"]().epsilon(exact, delta=1e-5)
    tight = ACCOUNTANTS["pld"]().epsilon(exact, delta=1e-5)
    with pytest.raises(NotImplementedError, match="in a ledger without budget"):
        Ledger(delta=1e-5).add(exact)
    Ledger(delta=1e-5, adaptive=False).add(exact)
    assert tight.lower == 0 and tight.epsilon <= optimal.epsilon * (1 + 1e-9)


@each("local, delta", [(0.3, 0.05), (1.0, 0.2), (0.05, 1e-3)])
@pytest.mark.slow
def test_without_a_budget_the_loss_rarely_exceeds_the_stated_bound(local, delta):
    """Enumerate the losses of 600 randomized responses; the bound holds at all steps at once."""
    ledger = Ledger(delta=delta, adjacency="replace_one")
    expected, walks, ever = 1 / (1 + math.exp(-local)), {0: 1.0}, 0.0
    for step in range(1, 601):
        ledger.releases = (Release("coin", RandomizedResponse(local), step),)
        reading, new = ledger.guarantee.epsilon, {}
        for place, chance in walks.items():
            new[place + 1] = new.get(place + 1, 0.0) + expected * chance
            new[place - 1] = new.get(place - 1, 0.0) + (1 - expected) * chance
        ever += sum(chance for place, chance in new.items() if place * local > reading)
        walks = {place: chance for place, chance in new.items() if place * local <= reading}
    assert delta / 1000 < ever <= delta
    assert ledger.guarantee.kind == "probable" and ledger.remaining == math.inf


def test_ledger_is_saved_read_and_shown(tmp_path):
    ledger = Ledger(**BUDGET | {"epsilon": 20.0}, reserve=1e-6)
    plan = DPSGD(noise_multiplier=1.1, sample_rate=0.004, steps=1000)
    for release in (plan, Phases((plan, plan)), ZCDP(0.1), ApproximateDP(0.1, 1e-7)):
        ledger.add(release, name=f"<{type(release).__name__}>")
    ledger.add(DiscreteGaussian(3.0, 4), steps=2)
    ledger.save(tmp_path / "ledger.json")
    again = Ledger.read(tmp_path / "ledger.json")
    assert again == ledger and again.guarantee == ledger.guarantee
    assert str(again).splitlines()[-1].startswith("remaining: a pure release of epsilon ")
    shown = ledger._repr_html_()
    assert shown.count("<tr>") == 7 and "&lt;DPSGD&gt;" in shown
    hostile = (tmp_path / "ledger.json").read_text()
    for old, new in (
        ("1.1", "0.1"),  # beyond the budget
        ("1e-06", "NaN"),
        ('"steps": 1000', f'"steps": {10**400}'),
        ('"adaptive": true', '"adaptive": null'),
        ('"gaussian"', '"os.system"'),
        ("<DPSGD>", "a\\nb"),
    ):
        assert old in hostile, old
        (tmp_path / "other.json").write_text(hostile.replace(old, new))
        with pytest.raises(ValueError, match=r"Expected (a file that Ledger|releases that fit)"):
            Ledger.read(tmp_path / "other.json")
    damaged = ('{"format": "other"}', '{"format": "dplearn ledger 1", "releases": 3}')
    for text in ("", "[]", "[" * 100_000, *damaged):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(ValueError, match=r"Expected a file that Ledger.save wrote, got .*json"):
            Ledger.read(tmp_path / "other.json")


def test_releases_that_run_zero_or_too_many_times_cannot_bypass_the_budget():
    ledger = Ledger(**BUDGET)
    ledger.add(Laplace(20.0))
    never = DPSGD(noise_multiplier=1.0, sample_rate=1.0, steps=0)
    for release in (never, Composed([(Gaussian(1.0), 0)])):
        with pytest.raises(ValueError, match="Expected a release that runs at least once"):
            ledger.add(release)
    for loud in (
        Composed([(Gaussian(1.0), 0), (Gaussian(0.1), 1)]),
        Phases([never, DPSGD(noise_multiplier=0.1, sample_rate=1.0, steps=1)]),
    ):
        assert not ledger.fits(loud)
    assert not ledger.fits(Composed([(Laplace(20.0), 3000)]), steps=np.int16(15))
    many = Composed([Gaussian(5.0), (Composed([(Laplace(5.0), 1000)]), np.int16(100))])
    assert many.parts()[1][1] == 100_000
    assert math.isfinite(Composed([(Gaussian(1.0), 0), Laplace(1.0)]).pure_epsilon())


def test_ledger_is_copied_with_its_releases_and_accepts_numpy_values(tmp_path):
    ledger = Ledger(epsilon=np.float32(3.0), delta=1e-5, order=np.int64(18))
    ledger.add(Gaussian(np.float32(10)), steps=np.int64(3), name="noisy")
    ledger.save(tmp_path / "ledger.json")
    assert Ledger.read(tmp_path / "ledger.json") == ledger
    larger = dataclasses.replace(ledger, epsilon=4.0)
    assert larger.releases == ledger.releases and larger.remaining > ledger.remaining
    with pytest.raises(BudgetExceeded, match="Expected releases that fit"):
        dataclasses.replace(ledger, epsilon=0.01)
    assert Ledger(epsilon=2000.0, delta=1e-5).remaining == 1000.0


def test_reserve_reduces_the_delta_of_the_renyi_filter():
    fits = []
    for delta, reserve in ((1e-5, 9e-6), (1e-5 - 9e-6, 0.0)):
        ledger = Ledger(epsilon=2.0, order=12.0, delta=delta, reserve=reserve)
        ledger.add(Gaussian(10.0))  # a single release may fit by its tight bound
        fits.append([ledger.fits(Gaussian(20.0), steps=10 * n) for n in range(1, 40)])
    assert fits[0] == fits[1] and set(fits[0]) == {True, False}


@each("epsilon, delta", [(0.5, 0.1), (2.0, 1e-3), (0.0, 0.2)])
def test_profile_of_approximate_dp_is_that_of_the_worst_such_mechanism(epsilon, delta):
    (profile,) = ApproximateDP(epsilon, delta).profiles()
    assert float(profile.delta(epsilon)) == pytest.approx(delta, rel=1e-12)
    variation = delta + (1 - delta) * math.tanh(epsilon / 2)
    assert float(profile.delta(0.0)) == pytest.approx(variation, rel=1e-12)
