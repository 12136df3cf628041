"""Federated plan with user-level epsilon 1, shared by the tests of federated learning."""

from dplearn.federated import FederatedPlan

PLAN = FederatedPlan(
    users=3000,
    sample_rate=0.05,
    rounds=150,
    noise_multiplier=2.11,
    max_update_norm=0.3,
    sampling="poisson",
)
