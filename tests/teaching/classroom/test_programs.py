"""Exercises that ask for a function: replies to right, wrong and hostile functions."""

import math
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from cases import each
from dplearn.teaching.classroom import Mistake, Program, check, checks, programs, sources
from dplearn.teaching.classroom.checks import exercises


def clipped(rows, norm):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows) * np.minimum(1, norm / np.maximum(lengths, 1e-12))


CLIP = Program(
    key="90.1",
    right=clipped,
    cases=(([[0.3, 0.4]], 1.0), ([[3.0, 4.0]], 1.0), ([[0.0, 0.0], [6.0, 8.0]], 2.0)),
    praise="Indeed.",
    mistakes=(
        Mistake(lambda rows, norm: np.clip(rows, -norm, norm), ("Vector?", "Clip the norm.")),
        Mistake(
            lambda rows, norm: rows / np.zeros(2) if norm == 2 else clipped(rows, norm), ("0",)
        ),
    ),
    hints=("A nudge.", "The point."),
    seconds=0.2,
)


def blank(rows, norm):
    # Write your code here.
    return None


def documented(rows, norm):
    """Clip."""
    ...


def skeleton(rows, norm):
    factors = [... for row in rows]
    return [[factor * x for x in row] for factor, row in zip(factors, rows, strict=True)]


def by_dots(rows, norm):
    return clipped(np.asarray(rows)[..., :], norm)


def by_loops(rows, norm):
    print("a student looks at", rows)
    lengths = [math.hypot(*row) for row in rows]
    factors = [min(1, norm / length) if length else 0 for length in lengths]
    return [[factor * x for x in row] for factor, row in zip(factors, rows, strict=True)]


def of_coordinates(rows, norm):
    return [[max(-norm, min(norm, x)) for x in row] for row in rows]


def in_place(rows, norm):
    for row in rows:
        row[0] /= 2
    return clipped(rows, norm)


def endless(rows, norm):
    while True:
        pass


def stubborn(rows, norm):
    while True:
        try:
            norm += 1
        except BaseException:
            norm -= 1


def asleep(rows, norm):
    time.sleep(3)


def recursive(rows, norm):
    return recursive(rows, norm)


class Trap:
    def tolist(self):
        raise KeyboardInterrupt("not today")


RAISES = "90.1 not yet: it raises "
ANSWERS = [
    (clipped, "right", "90.1 right in 3 of 3 cases: Indeed."),
    (by_dots, "right", "90.1 right in 3 of 3 cases: Indeed."),
    (by_loops, "right", "90.1 right in 3 of 3 cases: Indeed."),
    (of_coordinates, "mistake", "90.1 not yet: Vector?\n  case      rows = [[3, 4]], norm = 1\n"),
    (of_coordinates, "mistake", "\n  expected  [[0.6, 0.8]]\n  got       [[1, 1]]"),
    (lambda rows, norm: clipped(rows, 1.0), "wrong", "90.1 not yet: A nudge.\n  case      rows ="),
    (lambda rows, norm: clipped(rows, norm) + 1e-5, "wrong", "got       [[0.30001, 0.40001]]"),
    (blank, "open", "90.1 not answered yet: write the body of the function and run the cell"),
    (documented, "open", "90.1 not answered yet"),
    (skeleton, "open", "90.1 not answered yet: put your own code in place of `...`"),
    (None, "open", "90.1 not answered yet"),
    (lambda rows, norm: False, "mistake", "numbers of shape (); (1, 2) is expected."),
    (lambda rows, norm: 0.0, "mistake", "numbers of shape (); (1, 2) is expected."),
    (clipped([[3, 4]], 1), "unreadable", "90.1 not readable: pass the function itself"),
    (lambda rows, norm: None if norm < 9 else 1, "mistake", "it returns None; does it end with"),
    (lambda rows, norm: "abc", "mistake", "it returns abc; numbers are expected."),
    (lambda rows, norm: rows[0], "mistake", "numbers of shape (2,); (1, 2) is expected."),
    (lambda rows, norm: 1 / 0, "mistake", RAISES + "ZeroDivisionError: division by zero."),
    (lambda rows: 1, "mistake", RAISES + "TypeError: "),
    (lambda rows, norm: exit(), "mistake", RAISES + "SystemExit"),
    (in_place, "mistake", "90.1 not yet: it changes its argument number 1; work on a copy of it."),
    (recursive, "mistake", RAISES + "RecursionError"),
    (lambda rows, norm: Trap(), "mistake", "its result cannot be used, KeyboardInterrupt: not"),
    (endless, "mistake", "90.1 not yet: it takes more than 0.2 seconds; look for a loop without"),
    (stubborn, "mistake", "90.1 not yet: it takes more than 0.2 seconds"),
    (asleep, "not judged", "90.1 not judged: this computer is too busy, or your function waits;"),
]


