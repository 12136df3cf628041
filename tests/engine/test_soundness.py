"""Four hundred settings of the sweep in `benchmarks/soundness.py`: no two proofs contradict."""

import pytest
from soundness import jobs_of, run

pytestmark = pytest.mark.slow
# Mostly from the classes that cost least.
JOBS = jobs_of(80, seed=13)
for name, points in {"truth": 3000, "grouped": 600, "lists": 400}.items():
    JOBS += jobs_of(points, seed=14, only=name)


def test_a_sample_of_every_corner_holds():
    """Every answer is an interval, and none is warned about, raised or contradicted."""
    rows = [row for job in JOBS for row in run(job)]
    assert len(rows) >= 400
    assert [row for row in rows if row["violations"]] == []
