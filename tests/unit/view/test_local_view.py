import numpy as np
import pyarrow.parquet as pq
import pytest

from bestbefore.checkpoint import load_snapshot, save_snapshot
from bestbefore.errors import DamagedState, InputError, StateError
from bestbefore.maintenance import apply_outcome
from bestbefore.storage import LocalStorage
from bestbefore.view import (
    ChangeIntervals,
    ChangeRates,
    UnitDefaults,
    read_interval_file,
    view_of,
)
from bestbefore.view.units import NEVER_RETRY
from tests.outcomes import outcome_of

A, B, C = "<http://e/a>", "<http://e/b>", "<http://e/c>"


def replaced(view, unit, rows):
    """Let a unit have these rows; whether it had others before."""
    return bool(view.replace(np.array([unit]), [rows])[0])


@pytest.fixture
def view():
    rows = [(A, '"1"'), (B, '"2"'), (A, '"3"'), (C, None)]
    return view_of(rows, ["k", "v"], ["k"], defaults=UnitDefaults(1_000))


def contents(view):
    return {key: sorted(view.rows_of(unit), key=str) for unit, key in enumerate(view.keys)}


def cut(view, units):
    owner, rows = view.row_numbers(np.array(units))
    return owner.tolist(), view.columns(rows).to_pylist()


def test_rows_are_grouped_into_units_by_their_key(view):
    assert contents(view) == {(A,): [(A, '"1"'), (A, '"3"')], (B,): [(B, '"2"')], (C,): [(C, None)]}
    assert view.numbers([(B,), ("<http://e/x>",), (A,)]).tolist() == [1, -1, 0]


def test_a_slice_repeats_rows_per_unit_asked(view):
    owner, rows = cut(view, [1, 0, 1])
    assert owner == [0, 1, 1, 2]
    assert [row["v"] for row in rows] == ['"2"', '"1"', '"3"', '"2"']


def test_replacing_keeps_what_was_cut_before(view):
    _, before = view.row_numbers(np.array([0]))
    assert replaced(view, 0, [(A, '"9"')]) is True
    assert [row["v"] for row in view.columns(before).to_pylist()] == ['"1"', '"3"']
    assert view.rows_of(0) == [(A, '"9"')]


def test_replacing_with_the_same_rows_in_another_order_is_no_change(view):
    assert replaced(view, 0, [(A, '"3"'), (A, '"1"')]) is False
    assert replaced(view, 0, [(A, '"3"'), (A, '"3"')]) is True


def test_a_unit_that_is_gone_has_no_rows_and_can_come_back(view):
    replaced(view, 1, [])
    assert cut(view, [1, 2]) == ([1], [{"k": C, "v": None}])
    replaced(view, 1, [(B, '"5"')])
    assert view.rows_of(1) == [(B, '"5"')]


def test_compacting_changes_nothing_that_is_seen(view):
    replaced(view, 0, [(A, '"9"')])
    replaced(view, 2, [])
    before = contents(view)
    view.compact()
    assert contents(view) == before
    assert cut(view, [0, 1, 2])[1] == [{"k": A, "v": '"9"'}, {"k": B, "v": '"2"'}]


def test_an_empty_view_is_fine(tmp_path):
    view = view_of([], ["k", "v"], ["k"])
    save_snapshot(view, LocalStorage(str(tmp_path)), "s")
    again = load_snapshot(LocalStorage(str(tmp_path)), "s")
    assert len(again) == 0
    assert cut(again, np.empty(0, dtype=np.int64)) == ([], [])


def test_a_snapshot_holds_everything(view, tmp_path):
    storage = LocalStorage(str(tmp_path))
    view.begin(5_000)
    apply_outcome(view, outcome_of(view, 7_000, {(A,): ((A, '"9"'),), (B,): ()}))
    save_snapshot(view, storage, "s")
    again = load_snapshot(storage, "s")
    assert contents(again) == contents(view)
    assert again.key == ("k",)
    assert again.units.refreshed_ms.tolist() == [7_000, 7_000, 5_000]
    assert again.units.best_before_ms.tolist() == [8_000, 8_000, 5_000]


def test_what_was_loaded_before_a_replay_is_a_slide_old_at_the_first_evaluation(view):
    view.begin(5_000, slide_ms=1_000)
    assert set(view.units.refreshed_ms.tolist()) == {4_000}
    assert set(view.units.best_before_ms.tolist()) == {5_000}


