"""``dplearn federated``: a server or a client of secure aggregation, for any machine."""

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dplearn.federated.aggregation import Neighbourhood


def add_ends(parser: argparse.ArgumentParser) -> None:
    """Give `parser` the commands of both ends."""
    ends = parser.add_subparsers(dest="action", required=True, parser_class=type(parser))
    serve = ends.add_parser("serve", help="open the sums of vectors, round after round")
    serve.add_argument("--rounds", type=int, required=True, help="so many more")
    serve.add_argument("--size", type=int, required=True, help="numbers in a vector")
    serve.add_argument("--record", metavar="FILE", help="go on after a crash where it says")
    serve.add_argument("--time-limit", type=float, default=10.0, help="seconds for an answer")
    join = ends.add_parser("join", help="give a vector in each round, to be seen in the sum only")
    join.add_argument("vector", metavar="N,N,... or FILE.npy", help="numbers in [0, 2^32)")
    join.add_argument("--number", type=int, required=True, help="of this client, from 0")
    join.add_argument("--patience", type=float, default=60.0, help="seconds without an answer")
    for end, run in ((serve, _serve), (join, _join)):
        end.set_defaults(run=run)
        end.add_argument("--server", default="127.0.0.1", metavar="ADDRESS", help="where it is")
        end.add_argument("--port", type=int, required=True)
        end.add_argument("--clients", type=int, required=True)
        end.add_argument("--corrupt", type=float, default=0.2, help="share that may be (0.2)")
        end.add_argument("--dropouts", type=float, default=0.2, help="share that may leave (0.2)")


def _around(options: argparse.Namespace) -> "Neighbourhood":
    """Neighbours for what both ends agreed on."""
    from dplearn.federated.aggregation import neighbourhood

    return neighbourhood(options.clients, corrupt=options.corrupt, dropouts=options.dropouts)


def _serve(options: argparse.Namespace) -> int:
    """Print each sum that is acknowledged; the exit status is 1 if a round had none."""
    from dplearn.federated.aggregation import RoundAborted
    from dplearn.federated.network import Host

    plan: dict[str, Any] = {"size": options.size, "around": _around(options)}
    more = {"record": options.record, "time_limit": options.time_limit, "users": options.clients}
    aborted = 0
    with Host(address=(options.server, options.port), **plan, **more) as host:
        for _ in range(options.rounds):
            try:
                done = host.round(clients=options.clients)
            except RoundAborted as error:
                aborted = 1
                print(f"round aborted: {error}", flush=True)
            else:
                shown = np.array2string(done.total, threshold=8)
                print(f"round {done.number}: {len(done.clients)} clients, sum {shown}", flush=True)
    return aborted


def _join(options: argparse.Namespace) -> int:
    """Print the rounds that the server acknowledged."""
    from dplearn.federated.network import take_part

    if options.vector.endswith(".npy"):
        vector = np.load(options.vector, allow_pickle=False)
    else:
        vector = np.array([int(number) for number in options.vector.split(",")])
    done = take_part(
        lambda number, broadcast: vector,
        address=(options.server, options.port),
        number=options.number,
        size=len(vector),
        around=_around(options),
        patience=options.patience,
    )
    print(f"rounds {', '.join(map(str, done)) or 'none'}")
    return 0
