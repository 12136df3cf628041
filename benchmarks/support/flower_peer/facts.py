"""What Flower's noise is worth and what its masks grow from, by its own code, as JSON."""

import json
from types import SimpleNamespace

import numpy as np
from flwr.app import ArrayRecord, MetricRecord, RecordDict
from flwr.common.secure_aggregation.secaggplus_utils import pseudo_rand_gen
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg
from flwr.supercore.differential_privacy import compute_stdv

SIZE, CLIENTS = 100_000, 10


def mean(weights, updates, noise=0.0):
    """Its noisy mean of updates, of which only the first number is not zero."""
    own = DifferentialPrivacyServerSideFixedClipping(FedAvg(), noise, 1.0, CLIENTS)
    own.current_arrays = ArrayRecord([np.zeros(SIZE)])
    replies = []
    for weight, first in zip(weights, updates, strict=True):
        update = np.full(SIZE, 1e-12)  # of zeros its clipping makes a ZeroDivisionError
        update[0] += first
        metrics = MetricRecord({"num-examples": weight})
        content = RecordDict({"arrays": ArrayRecord([update]), "metrics": metrics})
        answers = {"has_error": lambda: False, "has_content": lambda: True}
        replies.append(SimpleNamespace(content=content, **answers))
    return own.aggregate_train(1, replies)[0].to_numpy_ndarrays()[0]


def delivered(weights):
    """Multipliers of its noise if the first sends nothing but her weight, and if she leaves."""
    n, deviation = len(weights), compute_stdv(1.0, 1.0, CLIENTS)
    noisy = mean(weights, [0.0] * n, 1.0)
    assert abs(noisy.std() / deviation - 1) < 0.02  # as it is added, too
    stays = mean(weights, [1.0] + [0.0] * (n - 1)) - mean(weights, [0.0] * n)
    leaves = mean(weights, [1.0] + [-1.0] * (n - 1)) - mean(weights[1:], [-1.0] * (n - 1))
    return [round(float(deviation / np.linalg.norm(moved)), 9) for moved in (stays, leaves)]


SEEDS = [bytes(31) + b"\1", bytes(27) + b"\1" + bytes(4)]
MASKS = [pseudo_rand_gen(seed, 2**32, [(9,)])[0].tolist() for seed in SEEDS]
print(
    json.dumps(
        {
            "ten of equal weight": delivered([1] * CLIENTS),
            "one of ten has half of all records": delivered([9] + [1] * 9),
            "five of ten answer": delivered([1] * 5),
            "same mask": MASKS[0] == MASKS[1],
        }
    )
)
