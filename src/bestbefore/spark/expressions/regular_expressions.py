"""Regular expressions of XPath, as SPARQL has them, in the dialect of Java, as Spark has them.

A pattern that the query writes is translated and checked before anything runs. One that comes from
the data is taken as Java reads it; where it is wrong, that row has an error and the job goes on.
"""

import re
from typing import Any

from pyspark import SparkContext
from pyspark.errors import IllegalArgumentException

from bestbefore.spark.sql import NO_TERM, guarded, let, quote

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


def matches(text: str, pattern: str, flags: str) -> str:
    """Whether a text has a part that matches a pattern; pattern and flags come from the data."""
    found = guarded(f"CAST({text} RLIKE {_from_data(pattern, flags)} AS STRING)")
    return f"({found} = 'true')"


def matches_constant(text: str, pattern: str, flags: str) -> str:
    """Whether a text has a part that matches a pattern of the query."""
    java = java_pattern(pattern, flags)
    if java is None or not _is_valid(java):
        return "CAST(NULL AS BOOLEAN)"
    return f"({text} RLIKE {quote(java)})"


def replaced(text: str, pattern: str, replacement: str, flags: str) -> str:
    """A text with every match replaced; pattern and flags come from the data."""
    return let(
        _from_data(pattern, flags),
        lambda java: guarded(
            f"IF('' RLIKE {java}, NULL, regexp_replace({text}, {java}, {replacement}))"
        ),
    )


def replaced_constant(text: str, pattern: str, replacement: str, flags: str) -> str:
    """A text with every match of a pattern of the query replaced.

    A pattern that matches the empty text is an error, as in XPath.
    """
    java = java_pattern(pattern, flags)
    if java is None or not _is_valid(java) or _compiled(java).matcher("").find():
        return NO_TERM
    return guarded(f"regexp_replace({text}, {quote(java)}, {replacement})")


def _from_data(pattern: str, flags: str) -> str:
    letters = f"replace(replace({flags}, 'i', 'iu'), 'q', '')"
    literally = f"regexp_replace({pattern}, '([^A-Za-z0-9])', '\\\\\\\\$1')"
    written = f"IF({flags} RLIKE 'q', {literally}, {pattern})"
    known = f"{flags} RLIKE '^[{_FLAGS}]*$'"
    return f"IF({known}, concat('(?d', {letters}, ')', {written}), NULL)"


def _is_valid(java: str) -> bool:
    try:
        _compiled(java)
    except IllegalArgumentException:
        return False
    return True


def _compiled(java: str) -> Any:  # noqa: ANN401 - an object of the JVM
    context = SparkContext._active_spark_context
    assert context is not None  # noqa: S101 - a column needs a session
    assert context._jvm is not None  # noqa: S101
    return context._jvm.java.util.regex.Pattern.compile(java)
