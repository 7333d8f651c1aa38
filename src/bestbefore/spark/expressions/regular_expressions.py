"""Regular expressions of XPath, as SPARQL has them, in the dialect of Java, as Spark has them.

A pattern that the query writes is translated and checked before anything runs. One that comes from
the data is taken as Java reads it; where it is wrong, that row has an error and the job goes on.
"""

import re

from pyspark import SparkContext
from pyspark.errors import IllegalArgumentException

from bestbefore.spark.sql import NO_TERM, Cheap, both_once, call, guarded, once, quote

_FLAGS = "ismxq"
# Names of XML: `\i` is a first character, `\c` any other.
_ESCAPES = {"i": r"\p{L}_:", "c": r"\p{L}\p{N}_:.\-"}
_PIECE = re.compile(r"\\[pP]\{Is|\\.|-\[|.", re.DOTALL)


def java_pattern(pattern: str, flags: str) -> str | None:
    """A pattern with flags as Java writes it; None if it is wrong.

    >>> java_pattern("[a-z-[x]]$", "i")
    '(?diu)[a-z&&[^x]]\\\\z'
    """
    if set(flags) - set(_FLAGS):
        return None
    letters = "".join(letter for letter in "sm" if letter in flags)
    head = f"(?d{letters}{'iu' if 'i' in flags else ''})"
    if "q" in flags:
        return head + re.sub(r"([\W_])", r"\\\1", pattern)
    return head + _translate(pattern, whole="m" not in flags, spaced="x" in flags)


def _translate(pattern: str, *, whole: bool, spaced: bool) -> str:
    result, depth = [], 0
    for piece in _PIECE.findall(pattern):
        result.append(_one(piece, inside=depth > 0, whole=whole, spaced=spaced))
        depth += (piece in ("[", "-[")) - (piece == "]")
    return "".join(result)


def _one(piece: str, *, inside: bool, whole: bool, spaced: bool) -> str:
    if piece == "-[":
        return "&&[^" if inside else "-["
    if piece.startswith(("\\p{Is", "\\P{Is")):
        return f"{piece[:3]}In"
    if piece[0] == "\\":
        letters = _ESCAPES.get(piece[1:])
        return piece if letters is None else letters if inside else f"[{letters}]"
    if piece == "$" and whole and not inside:
        return r"\z"
    if inside and piece in "&~":
        return f"\\{piece}"
    return "" if spaced and not inside and piece.isspace() else piece


def of_query(pattern: str, flags: str) -> Cheap:
    """A pattern that the query writes, for Java; null if it is wrong."""
    java = java_pattern(pattern, flags)
    return Cheap(NO_TERM) if java is None or not _is_valid(java) else quote(java)


@both_once
def of_data(pattern: Cheap, flags: Cheap) -> str:
    """A pattern that comes from the data, for Java; null if its flags are wrong."""
    letters = f"replace(replace({flags}, 'i', 'iu'), 'q', '')"
    literally = f"regexp_replace({pattern}, '([^A-Za-z0-9])', '\\\\\\\\$1')"
    written = f"IF({flags} RLIKE 'q', {literally}, {pattern})"
    known = f"{flags} RLIKE '^[{_FLAGS}]*$'"
    return f"IF({known}, concat('(?d', {letters}, ')', {written}), NULL)"


def matches(text: str, java: str) -> str:
    """Whether a text has a part that matches a pattern."""
    if isinstance(java, Cheap):
        return call("rlike", text, java)
    found = guarded(f"string({text} RLIKE {java})")
    return call("=", found, "'true'")


@once
def replaced(java: Cheap, text: str, replacement: str) -> str:
    """A text with every match replaced; to match the empty text is an error, as in XPath."""
    return guarded(f"IF('' RLIKE {java}, NULL, regexp_replace({text}, {java}, {replacement}))")


def _is_valid(java: str) -> bool:
    context = SparkContext._active_spark_context
    assert context is not None  # noqa: S101 - a column needs a session
    assert context._jvm is not None  # noqa: S101
    try:
        context._jvm.java.util.regex.Pattern.compile(java)
    except IllegalArgumentException:
        return False
    return True
