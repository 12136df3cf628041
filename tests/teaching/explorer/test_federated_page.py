"""The page of phones and a server: what it says is what the library says, for whom it says it."""

import functools
import math
import re
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import explorer
from cases import each
from dplearn.accountants.pld import PLD
from dplearn.core.guarantee import round_up
from dplearn.federated import FederatedPlan, user_level
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.run import DPSGD
from dplearn.teaching.explorer.pages import federated
from dplearn.teaching.explorer.pages.federated import FIELDS, Setting
from explorer import again, choose, enter, figure, title, traces, words

opened = functools.partial(explorer.opened, "federated")
PLACES = ("phones", "server", "alone", "nobody")
ONE = Setting(**{kind.key: kind.default for kind in FIELDS})  # type: ignore[arg-type]


def at(**changes):
    return replace(ONE, **changes)


def gaussian(noise_multiplier):
    """Epsilon of a user who is in each of 20 rounds."""
    run = DPSGD(noise_multiplier=noise_multiplier, sample_rate=1.0, steps=20, sampling="none")
    return run.guarantee(delta=1e-5).epsilon


@each(
    "changes, readers, server",
    [
        ({}, 4.0, 4.0),
        ({"shares": "invited"}, 4 * math.sqrt(0.7), 4 * math.sqrt(0.7)),
        ({"view": "raw"}, 4.0, 4 / math.sqrt(70)),
        ({"view": "raw", "shares": "invited"}, 4 * math.sqrt(0.7), 0.4),
        ({"place": "alone"}, 4 * math.sqrt(70), 4 * math.sqrt(70)),
        ({"place": "alone", "view": "raw"}, 4 * math.sqrt(70), 4.0),
    ],
)
def test_epsilon_is_that_of_the_least_noise_somebody_meets(changes, readers, server):
    """Of a Gaussian mechanism in 20 rounds; zCDP and rounding cost a few per cent."""
    promised = federated.promised(at(**changes))
    for one, multiplier in zip(promised, (readers, server), strict=True):
        assert one is not None and 1 <= one.epsilon / gaussian(multiplier) < 1.1
        assert str(one).endswith("per user")


def test_a_server_that_adds_the_noise_has_no_promise_and_readers_that_of_the_plan():
    readers, server = federated.promised(at(place="server"))
    run = {"sample_rate": 0.02, "rounds": 20, "noise_multiplier": 4.0}
    plan = FederatedPlan(users=5000, max_update_norm=1.0, sampling="poisson", **run)
    assert server is None and readers is not None and readers == plan.guarantee(delta=1e-5)
    assert federated.promised(at(place="nobody")) == (None, None)
    run = DPSGD(noise_multiplier=4.0, sample_rate=0.02, steps=20)
    stated = user_level(run, records=20, delta=1e-5).epsilon
    assert federated.by_record(at(place="server")).epsilon == stated > readers.epsilon


@each("view", ["masked", "raw"])
@each("place", PLACES)
def test_pictures_have_the_noise_that_the_page_tells(place, view):
    """What is left of two sums is her image and noise of twice the sum's variance."""
    hers, arrived, left = federated.pictures(at(place=place, view=view, noise_multiplier=1.0))
    assert np.linalg.norm(hers) == pytest.approx(1)
    setting = at(place=place, view=view, noise_multiplier=1.0)
    for image, size in ((left, 2**0.5 * setting.share * 70**0.5), (arrived, setting.share)):
        if not (view == "masked" and image is arrived):
            spread = (image - hers).std()
            assert spread == pytest.approx(size, rel=0.2) if size else np.array_equal(image, hers)


def test_lines_end_where_the_sentence_is():
    gone, lines = federated.over_dropouts(at())
    for name in ("stay", "invited"):
        _, server = federated.promised(at(shares=name))
        assert server is not None
        assert np.interp(0.3, gone, lines[name]) == pytest.approx(server.epsilon, rel=1e-6)
    assert np.ptp(lines["stay"]) < 1e-3 < 5 < np.ptp(lines["invited"])
    clients, lines = federated.over_clients(at())
    assert np.all(lines["alone"] > 2 * lines["server"]) and clients[0] == 10
    assert lines["phones"] == pytest.approx(lines["server"])


@each("changes, least", [({"view": "raw"}, 4 / 70**0.5), ({}, 4.0), ({"place": "alone"}, 33.47)])
def test_the_server_finds_no_fewer_users_than_it_does_with_gaussian_noise(changes, least):
    """The best test between N(0, 1) and N(mu, 1), in 20 rounds; zCDP costs up to half as much."""
    best = norm.sf(norm.isf(0.01) - 20**0.5 / least)
    assert best < federated.most_found(at(**changes)) < min(1.5 * best, 1) + 1e-9


def test_readers_find_what_the_plan_proves_and_without_noise_everybody_is_found():
    step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.02)
    lower, _ = PLD().true_positive_rate(step, false_positive_rate=0.01, steps=20)
    assert lower < federated.most_found(at(place="server")) < 1.001 * lower
    assert federated.most_found(at(place="nobody")) == 1.0
    told = opened(place="nobody").get("html")[0].proto.body.replace("\u00a0", " ")
    assert "<b>at most 100 %</b>" in told


@each("place", PLACES)
@each("view", ["masked", "raw"])
@pytest.mark.slow
def test_a_page_says_who_is_promised_what(place, view):
    app = opened(place=place, view=view)
    promised = federated.promised(at(place=place, view=view))
    told = words(app)
    for one in promised:
        assert (f"ε ≤ {round_up(one.epsilon)} (" if one else "no ε") in told
    assert ("True if" in told) == (place != "nobody") == ("Had single records" in told)
    assert "her update" in title(app) and len(figure(app)["layout"]["annotations"]) == 3
    assert len(traces(app, 1)) == (3 if place == "phones" else 4 - (place == "nobody"))


def test_settings_are_in_the_address_and_leavers_take_noise_along():
    app = opened(shares="invited", noise_multiplier="2")
    all_stay, _ = federated.promised(at(noise_multiplier=2.0))
    assert title(app, 1).startswith("<b>30 % left with their noise: ε ≤ ")
    assert title(app, 1).endswith(f", not {round_up(all_stay.epsilon)}</b>")
    few = opened(shares="invited", clients="10", dropouts="0.33")  # six of ten stay
    (stated,) = re.findall(r"ε ≤ ([\d.]+)", title(few, 1))
    assert f"**ε ≤ {stated} (upper bound)** against the server" in words(
        few
    ) and "6 of 10" in words(few)
    app = enter(app, "dropouts", "0.5")
    assert words(again(app, "federated")) == words(app) and "50 of 100" in words(app)
    app = choose(app, "place", "server")
    assert "shares" not in app.query_params and app.query_params["dropouts"] == "0.5"


def test_a_move_of_a_slider_is_answered_at_once(monkeypatch):
    """No more than 60 ms of CPU, after the first, beside what Streamlit itself takes."""
    for place in PLACES:
        spent = []
        for noise in np.linspace(3, 5, 8):
            setting, start = at(place=place, noise_multiplier=float(noise)), time.process_time()
            federated.promised(setting)
            (federated.over_dropouts if place == "phones" else federated.over_clients)(setting)
            spent.append(time.process_time() - start)
        assert np.median(spent[1:]) < 0.06, place
    app = opened()
    monkeypatch.setattr(federated, "by_record", None)
    app.session_state["federated"].moving = True
    assert "Had single records" not in words(explorer.checked(app.run()))
