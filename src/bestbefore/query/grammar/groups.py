"""Groups: the productions [53] to [68] of SPARQL 1.1, what stands between braces.

As section 18.2.2 says, FILTERs apply to the whole group wherever they stand, triples that only
FILTERs separate form one basic graph pattern, the elements are put together from left to right,
and the empty pattern is left out of joins.
"""

from dataclasses import dataclass, field

from bestbefore.query.algebra import (
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Service,
    Union,
    Variable,
    Window,
)
from bestbefore.query.expressions import Expression, conjunction
from bestbefore.query.grammar.expressions import Clause, read_constraint, read_named
from bestbefore.query.grammar.reader import First, Reader, first
from bestbefore.query.grammar.selects import EMPTY, read_sub_select, read_values
from bestbefore.query.grammar.terms import read_variable_or_name, variable_of
from bestbefore.query.grammar.tokens import Token
from bestbefore.query.grammar.triples import TRIPLES_FIRST, Step, patterns_of, read_triples_block
from bestbefore.query.grammar.windows import read_inner_stream
from bestbefore.query.refusals import Refusal
from bestbefore.query.scope import variables

_ELEMENT_FIRST = first(
    "a clause",
    *("{", "BIND", "FILTER", "GRAPH", "MINUS", "OPTIONAL", "SERVICE", "VALUES", "WINDOW"),
)
_CONTINUOUS_ELEMENT_FIRST = first("a clause", "STREAM", *_ELEMENT_FIRST.terminals)


@dataclass(slots=True)
class _Group:
    """A group as far as it is read: its pattern, its FILTERs, and triples that are still open."""

    reader: Reader
    pattern: Pattern = EMPTY
    filters: list[Expression] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    start: Token | None = None

    def read_triples(self) -> None:
        """Read triples; with those before them they are one basic graph pattern."""
        self.start = self.start or self.reader.token
        self.reader.basic_pattern = self.start.offset
        read_triples_block(self.reader, self.steps)

    def close_triples(self) -> None:
        """Join what the open triples mean to the pattern."""
        if self.start is not None:
            for pattern in patterns_of(self.steps, self.reader, self.start):
                self.join(pattern, self.start)
            self.steps, self.start = [], None

    def join(self, pattern: Pattern, token: Token) -> None:
        """Join a pattern to what stands before it."""
        if self.pattern == EMPTY:
            self.pattern = pattern
        elif pattern != EMPTY:
            self.extend(Join(self.pattern, pattern), token)

    def extend(self, pattern: Pattern, token: Token) -> None:
        """Put an operator around what stands before it."""
        self.pattern = self.reader.note(pattern, token)


def read_group(reader: Reader) -> Pattern:
    """Read [53] GroupGraphPattern."""
    pattern, filters = _read_inside(reader)
    return reader.note(Filter(filters, pattern), filters) if filters else pattern


def _read_inside(reader: Reader) -> tuple[Pattern, Expression | None]:
    """Read the braces of a group: its pattern, and the condition of its FILTERs."""
    reader.expect("{")
    group = _Group(reader)
    if reader.at("SELECT"):
        group.pattern = read_sub_select(reader, read_group)
    else:
        _read_elements(group)
    reader.expect("}")
    if not group.filters:
        return group.pattern, None
    return group.pattern, reader.note(conjunction(group.filters), group.filters[0])


def _read_elements(group: _Group) -> None:
    """Read [54] GroupGraphPatternSub."""
    reader = group.reader
    while True:
        if reader.at(TRIPLES_FIRST):
            group.read_triples()
        if not reader.at(_element_first(reader)):
            group.close_triples()
            return
        if reader.token.terminal == "FILTER":
            _read_filter(group)
        else:
            group.close_triples()
            _read_element(group)
        reader.accept(".")


def _element_first(reader: Reader) -> First:
    """What begins an element of a group; STREAM only where windows can be declared."""
    return _ELEMENT_FIRST if not reader.continuous else _CONTINUOUS_ELEMENT_FIRST


def _read_filter(group: _Group) -> None:
    """Read [68] Filter."""
    token = group.reader.expect("FILTER")
    condition = read_constraint(group.reader, Clause("FILTER", read_group))
    group.reader.places.note(condition, token.place)
    group.filters.append(condition)


def _read_element(group: _Group) -> None:
    """Read [56] GraphPatternNotTriples, but for FILTER."""
    reader, token = group.reader, group.reader.token
    match token.terminal:
        case "{":
            group.join(_read_union(reader), token)
        case "OPTIONAL":
            reader.take()
            group.extend(LeftJoin(group.pattern, *_read_inside(reader)), token)
        case "MINUS":
            reader.take()
            group.extend(Minus(group.pattern, read_group(reader)), token)
        case "BIND":
            _read_bind(group)
        case "VALUES":
            reader.take()
            group.join(reader.note(read_values(reader, token), token), token)
        case _:
            group.join(reader.note(_read_clause(reader), token), token)


def _read_union(reader: Reader) -> Pattern:
    """Read [67] GroupOrUnionGraphPattern."""
    pattern = read_group(reader)
    while token := reader.accept("UNION"):
        pattern = reader.note(Union(pattern, read_group(reader)), token)
    return pattern


def _read_bind(group: _Group) -> None:
    """Read [60] Bind."""
    reader = group.reader
    token = reader.expect("BIND")
    expression, name = read_named(reader, Clause("BIND", read_group))
    variable = variable_of(name)
    if variable in variables(group.pattern):
        message = f"BIND cannot set ?{variable.name}, which the group before it uses"
        raise name.error(f"{message}; choose another name")
    group.extend(Extend(group.pattern, variable, expression), token)


def _read_clause(reader: Reader) -> Pattern:
    """Read [58] GraphGraphPattern, [59] ServiceGraphPattern, or RSP-QL's WINDOW.

    CQELS writes `STREAM s […] { … }`, which declares a window and looks into it.
    """
    keyword = reader.take()
    if keyword.terminal == "STREAM":
        return Window(read_inner_stream(reader), read_group(reader))
    silent = keyword.terminal == "SERVICE" and reader.accept("SILENT") is not None
    token, name = reader.token, read_variable_or_name(reader)
    if keyword.terminal == "GRAPH":
        return Graph(name, read_group(reader))
    if keyword.terminal == "SERVICE":
        iri = name if isinstance(name, Variable) else name.value
        return Service(iri, read_group(reader), silent)
    if isinstance(name, Variable):
        raise Refusal.WINDOW_VARIABLE.at(token.place, f"WINDOW {token.text}")
    return Window(name.value, read_group(reader))
