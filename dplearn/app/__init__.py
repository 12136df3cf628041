"""The explorer: Streamlit lives here and nowhere else."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

_NEEDS = ("streamlit", "plotly")


def serve(options: Sequence[str] = ()) -> int:
    """Serve the explorer until it is stopped; returns the exit status.

    Parameters
    ----------
    options : sequence of str
        Options of ``streamlit run``; settings that are not named come from ``.streamlit`` here.

    Raises
    ------
    ModuleNotFoundError
        If a package that it needs is not installed; the message says how to add it.
    """
    if missing := [name for name in _NEEDS if find_spec(name) is None]:
        raise ModuleNotFoundError(
            f"The explorer needs {' and '.join(missing)}, which is not installed: "
            'pip install "dplearn-privacy[app]", or make app in a checkout of the project.'
        )
    from streamlit.web import cli

    script = Path(__file__).with_name("navigation.py")
    return cli.main(["run", str(script), *options], standalone_mode=False) or 0
