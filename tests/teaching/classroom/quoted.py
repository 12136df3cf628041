"""Numbers that a lesson's prose quotes: each must have been computed by a cell."""

import re

_NUMBER = re.compile(r"(?<![\w.^])\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")


def texts(cells):
    """The outputs of code cells as plain text."""
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    return [o.text if "text" in o else o.get("data", {}).get("text/plain", "") for o in outputs]


def uncomputed(cells, printed):
    """Sentences that name each number quoted in the Markdown of `cells` but not `printed`."""
    for cell in cells:
        for number in quoted_numbers(cell.source) if cell.cell_type == "markdown" else ():
            if not stated(number, printed):
                yield f"quotes {number}, which no cell prints, in {cell.source[:60]!r}"


def quoted_numbers(markdown):
    """Numbers with three or more significant digits that a text states.

    Not counted: code, link targets, exponents, and bare years from 1900 to 2099.
    """
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|<[^>]*>", " ", markdown, flags=re.DOTALL)
    text = re.sub(r"\s*\\(?:times|cdot)\s*10\^\{?(-?\d+)\}?", r"e\1", text)
    text = re.sub(r"\^\{?-?[\d.]+\}?", " ", text)
    text = re.sub(r"\\[a-zA-Z]+(?=\d)", " ", text)
    numbers = [number.replace(",", "") for number in _NUMBER.findall(text)]
    return [n for n in numbers if digits(n) >= 3 and not re.fullmatch(r"(19|20)\d\d", n)]


def digits(number):
    """Significant digits; trailing zeros of a whole number do not count."""
    mantissa = number.split("e")[0]
    bare = mantissa.replace(".", "").lstrip("0")
    return len(bare if "." in mantissa else bare.rstrip("0"))


def stated(number, printed):
    """Whether some number in `printed` rounds to the quoted one."""
    mantissa, _, exponent = number.partition("e")
    decimals = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - decimals)
    values = re.findall(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?", printed.replace(",", ""))
    return any(abs(float(value) - float(number)) <= 0.5001 * unit for value in values)
