"""Servers that lie and clients that cheat, against real clients: what each of them gains."""

import pytest
from rounds import Round

from cases import each
from dplearn.federated.aggregation import (
    Client,
    MessageError,
    Neighbourhood,
    RoundAborted,
    Server,
    keys,
)
from dplearn.federated.aggregation.messages import SERVER, STAGES, entries_by_client, rows


class Liar(Server):
    """Tells each client another list of survivors, the victim of few mates; its friends help.

    The vector of client 0 has the own mask, which is opened where it "stayed", and those with its
    mates, which are opened where each of these "left": no secret of anybody is opened twice.
    """

    def __init__(self, session, friends):
        super().__init__(session)
        self.friends = friends

    def told(self, one):
        if self.stage == "mask" and not one:
            near, threshold = set(self._graph[0]), self._session.around.threshold
            far = lambda mate: (mate not in self.friends, len(near & set(self._graph[mate])))
            self.mates = sorted(near, key=far)[:threshold]
            return dict.fromkeys(self.mates, b"")
        if self.stage == "agree":
            return dict.fromkeys(self.invented()[one], b"")
        return super().told(one)

    def invented(self):
        """Lists in which each mate is missing often enough, and nobody misses too many."""
        threshold, helpers = self._session.around.threshold, set(self.friends)
        left = {one: set() for one in self._got["mask"]}
        spare = lambda one: len(self._graph[one]) - threshold - len(left[one])
        for mate in set(self.mates) - helpers:
            who = sorted(set(self._graph[mate]) - helpers - {0}, key=spare)[::-1]
            for one in who[: threshold - len(helpers.intersection(self._graph[mate]))]:
                left[one].add(mate)
                assert spare(one) >= 0
        return {one: left.keys() - left[one] for one in left} | {0: {0, *self.mates}}

    def total(self):
        """The victim's vector: the "sum" in which it alone has stayed."""
        self._got["mask"] = {0: self._got["mask"][0]}
        return super().total()

    def _opened(self, one):
        """With a friend's keys, and both kinds of share that friends have."""
        stayed = one in self.survivors
        for friend, (held, _) in self.friends.items():
            half = slice(keys.PART, None) if stayed else slice(keys.PART)
            self._got["unmask"][friend] = {one: held[one][half]} if one in held else {}
            self._lists[friend] = {one} if stayed else set()
        return self.friends[one][1] if one in self.friends else super()._opened(one)


def attacked(clients, around, friends):
    """A round of real clients up to the last stage, of which none has left."""
    done = Round(clients=clients, around=around)
    done.server = Liar(done.session, dict.fromkeys(range(1, 1 + friends)))
    done.run(until="unmask")
    for one in done.server.friends:
        client = done.clients[one]
        done.server.friends[one] = (dict(client._held), client._secrets[1])
    return done


LYING = pytest.mark.parametrize(
    "clients, around, friends",
    [
        (10, Neighbourhood(9, 5), 0),
        (10, Neighbourhood(9, 6, 2), 2),
        pytest.param(50, Neighbourhood(16, 9), 0, marks=pytest.mark.slow),
    ],
)


@LYING
def test_a_server_that_tells_everybody_another_list_reads_nothing(clients, around, friends):
    done = attacked(clients, around, friends)
    near = {0, *done.server.mates}
    for one in set(done.told) - set(done.server.friends):
        try:
            done.server.receive(one, done.answer("unmask", one))
            assert one not in near  # far away of a sparse graph all were told the same
        except RoundAborted as error:
            assert "agree on who stayed" in str(error)
    done.server._stage += 1
    with pytest.raises(RoundAborted, match="are left"):
        done.server.total()


@LYING
def test_without_the_agreement_it_reads_a_vector_to_the_last_bit(
    clients, around, friends, monkeypatch
):
    mates = lambda self, tags: set(self._pairs) & set(self._stayed)
    monkeypatch.setattr(Client, "_agreeing", mates)
    done = attacked(clients, around, friends)
    done.run([("unmask", one) for one in done.server.friends])
    assert done.server.total().tolist() == done.truth([0])


class Pair(Server):
    """Has masks of 0 and 1 with each other and with 6 to 9, who "left" in the list that all get."""

    def told(self, one):
        if self.stage == "mask" and one < 2:
            return dict.fromkeys({0, 1, 6, 7, 8, 9} - {one}, b"")
        return dict.fromkeys(range(6), b"") if self.stage == "agree" else super().told(one)


def test_who_takes_a_list_has_masks_with_all_neighbours_in_it():
    """Without that one list would do to read the sum of two, of ten who all stayed."""
    done = Round(clients=10, around=Neighbourhood(9, 5))
    done.server = Pair(done.session)
    with pytest.raises(MessageError, match="neighbours that one has no mask with"):
        done.run(until="unmask")


