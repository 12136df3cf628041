"""Flower app that trains a `FederatedPlan`: SecAgg+ hides each update, the server adds the noise.

The guarantee is for readers of the model; the server is trusted with the exact sums.
"""

import numpy as np
from flwr.client import NumPyClient
from flwr.client.mod import secaggplus_mod
from flwr.clientapp import ClientApp
from flwr.common import ndarrays_to_parameters, parameters_to_ndarrays
from flwr.server import LegacyContext, ServerConfig
from flwr.server.strategy import FedAvg
from flwr.server.workflow import DefaultWorkflow, SecAggPlusWorkflow
from flwr.serverapp import ServerApp
from scipy.special import softmax

from dplearn.datasets import digits, split
from dplearn.federated import FederatedPlan

train, _, unseen = split(digits(), validation=0)


def federated_plan(context):
    return FederatedPlan(sample_rate=1.0, sampling="none", **context.run_config)


class User(NumPyClient):
    def __init__(self, context):
        plan = federated_plan(context)
        own = slice(context.node_config["partition-id"], None, plan.users)
        self.pixels, self.labels = train.images[own].reshape(-1, 64), np.eye(10)[train.labels[own]]
        # Leave room for SecAgg+, which rounds 640 numbers to multiples of max_update_norm / 2^21.
        self.largest = plan.max_update_norm * (1 - 2 * 640**0.5 / 2**22)

    def fit(self, parameters, config):
        update = np.zeros((64, 10))
        for _ in range(20):
            errors = softmax(self.pixels @ (parameters[0] + update), axis=1) - self.labels
            update -= self.pixels.T @ errors / len(errors)
        return [update * min(1, self.largest / np.linalg.norm(update))], 1, {}


class NoisySums(FedAvg):
    def __init__(self, plan):
        self.plan, self.model = plan, np.zeros((64, 10))
        first = ndarrays_to_parameters([self.model])
        super().__init__(
            fraction_evaluate=0.0, min_available_clients=plan.users, initial_parameters=first
        )

    def aggregate_fit(self, server_round, results, failures):
        (mean,) = parameters_to_ndarrays(results[0][1].parameters)  # the same in all results
        deviation = self.plan.noise_multiplier * self.plan.max_update_norm
        noise = np.random.default_rng().normal(scale=deviation, size=mean.shape)
        self.model = self.model + (len(results) * mean + noise) / self.plan.users
        return ndarrays_to_parameters([self.model]), {}


client = ClientApp(client_fn=lambda context: User(context).to_client(), mods=[secaggplus_mod])
server = ServerApp()


@server.main()
def train_privately(grid, context):
    plan = federated_plan(context)
    strategy, rounds = NoisySums(plan), ServerConfig(num_rounds=plan.rounds)
    # Each update has weight 1, the maximum; two thirds of the key shares suffice to open a sum.
    masked = SecAggPlusWorkflow(1.0, 2 / 3, max_weight=1.0, clipping_range=plan.max_update_norm)
    DefaultWorkflow(fit_workflow=masked)(grid, LegacyContext(context, rounds, strategy))
    right = (unseen.images.reshape(-1, 64) @ strategy.model).argmax(axis=1) == unseen.labels
    print(f"{right.mean():.0%} of unseen digits, {plan.guarantee(delta=1e-5)}", flush=True)
