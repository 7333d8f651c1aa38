"""Job A of a batch: the mappings of the WINDOW clauses and their key statistics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bestbefore.query import QueryPlan, ServicePlan, WindowPlan
from bestbefore.query.algebra import BGP, Filter, Pattern, Window
from bestbefore.spark.columns import (
    EVALUATION,
    FINGERPRINT,
    FROM_EVALUATION,
    MAPPINGS,
    RANGE,
    REMAINING,
    TIME,
    TO_EVALUATION,
    column_of,
)
from bestbefore.spark.content import WindowContent, WindowContents
from bestbefore.spark.patterns import Dataset, Solutions, compile_solutions
from bestbefore.spark.relation import Relation, union_all
from bestbefore.spark.sql import all_of, name
from bestbefore.windows import ReportStrategy

SERVICE = "service"
# Rows of no service: the evaluations with a mapping, those that a report strategy asks for, and a
# number made of each triple that is new.
NON_EMPTY, REPORTED, FINGERPRINTS = -1, -2, -3
_COUNTED = {MAPPINGS: f"sum({MAPPINGS})"}


@dataclass(frozen=True)
class WindowMappings:
    """The mappings of a WINDOW clause, each with the range of due evaluations that find it.

    Equal ones are one row with their number, `mappings`; `remaining` is their L in the first of
    these evaluations. `each_once` says that no evaluation finds a mapping twice, `single` that
    every range is of one evaluation.
    """

    relation: Relation
    each_once: bool
    single: bool

    @property
    def variables(self) -> dict[str, str]:
        """The columns of the variables, in SQL."""
        return {one: name(one) for one in self.relation.columns if one.startswith("?")}

    def by_evaluation(self) -> Relation:
        """The mappings with one row per evaluation that finds them."""
        rest = {MAPPINGS: MAPPINGS, **self.variables}
        if self.single:
            return self.relation.select({EVALUATION: FROM_EVALUATION} | rest)
        spread = self.relation.select({EVALUATION: f"explode(sequence({', '.join(RANGE)}))"} | rest)
        return spread if self.each_once else _counted(spread)

    def lasting(self) -> Relation:
        """The mappings with one row per evaluation that finds them, and their L in it as `time`."""
        rest = {MAPPINGS: MAPPINGS, **self.variables}
        if self.single:
            return self.relation.select({EVALUATION: FROM_EVALUATION, TIME: REMAINING} | rest)
        each = {EVALUATION: f"explode(sequence({', '.join(RANGE)}))"}
        known = {FROM_EVALUATION: FROM_EVALUATION, REMAINING: REMAINING}
        left = f"{REMAINING} - ({EVALUATION} - {FROM_EVALUATION})"
        return self.relation.select(each | known | rest).select(
            {EVALUATION: EVALUATION, TIME: left} | rest
        )


def window_mappings(plan: WindowPlan, contents: WindowContents) -> WindowMappings:
    """The mappings of a WINDOW clause.

    Where windows differ in their slides, L does not go down with every evaluation; then there is
    one row per evaluation.
    """
    content = contents.of(plan.number)
    found = compile_solutions(plan.pattern, Dataset(graph=content, origin=content.span))
    kept = [column_of(variable.name) for variable in plan.outputs]
    each_once = _is_set(plan.pattern) and set(found.names) <= set(kept)
    found = found.restricted(kept)
    ranges = found.relation.select(_ranges(found, content) | found.columns)
    counted = ranges if each_once else _counted(ranges)
    if single := len(contents.instants.windows) > 1:
        counted = _spread(counted, plan, contents)
        counted = counted if each_once else _counted(counted)
    return WindowMappings(counted, each_once, single)


def _spread(ranges: Relation, plan: WindowPlan, contents: WindowContents) -> Relation:
    """The mappings with one row per evaluation, as a range of one."""
    rest: dict[str, str] = {
        column: name(column) for column in ranges.columns if column not in (*RANGE, REMAINING)
    }
    each = {EVALUATION: f"explode({contents.evaluations(plan.number)})"}
    known = {FROM_EVALUATION: FROM_EVALUATION, REMAINING: REMAINING}
    gone = f"{contents.own_number(plan.number, EVALUATION)} - {FROM_EVALUATION}"
    own = {**dict.fromkeys(RANGE, EVALUATION), REMAINING: f"{REMAINING} - ({gone})"}
    return ranges.select(each | known | rest).filter(contents.taking_place()).select(own | rest)


def _is_set(pattern: Pattern) -> bool:
    """Whether a pattern finds no mapping twice, whatever its graph: a graph has a triple once."""
    if isinstance(pattern, Filter):
        return _is_set(pattern.pattern)
    return isinstance(pattern, BGP)


def _counted(mappings: Relation) -> Relation:
    """Equal mappings as one row, with their number."""
    return mappings.group((one for one in mappings.columns if one != MAPPINGS), _COUNTED)


def _ranges(found: Solutions, content: WindowContent) -> dict[str, str]:
    """The range of windows of each mapping, its L in the first of them, and how many they are."""
    first, last = found.span
    lasting = f"{content.window.overlap}L"
    if TIME in found.extras:
        lasting = f"coalesce({content.remaining(first)}, {lasting})"
    elif not found.ranged:
        lasting = "1L"
    span = {FROM_EVALUATION: first, TO_EVALUATION: last}
    return {**span, REMAINING: lasting, MAPPINGS: found.carried(MAPPINGS)}


def key_statistics(
    plan: QueryPlan,
    contents: WindowContents,
    mappings: Sequence[WindowMappings],
    report: ReportStrategy = ReportStrategy.WINDOW_CLOSE,
) -> Relation:
    """Per service, join key and range of evaluations: how many mappings have which L.

    What a service is asked for after another is known when that one has answered.
    Rows of no service tell which evaluations have a mapping, where those of a service do not, and
    which of them are to be reported.
    """
    asked = (service for service in plan.services if service.after is None)
    parts = [_statistics(service, mappings) for service in asked]
    told = {number for service in plan.services if (number := _only_window(service)) is not None}
    parts += [
        one.relation.select(
            {SERVICE: f"{NON_EMPTY}"} | {column: column for column in RANGE}
        ).distinct()
        for number, one in enumerate(mappings)
        if number not in told
    ]
    return union_all([*parts, *_reported(plan, contents, report)])


def fingerprints(elements: Relation) -> Relation:
    """A number for each element, as rows of the key statistics; equal triples have the same."""
    return elements.select({SERVICE: f"{FINGERPRINTS}", FROM_EVALUATION: FINGERPRINT})


def telling_service(window: WindowPlan, plan: QueryPlan) -> int | None:
    """The service whose key statistics tell all that is known of a window's mappings, if one is."""
    for service in plan.services:
        if _only_window(service) == window.number and set(service.join_key) == {*window.outputs}:
            return service.number
    return None


