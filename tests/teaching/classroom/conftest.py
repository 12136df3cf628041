"""What tests of exercises share."""

import pytest

from dplearn.teaching.classroom import Program

_MEASURED = {}


@pytest.fixture
def measured_once(monkeypatch):
    """Measure a mistake in a case once in all tests: it draws from the seed of the measure."""
    measure = Program._measured

    def once(program, function, number):
        key = id(program), function, number
        if key not in _MEASURED:
            _MEASURED[key] = program, measure(program, function, number)  # keeps the id
        return _MEASURED[key][1]

    monkeypatch.setattr(Program, "_measured", once)
