"""Secure aggregation over Flower, which carries our bytes; `update` is yours to write.

Its SecAgg+ is left alone, which folds a 256-bit seed into 32 bits for a Mersenne Twister, and its
noise: floats, zC/K for a mean by weight (flwr 1.41.0). A client's secrets lie in its context.
"""

import os
import time
from secrets import token_bytes
from typing import Any

import numpy as np
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp

from dplearn.federated.aggregation import Client, Server, Session, neighbourhood, stages
from dplearn.federated.aggregation.messages import STAGES, MessageError, RoundAborted

server = ServerApp()
client = ClientApp()


def update(context: Any) -> np.ndarray:
    """Whole numbers of this node in [0, 2^bits): of its --node-config, or its number, repeated."""
    text = str(context.node_config.get("vector", context.node_config.get("partition-id")))
    return np.resize([int(number) for number in text.split(",")], context.run_config["size"])


def session_of(config: dict, name: bytes) -> Session:
    """The session of a round, which both ends make from the app's settings."""
    clients, corrupt, dropouts = config["clients"], config["corrupt"], config["dropouts"]
    return Session(
        size=config["size"],
        bits=config["bits"],
        around=neighbourhood(clients, corrupt=corrupt, dropouts=dropouts),
        fewest=config["fewest"],
        name=name,
    )


@client.query()
def flower_reply(message: Any, context: Any) -> Message:
    """Reply to the server's message of one stage."""
    told, stage = message.content["told"], STAGES[message.content["told"]["stage"]]
    begun, session = stage != "advertise", session_of(context.run_config, told["session"])
    ours = Client(session, told["number"], context.state["own"]["kept"] if begun else b"")
    given = [told["body"]] * begun + [update(context)] * (stage == "mask")
    body = getattr(ours, stage)(*given)
    context.state["own"] = ConfigRecord({"kept": ours.kept()})
    return Message(RecordDict({"said": ConfigRecord({"body": body})}), reply_to=message)


@server.main()
def print_sums(grid: Grid, context: Any) -> None:
    """Run all rounds and print a line with the sum of each."""
    for number in range(1, 1 + context.run_config["rounds"]):
        begun = time.monotonic()
        try:
            shown = one_round(grid, context.run_config)
        except RoundAborted as error:
            shown = f"aborted: {error}"
        print(f"round {number}: {shown}, {time.monotonic() - begun:.2f} s", flush=True)


def one_round(grid: Grid, config: dict) -> str:
    """Text with the sum of one round, begun once enough nodes are there or time is over."""
    session, limit = session_of(config, token_bytes(32)), config["time-limit"]
    protocol, end = Server(session), time.monotonic() + limit
    while len(nodes := sorted(grid.get_node_ids())) < config["clients"] and time.monotonic() < end:
        time.sleep(0.2)

    def opening() -> None:
        """A line on the disk before anything that opens the sum is sent: it counts as spent."""
        with open(config["record"], "a") as file:
            print(session.name.hex(), file=file, flush=True)
            os.fsync(file.fileno())

    for told in stages(protocol, opening):
        stage = {"session": session.name, "stage": STAGES.index(protocol.stage)}
        bodies = told or dict.fromkeys(range(len(nodes)), b"")
        parts = {n: ConfigRecord({**stage, "number": n, "body": bodies[n]}) for n in bodies}
        sent = [Message(RecordDict({"told": parts[n]}), nodes[n], "query") for n in parts]
        for reply in grid.send_and_receive(sent, timeout=limit):
            number = nodes.index(reply.metadata.src_node_id)
            said: Any = reply.content if reply.has_content() else {"said": {"body": b""}}
            try:
                protocol.receive(number, said["said"]["body"])
            except MessageError as error:
                print(f"client {number}: {error}", flush=True)
    return (
        f"{len(protocol.survivors)} clients, sum {np.array2string(protocol.total(), threshold=8)}"
    )