def test_a_snapshot_that_is_missing_or_no_table_is_named(tmp_path):
    storage = LocalStorage(str(tmp_path))
    with pytest.raises(DamagedState, match=r"view/s/units\.parquet is missing"):
        load_snapshot(storage, "s")
    storage.write("view/s/units.parquet", b"PAR1")
    with pytest.raises(DamagedState, match=r"view/s/units\.parquet is damaged"):
        load_snapshot(storage, "s")


def test_a_failed_unit_keeps_its_age(view):
    view.begin(5_000)
    apply_outcome(view, outcome_of(view, 7_000, {}, failed={(A,): "timeout"}))
    assert view.units.refreshed_ms.tolist() == [5_000, 5_000, 5_000]
    assert view.units.best_before_ms.tolist() == [5_000, 5_000, 5_000]


XSD_INT = "^^<http://www.w3.org/2001/XMLSchema#integer>"


def test_intervals_from_a_column_stay_in_the_view():
    source = ChangeIntervals(("k", "i"), ("k",), column="i", unit_ms=1_000)
    rows = [(A, f'"30"{XSD_INT}'), (B, '"PT1M"'), (C, '"soon"')]
    assert source.view_rows(rows) == tuple(rows)
    assert source.stated(rows) == {(A,): 30_000, (B,): 60_000}


def test_intervals_behind_a_predicate_are_taken_out_of_the_view():
    source = ChangeIntervals(("k", "v", "i"), ("k",), column="i", hidden=True)
    rows = [(A, '"1"', '"2"'), (A, '"1"', '"3"'), (B, '"1"', None)]
    assert source.view_rows(rows) == ((A, '"1"'), (B, '"1"'))
    assert source.view_variables == ("k", "v")
    assert source.stated(rows)[(A,)] in (2_000, 3_000)


def test_an_interval_below_a_millisecond_is_none_at_all():
    source = ChangeIntervals(("k", "i"), ("k",), column="i", unit_ms=1_000)
    assert source.stated([(A, f'"0.0004"{XSD_INT}'), (B, '"0"')]) == {}


def test_intervals_from_a_file(tmp_path):
    file = tmp_path / "i.csv"
    file.write_text("key,interval_s\nhttp://e/a,90\n<http://e/b>,PT2M\n")
    assert read_interval_file(file, ["k"], plain_ms=None) == {(A,): 90_000, (B,): 120_000}
    file.write_text("key,interval\nhttp://e/a,90\n")
    assert read_interval_file(file, ["k"], plain_ms=60_000) == {(A,): 5_400_000}


def test_literals_as_keys_are_written_in_quotes(tmp_path):
    file = tmp_path / "i.csv"
    file.write_text('n,k,interval\n"""Ann""",http://e/a,1s\n"""Zoë""@FR",http://e/a,2s\n')
    found = read_interval_file(file, ["k", "n"], plain_ms=None)
    assert found == {(A, '"Ann"'): 1_000, (A, '"Zoë"@fr'): 2_000}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("key,every\nx,1\n", "no column 'interval_ms' or 'interval_s' or 'interval'"),
        ("key,interval\nhttp://e/a,often\n", "line 2: interval = 'often' is not a duration"),
        ("key,interval\nhttp://e/a,90\n", "'90' has no unit; .* name the column interval_s or"),
        ("key,interval_s\nhttp://e/a,-1\n", "line 2: interval_s = '-1' is no interval"),
        ('key,interval\n"Ann",1s\n', 'line 2: \'Ann\' is no absolute IRI; .* written """Ann'),
        ("key,interval\n<http://e/a,1s\n", "line 2: '<http://e/a' is not an encoded RDF term"),
    ],
)
def test_mistakes_in_an_interval_file_name_the_line(tmp_path, text, message):
    file = tmp_path / "i.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_interval_file(file, ["k"], plain_ms=None)


D = "<http://e/d>"


def rows_by_join_key(view):
    keys = [(A,), (B,), (C,), (D,)]
    numbers = view.join_numbers(keys)
    known = [(key, number) for key, number in zip(keys, numbers, strict=True) if number >= 0]
    found = {}
    for (key,), number in known:
        unit, rows = view.joined(np.array([number]))
        owners = [view.keys[each][0] for each in unit]
        cells = view.columns(rows).to_pylist()
        found[key] = sorted(zip(owners, (each["v"] for each in cells), strict=True))
        assert all(each["j"] == key for each in cells)
    return found


@pytest.fixture
def edges():
    rows = [(A, "x", '"1"'), (B, "x", '"2"'), (A, "y", '"3"'), (C, "z", '"4"')]
    return view_of(rows, ["j", "u", "v"], ["u"], join_key=["j"], defaults=UnitDefaults(1_000))


