"""Flower's own: SecAgg+, or its DP mod without any secrecy; prints seconds per round."""

import time

import numpy as np
from flwr.client import NumPyClient
from flwr.client.mod import fixedclipping_mod, secaggplus_mod
from flwr.clientapp import ClientApp
from flwr.common import ndarrays_to_parameters
from flwr.server import LegacyContext, ServerConfig
from flwr.server.strategy import DifferentialPrivacyClientSideFixedClipping, FedAvg
from flwr.server.workflow import DefaultWorkflow, SecAggPlusWorkflow
from flwr.server.workflow.default_workflows import default_fit_workflow
from flwr.serverapp import ServerApp


class Row(NumPyClient):
    def fit(self, parameters, config):
        return [parameters[0] + 0.01], 1, {}


def mod(message, context, call_next):
    own = {"secagg": secaggplus_mod, "dp": fixedclipping_mod}[context.run_config["mode"]]
    return own(message, context, call_next)


client = ClientApp(client_fn=lambda context: Row().to_client(), mods=[mod])
server = ServerApp()


@server.main()
def main(grid, context):
    config = context.run_config
    start, n = ndarrays_to_parameters([np.zeros(config["size"])]), config["clients"]
    shares = {"fraction_fit": 1.0, "fraction_evaluate": 0.0, "initial_parameters": start}
    strategy = FedAvg(min_fit_clients=n, min_available_clients=n, **shares)
    if config["mode"] == "dp":
        strategy = DifferentialPrivacyClientSideFixedClipping(strategy, 1.0, 1.0, n)
    own = {"secagg": SecAggPlusWorkflow(1.0, 0.67), "dp": default_fit_workflow}[config["mode"]]

    def timed(grid, context):
        context.client_manager.wait_for(n)
        begun = time.monotonic()
        own(grid, context)
        print(f"round: {n} clients, {time.monotonic() - begun:.2f} s", flush=True)

    rounds = ServerConfig(num_rounds=config["rounds"])
    DefaultWorkflow(fit_workflow=timed)(grid, LegacyContext(context, rounds, strategy))
