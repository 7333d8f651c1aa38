"""Job B of a batch: the rows of the answers, and answers as one row per evaluation.

SELECT answers with a row per mapping; CONSTRUCT and DESCRIBE with a row per triple, in the columns
`subject`, `predicate` and `object`; ASK with one row, whose `boolean` says whether there is any
mapping.
"""

from collections.abc import Sequence
from typing import assert_never

import pyarrow as pa

from bestbefore.query import algebra
from bestbefore.query.algebra import Form, PatternTerm, TriplePattern, Variable
from bestbefore.rdf.terms import BlankNode, encode
from bestbefore.spark import terms
from bestbefore.spark.columns import (
    AT,
    EVALUATION,
    FRESH,
    FROM_EVALUATION,
    MAPPINGS,
    OPENING,
    POSITION,
    RANGE,
    TO_EVALUATION,
    TRIPLE,
    column_of,
)
from bestbefore.spark.content import WindowContents
from bestbefore.spark.output_stream import NEXT, OWN
from bestbefore.spark.patterns import TripleSource
from bestbefore.spark.relation import Relation
from bestbefore.spark.sql import NO_TERM, Cheap, inline_table, name, quote, quoted
from bestbefore.windows import Timeline

_TRIPLE = ("subject", "predicate", "object")
_NO_TRIPLE = "named_struct(" + ", ".join(f"'{part}', {NO_TERM}" for part in _TRIPLE) + ")"
_BOOLEAN = "boolean"
# The number of an evaluation as people are told it.
NUMBER = "number"
DUE = (EVALUATION, NUMBER, AT, OPENING, NEXT)
"""What is known of an evaluation that is due."""
FIGURES = (COUNT := "count", ESTIMATE := "estimate")
"""What the quality record is told of an answer: its rows, and how probably they are fresh."""
_DIGITS = 6


def due_table(due: Sequence[int], timeline: Timeline) -> pa.Table:
    """The due evaluations: their numbers, times, when their windows open, and which comes next."""
    spans = [timeline.window(number) for number in due]
    columns = {
        EVALUATION: due,
        NUMBER: due,
        AT: [at for _, at in spans],
        OPENING: [opening for opening, _ in spans],
        NEXT: [*due[1:], None][: len(due)],
    }
    return pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})


def due_rows(due: Sequence[int], timeline: Timeline) -> str:
    """The due evaluations as a table in SQL."""
    rows = zip(*due_table(due, timeline).to_pydict().values(), strict=True)
    shown = [["NULL" if value is None else value for value in row] for row in rows]
    return inline_table(dict.fromkeys(DUE, "BIGINT"), shown)


def answer_rows(solutions: Relation, form: Form, graph: TripleSource | None = None) -> Relation:
    """The rows of the answer: what every answer has (`OWN`), and a column per answer column.

    Those of variables keep their `?`, so that no variable collides with what is the engine's own.
    `graph` holds what DESCRIBE describes.
    """
    match form:
        case algebra.Select(projection):
            return _select(solutions, [column_of(variable.name) for variable in projection])
        case algebra.Construct(template):
            return _construct(solutions, template)
        case algebra.Ask():
            return solutions.select(_own(solutions) | {_BOOLEAN: "TRUE"})
        case algebra.Describe(described):
            assert graph is not None  # noqa: S101 - whoever answers knows the data
            return _describe(solutions, described, graph)
    assert_never(form)


def evaluations(
    rows: Relation, due: Relation, contents: WindowContents, *, row_freshness: bool = False
) -> Relation:
    """One row per due evaluation: its number, time, window and rows as JSON result terms.

    `due` has the numbers, times and openings of the evaluations. With `row_freshness` a list tells
    how probably each of the rows is fresh. `FIGURES` are not part of the answer.
    """
    names = tuple(column for column in rows.columns if column not in OWN)
    told = (FRESH,) if row_freshness else ()
    row = f"struct({', '.join(quoted((POSITION, *names, *told)))})"
    found = rows.select({EVALUATION: EVALUATION, "row": row, FRESH: FRESH})
    every = found.union(due.keep((EVALUATION, NUMBER, AT, OPENING)))
    # collect_list passes over nulls: an evaluation without rows has an empty list.
    grouped = contents.spread_by(every, EVALUATION).group(
        (EVALUATION,),
        {
            "row": "array_sort(collect_list(row))",
            COUNT: "count(row)",
            ESTIMATE: f"avg({FRESH})",
            **{column: f"max({column})" for column in (NUMBER, AT, OPENING)},
        },
    )
    # A window that is not reported is due all the same: without a SERVICE it has rows.
    return grouped.filter(f"{AT} IS NOT NULL").select(
        {
            EVALUATION: NUMBER,
            AT: AT,
            "window": f"array({OPENING}, {AT})",
            "rows": _json_rows(names),
            **dict.fromkeys(told, _FRESH_OF_ROWS),
            **{figure: figure for figure in FIGURES},
        }
    )


