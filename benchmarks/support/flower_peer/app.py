"""Flower's own SecAgg+; prints seconds per round."""

import time

import numpy as np
from flwr.client import NumPyClient
from flwr.client.mod import secaggplus_mod
from flwr.clientapp import ClientApp
from flwr.common import ndarrays_to_parameters
from flwr.server import LegacyContext, ServerConfig
from flwr.server.strategy import FedAvg
from flwr.server.workflow import DefaultWorkflow, SecAggPlusWorkflow
from flwr.serverapp import ServerApp


class Row(NumPyClient):
    def fit(self, parameters, config):
        return [parameters[0] + 0.01], 1, {}


client = ClientApp(client_fn=lambda context: Row().to_client(), mods=[secaggplus_mod])
server = ServerApp()


@server.main()
def main(grid, context):
    config = context.run_config
    start, n = ndarrays_to_parameters([np.zeros(config["size"])]), config["clients"]
    shares = {"fraction_fit": 1.0, "fraction_evaluate": 0.0, "initial_parameters": start}
    strategy = FedAvg(min_fit_clients=n, min_available_clients=n, **shares)

    def timed(grid, context):
        context.client_manager.wait_for(n)
        begun = time.monotonic()
        SecAggPlusWorkflow(1.0, 0.67)(grid, context)
        print(f"round: {n} clients, {time.monotonic() - begun:.2f} s", flush=True)

    rounds = ServerConfig(num_rounds=config["rounds"])
    DefaultWorkflow(fit_workflow=timed)(grid, LegacyContext(context, rounds, strategy))
