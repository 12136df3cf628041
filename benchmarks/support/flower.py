"""A Flower on loopback: a SuperLink, SuperNodes or its simulation of them, what an app prints."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
LIMIT = 1800.0  # seconds, against waiting for ever


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@contextmanager
def flower(folder, nodes):
    """`run(app, config)` gives the lines that a ServerApp prints.

    A SuperNode has each node config of a list; of a number of nodes the simulation engine has all.
    """
    simulated = isinstance(nodes, int)
    (folder / "home").mkdir()
    quiet = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1", "NO_PROXY": "*"}
    paths = {"FLWR_HOME": folder / "home", "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}
    environment = os.environ | quiet | paths | {"PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1"}
    port = free_port()
    with ExitStack() as ends:

        def begin(*command):
            options = {"cwd": folder, "env": environment, "start_new_session": True}
            log = ends.enter_context((folder / "log.txt").open("a"))
            made = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log, **options)
            ends.callback(lambda: (os.killpg(made.pid, signal.SIGKILL), made.wait()))

        local = ["--insecure", "--host", "127.0.0.1", "--port"]
        install = "--disable-runtime-dependency-installation"
        engine = ["--simulation"] if simulated else []
        begin(PROGRAMS / "flower-superlink", *local, port, install, *engine)
        wait_for(f"http://127.0.0.1:{port}/health")
        link = ["--superlink", f"127.0.0.1:{port}", "--node-config"]
        for node in [] if simulated else nodes:
            begin(PROGRAMS / "flower-supernode", *local, free_port(), *link, node)
        connection = f'address = "127.0.0.1:{port}"\ninsecure = true\n'
        default = '[superlink]\ndefault = "local"\n[superlink.local]\n'
        (folder / "home" / "config.toml").write_text(default + connection)

        def run(app, config):
            command = [PROGRAMS / "flwr", "run", app, "local", "--stream", "--run-config", config]
            if simulated:
                command += ["--federation-config", f"num-supernodes={nodes}"]
            options = {"cwd": folder, "env": environment, "timeout": LIMIT}
            ended = subprocess.run(command, capture_output=True, text=True, **options)
            log = (folder / "log.txt").read_text()[-3000:]
            assert ended.returncode == 0, ended.stdout + ended.stderr + log
            return ended.stdout.splitlines()

        yield run


def wait_for(address):
    """Until a server answers."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise TimeoutError(f"Expected {address} to answer within {LIMIT:g} s.")
