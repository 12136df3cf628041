"""Secure aggregation: a server learns the sum of its clients' vectors, and nothing else of them.

After Bonawitz et al. (2017) with the neighbours of Bell et al. (2020). In a round each client hides
its vector under masks: one shared with every neighbour, which cancel in the sum, and one of its
own. Keys of both are dealt out as shares, so that clients may leave at any time. `Client` and
`Server` exchange bytes, in four stages:

===========  ==============================  =====================================================
stage        client                          server
===========  ==============================  =====================================================
advertise    three fresh public keys         draws the graph, tells each client its neighbours' keys
share        shares of two secrets, sealed   forwards them
mask         the masked vector               tells each client which neighbours have sent one
unmask       for each neighbour one share    takes the masks off the sum
===========  ==============================  =====================================================

What is promised, and against whom. A server that follows the protocol, and reads all it gets with
up to `threshold` - 1 neighbours of a client, learns of that client's vector only what the sum over
all honest ones who stayed tells. A server that lies about who has left gains nothing by it alone: a
threshold above half of the neighbours leaves too few shares for both secrets. What is *not*
promised: that public keys belong to whom the server says. Without a public key infrastructure that
signs them (it is what `Client.advertise` gives that is to be signed), a server can invent clients,
be in the middle of all, and read everything. Nor is a vector checked: a client may send anything.
Messages to and from the server need a channel that authenticates both ends. And a sum is not
private; noise makes it so.
"""

from dplearn.federated.aggregation.client import Client
from dplearn.federated.aggregation.graph import Neighbourhood, neighbourhood
from dplearn.federated.aggregation.messages import MessageError, RoundAborted, Session
from dplearn.federated.aggregation.server import Server, stages

__all__ = [
    "Client",
    "MessageError",
    "Neighbourhood",
    "RoundAborted",
    "Server",
    "Session",
    "neighbourhood",
    "stages",
]
