"""Queries on static data, evaluated on Spark as if the data were the content of one window."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import pyarrow as pa

from bestbefore.query import parse_sparql, rewrite
from bestbefore.query.algebra import Ask, Construct, Describe, OrderBy, walk
from bestbefore.spark.answers import answer_rows
from bestbefore.spark.columns import RANGE, TRIPLE
from bestbefore.spark.output_stream import OWN
from bestbefore.spark.patterns import Dataset, compile_solutions
from bestbefore.spark.relation import Relation
from bestbefore.spark.sql import name
from tests.relations import rows_of, table

from .results import Bindings, Triples, Truth

_ORIGINS = WeakKeyDictionary()


def _range(rows):
    """The range of the only window there is, as data: Spark 4 loses columns over literals."""
    zeros, never = pa.array([0] * rows, pa.int64()), pa.nulls(rows, pa.int64())
    return {"from_evaluation": zeros, "to_evaluation": zeros, "time": never}


@dataclass(frozen=True)
class StaticTriples:
    """Triples that are in the only window there is."""

    table: Relation

    def triples(self, wanted, parts=TRIPLE):
        del parts  # all columns are there
        return self.table.filter(wanted)


def dataset_of(spark, triples, graphs=None):
    """A dataset of a default graph and of named graphs, both as encoded triples."""
    named = [(f"<{iri}>", *each) for iri, found in (graphs or {}).items() for each in found]
    rows = [(None, *each) for each in triples] + named
    columns = dict(zip("gspo", zip(*rows, strict=True) if rows else [()] * 4, strict=True))
    terms = {part: pa.array(values, pa.string()) for part, values in columns.items()}
    quads = table(spark, pa.table(terms | _range(len(rows))))
    return Dataset(
        graph=StaticTriples(quads.filter("g IS NULL")),
        named=StaticTriples(quads.filter("g IS NOT NULL")),
        graph_names=tuple(f"<{iri}>" for iri in graphs or ()),
        origin=lambda: _origin_of(spark),
    )


def _origin_of(spark):
    """The one row that a session's patterns begin with."""
    if spark not in _ORIGINS:
        _ORIGINS[spark] = table(spark, pa.table(_range(1)))
    return _ORIGINS[spark]


def evaluate(spark, query, dataset, *, base=None):
    """The result of a query's text."""
    form, pattern, _ = parse_sparql(query, base=base)
    return result_of(spark, form, pattern, dataset), is_ordered(pattern)


def result_of(spark, form, pattern, dataset):
    """The result of a query, rewritten as the engine rewrites it."""
    solutions = compile_solutions(rewrite(pattern), dataset).relation
    if "from_evaluation" in solutions.columns:
        evaluation = {"evaluation": "from_evaluation"}
        names = {each: name(each) for each in solutions.columns if each not in RANGE}
        solutions = solutions.select(evaluation | names)
    rows = rows_of(spark, answer_rows(solutions, form, dataset.graph))
    match form:
        case Ask():
            return Truth(bool(rows))
        case Construct() | Describe():
            found = ((row["subject"], row["predicate"], row["object"]) for row in rows)
            return Triples(frozenset(found))
    rows.sort(key=lambda row: row["position"] or 0)
    return Bindings(
        tuple(
            tuple((each[1:], term) for each, term in row.items() if each not in OWN and term)
            for row in rows
        )
    )


def is_ordered(pattern):
    """Whether the rows of a query come in an order."""
    return any(isinstance(node, OrderBy) for node in walk(pattern))
