"""The mappings of a WINDOW clause with their times, each when the first window has it."""

from dataclasses import replace

from bestbefore.errors import UnsupportedSparql
from bestbefore.query import WindowPlan
from bestbefore.spark.columns import FROM_EVALUATION, STREAM, TIME, TRIPLE
from bestbefore.spark.content import WindowContents, due_bound
from bestbefore.spark.patterns import Dataset, compile_solutions
from bestbefore.spark.relation import Relation, Statement
from bestbefore.windows import Instants

RECORDED_VIEW = "recorded_elements"
"""The view of the elements, apart from that of the query's own jobs."""


def timed_mappings(window: WindowPlan, instants: Instants, *, first: bool) -> Statement:
    """The mappings that the due windows have and the window before them, if any, had not.

    The columns are `time`, `from_evaluation`, and the variables and blank nodes of the pattern. The
    time is that of the earliest triple: when it leaves the window, the mapping does.
    """
    elements = Relation.table(RECORDED_VIEW, (TIME, *TRIPLE, STREAM))
    contents = WindowContents(elements, instants, (window.window.streams,))
    content = replace(contents.of(0), earlier=0 if first else 1)
    found = compile_solutions(window.pattern, Dataset(graph=content, origin=content.span))
    if not found.ranged or TIME not in found.extras:
        raise UnsupportedSparql(
            f"the pattern of the window <{window.window.name}> has mappings that do not come and "
            "go with triples of their own (OPTIONAL, MINUS, EXISTS, DISTINCT, aggregates, paths), "
            "and a trace has one time per mapping: record a query without them in its WINDOW"
        )
    columns: dict[str, str] = {TIME: TIME, FROM_EVALUATION: FROM_EVALUATION}
    new = f"{FROM_EVALUATION} >= {due_bound(0, FROM_EVALUATION)}"
    return found.relation.select(columns | found.columns).filter(new).distinct().statement()
