"""What tokens name: IRIs by the prologue of a query, the values of strings, names of variables."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bestbefore.errors import nearest
from bestbefore.query.grammar.tokens import Kind, Token
from bestbefore.rdf.iris import FORBIDDEN_IN_IRI, SCHEME, resolve_iri

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
# A middle dot may stand inside the name of a variable, so any SPARQL engine reads `?_·p1`, and no
# one writes it: it is the hidden variable `.p1`.
_HIDDEN = "_\u00b7"


@dataclass(frozen=True, slots=True)
class Prologue:
    """What PREFIX and BASE declare."""

    prefixes: Mapping[str, str] = field(default_factory=dict)
    base: str | None = None

    def with_prefix(self, name: Token, iri: Token) -> "Prologue":
        """This prologue after `PREFIX name <iri>`."""
        prefix, _, local = name.text.partition(":")
        if local:
            advice = f"write PREFIX {prefix}: {iri.text}"
            raise name.error(f"the prefix {name} must end with ':'; {advice}")
        return replace(self, prefixes={**self.prefixes, prefix: self.resolve(iri)})

    def with_base(self, iri: Token) -> "Prologue":
        """This prologue after `BASE <iri>`."""
        return replace(self, base=self.resolve_absolute(iri))

    def resolve(self, token: Token) -> str:
        """The IRI that a token names; without BASE a relative one stays as it is written."""
        return self._expand(token) if token.kind is Kind.NAME else self.absolute(iri_value(token))

    def absolute(self, iri: str) -> str:
        """An IRI resolved against the base, if there is one."""
        return iri if self.base is None else resolve_iri(iri, self.base)

    def resolve_absolute(self, token: Token) -> str:
        """The absolute IRI that a token names; a relative one cannot name anything in RDF data."""
        iri = self.resolve(token)
        if not SCHEME.match(iri):
            raise token.error(f"the IRI <{iri}> is relative; write it in full or declare BASE")
        return iri

    def _expand(self, token: Token) -> str:
        prefix, _, local = token.text.partition(":")
        if prefix not in self.prefixes:
            named = [name for name in self.prefixes if name]
            hint = f"; {nearest(prefix, named)}" if named and prefix else ""
            message = f"the prefix '{prefix}:' is not declared; add PREFIX {prefix}: <…>{hint}"
            raise token.error(message)
        return self.prefixes[prefix] + local_value(local)


def string_value(token: Token) -> str:
    """The value of a string token, without its quotes."""
    quotes = 3 if token.text[:3] in ('"""', "'''") else 1
    return _unescape(token, token.text[quotes:-quotes])


def iri_value(token: Token) -> str:
    """The text between the angle brackets of an IRI token."""
    value = _unescape(token, token.text[1:-1])
    if forbidden := FORBIDDEN_IN_IRI.search(value):
        raise token.error(f"the IRI {token} holds {forbidden[0]!r}; write it percent-encoded")
    return value


def local_value(local: str) -> str:
    """The local part of a prefixed name, in which a backslash only protects a character."""
    return re.sub(r"\\(.)", r"\1", local)


def read_name(text: str) -> str:
    """The name of a variable whose text is given without its question mark."""
    return f".{text.removeprefix(_HIDDEN)}" if text.startswith(_HIDDEN) else text


def spell_name(name: str) -> str:
    """The text of a variable without its question mark."""
    return f"{_HIDDEN}{name[1:]}" if name.startswith(".") else name


def _unescape(token: Token, text: str) -> str:
    def character(escape: re.Match[str]) -> str:
        code = escape[1] or escape[2]
        if code is None and escape[3] in "tbnrf\"'\\":
            return _CHARACTERS.get(escape[3], escape[3])
        if code is None or not _is_character(int(code, 16)):
            message = f"{escape[0]!r} in {token} is not an escape; for a backslash write \\\\"
            raise token.error(message)
        return chr(int(code, 16))

    return _ESCAPE.sub(character, text) if "\\" in text else text


def _is_character(code: int) -> bool:
    return 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
