import pyarrow as pa

from bestbefore.engine.key_statistics import read_statistics
from bestbefore.view import view_of


def statistics(rows, *, key=("k",)):
    columns = list(zip(*rows, strict=True)) or [[] for _ in range(3 + len(key))]
    names = ["window", *(f"?{name}" for name in key), "remaining", "mappings"]
    kinds = [pa.int64(), *(pa.string() for _ in key), pa.int64(), pa.int64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    view = view_of(
        [tuple(f"{name}{i}" for name in key) for i in range(4)], list(key), list(key), interval_ms=1
    )
    return read_statistics(pa.Table.from_arrays(arrays, names=names), list(key), view)


def test_counts_add_up_and_the_latest_mapping_decides_l():
    found = statistics([(7, "k2", 1, 5), (7, "k2", 3, 2), (7, "k0", 2, 1), (8, "k2", 2, 2)])
    needs = found.of(7)
    assert needs.units.unit.tolist() == [0, 2]
    assert needs.units.remaining.tolist() == [2, 3]
    assert needs.units.mappings.tolist() == [1, 7]
    assert found.windows().tolist() == [7, 8]


def test_keys_that_the_view_lacks_count_as_missing():
    needs = statistics([(7, "x", 1, 3), (7, "y", 1, 2), (7, "k1", 1, 5)]).of(7)
    assert needs.units.unit.tolist() == [1]
    assert needs.missing == 5
    assert needs.completeness == 0.5


def test_a_window_without_mappings_needs_nothing():
    needs = statistics([(7, "k1", 1, 5)]).of(9)
    assert needs.units.unit.tolist() == []
    assert needs.completeness is None
    assert statistics([]).windows().tolist() == []


def test_join_keys_of_several_variables():
    found = statistics([(1, "a1", "b1", 1, 2), (1, "a1", "b2", 1, 4)], key=("a", "b"))
    assert found.of(1).units.unit.tolist() == [1]
    assert found.of(1).missing == 4
