"""What a summary is asked about: the triple patterns of a query, put together to stars."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bestbefore.errors import UnsupportedSparql
from bestbefore.query import parse_sparql, rewrite
from bestbefore.query.algebra import (
    BGP,
    Distinct,
    Join,
    OrderBy,
    Pattern,
    PatternTerm,
    Project,
    Reduced,
    Select,
    TriplePattern,
)
from bestbefore.query.expressions import Variable
from bestbefore.rdf.terms import BlankNode, encode


@dataclass(frozen=True, slots=True)
class Part:
    """A triple pattern as summaries see it: encoded terms where it binds, `?x` where it does not.

    >>> Part("?offer", "<http://example.org/price>", "?price").bound
    (None, '<http://example.org/price>', None)
    """

    s: str
    p: str
    o: str

    @property
    def terms(self) -> tuple[str, str, str]:
        """Subject, predicate and object."""
        return self.s, self.p, self.o

    @property
    def bound(self) -> tuple[str | None, str | None, str | None]:
        """The terms of subject, predicate and object, None for a variable."""
        s, p, o = (None if is_variable(term) else term for term in self.terms)
        return s, p, o

    def within(self, other: "Part") -> "Part | None":
        """The part of this one that is also in another, None if no triple is in both."""
        terms = []
        for mine, theirs in zip(self.terms, other.terms, strict=True):
            if is_variable(mine) and not is_variable(theirs):
                terms.append(theirs)
            elif is_variable(theirs) or mine == theirs:
                terms.append(mine)
            else:
                return None
        return Part(*terms)


@dataclass(frozen=True, slots=True)
class Star:
    """Triple patterns that share their subject."""

    parts: tuple[Part, ...]

    @property
    def subject(self) -> str:
        """What the parts share: an encoded term or a variable."""
        return self.parts[0].s


@dataclass(frozen=True, slots=True)
class Shape:
    """A query as far as summaries see it: its stars, and the pattern that gives the truth.

    `hidden` are the variables that a DISTINCT leaves out: rows that differ in these alone count
    once. Where it leaves out none, it has nothing to do: no two rows are equal.
    """

    stars: tuple[Star, ...]
    pattern: Pattern
    hidden: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """All triple patterns, star by star."""
        return tuple(part for star in self.stars for part in star.parts)


def is_variable(term: str) -> bool:
    """Whether the text of a pattern's term is that of a variable."""
    return term.startswith("?")


def read_shape(text: str) -> Shape:
    """The shape of a SELECT query over triple patterns; anything else is refused by its name."""
    form, pattern, _ = parse_sparql(text)
    if not isinstance(form, Select):
        raise UnsupportedSparql(f"{type(form).__name__.upper()}: the answers of SELECT are rows")
    pattern = rewrite(pattern)
    body, shown = _unwrapped(pattern)
    parts = tuple(dict.fromkeys(part_of(triple) for triple in _triples(body)))
    if not parts:
        raise UnsupportedSparql("the query has no triple pattern, so its answer is of no data")
    used = dict.fromkeys(term for part in parts for term in part.terms if is_variable(term))
    hidden = tuple(term for term in used if shown is not None and term not in shown)
    return Shape(stars_of(parts), pattern, hidden if isinstance(pattern, Distinct) else ())


def stars_of(parts: Sequence[Part]) -> tuple[Star, ...]:
    """Triple patterns by their subjects, in the order of their first mention."""
    by_subject = dict[str, list[Part]]()
    for part in parts:
        by_subject.setdefault(part.s, []).append(part)
    return tuple(Star(tuple(own)) for own in by_subject.values())


def _unwrapped(pattern: Pattern) -> tuple[Pattern, frozenset[str] | None]:
    """What the rows of a query are made of, and the variables that they show."""
    match pattern:
        case Project(inner, variables):
            return _unwrapped(inner)[0], frozenset(f"?{one.name}" for one in variables)
        case Distinct(inner) | Reduced(inner) | OrderBy(inner):
            return _unwrapped(inner)
    return pattern, None


def _triples(pattern: Pattern) -> Iterator[TriplePattern]:
    match pattern:
        case BGP(patterns):
            yield from patterns
        case Join(left, right):
            yield from _triples(left)
            yield from _triples(right)
        case _:
            raise UnsupportedSparql(
                f"{called(pattern)} is more than summaries know of; they answer SELECT over "
                "triple patterns"
            )


def called(pattern: Pattern) -> str:
    """What SPARQL calls a pattern."""
    words = {
        "LeftJoin": "OPTIONAL",
        "Slice": "LIMIT or OFFSET",
        "Extend": "BIND or an expression",
        "PathPattern": "a property path",
        "Project": "a subquery",
        "Distinct": "a subquery",
        "Reduced": "a subquery",
        "Group": "GROUP BY or an aggregate",
    }
    kind = type(pattern).__name__
    return words.get(kind, kind.upper())


def part_of(triple: TriplePattern) -> Part:
    """A triple pattern as summaries see it."""
    return Part(*map(_term, triple.terms))


def _term(term: PatternTerm) -> str:
    match term:
        case Variable(name):
            return f"?{name}"
        case BlankNode(label):
            return f"?_:{label}"
    return encode(term)