def test_rows_link_join_keys_with_units(edges):
    assert edges.keys == [("x",), ("y",), ("z",)]
    assert rows_by_join_key(edges) == {
        A: [("x", '"1"'), ("y", '"3"')],
        B: [("x", '"2"')],
        C: [("z", '"4"')],
    }


def test_a_refresh_of_a_unit_changes_its_links(edges):
    links = edges.links()
    assert edges.links() is links
    assert replaced(edges, 0, [(B, "x", '"2"'), (A, "x", '"1"')]) is False
    assert edges.links() is links
    assert replaced(edges, 0, [(B, "x", '"9"'), (D, "x", '"8"')]) is True
    expected = {A: [("y", '"3"')], B: [("x", '"9"')], C: [("z", '"4"')], D: [("x", '"8"')]}
    assert rows_by_join_key(edges) == expected
    edges.compact()
    assert rows_by_join_key(edges) == expected


def test_join_keys_of_windows_are_forgotten_when_they_outnumber_the_rows(edges):
    edges.learn_joins((f"<http://e/{number}>",) for number in range(3))
    known = edges.join_numbers([("<http://e/2>",)])
    assert edges.joined(known)[1].tolist() == []
    edges.compact()
    assert edges.join_numbers([("<http://e/2>",), (A,)]).tolist() == [-1, 0]
    assert rows_by_join_key(edges)[A] == [("x", '"1"'), ("y", '"3"')]


def test_a_snapshot_holds_links_and_values(edges, tmp_path):
    storage = LocalStorage(str(tmp_path))
    edges.units.used_ms[:], edges.units.value[:] = [1, 2, 3], [4, np.nan, 6]
    replaced(edges, 2, [(D, "z", '"5"')])
    save_snapshot(edges, storage, "s")
    again = load_snapshot(storage, "s")
    assert (again.key, again.join_key) == (("u",), ("j",))
    assert rows_by_join_key(again) == rows_by_join_key(edges)
    assert again.units.used_ms.tolist() == [1, 2, 3]
    assert np.isnan(again.units.value).tolist() == [False, True, False]
    assert again.units.held.tolist() == [True] * 3


def test_a_snapshot_of_an_older_version_is_a_state_error(view, tmp_path):
    storage = LocalStorage(str(tmp_path))
    save_snapshot(view, storage, "s")
    file = tmp_path / "view" / "s" / "units.parquet"
    pq.write_table(pq.read_table(file).drop_columns(["held"]), file)
    with pytest.raises(StateError, match="written by an older version: use another checkpoint"):
        load_snapshot(storage, "s")


def test_units_that_are_only_known_are_forgotten_on_compacting_and_the_others_move_up(view):
    x, y = "<http://e/x>", "<http://e/y>"
    view.learn([(y,), (x,), (B,)])
    assert view.numbers([(x,), (y,), (C,)]).tolist() == [3, 4, 2]
    assert cut(view, [3, 4]) == ([], [])
    view.evict(view.numbers([(B,)]))
    apply_outcome(view, outcome_of(view, 7_000, {(y,): ((y, '"7"'),)}))
    view.compact()
    assert view.keys == [(A,), (C,), (y,)]
    assert view.numbers([(A,), (B,), (C,), (x,), (y,)]).tolist() == [0, -1, 1, -1, 2]
    assert contents(view)[(y,)] == [(y, '"7"')]
    assert view.units.held.all()


@pytest.mark.parametrize("left", [0, 9_999])
def test_few_holes_among_many_units_are_closed_before_a_snapshot_if_not_at_once(left):
    view = view_of([(f'"{n:04}"',) for n in range(10_000)], ["k"], ["k"])
    view.evict(np.array([left]))
    view.compact()
    assert len(view) == (9_999 if left else 10_000)
    view.compact(fully=True)
    assert len(view) == 9_999
    assert view.numbers([(f'"{left:04}"',)]).tolist() == [-1]
    others = np.delete(np.arange(10_000), left)
    assert view.numbers([(f'"{n:04}"',) for n in others]).tolist() == list(range(9_999))


def test_no_interval_is_shorter_than_a_millisecond(view):
    view.set_intervals({(A,): 0, (B,): 1, (C,): 2, ("<http://e/x>",): 3})
    assert view.units.interval_ms.tolist() == [1, 1, 2]


