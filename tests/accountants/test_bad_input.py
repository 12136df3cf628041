"""Each error of accountants, plans and searches names the argument, its value and what to do."""

import math
from dataclasses import replace
from functools import partial

import pytest

from cases import assert_numbers_are_checked, each
from dplearn import (
    ACCOUNTANTS,
    DPSGD,
    Composed,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    Ledger,
    Phases,
    RandomizedResponse,
    Tuned,
    largest_sample_rate,
    largest_steps,
    smallest_noise_multiplier,
)
from dplearn.accountants.pld import PLD
from dplearn.calibrate import Unreachable
from dplearn.mechanisms import PoissonSubsampled, WithoutReplacement
from dplearn.mechanisms.sampling_scheme import sampled as sampled_by
from outcomes import sampled

STEP, ONE = sampled(4.0, 0.01), {"base": Gaussian(1.0), "sample_rate": 0.01}
RUN = DPSGD(noise_multiplier=4.0, sample_rate=0.01, steps=10_000)
EPOCHS = replace(RUN, sampling="shuffled")
SCORES = PoissonSubsampled(ExponentialMechanism(1.0), 0.1)
SEARCHES = (smallest_noise_multiplier, largest_sample_rate, largest_steps)
rdp, curve = ACCOUNTANTS["rdp"]().epsilon, ACCOUNTANTS["rdp"]().epsilon_curve
change, noise = partial(replace, RUN), partial(smallest_noise_multiplier, STEP)
loader = partial(DPSGD.from_epochs, noise_multiplier=1.0)
GOOD, TARGET = {"dataset_size": 60, "batch_size": 6, "epochs": 1.0}, {"epsilon": 2.0, "delta": 1e-5}
ATTACK = {"true_positive_rate": 0.05, "false_positive_rate": 0.01}
tuned = partial(Tuned, RandomizedResponse(0.7))
ledger = partial(Ledger, epsilon=1.0, delta=1e-5)
rates = partial(PLD().true_positive_rate, Gaussian(1.0))

