"""Rounds that may have been opened are on the disk before anything that opens them is sent."""

import json
import os

import numpy as np
import pytest
from rounds import SIX, Round

from dplearn.federated.aggregation import RoundAborted, Session, stages
from dplearn.federated.flower.record import Record

PLAN = Session(size=4, around=SIX)


def test_a_round_counts_once_shares_are_asked_for_whether_or_not_its_sum_is_had(tmp_path):
    record = Record(tmp_path / "rounds.jsonl", PLAN)
    for number, last in ((1, "agree"), (2, "unmask")):
        done, heard = Round(), []
        with pytest.raises(RoundAborted, match=f"0 clients are left to {last}"):
            for told in stages(done.server, lambda n=number: record.begin(n)):
                heard.append(done.server.stage)
                done.told = {n: (message,) for n, message in told.items()} or done.told
                for one in done.told if heard[-1] != last else ():
                    done.server.receive(one, done.answer(heard[-1], one))
        assert heard[-1] == last and (record.opened, record.last) == ((0, 0), (1, 2))[number - 1]


def test_a_record_forgets_what_was_cut_short_and_refuses_what_is_not_its_own(tmp_path, monkeypatch):
    path, synced = tmp_path / "rounds.jsonl", []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_size))
    record = Record(path, PLAN)
    record.begin(1)
    record.finish(1, (0, 5), np.arange(4, dtype="<u4"))
    whole = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    assert [synced[0], *synced[2:]] == ends and len(ends) == 3  # and the folder, second
    assert json.loads(whole.splitlines()[2]) == {
        "round": 1,
        "clients": [0, 5],
        "total": [0, 1, 2, 3],
    }
    path.write_bytes(whole + b'{"round": 2')
    again = Record(path, PLAN)
    assert (again.last, again.opened, path.read_bytes()) == (1, 1, whole)
    again.begin(2)
    assert Record(path, PLAN).opened == 2
    with pytest.raises(ValueError, match="Expected a record of "):
        Record(path, Session(size=4, around=SIX, bits=16))
    path.write_bytes(whole[:40] + b"\0" * 20 + whole[60:])
    with pytest.raises(ValueError, match="Expected lines of a record, got other bytes: "):
        Record(path, PLAN)
