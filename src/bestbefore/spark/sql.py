"""Spark SQL as text: how names and strings are quoted, and how a value is named once.

Expressions are built as text because every operator of the Column API costs a call to the JVM.
Spark's parser reads a bracket, a CAST or a TRANSFORM to its end before it knows what it is one of,
and each in it again, and keeps what it learned of all it read. So a cast is a call of the type
(`string(x)`), and a condition within another is a call of its operator (`call("not", x)`).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from hashlib import sha256
from typing import Concatenate, ParamSpec

Rest = ParamSpec("Rest")
_SPECIAL = re.compile(r"[\\'\x00-\x1f]")
# A control character stands in no SQL that is written here: `quote` escapes it.
_PARAMETER = re.compile("\x01([^\x01]*)\x01")

NO_TERM = "string(NULL)"


class Cheap(str):
    """SQL text that costs little to write twice: a column, a lambda's variable, a constant."""

    __slots__ = ()


def quote(text: str) -> Cheap:
    """A string as a SQL literal.

    >>> quote("it's")
    "'it\\\\'s'"
    """
    return Cheap("'" + _SPECIAL.sub(_escape, text) + "'")


def _escape(hit: re.Match[str]) -> str:
    return f"\\{hit[0]}" if hit[0] in "\\'" else f"\\u{ord(hit[0]):04x}"


def parameter(title: str) -> Cheap:
    """A place in a SQL text for what only a batch knows."""
    return Cheap(f"\x01{title}\x01")


def with_parameters(text: str, values: Mapping[str, str]) -> str:
    """The text with SQL in place of its parameters.

    >>> with_parameters(f"time < {parameter('now')}", {"now": "5L"})
    'time < 5L'
    """
    return _PARAMETER.sub(lambda hit: values[hit[1]], text)


def inline_table(columns: Mapping[str, str], rows: Sequence[Sequence[object]]) -> str:
    """Rows of numbers as a table, by the names and types of its columns.

    >>> inline_table({"n": "BIGINT"}, [[1], [2]])
    '(SELECT bigint(`n`) AS `n` FROM VALUES (1), (2) AS inline(`n`))'
    """
    listed = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    nothing = f"({', '.join('NULL' for _ in columns)})"
    cast = ", ".join(f"{kind.lower()}({name(one)}) AS {name(one)}" for one, kind in columns.items())
    where = "" if rows else " WHERE FALSE"
    names = ", ".join(quoted(columns))
    return f"(SELECT {cast} FROM VALUES {listed or nothing} AS inline({names}){where})"


def name(column: str) -> Cheap:
    """A column by its name, as SQL.

    >>> name("?user")
    '`?user`'
    """
    return Cheap("`" + column.replace("`", "``") + "`")


def quoted(columns: Iterable[str]) -> list[Cheap]:
    """Columns by their names, as SQL."""
    return [name(column) for column in columns]


def aliased(columns: Mapping[str, str]) -> list[str]:
    """Columns given as SQL, with their names."""
    return [f"{sql} AS {name(column)}" for column, sql in columns.items()]


def field(struct: Cheap, part: str) -> Cheap:
    """A field of a struct."""
    return Cheap(f"{struct}.{part}")


def call(function: str, *arguments: str) -> str:
    """A function or an operator of Spark's, called by its name.

    >>> call("not", call("=", "a", "b OR c"))
    '`not`(`=`(a, b OR c))'
    """
    return f"`{function}`({', '.join(arguments)})"


def chain(operator: str, conditions: Sequence[str]) -> str:
    """Conditions with AND or OR between them, as one call.

    >>> chain("OR", ["a", "b", "c"]), chain("OR", ["a"])
    ('`or`(a, b OR c)', 'a')
    """
    first, *rest = conditions
    return call(operator.lower(), first, f" {operator} ".join(rest)) if rest else first


def let(value: str, body: Callable[[Cheap], str]) -> str:
    """The body with a value in it, computed once however often the body mentions it.

    Spark has no LET; an array of one element, transformed, is one. Without it the text of nested
    expressions would double with every level. What is cheap is written out: Spark compiles it to
    code, which it does not do with a lambda.
    """
    if isinstance(value, Cheap):
        return body(value)
    # Named after its value, so that the same expression is the same text, and compiled once.
    variable = Cheap(f"v{sha256(value.encode()).hexdigest()[:16]}")
    return f"{call('transform', f'array({value})', f'{variable} -> {body(variable)}')}[0]"


def once(body: Callable[Concatenate[Cheap, Rest], str]) -> Callable[Concatenate[str, Rest], str]:
    """The function with its first argument computed once."""

    def computed(value: str, /, *rest: Rest.args, **named: Rest.kwargs) -> str:
        return let(value, lambda one: body(one, *rest, **named))

    return wraps(body)(computed)


def both_once(
    body: Callable[Concatenate[Cheap, Cheap, Rest], str],
) -> Callable[Concatenate[str, str, Rest], str]:
    """The function with each of its first two arguments computed once."""

    def computed(left: str, right: str, /, *rest: Rest.args, **named: Rest.kwargs) -> str:
        return let(left, lambda one: let(right, lambda other: body(one, other, *rest, **named)))

    return wraps(body)(computed)


def if_known(value: str, then: str) -> str:
    """Something made of a value, null where the value is."""
    return f"CASE WHEN {value} IS NOT NULL THEN {then} END"


def guarded(text: str) -> str:
    """A string value that is null where computing it fails.

    `try_to_binary` evaluates its argument and takes any failure for null; Spark has no `try` of
    its own for regular expressions.
    """
    return f"string(try_to_binary({text}, 'utf-8'))"


def one_of(value: str, choices: Iterable[str]) -> str:
    """Whether a value is one of some strings."""
    return f"{value} IN ({', '.join(map(quote, choices))})"


def all_of(conditions: Iterable[str]) -> str:
    """Whether all conditions are true; nothing is asked for where there are none.

    >>> all_of(["a = 1", "b = 2"]), all_of([])
    ('a = 1 AND b = 2', 'TRUE')
    """
    return " AND ".join(conditions) or "TRUE"


def has_form(text: str, pattern: str) -> str:
    """Whether a pattern matches all of a text; Java's `$` would pass over a line break."""
    whole = quote(rf"^(?:{pattern})\z")
    return f"{text} RLIKE {whole}"
