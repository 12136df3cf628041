"""Ceilings on the number of lines, which a change may lower and never raise."""

from cases import ROOT

# Lines written by hand in all languages; a ceiling is never raised.
CEILINGS = {"dplearn": 36_800, "tests": 20_000}
KINDS = (".py", ".js", ".css", ".toml", ".html")


def test_number_of_lines_in_each_folder_stays_below_its_limit():
    for folder, most in CEILINGS.items():
        kinds = KINDS if folder == "dplearn" else (".py",)
        files = [p for p in (ROOT / folder).rglob("*") if p.suffix in kinds]
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
        assert lines <= most, f"{folder}/ has {lines} lines, at most {most}: take some away"
        # A ceiling far above the number of lines would let the folder grow unnoticed.
        assert lines > most - 200, f"{folder}/ has {lines} lines: lower its ceiling of {most}"
