"""Where the tables that come with dplearn lie."""

from pathlib import Path

# Inside the package in an installed wheel, beside it in a checkout of the project.
_FOLDERS = (Path(__file__).parents[1] / "data", Path(__file__).parents[2] / "data")


def shipped_table(name: str) -> Path:
    """The file of a table of ``data/``, from a checkout as from an installed package.

    Examples
    --------
    >>> shipped_table("digits.csv.gz").name
    'digits.csv.gz'
    """
    for folder in _FOLDERS:
        if (folder / name).is_file():
            return folder / name
    places = " or ".join(str(folder) for folder in _FOLDERS)
    raise FileNotFoundError(
        f"Expected the table {name}, which comes with dplearn, in {places}, got nothing there: "
        "install dplearn again, or take the file from a checkout of the project."
    )
