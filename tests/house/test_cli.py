"""The command line is a contract: words, exit status, and JSON that any parser reads."""

import dataclasses
import json
import subprocess
import sys

import pytest

from cases import each
from dplearn.__main__ import main
from dplearn.accountants import accountants
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.ground.guarantee import Guarantee
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.run import DPSGD

RUN = "--noise-multiplier 4 --sample-rate 0.01 --steps 10000 --delta 1e-5"
FIELDS = {f.name for f in dataclasses.fields(Guarantee)}
STEP = PoissonSubsampled(Gaussian(4.0), 0.01)


def called(words, capsys):
    """Exit status, standard output, standard error."""
    try:
        status = main(words.split())
    except SystemExit as leaving:  # argparse leaves on its own
        status = leaving.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def strictly(text):
    """JSON as the standard has it: no NaN, no Infinity."""
    return json.loads(text, parse_constant=pytest.fail)


def rows_of(words, capsys):
    """What a command without complaint answers as JSON."""
    status, out, err = called(f"{words} --json", capsys)
    assert (status, err) == (0, "")
    return strictly(out)


def test_epsilon_by_every_accountant(capsys):
    rows = rows_of(f"epsilon {RUN} --accountant all", capsys)
    assert [row["method"] for row in rows] == list(accountants)
    for row in rows:
        guarantee = accountants[row["method"]]().epsilon(STEP, delta=1e-5, steps=10_000)
        assert row == json.loads(json.dumps(vars(guarantee), default=dict))
    words = called(f"epsilon {RUN} --accountant {row['method']}", capsys)
    assert words == (0, f"{guarantee}\n", "")


def test_the_default_is_the_tightest_accountant(capsys):
    (row,) = rows_of(f"epsilon {RUN}", capsys)
    assert row["method"] == "pld" and 0.9468 < row["epsilon"] < 0.96


@each(
    "words, same",
    [
        ("--sampling none", {"sampling": "none", "sample_rate": 1.0}),
        ("--sampling without_replacement --sample-rate 0.1",
         {"sampling": "without_replacement", "sample_rate": 0.1}),
        ("--sample-rate 0.1 --adjacency zero_out", {"sample_rate": 0.1}),
    ],
)  # fmt: skip
def test_sampling_and_adjacency_reach_the_accountant(words, same, capsys):
    (row,) = rows_of(f"epsilon {words} --noise-multiplier 50 --steps 30 --delta 1e-5", capsys)
    run = DPSGD(noise_multiplier=50.0, steps=30, **same)
    same = run.guarantee(delta=1e-5, adjacency="zero_out" if "zero_out" in words else None)
    assert (row["epsilon"], row["adjacency"]) == (same.epsilon, same.adjacency)


def test_all_leaves_out_who_cannot_answer(capsys):
    words = "epsilon --sampling without_replacement --sample-rate 0.1 --noise-multiplier 9"
    rows = rows_of(f"{words} --steps 10 --delta 1e-5 --accountant all", capsys)
    assert {row["method"] for row in rows} == set(accountants) - {"gdp"}


@each("noise", ["0", "1e-7", "0.05", "0.03 --sampling poisson --sample-rate 0.5"])
def test_infinity_is_null_with_a_reason(noise, capsys):
    words = f"epsilon --sampling none --noise-multiplier {noise} --steps 3 --delta 1e-5"
    for accountant in ("all", "gdp", "pld"):
        for row in rows_of(f"{words} --accountant {accountant}", capsys):
            assert (row["epsilon"] is None) == bool(row["reason"]), accountant
            assert noise != "0" or row["epsilon"] is None, accountant


@each(
    "left_out, words, kind",
    [
        ("noise_multiplier", "--sample-rate 0.004 --steps 10000", float),
        ("steps", "--sample-rate 0.004 --noise-multiplier 1", int),
        ("sample_rate", "--steps 10000 --noise-multiplier 1", float),
        ("noise_multiplier", "--sampling none --steps 10", float),
    ],
)
def test_calibrate_finds_what_is_left_out(left_out, words, kind, capsys):
    (row,) = rows_of(f"calibrate --epsilon 2 --delta 1e-5 {words}", capsys)
    assert set(row) == {left_out, "guarantee"} and isinstance(row[left_out], kind)
    assert set(row["guarantee"]) == FIELDS
    assert 1.99 < row["guarantee"]["epsilon"] <= 2.0


def test_calibrate_finds_delta(capsys):
    words = "calibrate --epsilon 1 --noise-multiplier 4 --sample-rate 0.01 --steps 10000"
    (row,) = rows_of(words, capsys)
    least = accountants["pld"]().delta(STEP, epsilon=1.0, steps=10_000)
    assert set(row) == {"delta", "guarantee"}
    assert row["delta"] == row["guarantee"]["delta"] == least.delta
    assert row["guarantee"]["delta_lower"] == least.delta_lower > 0.999 * least.delta
    assert called(words, capsys)[1].endswith(f": {least}\n")
    # Without sampling there is no rate to leave out.
    words = "calibrate --epsilon 1 --noise-multiplier 4 --sampling none --steps 3"
    assert called(words, capsys)[1].startswith("delta = ")


def test_calibrate_in_words_is_the_library_call(capsys):
    words = "calibrate --epsilon 2 --delta 1e-5 --sample-rate 0.004 --steps 1000 --accountant rdp"
    step = PoissonSubsampled(Gaussian(1.0), 0.004)
    target = {"epsilon": 2.0, "delta": 1e-5, "steps": 1000}
    least = smallest_noise_multiplier(accountants["rdp"](), mechanism=step, **target)
    assert called(words, capsys) == (0, f"{least}\n", "")


