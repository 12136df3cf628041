"""Command line: its output, exit status, and standard JSON."""

import dataclasses
import json
import subprocess
import sys

import pytest

from cases import clean_environment, each
from dplearn.__main__ import main
from dplearn.accountants import ACCOUNTANTS
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.core.files import locked
from dplearn.core.guarantee import Guarantee
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.run import DPSGD, Phases
from dplearn.teaching.book import run_all

RUN = "--noise-multiplier 4 --sample-rate 0.01 --steps 10000 --delta 1e-5"
STEP = PoissonSubsampled(Gaussian(4.0), 0.01)


def called(words, capsys):
    """Run a command; return its exit status, standard output and standard error."""
    try:
        status = main(words.split())
    except SystemExit as leaving:  # raised by argparse
        status = leaving.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def rows_of(words, capsys, expected=0):
    """Return the JSON that a command prints; fail on NaN, or output to standard error."""
    status, out, err = called(f"{words} --json", capsys)
    assert (status, err) == (expected, "")
    return json.loads(out, parse_constant=pytest.fail)


def test_epsilon_command_prints_one_accountant_or_all(capsys):
    rows = rows_of(f"epsilon {RUN} --accountant all", capsys)
    assert [row["method"] for row in rows] == list(ACCOUNTANTS)
    for row in rows:
        guarantee = ACCOUNTANTS[row["method"]]().epsilon(STEP, delta=1e-5, steps=10_000)
        assert row == json.loads(json.dumps(vars(guarantee), default=dict))
    words = called(f"epsilon {RUN} --accountant {row['method']}", capsys)
    assert words == (0, f"{guarantee}\n", "")
    (row,) = rows_of(f"epsilon {RUN}", capsys)
    assert row["method"] == "pld" and 0.9468 < row["epsilon"] < 0.96
    # `all` omits accountants that do not support the mechanism.
    words = "epsilon --sampling without_replacement --sample-rate 0.1 --noise-multiplier 9"
    rows = rows_of(f"{words} --steps 10 --delta 1e-5 --accountant all", capsys)
    assert {row["method"] for row in rows} == set(ACCOUNTANTS) - {"gdp"}


@pytest.mark.slow
def test_ledger_commands_store_their_ledger_in_a_file(tmp_path, capsys):
    file = tmp_path / "ledger.json"
    for words in ("show", "add x --epsilon 0.1"):
        status, _, err = called(f"ledger {file} {words}", capsys)
        assert status == 2 and f"begin it: dplearn ledger {file} new" in err
    assert called(f"ledger {file} new --epsilon 3 --delta 1e-5", capsys)[0] == 0
    assert called(f"ledger {file} new --delta 1e-5", capsys)[0] == 2
    run = "--noise-multiplier 1.1 --sample-rate 256/60000 --steps 1e4"
    for words in ("patients --epsilon 0.1", "census --rho 0.001", f"training {run}"):
        status, out, _ = called(f"ledger {file} add {words}", capsys)
        assert status == 0 and f" {words.split()[0]}: " in out
    before = file.read_text()
    status, _, err = called(f"ledger {file} add more {run}", capsys)
    assert status == 1 and "got 'more': together epsilon" in err and file.read_text() == before
    for words, problem in (
        ("--rho 1 --epsilon 1", "argument --epsilon: not allowed with argument --rho"),
        ("", "one of the arguments --epsilon --rho --noise-multiplier is required"),
        ("--noise-multiplier 1", "Expected --sample-rate"),
    ):
        status, _, err = called(f"ledger {file} add x {words}", capsys)
        assert status == 2 and problem in err
    for words in ("--epsilon 0.1 --sample-rate 0.1", "--rho 1 --delta 0.1", "--rho 1 --steps 0"):
        assert called(f"ledger {file} add x {words}", capsys)[0] == 2
    assert called(f"ledger {file} show", capsys)[1] == out
    pair = "x --epsilon 0.1 --delta 1e-7"
    assert "Ledger(reserve=...)" in called(f"ledger {file} add {pair}", capsys)[2]
    (tmp_path / "ledger.json.lock").touch()
    with (
        pytest.raises(TimeoutError, match=r"ledger\.json\.lock to disappear"),
        locked(file, seconds=0),
    ):
        pass


