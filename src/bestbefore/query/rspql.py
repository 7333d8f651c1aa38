"""RSP-QL: the clauses around a SPARQL query that make it a continuous one.

`REGISTER RSTREAM name AS` before it and `FROM NAMED WINDOW w ON s [RANGE … STEP …]` inside it are
read here and taken out; what stays is SPARQL in which WINDOW is a kind of GRAPH.
"""

from dataclasses import dataclass

from bestbefore.errors import InputError, QueryError
from bestbefore.query.continuous import NamedWindow, OutputOperator
from bestbefore.query.cursor import Cursor
from bestbefore.query.prologue import Prologue
from bestbefore.query.text import Kind, Token, error_at, unsupported_at
from bestbefore.time import parse_duration_ms

SHAPE = (
    "REGISTER RSTREAM <name> AS SELECT … FROM NAMED WINDOW <w> ON <stream> [RANGE PT10M STEP PT1M] "
    "WHERE { WINDOW <w> { … } SERVICE <endpoint> { … } }"
)
# Longer than history, and still exact when it is counted in floating point.
_LONGEST_MS = 10**15
_OUTPUTS = {"RSTREAM": OutputOperator.RSTREAM, "STREAM": OutputOperator.RSTREAM}
_OTHER_OUTPUTS = ("ISTREAM", "DSTREAM", "QUERY")
_FORMS = ("SELECT", "CONSTRUCT")
_OTHER_FORMS = ("ASK", "DESCRIBE")


@dataclass(frozen=True, slots=True)
class Shell:
    """The RSP-QL clauses of a query, and the tokens of the SPARQL query inside them."""

    output: OutputOperator
    name: str
    windows: tuple[NamedWindow, ...]
    prologue: Prologue
    body: tuple[Token, ...]


def read_shell(tokens: tuple[Token, ...]) -> Shell:
    """Read the RSP-QL clauses of a query."""
    cursor = Cursor(tokens)
    prologue = _read_prologue(cursor, Prologue())
    output, name = _read_register(cursor)
    prologue = _read_prologue(cursor, prologue)
    _check_form(cursor)
    body, windows = _split_body(cursor, prologue)
    resolved = name.text if name.kind is Kind.WORD else prologue.resolve(name)
    return Shell(output, resolved, windows, prologue, body)


def _read_prologue(cursor: Cursor, prologue: Prologue) -> Prologue:
    while cursor.token.is_word("PREFIX", "BASE"):
        if cursor.take_words("BASE"):
            prologue = prologue.with_base(cursor.expect(Kind.IRI, wanted="an IRI after BASE"))
        else:
            cursor.take()
            name = cursor.expect(Kind.NAME, wanted="a prefix that ends with ':' after PREFIX")
            iri = cursor.expect(Kind.IRI, wanted=f"the IRI of the prefix {name.text}")
            prologue = prologue.with_prefix(name, iri)
    return prologue


def _read_register(cursor: Cursor) -> tuple[OutputOperator, Token]:
    if not cursor.take_words("REGISTER"):
        raise _missing_register(cursor.token)
    operator = cursor.take()
    if operator.is_word(*_OTHER_OUTPUTS):
        construct = f"REGISTER {operator.text.upper()}"
        raise unsupported_at(operator, construct, instead="write REGISTER RSTREAM")
    if not operator.is_word(*_OUTPUTS):
        raise error_at(operator, f"expected RSTREAM after REGISTER, found {operator}")
    name = cursor.expect(
        Kind.IRI, Kind.NAME, Kind.WORD, wanted=f"the name of the query after {operator.text}"
    )
    cursor.expect_word("AS", wanted=f"AS after the name {name.text}")
    return _OUTPUTS[operator.text.upper()], name


def _missing_register(token: Token) -> QueryError:
    if token.kind is Kind.END:
        return error_at(token, f"the query is empty; expected {SHAPE}")
    return error_at(token, f"expected REGISTER, found {token}; a query has the shape {SHAPE}")


def _check_form(cursor: Cursor) -> None:
    if cursor.token.is_word(*_OTHER_FORMS):
        raise unsupported_at(
            cursor.token, cursor.token.text.upper(), instead="use SELECT or CONSTRUCT"
        )
    if not cursor.token.is_word(*_FORMS):
        raise cursor.error("SELECT or CONSTRUCT after AS")


def _split_body(
    cursor: Cursor, prologue: Prologue
) -> tuple[tuple[Token, ...], tuple[NamedWindow, ...]]:
    """The tokens of the body without its window declarations, and the windows they declare."""
    form, body, depth = cursor.token, list[Token](), 0
    windows: dict[str, NamedWindow] = {}
    while cursor.token.kind is not Kind.END:
        start = cursor.token
        if depth == 0 and cursor.take_words("FROM", "NAMED", "WINDOW"):
            window = _read_window(cursor, prologue)
            if windows.setdefault(window.name, window) is not window:
                raise error_at(start, f"the window <{window.name}> is declared twice")
        elif cursor.take_words("FROM", "STREAM"):
            raise unsupported_at(start, "FROM STREAM", instead="write FROM NAMED WINDOW <w> ON <s>")
        else:
            depth += start.is_mark("{") - start.is_mark("}")
            body.append(cursor.take())
    if not windows:
        raise error_at(form, f"the query declares no window; it should have the shape {SHAPE}")
    return (*body, cursor.token), tuple(windows.values())


def _read_window(cursor: Cursor, prologue: Prologue) -> NamedWindow:
    name = cursor.expect(Kind.IRI, Kind.NAME, wanted="the IRI of the window")
    cursor.expect_word("ON", wanted=f"ON and a stream after the window {name.text}")
    stream = cursor.expect(Kind.IRI, Kind.NAME, wanted="the IRI of the stream")
    if not cursor.token.is_mark("["):
        raise cursor.error("[RANGE … STEP …] after the stream")
    cursor.take()
    if cursor.token.is_word("ELEMENTS", "TRIPLES"):
        raise unsupported_at(cursor.token, "a window that counts", instead="write [RANGE … STEP …]")
    cursor.expect_word("RANGE", wanted="RANGE and a duration such as PT10M")
    width_ms = _read_duration(cursor, "RANGE")
    slide_ms = _read_duration(cursor, "STEP") if cursor.take_words("STEP") else width_ms
    if not cursor.token.is_mark("]"):
        raise cursor.error("STEP or ']' after the duration")
    cursor.take()
    return NamedWindow(prologue.resolve(name), prologue.resolve(stream), width_ms, slide_ms)


def _read_duration(cursor: Cursor, clause: str) -> int:
    first = last = cursor.take()
    text = first.text
    while last.touches(cursor.token) and not cursor.token.is_mark("]"):
        last = cursor.take()
        text += last.text
    if first is last and first.kind is Kind.NUMBER and not cursor.token.is_word("STEP"):
        text += cursor.take().text if cursor.token.kind is Kind.WORD else ""
    try:
        duration_ms = parse_duration_ms(text)
    except InputError as problem:
        raise error_at(first, f"{clause}: {problem}") from None
    except OverflowError:
        duration_ms = _LONGEST_MS + 1
    if not 0 < duration_ms <= _LONGEST_MS:
        extreme = "short" if duration_ms == 0 else "long"
        raise error_at(first, f"{clause} {text[:30]} is too {extreme}; write it such as PT10M")
    return duration_ms
