"""Printing of queries: text that reads back as the same query."""

from typing import assert_never

from bestbefore.query.algebra import (
    Ask,
    Construct,
    Describe,
    Form,
    Pattern,
    Select,
    expressions_of,
    walk,
)
from bestbefore.query.continuous import ContinuousQuery, CountWindow, NamedWindow, TimeWindow
from bestbefore.query.dataset import DatasetClause
from bestbefore.query.expression_printing import print_term
from bestbefore.query.expressions import Call, Expression, operands
from bestbefore.query.printing import (
    print_elements,
    print_iri,
    print_modifiers,
    print_select,
    print_select_clause,
    print_triples,
)
from bestbefore.query.select_parts import SelectParts, form_parts, is_select, select_parts
from bestbefore.query.text import ABSOLUTE_IRI, WORD
from bestbefore.time import format_duration


def print_query(query: ContinuousQuery) -> str:
    """The RSP-QL text of a query, with full IRIs; `parse_query` reads it back as the same query."""
    dataset = DatasetClause(query.default_graphs, query.named_graphs)
    clauses = [*map(_print_window, query.windows), *_print_dataset(dataset)]
    lines = [
        *_base(query.pattern),
        f"REGISTER {query.output} {_name(query.name)} AS",
        *_print_body(query.form, query.pattern, clauses),
    ]
    return "\n".join(lines) + "\n"


def print_sparql(form: Form, pattern: Pattern, dataset: DatasetClause) -> str:
    """The SPARQL text of a query; `parse_sparql` reads it back as the same."""
    lines = [*_base(pattern), *_print_body(form, pattern, _print_dataset(dataset))]
    return "\n".join(lines) + "\n"


def _print_body(form: Form, pattern: Pattern, clauses: list[str]) -> list[str]:
    parts = select_parts(pattern) if isinstance(form, Select) else form_parts(pattern)
    where = parts.grouped.where if parts.grouped else parts.where
    elements = [print_select(where)] if is_select(where) else print_elements(where)
    return [
        _print_form(form, parts),
        *clauses,
        "WHERE {",
        *(f"  {element}" for element in elements),
        "}",
        *print_modifiers(parts),
    ]


def _print_form(form: Form, parts: SelectParts) -> str:
    match form:
        case Select():
            return print_select_clause(parts)
        case Construct(template):
            return f"CONSTRUCT {{ {print_triples(template)} }}"
        case Ask():
            return "ASK"
        case Describe(terms):
            return f"DESCRIBE {' '.join(map(print_term, terms)) or '*'}"
    assert_never(form)


def _print_window(window: NamedWindow) -> str:
    streams = ", ".join(map(print_iri, window.streams))
    return f"FROM NAMED WINDOW {print_iri(window.name)} ON {streams} {_extent(window.extent)}"


def _extent(extent: TimeWindow | CountWindow) -> str:
    match extent:
        case TimeWindow(width, slide):
            return f"[RANGE {format_duration(width)} STEP {format_duration(slide)}]"
        case CountWindow(size, step):
            return f"[ELEMENTS {size} STEP {step}]"
    assert_never(extent)


def _print_dataset(dataset: DatasetClause) -> list[str]:
    return [
        *(f"FROM {print_iri(each)}" for each in dataset.default),
        *(f"FROM NAMED {print_iri(each)}" for each in dataset.named),
    ]


def _name(name: str) -> str:
    """The name of a query; one that is a word is not to be resolved against a base."""
    return name if WORD.fullmatch(name) and not ABSOLUTE_IRI.match(name) else print_iri(name)


def _base(pattern: Pattern) -> list[str]:
    """The BASE that the function IRI needs, if it is called."""
    expressions = (each for node in walk(pattern) for each in expressions_of(node))
    bases = (base for each in expressions for base in _bases(each))
    return [f"BASE {print_iri(base)}" for base in list(dict.fromkeys(bases))[:1]]


def _bases(expression: Expression) -> list[str]:
    own = expression.base if isinstance(expression, Call) else None
    below = [base for each in operands(expression) for base in _bases(each)]
    return [own, *below] if own is not None else below
