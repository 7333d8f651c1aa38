"""Summaries: what keeps total and fresh cardinalities of a store, and answers without it.

A summary is built by Spark jobs, is frozen, has a size, and is saved and loaded. `estimate` puts
its answers for stars together to that for a query.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass
from typing import Any, ClassVar, Protocol, Self

from pyspark.sql import DataFrame

from bestbefore.errors import InputError, nearest
from bestbefore.maintenance.policy_names import split_names
from bestbefore.market.counted_store import CountedStore
from bestbefore.market.packing import Columns, pack, seal_summaries, unpack, unseal_summaries
from bestbefore.market.shapes import Part, Star
from bestbefore.parameters import check_values, read_values
from bestbefore.registry import Registry

Renewed = Sequence[float]
"""For each triple pattern, the share of its stale triples that are taken to be refreshed."""


class CannotAnswer(InputError):
    """A shape that a summary has no answer for."""


@dataclass(frozen=True, slots=True)
class StarEstimate:
    """The cardinalities of a star, and how many subjects it has."""

    total: float
    fresh: float
    subjects: float


class Summary(Protocol):
    """Total and fresh cardinalities of a store, as fine as a kind of summary keeps them."""

    def star(self, star: Star, renewed: Renewed) -> StarEstimate:
        """The cardinalities of a star, some share of its stale triples refreshed."""
        ...

    def objects(self, part: Part) -> float:
        """How many different objects the triples of a pattern have."""
        ...

    def predicates(self) -> Sequence[str]:
        """The predicates of the store."""
        ...

    def updated(self, before: DataFrame, after: DataFrame) -> "Summary":
        """The summary after a refresh: the triples of all affected subjects, before and after."""
        ...

    def packed(self) -> tuple[dict[str, Any], Columns]:
        """The fields and columns that are written."""
        ...

    @classmethod
    def unpacked(cls, fields: dict[str, Any], columns: Columns) -> Self:
        """The summary that was written."""
        ...


class Builder(Protocol):
    """A kind of summary with its parameters, a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    makes: ClassVar[type[Summary]]

    def build(self, store: CountedStore) -> Summary:
        """The summary of a store."""
        ...


summaries: Registry[type[Builder]] = Registry("summary", InputError)


@dataclass(frozen=True, slots=True)
class NamedBuilder:
    """A builder and what the user calls it: `SPM`, `QTree(bmax=500)`."""

    name: str
    builder: Builder


def resolve_summaries(text: str) -> list[NamedBuilder]:
    """The builders that a list of names stands for; upper and lower case are the same."""
    found = {one.name: one for one in map(resolve_summary, split_names(text))}
    return list(found.values())


def resolve_summary(text: str) -> NamedBuilder:
    """The builder behind a name such as `SPM` or `QTree(bmax=500)`."""
    written, _, rest = text.partition("(")
    name = _known(written.strip())
    texts = split_names(rest.rstrip().removesuffix(")")) if rest else []
    owner, kind = f"summary {name!r}", summaries[name]
    values = read_values(owner, kind, filter(None, texts))
    check_values(owner, kind, values)
    stated = ",".join(f"{key}={value}" for key, value in values.items())
    return NamedBuilder(f"{name}({stated})" if stated else name, kind(**values))


def default_names() -> str:
    """All kinds of summaries."""
    return ",".join(summaries)


def build_summaries(store: DataFrame, builders: Iterable[NamedBuilder]) -> dict[str, Summary]:
    """The summaries of a store by their names."""
    counted = CountedStore(store)
    try:
        return {one.name: one.builder.build(counted) for one in builders}
    finally:
        counted.release()


def pack_summary(summary: Summary) -> bytes:
    """A summary as it is written; its size is what it takes."""
    return pack(*summary.packed())


def save_summaries(found: Mapping[str, Summary]) -> bytes:
    """Summaries as the content of a file."""
    return seal_summaries({name: pack_summary(one) for name, one in found.items()})


def load_summaries(content: bytes, where: str, names: str | None = None) -> dict[str, Summary]:
    """The summaries of a file, all or those that a list names; a message calls the file `where`."""
    packed = unseal_summaries(content, where)
    folded = {name.casefold(): name for name in packed}
    wanted = list(packed) if names is None else split_names(names)
    found = dict[str, Summary]()
    for written in wanted:
        if (name := folded.get(written.casefold())) is None:
            raise InputError(f"{where} has no summary {written!r}; {nearest(written, packed)}")
        found[name] = summaries[_known(name.partition("(")[0])].makes.unpacked(
            *unpack(packed[name])
        )
    return found


def _known(written: str) -> str:
    folded = {name.casefold(): name for name in summaries}
    if written.casefold() not in folded:
        raise InputError(f"unknown summary {written!r}; {nearest(written, summaries)}")
    return folded[written.casefold()]
