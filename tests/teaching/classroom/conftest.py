"""Fixture that stores results of functions in exercises, for all tests of exercises."""

import pytest

from dplearn.teaching.classroom import Program

_MEASURED = {}


@pytest.fixture
def measured_once(monkeypatch):
    """Measure each function once per case for all tests; the result is deterministic."""
    measure = Program._measured

    def once(program, function, number):
        key = id(program), function, number
        if key not in _MEASURED:
            _MEASURED[key] = (
                program,
                measure(program, function, number),
            )  # `program` is kept, so that no other object gets its id
        return _MEASURED[key][1]

    monkeypatch.setattr(Program, "_measured", once)
