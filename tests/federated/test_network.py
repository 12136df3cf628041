"""Over a network: sums are right whoever is killed, and who sends junk harms nobody else."""

import datetime
import json
import os
import socket
import ssl
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from guests import (
    FIVE,
    PATIENT,
    PLAN,
    VECTORS,
    doomed_client,
    doomed_server,
    friends,
    hello,
    reply,
    right,
)
from guests import process as started

from cases import each
from dplearn.federated.aggregation import RoundAborted, Session, neighbourhood
from dplearn.federated.aggregation.messages import STAGES
from dplearn.federated.network import Host, frames, processes, take_part
from dplearn.federated.network.frames import Kind

ALL = tuple(range(5))


def host(**options):
    return Host(**({"time_limit": PATIENT, "users": 5} | PLAN | options))


@pytest.mark.slow
def test_ten_processes_make_rounds_and_a_killed_one_may_come_back():
    vectors = np.random.default_rng(0).integers(2**32, size=(10, 1000), dtype=np.uint64)
    around = neighbourhood(10, corrupt=0.2, dropouts=0.2)
    plan = {"size": 1000, "around": around}
    with (
        ThreadPoolExecutor(1) as pool,
        host(users=10, **plan) as ours,
        processes(vectors, ours) as begun,
    ):
        done = ours.round(clients=10)
        assert done.clients == tuple(range(10))
        np.testing.assert_array_equal(done.total, vectors.sum(axis=0) % 2**32)
        begun[3].kill()
        done = ours.round()
        assert done.clients == (0, 1, 2, 4, 5, 6, 7, 8, 9)
        np.testing.assert_array_equal(done.total, np.delete(vectors, 3, 0).sum(axis=0) % 2**32)
        again = {"address": ours.address, "number": 3, "patience": PATIENT, **plan}
        back = pool.submit(take_part, lambda r, b: vectors[3], **again)
        done = ours.round(clients=10)
        np.testing.assert_array_equal(done.total, vectors.sum(axis=0) % 2**32)
        begun[5].kill()
        assert ours.round().clients == (0, 1, 2, 3, 4, 6, 7, 8, 9)
        assert [one.number for one in ours.finished()] == [1, 2, 3, 4]
        ours.close()
        assert back.result() == (3, 4)


@pytest.mark.slow
def test_a_client_killed_in_any_stage_is_a_dropout():
    with host() as ours, friends(ours, ALL[:4]):
        for stage in STAGES:
            options = {"address": ours.address, "number": 4, **PLAN}
            killed = started(doomed_client, stage, **options)
            done = ours.round(clients=5)
            killed.join()
            assert done.clients == (ALL if stage == "unmask" else ALL[:4]) and right(done)
        assert ours.opened == len(STAGES)


@pytest.mark.slow
@each("where", ["answers", "opened", "acknowledging"])
def test_a_server_killed_in_a_round_loses_nothing_that_it_acknowledged(tmp_path, where):
    """Clients that wait for it take part in the next round, which has a number of its own."""
    record = tmp_path / f"{where}.jsonl"
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()[:2]
    with friends(SimpleNamespace(address=address)) as clients:
        killed = started(doomed_server, address, record, where)
        killed.join()
        kept = [1, 2, 3] if where == "acknowledging" else [1, 2]
        opened = 2 if where == "answers" else 3
        with host(address=address, record=record) as ours:
            assert [one.number for one in ours.finished()] == kept and ours.opened == opened
            done = ours.round(clients=5)
            assert done.number == opened + 1 and ours.opened == opened + 1
            assert all(map(right, ours.finished()))
        for client in clients:  # in whose third round nobody was thanked
            assert client.result() == (1, 2, opened + 1)


def framed(kind, body, mark=frames.MARK):
    return frames.HEAD.pack(mark, kind, 0, len(body)) + body