@pytest.mark.slow
@each("answer, outcome, words", ANSWERS)
def test_any_function_gets_a_reply_of_one_sentence(answer, outcome, words, monkeypatch):
    # A busy machine may need far more elapsed time than processor time.
    monkeypatch.setattr(programs, "_PATIENCE", 10 if answer is asleep else 1000)
    verdict = CLIP.verdict(answer)
    assert verdict.outcome == outcome and words in verdict.text(), verdict.text()


@pytest.mark.slow
def test_busy_machine_does_not_change_replies(monkeypatch):
    monkeypatch.setattr(programs, "_PATIENCE", 1000)
    quiet = threading.Event()

    def spin():
        while not quiet.is_set():
            pass

    def slow(rows, norm):
        end = time.thread_time() + 0.05  # the limit is 0.2 s of CPU time for all cases
        while time.thread_time() < end:
            pass
        return by_loops(rows, norm)

    for _ in range(3):
        threading.Thread(target=spin).start()
    began = time.monotonic()
    verdicts = [CLIP.verdict(slow), CLIP.verdict(endless)]
    taken = time.monotonic() - began
    quiet.set()
    assert verdicts[0].outcome == "right" and taken > 3 * CLIP.seconds, verdicts[0].text()
    assert "it takes more than 0.2 seconds" in verdicts[1].text()


def test_slow_functions_are_stopped_and_leave_no_thread(capsys):
    before = {*threading.enumerate()}  # threads of other tests may end meanwhile
    for function in (endless, stubborn, by_loops):
        CLIP.verdict(function)
    assert {*threading.enumerate()} <= before
    assert capsys.readouterr().out == ""


def test_mistake_is_recognised_only_if_results_are_equal_in_every_case():
    """A function with another bug besides gets the general hints; NaN counts as equal to NaN."""
    both = CLIP.verdict(lambda rows, norm: np.clip(rows, -norm, norm) * 2)
    assert both.outcome == "wrong" and both.messages == CLIP.hints
    nan = CLIP.verdict(lambda rows, norm: np.array(rows) / 0 if norm == 2 else clipped(rows, norm))
    assert nan.outcome == "mistake" and nan.messages == ("0",)


def test_reply_shows_only_measured_values_that_are_wrong():
    def sizes(sample, n):
        drawn = [sample(n, np.random.default_rng(seed)) for seed in range(200)]
        return {"mean": np.mean(drawn), "odd": bool(max(drawn) % 2)}

    program = replace(CLIP, right=lambda n, rng: 2 * rng.integers(n), measure=sizes, rtol=0.1)
    program = replace(program, cases=((100,),), mistakes=())
    assert program.verdict(lambda n, rng: 2 * int(n * rng.random())).outcome == "right"
    text = program.verdict(lambda n, rng: 2 * rng.integers(n) + 1).text()
    assert "case      n = 100\n  expected  {odd: False}\n  got       {odd: True}" in text


def test_only_repeated_wrong_results_get_the_plainer_hint(capsys, monkeypatch):
    monkeypatch.setattr(checks, "exercise_of", lambda key: CLIP)
    for factor in (2, 3, 3):
        check("90.1", lambda rows, norm, factor=factor: factor * clipped(rows, norm))
    hints = [line for line in capsys.readouterr().out.splitlines() if line.startswith("90.1")]
    assert hints == ["90.1 not yet: A nudge."] * 2 + ["90.1 not yet: The point."]


def lesson_exercise(key):
    return exercises(sources.lessons()[key[:-2].zfill(2)])[key]


def with_numpy(function):
    """Return a function that replaces Python's generator, its last argument, by NumPy's."""
    return lambda *case: function(*case[:-1], np.random.default_rng(case[-1].getrandbits(64)))


