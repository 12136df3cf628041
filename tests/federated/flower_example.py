"""The Flower example under Flower's simulation engine: `make flower` runs this test.

Flower pins older packages, so it runs in an environment of its own, and the name of this file keeps
pytest from collecting it with the others.
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "dplearn" / "federated" / "flower_example"
LINK = ["flower-superlink", "--insecure", "--simulation", "--host", "127.0.0.1", "--port"]
RUN = ["flwr", "run", APP, "--stream", "--federation-config"]
SIZE = "num-supernodes=20 client-resources-num-cpus=1"
CONFIG = 'superlink = {{ default = "own", own = {{ address = "127.0.0.1:{}", insecure = true }} }}'

OFFLINE = {name: "0" for name in ("FLWR_TELEMETRY_ENABLED", "RAY_USAGE_STATS_ENABLED")}
OFFLINE["FLWR_DISABLE_UPDATE_CHECK"] = "1"


def answers(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_five_rounds_of_secure_sums_train_a_model(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "config.toml").write_text(CONFIG.format(port))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"FLWR_HOME": str(tmp_path), "PATH": path}
    settings = {"env": os.environ | OFFLINE | own, "cwd": tmp_path, "text": True}
    with subprocess.Popen([*LINK, str(port)], stderr=subprocess.DEVNULL, **settings) as link:
        try:
            while link.poll() is None and not answers(port):
                time.sleep(0.2)
            ended = subprocess.run([*RUN, SIZE], capture_output=True, **settings)
        finally:
            link.terminate()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("Secure aggregation completed.") == 5
    share, guarantee = ended.stdout.split("% of unseen digits, ")
    assert int(share.split()[-1]) >= 65
    assert guarantee.startswith("epsilon = 4.983 at delta = 1.0e-05, add_remove, by pld, per user")
