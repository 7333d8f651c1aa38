"""Printing of queries and patterns: text that reads back as the same.

A pattern that no text means exactly is printed as one that has the same solutions.
"""

from functools import partial
from typing import assert_never

from bestbefore.query.algebra import (
    BGP,
    Ask,
    Construct,
    Describe,
    Extend,
    Filter,
    Form,
    Group,
    Join,
    LeftJoin,
    Minus,
    Modifier,
    NamedClause,
    OrderCondition,
    PathPattern,
    Pattern,
    Select,
    Service,
    TriplePattern,
    Union,
    Values,
    Variable,
    expressions_of,
    walk,
)
from bestbefore.query.continuous import (
    ContinuousQuery,
    CountWindow,
    DatasetClause,
    NamedWindow,
    TimeWindow,
)
from bestbefore.query.expression_printing import Wording, print_path, print_term
from bestbefore.query.expressions import Call, Expression, parts
from bestbefore.query.grammar.tokens import WORD
from bestbefore.query.select_parts import Grouped, SelectParts, form_parts, is_select, select_parts
from bestbefore.rdf.iris import SCHEME
from bestbefore.rdf.terms import IRI, to_sparql
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
    where = parts.where
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
        *(f"FROM {print_iri(iri)}" for iri in dataset.default),
        *(f"FROM NAMED {print_iri(iri)}" for iri in dataset.named),
    ]


def _name(name: str) -> str:
    """The name of a query; one that is a word is not to be resolved against a base."""
    return name if WORD.fullmatch(name) and not SCHEME.match(name) else print_iri(name)


def _base(pattern: Pattern) -> list[str]:
    """The BASE that the function IRI needs, if it is called."""
    expressions = (whole for node in walk(pattern) for whole in expressions_of(node))
    calls = (part for whole in expressions for part in parts(whole) if isinstance(part, Call))
    bases = [call.base for call in calls if call.base is not None]
    return [f"BASE {print_iri(base)}" for base in bases[:1]]


def print_pattern(pattern: Pattern) -> str:
    """The SPARQL text of a pattern, as it stands in a group, with or without others around it."""
    return " ".join(print_elements(pattern))


def print_expression(expression: Expression) -> str:
    """An expression as SPARQL text."""
    return Wording(print_group).expression(expression)


def print_group(pattern: Pattern) -> str:
    """The SPARQL text of a pattern with its braces."""
    return f"{{ {print_select(pattern) if is_select(pattern) else print_pattern(pattern)} }}"


def print_iri(iri: str) -> str:
    """An IRI as SPARQL text."""
    return to_sparql(IRI(iri))


def print_triples(patterns: tuple[TriplePattern, ...]) -> str:
    """Triple patterns as SPARQL text."""
    return " ".join(f"{print_triple(triple)} ." for triple in patterns)


def print_triple(pattern: TriplePattern) -> str:
    """A triple pattern as SPARQL text, without its dot."""
    return " ".join(map(print_term, pattern.terms))


def print_elements(pattern: Pattern) -> list[str]:  # noqa: C901, PLR0911 - one case per node
    """The elements of the group that means a pattern."""
    match pattern:
        case BGP(patterns):
            return [print_triples(patterns)] if patterns else []
        case PathPattern(subject, path, object_):
            return [f"{print_term(subject)} {print_path(path)} {print_term(object_)} ."]
        case Join(left, right):
            return [*_before(left), _joined(left, right)]
        case LeftJoin(left, right, condition):
            return [*_before(left), f"OPTIONAL {_optional(right, condition)}"]
        case Minus(left, right):
            return [*_before(left), f"MINUS {print_group(right)}"]
        case Extend(inner, variable, expression):
            return [
                *_before(inner),
                f"BIND({print_expression(expression)} AS {print_term(variable)})",
            ]
        case Filter(condition, inner):
            return [*_before(inner), f"FILTER({print_expression(condition)})"]
        case Union():
            return [_union(pattern)]
        case Values():
            return [print_values(pattern)]
        case Group(_, (), ()):
            return []
    if isinstance(pattern, Modifier):
        return [print_group(pattern)]
    return [_clause(pattern)]


def _before(pattern: Pattern) -> list[str]:
    """The elements before another one; a FILTER stays in a group of its own."""
    return [print_group(pattern)] if isinstance(pattern, Filter) else print_elements(pattern)


