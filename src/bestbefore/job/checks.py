"""Whether the parts of a job fit each other: policy, query, units and capacity."""

from bestbefore.errors import JobError, UnsupportedSparql
from bestbefore.job.job import ServiceJob
from bestbefore.maintenance import Need
from bestbefore.query import CountWindow, QueryPlan


def check_windows(plan: QueryPlan) -> None:
    """Refuse windows of so many elements beside others: they share no instants."""
    counted = [each for each in plan.windows if isinstance(each.window.extent, CountWindow)]
    if counted and len(plan.windows) > 1:
        raise UnsupportedSparql(
            f"the window <{counted[0].window.name}> counts elements and stands beside others; a "
            "query may have one WINDOW clause of so many elements, or any number of them in time"
        )


def check_service(job: ServiceJob) -> None:
    """Refuse a service whose parts contradict each other, and say what would fit."""
    given = {Need.FILTER} if job.threshold else set[Need]()
    job.policy.require(given, where="this query")
    if isinstance(job.window.extent, CountWindow) and job.view.change_interval_ms is None:
        raise JobError(
            f"the window <{job.window.name}> counts elements, so it has no width in time to stand "
            'for change intervals: give view.change_interval, for example "1h"'
        )
    if job.view.interval_predicate and len(job.refresh_key) != 1:
        raise JobError(
            "view.interval_predicate needs a subject, and a unit is named by several variables, "
            f"{_listed(job.refresh_key)}; use view.interval_variable or view.interval_file"
        )
    if job.policy.fetches_missing and job.refresh_key != job.join_key:
        raise JobError(
            f"policy {job.policy.name!r} fetches what the window needs and the view lacks, but "
            f"which {_listed(job.refresh_key)} belongs to a missing {_listed(job.join_key)} is "
            "unknown: leave view.refresh_key out, or use a proposer such as WSJ"
        )
    if job.view.capacity is not None and not job.policy.fetches_missing:
        raise JobError(
            f"view.capacity = {job.view.capacity}: such a view starts empty, and policy "
            f"{job.policy.name!r} never fetches what it lacks, so it would stay empty; use CWSJ, "
            "FWSJ or AW, for example 'MP(CWSJ,WBM,FRP)', or leave the capacity out"
        )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"?{name}" for name in names)
