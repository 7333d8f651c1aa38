"""The store of the market's tests: the thesis' books and movies, cars, and random triples."""

import numpy as np

from bestbefore.market import (
    build_summaries,
    default_names,
    flagged,
    resolve_summaries,
)

RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
COLUMNS = "s STRING, p STRING, o STRING, fresh DOUBLE"
NAMES = (
    f"{default_names()},histogram(buckets=40),histogram(buckets=3,terms=5),"
    "QTree(bmax=4),pairs(surprises=3,pairs=2)"
)


def iri(name):
    return f"<http://example.org/{name}>"


def thing(name, kind, fresh, **others):
    pairs = {"type": iri(kind), "title": f'"{name}"', **others}
    return [(iri(name), iri(key), value, float(fresh)) for key, value in pairs.items()]


BOOKS = [
    *thing("b1", "book", 1, genres='"comic"', author=iri("a1")),
    *thing("b2", "book", 0, genres='"drama"', author=iri("a2")),
    *thing("m1", "movie", 1, genres='"comic"', director=iri("a1")),
    *thing("m2", "movie", 0, genres='"drama"', director=iri("d1")),
    *thing("m3", "movie", 1, genres='"comic"', director=iri("a2")),
    *thing("m4", "movie", 1, genres='"romance"', director=iri("a1")),
]


def drawn(seed):
    """Some subjects with several objects of one predicate, which are subjects too."""
    rng = np.random.default_rng(seed)
    found = {(int(s), int(p), int(o)) for s, p, o in rng.integers(0, (25, 6, 9), (150, 3))}
    share = rng.random(6)
    return [
        (f"<s:{s}>", f"<p:{p}>", f"<s:{o}>", float(rng.random() < share[p]))
        for s, p, o in sorted(found)
    ]


# Six cars whose place is stale, and a house.
PLACES = [
    (iri(f"{kind}{n}"), predicate, o, float(kind == "House" or predicate == RDF_TYPE))
    for kind, number in (("Car", 6), ("House", 1))
    for n in range(number)
    for predicate, o in ((iri("at"), f'"{kind} {n}"'), (RDF_TYPE, iri(kind)))
]
HALVES = [(iri("half"), iri("p"), '"1"', 0.5), (iri("half"), iri("q"), '"2"', 0.4)]
ROWS = [*BOOKS, *PLACES, *HALVES, *drawn(0)]


def built(session):
    """The store, and every summary of it."""
    store = flagged(session.createDataFrame(ROWS, COLUMNS))
    return store, build_summaries(store, resolve_summaries(NAMES))