VALUES = [
    (lambda: rdp(STEP, delta=1.0), r"delta in \(0, 1\)"),
    (lambda: rdp(STEP, delta=1e-5, steps=10**13), r"steps .* <= 1e\+12"),
    (lambda: rdp(STEP, delta=1e-5, adjacency="swap"), "one of add_remove"),
    (lambda: curve(STEP, delta=1e-5, steps=[1.5]), "whole numbers >= 0"),
    (lambda: curve(STEP, delta=1e-5, steps=[-1]), "whole numbers >= 0"),
    (lambda: curve(STEP, delta=1e-5, steps=["1"]), "whole numbers >= 0"),
    (lambda: curve(STEP, delta=1e-5, steps=[[1, 2]]), "in 1 columns, .* got 2"),
    # Counts of nineteen digits once overflowed to negative numbers, and epsilon was 0.
    (lambda: rdp(Composed([(STEP, 10**10)]), delta=1e-5, steps=10**9), r"at most .* got 1e\+19"),
    (lambda: curve(STEP, delta=1e-5, steps=[10**13]), r"got 1e\+13"),
    (lambda: PLD(most_cells=63), "most_cells a whole number >= 64"),
    (lambda: ACCOUNTANTS["rdp"](orders=()), "at least one, got orders"),
    (lambda: ACCOUNTANTS["rdp"](orders=[1.0, 2.0]), "orders > 1"),
    (lambda: ACCOUNTANTS["moments"](0), "largest_moment a whole number >= 1"),
    (lambda: rates(false_positive_rate=[0.1, 1.0]), "false_positive_rate"),
    (lambda: Gaussian(1.0).rdp([[2, 3]]), r"orders of shape \(n,\)"),
    (lambda: Gaussian(1.0).rdp([math.inf]), "finite, got orders=.*inf"),
    (lambda: Gaussian(1e155), r"0 or in \[1e-50, 1e50\]"),
    (lambda: DiscreteGaussian(1e-300), "got noise_multiplier=1e-300"),
    (lambda: Gaussian(10**400), "noise_multiplier 0 or in"),
    (lambda: Gaussian.analytic(epsilon=0.0, delta=1e-310), "noise_multiplier 0"),
    (lambda: Gaussian(1.0).profiles()[0].epsilon(math.nan), r"delta in \[0, 1\]"),
    (lambda: change(sample_rate=0.0), r"in \(0, 1\], got sample_rate=0\.0"),
    (lambda: change(max_grad_norm=0.0), "max_grad_norm"),
    (lambda: change(sampling="shuffle"), "sampling one of"),
    (lambda: change(drop_last=True), "drop_last with sampling='.+' alone, got sampling='poi"),
    (lambda: loader(**GOOD | {"batch_size": 61}), "batch_size a whole number >= 1 and <= 60"),
    (lambda: loader(**GOOD | {"epochs": 1e308}), "steps >= 0 and finite, got steps=inf"),
    (lambda: sampled_by(sampling="none", **ONE), "sample_rate = 1 with sampling='none'"),
    (lambda: sampled_by(sampling="shuffled", **ONE), "of none, poisson, without_repl"),
    (lambda: RUN.guarantee("magic", delta=1e-5), "of advanced, basic"),
    (lambda: RUN.guarantees("rdp", delta=1e-5, steps=[[1]]), "steps to be whole numbers"),
    (lambda: RUN.at(-1), "step a whole number >= 0"),
    (lambda: Phases((RUN, EPOCHS)).guarantee("rdp", delta=1e-5), "all phases share, got add_remo"),
    (lambda: largest_steps(EPOCHS, **TARGET), "Expected steps drawn afresh"),
    (lambda: smallest_noise_multiplier(Phases([RUN, change(sample_rate=0.1)]), **TARGET),
     "Expected a plan of one phase"),
    *((partial(search, STEP, "rdp", epsilon=bad, delta=1e-5), "epsilon > 0 and finite")
      for search in SEARCHES for bad in (0.0, math.inf)),
    (lambda: noise("best", **TARGET), r"accountant one of .*, got accountant='best'"),
    (lambda: largest_sample_rate(Gaussian(1.0), **TARGET), "of gaussian, got 'sample_rate'"),
    (lambda: smallest_noise_multiplier(Composed([STEP]), **TARGET), "of composed"),
    (lambda: noise(**ATTACK | {"true_positive_rate": 0.01}), "> false_positive_rate, got 0.01"),
    (lambda: noise("rdp", **ATTACK), "accountant='pld', which bounds attacks, got RDP"),
    (lambda: tuned(tries=0.5), r"tries in \[1, 1e\+06\], got tries=0.5"),
    (lambda: tuned(tries=10, shape=-1), r"shape in \[-0.9, 10\], got shape=-1"),
    (lambda: ledger(epsilon=0.0), "Expected epsilon"),
    (lambda: ledger(delta=1.0), "Expected delta"),
    (lambda: ledger(order=1.0), "Expected order"),
    (lambda: ledger(adjacency="swap"), "Expected adjacency"),
    (lambda: ledger(reserve=1e-4), "Expected reserve"),
    *((partial(ledger().add, Gaussian(10.0), name=name), "Expected name to be a line of text")
      for name in ("a\nb", b"x", 3)),
]  # fmt: skip
TYPES = [
    (lambda: rdp(None, delta=1e-5), "mechanism to be a Mechanism"),
    (lambda: rdp("gaussian", delta=1e-5), "got mechanism='gaussian'"),
    (lambda: STEP.vary(base=None), "base to be a Mechanism"),
    (lambda: RUN.guarantee(None, delta=1e-5), "accountant to be an Acc"),
    (lambda: DPSGD(4.0, 0.01, 10), "positional"),
    (lambda: Phases(()), r"a list of DPSGD, got \(\)"),
    (lambda: Phases((RUN, 3)), "phase to be a DPSGD, got phase=3"),
    (lambda: noise(**TARGET, **ATTACK), "or an advantage, got several"),
    (lambda: noise(), "Expected epsilon and delta, or the two rates .* got none"),
    (lambda: noise(advantage=0.1, delta=1e-5), "got several"),
    (lambda: noise(epsilon=1.0), "got delta=None"),
    (lambda: noise(false_positive_rate=0.01), "got true_positive_rate=None"),
    (lambda: Tuned("DPSGD", tries=10), "run to be a Mechanism, got run='DPSGD'"),
    (lambda: ledger().add(0.1), "release to be a mechanism, a plan, ApproximateDP"),
    # The error on an unknown keyword suggests the right keyword.
    (lambda: ledger().add(Gaussian(10.0), step=3), r"got step; did you mean steps\?"),
    (lambda: Gaussian(sigma=1.0), r"^Expected .*, got sigma; did you mean noise_multiplier\?$"),
    (lambda: DPSGD(noise_multiplier=1.0, q=0.1, steps=3), r"got q; did you mean sample_rate\?$"),
    (lambda: change(stepz=3), r"got stepz; did you mean steps\?$"),
    (lambda: ExponentialMechanism(epsilon=1.0), r"got epsilon; did you mean range_epsilon\?$"),
    (lambda: noise(epsilom=2.0, delta=1e-5), r"got epsilom; did you mean epsilon\?$"),
    (lambda: Gaussian(colour=1.0), "^Expected noise_multiplier as keywords of Gaussian, got"),
]  # fmt: skip
UNSUPPORTED = [
    (lambda: EPOCHS.guarantee(delta=1e-5, adjacency="add_remove"), "add_remove"),
    (lambda: Phases((RUN, EPOCHS)).guarantee(delta=1e-5, adjacency="add_remove"), "add_remove"),
    (lambda: largest_steps(WithoutReplacement(Gaussian(1.0), 0.1), **TARGET), "repl"),
    (lambda: tuned(tries=10).guarantee(delta=1e-5), "add_remove"),
    (lambda: ledger().add(RandomizedResponse(0.1)), "randomized_response"),
]
CASES = {ValueError: VALUES, TypeError: TYPES, NotImplementedError: UNSUPPORTED}


