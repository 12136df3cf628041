"""The server of secure aggregation over TCP, round after round."""

import asyncio
import logging
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_bytes
from typing import Any, Self, TypeVar

from dplearn.federated.aggregation import Neighbourhood, Server, Session
from dplearn.federated.aggregation.messages import SERVER, MessageError, RoundAborted
from dplearn.federated.network import frames
from dplearn.federated.network.frames import Frame, Kind, Link
from dplearn.federated.network.record import Finished, Record
from dplearn.ground import validate

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class Host:
    """Listens from the moment it is made; `round` adds up what the clients then there have.

    It works in a thread of its own, so that a notebook can use it. Who is late, leaves or sends
    what is not due is disconnected with one sentence, drops out of the round, and may come back in
    the next. With a `record`, a host that was killed is made again with the same one: sums that it
    acknowledged are in `finished()`, and it goes on with the next number.

    With `ssl` connections are encrypted; if it asks clients for certificates, a client is whom its
    certificate's common name says. Without, a number is believed.
    """

    def __init__(
        self,
        *,
        size: int,
        around: Neighbourhood,
        bits: int = 32,
        users: int = SERVER,  # numbers of clients are below it
        fewest: int = 0,  # clients in a sum, such as `DistributedNoise.clients`; or the threshold
        address: tuple[str, int] = ("127.0.0.1", 0),  # port 0: any that is free
        record: str | Path | None = None,
        time_limit: float = 10.0,  # seconds for one answer of a client, training included
        ssl: ssl.SSLContext | None = None,
    ) -> None:
        self.session = Session(size=size, around=around, bits=bits)
        validate.integer(minimum=2, maximum=SERVER, users=users)
        validate.integer(minimum=0, fewest=fewest)
        validate.positive(time_limit=time_limit)
        self._users, self._fewest, self._time_limit = users, fewest, time_limit
        self._record = Record(None if record is None else Path(record), self.session)
        self._last, self._links = self._record.last, dict[int, Link]()
        self._loop, self._arrived = asyncio.new_event_loop(), asyncio.Event()
        self._turn = asyncio.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            self._door = self._wait(asyncio.start_server(self._greet, *address, ssl=ssl))
        except BaseException:
            self._stop()
            raise
        self.address: tuple[str, int] = self._door.sockets[0].getsockname()[:2]

    def round(self, broadcast: bytes = b"", *, clients: int = 1) -> Finished:
        """One round of who is there, once so many are or the time limit is over.

        `broadcast`, the model say, goes to each client's `update`. RoundAborted is raised if too
        few stay; then nothing was opened, unless `opened` has grown.
        """
        validate.integer(minimum=1, clients=clients)
        if len(broadcast) > frames.LARGEST_BROADCAST:
            most = frames.LARGEST_BROADCAST
            raise ValueError(f"Expected broadcast of at most {most} bytes, got {len(broadcast)}.")
        return self._wait(self._when_here(broadcast, clients))

    @property
    def opened(self) -> int:
        """Number of rounds whose sum was, or may have been, opened: what a guarantee counts."""
        return self._record.opened

    def finished(self) -> Iterator[Finished]:
        """Rounds whose sums were acknowledged, those before a restart included."""
        return self._record.finished()

    def close(self) -> None:
        """Send everybody home."""
        if not self._loop.is_closed():
            self._wait(self._close())
            self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _wait(self, work: Coroutine[Any, Any, _T]) -> _T:
        """What work in the thread returns; an interrupt stops it."""
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("Expected a host that is open, got a closed one.")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._record.close()

    async def _close(self) -> None:
        self._door.close()
        guests = asyncio.all_tasks() - {asyncio.current_task()}
        for task in guests:
            task.cancel()
        await asyncio.gather(*guests, return_exceptions=True)
        await asyncio.gather(*(self._tell(one, Frame(Kind.END)) for one in self._links))
        await asyncio.gather(*map(frames.close, self._links.values()))

    async def _greet(self, *link: Any) -> None:
        """Take in who says hello, or say why not."""
        try:
            async with asyncio.timeout(self._time_limit):
                hello = await frames.receive(link, most=128)
                number = self._named(hello, link[1].get_extra_info("peercert"))
        except frames.BROKEN as error:
            await self._refuse(link, error)
            return
        gone, self._links[number] = self._links.get(number), link
        self._arrived.set()
        if gone is not None:
            await frames.close(gone)

    def _named(self, hello: Frame, certificate: dict | None) -> int:
        """The client that sent a hello; MessageError if it cannot be or means something else."""
        name, _, plan = hello.body.decode("latin-1").partition(": ")
        if hello.kind is not Kind.HELLO or not name.isdecimal():
            raise MessageError("Expected a hello, got another frame.")
        if plan != frames.plan(self.session):
            raise MessageError(f"Expected {frames.plan(self.session)}, got a client with {plan}.")
        if certificate:
            names = dict(part[0] for part in certificate["subject"])
            if (owner := names.get("commonName")) != name:
                raise MessageError(f"Expected client {name}, got a certificate of {owner}.")
        if (number := int(name)) >= self._users:
            raise MessageError(f"Expected a client below {self._users}, got {number}.")
        if number in self._present():
            raise MessageError(f"Expected a client that is not here yet, got {number} again.")
        return number

    def _present(self) -> list[int]:
        """Clients whose connection is open as far as one can tell."""
        return [one for one, link in self._links.items() if not link[0].at_eof()]

    async def _when_here(self, broadcast: bytes, clients: int) -> Finished:
        """One round, after others that this process is in, as soon as it may begin."""
        async with self._turn:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._time_limit):
                    while len(self._present()) < clients:
                        self._arrived.clear()
                        await self._arrived.wait()
            return await self._round(broadcast)

    async def _round(self, broadcast: bytes) -> Finished:
        self._last += 1
        number, session = self._last, replace(self.session, name=token_bytes(32))
        server, start = Server(session), session.name + broadcast
        told = dict.fromkeys(self._present(), Frame(Kind.START, number, start))
        for messages in stages(server, self._fewest, lambda: self._record.begin(number)):
            told = {one: Frame(Kind.MESSAGE, number, m) for one, m in messages.items()} or told
            await asyncio.gather(*(self._ask(server, one, told[one]) for one in told))
        done = Finished(number=number, clients=server.survivors, total=server.total())
        self._record.finish(done)
        thanks = [one for one in done.clients if one in self._links]
        await asyncio.gather(*(self._tell(one, Frame(Kind.DONE, number)) for one in thanks))
        return done

    async def _ask(self, server: Server, number: int, frame: Frame) -> None:
        """Send a frame, and give the answer to the protocol; who has none is disconnected."""
        link = self._links[number]
        try:
            async with asyncio.timeout(self._time_limit):
                await frames.send(link, frame)
                answer = await frames.receive(link, most=frames.longest(self.session))
                server.receive(number, answer.body)
        except frames.BROKEN as error:
            await self._refuse(link, error)
            if self._links[number] is link:  # and not that of one who is back already
                del self._links[number]

    async def _tell(self, number: int, frame: Frame) -> None:
        with suppress(*frames.BROKEN):
            async with asyncio.timeout(self._time_limit):
                await frames.send(self._links[number], frame)

    async def _refuse(self, link: Link, error: Exception) -> None:
        """Say why, and close."""
        why = str(error) or "Expected an answer in time, got none."
        _log.info("%s: %s", link[1].get_extra_info("peername"), why)
        with suppress(*frames.BROKEN):
            async with asyncio.timeout(1.0):
                await frames.send(link, Frame(Kind.ERROR, 0, why.encode()))
        await frames.close(link)


def stages(server: Server, fewest: int, opening: Callable[[], None]) -> Iterator[dict[int, bytes]]:
    """What to send in each stage of a round, by client; at the first, to all: nothing.

    Whoever iterates gives the answers to `server.receive` before the next. `opening` is called
    before anything that opens the sum is sent; RoundAborted is raised if too few stayed.
    """
    told: dict[int, bytes] = {}
    while server.stage != "end":
        if server.stage == "unmask":
            if len(server.survivors) < fewest:
                stayed = len(server.survivors)
                raise RoundAborted(f"{stayed} clients are in the sum, {fewest} are needed.")
            opening()
        yield told
        told = server.advance()
