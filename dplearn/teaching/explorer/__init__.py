"""The explorer: Streamlit lives here and nowhere else."""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

# Environment of a process that computes: a second thread of BLAS uses a third of a processor.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
# For one reader: a page elsewhere whose name was made to lead to this machine is refused.
_ALLOWED = ("--server.allowedHosts", "localhost", "--server.allowedHosts", "127.0.0.1")
_THIS_MACHINE = ("--server.address", "127.0.0.1", *_ALLOWED)


def serve(options: Sequence[str]) -> NoReturn:
    """Replace this process by ``streamlit run app.py`` for this machine, with further options.

    Raises ModuleNotFoundError where a package is missing; the message says how to add it.
    """
    if missing := [name for name in ("streamlit", "plotly") if find_spec(name) is None]:
        raise ModuleNotFoundError(
            f"The explorer needs {' and '.join(missing)}, which is not installed: "
            'pip install "dplearn-privacy[app]", or make app in a checkout of the project.'
        )
    # A wheel holds the file here, a checkout at its root.
    here = Path(__file__).with_name("app.py")
    script = here if here.exists() else Path(__file__).parents[3] / "app.py"
    server = [sys.executable, "-m", "streamlit", "run", str(script), *_THIS_MACHINE, *options]
    # BLAS counts its threads when numpy is loaded, which it is by now.
    os.execve(sys.executable, server, {**os.environ, **ONE_THREAD})
