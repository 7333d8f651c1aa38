"""Summaries built by Spark: what they answer, and that they are written and updated."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bestbefore.errors import DamagedState, InputError
from bestbefore.market import (
    CannotAnswer,
    Estimate,
    Grid,
    affected,
    build_summaries,
    default_names,
    estimate,
    flagged,
    load_summaries,
    pattern_estimate,
    read_shape,
    read_store,
    resolve_summaries,
    save_summaries,
    summaries,
    true_estimate,
    true_star_estimates,
)
from bestbefore.market.axes import listed_axis
from bestbefore.market.counted_store import CountedStore
from bestbefore.market.shapes import Part

from .market_store import BOOKS, COLUMNS, ROWS, iri

PREFIX = "PREFIX : <http://example.org/>\n"


def shape(pattern):
    return read_shape(f"{PREFIX}SELECT * WHERE {{ {pattern} }}")


@pytest.fixture
def store(market):
    return market[0]


@pytest.fixture
def session(store):
    return store.sparkSession


def test_example_3_from_triples(summarised):
    books = estimate(summarised["CS"], shape("?s :title ?t ; :genres ?g").stars)
    assert books == Estimate(6.0, 4.0)


def test_figure_3_2_from_coordinates(session):
    points = [(s, p, float(s == 10)) for s in range(10, 15) for p in range(5, 10)]
    points += [
        (s, p, float(s == 10 and p <= 18))
        for s in range(10, 15)
        for p in range(15, 20)
        for _ in "ab"
    ]
    located = session.createDataFrame(
        [(s, p, 0, f) for s, p, f in points], "s LONG, p LONG, o LONG, fresh DOUBLE"
    )
    names = tuple(iri(f"p{n}") for n in range(20))
    axes = (
        listed_axis([iri(f"s{n}") for n in range(15)]),
        listed_axis(names),
        listed_axis([iri("o")]),
    )
    histogram = Grid(3, 4, 1).of(located, axes, names)
    assert sorted(histogram.total.tolist()) == [25.0, 50.0]
    assert sorted(histogram.fresh.tolist()) == [5.0, 8.0]
    joined = estimate(histogram, shape("?s :p6 ?x . ?s :p18 ?y").stars)
    assert (joined.total, joined.fresh) == (pytest.approx(10), pytest.approx(0.32))


def patterns():
    """Every triple pattern over a triple of the store, any position bound."""
    s, p, o, _ = BOOKS[2]
    for bound in range(8):
        terms = [
            term if bound >> place & 1 else f"?{place}" for place, term in enumerate((s, p, o))
        ]
        yield Part(*terms)


def truth_of(part):
    rows = [
        fresh
        for *terms, fresh in ROWS
        if all(b is None or b == term for b, term in zip(part.bound, terms, strict=True))
    ]
    return float(len(rows)), sum(rows)


@pytest.mark.parametrize("name", ["histogram(buckets=40)", "QTree"])
@pytest.mark.parametrize("part", list(patterns()), ids=lambda part: " ".join(part.terms))
def test_a_summary_as_fine_as_the_data_knows_every_pattern(summarised, name, part):
    assert pattern_estimate(summarised[name], part) == pytest.approx(Estimate(*truth_of(part)))


@pytest.mark.parametrize("name", ["SPM", "CS", "pairs"])
def test_predicates_are_counted_exactly(summarised, name):
    for predicate in {row[1] for row in ROWS}:
        part = Part("?s", predicate, "?o")
        assert pattern_estimate(summarised[name], part) == pytest.approx(Estimate(*truth_of(part)))


def test_pairs_are_exact_for_two_patterns_with_and_without_a_bound_object(summarised, store):
    for text in (
        "?s :title ?t ; :genres ?g",
        '?s :title ?t ; :genres "comic"',
        "?s :type :movie ; :genres ?g",
    ):
        wanted = shape(text)
        assert estimate(summarised["pairs"], wanted.stars) == pytest.approx(
            true_estimate(store, wanted.pattern)
        )


def test_apf_is_the_mean_over_subject_types(summarised):
    at = Part("?x", iri("at"), "?y")
    assert pattern_estimate(summarised["SPM"], at).freshness == pytest.approx(1 / 7)
    assert pattern_estimate(summarised["APF"], at).freshness == pytest.approx(0.5)


QUERIES = [
    "?s :title ?t ; :genres ?g",
    '?s :genres "comic" ; :title ?t ; :type :movie',
    ":b1 :title ?t ; :genres ?g",
    "?s ?p ?o",
    "?s ?p ?o ; :title ?t",
    "?s :director ?d . ?sb :author ?d",
    "?s :director ?d . ?d :title ?t",
    "?s :title ?t . ?x :genres ?g",
    "?s :nothing ?o",
    "?s :title ?t ; :nothing ?o",
    "?s :title :nobody",
    ":nobody :title ?t",
    "?s :title ?s",
]


@pytest.mark.parametrize("text", QUERIES)
def test_no_estimate_is_negative_or_more_fresh_than_there_is(summarised, text):
    for name, summary in summarised.items():
        try:
            one = estimate(summary, shape(text).stars)
        except CannotAnswer:
            assert name == "CS"
            continue
        assert 0 <= one.fresh <= one.total < 1e6, name
        assert 0 <= one.freshness <= 1, name
        if ":nothing" in text:
            assert one == Estimate(0.0, 0.0), name


def test_the_truth(store):
    everything = len(ROWS), sum(row[3] for row in ROWS)
    expected = {0: (6, 4), 1: (2, 2), 2: (1, 1), 3: everything, 5: (3, 2), 6: (0, 0), 8: (0, 0)}
    for place, (total, fresh) in expected.items():
        found = true_estimate(store, shape(QUERIES[place]).pattern)
        assert (found.total, found.fresh) == (total, pytest.approx(fresh)), QUERIES[place]
    many = [shape(QUERIES[place]).stars[0] for place in (0, 1, 8)]
    assert true_star_estimates(store, many) == [Estimate(6, 4), Estimate(2, 2), Estimate(0, 0)]


def test_an_empty_answer_is_fresh(store):
    assert true_estimate(store, shape("?s :nothing ?o").pattern).freshness == 1.0


def test_probabilities_multiply(store, summarised):
    both = shape("?s :p ?x ; :q ?y")
    assert true_estimate(store, both.pattern) == pytest.approx(Estimate(1.0, 0.2))
    for name in ("SPM", "CS", "pairs"):
        found = estimate(summarised[name], both.stars)
        assert found == pytest.approx(Estimate(1.0, 0.2)), name


def test_what_is_saved_answers_as_before(summarised):
    loaded = load_summaries(save_summaries(summarised), "FILE")
    assert list(loaded) == list(summarised)
    for text in QUERIES[:5]:
        for name in summarised:
            assert estimate(loaded[name], shape(text).stars) == estimate(
                summarised[name], shape(text).stars
            )
    assert list(load_summaries(save_summaries(summarised), "FILE", "qtree")) == ["QTree"]
    with pytest.raises(InputError, match="FILE has no summary 'CSS'; did you mean 'CS'?"):
        load_summaries(save_summaries(summarised), "FILE", "CSS")
    with pytest.raises(DamagedState, match="FILE is damaged"):
        load_summaries(save_summaries(summarised)[:-1] + b"!", "FILE")
    with pytest.raises(InputError, match="no file of summaries"):
        load_summaries(b"<a> <b> <c> .", "FILE")


def test_a_refresh_updates_every_summary(session, store, summarised):
    stale = [row for row in BOOKS if row[0] == iri("m2")]
    refreshed = session.createDataFrame([(*row[:3], 1.0) for row in stale], COLUMNS)
    before, after = (frame.localCheckpoint() for frame in affected(store, refreshed))
    rows = [(*row[:3], 1.0 if row in stale else row[3]) for row in ROWS]
    anew = build_summaries(
        flagged(session.createDataFrame(rows, COLUMNS)), resolve_summaries("SPM,APF,CS,pairs")
    )
    everything = shape("?s ?p ?o").stars
    for name in (*summaries, "QTree(bmax=4)", "histogram(buckets=3,terms=5)"):
        summary = summarised[name]
        updated = summary.updated(before, after)
        was, now = (estimate(one, everything) for one in (summary, updated))
        assert now.total == pytest.approx(len(ROWS)), name
        assert name == "APF" or now.fresh - was.fresh == pytest.approx(4), name
        for text in (*QUERIES[:2], "?s ?p ?o") if name in anew else ():
            assert estimate(updated, shape(text).stars) == pytest.approx(
                estimate(anew[name], shape(text).stars)
            ), (name, text)


def test_subjects_are_sorted_by_what_their_predicates_are_and_objects_by_what_theirs_are(session):
    rows = [
        (iri(f"{kind}{n}"), iri(f"{kind}{p}"), iri(f"o{n}"), float(fresh))
        for kind, flags in (
            ("a", ((0, 1), (1, 0))),
            (
                "b",
                ((1, 1), (0, 0)),
            ),
        )
        for n, own in enumerate(flags)
        for p, fresh in enumerate(own)
    ]
    rows += [(iri("c"), iri("b0"), iri("o9"), 0.0)]
    counted = CountedStore(flagged(session.createDataFrame(rows, COLUMNS)))
    ranks = counted.subjects_by_freshness, counted.objects_by_freshness
    subjects, objects = (
        [row["term"] for row in ranked.rows.orderBy("place").collect()] for ranked in ranks
    )
    assert subjects == [iri(name) for name in ("c", "b0", "b1", "a0", "a1")]
    assert objects == [iri(name) for name in ("o9", "o1", "o0")]
    counted.release()


def test_rare_characteristic_sets_are_put_together(session):
    books = flagged(session.createDataFrame(BOOKS, COLUMNS))
    (few,) = build_summaries(books, resolve_summaries("CS(sets=1)")).values()
    assert len(few.subjects) == 2
    assert estimate(few, shape("?s :title ?t ; :genres ?g").stars).total == 6.0


def test_files_of_triples(session, tmp_path):
    notes = []
    (tmp_path / "data.nt").write_text(
        '\ufeff<http://e/a> <http://e/p> "1"^^<http://www.w3.org/2001/XMLSchema#string> .\n'
        '# a comment\n\n<http://e/a>\t<http://e/p> "1" . # again\n'
        '<http://e/b> <http://e/p> "caf\\u00E9"@EN.\n'
    )
    (tmp_path / "stale.nt").write_text(
        '<http://e/b> <http://e/p> "café"@en .\n_:x <http://e/p> "2" .\n'
    )
    read = read_store(
        session, str(tmp_path / "data.nt"), str(tmp_path / "stale.nt"), notice=notes.append
    )
    assert sorted(map(tuple, read.collect())) == [
        ("<http://e/a>", "<http://e/p>", '"1"', 1.0),
        ("<http://e/b>", "<http://e/p>", '"café"@en', 0.0),
    ]
    assert notes == [
        f"{tmp_path}/stale.nt: not in the data, and counted for nothing: 1 of its triples"
    ]


@pytest.mark.parametrize(
    "wrong", ["<http://e/a> <http://e/p> b .", "nonsense", '<http://e/a> "p" "o" .']
)
def test_a_line_that_is_no_triple_is_refused_with_its_number(session, tmp_path, wrong):
    good = "<http://e/a> <http://e/p> <http://e/b> .\n"
    (tmp_path / "data.nt").write_text(good * 3 + "# fine\n" + wrong + "\n" + good)
    (tmp_path / "stale.nt").write_text(good)
    with pytest.raises(InputError, match=r"data\.nt, line 5: .* is no triple"):
        read_store(session, str(tmp_path / "data.nt"), str(tmp_path / "stale.nt"), notice=print)


@pytest.mark.parametrize("name", ["data.nt", "d*.nt"])
def test_a_file_that_has_changed_is_read_anew(session, tmp_path, name):
    (tmp_path / "stale.nt").touch()

    def subjects(*names):
        lines = [f"<http://e/{each}> <http://e/p> <http://e/o> .\n" for each in names]
        (tmp_path / "data.nt").write_text("".join(lines))
        read = read_store(session, f"{tmp_path}/{name}", f"{tmp_path}/stale.nt", notice=print)
        return {row["s"] for row in read.collect()}

    assert subjects("a") == {"<http://e/a>"}
    assert subjects("b", "c") == {"<http://e/b>", "<http://e/c>"}


def test_parquet_with_probabilities(session, tmp_path):
    path = str(tmp_path / "store.parquet")
    columns = dict(zip("spo", zip(*(row[:3] for row in BOOKS[:2]), strict=True), strict=True))
    pq.write_table(pa.table({**columns, "fresh": [0.25, 1.0]}), path)
    read = read_store(session, path, None, notice=print)
    assert sorted(row["fresh"] for row in read.collect()) == [0.25, 1.0]
    with pytest.raises(InputError, match="has its flags in the column 'fresh'"):
        read_store(session, path, "stale.nt", notice=print)
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InputError, match="no column 'fresh'; a store has"):
        read_store(session, path, None, notice=print)


def test_flags_that_are_none(session):
    with pytest.raises(InputError, match="no column 'fresh'"):
        flagged(session.createDataFrame([("a", "b", "c")], "s STRING, p STRING, o STRING"))
    with pytest.raises(InputError, match="fresh = 1.5"):
        flagged(session.createDataFrame([("a", "b", "c", 1.5)], COLUMNS))


def test_an_empty_store_has_no_answers(session):
    empty = flagged(session.createDataFrame([], COLUMNS))
    for name, summary in build_summaries(empty, resolve_summaries(default_names())).items():
        assert estimate(summary, shape("?s :p ?o ; :q ?x").stars) == Estimate(0.0, 0.0), name
        assert load_summaries(save_summaries({name: summary}), "FILE")
