"""The cached store: triples with the probability that each is fresh, as a DataFrame.

Columns `s`, `p`, `o` hold encoded terms, `fresh` is 1 for a fresh triple, 0 for a stale one, or
between where only a probability is known. The store is a graph: a repeated triple counts once.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from bestbefore.errors import InputError, WorkError, excerpt
from bestbefore.spark.columns import FRESH, TRIPLE
from bestbefore.spark.ntriples import encoded, statements, unescaped
from bestbefore.spark.payloads import DOCUMENT, TRIPLES, with_triples
from bestbefore.spark.reasons import reason_of
from bestbefore.spark.sql import Cheap, aliased
from bestbefore.storage import local_path

T = TypeVar("T")
Notice = Callable[[str], object]
"""What is called with a line about something that the user may want to know."""

# The signs that begin what is no name in a path.
_GLOB = re.compile(r"[*?\[{]")
_STATEMENT = Cheap("statement")
_PLACE = {
    "file": "_metadata.file_path",
    "block": "_metadata.file_block_start",
    "place": "monotonically_increasing_id()",
}
_WAY_OUT = "write a triple as in N-Triples, `<s> <p> <o> .`, or remove the line"


def read_store(spark: SparkSession, data: str, stale: str | None, *, notice: Notice) -> DataFrame:
    """The store that files describe: N-Triples with a file of the stale ones, or Parquet.

    Parquet has the columns s, p, o and `fresh`. A line that is no triple is refused with its
    number; `notice` hears of stale triples that the data do not have.
    """
    check_paths(data, stale)
    if stale is None:
        columns = _reading(data, lambda: spark.read.parquet(_as_it_is(spark, data)))
        return flagged(columns, what=data)
    return _marked(_lines(spark, data), _lines(spark, stale), notice)


def check_paths(data: str, stale: str | None) -> None:
    """Refuse files that are not there, and data of which nobody says what is stale."""
    parquet = data.rstrip("/").endswith(".parquet")
    if parquet and stale is not None:
        raise InputError(f"--stale {stale}: {data} has its flags in the column 'fresh'")
    for path in filter(None, (data, stale)):
        local = local_path(path)
        globbed = _GLOB.search(path) is not None
        if local is not None and not globbed and not Path(local).exists():
            raise InputError(f"no such file: {path}")
    if not parquet and stale is None:
        raise InputError(
            f"{data}: which of its triples are stale? Name the file with --stale STALE.nt; it may "
            "be empty"
        )


def flagged(triples: DataFrame, *, what: str = "the triples") -> DataFrame:
    """A store of a DataFrame with columns s, p, o and `fresh`, a flag or a probability."""
    lacking = [name for name in (*TRIPLE, FRESH) if name not in triples.columns]
    if lacking:
        raise InputError(
            f"{what}: no column {lacking[0]!r}; a store has s, p, o, with terms written as in "
            "N-Triples, and fresh, a flag or a probability"
        )
    number = f"CAST({FRESH} AS DOUBLE)"
    # Of a triple that is there twice, once fresh and once stale, nobody knows more than that.
    store = triples.groupBy(*TRIPLE).agg(expr(f"min({number}) AS {FRESH}")).persist()
    wrong = store.filter(f"coalesce(NOT {FRESH} BETWEEN 0 AND 1, TRUE)").take(1)
    if wrong:
        told = f"of {excerpt(' '.join(str(wrong[0][part]) for part in TRIPLE))}"
        raise InputError(f"{what}: fresh = {wrong[0][FRESH]} {told}; it must lie between 0 and 1")
    return store


def affected(before: DataFrame, refreshed: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The triples of all subjects of which one was refreshed: as they were, and as they are.

    `refreshed` has the columns of a store and replaces what `before` says of its triples.
    """
    subjects = refreshed.select("s").distinct()
    was = before.join(subjects, "s", "left_semi").select(*TRIPLE, FRESH)
    new = refreshed.selectExpr(*TRIPLE, f"CAST({FRESH} AS DOUBLE) AS {FRESH}")
    return was, was.join(new, list(TRIPLE), "left_anti").unionByName(new)


