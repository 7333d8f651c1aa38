"""The diagnosis of a query that is not SPARQL: what does not fit, where, and what would."""

from typing import get_args

from bestbefore.errors import QueryError, nearest
from bestbefore.query.expressions import FUNCTIONS, AggregateFunction
from bestbefore.query.spelling import Spelling
from bestbefore.query.syntax import furthest, reads
from bestbefore.query.text import Kind, error_at

_SAMPLES = {
    "a variable": "?1",
    "an IRI": "<t:1>",
    "a literal": '"1"',
    "a number": "1",
    "an operator": "&&",
    "'*'": "*",
    "')'": ")",
    "'}'": "}",
    "'.'": ".",
    "'('": "(",
    "'{'": "{",
}
_WORDS = ("AS", "BY", "EXISTS", "FILTER", "WHERE")
_TERMS = ("a variable", "an IRI", "a literal")
# Each sample is one more parse; a long query gets the place without the list.
_LONGEST_TRIED = 5_000
# fmt: off
_KEYWORDS = {
    "AS", "ASC", "ASK", "BIND", "BY", "CONSTRUCT", "DESC", "DESCRIBE", "DISTINCT", "EXISTS",
    "FILTER", "FROM", "GRAPH", "GROUP", "HAVING", "IN", "LIMIT", "MINUS", "NAMED", "NOT",
    "OFFSET", "OPTIONAL", "ORDER", "REDUCED", "SELECT", "SEPARATOR", "SERVICE", "SILENT",
    "UNDEF", "UNION", "VALUES", "WHERE", "WINDOW",
}
_CALLED = {*FUNCTIONS, *get_args(AggregateFunction)}
# fmt: on


def diagnose(spelling: Spelling) -> QueryError:
    """The error that says what of the query cannot be read."""
    number = spelling.token_at(furthest(spelling.text))
    expected = _expected(spelling, number)
    if not expected and spelling.tokens[number - 1].kind is Kind.WORD:
        # The grammar takes any word for the prefix of a name and stumbles only over what follows.
        number -= 1
        expected = _expected(spelling, number)
    token = spelling.tokens[number]
    found = "the query ends too early" if token.kind is Kind.END else f"{token} does not fit here"
    wanted = f"; expected {' or '.join(expected)}" if expected else ""
    after, hint = spelling.tokens[number - 1], _correction(spelling, number)
    return error_at(token, f"{found}, after {after}{wanted}{hint}")


def _expected(spelling: Spelling, number: int) -> list[str]:
    """What could stand in the place of a token, in words."""
    beginning = spelling.text[: spelling.offsets[number]]
    if len(beginning) > _LONGEST_TRIED:
        return []
    fits = [words for words, sample in _SAMPLES.items() if reads(beginning + sample)]
    if "a literal" in fits:
        fits.remove("a number")
    if "an operator" in fits:
        fits.remove("'*'")
    if "an IRI" not in fits:
        fits += [word for word in _WORDS if reads(beginning + word)]
    if all(term in fits for term in _TERMS):
        fits = ["a term", *(words for words in fits if words not in _TERMS)]
    return fits


def _correction(spelling: Spelling, number: int) -> str:
    """The keyword or function that a word may have been meant as."""
    token, following = spelling.tokens[number], spelling.tokens[number + 1 : number + 2]
    known = _CALLED if any(each.is_mark("(") for each in following) else _KEYWORDS
    if token.kind is not Kind.WORD or token.is_word(*_CALLED, *_KEYWORDS):
        return ""
    hint = nearest(token.text.upper(), known)
    return f"; {hint}" if hint.startswith("did you mean") else ""
