"""Frames on a connection: a head of fixed length, and bytes whose number it bounds; no pickle."""

import asyncio
import ssl
import struct
from dataclasses import dataclass
from enum import IntEnum

from dplearn.federated.aggregation.messages import MessageError, Session

Link = tuple[asyncio.StreamReader, asyncio.StreamWriter]
# Mark, kind, number of the round, length of what follows.
_HEAD = struct.Struct(">4sBQI")
_MARK = b"DPN1"
# Number of the client, then what it takes a session to be.
_HELLO = struct.Struct(">5I")
# What a server may send along with the start of a round, in bytes.
LARGEST_BROADCAST = 2**28


class Kind(IntEnum):
    """What a frame is for."""

    HELLO = 1
    START = 2
    MESSAGE = 3
    DONE = 4
    END = 5
    ERROR = 6


@dataclass(frozen=True)
class Frame:
    """One frame."""

    kind: Kind
    round: int = 0
    body: bytes = b""


async def send(link: Link, frame: Frame) -> None:
    """Write a frame; returns when there is room for the next."""
    head = _HEAD.pack(_MARK, frame.kind, frame.round, len(frame.body))
    link[1].write(head + frame.body)
    await link[1].drain()


async def receive(link: Link, *, most: int) -> Frame:
    """The next frame, of at most so many bytes; MessageError if it is none, before it is read."""
    mark, kind, number, length = _HEAD.unpack(await link[0].readexactly(_HEAD.size))
    if mark != _MARK or kind not in set(Kind):
        raise MessageError("Expected a frame, got other bytes.")
    if length > most:
        raise MessageError(f"Expected a frame of at most {most} bytes, got one of {length}.")
    return Frame(Kind(kind), number, await link[0].readexactly(length))


async def close(link: Link, seconds: float = 1.0) -> None:
    """Close a connection, whatever its state; who does not let go is cut off."""
    link[1].close()
    try:
        async with asyncio.timeout(seconds):
            await link[1].wait_closed()
    except (OSError, ssl.SSLError):
        link[1].transport.abort()


def hello(number: int, session: Session) -> bytes:
    """How a client names itself and what it is ready to add up."""
    around = session.around
    return _HELLO.pack(number, session.size, session.bits, around.neighbours, around.threshold)


def greeted(frame: Frame, session: Session) -> int:
    """The client that sent a hello; MessageError unless it means the same session."""
    if frame.kind is not Kind.HELLO or len(frame.body) != _HELLO.size:
        raise MessageError("Expected a hello, got another frame.")
    number, *plan = _HELLO.unpack(frame.body)
    due = list(_HELLO.unpack(hello(number, session))[1:])
    if plan != due:
        names = "size, bits, neighbours and threshold"
        raise MessageError(f"Expected {names} {due}, got a client with {plan}.")
    return number


def longest(session: Session) -> int:
    """Bound on the bytes of any message of a session, whoever sends it."""
    return 64 + max(100 * session.around.neighbours, 8 * session.size)
