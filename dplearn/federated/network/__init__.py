"""Secure aggregation over TCP: a `Host` adds up what clients, who `take_part`, never show it.

Frames have a head of fixed length and a bound; nothing is unpickled; every wait has a time limit.

A sum is not private. Where each client's `update` returns `noise.encode(change)`, with a
`DistributedNoise` for the `fewest` clients that a host opens a sum of, users have
`noise.guarantee(delta=..., rounds=host.opened)`: of every sum that may have been seen, lost or not.

Examples
--------
Ten processes, of which one is killed:

>>> import numpy as np
>>> from dplearn.federated.aggregation import neighbourhood
>>> from dplearn.federated.network import Host, processes
>>> vectors = np.arange(40).reshape(10, 4)
>>> around = neighbourhood(10, corrupt=0.2, dropouts=0.2)
>>> with Host(size=4, around=around, time_limit=60) as host, processes(vectors, host) as pupils:
...     print(host.round(clients=10).total, vectors.sum(axis=0))
...     pupils[3].kill()
...     print(host.round().total, vectors.sum(axis=0) - vectors[3])
[180 190 200 210] [180 190 200 210]
[168 177 186 195] [168 177 186 195]
"""

from dplearn.federated.network.client import processes, take_part
from dplearn.federated.network.record import Finished
from dplearn.federated.network.server import Host

__all__ = ["Finished", "Host", "processes", "take_part"]
