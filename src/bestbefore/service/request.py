"""The query text of a SERVICE pattern: all of it, a batch of units, or one unit.

A pattern is *direct* when a key may be put straight into it: triples and FILTERs that mention
every key variable, then OPTIONALs that nest nothing. There, restricting the key first gives the
same rows as restricting it last, and every endpoint can use its indexes. Any other pattern (a
sub-select, UNION, MINUS, BIND …) stays in braces of its own and is restricted from outside, which
is always right and may cost the endpoint a scan.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bestbefore.errors import InputError
from bestbefore.rdf.terms import IRI, Key, Literal, decode, to_sparql

_NAME = r"\w[\w\u00b7\u0300-\u036f\u203f\u2040]*"
_TOKEN = re.compile(
    rf"""
      (?P<iri> <[^<>"{{}}|^`\\\x00-\x20]*> )
    | (?P<string> \"\"\"(?:"{{0,2}}(?:[^"\\]|\\.))*\"\"\" | '''(?:'{{0,2}}(?:[^'\\]|\\.))*'''
                | "(?:[^"\\\n\r]|\\.)*" | '(?:[^'\\\n\r]|\\.)*' )
    | (?P<comment> \#[^\n\r]* )
    | (?P<variable> [?$]{_NAME} )
    | (?P<language> @[A-Za-z]+(?:-[A-Za-z0-9]+)* )
    | (?P<prefixed> [\w.\-]*:(?:[\w.:%\-]|\\.)* )
    | (?P<word> [A-Za-z_]\w* )
    | (?P<mark> [{{}}()] )
    """,
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {"OPTIONAL": "O", "{": "{", "}": "}", "BIND": "B", "BOUND": "B"}
_DIRECT = re.compile(r"(?:O\{\})*")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


@dataclass(frozen=True, slots=True)
class ServicePattern:
    """The group inside a SERVICE clause, as SPARQL text without its braces.

    `variables` are the columns wanted, without `?`; `key` are those that name a unit, an empty key
    making the whole pattern one unit. `optional_text` is fetched as one more OPTIONAL, such as the
    predicate that tells a change interval. The text carries no prefixed names, for it is sent
    without a prologue.
    """

    variables: tuple[str, ...]
    key: tuple[str, ...]
    text: str
    optional_text: str = ""

    def __post_init__(self) -> None:
        for name in self.variables:
            if not re.fullmatch(_NAME, name):
                raise InputError(f"{name!r} is not a variable name; write it without '?'")
        if not self.variables or len(set(self.variables)) < len(self.variables):
            raise InputError(f"a SERVICE pattern needs distinct variables, not {self.variables!r}")
        mentioned = {token[0][1:] for token in _TOKEN.finditer(self.text) if _is_variable(token)}
        for name in self.key:
            if name not in self.variables or name not in mentioned or self.key.count(name) > 1:
                raise InputError(
                    f"the key variable ?{name} must be named once, be one of the variables"
                    f" ({', '.join(self.variables)}) and occur in the SERVICE pattern"
                )

    @property
    def others(self) -> tuple[str, ...]:
        """The variables that are not part of the key."""
        return tuple(name for name in self.variables if name not in self.key)


def load_query(
    pattern: ServicePattern, *, limit: int | None = None, offset: int | None = None
) -> str:
    """The query for all mappings, or for one page of them in a fixed order."""
    query = _select(pattern.variables, _body(pattern))
    if limit is None and offset is None:
        return query
    query += "\nORDER BY" + _list(pattern.variables)
    if limit is not None:
        query += f" LIMIT {limit}"
    return query if offset is None else f"{query} OFFSET {offset}"


def refresh_query(pattern: ServicePattern, keys: Sequence[Key]) -> str:
    """The query for all mappings of the units `keys`, as one VALUES block."""
    rows = " ".join(f"({' '.join(map(_term, key))})" for key in keys)
    # First in the group: engines that join in the order written start from the few keys.
    block = f"VALUES ({_list(pattern.key).strip()}) {{ {rows} }}\n"
    return _select(pattern.variables, block + _body(pattern))


def single_query(pattern: ServicePattern, key: Key) -> str:
    """The query for one unit in SPARQL 1.0, which has no VALUES; its key columns are left out.

    The key replaces its variables in a direct pattern and is compared in a FILTER in any other.
    """
    terms = dict(zip(pattern.key, map(_term, key), strict=True))
    if not terms:
        return load_query(pattern)
    if _is_direct(pattern):
        return _select(pattern.others, _substitute(_body(pattern), terms))
    tests = " && ".join(f"sameTerm(?{name}, {term})" for name, term in terms.items())
    return _select(pattern.others, f"{_body(pattern)}\nFILTER({tests})")


def refusal(pattern: ServicePattern, key: Key) -> str | None:
    """The reason why a key can never be sent, or `None` if it can."""
    if len(key) != len(pattern.key):
        return f"the key {key!r} has {len(key)} values, the pattern's key has {len(pattern.key)}"
    try:
        "".join(map(_term, key)).encode()
    except InputError as error:
        return f"never sent: {error}"
    except UnicodeEncodeError:
        return f"never sent: {key!r} holds half a character (a lone surrogate)"
    return None


def _term(encoded: str) -> str:
    term = decode(encoded)
    match term:
        case IRI(iri) | Literal(_, iri, None) if not _ABSOLUTE.match(iri):
            # The endpoint would resolve it against an address of its own: another key.
            raise InputError(f"{encoded!r} holds a relative IRI; a query needs an absolute one")
    return to_sparql(term)


def _select(variables: Sequence[str], body: str) -> str:
    return f"SELECT{_list(variables) or ' *'} WHERE {{\n{body}\n}}"


def _list(variables: Sequence[str]) -> str:
    return "".join(f" ?{name}" for name in variables)


def _body(pattern: ServicePattern) -> str:
    body = pattern.text if _is_direct(pattern) else f"{{\n{pattern.text}\n}}"
    # Lines of their own, so that a comment at the end of a text swallows no brace.
    return body + _optional(pattern)


def _optional(pattern: ServicePattern) -> str:
    return f"\nOPTIONAL {{\n{pattern.optional_text}\n}}" if pattern.optional_text.strip() else ""


def _is_direct(pattern: ServicePattern) -> bool:
    tokens = list(_TOKEN.finditer(pattern.text + _optional(pattern)))
    signs = "".join(_SIGNS.get(token[0].upper(), "") for token in tokens)
    return bool(_DIRECT.fullmatch(signs)) and _bound_first(tokens).issuperset(pattern.key)


def _bound_first(tokens: Sequence[re.Match[str]]) -> set[str]:
    """The variables before the first OPTIONAL, but for those in parentheses (a FILTER's)."""
    names: set[str] = set()
    parentheses = 0
    for token in tokens:
        if token[0].upper() == "OPTIONAL":
            break
        parentheses += (token[0] == "(") - (token[0] == ")")
        if _is_variable(token) and not parentheses:
            names.add(token[0][1:])
    return names


def _substitute(text: str, terms: dict[str, str]) -> str:
    def replace(token: re.Match[str]) -> str:
        known = terms.get(token[0][1:]) if _is_variable(token) else None
        # Blanks keep the term apart from what touched the variable.
        return token[0] if known is None else f" {known} "

    return _TOKEN.sub(replace, text)


def _is_variable(token: re.Match[str]) -> bool:
    return token.lastgroup == "variable"
