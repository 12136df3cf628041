"""The command line; `dplearn --help` lists its commands.

Exit status: 0 good, 1 the check failed (a target out of reach, a claim violated), 2 bad usage.
"""

import argparse
import json
import math
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NoReturn, cast

from dplearn import calibrate as calibration
from dplearn.accountants import ACCOUNTANTS
from dplearn.core.guarantee import ADJACENCIES, Guarantee
from dplearn.mechanisms.sampling_scheme import (
    EPOCH_SAMPLINGS,
    EVERY_SAMPLING,
    SAMPLINGS,
    natural_adjacency,
)
from dplearn.run import DPSGD, Phases
from dplearn.teaching.book.everything import as_json, as_row, as_text, check_all
from dplearn.teaching.book.kit.verdicts import SEARCHES
from dplearn.teaching.claims import (
    QUANTITIES,
    pages,
    proofread,
    readings,
    setting,
    side_of,
    verdict_on,
)
from dplearn.teaching.classroom.commands import add_commands


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status of one command, which this runs: 0 good, 1 the check failed, 2 bad usage."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["claim"]:
        # A formula may begin with a minus sign; behind a space it is no option.
        arguments = [f" {a}" if re.match(r"-(?!-|h$)", a) else a for a in arguments]
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (ValueError, TypeError, NotImplementedError, ImportError, OSError) as error:
        print(f"dplearn {options.command}: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="dplearn", description="Privacy accounting for DP-SGD runs.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    epsilon = commands.add_parser("epsilon", help="epsilon of a run")
    epsilon.set_defaults(run=_epsilon)
    _add_run_options(
        epsilon, required=True, choices=[*ACCOUNTANTS, "all"], samplings=EVERY_SAMPLING
    )
    about = "another phase after those steps; repeat it for more"
    epsilon.add_argument(
        "--then", action="append", type=_phase, metavar="SIGMA,Q,STEPS", help=about
    )
    find = commands.add_parser(
        "calibrate", help="the parameter left out: noise multiplier, steps, sample rate or delta"
    )
    find.set_defaults(run=_calibrate)
    find.add_argument("--epsilon", type=float, required=True)
    _add_run_options(find, required=False, choices=[*ACCOUNTANTS], samplings=EVERY_SAMPLING)
    book = commands.add_parser("verify", help="prove formulas right and misprints wrong")
    book.set_defaults(run=_verify)
    book.add_argument("ids", nargs="*", metavar="ID", help="such as G-A4; default: the whole book")
    book.add_argument("--thorough", action="store_true", help="search three times as often")
    claim = commands.add_parser("claim", help="is a formula that you type true, and where?")
    claim.set_defaults(run=_claim)
    _add_claim_options(claim)
    page = commands.add_parser("proofread", help="judge the formulas of a page, each with its line")
    pages.add_options(page)
    proof = commands.add_parser("certify", help="epsilon of a run, with a proof that check reads")
    proof.set_defaults(run=_certify)
    _add_run_options(proof, required=True, choices=["pld"])
    proof.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: print it")
    checker = commands.add_parser("check", help="prove a certificate again, in ball arithmetic")
    checker.set_defaults(run=_check)
    checker.add_argument("file", type=Path)
    pate = commands.add_parser("pate", help="epsilon of teachers' votes, for who holds them")
    pate.set_defaults(run=_pate)
    _add_pate_options(pate)
    for command in (epsilon, find, book, claim, page, pate):
        command.add_argument("--json", action="store_true", help="print one list of objects")
    _add_what_is_looked_at(commands)
    return parser


def _add_what_is_looked_at(commands: argparse._SubParsersAction) -> None:
    """The explorer, the site and the lessons."""
    # Its options are Streamlit's: none begins with the sign of ours.
    app = commands.add_parser("app", help="open the explorer", prefix_chars="+", add_help=False)
    app.set_defaults(run=_app)
    app.add_argument("options", nargs="*")
    site = commands.add_parser("site", help="minute, lessons, book and ε against T as plain files")
    site.set_defaults(run=_site)
    site.add_argument("out", type=Path, metavar="OUT", help="a folder, which is made")
    about = "an unpacked Pyodide: the lessons' pages then run the functions that students write"
    site.add_argument("--python", type=Path, metavar="PYODIDE", help=about)
    add_commands(commands.add_parser("lessons", help="build the lessons' notebooks"))


def _add_run_options(
    command: argparse.ArgumentParser,
    *,
    required: bool,
    choices: list[str],
    samplings: Sequence[str] = SAMPLINGS,
) -> None:
    command.add_argument("--noise-multiplier", type=float, required=required)
    command.add_argument("--sample-rate", type=float)
    command.add_argument("--steps", type=int, required=required)
    command.add_argument("--delta", type=float, required=required)
    command.add_argument("--accountant", default="pld", choices=choices)
    command.add_argument("--sampling", default="poisson", choices=samplings)
    command.add_argument("--adjacency", choices=ADJACENCIES)
    command.set_defaults(drop_last=False, dataset_size=None, max_batch_size=None)
    if samplings is EVERY_SAMPLING:
        about = "of shuffled epochs: records that fill no batch are dropped, at least one"
        command.add_argument("--drop-last", action="store_true", help=about)
        about = "number of records, of truncated_poisson"
        command.add_argument("--dataset-size", type=int, help=about)
        about = "most records in a batch, of truncated_poisson"
        command.add_argument("--max-batch-size", type=int, help=about)


def _add_claim_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("expression", metavar="EXPRESSION")
    told = "of a map, where the formula leaves it open"
    command.add_argument("--quantity", choices=list(QUANTITIES), help=told)
    command.add_argument("--of", metavar="MECHANISM", help=told)
    command.add_argument("--relation", default="upper", choices=["upper", "lower", "equal"])
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE or LOW..HIGH")


def _add_pate_options(command: argparse.ArgumentParser) -> None:
    help_ = ".npy or .csv with counts (queries, classes)"
    command.add_argument("votes", type=Path, metavar="FILE", help=help_)
    command.add_argument("--labels", action="store_true", help="labels (teachers, queries) instead")
    command.add_argument("--classes", type=int, default=10, help="with --labels (default 10)")
    command.add_argument("--queries", type=int, help="only so many, from the first on")
    command.add_argument("--answers", type=int, help="the cap; default: as many as are expected")
    command.add_argument("--noise-std", type=float, required=True, metavar="SIGMA2")
    command.add_argument("--laplace", action="store_true", help="noise of scale SIGMA2 instead")
    command.add_argument("--threshold", type=float, metavar="T")
    command.add_argument("--check-std", type=float, metavar="SIGMA1")
    command.add_argument("--delta", type=float, required=True)


def _rate(options: argparse.Namespace) -> float:
    """The sample rate, or a placeholder for the search to vary."""
    if options.sample_rate is not None:
        return options.sample_rate
    fixed = options.command != "calibrate" or options.sampling in EPOCH_SAMPLINGS
    if fixed and options.sampling != "none":
        raise ValueError(f"Expected --sample-rate with --sampling {options.sampling}.")
    return 1.0


def _plan(
    options: argparse.Namespace, noise_multiplier: float, sample_rate: float, steps: int
) -> DPSGD:
    return DPSGD(
        noise_multiplier=noise_multiplier,
        sample_rate=sample_rate,
        steps=steps,
        sampling=options.sampling,
        drop_last=options.drop_last,
        dataset_size=options.dataset_size,
        max_batch_size=options.max_batch_size,
    )


def _phase(text: str) -> tuple[float, float, int]:
    """Noise multiplier, sample rate and steps of a further phase."""
    try:
        noise, rate, steps = text.split(",")
        return float(noise), float(rate), int(steps)
    except ValueError:
        message = f"Expected SIGMA,Q,STEPS such as 2,0.01,500, got {text!r}."
        raise argparse.ArgumentTypeError(message) from None


def _epsilon(options: argparse.Namespace) -> int:
    first = options.noise_multiplier, _rate(options), options.steps
    plan = Phases(tuple(_plan(options, *phase) for phase in (first, *(options.then or ()))))
    every = options.accountant == "all"
    chosen = [ACCOUNTANTS[n]() for n in (ACCOUNTANTS if every else [options.accountant])]
    adjacency = options.adjacency or natural_adjacency(options.sampling)
    able = [a for a in chosen if a.supports(plan.composed, adjacency)] if every else chosen
    # With nobody able to answer, the first one's refusal says why.
    guarantees = [
        plan.guarantee(a, delta=options.delta, adjacency=adjacency) for a in able or chosen[:1]
    ]
    if options.json:
        _print_json([_plain(g) for g in guarantees])
    else:
        print(*guarantees, sep="\n")
    return 0


def _certify(options: argparse.Namespace) -> int:
    from dplearn.certificates import certify

    plan = _plan(options, options.noise_multiplier, _rate(options), options.steps)
    text = certify(
        plan.mechanism,
        delta=options.delta,
        steps=options.steps,
        adjacency=options.adjacency or natural_adjacency(options.sampling),
    )
    if options.output is None:
        print(text)
    else:
        options.output.write_text(text + "\n")
    return 0


def _check(options: argparse.Namespace) -> int:
    from dplearn.certificates import NotProvedError, check

    try:
        # Whatever a file holds, and however much of it.
        with options.file.open(errors="replace") as file:
            print(check(file.read(10**5)))
    except NotProvedError as error:
        print(error)
        return 1
    return 0


def _pate(options: argparse.Namespace) -> int:
    from dplearn.pate.as_printed import statements, votes_and_plan

    votes, plan = votes_and_plan(options)
    rows = statements(votes, plan, delta=options.delta)
    if options.json:
        _print_json([{"statement": title, **_plain(stated)} for title, stated in rows])
        return 0
    print(f"{votes.queries} queries, {votes.teachers} teachers, {votes.classes} classes")
    # One after the other: of many different counts the last takes long.
    for title, stated in rows:
        print(f"{title}:\n  {stated}")
        print(*(f"  - {clause}" for clause in stated.assumptions), sep="\n", flush=True)
    return 0


def _calibrate(options: argparse.Namespace) -> int:
    searches = {
        "noise_multiplier": calibration.smallest_noise_multiplier,
        "steps": calibration.largest_steps,
        "sample_rate": calibration.largest_sample_rate,
        "delta": calibration.smallest_delta,
    }
    missing = [name for name in searches if getattr(options, name) is None]
    if options.sampling == "none" and "sample_rate" in missing:
        missing.remove("sample_rate")
    if len(missing) != 1:
        flags = ", ".join("--" + name.replace("_", "-") for name in searches)
        raise ValueError(f"Expected exactly one of {flags} to be left out, got {len(missing)}.")
    # The parameter that is left out gets a placeholder, which the search varies.
    noise = 1.0 if options.noise_multiplier is None else options.noise_multiplier
    scheme = _plan(options, noise, _rate(options), options.steps or 0).sampling_scheme
    question = {n: getattr(options, n) for n in ("epsilon", "delta") if n != missing[0]}
    question["adjacency"] = options.adjacency or natural_adjacency(options.sampling)
    if options.steps is not None:
        question["steps"] = -(-options.steps // scheme.batches)
    try:
        calibrated = searches[missing[0]](scheme.mechanism, options.accountant, **question)
    except calibration.Unreachable as error:
        print(f"dplearn calibrate: {error}", file=sys.stderr)
        return 1
    if calibrated.parameter == "steps":
        calibrated = replace(calibrated, value=calibrated.value * scheme.batches)
    if options.json:
        proved = _plain(cast(Guarantee, calibrated.guarantee))  # the target is epsilon or delta
        _print_json([{calibrated.parameter: calibrated.value, "guarantee": proved}])
    else:
        print(calibrated)
    return 0


def _verify(options: argparse.Namespace) -> int:
    results = []
    for result in check_all(options.ids, searches=SEARCHES * (3 if options.thorough else 1)):
        results.append(result)
        if not options.json:
            print(as_text(result), flush=True)
    if options.json:
        _print_json([as_row(result) for result in results])
    return 0 if all(result.good for result in results) else 1


def _claim(options: argparse.Namespace) -> int:
    """Exit status of one formula: what the book finds of it, and a map where there is one."""
    text = options.expression.strip()
    finding = proofread(text, words=" and ".join(options.set))
    side = side_of(text)
    able = readings(side, judged=bool(finding.entry))
    chosen = options.quantity or side.quantity, options.of
    fits = [(q, of) for q, of in able if chosen[0] in ("", None, q) and chosen[1] in (None, of)]
    if finding.verdict != "not read" and not fits and not options.of:
        if options.json:
            _print_json([as_json(asdict(finding))])
        else:
            print(f"{finding.verdict.capitalize()}. {finding.reading}", finding.reason, sep="\n")
        return 1 if finding.verdict == "refuted" else 0
    quantity, of = fits[0] if fits else chosen
    verdict = verdict_on(
        text,
        quantity=quantity or "epsilon",
        of=of or "poisson_subsampled_gaussian",
        relation=options.relation,
        fixed=dict(map(setting, options.set)),
    )
    if options.json:
        _print_json([verdict.to_dict()])
    else:
        print(*verdict.sentences(), *filter(None, [finding.reading]), sep="\n")
    return 1 if verdict.status == "violated" else 0


def _app(options: argparse.Namespace) -> int:
    from dplearn.teaching.explorer import serve

    return serve(options.options)


def _site(options: argparse.Namespace) -> int:
    from dplearn.teaching.site import write_site

    with ProcessPoolExecutor() as executor:
        write_site(options.out, executor, python=options.python)
    return 0


def _plain(guarantee: Guarantee) -> dict[str, Any]:
    """The fields of a guarantee as JSON types; an infinite epsilon becomes null, with a reason."""
    finite = {k: v for k, v in guarantee.details.items() if math.isfinite(v)}
    return as_json(vars(guarantee) | {"details": finite})


def _print_json(rows: list[dict[str, Any]]) -> None:
    print(json.dumps(rows, indent=2, allow_nan=False))


if __name__ == "__main__":
    sys.exit(main())