def test_a_target_out_of_reach_is_status_one(capsys):
    for words, named in (
        ("--epsilon 0.1 --delta 1e-5 --accountant moments", "smallest epsilon found"),
        ("--epsilon 1 --noise-multiplier 0", "no delta below 1 is proved by pld"),
    ):
        status, out, err = called(f"calibrate {words} --sample-rate 0.1 --steps 10", capsys)
        assert (status, out) == (1, "")
        assert err.count("\n") == 1 and named in err


BAD = (
    ("", "command"),
    ("profit", "profit"),
    ("epsilon --noise-multiplier 1", "--delta"),
    (f"epsilon {RUN} --delta tiny", "--delta"),
    (f"epsilon {RUN} --accountant magic", "magic"),
    (f"epsilon {RUN} --sampling shuffle", "shuffle"),
    (f"epsilon {RUN} --delta 1", "delta in (0, 1), got delta=1.0"),
    (f"epsilon {RUN} --delta nan", "delta in (0, 1), got delta=nan"),
    (f"epsilon {RUN} --sample-rate 1.5", "sample_rate in (0, 1], got"),
    (f"epsilon {RUN} --noise-multiplier -1", "noise_multiplier 0 or in"),
    (f"epsilon {RUN} --steps -1", "steps"),
    (f"epsilon {RUN} --steps 1.5", "--steps"),
    ("epsilon --noise-multiplier 1 --steps 1 --delta 0.1", "--sample-rate"),
    (f"epsilon {RUN} --sampling none", "sampling='none'"),
    (f"epsilon {RUN} --adjacency replace_one", "replace_one"),
    (f"epsilon {RUN} --adjacency replace_one --accountant all", "Poisson"),
    (f"calibrate --epsilon 1 {RUN}", "exactly one of --noise-multiplier, --steps"),
    ("calibrate --epsilon 1 --delta 1e-5 --steps 3", "got 2"),
    ("calibrate --epsilon 1 --steps 3", "--delta to be left out, got 3"),
    ("calibrate --epsilon 0 --delta 1e-5 --sample-rate 0.1 --steps 3", "epsilon > 0"),
    ("verify G-A88", "'G-A88'"),
    ("verify G-A88", "G-A8"),
    ("claim q*", "position 3"),
    ("claim q*foo", "got foo"),
    ("claim q --of gauss", "gauss"),
    ("claim q --quantity mu", "mu"),
    ("claim q --set q", "NAME=VALUE"),
    ("claim q --set q=2", "q to be a number or a range in [1e-06, 1]"),
    ("claim q --seconds 0", "budget_s > 0"),
    ("claim", "EXPRESSION"),
)


@each("words, named", BAD)
def test_bad_usage_is_status_two_and_one_line(words, named, capsys):
    status, out, err = called(words, capsys)
    command = words.split()[0] if words not in ("", "profit") else ""
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and err.startswith(f"dplearn {command}".strip()) and named in err


def test_help_is_status_zero(capsys):
    status, out, _ = called("--help", capsys)
    assert status == 0 and "calibrate" in out and "epsilon" in out


def test_a_real_process():
    command = [sys.executable, "-m", "dplearn", "epsilon", *RUN.split(), "--delta", "2"]
    bad = subprocess.run(command, capture_output=True, text=True)
    assert (bad.returncode, bad.stdout, bad.stderr.count("\n")) == (2, "", 1)


def test_verify_in_words(capsys):
    status, out, err = called("verify G-A8 G-A5", capsys)
    lines = out.splitlines()
    assert (status, err, len(lines)) == (0, "", 4)
    assert lines[0].startswith("G-A8 ") and " verified " in lines[0] and lines[0].endswith(" s")
    assert "refuted square: order=2, scale=1: 2 instead of 0.619124" in lines[1]
    assert "unsafe" in lines[2] and lines[3].startswith("G-A5")


def test_verify_as_json(capsys):
    entry, *misprints = rows_of("verify G-A2", capsys)
    assert len(misprints) == 3
    assert (entry["id"], entry["kind"], entry["status"]) == ("G-A2", "identity", "verified")
    assert all({"worst_slack", "seconds"} <= set(row) for row in [entry, *misprints])
    for row in misprints:
        assert row["id"].startswith("G-A2/") and row["kind"] == "misprint"
        assert row["status"] == "refuted" and row["counterexample"]["parameters"]


def test_verify_says_when_something_is_wrong(capsys, monkeypatch):
    from dplearn.book import everything as book

    wrong = book.Verification(id="G-A1", kind="identity", status="failed", reason="by hand")
    monkeypatch.setattr(book, "check", lambda id: [wrong])
    status, out, _ = called("verify G-A1", capsys)
    assert status == 1 and "failed" in out and "by hand" in out
    status, out, _ = called("verify G-A1 --json", capsys)
    assert status == 1 and strictly(out)[0]["worst_slack"] is None


def test_a_claim_that_is_violated_is_status_one(capsys):
    words = "claim sqrt(2*log(1.25/delta))/epsilon --quantity sigma --of gaussian"
    status, out, err = called(words, capsys)
    assert (status, err) == (1, "")
    assert out.startswith("Violated: sigma needed <= sqrt(2*log(1.25/delta))/epsilon")
    assert "begins to fail at epsilon = 8.42" in out and "G-B4" in out
    (row,) = rows_of(f"{words} --set epsilon=0.1..1", capsys)
    assert row["status"] == "holds" and row["violated"] == 0 < row["decided"]
    assert row["simplest"] is None and row["fixed"] == {"T": 1.0}