def test_what_a_journal_names_is_applied_whatever_the_view_knows(view):
    x = "<http://e/x>"
    view.begin(5_000)
    rows = {(x,): ((x, '"7"'),), (C,): ()}
    outcome = outcome_of(view, 7_000, rows, evicted=((B,),), used=((x,), (A,)))
    # C had changed; x came anew and B left.
    assert apply_outcome(view, outcome) == 1
    view.compact()
    assert contents(view) == {(A,): [(A, '"1"'), (A, '"3"')], (C,): [], (x,): [(x, '"7"')]}
    assert view.units.used_ms.tolist() == [7_000, 0, 7_000]
    assert view.units.best_before_ms.tolist() == [5_000, 8_000, 8_000]


def test_values_follow_the_rows():
    measure = lambda rows: float(len(rows)) if rows else float("nan")  # noqa: E731
    rows = [(A, '"1"'), (B, '"2"'), (A, '"3"')]
    view = view_of(rows, ["k", "v"], ["k"], defaults=UnitDefaults(measure=measure))
    assert view.units.value.tolist() == [2.0, 1.0]
    replaced(view, 1, [(B, '"2"'), (B, '"3"'), (B, '"4"')])
    replaced(view, 0, [])
    assert np.nan_to_num(view.units.value, nan=-1).tolist() == [-1.0, 3.0]


def test_a_unit_that_fails_waits_twice_as_long_each_time_up_to_a_bound(view):
    waits, evaluation = [], 10
    for _ in range(6):
        apply_outcome(view, outcome_of(view, 7_000, failed={(A,): "down"}, evaluation=evaluation))
        waits.append(int(view.units.retry_at[0]) - evaluation)
        evaluation = int(view.units.retry_at[0])
    assert waits == [2, 4, 8, 16, 16, 16]
    assert view.units.failures.tolist() == [6, 0, 0]
    apply_outcome(view, outcome_of(view, 8_000, {(A,): []}, evaluation=evaluation))
    apply_outcome(view, outcome_of(view, 9_000, failed={(A,): "down"}, evaluation=evaluation + 1))
    assert view.units.retry_at[0] == evaluation + 3


def test_a_missing_unit_that_failed_is_remembered_until_its_time_is_long_over(view):
    x = "<http://e/x>"
    view.learn([(x,)])
    apply_outcome(view, outcome_of(view, 7_000, failed={(x,): "down"}, evaluation=10))
    view.compact()
    assert view.keys == [(A,), (B,), (C,), (x,)]
    view.forget_failed(13)
    assert len(view) == 4
    view.forget_failed(14)
    assert view.keys == [(A,), (B,), (C,)]


def test_a_key_that_can_never_be_sent_is_marked_when_it_is_met():
    defaults = UnitDefaults(refusal=lambda key: "no" if key[0].startswith("_:") else None)
    view = view_of([(A, '"1"'), ("_:b", '"2"')], ["k", "v"], ["k"], defaults=defaults)
    view.learn([("_:c",), (C,)])
    assert view.units.retry_at.tolist() == [0, NEVER_RETRY, 0, NEVER_RETRY]


def test_learned_rates_move_with_their_units_and_survive_a_snapshot(tmp_path):
    rates = ChangeRates(0, width_ms=10_000, slide_ms=5_000)
    view = view_of([(A, '"1"'), (B, '"2"'), (C, '"3"')], ["k", "v"], ["k"], rates=rates)
    unknown = int(view.units.interval_ms[0])
    view.begin(0)
    for t_ms in range(5_000, 50_000, 5_000):
        rows = {(A,): [(A, '"1"')], (C,): [(C, f'"{t_ms}"')]}
        apply_outcome(view, outcome_of(view, t_ms, rows))
    slow, new, fast = view.units.interval_ms.tolist()
    assert fast < 5_000 < new < slow
    assert new == unknown
    view.evict(np.array([1]))
    view.compact()
    storage = LocalStorage(str(tmp_path))
    save_snapshot(view, storage, "s")
    empty = ChangeRates(0, width_ms=10_000, slide_ms=5_000)
    again = load_snapshot(storage, "s", rates=empty)
    again.learn([(B,)])
    kept, before = again.units.rates, view.units.rates
    assert kept.learned(np.arange(2)).tolist() == before.learned(np.arange(2)).tolist()
    assert kept.population == before.population
    # Of a new unit it is known by now what the others are like.
    assert again.units.interval_ms.tolist() == [
        slow,
        fast,
        int(again.units.rates.interval_ms(np.array([2]))[0]),
    ]