def test_no_sum_is_smaller_than_all_agreed_whoever_asks():
    done = Round(fewest=6).run(until="agree")
    with pytest.raises(RoundAborted, match="5 clients are in the sum, 6 are needed"):
        five = rows(dict.fromkeys(range(5), b""))
        done.clients[0].agree(done.session.written("agree", SERVER, five))
    with pytest.raises(RoundAborted, match="5 clients are left to mask, 6 are needed"):
        Round(fewest=6).run([("mask", 2)])


def answering(done, lists, corrupt):
    """Those honest clients that unmask, where each is told a list and a corrupt one tags all."""
    kept = {n: client.kept() for n, client in done.clients.items()}
    tags = {n: {} for n in lists}
    for one in done.clients:
        for told in {*lists.values()} if one in corrupt else {lists[one]}:
            client = Client(done.session, one, kept[one])
            content = rows(dict.fromkeys(told, b""))
            made = client.agree(done.session.written("agree", SERVER, content))
            for other, tag in entries_by_client(done.session.read(made, "agree", one), 32).items():
                if lists.get(other) == told:
                    tags[other][one] = tag
            if one not in corrupt:
                done.clients[one] = client
    answers = set()
    for one, own in tags.items():
        try:
            done.clients[one].unmask(done.session.written("unmask", SERVER, rows(own)))
            answers.add(one)
        except RoundAborted:
            pass
    done.clients = {n: Client(done.session, n, state) for n, state in kept.items()}
    return answers


@each("threshold, corrupt", [(3, 0), (3, 1), (4, 1), (4, 2), (4, 3), (5, 4), (5, 5)])
def test_no_two_lists_are_opened_if_threshold_is_above_half_of_neighbours_and_corrupt(
    threshold, corrupt
):
    """Of 7 who know each other: every way to tell some of them that 6 has left."""
    around = object.__new__(Neighbourhood)  # which would refuse a threshold of three
    around.__dict__.update(neighbours=6, threshold=threshold, corrupt=0)
    done = Round(clients=7, around=around).run(until="agree")
    liars, honest = set(range(corrupt)), range(corrupt, 6)
    whole, split = tuple(range(7)), []
    for size in range(len(honest) + 1):
        lists = {n: whole[:6] if n - corrupt < size else whole for n in (*honest, 6)}
        heard = {lists[one] for one in answering(done, lists, liars)}
        split.append(len(heard) == 2)
    assert any(split) == (2 * threshold <= 5 + corrupt)


def crooked(secret, holders, threshold, about):
    """Shares on a polynomial of too high a degree, so that subsets give different keys."""
    parts, seals, proof = DEALT(secret, holders, threshold + 1, about)
    return parts, seals, proof[: -keys.NUMBER]


DEALT = keys.dealt
OTHERS = lambda secret, *more: DEALT(keys.fresh(), *more)
EIGHT = Neighbourhood(7, 5, 1)
flipped = lambda message: message[:-1] + bytes([message[-1] ^ 1])


def rubbish(message):
    """Boxes that nobody opens."""
    body, width = message[45:], 4 + 64 + 144
    start = len(body) % width
    spoiled = b"".join(flipped(body[i : i + width]) for i in range(start, len(body), width))
    return message[:45] + body[:start] + spoiled


CHEATS = {
    "no key": ("advertise", lambda m: m[:-33] + bytes(33), "keys of 3, got one that is none"),
    "short": ("share", lambda m: m[:-3], "whole message"),
    "no boxes": ("share", rubbish, "client 3 is out"),
    "one bad box": ("share", flipped, "client 7: shares of 3 are not as proved"),
    "bad shares": ("share", crooked, "client 3 is out"),
    "others' shares": ("share", OTHERS, "shares of the keys of 3, got others"),
    "slander": ("check", lambda m: m[:41] + bytes(4), "client 3: shares of 0 are not as proved"),
    "short vector": ("mask", lambda m: m[:-4], "whole message"),
    "no tags": (
        "agree",
        lambda m: m[:45] + rows(dict.fromkeys({*range(8)} - {3}, bytes(32))),
        "3 took another",
    ),
    "wrong share": ("unmask", flipped, "Expected of 3 its share of 7, got another"),
}


@each("cheat", CHEATS)
@each("leave", [None, "check", "agree"])
def test_who_cheats_loses_its_place_and_the_others_have_their_sum(
    cheat, leave, monkeypatch, caplog
):
    stage, change, named = CHEATS[cheat]
    done = Round(clients=8, around=EIGHT)
    if dealing := change in (crooked, OTHERS):
        honest = done.clients[3].share

        def share(message):
            with monkeypatch.context() as patch:
                patch.setattr(keys, "dealt", change)
                return honest(message)

        done.clients[3].share = share
    done.run([(leave, 1)], spoil={(stage, 3): bytes if dealing else change})
    gone = {1} if leave in STAGES[:4] else set()
    out = {3} if stage in STAGES[:4] and cheat not in ("one bad box", "slander") else set()
    assert set(done.server.survivors) == set(range(8)) - gone - out
    assert done.server.total().tolist() == done.truth(done.server.survivors)
    assert named in caplog.text + " ".join(done.refused)
