"""Clients and servers for the tests of the network: honest ones, hostile ones, and doomed ones."""

import asyncio
import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from dplearn.federated.aggregation import Client, Neighbourhood, Server
from dplearn.federated.network import Host, take_part
from dplearn.federated.network.frames import Frame, Kind, close, plan, receive, send

FIVE = Neighbourhood(neighbours=4, threshold=3)
PLAN = {"size": 3, "around": FIVE}
VECTORS = np.array([[10**n, 2**n, n] for n in range(5)])
PATIENT = 120.0  # seconds that no machine is too slow for
FORKED = multiprocessing.get_context("forkserver")


def right(done):
    """Whether a sum is that of the clients it names."""
    return done.total.tolist() == VECTORS[list(done.clients)].sum(axis=0).tolist()


@contextmanager
def friends(server, numbers=range(5)):
    """Honest clients, a thread each; the server, if it is one of this process, ends with them."""
    more = {"address": server.address, "patience": PATIENT, **PLAN}
    with ThreadPoolExecutor(5) as pool:
        honest = lambda n: pool.submit(take_part, lambda r, b: VECTORS[n], number=n, **more)
        try:
            yield list(map(honest, numbers))
        finally:
            if isinstance(server, Host):
                server.close()


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def doomed_client(stage, **options):
    """A client that is killed in a stage of its first round."""
    setattr(Client, stage, die)
    take_part(lambda r, b: VECTORS[options["number"]], **options)


def doomed_server(address, record, where):
    """A server that is killed in its third round."""
    with Host(address=address, record=record, time_limit=PATIENT, **PLAN) as host:
        for _ in range(2):
            host.round(clients=5)
        owner, name = {"answers": (Server, "receive"), "opened": (Server, "total")}.get(
            where, (Host, "_tell")
        )
        setattr(owner, name, die)
        host.round(clients=5)


def process(target, *arguments, **options):
    made = FORKED.Process(target=target, args=arguments, kwargs=options, daemon=True)
    made.start()
    return made


def hello(number, session):
    return f"{number}: {plan(session)}".encode()


async def _visit(address, raw, session, number, answer, ssl):
    link = await asyncio.open_connection(*address, ssl=ssl)
    try:
        if raw is not None:
            link[1].write(raw)
            if ssl is None:
                link[1].write_eof()
        else:
            await send(link, Frame(Kind.HELLO, 0, hello(number, session)))
            start = await receive(link, most=10**6)
            link[1].write(answer(start.round, Client(session, number).advertise()))
        return (await receive(link, most=10**6)).body.decode()
    except (asyncio.IncompleteReadError, OSError):
        return "closed"
    finally:
        await close(link)


def reply(address, raw=None, *, session=None, number=0, answer=None, ssl=None):
    """What a server says to bytes, or to a bad answer to the start of a round."""
    return asyncio.run(_visit(address, raw, session, number, answer, ssl))
