"""What a query is evaluated on, and where: which graph, which evaluations and outer mappings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from bestbefore.query.algebra import Pattern, Service, Variable, Window
from bestbefore.rdf.terms import IRI, encode
from bestbefore.spark.columns import EVALUATION, FRESH, GRAPH, RANGE, TIME, TRIPLE
from bestbefore.spark.patterns.joins import join
from bestbefore.spark.patterns.solutions import Solutions
from bestbefore.spark.relation import Relation
from bestbefore.spark.sql import NO_TERM, call, name, quote


class TripleSource(Protocol):
    """What triple patterns are matched against: triples and the range of windows they count in."""

    def triples(self, wanted: str, parts: Sequence[str] = TRIPLE) -> Relation:
        """The triples that satisfy a condition, which differ in nothing but in `parts`.

        They have those of the columns `s`, `p`, `o`, the range `from_evaluation` to
        `to_evaluation`, and `time`, which may be null for a triple that is always there; those of
        named graphs also `g`, an encoded IRI. A store also has `fresh`, the probability of each.
        """
        ...


@dataclass(frozen=True)
class Dataset:
    """What the leaves of a pattern stand for: triples, or the mappings of a clause by its number.

    `origin` gives what is evaluated: one row per `evaluation`, or a single row with the range
    `from_evaluation` to `to_evaluation`. It is asked for by what has a solution where there is
    no triple: an empty group, VALUES, an aggregate of nothing. `graph_names` are the encoded IRIs
    of the named graphs, `units` the columns that name the units of each service, `join_keys` those
    that it was asked for.
    """

    graph: TripleSource | None = None
    windows: Sequence[Relation] = ()
    services: Sequence[Relation] = ()
    origin: Callable[[], Relation] | None = None
    named: TripleSource | None = None
    graph_names: tuple[str, ...] = ()
    units: Sequence[tuple[str, ...]] = ()
    join_keys: Sequence[tuple[str, ...]] = ()

    def mappings(self, clause: Window | Service) -> Relation:
        """The mappings of a clause."""
        assert clause.number is not None  # noqa: S101 - a plan numbers its clauses
        return (self.windows if isinstance(clause, Window) else self.services)[clause.number]

    def asked_for(self, clause: Service) -> frozenset[str]:
        """The columns that a SERVICE was asked for, where that is known."""
        known = clause.number is not None and len(self.join_keys) > clause.number
        return frozenset(self.join_keys[clause.number or 0]) if known else frozenset()


@dataclass(frozen=True)
class Context:
    """A dataset, the graph in use and, inside EXISTS, the mappings that are tested.

    `graph` is None for the default graph, an IRI for a named one, a variable for each of them; then
    `depth` tells the key columns of nested GRAPH clauses apart. `seeds` has a row per evaluation
    and outer mapping, with the outer variables as its names. `compile` gives the solutions of what
    stands inside other patterns.
    """

    dataset: Dataset
    compile: Callable[[Pattern, "Context"], Solutions]
    graph: IRI | Variable | None = None
    depth: int = 0
    seeds: Solutions | None = None

    @property
    def graph_key(self) -> str | None:
        """The column that names the graph of a row, if rows are of several."""
        return f"{GRAPH}{self.depth}" if isinstance(self.graph, Variable) else None

    def inside(self, graph: IRI | Variable) -> "Context":
        """The context of what stands inside a GRAPH clause."""
        return replace(self, graph=graph, depth=self.depth + 1)

    def unit(self) -> Solutions:
        """The solutions of the empty pattern: one empty mapping per evaluation."""
        unit = _origin(self.dataset) if self.seeds is None else self.seeds
        if isinstance(self.graph, IRI) and encode(self.graph) not in self.dataset.graph_names:
            return unit.filter("FALSE")
        if self.graph_key is None or self.graph_key in unit.keys:
            return unit
        names = ", ".join(map(quote, self.dataset.graph_names))
        named = unit.relation.extend({self.graph_key: f"explode(array({names}))"})
        known = named.filter(f"{self.graph_key} IS NOT NULL")
        return replace(unit, relation=known, keys=(*unit.keys, self.graph_key))

    def anchored(self, solutions: Solutions) -> Solutions:
        """Mappings that were found without regard to what is tested, joined with it."""
        return solutions if self.seeds is None else join(solutions, self.seeds)

    def showing(self, names: tuple[str, ...]) -> "Context":
        """The context inside a subquery, which sees only the outer variables that it selects."""
        if self.seeds is None:
            return self
        seen = [column for column in self.seeds.names if column in names]
        return replace(self, seeds=self.seeds.restricted(seen))

    def triples(
        self, wanted: str, columns: dict[str, str], parts: Sequence[str] = TRIPLE
    ) -> Solutions:
        """The triples of the graph in use that satisfy a condition, as the columns given in SQL.

        They differ in nothing but in `parts`.
        """
        keys = () if self.graph_key is None else (self.graph_key,)
        extras: tuple[str, ...] = (TIME,)
        if self.graph is not None and self.dataset.named is None:
            relation = self._nothing((*keys, *columns))
        else:
            source = self.dataset.graph if self.graph is None else self.dataset.named
            assert source is not None  # noqa: S101 - the plan gives a graph to every triple pattern
            if isinstance(self.graph, IRI):
                wanted = call("and", f"g = {quote(encode(self.graph))}", wanted)
            found = source.triples(wanted, parts)
            extras = tuple(column for column in (TIME, FRESH) if column in found.columns)
            own: dict[str, str] = {column: name(column) for column in (*RANGE, *extras)}
            own |= dict.fromkeys(keys, "g")
            relation = found.select(own | columns)
        return Solutions(relation, tuple(columns), frozenset(columns), keys, extras, ranged=True)

    def _nothing(self, columns: Sequence[str]) -> Relation:
        """What a named graph holds where there is none: no triple."""
        assert self.dataset.origin is not None  # noqa: S101 - as for `unit`
        own = dict.fromkeys((*RANGE, TIME), "bigint(NULL)")
        return self.dataset.origin().filter("FALSE").select(own | dict.fromkeys(columns, NO_TERM))


def _origin(dataset: Dataset) -> Solutions:
    """One empty mapping per evaluation, or one for the range of them."""
    assert dataset.origin is not None  # noqa: S101 - whoever evaluates knows for which windows
    relation = dataset.origin()
    ranged = EVALUATION not in relation.columns
    kept = RANGE if ranged else (EVALUATION,)
    return Solutions(relation.keep(kept), (), frozenset(), () if ranged else kept, (), ranged)