def noisy_sum(noise):
    """Return a function that adds scaled `noise` to the sum of a lot's clipped vectors."""

    def lot_sum(batches, norm, sigma, rng):
        total = sum(clipped(batch, norm).sum(axis=0) for batch in batches)
        return total + sigma * norm * noise(rng, len(total))

    return lot_sum


def cut(rng, n):
    """Return normal noise truncated at three standard deviations, with variance one."""
    z = rng.standard_normal(n + 50)
    return z[abs(z) < 3][:n] / 0.9866


def centred(rng, n):
    """Return normal noise of variance one whose coordinates add up to zero."""
    z = rng.standard_normal(n)
    return (z - z.mean()) * math.sqrt(n / (n - 1))


def cancelling():
    """Return a function that draws noise; every second call returns minus the previous noise."""
    pending = {}

    def draw(rng, n):
        if n in pending:
            return -pending.pop(n)
        return pending.setdefault(n, rng.standard_normal(n))

    return draw


def coins_of_two_steps():
    """Return a Poisson sampler that uses the same random numbers for two lots in a row."""
    remaining = []

    def draw(n, q, rng):
        coins = remaining.pop() if remaining else remaining.append(rng.random(n))
        return np.flatnonzero((remaining[-1] if coins is None else coins) < q)

    return draw


def first_and_last(n, q, rng):
    return np.flatnonzero(np.resize(rng.random(n - 1), n) < q)


def window(n, q, rng):
    return (np.arange(rng.binomial(n, q)) + rng.integers(n)) % n


# Noise and lots of wrong distributions, but about the right standard deviation or size.
NOISES = {
    "Laplace": lambda rng, n: rng.laplace(size=n) / math.sqrt(2),
    "twelve uniforms": lambda rng, n: rng.random((12, n)).sum(0) - 6,
    "adds up to zero": centred,
    "cut at three deviations": cut,
    "not about zero": lambda rng, n: 1 + rng.standard_normal(n),
    "the same each time": lambda rng, n: np.random.default_rng(0).standard_normal(n),
    "taken back by the next": cancelling(),
    "neighbours share a draw": lambda rng, n: np.diff(rng.standard_normal(n + 1)) / 2**0.5,
}
HARMFUL = {name: ("10.5", noisy_sum(noise)) for name, noise in NOISES.items()} | {
    "window": ("6.1", window),
    "first and last": ("6.1", first_and_last),
    "coins of two steps": ("6.1", coins_of_two_steps()),
    "a tenth too many": ("6.1", lambda n, q, rng: np.flatnonzero(rng.random(n) < 1.1 * q)),
}


@pytest.mark.slow
def test_wrong_distributions_of_noise_and_lots_are_rejected():
    cases = {"6.1": slice(1), "10.5": slice(3, None)}  # cases that test random draws
    for name, (key, function) in HARMFUL.items():
        program = replace(lesson_exercise(key), mistakes=())
        program = replace(program, cases=program.cases[cases[key]])
        assert program.verdict(with_numpy(function)).outcome == "wrong", name


# Right functions for exercises 6.1, 8.5 and 10.5, written in another way than ours.
def mask(n, q, rng):
    return [bool(rng.random() < q) for _ in range(n)]


def enumerated(losses, probabilities, steps, width, epsilon):
    law = {0.0: 1.0}
    for _ in range(steps):
        law_before, law = law, {}
        for total, mass in law_before.items():
            for loss, p in zip(losses, probabilities, strict=True):
                law[total + loss] = law.get(total + loss, 0) + mass * p
    delta = sum(p * max(0, 1 - math.exp(epsilon - loss)) for loss, p in law.items())
    return delta, delta


def around_the_sum(batches, norm, sigma, rng):
    rows = np.concatenate([clipped(batch, norm) for batch in batches])
    return list(rng.normal(rows.sum(axis=0), sigma * norm))


@pytest.mark.slow
@pytest.mark.parametrize(
    "key, function",
    [
        ("6.1", mask),
        ("6.1", lambda n, q, rng: {k for k in range(n) if rng.uniform(0, 1) > 1 - q}),
        ("8.5", enumerated),
        ("10.5", with_numpy(around_the_sum)),
    ],
)
def test_right_functions_written_in_another_way_are_accepted(key, function):
    verdict = lesson_exercise(key).verdict(function)
    assert verdict.outcome == "right", verdict.text()
