"""Releases chosen by releases stay within the guarantee that was fixed before the first."""

import copy
import math

import pytest

from cases import each
from dplearn import (
    ACCOUNTANTS,
    DPSGD,
    Composed,
    Gaussian,
    Laplace,
    PrivacyFilter,
    PrivacyOdometer,
    RandomizedResponse,
)


def chosen(transcript):
    """What somebody asks next who has seen the answers: lies make him bolder."""
    lies = transcript.count(0)
    return 0.05 + 0.3 * lies if len(transcript) % 3 else 0.4 / (1 + lies)


def transcripts(budget, log_p=0.0, log_q=0.0, transcript=()):
    """Probabilities, in logs, of all that can come out for two neighbours."""
    local = chosen(transcript)
    here = copy.copy(budget)
    if len(transcript) == 9 or not here.spend(RandomizedResponse(local)):
        yield log_p, log_q
        return
    truth, lie = -math.log1p(math.exp(-local)), -math.log1p(math.exp(local))
    yield from transcripts(here, log_p + truth, log_q + lie, (*transcript, 1))
    yield from transcripts(here, log_p + lie, log_q + truth, (*transcript, 0))


@each("epsilon, delta, order", [(1.0, 1e-2, 0.0), (1.0, 1e-2, 5.0), (2.5, 1e-4, 0.0)])
def test_whoever_chooses_by_the_answers_stays_within_the_guarantee(epsilon, delta, order):
    budget = PrivacyFilter(epsilon=epsilon, delta=delta, order=order, adjacency="replace_one")
    pairs = list(transcripts(budget))
    assert len({p for p, _ in pairs}) >= 5 and sum(math.exp(p) for p, _ in pairs) == pytest.approx(
        1
    )
    for sign in (1, -1):
        both = [pair[::sign] for pair in pairs]
        leak = sum(max(math.exp(p) - math.exp(epsilon + q), 0) for p, q in both)
        assert leak <= delta
        a = budget.order
        divergence = math.log(sum(math.exp(a * p + (1 - a) * q) for p, q in both)) / (a - 1)
        # That of the order which is counted is used up nearly, and never exceeded.
        offset = math.log1p(-1 / a) - (math.log(delta) + math.log(a)) / (a - 1)
        assert 0.4 * (epsilon - offset) < divergence <= epsilon - offset


def test_a_filter_lets_through_what_a_fixed_list_would_cost():
    plan = DPSGD(noise_multiplier=2.0, sample_rate=0.01, steps=2000)
    stated = plan.guarantee("rdp", delta=1e-5)
    order = stated.details["order"]
    room = {"epsilon": stated.epsilon * (1 + 1e-9), "delta": 1e-5, "order": order}
    budget = PrivacyFilter(**room)
    assert all(budget.spend(plan.mechanism, steps=500) for _ in range(4))
    assert not budget.spend(plan.mechanism)
    assert set(plan.mechanism.assumptions) < set(budget.guarantee.assumptions)
    assert PrivacyFilter(**room).spend(plan.composed)
    # Without an order hardly more is asked for, and what was allowed costs no more than said.
    budget, allowed = PrivacyFilter(epsilon=1.0, delta=1e-5), 0
    while budget.spend(Gaussian(30.0)):
        allowed += 1
    best = ACCOUNTANTS["zcdp"]().epsilon(Gaussian(30.0), delta=1e-5, steps=allowed + 1)
    assert best.epsilon > 0.995 and 1.0 >= budget.guarantee.epsilon > 0.97 * best.epsilon
    assert (
        ACCOUNTANTS["pld"]().epsilon(Composed([(Gaussian(30.0), allowed)]), delta=1e-5).epsilon < 1
    )


def test_what_is_refused_spends_nothing():
    budget = PrivacyFilter(epsilon=1.0, delta=1e-5)
    for loud in (Gaussian(0.0), Gaussian(0.1), Laplace(0.5)):
        assert not budget.spend(loud) and budget.spent == 0.0
    with pytest.raises(NotImplementedError, match="randomized_response"):
        budget.spend(RandomizedResponse(0.1))
    with pytest.raises(TypeError, match="mechanism to be a Mechanism"):
        budget.spend(0.1)
    for bad in ({"epsilon": 0.0}, {"delta": 1.0}, {"order": 1.0}, {"adjacency": "swap"}):
        with pytest.raises(ValueError, match=f"Expected {next(iter(bad))}"):
            PrivacyFilter(**{"epsilon": 1.0, "delta": 1e-5} | bad)


@each("local, delta", [(0.3, 0.05), (1.0, 0.2), (0.05, 1e-3)])
def test_a_loss_ever_above_its_reading_is_rare(local, delta):
    """All walks of 600 coins, whoever stops when: the loss may exceed no reading on the way."""
    odometer = PrivacyOdometer(delta=delta, adjacency="replace_one")
    truth, walks, ever = 1 / (1 + math.exp(-local)), {0: 1.0}, 0.0
    for _ in range(600):
        reading, new = odometer.add(RandomizedResponse(local)), {}
        for place, chance in walks.items():
            new[place + 1] = new.get(place + 1, 0.0) + truth * chance
            new[place - 1] = new.get(place - 1, 0.0) + (1 - truth) * chance
        ever += sum(chance for place, chance in new.items() if place * local > reading)
        walks = {place: chance for place, chance in new.items() if place * local <= reading}
    assert delta / 1000 < ever <= delta


def test_a_reading_is_the_best_of_its_orders_and_nothing_is_lost():
    odometer = PrivacyOdometer(delta=1e-6, orders=(2.0, 11.0))
    reading = odometer.add(Gaussian(20.0), steps=100)
    each_order = [a * 100 / (2 * 400) + math.log(2 / 1e-6) / (a - 1) for a in (2, 11)]
    assert reading == pytest.approx(min(each_order), rel=1e-11) and reading >= min(each_order)
    with pytest.raises(NotImplementedError, match="randomized_response"):
        odometer.add(RandomizedResponse(0.1))
    assert odometer.reading == reading
    for bad in ({"delta": 0.0}, {"adjacency": "swap"}, {"orders": (1.0, 2.0)}, {"orders": ()}):
        with pytest.raises(ValueError, match=f"Expected {next(iter(bad))}"):
            PrivacyOdometer(**{"delta": 1e-5} | bad)
