"""What `pip` runs to put the tables of this folder into the package, and the explorer's script."""

from pathlib import Path

from setuptools.command.build_py import build_py

_FOLDER = Path(__file__).parent
_EXPLORER = ("app.py", ".streamlit/config.toml")


class WithTables(build_py):
    """Builds the package, and copies the tables where `dplearn.datasets.shipped_table` looks."""

    def run(self) -> None:
        """Build, then copy; an editable install reads the tables where they are."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "dplearn", "data")
            self.mkpath(str(target))
            for table in _tables():
                self.copy_file(str(table), str(target))
            # Streamlit finds its settings beside the script that it runs.
            explorer = Path(self.build_lib, "dplearn", "teaching", "explorer")
            self.mkpath(str(explorer / ".streamlit"))
            for name in _EXPLORER:
                self.copy_file(str(_FOLDER.parent / name), str(explorer / name))

    def get_source_files(self) -> list[str]:
        """Everything that a source archive needs, the tables and this file among it."""
        own = [str(p.relative_to(_FOLDER.parent)) for p in [*_tables(), Path(__file__)]]
        return super().get_source_files() + own + [*_EXPLORER]


def _tables() -> list[Path]:
    return sorted(_FOLDER.glob("*.csv*"))
