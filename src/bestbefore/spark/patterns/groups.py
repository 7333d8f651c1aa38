"""GROUP BY: a mapping per group and evaluation."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.query.algebra import Group
from bestbefore.spark.columns import FRESH, MAPPINGS, PLACE, TIME, column_of
from bestbefore.spark.expressions import Scope
from bestbefore.spark.patterns.aggregates import Rows, freshness, prepared, summary
from bestbefore.spark.patterns.context import Context
from bestbefore.spark.patterns.solutions import Solutions, spread
from bestbefore.spark.sql import Cheap, aliased, name, quoted

_PRESENT = "present"


def grouped(group: Group, solutions: Solutions, scope: Scope, context: Context) -> Solutions:
    """The groups of the mappings, with their aggregates."""
    solutions = spread(solutions)
    rows = _rows(group, solutions, scope)
    if not group.keys:
        # There is one group per evaluation, also where there is no mapping.
        nothing = spread(context.unit()).frame.selectExpr(
            *quoted(solutions.keys), f"FALSE AS {_PRESENT}"
        )
        rows = rows.unionByName(nothing, allowMissingColumns=True)
    by = tuple(column_of(each.name) for each in group.keys)
    extras = tuple(each for each in (TIME, FRESH) if each in solutions.extras)
    parts, results = _summaries(group, solutions)
    carried = {TIME: f"max({name(TIME)})", FRESH: freshness(FRESH)}
    parts |= {each: carried[each] for each in extras}
    own = (*solutions.keys, *by)
    found = rows.groupBy(*quoted(own)).agg(*map(F.expr, aliased(parts) or ["1 AS `one`"]))
    frame = found.selectExpr(*quoted((*own, *extras)), *aliased(results))
    names = (*by, *results)
    return Solutions(frame, names, solutions.bound & {*by}, solutions.keys, extras)


def _rows(group: Group, solutions: Solutions, scope: Scope) -> DataFrame:
    """The mappings with what their aggregates look at."""
    known = (*solutions.keys, *solutions.extras, *solutions.names)
    columns = {each: str(name(each)) for each in known}
    columns |= {column_of(each.name): solutions.column(column_of(each.name)) for each in group.keys}
    columns |= {
        _argument(place): prepared(aggregate, scope)
        for place, (_, aggregate) in enumerate(group.aggregates)
    }
    return solutions.frame.selectExpr(*aliased(columns), f"TRUE AS {_PRESENT}")


def _summaries(group: Group, solutions: Solutions) -> tuple[dict[str, str], dict[str, str]]:
    """What Spark aggregates, by name, and the terms made of it, by the column of their variable."""
    rows = Rows(
        present=_PRESENT,
        weight=solutions.carried(MAPPINGS),
        place=solutions.carried(PLACE),
        names=solutions.variables,
    )
    parts, results = dict[str, str](), dict[str, str]()
    for place, (variable, aggregate) in enumerate(group.aggregates):
        each = summary(aggregate, _argument(place), rows)
        names = [f"part{place}_{number}" for number, _ in enumerate(each.parts)]
        parts |= dict(zip(names, each.parts, strict=True))
        results[column_of(variable.name)] = each.term(*(Cheap(name(part)) for part in names))
    return parts, results


def _argument(place: int) -> str:
    return f"argument{place}"
