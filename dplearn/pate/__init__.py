"""Private aggregation of teacher ensembles (PATE): many teachers vote, with noise on the counts.

`PATE` is the public plan and its guarantee for any votes, `Aggregator` answers within the plan.
`at_these_votes` computes epsilon at given votes, for readers who may see the votes.
"""

from dplearn.pate.at_these_votes import AtTheseVotes, at_these_votes
from dplearn.pate.plan import NO_ANSWER, PATE, Aggregator
from dplearn.pate.votes import SHIPPED, Votes, shipped_votes

__all__ = [
    "NO_ANSWER",
    "PATE",
    "SHIPPED",
    "Aggregator",
    "AtTheseVotes",
    "Votes",
    "at_these_votes",
    "shipped_votes",
]
