"""Secure aggregation over Flower, which carries our bytes between a server and its clients.

Nothing else of Flower's is used: its SecAgg+ folds each 256-bit seed of a mask into 32 bits for a
Mersenne Twister (`secaggplus_utils.pseudo_rand_gen`); its noise is floats of `np.random.normal`,
zC/K for a mean by weight unless there is an accountant (`supercore/differential_privacy.py`; flwr
1.41.0).
`update` is yours to write. The simulation engine has all clients in one machine; in a deployment
Flower starts a process for each message. In both a client's secrets lie in its context between two
stages; none is taken twice.
"""

# pyright: reportMissingImports=false

import tempfile
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from secrets import token_bytes
from typing import Any

import numpy as np
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from numpy.typing import NDArray

from dplearn.federated.aggregation import Client, Server, Session, neighbourhood, stages
from dplearn.federated.aggregation.messages import STAGES, MessageError, RoundAborted
from dplearn.federated.flower.record import Record

server = ServerApp()
client = ClientApp()
_KEY = "dplearn"
_PROJECT = tomllib.loads(Path(__file__).with_name("pyproject.toml").read_text())


def update(context: Context) -> NDArray:
    """Whole numbers of this node in [0, 2^bits): of its --node-config, or its number, repeated."""
    text = str(context.node_config.get("vector", context.node_config.get("partition-id")))
    return np.resize([int(number) for number in text.split(",")], _config(context)["size"])


def _config(context: Context) -> dict[str, Any]:
    """The run's configuration; the simulation engine called from Python gives none."""
    return _PROJECT["tool"]["flwr"]["app"]["config"] | dict(context.run_config)


def _plan(config: dict[str, Any]) -> Session:
    """What both ends know of every round."""
    shares = {"corrupt": config["corrupt"], "dropouts": config["dropouts"]}
    around = neighbourhood(config["clients"], **shares)
    fewest = config["fewest"]
    return Session(size=config["size"], bits=config["bits"], around=around, fewest=fewest)


@client.query()
def answer(message: Message, context: Context) -> Message:
    """The answer to what a server says in one stage."""
    told = message.content[_KEY]
    session = replace(_plan(_config(context)), name=told["session"])
    number, stage = told["number"], STAGES[told["stage"]]
    if stage == "advertise":
        ours, more = Client(session, number), ()
    else:
        ours = Client.resumed(session, number, context.state[_KEY]["client"])
        more = (told["body"], update(context)) if stage == "mask" else (told["body"],)
    body = getattr(ours, stage)(*more)
    context.state[_KEY] = ConfigRecord({"client": ours.kept()})
    return Message(RecordDict({_KEY: ConfigRecord({"body": body})}), reply_to=message)


@server.main()
def main(grid: Grid, context: Context) -> None:
    """Print each sum that is acknowledged."""
    config = _config(context)
    session = _plan(config)
    record = Record(Path(config["record"] or tempfile.mkstemp()[1]), session)
    for number in range(record.last + 1, record.last + 1 + config["rounds"]):
        begun = time.monotonic()
        try:
            shown = _round(grid, session, record, number, config)
        except RoundAborted as error:
            shown = f"aborted: {error}"
        print(f"round {number}: {shown}, {time.monotonic() - begun:.2f} s", flush=True)
    print(f"{record.opened} sums were, or may have been, opened", flush=True)


def _round(grid: Grid, plan: Session, record: Record, number: int, config: dict) -> str:
    """The sum of the nodes that are there, once they are enough or the time limit is over."""
    session, limit = replace(plan, name=token_bytes(32)), config["time-limit"]
    protocol, deadline = Server(session), time.monotonic() + limit
    while len(nodes := sorted(grid.get_node_ids())) < config["clients"]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)
    told = dict.fromkeys(range(len(nodes)), b"")
    for messages in stages(protocol, lambda: record.begin(number)):
        told = messages or told
        stage = {"session": session.name, "stage": STAGES.index(protocol.stage)}
        made = [
            Message(
                RecordDict({_KEY: ConfigRecord({**stage, "number": one, "body": body})}),
                dst_node_id=nodes[one],
                message_type="query",
            )
            for one, body in told.items()
        ]
        for reply in grid.send_and_receive(made, timeout=limit):
            one = nodes.index(reply.metadata.src_node_id)
            try:
                if reply.has_error():
                    raise MessageError(reply.error.reason)
                protocol.receive(one, reply.content[_KEY]["body"])
            except MessageError as error:
                print(f"client {one}: {error}", flush=True)
    total, clients = protocol.total(), protocol.survivors
    record.finish(number, clients, total)
    return f"{len(clients)} clients, sum {np.array2string(total, threshold=8)}"