def test_hostile_frames_have_one_error_each_and_disturb_nobody():
    with host() as ours, friends(ours, ALL[:4]):
        with ThreadPoolExecutor(4) as pool:  # rounds that are begun at once take turns
            begun = list(pool.map(lambda _: ours.round(clients=4), range(4)))
        assert all(map(right, begun)) and sorted(one.number for one in begun) == [1, 2, 3, 4]
        mine, other = (Session(size=size, around=FIVE) for size in (3, 4))
        greeting = lambda number, of=mine: framed(Kind.HELLO, hello(number, of))
        junk = {
            b"GET / HTTP/1.1\r\nHost: you\r\n\r\n": "Expected a frame, got other",
            framed(Kind.HELLO, b"", mark=b"DPN0"): "Expected a frame, got other",
            framed(9, b""): "Expected a frame, got other",
            framed(Kind.HELLO, bytes(129)): "at most 128 bytes, got one of 129",
            frames.HEAD.pack(b"DPN1", 1, 0, 2**32 - 1): "at most 128 bytes, got one of 4294967295",
            framed(Kind.HELLO, b"short"): "Expected a hello, got another frame",
            framed(Kind.MESSAGE, hello(4, mine)): "Expected a hello, got another frame",
            greeting(5): "Expected a client below 5, got 5",
            greeting(0): "not here yet, got 0 again",
            greeting(4, other): "threshold 3, got a client with 4 numbers mod 2^32",
            greeting(4)[:-3]: "0 bytes read|bytes read on a total of",
        }
        for raw, message in junk.items():
            assert message.split("|")[-1] in reply(ours.address, raw), message
        replayed = []
        answers = {
            b"junk": lambda r, good: b"junk" * 10,
            b"too long": lambda r, good: frames.HEAD.pack(b"DPN1", 3, r, 2**31),
            b"cut": lambda r, good: framed(Kind.MESSAGE, good[:-5]),
            b"kept": lambda r, good: replayed.append(good) or framed(Kind.MESSAGE, good[:-1]),
            b"replayed": lambda r, good: framed(Kind.MESSAGE, replayed[0]),
        }
        expected = ["other bytes", "at most", "whole message", "whole message", "of another"]
        with ThreadPoolExecutor(1) as pool:
            for answer, message in zip(answers.values(), expected, strict=True):
                guest = {"session": mine, "number": 4, "answer": answer}
                said = pool.submit(reply, ours.address, **guest)
                done = ours.round(clients=5)
                assert done.clients == ALL[:4] and right(done)
                assert message in said.result()


def test_who_says_nothing_is_sent_away_after_the_time_limit():
    with host(time_limit=0.2) as ours, socket.create_connection(ours.address) as silent:
        silent.settimeout(PATIENT)
        assert b"Expected an answer in time, got none" in silent.makefile("rb").read()


def test_too_few_clients_abort_a_round_before_anything_is_opened():
    with host(fewest=5, time_limit=0.2) as ours:
        with pytest.raises(RoundAborted, match="0 clients are left to advertise, 4 are needed"):
            ours.round()
        ours._time_limit = PATIENT
        with friends(ours, ALL[:4]):
            with pytest.raises(RoundAborted, match="4 clients are in the sum, 5 are needed"):
                ours.round(clients=4)
            assert ours.opened == 0 and not list(ours.finished())
            with friends(ours, ALL[4:]):
                assert right(ours.round(b"a model", clients=5)) and ours.opened == 1


def test_what_an_update_raises_reaches_its_owner():
    def broken(number, broadcast):
        raise ZeroDivisionError(broadcast)

    with ThreadPoolExecutor(1) as pool, host() as ours, friends(ours, ALL[:4]):
        options = {"number": 4, "address": ours.address, **PLAN}
        fifth = pool.submit(take_part, broken, **options)
        assert ours.round(b"a model", clients=5).clients == ALL[:4]
        with pytest.raises(ZeroDivisionError, match="a model"):
            fifth.result()


def certificates(folder, names):
    """An authority, and a certificate by it for each name, as files."""
    key = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("authority", *names)}
    named = lambda name: x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    pem = serialization.Encoding.PEM
    for name in key:
        made = x509.CertificateBuilder(named("authority"), named(name), key[name].public_key())
        made = made.serial_number(x509.random_serial_number())
        made = made.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
        local = x509.SubjectAlternativeName([x509.DNSName("localhost")])
        made = made.add_extension(local, critical=False)
        made = made.add_extension(x509.BasicConstraints(name == "authority", None), critical=True)
        made = made.sign(key["authority"], hashes.SHA256())
        private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        written = made.public_bytes(pem) + key[name].private_bytes(pem, *private)
        (folder / f"{name}.pem").write_bytes(written)