@each("typed, expected", [("256/6s", "a number"), ("1/0", "a number"), ("1e4.5", "a number")])
def test_error_on_an_invalid_number_states_the_expected_number(typed, expected, capsys):
    words = f"epsilon --noise-multiplier 1 --sample-rate {typed} --steps 1e3 --delta 1e-5"
    assert f"Expected {expected}" in called(words, capsys)[2]
    for steps in ("10.5", "inf", "nan", "1e400"):
        some = words.replace(typed, "1/3").replace("1e3", steps)
        assert f"Expected a whole number such as 10000, got '{steps}'" in called(some, capsys)[2]


@pytest.mark.slow
@each(
    "words, same",
    [
        ("--sampling none", {"sampling": "none", "sample_rate": 1.0}),
        ("--sampling without_replacement --sample-rate 0.1",
         {"sampling": "without_replacement", "sample_rate": 0.1}),
        ("--sample-rate 0.1 --adjacency zero_out", {"sample_rate": 0.1}),
        ("--sample-rate 0.1 --adjacency replace_one", {"sample_rate": 0.1}),
        ("--sampling shuffled --drop-last --sample-rate 0.1",
         {"sampling": "shuffled", "drop_last": True, "sample_rate": 0.1}),
    ],
)  # fmt: skip
def test_command_line_passes_sampling_and_adjacency_to_the_accountant(words, same, capsys):
    (row,) = rows_of(f"epsilon {words} --noise-multiplier 50 --steps 30 --delta 1e-5", capsys)
    run = DPSGD(noise_multiplier=50.0, steps=30, **same)
    chosen = words.partition("--adjacency ")[2] or None
    same = run.guarantee(delta=1e-5, adjacency=chosen)
    assert (row["epsilon"], row["adjacency"]) == (same.epsilon, same.adjacency)


def test_option_named_then_adds_a_training_phase(capsys):
    rows = rows_of(f"epsilon {RUN} --then 2,0.02,500 --then 4,0.01,9 --accountant all", capsys)
    phases = [(4.0, 0.01, 10_000), (2.0, 0.02, 500), (4.0, 0.01, 9)]
    plans = [DPSGD(noise_multiplier=z, sample_rate=q, steps=t) for z, q, t in phases]
    assert {row["method"] for row in rows} == set(ACCOUNTANTS)
    for row in rows:
        stated = Phases(tuple(plans)).guarantee(row["method"], delta=1e-5)
        assert row["epsilon"] == pytest.approx(stated.epsilon, rel=1e-9)


@each("noise", ["0", "1e-7", "0.05", "0.03 --sampling poisson --sample-rate 0.5"])
def test_infinite_epsilon_is_printed_as_null_with_a_reason(noise, capsys):
    words = f"epsilon --sampling none --noise-multiplier {noise} --steps 3 --delta 1e-5"
    for accountant in ("all", "gdp", "pld"):
        for row in rows_of(f"{words} --accountant {accountant}", capsys):
            # At noise 1e-7, a result with finite epsilon may have a reason, too.
            explained = bool(row["reason"])
            assert explained if row["epsilon"] is None else explained <= (noise == "1e-7")
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
def test_calibrate_command_finds_the_omitted_parameter(left_out, words, kind, capsys):
    (row,) = rows_of(f"calibrate --epsilon 2 --delta 1e-5 {words}", capsys)
    assert set(row) == {left_out, "guarantee"} and isinstance(row[left_out], kind)
    assert set(row["guarantee"]) == {field.name for field in dataclasses.fields(Guarantee)}
    assert 1.99 < row["guarantee"]["epsilon"] <= 2.0


