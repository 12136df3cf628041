"""What papers print, against the book's formulas and by hand; and the command that prints it."""

import json
import math

import numpy as np
import pytest

from dplearn.__main__ import main
from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.pate import PATE, Votes, at_these_votes
from dplearn.pate import as_printed as printing
from dplearn.pate.as_printed import answer_chances, as_printed
from dplearn.pate.at_these_votes import ORDERS
from dplearn.teaching.book import gnmax_data_dependent_rdp, gnmax_flip_bound, lnmax_log_moment_at

VOTES = Votes([[150, 60, 40], [240, 10, 0], [250, 0, 0]])


def theorem(flip, noise_std):
    at = {"noise_std": noise_std, "flip": flip}
    return np.array([gnmax_data_dependent_rdp(order=order, **at) for order in ORDERS])


def flips(votes, noise_std=40):
    return [gnmax_flip_bound(votes=row, noise_std=noise_std) for row in votes.counts]


def test_theorem_6_sums_the_books_formula():
    stated = as_printed(VOTES, PATE(answers=3, noise_std=40), delta=1e-3)
    rdp = sum(theorem(flip, 40) for flip in flips(VOTES))
    assert stated.epsilon == pytest.approx(rdp_to_epsilon(ORDERS, rdp, delta=1e-3).min(), rel=1e-12)
    first = np.min(rdp + math.log(1e3) / (ORDERS - 1))
    assert stated.details["first_conversion"] == pytest.approx(first, rel=1e-12)
    assert stated.kind == "upper" and "not back" in stated.assumptions[-1]


def test_with_a_check_it_is_an_expectation_and_says_so():
    plan = PATE(answers=3, noise_std=40, threshold=200, check_std=150)
    stated = as_printed(VOTES, plan, delta=1e-5)
    chances = [0.5 * math.erfc((200 - n) / (150 * math.sqrt(2))) for n in (150, 240, 250)]
    np.testing.assert_allclose(answer_chances(VOTES, plan), chances, rtol=1e-12)
    rdp = sum(
        chance * theorem(flip, 40) + theorem(min(chance, 1 - chance), 150 * math.sqrt(2))
        for chance, flip in zip(chances, flips(VOTES), strict=True)
    )
    assert stated.epsilon == pytest.approx(rdp_to_epsilon(ORDERS, rdp, delta=1e-5).min(), rel=1e-12)
    assert stated.kind == "approximate" and "expectation" in stated.assumptions[-1]


def test_laplace_noise_is_counted_by_moments():
    votes, plan = Votes([[245, 5]] * 100), PATE(answers=100, noise_std=20, noise="laplace")
    stated = as_printed(votes, plan, delta=1e-5)
    flip = (2 + 240 / 20) / 4 * math.exp(-240 / 20)
    each = [lnmax_log_moment_at(moment=m, inverse_scale=1 / 20, flip=flip) for m in range(1, 33)]
    plain = [min(2 * m / 20, 2 * m * (m + 1) / 400) for m in range(1, 33)]
    by_hand = min(
        (100 * min(a, b) + math.log(1e5)) / m
        for m, (a, b) in enumerate(zip(each, plain, strict=True), start=1)
    )
    assert stated.epsilon == pytest.approx(by_hand, rel=1e-12)
    assert stated.epsilon < 0.5 * plan.guarantee(delta=1e-5).epsilon


@pytest.mark.slow
@pytest.mark.parametrize("labels", [False, True])
def test_the_command_states_all_three(tmp_path, capsys, labels):
    given = np.random.default_rng(0).choice(3, p=[0.9, 0.06, 0.04], size=(50, 20))
    votes, path = Votes.from_labels(given.T, classes=3), tmp_path / "votes.npy"
    np.save(path, given if labels else votes.counts)
    noise = ["--noise-std", "8", "--threshold", "35", "--check-std", "20", "--delta", "1e-5"]
    more = ["--labels", "--classes", "3"] if labels else []
    assert main(["pate", str(path), *noise, *more, "--json"]) == 0
    public, printed, exact = json.loads(capsys.readouterr().out)
    plan = PATE(queries=20, answers=15, noise_std=8, threshold=35, check_std=20)
    cap = round(answer_chances(votes, plan).sum())
    assert f"no more than {cap} may be answered" in public["statement"]
    assert printed["epsilon"] == pytest.approx(as_printed(votes, plan, delta=1e-5).epsilon)
    assert exact["lower"] == pytest.approx(at_these_votes(votes, plan).guarantee(delta=1e-5).lower)
    assert main(["pate", str(path), *noise, *more, "--queries", "5"]) == 0
    said = capsys.readouterr().out
    assert "5 queries, 50 teachers, 3 classes" in said
    assert said.count("not to be published") == 2 and "expectation" in said


def test_the_command_names_what_is_wrong(tmp_path, capsys):
    np.save(tmp_path / "votes.npy", [[1, 2], [2, 2]])
    wrong = ["pate", str(tmp_path / "votes.npy"), "--noise-std", "8", "--delta", "1e-5"]
    assert main(wrong) == 2
    assert "--labels" in capsys.readouterr().err
    np.save(tmp_path / "votes.npy", [[1, 3], [2, 2]])
    assert main([*wrong, "--laplace"]) == 0
    assert "exact" not in capsys.readouterr().out


def test_what_is_known_is_printed_before_what_takes_long(tmp_path, capsys, monkeypatch):
    def endless(votes, plan):
        raise KeyboardInterrupt

    monkeypatch.setattr(printing, "at_these_votes", endless)
    (tmp_path / "votes.csv").write_text("30,10,0\n20,15,5\n")
    with pytest.raises(KeyboardInterrupt):
        main(["pate", str(tmp_path / "votes.csv"), "--noise-std", "8", "--delta", "1e-5"])
    told = capsys.readouterr().out
    assert "2 queries, 40 teachers, 3 classes" in told and "as the papers print it" in told
