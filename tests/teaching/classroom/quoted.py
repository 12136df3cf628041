"""Numbers in a lesson's prose, each of which some cell must print."""

import re

_NUMBER = re.compile(r"(?<![\w.^])\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")


_WORDS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70}
_WORDS |= {"eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000, "million": 1_000_000}


def values(text):
    """Return the numbers in a text, written in digits, words, powers of ten or per cent."""
    text = re.sub("|".join(_WORDS), lambda word: f" {_WORDS[word[0]]} ", text.lower())
    text = re.sub(r"(?<=\d)[, ](?=\d{3}\b)", "", text)
    text = re.sub(r"(?:\\(?:times|cdot) *|\b)10 *(?:\^|\*\*) *\{?(-?\d+)\}?", r"e\1", text)
    named = re.findall(r"(?<![\w.])(\d+(?:\.\d+)?(?:e-?\d+)?|e-?\d+)( ?\\?%)?", text)
    numbers = ((float(f"1{each}" if each[0] == "e" else each), cent) for each, cent in named)
    return {number / 100 if cent else number for number, cent in numbers}


def texts(cells):
    """Return the outputs of code cells as plain text."""
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    return [o.text if "text" in o else o.get("data", {}).get("text/plain", "") for o in outputs]


def uncomputed(cells, printed):
    """Yield a sentence for each number quoted in Markdown `cells` but not `printed`."""
    for cell in cells:
        for number in quoted_numbers(cell.source) if cell.cell_type == "markdown" else ():
            if not stated(number, printed):
                yield f"quotes {number}, which no cell prints, in {cell.source[:60]!r}"


def quoted_numbers(markdown):
    """Return the numbers with three or more significant digits in a text.

    Not counted: code, link targets, exponents, and bare years from 1900 to 2099.
    """
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|<[^>]*>", " ", markdown, flags=re.DOTALL)
    text = re.sub(r"\s*\\(?:times|cdot)\s*10\^\{?(-?\d+)\}?", r"e\1", text)
    text = re.sub(r"\^\{?-?[\d.]+\}?", " ", text)
    text = re.sub(r"\\[a-zA-Z]+(?=\d)", " ", text)
    numbers = [number.replace(",", "") for number in _NUMBER.findall(text)]
    return [n for n in numbers if digits(n) >= 3 and not re.fullmatch(r"(19|20)\d\d", n)]


def digits(number):
    """Return the number of significant digits, without trailing zeros of an integer."""
    mantissa = number.split("e")[0]
    bare = mantissa.replace(".", "").lstrip("0")
    return len(bare if "." in mantissa else bare.rstrip("0"))


def stated(number, printed):
    """Return whether some number in the text `printed` rounds to the quoted `number`."""
    mantissa, _, exponent = number.partition("e")
    decimals = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - decimals)
    values = re.findall(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?", printed.replace(",", ""))
    return any(abs(float(value) - float(number)) <= 0.5001 * unit for value in values)
