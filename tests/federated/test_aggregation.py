"""Secure aggregation: sums are right whoever leaves, and the server reads nothing else.

False alarms: below 1e-6 per test.
"""

import math
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from rounds import SIX, Round
from scipy import stats

from cases import each
from dplearn.federated.aggregation import (
    Client,
    MessageError,
    Neighbourhood,
    RoundAborted,
    Server,
    Session,
    graph,
    keys,
    neighbourhood,
    stages,
)
from dplearn.federated.aggregation.messages import STAGES, rows


@each(
    "bits, leave", product([1, 20, 32, 33, 64], [(), [("mask", 2)], [("mask", 0), ("unmask", 5)]])
)
def test_the_sum_is_that_of_those_who_sent_a_vector(bits, leave):
    done = Round(bits=bits).run(leave)
    stayed = [n for n in range(6) if ("mask", n) not in leave]
    assert done.server.survivors == tuple(stayed)
    assert done.server.total().tolist() == done.truth(stayed)


def outcome(around, leave):
    done = Round(around=around)
    try:
        done.run(leave)
        total = done.server.total().tolist()
    except RoundAborted:
        return "aborted"
    gone = {n for stage, n in leave if STAGES.index(stage) <= STAGES.index("mask")}
    assert total == done.truth(set(range(6)) - gone)
    return "summed"


@each("stage", STAGES)
@each("threshold", [3, 4])
def test_as_many_may_leave_as_the_threshold_allows_and_not_one_more(stage, threshold):
    """Of 6 who all know each other each needs `threshold` neighbours: 5 - threshold may leave."""
    around = Neighbourhood(5, threshold)
    most = 5 - threshold
    for gone, expected in ((most, "summed"), (most + 1, "aborted")):
        assert outcome(around, [(stage, n) for n in range(gone)]) == expected


def test_any_two_may_leave_in_any_two_stages():
    for first, second in combinations_with_replacement(STAGES, 2):
        assert outcome(SIX, [(first, 1), (second, 4)]) == "summed"


def test_few_neighbours_are_enough_and_numbers_need_not_follow_each_other():
    numbers = [3 * n + 1 for n in range(30)]
    for leave in ([], [("share", 4), ("mask", 10), ("mask", 88), ("unmask", 40)]):
        done = Round(around=Neighbourhood(12, 7), numbers=numbers).run(leave)
        gone = {n for stage, n in leave if stage not in ("agree", "unmask")}
        assert done.server.total().tolist() == done.truth(set(numbers) - gone)


def test_a_client_goes_on_in_another_process_and_takes_no_stage_twice():
    done = Round()
    for stage in (*STAGES[1:], "end"):
        done.run([("mask", 2)], until=stage)
        kept = {n: client.kept() for n, client in done.clients.items()}
        done.clients = {n: Client(done.session, n, state) for n, state in kept.items()}
    assert done.server.total().tolist() == done.truth([0, 1, 3, 4, 5])
    with pytest.raises(MessageError, match="no twice"):
        done.clients[0].unmask(b"")


@each("bits", [8, 32, 64])
def test_masked_vectors_are_uniform_alone_and_cancel_together(bits):
    """Chi-squared over 64 classes of the top bits; even a vector of zeros looks like that."""
    done = Round(size=20_000, bits=bits)
    done.vectors = {n: np.zeros(20_000, np.uint64) for n in range(6)}
    done.run()
    masked = [done.server._got["mask"][n] for n in range(6)]
    for one, other in combinations(masked, 2):
        assert not np.array_equal(one, other)
    for one in (*masked, masked[0] - masked[1], masked[0] + masked[1] + masked[2]):
        classes = (one.astype(np.uint64) >> np.uint64(bits - 6)) & np.uint64(63)
        assert stats.chisquare(np.bincount(classes.astype(int), minlength=64)).pvalue > 1e-8
    assert not done.server.total().any()


def opened(done, client, parts):
    """For the key of masks with neighbours, and of the own mask: do all, or any, shares give it?"""
    for which in (1, 2):
        right = done.server._got["advertise"][client][which * keys.KEY : (which + 1) * keys.KEY]
        subsets = combinations(parts.items(), SIX.threshold)
        gives = [keys.public(keys.joined(dict(held))) == right for held in subsets]
        yield all(gives), any(gives)


@each("leave", [(), [("mask", 1)], [("mask", 0), ("share", 4)], [("mask", 3), ("unmask", 2)]])
def test_the_server_gets_one_kind_of_share_of_each_client(leave):
    """All that it got of a client opens one secret, whichever shares are taken, and never both."""
    done = Round().run(leave)
    answers = done.server._got["unmask"]
    for client in done.sent["check"]:
        parts = {n: entries[client] for n, entries in answers.items() if client in entries}
        stayed = client in done.server.survivors
        assert list(opened(done, client, parts)) == [(not stayed,) * 2, (stayed,) * 2]
    for number in answers:  # and nobody answers again, whatever is asked
        with pytest.raises(MessageError, match="no twice"):
            done.clients[number].unmask(b"")