def test_over_tls_a_client_is_whom_its_certificate_names(tmp_path):
    certificates(tmp_path, ["localhost", *map(str, ALL)])

    def context(purpose, name):
        made = ssl.create_default_context(purpose, cafile=tmp_path / "authority.pem")
        made.load_cert_chain(tmp_path / f"{name}.pem")
        made.verify_mode = ssl.CERT_REQUIRED
        return made

    with (
        host(ssl=context(ssl.Purpose.CLIENT_AUTH, "localhost")) as ours,
        ThreadPoolExecutor(5) as p,
    ):
        address = ("localhost", ours.address[1])

        def join(number):
            options = {"number": number, "address": address, "patience": PATIENT, **PLAN}
            tls = context(ssl.Purpose.SERVER_AUTH, str(number))
            return take_part(lambda r, b: VECTORS[number], ssl=tls, **options)

        third = framed(Kind.HELLO, hello(3, ours.session))
        message = reply(address, third, ssl=context(ssl.Purpose.SERVER_AUTH, "2"))
        assert message == "Expected client 3, got a certificate of 2."
        assert reply(address, third) == "closed"  # who does not speak TLS
        clients = [p.submit(join, number) for number in ALL]
        assert right(ours.round(clients=5))
        ours.close()
        assert all(client.result() == (1,) for client in clients)


def test_a_record_is_on_the_disk_forgets_what_was_cut_short_and_refuses_what_is_not_its_own(
    tmp_path, monkeypatch
):
    record, synced = tmp_path / "rounds.jsonl", []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_size))
    with host(record=record) as ours, friends(ours):
        first = ours.round(clients=5)
    whole = record.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    assert synced[1:] == ends and len(ends) == 3  # after the folder: the plan, a begin, a sum
    record.write_bytes(whole + b'{"round": 2, "clients": [0, 1')
    with host(record=record) as ours:
        (kept,) = ours.finished()
        assert (kept.number, kept.clients, kept.total.tolist()) == (1, ALL, first.total.tolist())
    assert record.read_bytes() == whole and json.loads(whole.splitlines()[1]) == {"round": 1}
    with pytest.raises(ValueError, match="Expected a record of "):
        host(record=record, bits=16)
    record.write_bytes(whole[:40] + b"\0" * 20 + whole[60:])
    with pytest.raises(ValueError, match="Expected lines of a record, got other bytes: "):
        host(record=record)


@each(
    "call, error, message",
    [
        (lambda: host(users=1), ValueError, "users a whole number >= 2"),
        (lambda: host(time_limit=0), ValueError, "time_limit > 0"),
        (lambda: host(fewest=-1), ValueError, "fewest a whole number >= 0"),
        (lambda: take_part(None, number=-1, address=("", 1), **PLAN), ValueError, "number a whole"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_nobody_waits_for_ever_and_a_closed_host_says_so():
    ours = host()
    with pytest.raises(OSError, match="in use"):
        host(address=ours.address)
    ours.close()
    ours.close()
    with pytest.raises(RuntimeError, match="Expected a host that is open"):
        ours.round()
    with pytest.raises(TimeoutError, match=r"within 0.5 s, got (ConnectionRefused|OS)Error"):
        take_part(None, number=0, address=ours.address, patience=0.5, **PLAN)


@pytest.mark.slow
def test_each_end_is_one_command(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    both = ["--port", port, "--clients", "2", "--corrupt", "0", "--dropouts", "0"]
    serve = ["serve", "--size", "3", "--rounds", "2", "--time-limit", "120", *both]
    np.save(tmp_path / "vector.npy", [1, 2, 2**32 - 1])
    join = ["join", "--patience", "120", *both, "--number"]
    ends = [serve, [*join, "0", str(tmp_path / "vector.npy")], [*join, "1", "1,2,3"]]
    command, pipes = [sys.executable, "-m", "dplearn", "federated"], subprocess.PIPE
    begun = [subprocess.Popen([*command, *end], stdout=pipes, text=True) for end in ends]
    shown = [one.communicate(timeout=300)[0] for one in begun]
    sums = "".join(f"round {number}: 2 clients, sum [2 4 2]\n" for number in (1, 2))
    assert shown == [sums, "rounds 1, 2\n", "rounds 1, 2\n"]
