"""Explorer: a Streamlit app on differential privacy; no other package imports Streamlit."""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

# The server uses one BLAS thread; a second thread would waste a third of a core.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
# Serve this machine only; allowedHosts refuses foreign host names that resolve to 127.0.0.1.
_ALLOWED = ("--server.allowedHosts", "localhost", "--server.allowedHosts", "127.0.0.1")
_THIS_MACHINE = ("--server.address", "127.0.0.1", *_ALLOWED)


def serve(options: Sequence[str]) -> NoReturn:
    """Replace this process by ``streamlit run app.py`` on localhost.

    Parameters
    ----------
    options : sequence of str, further command-line options of Streamlit

    Returns
    -------
    Never

    Raises
    ------
    ModuleNotFoundError, with the command of pip, if a package is missing
    """
    if missing := [name for name in ("streamlit", "plotly") if find_spec(name) is None]:
        raise ModuleNotFoundError(
            f"The explorer needs {' and '.join(missing)}, which is not installed: "
            'pip install "dplearn-privacy[app]", or make app in a checkout of the project.'
        )
    # A wheel has app.py in this folder, a checkout has it in the root folder.
    here = Path(__file__).with_name("app.py")
    script = here if here.exists() else Path(__file__).parents[3] / "app.py"
    server = [sys.executable, "-m", "streamlit", "run", str(script), *_THIS_MACHINE, *options]
    # Start a new program, because BLAS fixed its thread count when NumPy was imported.
    os.execve(sys.executable, server, {**os.environ, **ONE_THREAD})