def _marked(data: "Lines", stale: "Lines", notice: Notice) -> DataFrame:
    """The triples of the data, each once, with those that are also stale marked."""
    both = (
        data.triples()
        .selectExpr(*TRIPLE, "TRUE AS had", "FALSE AS old")
        .unionByName(stale.triples().selectExpr(*TRIPLE, "FALSE AS had", "TRUE AS old"))
    )
    found = both.groupBy(*TRIPLE).agg(expr("max(had) AS had"), expr("max(old) AS old")).persist()
    unusual = found.filter("s IS NULL OR NOT had").selectExpr("count(s)", "count(1)")
    unknown, counted = _reading(data.path, lambda: unusual.collect()[0])
    if counted > unknown:
        data.refuse_wrong()
        stale.refuse_wrong()
    if unknown:
        notice(f"{stale.path}: not in the data, and counted for nothing: {unknown} of its triples")
    return found.filter("had").selectExpr(*TRIPLE, f"CAST(NOT old AS DOUBLE) AS {FRESH}")


@dataclass(frozen=True)
class Lines:
    """The lines of N-Triples files, with their places and the `triples` that each holds.

    These are null in a line that is wrong.
    """

    path: str
    judged: DataFrame

    def triples(self) -> DataFrame:
        """The triples, with null terms for lines that are wrong.

        Blank nodes keep their labels, so that the file of stale triples can name those of the data.
        """
        # Spark reads a line once: it pushes no condition below what it explodes.
        found = f"CASE WHEN {TRIPLES} IS NULL THEN array(NULL) ELSE {statements(TRIPLES)} END"
        each = self.judged.selectExpr(f"explode({found}) AS {_STATEMENT}")
        cut = each.selectExpr(f"split({unescaped(_STATEMENT)}, ' ', 3) AS terms")
        s, p, o = (Cheap(f"get(terms, {number})") for number in range(3))
        return cut.selectExpr(*aliased(encoded(s, p, o)))

    def refuse_wrong(self) -> None:
        """Refuse files with a line that is no triple; its number is found by counting on Spark."""
        wrong = self.judged.filter(f"{TRIPLES} IS NULL")
        first = wrong.orderBy("file", "block", "place").take(1)
        if not first:
            return
        file, block, place, line = first[0][:4]
        own = self.judged.filter(self.judged["file"] == file)
        before = own.filter(own["block"] < block).count()
        (begins,) = own.filter(own["block"] == block).selectExpr("min(place)").collect()[0]
        number, name = before + place - begins + 1, local_path(file) or file
        raise InputError(f"{name}, line {number}: {excerpt(line)} is no triple; {_WAY_OUT}")


def _lines(spark: SparkSession, path: str) -> Lines:
    lines = _reading(path, lambda: spark.read.text(_as_it_is(spark, path)))
    text = "trim(LEADING '\\ufeff' FROM value)"
    # What is not UTF-8 is no triple.
    valid = f"CASE WHEN is_valid_utf8({text}) THEN {text} ELSE '?' END"
    columns = {**_PLACE, "line": f"make_valid_utf8({text})", DOCUMENT: valid}
    return Lines(path, with_triples(lines.selectExpr(*aliased(columns)), "ntriples"))


def _as_it_is(spark: SparkSession, path: str) -> str:
    """A path from the root on, as Spark may have been started in another folder.

    What Spark keeps of its files was read before, and they may have changed since.
    """
    local = local_path(path)
    whole = path if local is None else str(local.absolute())
    spark.catalog.refreshByPath(_GLOB.split(whole)[0])
    return whole


def _reading(path: str, read: Callable[[], T]) -> T:
    """What is read; that Spark cannot is said in one line."""
    try:
        return read()
    except (PySparkException, Py4JError) as error:
        raise WorkError(f"{path} cannot be read: {reason_of(str(error))}") from None
