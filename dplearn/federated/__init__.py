"""Federated learning with user-level privacy.

`FederatedPlan` states the guarantee of a user before a run begins, `CorrelatedPlan` that of a user
who takes part a bounded number of times. `dplearn.federated.simulation` trains thousands of users
in one process (PyTorch), `dplearn.federated.noise` lets clients add the noise.
"""

from dplearn.federated.plan import CorrelatedPlan, FederatedPlan, UserGuarantee, user_level

__all__ = ["CorrelatedPlan", "FederatedPlan", "UserGuarantee", "user_level"]
