"""Jupyter kernels forked from one process that has imported the libraries of all lessons.

A forked kernel imports only dplearn, so it starts in 0.1 seconds, a fresh interpreter in up to 9.
The tests of lessons start `Server`. For each notebook Jupyter runs this file with a connection
file; that process requests a kernel from the server, and ends with the kernel.
"""

import importlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from threading import Thread

# Environment variable with the path of the server's socket.
PLACE = "DPLEARN_WARM"
# Not passed to kernels: a lesson must run without this setting of the Makefile.
THREADS = "OMP_NUM_THREADS"
LIBRARIES = ["ipykernel.kernelapp", "plotly.graph_objects", "scipy.integrate", "scipy.optimize"]
LIBRARIES += ["scipy.stats", "torch._dynamo", "torch.func"]


class Server:
    """Process from which kernels are forked, until `stop`."""

    def __init__(self, folder: str) -> None:
        import subprocess  # `stand_for_a_kernel` does not need it

        os.environ |= {PLACE: f"{folder}/socket", "JUPYTER_PATH": str(Path(__file__).parents[2])}
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.environ[PLACE])
            listener.listen(64)
            command = [sys.executable, __file__, str(listener.fileno())]
            free = {k: v for k, v in os.environ.items() if k != THREADS}
            self._process = subprocess.Popen(command, pass_fds=[listener.fileno()], env=free)

    def stop(self) -> None:
        """Kill the process, which ends all its kernels."""
        self._process.kill()
        self._process.wait()


def serve(listener: socket.socket) -> None:
    """Import the libraries, then fork a kernel for each client that connects, for ever."""
    sys.path.pop(0)  # the folder of this file, which has no modules for kernels
    for library in LIBRARIES:
        importlib.import_module(library)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        client, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            become_a_kernel(client)
        client.close()


def become_a_kernel(client: socket.socket) -> None:
    """Run a kernel in this process until the kernel or its client ends."""
    from ipykernel import kernelapp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    asked = json.loads(client.makefile().readline())
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.environ.pop(THREADS, None)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    client.sendall(f"{os.getpid()}\n".encode())
    Thread(target=lambda: (client.recv(1), os._exit(0)), daemon=True).start()
    kernelapp.launch_new_instance(["-f", asked["file"]])
    os._exit(0)


def stand_for_a_kernel(file: str) -> None:
    """Request a kernel from the server, forward interrupts, and end with the kernel."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ[PLACE])
        asked = {"file": file, "folder": os.getcwd(), "environment": dict(os.environ)}
        server.sendall(json.dumps(asked).encode() + b"\n")
        answers = server.makefile()
        kernel = int(answers.readline())
        signal.signal(signal.SIGINT, lambda *_: os.kill(kernel, signal.SIGINT))
        answers.read()


if __name__ == "__main__":
    if sys.argv[1].isdigit():
        serve(socket.socket(fileno=int(sys.argv[1])))
    stand_for_a_kernel(sys.argv[1])
