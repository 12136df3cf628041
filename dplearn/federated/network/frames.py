"""Frames on a connection: a head of fixed length, and bytes whose number it bounds; no pickle."""

import asyncio
import ssl
import struct
from enum import IntEnum
from typing import NamedTuple

from dplearn.federated.aggregation.messages import MessageError, Session

Link = tuple[asyncio.StreamReader, asyncio.StreamWriter]
# What ends a conversation, and not a program.
BROKEN = (OSError, asyncio.IncompleteReadError, MessageError)
# What a server may send along with the start of a round, in bytes.
LARGEST_BROADCAST = 2**28
# Mark, kind, number of the round, length of what follows.
HEAD, MARK = struct.Struct(">4sBQI"), b"DPN1"
Kind = IntEnum("Kind", ["HELLO", "START", "MESSAGE", "DONE", "END", "ERROR"])


class Frame(NamedTuple):
    """One frame."""

    kind: Kind
    round: int = 0
    body: bytes = b""


async def send(link: Link, frame: Frame) -> None:
    """Write a frame; returns when there is room for the next."""
    link[1].write(HEAD.pack(MARK, frame.kind, frame.round, len(frame.body)) + frame.body)
    await link[1].drain()


async def receive(link: Link, *, most: int) -> Frame:
    """The next frame, of at most so many bytes; MessageError if it is none, before it is read."""
    mark, kind, number, length = HEAD.unpack(await link[0].readexactly(HEAD.size))
    if mark != MARK or kind not in set(Kind):
        raise MessageError("Expected a frame, got other bytes.")
    if length > most:
        raise MessageError(f"Expected a frame of at most {most} bytes, got one of {length}.")
    return Frame(Kind(kind), number, await link[0].readexactly(length))


async def close(link: Link) -> None:
    """Close a connection, whatever its state; who does not let go is cut off."""
    link[1].close()
    try:
        async with asyncio.timeout(1.0):
            await link[1].wait_closed()
    except (OSError, ssl.SSLError):
        link[1].transport.abort()


def plan(session: Session) -> str:
    """What both ends must mean, in a line."""
    around = session.around
    return (
        f"{session.size} numbers mod 2^{session.bits}, {around.neighbours} neighbours, "
        f"threshold {around.threshold}"
    )


def longest(session: Session) -> int:
    """Bound on the bytes of any message of a session, whoever sends it."""
    return 64 + max(100 * session.around.neighbours, 8 * session.size)
