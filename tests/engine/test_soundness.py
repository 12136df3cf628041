"""Some seventy settings of the sweep of `benchmarks/soundness.py`: no two proofs collide."""

import pytest
from soundness import jobs_of, run

pytestmark = pytest.mark.slow
# Mostly from the classes that cost least.
JOBS = jobs_of(14, seed=13)
for name, points in {"truth": 500, "lists": 67}.items():
    JOBS += jobs_of(points, seed=14, only=name)


def test_a_sample_of_every_corner_holds():
    """Every answer is an interval, and none is warned about, raised or contradicted."""
    rows = [row for job in JOBS for row in run(job)]
    assert len(rows) >= 60
    assert [row for row in rows if row["violations"]] == []
