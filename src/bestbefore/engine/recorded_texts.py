"""What recorded traces say of keys and values: one text each, equal exactly if what it says is."""

import json
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from math import isnan

from bestbefore.job import Job
from bestbefore.query.algebra import Group, walk
from bestbefore.query.expressions import Aggregate, Variable
from bestbefore.rdf.lexical_forms import number_of
from bestbefore.rdf.terms import Row
from bestbefore.simulator.answers import AGGREGATES

NO_ROWS = ""
"""The value of a unit that the service has no rows of."""


def text_of(terms: Row) -> str:
    """A join key, a unit or an event: a single term as it is encoded, others as a JSON list.

    >>> text_of(("<u:1>",)), text_of(("<u:1>", None))
    ('<u:1>', '["<u:1>", null]')
    """
    if len(terms) == 1 and terms[0] is not None:
        return terms[0]
    return json.dumps(terms, ensure_ascii=False)


@dataclass(frozen=True)
class Measured:
    """A number of the service that the answers depend on, not on all that it says of a unit.

    `choose` takes one of those that a unit has, or None; `option` makes `simulate` look at it.
    """

    variable: str
    choose: Callable[[Set[float]], float | None]
    option: tuple[str, str]


def measured_in(job: Job) -> Measured | None:
    """What a FILTER compares, or an aggregate over the units of each join key is made of."""
    (service,) = job.services
    if threshold := service.threshold:
        # A unit passes with one of its rows: the one that is furthest on the right side decides.
        furthest = _greatest if threshold.op.startswith(">") else _least
        condition = f"{threshold.op}{threshold.number:.15g}"
        return Measured(threshold.variable.name, furthest, ("--filter", condition))
    if service.refresh_key == service.join_key:
        return None
    return next(_aggregates(job), None)


def _aggregates(job: Job) -> Iterator[Measured]:
    (service,) = job.services
    groups = (node for node in walk(job.plan.around) if isinstance(node, Group))
    for group in groups:
        for _, one in group.aggregates if {*group.keys} == {*service.plan.join_key} else ():
            match one:
                case Aggregate(function, Variable(name) as variable, distinct=False):
                    if variable in service.plan.variables and function.lower() in AGGREGATES:
                        yield Measured(name, _only, ("--aggregate", function.lower()))


def _greatest(numbers: Set[float]) -> float | None:
    return max(numbers, default=None)


def _least(numbers: Set[float]) -> float | None:
    return min(numbers, default=None)


def _only(numbers: Set[float]) -> float | None:
    one, *others = numbers or (None,)
    return None if others else one


@dataclass(frozen=True)
class ValueTexts:
    """The values of units, from their rows: a number that is measured, or else all that differs.

    `key` are the variables that name a unit; all of its rows have the same there.
    """

    variables: tuple[str, ...]
    key: tuple[str, ...]
    measured: Measured | None = None

    def of(self, rows: Sequence[Row]) -> str:
        """The value of a unit that has these rows."""
        if not rows:
            return NO_ROWS
        return self._number(rows) or self._whole(rows)

    def _number(self, rows: Sequence[Row]) -> str | None:
        if self.measured is None:
            return None
        column = self.variables.index(self.measured.variable)
        terms = sorted({term for row in rows if (term := row[column]) is not None})
        found = {number: term for term in terms if (number := number_of(term)) is not None}
        number = self.measured.choose({number for number in found if not isnan(number)})
        return None if number is None else found[number][1 : found[number].rindex('"')]

    def _whole(self, rows: Sequence[Row]) -> str:
        columns = [place for place, name in enumerate(self.variables) if name not in self.key]
        said = [tuple(row[column] for column in columns) for row in rows]
        if len(said) == len(columns) == 1:
            return text_of(said[0])
        return json.dumps(sorted(said, key=_order), ensure_ascii=False)


def _order(terms: Row) -> list[tuple[bool, str]]:
    return [(term is not None, term or "") for term in terms]