# What needs no service is fresh.
_FRESH_OF_ROWS = f"transform(row, mapping -> round(coalesce(mapping.{FRESH}, 1D), {_DIGITS}))"


def _json_rows(names: tuple[str, ...]) -> str:
    """The column `row` with every term in JSON form; that of ASK always has one."""
    if names == (_BOOLEAN,):
        return f"array(named_struct('{_BOOLEAN}', size(row) > 0))"
    fields = ", ".join(
        f"{quote(column.removeprefix('?'))}, {terms.json_term(Cheap(f'mapping.{name(column)}'))}"
        for column in names
    )
    return f"transform(row, mapping -> named_struct({fields}))"


def _own(solutions: Relation) -> dict[str, str]:
    """What every answer has; what the solutions do not have is null."""
    absent = {FRESH: "double(NULL)", POSITION: "int(NULL)"}
    return {column: column if column in solutions.columns else absent[column] for column in OWN}


def _select(solutions: Relation, columns: list[str]) -> Relation:
    selected = _own(solutions) | {column: str(name(column)) for column in columns}
    if MAPPINGS not in solutions.columns:
        return solutions.select(selected)
    # Equal mappings were counted, not kept: each comes back as often as it was found.
    copies = f"explode(sequence(1L, {MAPPINGS}))"
    return solutions.select(selected | {"copy": copies}).drop("copy")


def _construct(solutions: Relation, template: tuple[TriplePattern, ...]) -> Relation:
    identity = [column for column in solutions.columns if column not in (FRESH, MAPPINGS)]
    triples = ", ".join(_instance(triple, identity) for triple in template) or _NO_TRIPLE
    made = solutions.generate(_own(solutions), _TRIPLE, f"inline(array({triples}))")
    return _distinct_triples(made)


def _instance(template: TriplePattern, identity: list[str]) -> str:
    terms_ = (template.subject, template.predicate, template.object)
    fields = (
        f"'{part}', {_term(term, identity)}" for part, term in zip(_TRIPLE, terms_, strict=True)
    )
    return f"named_struct({', '.join(fields)})"


def _term(term: PatternTerm, identity: list[str]) -> str:
    match term:
        case Variable(variable):
            return name(column_of(variable))
        case BlankNode(label):
            # A template's blank node is a new one per solution; the solution names it.
            hashed = f"hex(xxhash64({', '.join(quoted(identity))}))"
            return f"concat({quote(f'_:{label}x')}, {hashed})"
        case _:
            return quote(encode(term))


def _describe(
    solutions: Relation, described: tuple[Variable | PatternTerm, ...], graph: TripleSource
) -> Relation:
    """The triples whose subject is one of the terms, in the windows in which they are found."""
    listed = ", ".join(_term(term, []) for term in described)
    wanted = solutions.select(_own(solutions) | {"subject": f"explode(array({listed}))"})
    known = graph.triples("TRUE").keep((*TRIPLE, *RANGE))
    during = f"{EVALUATION} BETWEEN {FROM_EVALUATION} AND {TO_EVALUATION}"
    found = wanted.join(known, f"subject = s AND {during}")
    return _distinct_triples(found.select(_own(found) | dict(zip(_TRIPLE, TRIPLE, strict=True))))


def _distinct_triples(rows: Relation) -> Relation:
    """The legal triples without repetitions; one is fresh if any of those behind it is."""
    legal = (
        f"NOT {terms.is_literal('subject')} AND {terms.is_iri('predicate')} AND object IS NOT NULL"
    )
    found = rows.filter(legal).group((EVALUATION, *_TRIPLE), {FRESH: f"max({FRESH})"})
    return found.select(_own(found) | {part: part for part in _TRIPLE})
