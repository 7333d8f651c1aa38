"""Queries: the productions [1] to [17] of SPARQL 1.1, with RSP-QL's around them.

ContinuousQuery ::= Prologue Register Prologue Query ValuesClause
Register        ::= 'REGISTER' Output ( iri | WORD ) Computed? 'AS'
Computed        ::= ( 'COMPUTED' | 'COMPUTE' ) 'EVERY' Duration
Output          ::= 'RSTREAM' | 'ISTREAM' | 'DSTREAM' | 'STREAM' | 'QUERY'
DatasetClause   ::= 'FROM' ( iri | 'NAMED' iri | 'NAMED' WindowClause | StreamClause )
"""

from dataclasses import dataclass, field

from bestbefore.errors import QueryError
from bestbefore.query.algebra import BGP, Ask, Construct, Describe, Form, Pattern, Select, Variable
from bestbefore.query.continuous import (
    ContinuousQuery,
    CountWindow,
    DatasetClause,
    NamedWindow,
    OutputOperator,
    TimeWindow,
)
from bestbefore.query.grammar.groups import read_group
from bestbefore.query.grammar.reader import Reader
from bestbefore.query.grammar.selects import EMPTY, read_modifiers, read_select_clause
from bestbefore.query.grammar.terms import IRI_FIRST, read_name_iri, read_variable_or_name
from bestbefore.query.grammar.tokens import Kind, Token
from bestbefore.query.grammar.triples import read_triples_template
from bestbefore.query.grammar.windows import (
    enclose,
    read_default_stream,
    read_duration,
    read_window,
)
from bestbefore.query.refusals import Refusal
from bestbefore.query.scope import variables, visible_variables
from bestbefore.rdf.terms import IRI
from bestbefore.time import format_duration

_SHAPE = (
    "REGISTER RSTREAM <name> AS SELECT … FROM NAMED WINDOW <w> ON <stream> [RANGE PT10M STEP PT1M] "
    "WHERE { WINDOW <w> { … } SERVICE <endpoint> { … } }"
)
_OUTPUTS = {
    **OutputOperator.__members__,
    **dict.fromkeys(("STREAM", "QUERY"), OutputOperator.RSTREAM),
}
_FORMS = ("SELECT", "CONSTRUCT", "ASK", "DESCRIBE")


@dataclass(slots=True)
class _Body:
    """The body of a query as far as it is read: its dataset, and its default window, if any."""

    reader: Reader
    default_graphs: dict[str, Token] = field(default_factory=dict)
    named_graphs: dict[str, Token] = field(default_factory=dict)
    default_window: str | None = None

    def read_group(self, reader: Reader) -> Pattern:
        """Read a group that stands in no other."""
        return self.enclosed(read_group(reader))

    def enclosed(self, pattern: Pattern) -> Pattern:
        """A pattern of which what matches triples is about the default window."""
        window = self.default_window
        return pattern if window is None else enclose(pattern, window, self.reader)


@dataclass(frozen=True, slots=True)
class _Register:
    """What REGISTER says: the output, the token of the name, and how often to compute."""

    output: OutputOperator
    name: Token
    every: Token
    every_ms: int | None = None


def parse_query(text: str) -> ContinuousQuery:
    """The continuous query that RSP-QL text means.

    What cannot be read is a `QueryError` with its line and column; what is valid SPARQL but is not
    run by this version is an `UnsupportedSparql`, which is one too.
    """
    reader = Reader.of(text, continuous=True)
    _read_prologue(reader)
    register = _read_register(reader)
    _read_prologue(reader)
    name = register.name
    resolved = name.text if name.kind is Kind.WORD else reader.prologue.resolve(name)
    start, body = _check_form(reader, after="AS"), _Body(reader)
    if start.terminal == "DESCRIBE":
        # The local view holds mappings of the SERVICE: there is no remote graph to describe from.
        raise Refusal.DESCRIBE.at(start.place)
    form, pattern = _read_body(body)
    windows = tuple(reader.windows.values())
    if not windows:
        raise start.error(f"the query declares no window; it should have the shape {_SHAPE}")
    _check_every(register, windows)
    return ContinuousQuery(
        register.output,
        resolved,
        windows,
        form,
        pattern,
        default_graphs=tuple(body.default_graphs),
        named_graphs=tuple(body.named_graphs),
        places=reader.places,
    )


def parse_sparql(text: str, base: str | None = None) -> tuple[Form, Pattern, DatasetClause]:
    """The form, the pattern and the dataset that plain SPARQL text means."""
    reader = Reader.of(text, base)
    _read_prologue(reader)
    _check_form(reader, after="the prologue")
    body = _Body(reader)
    form, pattern = _read_body(body)
    return form, pattern, DatasetClause(tuple(body.default_graphs), tuple(body.named_graphs))


def _read_prologue(reader: Reader) -> None:
    """Read [4] Prologue."""
    while True:
        if reader.accept("BASE"):
            iri = reader.expect(Kind.IRI, "an IRI after BASE")
            reader.prologue = reader.prologue.with_base(iri)
        elif reader.accept("PREFIX"):
            name = reader.expect(Kind.NAME, "a prefix that ends with ':' after PREFIX")
            iri = reader.expect(Kind.IRI, f"the IRI of the prefix {name.text}")
            reader.prologue = reader.prologue.with_prefix(name, iri)
        else:
            return


