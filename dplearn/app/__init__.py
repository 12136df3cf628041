"""The explorer: Streamlit lives here and nowhere else."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path


def serve(options: Sequence[str] = ()) -> int:
    """Exit status of the explorer, served with options of ``streamlit run`` until it is stopped.

    Raises ModuleNotFoundError where a package is missing; the message says how to add it.
    """
    if missing := [name for name in ("streamlit", "plotly") if find_spec(name) is None]:
        raise ModuleNotFoundError(
            f"The explorer needs {' and '.join(missing)}, which is not installed: "
            'pip install "dplearn-privacy[app]", or make app in a checkout of the project.'
        )
    from streamlit.web import cli

    script = Path(__file__).with_name("navigation.py")
    return cli.main(["run", str(script), *options], standalone_mode=False) or 0
