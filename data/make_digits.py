"""Write digits.csv.gz: the 1797 handwritten digits of 8 x 8 pixels shipped with scikit-learn.

    python data/make_digits.py

Needed only to rebuild the file; nothing else in the project uses scikit-learn. The archive
carries no time and no file name, so the same zlib writes the same bytes; with another zlib
the bytes may differ, the text inside does not.
"""

import sys
from pathlib import Path

from archive import write

TARGET = Path(__file__).with_name("digits.csv.gz")


def table():
    """Lines of the file: a header, then one line per image, pixels row by row, label last."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        sys.exit("Expected scikit-learn, which only this script needs: pip install scikit-learn")
    digits = load_digits()
    lines = [",".join([*(f"p{row}{column}" for row in range(8) for column in range(8)), "label"])]
    for pixels, label in zip(digits.data.astype(int), digits.target, strict=True):
        lines.append(",".join(map(str, [*pixels, label])))
    return lines


if __name__ == "__main__":
    write(table(), TARGET)
