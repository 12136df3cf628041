r"""Secure aggregation: a server learns the sum of its clients' vectors, and nothing else of them.

After Bonawitz et al. (2017) with the neighbours of Bell et al. (2020). In a round each client hides
its vector under masks: one shared with every neighbour, which cancel in the sum, and one of its
own. Keys of both are dealt out as shares, so that clients may leave at any time. `Client` and
`Server` exchange bytes, in six stages:

===========  ==============================  =====================================================
stage        client                          server
===========  ==============================  =====================================================
advertise    three fresh public keys         draws the graph, tells each client its neighbours' keys
share        shares of two secrets, sealed,  checks the proofs, forwards
             a proof that they fit together
check        whose shares are as proved      drops whom too many complain of, tells who are left
mask         the masked vector               tells all clients the one list of who sent one
agree        a tag on that list for each     forwards
             neighbour in it
unmask       for each neighbour one share    takes the masks off the sum
===========  ==============================  =====================================================

What is promised, and against whom. k is `neighbours`, t `threshold`, and at most c (`corrupt`) of a
client's neighbours lie along with a server that may lie, too: about who has left, to each client
differently, and about what has come. `Neighbourhood` refuses :math:`2t \le k + c`. A client takes
one list of survivors: itself and at least t neighbours are in it, all of whom it has masks with; it
unmasks once t of these have sent tags on the same list, under keys that the server does not have.

- *Of no client are both secrets opened.* Each honest neighbour gives one share of it, and both
  together would need 2(t - c) of k - c.
- *Who unmasks has stayed.* t - c honest neighbours took its list; the others and those who lie have
  k - t + c < t shares of its masks with neighbours.
- *No vector is opened alone.* At least t - c honest neighbours gave shares of its own mask, and t
  neighbours have masks with it; of k these have 2t - k - c or more in common, and masks with those
  are never opened. So it is in a sum with that many other honest vectors at least.
- *Complete graph: there is one list.* Two would need t - c + 1 honest clients each, of k + 1 - c.
  What is opened is the sum over all honest clients in it: at least t - c + 1, and at least its
  length - c, where no client takes a list of fewer than `Session.fewest`.
- *Sparse graph: groups far apart may take different lists*, and have their sums opened. Only the
  third point bounds their size: where `fewest` is to hold against a server that lies, the graph
  must be complete.

For 10 clients of whom 2 lie t is 6: two lists would need 5 + 5 honest clients, and there are 8. At
t = 5 they would need 4 + 4.

A client that cheats loses its place, and the error or the log names it: a wrong proof, a vector
too short or a wrong share is refused, who deals bad shares to more than c is out, a bad tag counts
as none. The others have their sum as long as at most k - t - c neighbours of each leave or cheat;
k - t, where nobody deals bad shares.

What is *not* promised. That public keys belong to whom the server says: without a public key
infrastructure that signs them (it is what `Client.advertise` gives that is to be signed), a server
can invent clients, be in the middle of all, and read everything. That a sparse graph is drawn at
random: a server that seats t of its friends around a client reads it. Anything against more than c.
That a vector is what it should be: a client may send anything. Messages to and from the server
need a channel that authenticates both ends. And a sum is not private; noise makes it so.
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
