"""Several explorers behind one address: ``dplearn app --workers 4``, with nginx in front.

A reader's requests all go to the server that answered the first one, because a session lives in
one process; a cookie with the server's number tells nginx which. Whatever ends, all of them end.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from string import Template

from dplearn.app.kit.questions import PLACES
from dplearn.ground import validate

_PAUSE = 0.2
_NGINX = Template("""\
daemon off;
pid $folder/pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path $folder/body;
  proxy_temp_path $folder/proxy;
  fastcgi_temp_path $folder/fastcgi;
  uwsgi_temp_path $folder/uwsgi;
  scgi_temp_path $folder/scgi;
  split_clients $$request_id $$drawn { $shares}
  map $$cookie_dplearn_worker $$worker { default $$drawn; $numbers}
  map $$worker $$server { $places}
  map $$http_upgrade $$upgraded { default upgrade; '' ''; }
  server {
    listen $listen;
    location / {
      proxy_pass http://$$server;
      proxy_http_version 1.1;
      proxy_set_header Host $$http_host;
      proxy_set_header Upgrade $$http_upgrade;
      proxy_set_header Connection $$upgraded;
      proxy_read_timeout 1d;
      proxy_buffering off;
      proxy_request_buffering off;
      client_max_body_size 66m;
      add_header Set-Cookie "dplearn_worker=$$worker; Path=/; HttpOnly; SameSite=Lax" always;
    }
  }
}
""")


def configuration(folder: str | Path, listen: str, ports: Sequence[int]) -> str:
    """The text of a configuration of nginx that listens for the servers of these ports."""
    count = len(ports)
    each = lambda line: "".join(f"{line(i, port)}; " for i, port in enumerate(ports))
    share = lambda i, _: f"{100 / count:.2f}% {i}" if i < count - 1 else f"* {i}"
    return _NGINX.substitute(
        folder=folder,
        listen=listen,
        shares=each(share),
        numbers=each(lambda i, _: f"{i} {i}"),
        places=each(lambda i, port: f"{i} 127.0.0.1:{port}"),
    )


def main(options: Sequence[str]) -> int:
    """Serve until stopped, or until one of the processes ends; returns the exit status."""
    parser = argparse.ArgumentParser(prog="dplearn app", add_help=False, allow_abbrev=False)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--server.port", dest="port", type=int, default=8501)
    parser.add_argument("--server.address", dest="address", default="127.0.0.1")
    given, others = parser.parse_known_args(options)
    validate.integer(minimum=1, workers=given.workers)
    # Debian keeps it where ordinary users do not look.
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if nginx is None:
        print("dplearn app: --workers needs nginx: apt-get install nginx-light", file=sys.stderr)
        return 2
    ports, runs = _free(given.workers), max(PLACES // given.workers, 1)
    environment = {"DPLEARN_TRAINING_RUNS": str(runs)} | os.environ
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        processes: list[subprocess.Popen] = []

        def start(*command: str) -> None:
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
            processes.append(process)
            stack.callback(process.wait)
            stack.callback(process.terminate)

        for port in ports:
            own = ["--server.port", str(port), "--server.headless", "true"]
            start(sys.executable, "-m", "dplearn.app", *others, *own)
        running = lambda: all(process.poll() is None for process in processes)
        try:
            while running() and not all(map(_answers, ports)):
                time.sleep(_PAUSE)
            written = Path(folder, "nginx.conf")
            written.write_text(configuration(folder, f"{given.address}:{given.port}", ports))
            start(nginx, "-e", "stderr", "-p", folder, "-c", str(written))
            print(f"{given.workers} servers at http://{given.address}:{given.port}", flush=True)
            while running():
                time.sleep(_PAUSE)
        except KeyboardInterrupt:
            return 0
    return 1


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def _free(count: int) -> list[int]:
    """Ports that nobody listens at."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
