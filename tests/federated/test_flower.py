"""Flower's own apps and messages carry our protocol, here over a grid inside this process."""

import re
import tomllib
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "dplearn" / "federated" / "flower"


class Nodes:
    """A grid of nodes that answer at once, through the bytes of Flower's wire; one may leave."""

    def __init__(self, client, contexts, leave):
        self.client, self.contexts, self.leave = client, contexts, leave

    def get_node_ids(self):
        return self.contexts

    def send_and_receive(self, messages, *, timeout):
        from flwr.app import Error, Message
        from flwr.common.serde import message_from_proto, message_to_proto

        for sent in messages:
            told, node = message_from_proto(message_to_proto(sent)), sent.metadata.dst_node_id
            if (node, told.content["told"]["stage"]) == self.leave:
                said = Message(Error(0, "left"), reply_to=told)
            else:
                said = self.client(told, self.contexts[node])
            yield message_from_proto(message_to_proto(said))


@pytest.mark.filterwarnings("ignore")  # Flower's
@pytest.mark.parametrize(
    ("leave", "told", "opened"),
    [
        (None, "5 clients, sum 111 22 2", 2),
        ((101, 2), "4 clients, sum 101 2 4294967295", 2),
        ((104, 5), "5 clients, sum 111 22 2", 2),
        ((101, 0), "aborted: 4 clients are left to mask, 5 are needed.", 0),
    ],
)
def test_flower_carries_rounds_of_ours(leave, told, opened, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("FLWR_TELEMETRY_ENABLED", "0")
    from flwr.app import Context, RecordDict
    from flwr.supercore.object_ref import load_app, validate
    from flwr.supercore.task_identity import TaskIdentity

    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)
    about = tomllib.loads((APP / "pyproject.toml").read_text())["tool"]["flwr"]["app"]
    ends = [about["components"][end] for end in ("clientapp", "serverapp")]
    assert [validate(end, True, str(APP)) for end in ends] == [(True, None)] * 2
    client, server = (load_app(end, RuntimeError, str(APP)) for end in ends)
    record = tmp_path / "opened"
    fewest = 4 if opened else 5
    config = about["config"] | {"record": str(record), "rounds": 2, "fewest": fewest}
    vectors = ["1,2,4294967295", "10,20,3", "0", "0", "100,0,0"]
    contexts = {
        100 + n: Context(1, 100 + n, {"vector": vector}, RecordDict(), config)
        for n, vector in enumerate(vectors)
    }
    server(Nodes(client, contexts, leave), Context(1, 1, {}, RecordDict(), config))
    said = re.sub(r"[\[\] ]+", " ", capsys.readouterr().out)
    assert [said.count(f"round {n}: {told}") for n in (1, 2)] == [1, 1]
    assert ("client 1: Expected a message" in said) == (leave is not None and leave[0] == 101)
    lines = record.read_text().splitlines() if opened else []
    assert len(set(lines)) == len(lines) == opened and record.exists() == bool(opened)
