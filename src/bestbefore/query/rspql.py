"""RSP-QL: the clauses around a SPARQL query that make it a continuous one.

`REGISTER RSTREAM name AS` before it, `FROM NAMED WINDOW w ON s […]` inside it and the spellings of
other dialects are read here and taken out; what stays is SPARQL in which WINDOW is a kind of GRAPH.
"""

from dataclasses import dataclass, replace

from bestbefore.errors import QueryError
from bestbefore.query.continuous import NamedWindow, OutputOperator
from bestbefore.query.cursor import Cursor
from bestbefore.query.declarations import Declarations
from bestbefore.query.prologue import Prologue
from bestbefore.query.text import Kind, Token, error_at, unsupported_at

SHAPE = (
    "REGISTER RSTREAM <name> AS SELECT … FROM NAMED WINDOW <w> ON <stream> [RANGE PT10M STEP PT1M] "
    "WHERE { WINDOW <w> { … } SERVICE <endpoint> { … } }"
)
_OUTPUTS = {
    "RSTREAM": OutputOperator.RSTREAM,
    "ISTREAM": OutputOperator.ISTREAM,
    "DSTREAM": OutputOperator.DSTREAM,
    "STREAM": OutputOperator.RSTREAM,
    "QUERY": OutputOperator.RSTREAM,
}
_FORMS = ("SELECT", "CONSTRUCT", "ASK", "DESCRIBE")


@dataclass(frozen=True, slots=True)
class Shell:
    """The RSP-QL clauses of a query, and the tokens of the SPARQL query inside them.

    `default_window` names the window that patterns outside of any clause are about, if there is
    one.
    """

    output: OutputOperator
    name: str
    windows: tuple[NamedWindow, ...]
    default_window: str | None
    prologue: Prologue
    body: tuple[Token, ...]


def read_shell(tokens: tuple[Token, ...]) -> Shell:
    """Read the RSP-QL clauses of a query."""
    cursor = Cursor(tokens)
    prologue = read_prologue(cursor, Prologue())
    output, name = _read_register(cursor)
    prologue = read_prologue(cursor, prologue)
    check_form(cursor, after="AS")
    if cursor.token.is_word("DESCRIBE"):
        # The local view holds mappings of the SERVICE: there is no remote graph to describe from.
        raise unsupported_at(cursor.token, "DESCRIBE", instead="use CONSTRUCT with the triples")
    declared = Declarations(prologue)
    body = _split_body(cursor, declared)
    if not declared.windows:
        raise error_at(body[0], f"the query declares no window; it should have the shape {SHAPE}")
    resolved = name.text if name.kind is Kind.WORD else prologue.resolve(name)
    windows = tuple(declared.windows.values())
    return Shell(output, resolved, windows, declared.default_window, prologue, body)


def read_prologue(cursor: Cursor, prologue: Prologue) -> Prologue:
    """Read what PREFIX and BASE declare."""
    while cursor.token.is_word("PREFIX", "BASE"):
        if cursor.take_words("BASE"):
            prologue = prologue.with_base(cursor.expect(Kind.IRI, wanted="an IRI after BASE"))
        else:
            cursor.take()
            name = cursor.expect(Kind.NAME, wanted="a prefix that ends with ':' after PREFIX")
            iri = cursor.expect(Kind.IRI, wanted=f"the IRI of the prefix {name.text}")
            prologue = prologue.with_prefix(name, iri)
    return prologue


def check_form(cursor: Cursor, *, after: str) -> None:
    """Check that one of the four forms of a query comes next."""
    if not cursor.token.is_word(*_FORMS):
        raise cursor.error(f"SELECT, CONSTRUCT, ASK or DESCRIBE after {after}")


def _read_register(cursor: Cursor) -> tuple[OutputOperator, Token]:
    if not cursor.take_words("REGISTER"):
        raise _missing_register(cursor.token)
    operator = cursor.take()
    if not operator.is_word(*_OUTPUTS):
        known = ", ".join(_OUTPUTS)
        raise error_at(operator, f"expected one of {known} after REGISTER, found {operator}")
    name = cursor.expect(
        Kind.IRI, Kind.NAME, Kind.WORD, wanted=f"the name of the query after {operator.text}"
    )
    if cursor.token.is_word("COMPUTE", "COMPUTED"):
        instead = "the STEP of the window says when the query is computed"
        raise unsupported_at(cursor.token, f"{cursor.token.text.upper()} EVERY", instead=instead)
    cursor.expect_word("AS", wanted=f"AS after the name {name.text}")
    return _OUTPUTS[operator.text.upper()], name


def _missing_register(token: Token) -> QueryError:
    if token.kind is Kind.END:
        return error_at(token, f"the query is empty; expected {SHAPE}")
    return error_at(token, f"expected REGISTER, found {token}; a query has the shape {SHAPE}")


def _split_body(cursor: Cursor, declared: Declarations) -> tuple[Token, ...]:
    """The tokens of the body without its window declarations, which are noted."""
    body, depth = list[Token](), 0
    while cursor.token.kind is not Kind.END:
        start = cursor.token
        if depth == 0 and cursor.take_words("FROM", "NAMED", "WINDOW"):
            declared.read_window(cursor, start)
        elif depth == 0 and cursor.take_words("FROM", "STREAM"):
            declared.read_stream(cursor, start)
        elif depth > 0 and start.is_word("STREAM") and declared.stream_follows(cursor):
            cursor.take()
            body += [replace(start, text="WINDOW"), declared.read_inner_stream(cursor)]
        else:
            depth += start.is_mark("{") - start.is_mark("}")
            body.append(cursor.take())
    return (*body, cursor.token)
