"""A round of secure aggregation in one process: a server, clients, and who leaves or cheats."""

import secrets
from types import MappingProxyType

import numpy as np

from dplearn.federated.aggregation import Client, MessageError, Neighbourhood, Server, Session
from dplearn.federated.aggregation.messages import STAGES

SIX = Neighbourhood(neighbours=5, threshold=3)


class Round:
    """A server, its clients and what each sends; in a stage some of them leave for good."""

    def __init__(self, clients=6, size=4, bits=32, around=SIX, numbers=None, fewest=0):
        self.session = Session(size=size, bits=bits, around=around, fewest=fewest)
        self.server = Server(self.session)
        numbers = numbers or range(clients)
        self.clients = {n: Client(self.session, n) for n in numbers}
        draw = lambda: np.array([secrets.randbelow(2**bits) for _ in range(size)], np.uint64)
        self.vectors = {n: draw() for n in numbers}
        self.told, self.sent = {n: () for n in numbers}, {stage: {} for stage in STAGES}
        self.refused = []

    def answer(self, stage, number):
        told = self.told[number]
        if stage == "mask":
            told = (*told, self.vectors[number])
        self.sent[stage][number] = getattr(self.clients[number], stage)(*told)
        return self.sent[stage][number]

    def run(self, leave=(), until="end", spoil=MappingProxyType({})):
        """All stages up to one; `leave` has (stage, number) for whom that stage is too much.

        `spoil` has, by (stage, number), what becomes of a message; whoever is refused leaves.
        """
        for stage in STAGES[STAGES.index(self.server.stage) :]:
            if stage == until:
                return self
            for number in [n for n in self.told if (stage, n) not in leave]:
                message = self.answer(stage, number)
                if (stage, number) in spoil:
                    message = spoil[stage, number](message)
                try:
                    self.server.receive(number, message)
                except MessageError as error:
                    assert number in {who for _, who in spoil}, error
                    self.refused.append(str(error))
            told = self.server.advance()
            self.told = {n: (message,) for n, message in told.items()}
        return self

    def truth(self, numbers):
        total = sum((self.vectors[n].astype(object) for n in numbers), np.zeros(4, object))
        return (total % 2**self.session.bits).tolist()