def _only_window(service: ServicePlan) -> int | None:
    """The WINDOW clause that alone binds the join key of a service, if one does."""
    return service.bound_by.number if isinstance(service.bound_by, Window) else None


def _reported(
    plan: QueryPlan, contents: WindowContents, report: ReportStrategy
) -> Iterator[Relation]:
    """The evaluations that see a window with content, or with another content than before."""
    for window in plan.windows:
        content = contents.of(window.number)
        if report is ReportStrategy.NON_EMPTY:
            found = contents.seeing(content.filled(), window.number)
        elif report is ReportStrategy.CONTENT_CHANGE:
            found = contents.seeing(content.changes(), window.number, first_only=True)
        else:
            return
        yield found.select({SERVICE: f"{REPORTED}", **dict.fromkeys(RANGE, EVALUATION)})


def _statistics(plan: ServicePlan, mappings: Sequence[WindowMappings]) -> Relation:
    """Per join key of a service, how many mappings of its windows have which L, and when."""
    key = [column_of(variable.name) for variable in plan.join_key]
    number = _only_window(plan)
    if number is not None:
        counted = _of_keys(mappings[number].relation, key)
    else:
        counted = _of_joined(plan, mappings, key)
    columns = {key_column(n): name(column) for n, column in enumerate(key)}
    figures = {column: name(column) for column in (*RANGE, REMAINING, MAPPINGS)}
    return counted.select({SERVICE: f"{plan.number}", **figures, **columns})


def _of_keys(mappings: Relation, key: list[str]) -> Relation:
    """The mappings of one window, counted by join key."""
    own = (*RANGE, REMAINING, MAPPINGS)
    if set(mappings.columns) == {*own, *key}:
        return mappings
    return _counted(mappings.keep((*own, *key)))


def _of_joined(plan: ServicePlan, mappings: Sequence[WindowMappings], key: list[str]) -> Relation:
    """The mappings of what binds a join key, counted by evaluation and join key."""
    # Mappings that are joined last as the shorter does: L is to them as a time is.
    windows = [one.lasting() for one in mappings]
    present = union_all([windows[number].keep((EVALUATION,)) for number in plan.windows])
    found = compile_solutions(plan.bound_by, Dataset(windows=windows, origin=present.distinct))
    counted = found.relation.group(
        (EVALUATION, *key, TIME), {MAPPINGS: f"sum({found.carried(MAPPINGS)})"}
    )
    # Where BIND is an error there is nothing to ask for.
    asked = counted.filter(all_of(f"{name(column)} IS NOT NULL" for column in key))
    columns = {**dict.fromkeys(RANGE, EVALUATION), REMAINING: TIME, MAPPINGS: MAPPINGS}
    return asked.select(columns | {column: str(name(column)) for column in key})


def key_column(position: int) -> str:
    """The column of the statistics that has the value at a position of a join key."""
    return f"key{position}"
