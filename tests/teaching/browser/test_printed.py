"""Sentences and code on the pages are true for the rounded numbers that they show."""

import re
from dataclasses import replace

import numpy as np
import pytest

from dplearn import DPSGD, Gaussian, Laplace, PoissonSubsampled
from dplearn.teaching import browser

# JavaScript that returns sentences of two scenes, the run as text, and its numbers as shown.
PRINTED = """run => {
  const { T } = run;
  const curve = dplearn.curves(run, [T]);
  const [lower, upper] = [curve.pld.lower[0], curve.pld.upper[0]];
  const ends = { lower, upper, moments: curve.moments.upper[0] };
  if (upper === null) return null;
  const minute = { run, truth: { at: () => ends }, say: messages.speaker("en"), guess: null };
  const { head, small } = scenes.SCENES[1].words(minute);
  const why = scenes.SCENES[2].words(minute);
  const said = (name) => numbers.shown(name, run[name]);
  return {
    sentences: [`${head}. ${small}`, `${why.text} ${why.head}`],
    run: messages.speaker("en")("run", scenes.numbers(run)),
    shown: ["noise_multiplier", "sample_rate", "delta", "T"].map(said),
  };
}"""
# JavaScript that returns the code to copy for a run with some fields changed.
CODE = """change => run.python({
  ...run.fromAddress("noise_multiplier=2&sample_rate=0.1&here=20").run, ...change,
})"""
READ = "texts => texts.map(numbers.read)"


PARTS = {"messages": "scenes/messages", "scenes": "scenes/views", "numbers": "page/numbers"}
PARTS |= {"run": "page/run"}
SCRIPTS = [browser.source(), *(browser.source(name, entry) for name, entry in PARTS.items())]


def runs():
    """Yield random runs with q = B/N and delta = 1/N for whole numbers B and N."""
    rng = np.random.default_rng(48)
    for _ in range(40):
        records = int(np.exp(rng.uniform(7, 14)))
        yield {
            "noise_multiplier": float(rng.uniform(0.6, 4)),
            "sample_rate": int(rng.integers(1, records // 8)) / records,
            "delta": 1 / records,
            "T": int(np.exp(rng.uniform(2, 16))),
            "adjacency": "add_remove",
        }


def test_headlines_are_true_for_the_rounded_numbers_they_show(evaluate):
    stated = 0
    for run in runs():
        if (printed := evaluate(PRINTED, run)) is None:
            continue
        run_line = printed["run"].replace("\xa0", " ")
        match = re.search(r"σ = (\S+), .*chance (\S+)\u202f?%, δ = (\S+)\.$", run_line)
        noise, percent, delta = evaluate(READ, list(match.groups()))
        rate, steps = percent / 100, round(evaluate(READ, printed["shown"])[3])
        assert evaluate(READ, printed["shown"])[:3] == pytest.approx([noise, rate, delta])
        now = PoissonSubsampled(Gaussian(noise), rate).guarantee(delta=delta, steps=steps)
        plain = " ".join(printed["sentences"]).replace("\xa0", " ").replace("\u202f", "")
        lower, upper = re.search(r"(\S+) ≤ ε ≤ (\S+)\.", plain).groups()
        heads = re.search(r"^ε ≤ (\S+)\.", plain), re.search(r"loss proves (\S+):", plain)
        uppers = evaluate(READ, [upper, *(head[1] for head in heads)])
        assert min(uppers) >= now.lower * (1 - 1e-10), (run, plain)
        assert evaluate(READ, [lower])[0] <= now.epsilon * (1 + 1e-10), (run, plain)
        # The moments bound exceeds the smallest possible epsilon by at least the stated percentage.
        excess, moments = re.search(r"and (\S+) % too large.*of 2016 says (\S+)\.$", plain).groups()
        assert now.lower * (1 + float(excess) / 100) <= evaluate(READ, [moments])[0], (run, plain)
        stated += 1
    assert stated > 30


STEP = DPSGD(noise_multiplier=2, sample_rate=0.1, steps=20)
FULL = replace(STEP, sample_rate=1.0, sampling="none")
CODED = [
    ({}, STEP),
    ({"sample_rate": 1, "adjacency": "replace_one"}, FULL),
    ({"adjacency": "replace_one"}, STEP),
    ({"B": 60, "N": 600}, STEP),
    ({"sampling": "shuffled", "adjacency": "zero_out"}, replace(STEP, sampling="shuffled")),
    (
        {"sampling": "shuffled_drop_last", "adjacency": "zero_out"},
        replace(STEP, sampling="shuffled", drop_last=True),
    ),
]


def test_copied_code_prints_the_same_epsilon(evaluate, capsys):
    for change, plan in CODED:
        exec(evaluate(CODE, change), {})
        expected = plan.guarantee(delta=1e-5, adjacency=change.get("adjacency", "add_remove"))
        assert capsys.readouterr().out == f"{expected}\n"
    exec(evaluate(CODE, {"mechanism": "laplace", "noise_multiplier": 9}), {})
    expected = PoissonSubsampled(Laplace(9.0), 0.1).guarantee(delta=1e-5, steps=20)
    assert capsys.readouterr().out == f"{expected}\n"
