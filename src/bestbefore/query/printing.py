"""Printing: queries and patterns as text that reads back as the same query."""

from typing import assert_never

from bestbefore.query.algebra import (
    BGP,
    Construct,
    Filter,
    Form,
    Join,
    Pattern,
    Select,
    Service,
    TriplePattern,
    Window,
)
from bestbefore.query.continuous import ContinuousQuery, NamedWindow
from bestbefore.query.expression_printing import print_expression, print_term
from bestbefore.rdf.terms import IRI, to_sparql
from bestbefore.time import format_duration


def print_query(query: ContinuousQuery) -> str:
    """The RSP-QL text of a query, with full IRIs; `parse_query` reads it back as the same query."""
    lines = [
        f"REGISTER {query.output} {_iri(query.name)} AS",
        _print_form(query.form),
        *map(_print_window, query.windows),
        "WHERE {",
        *(f"  {element}" for element in _elements(query.pattern)),
        "}",
    ]
    return "\n".join(lines) + "\n"


def print_pattern(pattern: Pattern) -> str:
    """The SPARQL text of a pattern, as it stands between the braces of a group."""
    return " ".join(_elements(pattern))


def describe_algebra(pattern: Pattern) -> str:
    """A pattern as an indented tree, one operator or triple pattern on each line."""
    return "\n".join(_describe(pattern))


def _print_form(form: Form) -> str:
    match form:
        case Select(projection, distinct):
            names = " ".join(map(print_term, projection)) or "*"
            return f"SELECT {'DISTINCT ' if distinct else ''}{names}"
        case Construct(template):
            return f"CONSTRUCT {{ {_print_triples(template)} }}"
    assert_never(form)


def _print_window(window: NamedWindow) -> str:
    extent = f"[RANGE {format_duration(window.width_ms)} STEP {format_duration(window.slide_ms)}]"
    return f"FROM NAMED WINDOW {_iri(window.name)} ON {_iri(window.stream)} {extent}"


def _elements(pattern: Pattern) -> list[str]:
    """The elements of the group that means a pattern."""
    match pattern:
        case BGP(patterns):
            return [_print_triples(patterns)] if patterns else []
        case Join(left, right):
            return [*_left_elements(left), _right_element(left, right)]
        case Filter(condition, inner):
            group = [_group(inner)] if isinstance(inner, Filter) else _elements(inner)
            return [*group, f"FILTER({print_expression(condition)})"]
        case Window(name, inner):
            return [f"WINDOW {_iri(name)} {_group(inner)}"]
        case Service(iri, inner, silent):
            return [f"SERVICE {'SILENT ' if silent else ''}{_iri(iri)} {_group(inner)}"]
    assert_never(pattern)


def _left_elements(left: Pattern) -> list[str]:
    """The elements before another one; a FILTER stays in a group of its own."""
    return [_group(left)] if isinstance(left, Filter) else _elements(left)


def _right_element(left: Pattern, right: Pattern) -> str:
    """The last element of a group; triples next to triples would become one BGP."""
    match right:
        case Window() | Service():
            return _elements(right)[0]
        case BGP() if not _ends_with_triples(left):
            return _print_triples(right.patterns)
        case BGP() | Join() | Filter():
            return _group(right)
    assert_never(right)


def _ends_with_triples(pattern: Pattern) -> bool:
    match pattern:
        case BGP():
            return True
        case Join(left, BGP()):
            return not _ends_with_triples(left)
    return False


def _group(pattern: Pattern) -> str:
    return f"{{ {print_pattern(pattern)} }}"


def _print_triples(patterns: tuple[TriplePattern, ...]) -> str:
    return " ".join(f"{_print_triple(each)} ." for each in patterns)


def _print_triple(pattern: TriplePattern) -> str:
    return " ".join(map(print_term, (pattern.subject, pattern.predicate, pattern.object)))


def _iri(iri: str) -> str:
    return to_sparql(IRI(iri))


def _describe(pattern: Pattern) -> list[str]:
    match pattern:
        case BGP(patterns):
            return ["BGP", *(f"  {_print_triple(each)}" for each in patterns)]
        case Join(left, right):
            return ["Join", *_indent(left), *_indent(right)]
        case Filter(condition, inner):
            return [f"Filter {print_expression(condition)}", *_indent(inner)]
        case Window(name, inner):
            return [f"Window {_iri(name)}", *_indent(inner)]
        case Service(iri, inner, silent):
            return [f"Service {_iri(iri)}{' silent' if silent else ''}", *_indent(inner)]
    assert_never(pattern)


def _indent(pattern: Pattern) -> list[str]:
    return [f"  {line}" for line in _describe(pattern)]
