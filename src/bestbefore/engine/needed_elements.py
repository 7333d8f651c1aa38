"""Which elements of the streams a job keeps: those that a window can ever look at."""

from collections.abc import Iterable
from dataclasses import replace

from bestbefore.engine.schedule import counts_elements
from bestbefore.engine.state import ALL_ELEMENTS, State
from bestbefore.errors import StateError
from bestbefore.job.job import Job
from bestbefore.query import Describe, TripleShape
from bestbefore.rdf.terms import encode
from bestbefore.spark.columns import STREAM, TRIPLE
from bestbefore.spark.sql import all_of, one_of, quote
from bestbefore.windows.reports import ReportStrategy

_BY_CONTENT = (ReportStrategy.CONTENT_CHANGE, ReportStrategy.NON_EMPTY)


def needed_elements(job: Job) -> str:
    """The condition, in SQL, on the elements that are worth a place in the buffer.

    All are where their number counts, or all that a window holds.
    """
    whole = job.report.strategy in _BY_CONTENT or isinstance(job.query.form, Describe)
    if whole or counts_elements(job):
        return ALL_ELEMENTS
    conditions = [
        f"({one_of(STREAM, streams)} AND {_any_of(each.needed)})"
        for each, streams in zip(job.plan.windows, job.streams_of_windows(), strict=True)
    ]
    return " OR ".join(conditions) or "false"


def keeping_needed(state: State, job: Job) -> State:
    """A state whose buffer keeps what the job needs, unless it has left some of that out before."""
    needed = needed_elements(job)
    if state.batch >= 0 and state.needed not in (needed, ALL_ELEMENTS):
        raise StateError(
            f"the checkpoint {job.checkpoint} keeps only what the query's patterns look at, and "
            f"query.report = {job.report.strategy.value!r} looks at whole windows: leave the "
            "report as it was, or use another checkpoint.path"
        )
    return replace(state, needed=needed)


def _any_of(shapes: Iterable[TripleShape]) -> str:
    return f"({' OR '.join(map(_condition, shapes)) or 'false'})"


def _condition(shape: TripleShape) -> str:
    named = zip(TRIPLE, shape.terms, strict=True)
    return all_of(f"{place} = {quote(encode(term))}" for place, term in named if term)
