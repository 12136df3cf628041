"""A client of secure aggregation over TCP, and many of them as processes of this machine."""

import asyncio
import multiprocessing
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.federated.aggregation import Client, Neighbourhood, Session
from dplearn.federated.aggregation.messages import MessageError, RoundAborted
from dplearn.federated.network import frames
from dplearn.federated.network.frames import Frame, Kind, Link
from dplearn.federated.network.server import Host
from dplearn.ground import validate

_PAUSE = 0.2  # seconds before a client comes back
Update = Callable[[int, bytes], ArrayLike]


def take_part(
    update: Update,
    *,
    address: tuple[str, int],
    number: int,
    size: int,
    around: Neighbourhood,
    bits: int = 32,
    patience: float = 60.0,
    ssl: ssl.SSLContext | None = None,
) -> tuple[int, ...]:
    """Numbers of the rounds that the server acknowledged, when it sends everybody home.

    `update(round, broadcast)` is called once a round and returns whole numbers in [0, 2^bits),
    shape (size,); size, bits and neighbours are agreed on beforehand, not the server's to choose.
    Whenever a connection or a round fails, the client comes back for the next. TimeoutError is
    raised if nothing is heard for `patience` seconds; what `update` raises ends it, too.
    """
    validate.integer(minimum=0, number=number)
    validate.positive(patience=patience)
    session = Session(size=size, around=around, bits=bits)
    return asyncio.run(_Guest(update, number, session, patience).run(address, ssl))


class _Guest:
    """What a client remembers from one connection to the next."""

    def __init__(self, update: Update, number: int, session: Session, patience: float) -> None:
        self._update, self._number, self._session = update, number, session
        self._patience, self._done = patience, list[int]()
        # The next answers to give in a round.
        self._steps: list[Callable[[bytes], bytes]] = []

    async def run(self, address: tuple[str, int], ssl: ssl.SSLContext | None) -> tuple[int, ...]:
        """Come again until the server ends it all."""
        last = "no answer"
        try:
            async with asyncio.timeout(self._patience) as limit:
                while True:
                    try:
                        link = await asyncio.open_connection(*address, ssl=ssl)
                        try:
                            await self._talk(link, limit)
                            return tuple(self._done)
                        finally:
                            await frames.close(link)
                    except (*frames.BROKEN, RoundAborted) as error:
                        last = f"{type(error).__name__}: {error}"
                    await asyncio.sleep(_PAUSE)
        except TimeoutError:
            end = f"{address[0]}:{address[1]} within {self._patience:g} s, got {last}"
            raise TimeoutError(f"Expected to hear of a server at {end}.") from None

    async def _talk(self, link: Link, limit: asyncio.Timeout) -> None:
        """Answer frames until the end; MessageError if one is not due."""
        hello = f"{self._number}: {frames.plan(self._session)}".encode()
        await frames.send(link, Frame(Kind.HELLO, 0, hello))
        most = max(frames.LARGEST_BROADCAST + 32, frames.longest(self._session))
        while (frame := await frames.receive(link, most=most)).kind is not Kind.END:
            if frame.kind is Kind.DONE:
                self._done.append(frame.round)
            else:
                await frames.send(link, Frame(Kind.MESSAGE, frame.round, self._answer(frame)))
            limit.reschedule(asyncio.get_running_loop().time() + self._patience)

    def _answer(self, frame: Frame) -> bytes:
        """The message that is due."""
        if frame.kind is Kind.START:
            client = Client(replace(self._session, name=frame.body[:32]), self._number)
            # Before any key is sent: who trains too long then leaves no mask to be taken off.
            vector = self._update(frame.round, frame.body[32:])
            self._steps = [client.share, partial(client.mask, vector=vector), client.unmask]
            return client.advertise()
        if frame.kind is not Kind.MESSAGE or not self._steps:
            raise MessageError(frame.body.decode(errors="replace") or "Expected a round to start.")
        return self._steps.pop(0)(frame.body)


def _same(vector: NDArray, number: int, broadcast: bytes) -> NDArray:
    """The same vector in each round."""
    return vector


@contextmanager
def processes(
    vectors: ArrayLike, host: Host, *, patience: float = 600.0
) -> Iterator[list[BaseProcess]]:
    """One process of this machine for each row of vectors, which it gives in each round.

    They end with the block, if not before; each can be killed, as `processes[3].kill()`.
    """
    kind = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context: Any = multiprocessing.get_context(kind)
    context.set_forkserver_preload(["__main__", __name__])  # imports once, not in each
    plan = {"size": host.session.size, "around": host.session.around, "bits": host.session.bits}
    begun: list[BaseProcess] = []
    try:
        for number, vector in enumerate(np.asarray(vectors)):
            more = {"address": host.address, "number": number, "patience": patience}
            options = {"args": (partial(_same, vector),), "kwargs": plan | more}
            process = context.Process(target=take_part, daemon=True, **options)
            process.start()
            begun.append(process)
        yield begun
    finally:
        for process in begun:
            process.kill()
            process.join()
