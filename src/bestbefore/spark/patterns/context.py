"""Where a pattern is evaluated: on which graph, and for which evaluations and outer mappings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import functions as F  # noqa: N812

from bestbefore.query.algebra import Variable
from bestbefore.rdf.terms import IRI, encode
from bestbefore.spark.columns import EVALUATION, FROM_EVALUATION, GRAPH, TIME, TO_EVALUATION, TRIPLE
from bestbefore.spark.patterns.dataset import Dataset
from bestbefore.spark.patterns.joins import join
from bestbefore.spark.patterns.solutions import Solutions
from bestbefore.spark.sql import aliased, name, quote


@dataclass(frozen=True)
class Context:
    """A dataset, the graph in use and, inside EXISTS, the mappings that are tested.

    `graph` is None for the default graph, an IRI for a named one, a variable for each of them; then
    `depth` tells the key columns of nested GRAPH clauses apart. `seeds` has a row per evaluation
    and outer mapping, with the outer variables as its names.
    """

    dataset: Dataset
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
        frame = unit.frame.selectExpr("*", f"explode(array({names})) AS {self.graph_key}")
        known = frame.filter(f"{self.graph_key} IS NOT NULL")
        return replace(unit, frame=known, keys=(*unit.keys, self.graph_key))

    def anchored(self, solutions: Solutions) -> Solutions:
        """Mappings that were found without regard to what is tested, joined with it."""
        return solutions if self.seeds is None else join(solutions, self.seeds)

    def showing(self, names: tuple[str, ...]) -> "Context":
        """The context inside a subquery, which sees only the outer variables that it selects."""
        if self.seeds is None:
            return self
        seen = [each for each in self.seeds.names if each in names]
        return replace(self, seeds=self.seeds.restricted(seen))

    def triples(
        self, wanted: str, columns: dict[str, str], parts: Sequence[str] = TRIPLE
    ) -> Solutions:
        """The triples of the graph in use that satisfy a condition, as the columns given in SQL.

        They differ in nothing but in `parts`.
        """
        source = self.dataset.graph if self.graph is None else self.dataset.named
        if source is None and self.graph is not None:
            return self._nothing(columns)
        assert source is not None  # noqa: S101 - the plan gives a graph to every triple pattern
        if isinstance(self.graph, IRI):
            wanted = f"g = {quote(encode(self.graph))} AND ({wanted})"
        keys = () if self.graph_key is None else (self.graph_key,)
        own = (FROM_EVALUATION, TO_EVALUATION, TIME, *(f"g AS {each}" for each in keys))
        frame = source.triples(F.expr(wanted), parts).selectExpr(*own, *aliased(columns))
        return Solutions(frame, tuple(columns), frozenset(columns), keys, (TIME,), ranged=True)

    def _nothing(self, columns: dict[str, str]) -> Solutions:
        """What a named graph holds where there is none: no triple."""
        assert self.dataset.origin is not None  # noqa: S101 - as for `unit`
        keys = () if self.graph_key is None else (self.graph_key,)
        texts = (f"CAST(NULL AS STRING) AS {name(column)}" for column in (*keys, *columns))
        own = (
            f"CAST(NULL AS BIGINT) AS {name(column)}"
            for column in (FROM_EVALUATION, TO_EVALUATION, TIME)
        )
        frame = self.dataset.origin().filter("FALSE").selectExpr(*own, *texts)
        return Solutions(frame, tuple(columns), frozenset(columns), keys, (TIME,), ranged=True)


def _origin(dataset: Dataset) -> Solutions:
    """One empty mapping per evaluation, or one for the range of them."""
    assert dataset.origin is not None  # noqa: S101 - whoever evaluates knows for which windows
    frame = dataset.origin()
    ranged = EVALUATION not in frame.columns
    kept = (FROM_EVALUATION, TO_EVALUATION) if ranged else (EVALUATION,)
    return Solutions(frame.select(*kept), (), frozenset(), () if ranged else kept, (), ranged)
