"""The command line; `dplearn --help` lists its commands.

Exit status: 0 success, 1 failed check (a target out of reach, a claim violated), 2 wrong usage.
"""

import math
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, cast

from dplearn import __version__, calibrate
from dplearn.accountants import ACCOUNTANTS
from dplearn.core.display import as_json, print_json
from dplearn.core.files import locked
from dplearn.core.guarantee import ADJACENCIES, Guarantee
from dplearn.ledger import BudgetExceeded, Ledger
from dplearn.mechanisms import ZCDP, ApproximateDP, Mechanism
from dplearn.mechanisms.sampling_scheme import EPOCH_SAMPLINGS, EVERY_SAMPLING, default_adjacency
from dplearn.run import DPSGD, Phases


class _Parser(ArgumentParser):
    """Argument parser that prints an error on one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 success, 1 failed check, 2 wrong usage."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["claim"]:
        # Add a space before a formula's minus sign, so that argparse does not read it as an option.
        arguments = [f" {a}" if re.match(r"-(?!-|h$)", a) else a for a in arguments]
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except (ValueError, TypeError, NotImplementedError, ImportError, OSError) as error:
        print(f"dplearn {options.command}: {error}", file=sys.stderr)
        return 1 if isinstance(error, calibrate.Unreachable | BudgetExceeded) else 2


def _parser() -> ArgumentParser:
    parser = _Parser(prog="dplearn", description="Privacy accounting for DP-SGD runs.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    epsilon = commands.add_parser("epsilon", help="epsilon of a run")
    epsilon.set_defaults(run=_epsilon)
    _add_question(epsilon, required=True, choices=[*ACCOUNTANTS, "all"])
    about = "another phase after those steps; repeat it for more"
    epsilon.add_argument(
        "--then", action="append", type=_phase, metavar="SIGMA,Q,STEPS", help=about
    )
    about = "solve for what you leave out: noise multiplier, steps, sample rate or delta"
    find = commands.add_parser("calibrate", help=about)
    find.set_defaults(run=_calibrate)
    find.add_argument("--epsilon", type=float, required=True)
    _add_question(find, required=False, choices=[*ACCOUNTANTS])
    proof = commands.add_parser("certify", help="write epsilon of a run with a proof")
    proof.set_defaults(run=_certify)
    _add_question(proof, required=True, choices=["pld"])
    proof.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: print it")
    checker = commands.add_parser("check", help="prove a certificate again, in ball arithmetic")
    checker.set_defaults(run=_check)
    checker.add_argument("file", type=Path)
    for command in (epsilon, find):
        command.add_argument("--json", action="store_true", help="print one list of objects")
    _add_ledger(commands)
    # Imported by name: the library must not depend on its teaching part.
    import_module("dplearn.teaching.commands").add_commands(commands)
    return parser


def _add_question(command: ArgumentParser, *, required: bool, choices: Sequence[str]) -> None:
    _add_run_options(command, command, required=required)
    command.add_argument("--delta", type=_number, required=required)
    command.add_argument("--accountant", default="pld", choices=choices)
    command.add_argument("--adjacency", choices=ADJACENCIES)


def _add_run_options(command: ArgumentParser, noise: Any, *, required: bool) -> None:
    """Add options of a run to `command`; --noise-multiplier to `noise`, a parser or group."""
    noise.add_argument("--noise-multiplier", type=float, required=required)
    command.add_argument("--sample-rate", type=_number, help="such as 0.004 or 256/60000")
    about = "noisy updates, each of one lot; backward passes that fill a lot are not counted"
    command.add_argument("--steps", type=_whole, required=required, help=about)
    command.add_argument("--sampling", default="poisson", choices=EVERY_SAMPLING)
    about = "of shuffled epochs: records that fill no batch are dropped, at least one"
    command.add_argument("--drop-last", action="store_true", help=about)


def _number(text: str) -> float:
    try:
        top, _, bottom = text.partition("/")
        return float(top) / (float(bottom) if bottom else 1.0)
    except (ValueError, ZeroDivisionError):
        message = f"Expected a number such as 0.004 or 256/60000, got {text!r}."
        raise ArgumentTypeError(message) from None


def _whole(text: str) -> int:
    if not math.isfinite(value := _number(text)) or value != math.floor(value):
        raise ArgumentTypeError(f"Expected a whole number such as 10000, got {text!r}.")
    return int(value)


def _add_ledger(commands: Any) -> None:
    ledger = commands.add_parser("ledger", help="total and budget of releases from a data set")
    ledger.add_argument("file", type=Path, metavar="FILE", help="a JSON file, made by new")
    actions = ledger.add_subparsers(dest="action", required=True, parser_class=_Parser)
    new = actions.add_parser("new", help="begin a ledger; without --epsilon it has no budget")
    new.set_defaults(run=_new_ledger)
    new.add_argument("--epsilon", type=float)
    new.add_argument("--delta", type=_number, required=True)
    new.add_argument("--adjacency", choices=ADJACENCIES, default="add_remove")
    about = "no release depends on results of others"
    new.add_argument("--fixed", dest="adaptive", action="store_false", help=about)
    new.add_argument("--reserve", type=float, help="part of delta for releases known by a pair")
    add = actions.add_parser("add", help="add a release; exit status 1 if it does not fit")
    add.set_defaults(run=_add_to_ledger)
    add.add_argument("name", metavar="NAME")
    known = add.add_mutually_exclusive_group(required=True)
    known.add_argument("--epsilon", type=float, help="of a release known by epsilon (and --delta)")
    known.add_argument("--rho", type=float, help="of a release known to be rho-zCDP")
    add.add_argument("--delta", type=_number, default=0.0)
    _add_run_options(add, known, required=False)
    show = actions.add_parser("show", help="print the releases, the total and what remains")
    show.set_defaults(run=lambda options: print(_ledger(options)))


def _rate(options: Namespace) -> float:
    if options.sample_rate is not None:
        return options.sample_rate
    fixed = options.command != "calibrate" or options.sampling in EPOCH_SAMPLINGS
    if fixed and options.sampling != "none":
        other = "or --sampling none"
        raise ValueError(f"Expected --sample-rate with --sampling {options.sampling}, {other}.")
    return 1.0


def _plan(options: Namespace, noise: float, rate: float, steps: int) -> DPSGD:
    drawn = {"sampling": options.sampling, "drop_last": options.drop_last}
    return DPSGD(noise_multiplier=noise, sample_rate=rate, steps=steps, **drawn)


def _phase(text: str) -> tuple[float, float, int]:
    try:
        noise, rate, steps = text.split(",")
        return _number(noise), _number(rate), _whole(steps)
    except (ValueError, ArgumentTypeError):
        message = f"Expected SIGMA,Q,STEPS such as 2,0.01,500, got {text!r}."
        raise ArgumentTypeError(message) from None


def _epsilon(options: Namespace) -> None:
    phases = [(options.noise_multiplier, _rate(options), options.steps), *(options.then or ())]
    plan = Phases([_plan(options, noise, rate, steps) for noise, rate, steps in phases])
    every = options.accountant == "all"
    chosen = [ACCOUNTANTS[n]() for n in (ACCOUNTANTS if every else [options.accountant])]
    adjacency = options.adjacency or default_adjacency(options.sampling)
    able = [a for a in chosen if a.supports(plan.composed, adjacency)] if every else chosen
    at = {"delta": options.delta, "adjacency": adjacency}
    # If no accountant supports the plan, the first accountant's error gives the reason.
    guarantees = [plan.guarantee(a, **at) for a in able or chosen[:1]]
    if options.json:
        print_json([_plain(g) for g in guarantees])
    else:
        print(*guarantees, sep="\n")


def _new_ledger(options: Namespace) -> None:
    if options.file.exists():
        raise ValueError(f"Expected a new file, got {options.file}, which exists.")
    names = ("epsilon", "delta", "adjacency", "adaptive", "reserve")
    Ledger(**{name: getattr(options, name) for name in names}).save(options.file)


def _ledger(options: Namespace) -> Ledger:
    if not options.file.exists():
        begin = f"dplearn ledger {options.file} new --epsilon 1 --delta 1e-5"
        raise ValueError(f"Expected the file of a ledger, got {options.file}; begin it: {begin}")
    return Ledger.read(options.file)


def _add_to_ledger(options: Namespace) -> None:
    if options.sample_rate is not None and options.noise_multiplier is None:
        raise ValueError("Expected --sample-rate with --noise-multiplier alone.")
    if options.delta and options.epsilon is None:
        raise ValueError("Expected --delta with --epsilon alone.")
    steps = 1 if options.steps is None else options.steps
    if options.rho is not None:
        release: Any = ZCDP(options.rho)
    elif options.epsilon is not None:
        release = ApproximateDP(options.epsilon, options.delta)
    else:
        release = _plan(options, options.noise_multiplier, _rate(options), steps)
        steps = 1
    with locked(options.file):
        ledger = _ledger(options)
        ledger.add(release, name=options.name, steps=steps)
        ledger.save(options.file)
    print(ledger)


def _certify(options: Namespace) -> None:
    from dplearn.certificates import certify

    plan = _plan(options, options.noise_multiplier, _rate(options), options.steps)
    adjacency = options.adjacency or plan.default_adjacency
    text = certify(plan.mechanism, delta=options.delta, steps=plan.steps, adjacency=adjacency)
    if options.output is None:
        print(text)
    else:
        options.output.write_text(text + "\n")


def _check(options: Namespace) -> int:
    from dplearn.certificates import NotProvedError, check

    try:
        # Read at most 10^5 characters of any file, valid UTF-8 or not.
        with options.file.open(errors="replace") as file:
            print(check(file.read(10**5)))
    except NotProvedError as error:
        print(error)
        return 1
    return 0


def _calibrate(options: Namespace) -> None:
    searches = {
        "noise_multiplier": calibrate.smallest_noise_multiplier,
        "steps": calibrate.largest_steps,
        "sample_rate": calibrate.largest_sample_rate,
        "delta": _smallest_delta,
    }
    missing = [name for name in searches if getattr(options, name) is None]
    if options.sampling == "none" and "sample_rate" in missing:
        missing.remove("sample_rate")
    if len(missing) != 1:
        flags = ", ".join("--" + name.replace("_", "-") for name in searches)
        raise ValueError(f"Expected exactly one of {flags} to be left out, got {len(missing)}.")
    # The missing parameter gets a placeholder that the search varies.
    noise = 1.0 if options.noise_multiplier is None else options.noise_multiplier
    scheme = _plan(options, noise, _rate(options), options.steps or 0).sampling_scheme
    question = {n: getattr(options, n) for n in ("epsilon", "delta") if n != missing[0]}
    question["adjacency"] = options.adjacency or default_adjacency(options.sampling)
    if options.steps is not None:
        question["steps"] = -(-options.steps // scheme.batches)
    calibrated = searches[missing[0]](scheme.mechanism, options.accountant, **question)
    if calibrated.parameter == "steps":
        calibrated = replace(calibrated, value=calibrated.value * scheme.batches)
    if options.json:
        proved = _plain(cast(Guarantee, calibrated.guarantee))  # not an Attack: no rate is targeted
        print_json([{calibrated.parameter: calibrated.value, "guarantee": proved}])
    else:
        print(calibrated)


def _smallest_delta(run: Mechanism, accountant: str, **question: Any) -> calibrate.Calibration:
    proved = ACCOUNTANTS[accountant]().delta(run, **question)
    if proved.delta >= 1:
        got = f"epsilon={question['epsilon']!r}: no delta below 1 is proved by {accountant}"
        raise calibrate.Unreachable(f"Expected a reachable target, got {got}.")
    return calibrate.Calibration(parameter="delta", value=proved.delta, guarantee=proved)


def _plain(guarantee: Guarantee) -> dict[str, Any]:
    """Return the fields of a guarantee as JSON types, with null for an infinite epsilon."""
    finite = {k: v for k, v in guarantee.details.items() if math.isfinite(v)}
    return as_json(vars(guarantee) | {"details": finite})


if __name__ == "__main__":
    sys.exit(main())
