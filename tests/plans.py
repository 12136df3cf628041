"""The plan that the tests of federated learning begin from: user-level epsilon 1."""

from dplearn.federated import FederatedPlan

PLAN = FederatedPlan(
    users=3000,
    sample_rate=0.05,
    rounds=150,
    noise_multiplier=2.11,
    max_update_norm=0.3,
    sampling="poisson",
)