def _check_form(reader: Reader, *, after: str) -> Token:
    """The keyword of the form of a query, which must come next."""
    if reader.token.terminal not in _FORMS:
        raise reader.missing(f"SELECT, CONSTRUCT, ASK or DESCRIBE after {after}")
    return reader.token


def _read_register(reader: Reader) -> _Register:
    if not reader.accept("REGISTER"):
        raise _missing_register(reader.token)
    operator = reader.take()
    if operator.terminal not in _OUTPUTS:
        message = f"expected one of {', '.join(_OUTPUTS)} after REGISTER, found {operator}"
        raise operator.error(message)
    if reader.token.kind not in (Kind.IRI, Kind.NAME, Kind.WORD):
        raise reader.missing(f"the name of the query after {operator.text}")
    name, every, every_ms = reader.take(), reader.token, None
    if reader.accept("COMPUTED") or reader.accept("COMPUTE"):
        reader.expect("EVERY")
        every_ms = read_duration(reader, "EVERY")
    reader.expect("AS", f"AS after the name {name.text}")
    return _Register(_OUTPUTS[operator.terminal], name, every, every_ms)


def _missing_register(token: Token) -> QueryError:
    if token.kind is Kind.END:
        return token.error(f"the query is empty; expected {_SHAPE}")
    return token.error(f"expected REGISTER, found {token}; a query has the shape {_SHAPE}")


def _check_every(register: _Register, windows: tuple[NamedWindow, ...]) -> None:
    """Refuse a query that is to be computed at other times than when its windows move on."""
    if register.every_ms is None:
        return
    for window in windows:
        match window.extent:
            case CountWindow(_, step):
                moves = f"{step} elements"
            case TimeWindow(_, slide_ms):
                moves = "" if slide_ms == register.every_ms else format_duration(slide_ms)
        if moves:
            every = format_duration(register.every_ms)
            construct = f"COMPUTED EVERY {every} over the window <{window.name}>, which moves on by"
            raise Refusal.COMPUTED_EVERY.at(register.every.place, f"{construct} {moves},")


def _read_body(body: _Body) -> tuple[Form, Pattern]:
    """Read [2] Query and its [28] ValuesClause, up to the end of the text."""
    reader = body.reader
    match reader.token.terminal:
        case "SELECT":
            found = _read_select(body)
        case "CONSTRUCT":
            found = _read_construct(body)
        case "DESCRIBE":
            found = _read_describe(body)
        case _:
            reader.expect("ASK")
            found = Ask(), _read_where_and_rest(body)
    reader.expect(Kind.END)
    return found


def _read_select(body: _Body) -> tuple[Form, Pattern]:
    """Read [7] SelectQuery."""
    clause = read_select_clause(body.reader, body.read_group)
    _read_dataset(body)
    body.reader.accept("WHERE")
    where = body.read_group(body.reader)
    pattern = read_modifiers(body.reader, body.read_group, where, clause)
    return Select(variables(pattern)), pattern


def _read_construct(body: _Body) -> tuple[Form, Pattern]:
    """Read [10] ConstructQuery; its short form constructs what it matches."""
    reader = body.reader
    reader.expect("CONSTRUCT")
    if reader.at("{"):
        template = read_triples_template(reader)
        return Construct(template), _read_where_and_rest(body)
    _read_dataset(body)
    start = reader.expect("WHERE")
    reader.basic_pattern = start.offset
    template = read_triples_template(reader)
    where = reader.note(BGP(template), start) if template else EMPTY
    return Construct(template), read_modifiers(reader, body.read_group, body.enclosed(where))


def _read_describe(body: _Body) -> tuple[Form, Pattern]:
    """Read [11] DescribeQuery."""
    reader, terms = body.reader, list[Variable | IRI]()
    reader.expect("DESCRIBE")
    if not reader.accept("*"):
        terms.append(read_variable_or_name(reader))
        while reader.at(Kind.VARIABLE) or reader.at(IRI_FIRST):
            terms.append(read_variable_or_name(reader))
    pattern = _read_where_and_rest(body, needed=False)
    return Describe(tuple(terms) or visible_variables(pattern)), pattern


def _read_where_and_rest(body: _Body, *, needed: bool = True) -> Pattern:
    """Read what follows the form of a query: [13] DatasetClause, [17] WhereClause, modifiers."""
    reader = body.reader
    _read_dataset(body)
    written = reader.accept("WHERE") or needed or reader.at("{")
    where = body.read_group(reader) if written else EMPTY
    return read_modifiers(reader, body.read_group, where)


def _read_dataset(body: _Body) -> None:
    """Read [13] DatasetClause, or the declaration of a window, as often as there is one."""
    reader = body.reader
    while start := reader.accept("FROM"):
        if reader.continuous and reader.accept("STREAM"):
            body.default_window = read_default_stream(reader, start, body.default_window)
        elif not reader.accept("NAMED"):
            body.default_graphs.setdefault(read_name_iri(reader), start)
        elif reader.continuous and reader.accept("WINDOW"):
            read_window(reader, start)
        elif reader.continuous and reader.at("STREAM"):
            raise Refusal.NAMED_STREAM.at(start.place)
        else:
            body.named_graphs.setdefault(read_name_iri(reader), start)
    if body.default_window and body.default_graphs:
        raise Refusal.MIXED_GRAPH.at(next(iter(body.default_graphs.values())).place)
