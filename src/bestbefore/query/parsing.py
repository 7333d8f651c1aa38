"""Parsing: from the text of a query to what it means."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock

from bestbefore.errors import QueryError
from bestbefore.query.algebra import Form, Pattern
from bestbefore.query.continuous import ContinuousQuery
from bestbefore.query.cursor import Cursor
from bestbefore.query.dataset import DatasetClause
from bestbefore.query.depth import check_depth
from bestbefore.query.notes import Notes
from bestbefore.query.prologue import Prologue
from bestbefore.query.rspql import check_form, read_prologue, read_shell
from bestbefore.query.source import Source
from bestbefore.query.text import Place, Token, tokenize
from bestbefore.query.translation import Body, translate

# The parser takes about forty frames for each bracket and ten for each triple of a group.
_PARSER_FRAMES = 20_000
# The limit belongs to the process: a second thread would restore the wrong one.
_ONE_AT_A_TIME = Lock()


def parse_query(text: str) -> ContinuousQuery:
    """The continuous query that RSP-QL text means.

    What cannot be read is a `QueryError` with its line and column; what is valid SPARQL but is not
    run by this version is an `UnsupportedSparql`, which is one too.
    """
    shell = read_shell(tokenize(text))
    source = Source(shell.body, shell.prologue, Notes.of(shell.body))
    body = _translate(source, shell.default_window)
    return ContinuousQuery(
        shell.output,
        shell.name,
        shell.windows,
        body.form,
        body.pattern,
        default_graphs=body.dataset.default,
        named_graphs=body.dataset.named,
        places=_places(source.notes.places),
    )


def parse_sparql(text: str, base: str | None = None) -> tuple[Form, Pattern, DatasetClause]:
    """The form, the pattern and the dataset that plain SPARQL text means."""
    cursor = Cursor(tokenize(text))
    prologue = read_prologue(cursor, Prologue(base=base))
    check_form(cursor, after="the prologue")
    tokens = cursor.tokens[cursor.position :]
    body = _translate(Source(tokens, prologue, Notes.of(tokens)), None)
    return body.form, body.pattern, body.dataset


def _translate(source: Source, default_window: str | None) -> Body:
    try:
        with _deep_stack():
            body = translate(source, default_window)
    except RecursionError:
        raise QueryError("the query is too long to be read; split it into smaller ones") from None
    check_depth(body.pattern)
    return body


def _places(tokens: Mapping[Pattern, Token]) -> dict[Pattern, Place]:
    return {pattern: token.place for pattern, token in tokens.items()}


@contextmanager
def _deep_stack() -> Iterator[None]:
    with _ONE_AT_A_TIME:
        usual = sys.getrecursionlimit()
        sys.setrecursionlimit(max(usual, _PARSER_FRAMES))
        try:
            yield
        finally:
            sys.setrecursionlimit(usual)