def test_calibrate_command_prints_the_result_of_the_library(capsys):
    words = "calibrate --epsilon 2 --delta 1e-5 --sample-rate 0.004 --steps 1000 --accountant rdp"
    step = PoissonSubsampled(Gaussian(1.0), 0.004)
    target = {"epsilon": 2.0, "delta": 1e-5, "steps": 1000}
    least = smallest_noise_multiplier(step, "rdp", **target)
    assert called(words, capsys) == (0, f"{least}\n", "")
    words = "calibrate --epsilon 1 --noise-multiplier 4 --sample-rate 0.01 --steps 10000"
    (row,) = rows_of(words, capsys)
    least = ACCOUNTANTS["pld"]().delta(STEP, epsilon=1.0, steps=10_000)
    assert set(row) == {"delta", "guarantee"}
    assert row["delta"] == row["guarantee"]["delta"] == least.delta
    assert row["guarantee"]["delta_lower"] == least.delta_lower > 0.999 * least.delta
    assert called(words, capsys)[1].endswith(f": {least}\n")
    # Without sampling no rate is missing, and delta is the omitted parameter.
    words = "calibrate --epsilon 1 --noise-multiplier 4 --sampling none --steps 3"
    assert called(words, capsys)[1].startswith("delta = ")


@pytest.mark.slow
def test_calibrate_command_counts_steps_of_shuffled_epochs(capsys):
    words = "calibrate --sampling shuffled --sample-rate 0.01 --epsilon 2 --delta 1e-5"
    plan = DPSGD(noise_multiplier=2.0, steps=1, sampling="shuffled", sample_rate=0.01)
    (row,) = rows_of(f"{words} --drop-last --noise-multiplier 2", capsys)
    run = dataclasses.replace(plan, steps=row["steps"], drop_last=True)
    assert run.guarantee(delta=1e-5).epsilon == row["guarantee"]["epsilon"] <= 2.0
    assert row["steps"] % 100 == 0 and row["steps"] > 1000
    # 101 steps are one epoch and the start of a second.
    (row,) = rows_of(f"{words} --steps 101", capsys)
    run = dataclasses.replace(plan, steps=101, noise_multiplier=row["noise_multiplier"])
    assert 1.99 < run.guarantee(delta=1e-5).epsilon <= 2.0


REACH = "calibrate --epsilon 0.1 --sample-rate 0.1 --steps 10"
# Command, exit status, and part of the standard error.
COMPLAINTS = [
    (f"{REACH} --delta 1e-5 --accountant moments", 1, "smallest epsilon found"),
    (f"{REACH} --noise-multiplier 0", 1, "no delta below 1 is proved by pld"),
    ("", 2, "command"),
    ("profit", 2, "profit"),
    ("epsilon --noise-multiplier 1", 2, "--delta"),
    (f"epsilon {RUN} --accountant magic", 2, "magic"),
    (f"epsilon {RUN} --delta 1", 2, "delta in (0, 1), got delta=1.0"),
    ("epsilon --noise-multiplier 1 --steps 1 --delta 0.1", 2, "--sample-rate"),
    (f"epsilon {RUN} --then 2,0.02", 2, "SIGMA,Q,STEPS such as 2,0.01,500, got '2,0.02'"),
    (f"epsilon {RUN} --then 2,3,4", 2, "sample_rate in (0, 1], got sample_rate=3.0"),
    (f"epsilon {RUN} --sampling none", 2, "sampling='none'"),
    (f"epsilon {RUN} --drop-last", 2, "drop_last with sampling='shuffled'"),
    (f"epsilon {RUN} --sampling random_allocation --adjacency replace_one", 2, "replace_one"),
    (f"epsilon {RUN} --sampling shuffled --adjacency add_remove --accountant all", 2, "shuffled"),
    (f"calibrate --epsilon 1 {RUN}", 2, "exactly one of --noise-multiplier, --steps"),
    ("calibrate --epsilon 1 --delta 1e-5 --steps 3", 2, "got 2"),
    ("calibrate --epsilon 1 --steps 3 --delta 1e-5 --noise-multiplier 2 --sampling shuffled", 2,
     "--sample-rate with --sampling shuffled"),
    ("calibrate --epsilon 1 --steps 3", 2, "--delta to be left out, got 3"),
    ("calibrate --epsilon 0 --delta 1e-5 --sample-rate 0.1 --steps 3", 2, "epsilon > 0"),
    ("verify G-A88", 2, "such as G-A8, G-F8, G-E8, got 'G-A88'"),
    ("claim q*", 2, "left side"),
    ("claim -foo(q)", 2, "left side"),
    ("claim", 2, "EXPRESSION"),
]  # fmt: skip


