"""Fixtures of the tests of exercises."""

import pytest

from dplearn.teaching.classroom import Program

_MEASURED = {}


@pytest.fixture
def measured_once(monkeypatch):
    """Cache the measure of each function in each case, which is deterministic, for all tests."""
    measure = Program._measured

    def once(program, function, number):
        key = id(program), function, number
        if key not in _MEASURED:
            _MEASURED[key] = (
                program,
                measure(program, function, number),
            )  # stored, so that no other program gets its id
        return _MEASURED[key][1]

    monkeypatch.setattr(Program, "_measured", once)
