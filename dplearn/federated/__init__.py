"""Federated learning with user-level privacy.

`FederatedPlan` states the guarantee of a user before a run begins. `dplearn.federated.simulation`
trains thousands of users in one process (PyTorch), `dplearn.federated.noise` lets clients add the
noise.
"""

from dplearn.federated.plan import FederatedPlan, UserGuarantee, user_level

__all__ = ["FederatedPlan", "UserGuarantee", "user_level"]
