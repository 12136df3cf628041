"""Counted work does not depend on cached results."""

from dplearn.core.work import counting, remembered, spend


def test_cached_result_counts_once_in_each_counter():
    calls = []

    @remembered(8)
    def square(x):
        calls.append(x)
        spend(x)
        return x * x

    spend(5.0)  # outside of any counter
    for _ in range(2):
        with counting() as work:
            assert [square(3), square(4), square(3)] == [9, 16, 9]
            spend(1.0)
        assert work.units == 8.0
    assert calls == [3, 4]
    square.cache_clear()
    assert square(3) == 9 and calls == [3, 4, 3]


def test_outer_counter_excludes_work_of_inner_counter():
    with counting() as outer:
        with counting() as inner:
            spend(2.0)
        spend(1.0)
    assert (inner.units, outer.units) == (2.0, 1.0)