def test_no_seed_serves_twice(monkeypatch):
    """In two rounds of the same clients, one of whom leaves: by client, pair and round."""
    client_seeds, made = [], keys.stream
    monkeypatch.setattr(
        keys, "stream", lambda seed, *a: (client_seeds.append(seed), made(seed, *a))[1]
    )
    for _ in range(2):
        Round().run([("mask", 2)])
    # The five who masked: an own seed each, and one with each of five neighbours, which two have.
    assert len(client_seeds) == 2 * 5 * 6
    counts = np.unique(client_seeds, return_counts=True)[1]
    assert len(counts) == 2 * (5 + 15) and counts.max() == 2


def spoiled(message, other):
    """Messages that are not the one that is due, by what happened to them."""
    return {
        "cut": message[:-3],
        "cut to its head": message[:10],
        "empty": b"",
        "longer": message + b"\0",
        "of another round": message[:5] + bytes(32) + message[37:],
        "of another mark": b"XXXX" + message[4:],
        "of another stage": message[:4] + bytes([(message[4] + 1) % len(STAGES)]) + message[5:],
        "of an unknown stage": message[:4] + b"\x09" + message[5:],
        "no bytes": None,
        **({"of another": other} if other != message else {}),  # the list of survivors is for all
    }


@each("stage", STAGES)
def test_a_bad_message_has_one_error_and_the_round_survives(stage):
    """Whether the server gets it or a client; afterwards the right one is taken."""
    done = Round().run(until=stage)
    good = {n: done.answer(stage, n) for n in range(6)}
    for number in range(6):
        for bad in spoiled(good[number], good[(number + 1) % 6]).values():
            with pytest.raises(MessageError):
                done.server.receive(number, bad)
        done.server.receive(number, good[number])
        with pytest.raises(MessageError, match="got another"):
            done.server.receive(number, good[number])
    with pytest.raises(MessageError):
        done.server.receive(77, good[0])
    told = done.server.advance()
    if stage == "unmask":
        assert done.server.total().tolist() == done.truth(range(6))
        return
    ahead = STAGES[STAGES.index(stage) + 1]
    vector = (done.vectors[0],) if ahead == "mask" else ()
    for bad in spoiled(told[0], told[1]).values():
        with pytest.raises((MessageError, RoundAborted)):
            getattr(done.clients[0], ahead)(bad, *vector)
    done.told = {n: (message,) for n, message in told.items()}
    assert done.run().server.total().tolist() == done.truth(range(6))


THREE = lambda n: keys.public(bytes(31) + bytes([n])) * 2 + bytes([n]) * 33


@each(
    "stage, entry, message",
    [
        ("share", {0: bytes(99)}, "different neighbours"),
        ("share", {1: b"\1" * 99, 2: b"\1" * 99}, "different neighbours"),
        ("share", {n: bytes([n]) * 99 for n in range(1, 9)}, "at most 5 neighbours, got 8"),
        ("share", {n: THREE(n) for n in (7, 8)} | {9: bytes(99)}, "of 9, got one that is none"),
        ("check", {9: bytes(464)}, "some of others"),
        ("mask", {n: b"" for n in range(1, 7)}, "neighbours, got others"),
        ("agree", {n: b"" for n in range(1, 6)}, "survivors with oneself"),
    ],
)
def test_a_client_gives_nothing_to_a_server_that_asks_for_something_else(stage, entry, message):
    done = Round().run(until=stage)
    written = done.session.written(stage, 2**32 - 1, rows(entry))
    vector = (done.vectors[0],) if stage == "mask" else ()
    before = done.clients[0].kept()
    with pytest.raises(MessageError, match=message):
        getattr(done.clients[0], stage)(written, *vector)
    assert done.clients[0].kept() == before
    assert done.run().server.total().tolist() == done.truth(range(6))


def test_a_client_leaves_a_round_in_which_too_few_stay():
    few = {stage: rows({n: b"" for n in (0, 1, 2)}) for stage in ("mask", "agree")}
    few["mask"] = rows({1: b"", 2: b""})
    for stage, content in few.items():
        done = Round().run(until=stage)
        vector = (done.vectors[0],) if stage == "mask" else ()
        with pytest.raises(RoundAborted, match="2 neighbours of 0"):
            getattr(done.clients[0], stage)(
                done.session.written(stage, 2**32 - 1, content), *vector
            )


