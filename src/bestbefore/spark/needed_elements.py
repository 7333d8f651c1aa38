"""Which elements of the streams are kept: those that a window can ever look at."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bestbefore.query import TripleShape
from bestbefore.rdf.terms import encode
from bestbefore.spark.columns import STREAM, TRIPLE
from bestbefore.spark.sql import call, quote

Shape = tuple[str | None, str | None, str | None]
"""The terms of a triple as the buffer holds them; None is any term."""

ANY: Shape = (None, None, None)


@dataclass(frozen=True)
class NeededElements:
    """The shapes of the triples that are needed, by the IRI of their stream."""

    shapes: Mapping[str, tuple[Shape, ...]] = field(default_factory=dict)

    def beyond(self, kept: "NeededElements") -> Iterator[tuple[str, Shape]]:
        """What of these was left out where only some others were kept."""
        for stream, shapes in self.shapes.items():
            for shape in shapes:
                if not any(_covers(other, shape) for other in kept.shapes.get(stream, ())):
                    yield stream, shape

    @property
    def condition(self) -> str:
        """The condition, in SQL, on the elements that are worth their room in the buffer."""
        conditions = [
            call("and", f"{STREAM} = {quote(stream)}", " OR ".join(map(_condition, shapes)))
            for stream, shapes in self.shapes.items()
            if shapes
        ]
        return " OR ".join(conditions) or "false"


def shape_of(triple: TripleShape) -> Shape:
    """The shape with its terms as the buffer holds them."""
    subject, predicate, object_ = (None if term is None else encode(term) for term in triple.terms)
    return subject, predicate, object_


def _covers(shape: Shape, other: Shape) -> bool:
    return all(mine in (None, theirs) for mine, theirs in zip(shape, other, strict=True))


def _condition(shape: Shape) -> str:
    named = zip(TRIPLE, shape, strict=True)
    return " AND ".join(f"{column} = {quote(term)}" for column, term in named if term) or "true"