@each("error, call, message", [(error, *case) for error in CASES for case in CASES[error]])
def test_errors_name_the_argument_and_the_expected_value(error, call, message):
    with pytest.raises(error, match=message):
        call()


@each(
    "call, valid",
    [(partial(rdp, STEP), {"delta": 1e-5, "steps": 9}),
     (partial(ACCOUNTANTS["rdp"]().delta, STEP), {"epsilon": 1.0, "steps": 9}),
     (PLD, {"rtol": 0.01, "most_cells": 2**12}),
     (DPSGD, {"noise_multiplier": 1.0, "sample_rate": 0.1, "steps": 9, "max_grad_norm": 1.0}),
     (DPSGD.from_epochs, {"noise_multiplier": 1.0} | GOOD),
     (RUN.guarantee, {"accountant": "rdp", "delta": 1e-5, "steps": 9}),
     *((partial(search, STEP, "rdp"), TARGET) for search in SEARCHES),
     (Ledger, {"epsilon": 1.0, "delta": 1e-5, "order": 9.0, "reserve": 1e-6}),
     (partial(ledger(epsilon=99.0).add, Gaussian(9.0)), {"steps": 9}),
     (tuned, {"tries": 10.0, "shape": 1.0})],
)  # fmt: skip
def test_invalid_numbers_are_refused(call, valid):
    assert_numbers_are_checked(call, **valid)


@each(
    "name, mechanism, adjacency, named",
    [
        ("gdp", Laplace(1.0), "add_remove", "gdp: its limit is stated .* not for laplace"),
        ("gdp", WithoutReplacement(Gaussian(1.0), 0.1), "replace_one", "not for without_repl"),
        ("pld", SCORES, "replace_one", "pld: adjacency='replace_one' for Poisson"),
        ("rdp", Composed([Gaussian(1.0), SCORES]), "replace_one", "rdp: .*Poisson"),
        ("rdp", WithoutReplacement(SCORES, 0.1), "replace_one", "rdp: .*Poisson"),
    ],
)
def test_errors_name_the_accountant_and_what_it_does_not_support(name, mechanism, adjacency, named):
    assert not ACCOUNTANTS[name]().supports(mechanism, adjacency)
    with pytest.raises(NotImplementedError, match=named):
        ACCOUNTANTS[name]().epsilon(mechanism, delta=1e-5, adjacency=adjacency)


@each(
    "search, target, message",
    [
        # Epsilon by the moments accountant is at least ln(1/delta) / 32 = 0.36.
        *((search, ("moments", {"epsilon": 0.1, "delta": 1e-5}),
           f"got epsilon=0.1: the smallest epsilon found over all {parameter} is 0.359")
          for search, parameter in ((smallest_noise_multiplier, "noise_multiplier"),
                                    (largest_sample_rate, "sample_rate"))),
        (smallest_noise_multiplier, ("pld", ATTACK | {"false_positive_rate": 0.05 - 1e-12}),
         "smallest true_pos"),
    ],
)  # fmt: skip
def test_error_on_an_unreachable_target_states_the_smallest_value(search, target, message):
    with pytest.raises(Unreachable, match=message):
        search(STEP, target[0], **target[1])
