"""The explorer: Streamlit lives here and nowhere else."""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

# What a process is told that computes: a second thread of BLAS burns a third of a processor here.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def serve(options: Sequence[str]) -> NoReturn:
    """Become the explorer's server, with options of ``streamlit run``, until it is stopped.

    Raises ModuleNotFoundError where a package is missing; the message says how to add it.
    """
    if missing := [name for name in ("streamlit", "plotly") if find_spec(name) is None]:
        raise ModuleNotFoundError(
            f"The explorer needs {' and '.join(missing)}, which is not installed: "
            'pip install "dplearn-privacy[app]", or make app in a checkout of the project.'
        )
    # BLAS counts its threads when numpy is loaded, which it is by now.
    server = [sys.executable, "-m", "dplearn.teaching.explorer", *options]
    os.execve(sys.executable, server, {**os.environ, **ONE_THREAD})
