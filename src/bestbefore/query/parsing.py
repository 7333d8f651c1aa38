"""Parsing: from the text of a query to the continuous query it means."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from bestbefore.errors import QueryError
from bestbefore.query.algebra import Filter, Pattern, children
from bestbefore.query.continuous import ContinuousQuery
from bestbefore.query.expressions import Expression, operands
from bestbefore.query.rspql import read_shell
from bestbefore.query.source import Source
from bestbefore.query.text import tokenize
from bestbefore.query.translation import translate

# Whoever walks a query by recursion has Python's usual thousand frames for it.
_DEEPEST_ALGEBRA = 200
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
    try:
        with _deep_stack():
            form, pattern = translate(Source(shell.body, shell.prologue))
    except RecursionError:
        raise QueryError("the query is too long to be read; split it into smaller ones") from None
    _check_depth(pattern)
    return ContinuousQuery(shell.output, shell.name, shell.windows, form, pattern)


@contextmanager
def _deep_stack() -> Iterator[None]:
    with _ONE_AT_A_TIME:
        usual = sys.getrecursionlimit()
        sys.setrecursionlimit(max(usual, _PARSER_FRAMES))
        try:
            yield
        finally:
            sys.setrecursionlimit(usual)


def _check_depth(pattern: Pattern) -> None:
    pending: list[tuple[Pattern | Expression, int]] = [(pattern, 1)]
    while pending:
        node, depth = pending.pop()
        if depth > _DEEPEST_ALGEBRA:
            message = f"the query nests more than {_DEEPEST_ALGEBRA} operators; simplify it"
            raise QueryError(message)
        pending.extend((each, depth + 1) for each in _below(node))


def _below(node: Pattern | Expression) -> tuple[Pattern | Expression, ...]:
    if isinstance(node, Filter):
        return (node.condition, node.pattern)
    return children(node) if isinstance(node, Pattern) else operands(node)
