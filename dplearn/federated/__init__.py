"""Federated learning whose privacy is that of users.

`FederatedPlan` says before a run begins what it can leak of one user, `CorrelatedPlan` where users
take part a bounded number of times. `dplearn.federated.simulation` trains thousands of users in one
process (PyTorch), `dplearn.federated.noise` lets clients add the noise.
"""

from dplearn.federated.plan import CorrelatedPlan, FederatedPlan, UserGuarantee, user_level

__all__ = ["CorrelatedPlan", "FederatedPlan", "UserGuarantee", "user_level"]
