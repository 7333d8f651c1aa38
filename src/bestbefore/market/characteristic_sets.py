"""Characteristic sets (CS, thesis section 3.4.1.3)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from bestbefore.arrays import Integers, Numbers
from bestbefore.market.counted_store import CountedStore
from bestbefore.market.packing import Columns
from bestbefore.market.predicate_counts import floats
from bestbefore.market.shapes import Part, Star
from bestbefore.market.summary import CannotAnswer, Renewed, StarEstimate, Summary, summaries
from bestbefore.parameters import check_at_least
from bestbefore.spark.columns import FRESH

_SET = ("subjects", "whole")


@dataclass(frozen=True, eq=False)
class CharacteristicSets:
    """Subjects grouped by their set of predicates.

    Per group its `subjects` and how many of them are wholly fresh (`whole`); per group and
    predicate the triples, the fresh ones and how many objects they have. The freshness of a star
    takes wholly fresh subjects for fresh, and the predicates of the others for independent.
    """

    names: tuple[str, ...]
    identity: Integers
    subjects: Numbers
    whole: Numbers
    place: Integers
    predicate: Integers
    total: Numbers
    fresh: Numbers
    objects_of: Numbers

    def star(self, star: Star, renewed: Renewed) -> StarEstimate:
        """The cardinalities of a star: the sum over all groups that have its predicates."""
        sums = np.zeros(3)
        wanted = [None if p is None else self._number(p) for _, p, _ in self._bound(star)]
        groups = np.arange(len(self.subjects))
        for predicate in filter(lambda one: one is not None, wanted):
            groups = np.intersect1d(groups, self.place[self.predicate == predicate])
        for group in groups.tolist():
            sums += self._of_group(group, wanted, star, renewed)
        if star.parts[0].bound[0] is not None and self.subjects.sum():
            sums /= self.subjects.sum()
        total, fresh, subjects = sums.tolist()
        return StarEstimate(total, fresh, subjects)

    def _of_group(
        self, group: int, wanted: Sequence[int | None], star: Star, renewed: Renewed
    ) -> tuple[float, float, float]:
        own = slice(*np.searchsorted(self.place, (group, group + 1)).tolist())
        subjects = float(self.subjects[group])
        cells = []
        for predicate, (_, _, o) in zip(wanted, self._bound(star), strict=True):
            chosen = self.predicate[own] == predicate
            if predicate is None:
                chosen = np.ones(len(chosen), dtype=np.bool_)
            total, fresh = (float(one[own][chosen].sum()) for one in (self.total, self.fresh))
            share = 1.0 if o is None else 1.0 / float(self.objects_of[own][chosen].sum())
            cells.append((total * share / subjects, fresh / total))
        rows = subjects * prod(rows for rows, _ in cells)
        fresh = _all_fresh([fresh for _, fresh in cells], self.whole[group] / subjects, renewed)
        single = bool((self.total[own] == subjects).all())
        if single and set(wanted) == set(self.predicate[own].tolist()) and not any(renewed):
            # Rows of all that its subjects have are as fresh as these are wholly.
            fresh = float(self.whole[group] / subjects)
        return rows, rows * fresh, min(subjects, rows)

    @staticmethod
    def _bound(star: Star) -> list[tuple[str | None, str | None, str | None]]:
        return [part.bound for part in star.parts]

    def _number(self, name: str) -> int:
        return self.names.index(name) if name in self.names else -1

    def objects(self, part: Part) -> float:
        """Characteristic sets say nothing of what objects have in common."""
        raise CannotAnswer(
            f"characteristic sets answer joins on one subject only, and {part.o} joins others"
        )

    def predicates(self) -> Sequence[str]:
        """The predicates of the store."""
        return self.names

    def updated(self, before: DataFrame, after: DataFrame) -> Summary:
        """The summary after a refresh; groups and cells that it does not have are left out."""
        changed = {name: getattr(self, name).copy() for name in (*_SET, "total", "fresh")}
        groups = {number: place for place, number in enumerate(self.identity.tolist())}
        cells = {
            cell: place
            for place, cell in enumerate(
                zip(self.place.tolist(), self.predicate.tolist(), strict=True)
            )
        }
        for sign, frame in ((-1, before), (1, after)):
            sets, own = _collected(_grouped(frame))
            for row in sets.to_pylist():
                if (group := groups.get(row["identity"])) is not None:
                    for name in _SET:
                        changed[name][group] += sign * row[name]
            for row in own.to_pylist():
                cell = groups.get(row["identity"], -1), self._number(row["p"])
                if cell in cells:
                    for name in ("total", "fresh"):
                        changed[name][cells[cell]] += sign * row[name]
        changed["fresh"] = np.clip(changed["fresh"], 0.0, changed["total"])
        return replace(self, **changed)

    def packed(self) -> tuple[dict[str, Any], Columns]:
        """The fields and columns that are written."""
        columns = {"identity": self.identity, "subjects": self.subjects, "whole": self.whole}
        columns |= {"size": np.bincount(self.place, minlength=len(self.subjects))}
        columns |= {name: getattr(self, name) for name in ("predicate", "total", "fresh")}
        return {"names": "\n".join(self.names)}, columns | {"objects_of": self.objects_of}

    @classmethod
    def unpacked(cls, fields: dict[str, Any], columns: Columns) -> Self:
        """The summary that was written."""
        whole = {
            name: columns[name].astype(np.float64)
            for name in (*_SET, "total", "fresh", "objects_of")
        }
        return cls(
            tuple(fields["names"].split("\n")) if fields["names"] else (),
            columns["identity"],
            place=np.repeat(np.arange(len(columns["size"])), columns["size"]),
            predicate=columns["predicate"],
            **whole,
        )


@summaries.register("CS")
@dataclass(frozen=True)
class CharacteristicSetsBuilder:
    """Characteristic sets: subjects by their predicates; answers joins on one subject.

    The rarest groups beyond so many `sets` are put together to one.
    """

    sets: int = 10_000
    makes: ClassVar[type[Summary]] = CharacteristicSets

    def __post_init__(self) -> None:
        check_at_least(1, sets=self.sets)

    def build(self, store: CountedStore) -> CharacteristicSets:
        """The summary of a store."""
        sets, cells = _collected(_limited(_grouped(store.triples), self.sets))
        names = sorted(set(cells["p"].to_pylist()))
        numbers = {name: number for number, name in enumerate(names)}
        identity = sets["identity"].to_numpy()
        places = np.searchsorted(identity, cells["identity"].to_numpy())
        return CharacteristicSets(
            tuple(names),
            identity,
            subjects=floats(sets["subjects"]),
            whole=floats(sets["whole"]),
            place=places,
            predicate=np.array([numbers[name] for name in cells["p"].to_pylist()], dtype=np.int64),
            total=floats(cells["total"]),
            fresh=floats(cells["fresh"]),
            objects_of=floats(cells["objects"]),
        )


def _all_fresh(freshness: Sequence[float], whole: float, renewed: Renewed) -> float:
    """How probably all triples of a row are fresh, some share of the stale ones refreshed."""
    common = min(whole, *freshness)
    if common >= 1.0:
        return 1.0
    others = prod(
        (own := (one - common) / (1.0 - common)) + part * (1.0 - own)
        for one, part in zip(freshness, renewed, strict=True)
    )
    return common + (1.0 - common) * others


def _grouped(store: DataFrame) -> DataFrame:
    """A row per subject: its triples, whether it is wholly fresh, and its group's identity."""
    names = "array_join(sort_array(collect_set(p)), ' ')"
    return store.groupBy("s").agg(
        expr(f"crc32(CAST({names} AS BINARY)) AS identity"),
        expr(f"aggregate(collect_list({FRESH}), 1D, (all, one) -> all * one) AS whole"),
        expr(f"collect_list(struct(p, o, {FRESH})) AS triples"),
    )


def _limited(subjects: DataFrame, sets: int) -> DataFrame:
    """The subjects with all but the largest groups put together."""
    sizes = subjects.groupBy("identity").agg(expr("count(1) AS size"))
    kept = sizes.orderBy(expr("size DESC"), "identity").limit(sets)
    kept = kept.selectExpr("identity", "TRUE AS kept")
    known = subjects.join(kept.hint("broadcast"), "identity", "left")
    return known.selectExpr(
        "s", "whole", "triples", "CASE WHEN kept THEN identity ELSE -1L END AS identity"
    )


def _collected(subjects: DataFrame) -> tuple[pa.Table, pa.Table]:
    """The counts per group, and those per group and predicate."""
    subjects = subjects.persist()
    sets = subjects.groupBy("identity").agg(
        expr("count(1) AS subjects"), expr("sum(whole) AS whole")
    )
    each = subjects.selectExpr("identity", "inline(triples)")
    counts = ("count(1) AS total", f"sum({FRESH}) AS fresh", "count(DISTINCT o) AS objects")
    cells = each.groupBy("identity", "p").agg(*map(expr, counts))
    found = sets.orderBy("identity").toArrow(), cells.orderBy("identity", "p").toArrow()
    subjects.unpersist()
    return found