def _joined(left: Pattern, right: Pattern) -> str:
    """The last element of a join; triples next to triples would become one BGP."""
    if isinstance(right, BGP) and _ends_with_triples(left):
        return print_group(right)
    if isinstance(right, Join | LeftJoin | Minus | Extend | Filter):
        return print_group(right)
    return " ".join(print_elements(right))


def _ends_with_triples(pattern: Pattern) -> bool:
    match pattern:
        case BGP():
            return True
        case Join(left, BGP()):
            return not _ends_with_triples(left)
    return False


def _optional(pattern: Pattern, condition: Expression | None) -> str:
    """The group after OPTIONAL, whose FILTERs are the condition and nothing else."""
    if condition is not None:
        return print_group(Filter(condition, pattern))
    return f"{{ {print_group(pattern)} }}" if isinstance(pattern, Filter) else print_group(pattern)


def _union(pattern: Union) -> str:
    left = pattern.left
    first = _union(left) if isinstance(left, Union) else print_group(left)
    return f"{first} UNION {print_group(pattern.right)}"


def print_clause_name(clause: NamedClause) -> str:
    """What a GRAPH, WINDOW or SERVICE clause is about, as SPARQL text."""
    name = clause.iri if isinstance(clause, Service) else clause.name
    return print_iri(name) if isinstance(name, str) else print_term(name)


def _clause(clause: NamedClause) -> str:
    keyword = type(clause).__name__.upper()
    silent = " SILENT" if isinstance(clause, Service) and clause.silent else ""
    return f"{keyword}{silent} {print_clause_name(clause)} {print_group(clause.pattern)}"


def print_values(values: Values) -> str:
    """A VALUES clause as SPARQL text."""
    names = " ".join(map(print_term, values.variables))
    return f"VALUES ({names}) {{ {' '.join(f'({row})' for row in print_rows(values))} }}"


def print_rows(values: Values) -> list[str]:
    """The rows of a VALUES clause, without their parentheses."""
    return [
        " ".join("UNDEF" if cell is None else print_term(cell) for cell in row)
        for row in values.rows
    ]


def print_select(pattern: Pattern) -> str:
    """The SPARQL text of a pattern that is a subquery, without its braces."""
    parts = select_parts(pattern)
    clauses = [print_select_clause(parts), "WHERE", print_group(parts.where)]
    return " ".join([*clauses, *print_modifiers(parts)])


def print_select_clause(parts: SelectParts) -> str:
    """The SELECT clause of a query."""
    item = partial(_item, grouped=parts.grouped) if parts.grouped else print_term
    items = " ".join(map(item, parts.projection)) or "*"
    return f"SELECT {parts.modifier} {items}" if parts.modifier else f"SELECT {items}"


def _item(variable: Variable, grouped: Grouped) -> str:
    if variable in grouped.named:
        text = _wording(grouped).expression(grouped.named[variable])
    elif variable in grouped.aggregates:
        text = _wording(grouped).expression(variable)
    else:
        return print_term(variable)
    return f"({text} AS {print_term(variable)})"


def _wording(grouped: Grouped | None) -> Wording:
    return Wording(print_group, grouped.aggregates if grouped else {})


def print_modifiers(parts: SelectParts) -> list[str]:
    """What comes after the pattern of a query, one clause each."""
    grouped, clauses = parts.grouped, list[str]()
    wording = _wording(grouped)
    if grouped and grouped.keys:
        keys = (_key(key, expression) for key, expression in grouped.keys.items())
        clauses.append(f"GROUP BY {' '.join(keys)}")
    if grouped and grouped.having:
        clauses.append(f"HAVING({wording.expression(grouped.having)})")
    if parts.order:
        order = " ".join(_order(condition, wording) for condition in parts.order)
        clauses.append(f"ORDER BY {order}")
    clauses += [] if parts.limit is None else [f"LIMIT {parts.limit}"]
    clauses += [f"OFFSET {parts.offset}"] if parts.offset else []
    clauses += [print_values(grouped.values)] if grouped and grouped.values else []
    return clauses


def _key(variable: Variable, expression: Expression | None) -> str:
    if expression is None:
        return print_term(variable)
    name = "" if variable.hidden else f" AS {print_term(variable)}"
    return f"({print_expression(expression)}{name})"


def _order(condition: OrderCondition, wording: Wording) -> str:
    text = wording.expression(condition.expression)
    if condition.descending:
        return f"DESC({text})"
    return text if isinstance(condition.expression, Variable) and text[0] == "?" else f"({text})"
