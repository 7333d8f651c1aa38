"""The prologue of a query: its prefixes and its base, and the IRIs they make of names."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin

from bestbefore.errors import nearest
from bestbefore.query.escapes import iri_value, local_value
from bestbefore.query.text import ABSOLUTE_IRI, Kind, Token, error_at


@dataclass(frozen=True, slots=True)
class Prologue:
    """What PREFIX and BASE declare."""

    prefixes: Mapping[str, str] = field(default_factory=dict)
    base: str | None = None

    def with_prefix(self, name: Token, iri: Token) -> "Prologue":
        """This prologue after `PREFIX name <iri>`."""
        prefix, _, local = name.text.partition(":")
        if local:
            raise error_at(
                name, f"the prefix {name} must end with ':'; write PREFIX {prefix}: {iri.text}"
            )
        return replace(self, prefixes={**self.prefixes, prefix: self.resolve(iri)})

    def with_base(self, iri: Token) -> "Prologue":
        """This prologue after `BASE <iri>`."""
        return replace(self, base=self.resolve_absolute(iri))

    def resolve(self, token: Token) -> str:
        """The IRI that a token names; without BASE a relative one stays as it is written."""
        if token.kind is Kind.NAME:
            return self._expand(token)
        try:
            return self.absolute(iri_value(token))
        except ValueError as problem:
            raise error_at(token, f"{token} does not resolve against BASE: {problem}") from None

    def absolute(self, iri: str) -> str:
        """An IRI resolved against the base, if there is one."""
        return iri if self.base is None or ABSOLUTE_IRI.match(iri) else urljoin(self.base, iri)

    def resolve_absolute(self, token: Token) -> str:
        """The absolute IRI that a token names; a relative one cannot name anything in RDF data."""
        iri = self.resolve(token)
        if not ABSOLUTE_IRI.match(iri):
            raise error_at(token, f"the IRI <{iri}> is relative; write it in full or declare BASE")
        return iri

    def _expand(self, token: Token) -> str:
        prefix, _, local = token.text.partition(":")
        if prefix not in self.prefixes:
            named = [each for each in self.prefixes if each]
            hint = f"; {nearest(prefix, named)}" if named and prefix else ""
            raise error_at(
                token, f"the prefix '{prefix}:' is not declared; add PREFIX {prefix}: <…>{hint}"
            )
        return self.prefixes[prefix] + local_value(local)
