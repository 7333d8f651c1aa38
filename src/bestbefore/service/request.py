"""The query text of a SERVICE pattern: all of it, a batch of units, or one unit.

What is asked is put together as algebra and printed at the end, so a key is never anything but a
term in the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bestbefore.errors import InputError
from bestbefore.query import DatasetClause, print_sparql
from bestbefore.query.algebra import (
    OrderBy,
    OrderCondition,
    Pattern,
    Project,
    Select,
    Slice,
    Variable,
)
from bestbefore.query.matching import match, substitute
from bestbefore.query.scope import variables
from bestbefore.rdf.iris import is_absolute_iri
from bestbefore.rdf.terms import IRI, Key, Literal, decode, to_sparql


@dataclass(frozen=True, slots=True)
class ServicePattern:
    """What is asked of a service: a pattern, the columns wanted of it, and those that name a unit.

    The names are without `?`; an empty key makes the whole pattern one unit.
    """

    pattern: Pattern
    variables: tuple[str, ...]
    key: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.variables or len(set(self.variables)) < len(self.variables):
            raise InputError(f"a SERVICE pattern needs distinct variables, not {self.variables!r}")
        known = [variable.name for variable in variables(self.pattern)]
        if unknown := [name for name in self.variables if name not in known]:
            raise InputError(
                f"the SERVICE pattern has no variable {unknown[0]!r}; it has {', '.join(known)}"
            )
        for name in self.key:
            if name not in self.variables or self.key.count(name) > 1:
                raise InputError(
                    f"the key variable ?{name} must be named once and be one of the variables"
                    f" ({', '.join(self.variables)})"
                )

    @property
    def others(self) -> tuple[str, ...]:
        """The variables that are not part of the key."""
        return tuple(name for name in self.variables if name not in self.key)


def load_query(pattern: ServicePattern, *, limit: int | None = None, offset: int = 0) -> str:
    """The query for all mappings, or for one page of them in a fixed order."""
    if limit is None:
        return _select(pattern.variables, pattern.pattern)
    order = tuple(map(OrderCondition, _named(pattern.variables)))
    page = Project(OrderBy(pattern.pattern, order), _named(pattern.variables))
    return _print(pattern.variables, Slice(page, offset, limit))


def refresh_query(pattern: ServicePattern, keys: Sequence[Key]) -> str:
    """The query for all mappings of the units `keys`, as one VALUES block."""
    rows = (tuple(map(_value, key)) for key in keys)
    return _select(pattern.variables, match(pattern.pattern, _named(pattern.key), rows))


def single_query(pattern: ServicePattern, key: Key) -> str:
    """The query for one unit in SPARQL 1.0, which has no VALUES; its key columns are left out."""
    values = dict(zip(_named(pattern.key), map(_value, key), strict=True))
    return _select(pattern.others, substitute(pattern.pattern, values))


def refusal(pattern: ServicePattern, key: Key) -> str | None:
    """The reason why a key can never be sent, or `None` if it can."""
    if len(key) != len(pattern.key):
        return f"the key {key!r} has {len(key)} values, the pattern's key has {len(pattern.key)}"
    try:
        "".join(to_sparql(_value(encoded)) for encoded in key).encode()
    except InputError as error:
        return f"never sent: {error}"
    except UnicodeEncodeError:
        return f"never sent: {key!r} holds half a character (a lone surrogate)"
    return None


def _value(encoded: str) -> IRI | Literal:
    """The term behind an encoding, if a query can name it."""
    match decode(encoded):
        case (IRI(iri) | Literal(_, iri)) as term if is_absolute_iri(iri):
            return term
        case term:
            to_sparql(term)  # what no query can name is refused here
    # The endpoint would resolve it against an address of its own: another key.
    raise InputError(f"{encoded!r} holds a relative IRI; a query needs an absolute one")


def _select(names: Sequence[str], pattern: Pattern) -> str:
    return _print(names, Project(pattern, _named(names)))


def _print(names: Sequence[str], pattern: Pattern) -> str:
    return print_sparql(Select(_named(names)), pattern, DatasetClause())


def _named(names: Sequence[str]) -> tuple[Variable, ...]:
    return tuple(map(Variable, names))