@each("last, opened", [("agree", 0), ("unmask", 1)])
def test_a_sum_counts_as_opened_once_shares_are_asked_for(last, opened):
    """Whether or not it is had: in both cases nobody answers the last stage."""
    done, calls = Round(), []
    with pytest.raises(RoundAborted, match=f"0 clients are left to {last}"):
        for told in stages(done.server, lambda: calls.append(done.server.stage)):
            done.told = {n: (message,) for n, message in told.items()} or done.told
            assert calls == ["unmask"] * (done.server.stage == "unmask")
            for one in done.told if done.server.stage != last else ():
                done.server.receive(one, done.answer(done.server.stage, one))
    assert len(calls) == opened


def test_keys_that_are_none_or_of_another_client_are_refused():
    done = Round()
    good = [done.answer("advertise", n) for n in range(2)]
    done.server.receive(0, good[0])
    for content, message in ((bytes(99), "that is none"), (good[0][-99:], "of another client")):
        with pytest.raises(MessageError, match=message):
            done.server.receive(1, good[1][:-99] + content)
    done.server.receive(1, good[1])


@each("threshold, holders", [(1, 1), (2, 3), (7, 12), (12, 12)])
def test_shares_give_the_key_from_the_threshold_on(threshold, holders):
    secret = keys.fresh()
    parts, _, _ = keys.dealt(secret, range(5, 5 + holders), threshold, b"")
    right = lambda held: keys.joined({n: parts[n] for n in held}) == secret
    assert all(map(right, list(combinations(parts, threshold))[:50])) and right(parts)
    assert threshold == 1 or not any(map(right, list(combinations(parts, threshold - 1))[:50]))


@pytest.mark.slow
@each("clients, corrupt, dropouts", [(40, 0.1, 0.1), (200, 0.1, 0.2), (1000, 0.05, 0.1)])
def test_graph_has_the_chances_that_it_promises(clients, corrupt, dropouts):
    """Each condition again by SciPy's laws; with fewer neighbours one of them fails."""
    bits = {"security_bits": 20, "failure_bits": 10}
    around = neighbourhood(clients, corrupt=corrupt, dropouts=dropouts, **bits)
    bad, gone = math.ceil(corrupt * clients), math.ceil(dropouts * clients)

    def right(k):
        """The neighbourhood of k, if it holds: `most` is the first number that so few exceed."""
        more = clients * stats.hypergeom(clients - 1, bad, k).sf(np.arange(k + 1))
        most = int(np.argmax(more <= 2**-20))
        few = stats.hypergeom(clients - 1, clients - 1 - gone, k).cdf((k + most) // 2)
        row = math.prod((bad + gone - i) / (clients - i) for i in range(k // 2))
        if clients * row <= 2**-20 and clients * few <= 2**-10:
            return Neighbourhood(k, (k + most) // 2 + 1, most)

    k = around.neighbours
    assert k == clients - 1 or right(k) == around
    assert not any(right(fewer) for fewer in range(2, min(k, clients - 2), 2))
    drawn = graph.random_graph(range(clients), k)
    assert all(len(set(others)) == k and one not in others for one, others in drawn.items())
    assert all(one in drawn[other] for one, others in drawn.items() for other in others)


@each(
    "call, error, message",
    [
        (lambda: Neighbourhood(10, 5), ValueError, "threshold > .neighbours . corrupt. / 2 = 5"),
        (lambda: Neighbourhood(9, 5, 2), ValueError, r"/ 2 = 5\.5, got threshold=5"),
        (lambda: neighbourhood(10, corrupt=0.5, dropouts=0.5), ValueError, "leave 8 neighbours"),
        (lambda: Session(size=0, around=SIX), ValueError, "size a whole number >= 1"),
        (lambda: Session(size=1, around=SIX, bits=65), ValueError, "bits a whole number"),
        (lambda: Session(size=1, around=SIX, name=b"again"), ValueError, "32 bytes"),
        (lambda: Server(None), TypeError, "session to be a Session"),
        (lambda: Server(Session(size=1, around=SIX)).total(), MessageError, "that is over"),
        (lambda: Server(Session(size=1, around=SIX)).advance(), RoundAborted, "4 are needed"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, error, message):
    with pytest.raises(error, match=message):
        call()


@each(
    "vector, message",
    [
        ([1.0] * 4, "whole numbers"),
        ([1] * 3, "shape"),
        ([-1] * 4, "outside"),
        ([256] * 4, "outside"),
    ],
)
def test_a_vector_that_does_not_fit_is_refused_and_the_right_one_taken(vector, message):
    done = Round(bits=8).run(until="mask")
    with pytest.raises(ValueError, match=message):
        done.clients[0].mask(*done.told[0], vector)
    assert done.run().server.total().tolist() == done.truth(range(6))