@each("words, expected, named", COMPLAINTS)
def test_an_error_is_one_line_that_names_the_command(words, expected, named, capsys):
    status, out, err = called(words, capsys)
    command = words.split()[0] if words not in ("", "profit") else ""
    assert (status, out) == (expected, "")
    assert err.count("\n") == 1 and err.startswith(f"dplearn {command}".strip()) and named in err


def test_a_process_exits_with_the_status_and_help_lists_the_commands(capsys):
    command = [sys.executable, "-m", "dplearn", "epsilon", *RUN.split(), "--delta", "2"]
    bad = subprocess.run(command, capture_output=True, text=True, env=clean_environment())
    assert (bad.returncode, bad.stdout, bad.stderr.count("\n")) == (2, "", 1)
    status, out, _ = called("--help", capsys)
    assert status == 0 and "calibrate" in out and "epsilon" in out


@pytest.mark.slow
def test_verify_command_prints_sentences_or_json(capsys):
    status, out, err = called("verify G-A8 G-A5", capsys)
    lines = out.splitlines()
    assert (status, err, len(lines)) == (0, "", 4)
    assert lines[0].startswith("G-A8 ") and " verified " in lines[0] and lines[0].endswith(" s")
    assert "refuted square: order=2, scale=1: 2 instead of 0.619124" in lines[1]
    assert "unsafe" in lines[2] and lines[3].startswith("G-A5")
    entry, *misprints = rows_of("verify G-A2", capsys)
    assert len(misprints) == 3
    assert (entry["id"], entry["kind"], entry["status"]) == ("G-A2", "identity", "verified")
    assert all({"worst_slack", "seconds"} <= set(row) for row in [entry, *misprints])
    for row in misprints:
        assert row["id"].startswith("G-A2/") and row["kind"] == "misprint"
        assert row["status"] == "refuted" and row["counterexample"]["parameters"]


def test_verify_command_reports_a_failure(capsys, monkeypatch):
    wrong = run_all.Verification(id="G-A1", kind="identity", status="failed", reason="by hand")
    right = dataclasses.replace(wrong, status="verified")
    monkeypatch.setattr(run_all, "results_of", lambda id, **_: [right, wrong])
    out = called("verify G-A1", capsys)[1]
    assert "failed" in out and "by hand" in out
    _, row = rows_of("verify G-A1", capsys, expected=1)
    assert row["worst_slack"] is None


def test_exit_status_of_the_claim_command_tells_if_the_claim_holds(capsys):
    command = "claim sigma=sqrt(2*log(1.25/delta))/epsilon"
    status, out, err = called(command, capsys)
    assert (status, err) == (0, "") and out.startswith("Conditional: ")
    assert "only if 0 < ε <= 1" in out and "G-B4, Dwork & Roth (2014), Theorem A.1" in out
    assert called(f"{command} --strict", capsys)[0] == 4
    (row,) = rows_of(f"{command} --words ε≤1", capsys)
    assert row["verdict"] == "holds" and row["lines"][0]["entry"] == "G-B4"
    assert called("claim ε'=qε", capsys)[0] == 1 and called("claim kρ-zCDP", capsys)[0] == 3
