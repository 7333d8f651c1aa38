"""The worked examples of thesis chapter 3: examples 2 and 3, and figure 3.2."""

import numpy as np
import pytest

from bestbefore.market import (
    SPM,
    Boxes,
    CannotAnswer,
    CharacteristicSets,
    estimate,
    pattern_estimate,
    read_shape,
)
from bestbefore.market.axes import listed_axis
from bestbefore.market.predicate_counts import PredicateCounts
from bestbefore.market.shapes import Part

PREFIX = "PREFIX : <http://example.org/>\n"


def iri(name):
    return f"<http://example.org/{name}>"


def stars(pattern):
    return read_shape(f"{PREFIX}SELECT * WHERE {{ {pattern} }}").stars


def test_example_2_spm_multiplies_the_freshness_of_predicates():
    hundred = np.full(3, 100.0)
    counts = PredicateCounts(
        tuple(map(iri, ("v1", "v2", "v3"))),
        hundred,
        np.array([40.0, 70.0, 90.0]),
        np.full(4, 100.0),
        np.full(4, 100.0),
    )
    found = estimate(SPM(counts), stars("?s :v1 ?a ; :v2 ?b ; :v3 ?c"))
    assert found.total == pytest.approx(100)
    assert found.freshness == pytest.approx(0.252)


@pytest.fixture
def books_and_movies():
    """Two books, one of them stale, and four movies, one of them stale."""
    names = ("author", "director", "genres", "title", "type")
    return CharacteristicSets(
        tuple(map(iri, names)),
        identity=np.array([1, 2]),
        subjects=np.array([2.0, 4.0]),
        whole=np.array([1.0, 3.0]),
        place=np.repeat([0, 1], 4),
        predicate=np.array([0, 2, 3, 4, 1, 2, 3, 4]),
        total=np.repeat([2.0, 4.0], 4),
        fresh=np.repeat([1.0, 3.0], 4),
        objects_of=np.array([2.0, 2, 2, 1, 3, 3, 4, 1]),
    )


def test_example_3_characteristic_sets_of_books_and_movies(books_and_movies):
    found = estimate(books_and_movies, stars("?s :title ?t ; :genres ?g"))
    assert (found.total, found.fresh) == (6.0, 4.0)
    assert found.freshness == pytest.approx(4 / 6)
    only_books = estimate(books_and_movies, stars("?s :title ?t ; :author ?a"))
    assert (only_books.total, only_books.fresh) == (2.0, 1.0)


def test_example_3_characteristic_sets_cannot_join_two_subjects(books_and_movies):
    with pytest.raises(CannotAnswer, match="one subject only"):
        estimate(books_and_movies, stars("?s :director ?d . ?sb :author ?d"))


@pytest.fixture
def figure_3_2():
    """The two buckets that take part, and one whose subjects have no other triple.

    Subjects and predicates are s0 … s14 and p0 … p19, five of each to a bucket.
    """
    s, p = (
        listed_axis([iri(f"{kind}{n}") for n in range(size)])
        for kind, size in (("s", 15), ("p", 20))
    )
    low = np.array([[10, 5, 0], [10, 15, 0], [0, 15, 0]])
    return Boxes(
        (s, p, listed_axis([iri("o")])),
        tuple(iri(f"p{n}") for n in range(20)),
        low,
        low + np.array([4, 4, 0]),
        np.array([25.0, 50.0, 30.0]),
        np.array([5.0, 8.0, 6.0]),
    )


def test_figure_3_2_a_join_of_two_buckets(figure_3_2):
    found = estimate(figure_3_2, stars("?s :p6 ?o1 . ?s :p18 ?o2"))
    assert found.total == pytest.approx(10)
    assert found.fresh == pytest.approx(0.32)


def test_section_3_4_2_a_pattern_has_the_share_of_a_bucket_that_it_overlaps(figure_3_2):
    assert pattern_estimate(figure_3_2, Part("?s", iri("p6"), "?o")).total == pytest.approx(5)
    found = pattern_estimate(figure_3_2, Part("?s", iri("p18"), "?o"))
    assert (found.total, found.fresh) == (pytest.approx(16), pytest.approx(2.8))
    one = pattern_estimate(figure_3_2, Part(iri("s12"), iri("p18"), "?o"))
    assert (one.total, one.fresh) == (pytest.approx(2), pytest.approx(0.32))
