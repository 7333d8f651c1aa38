"""What the runs come to: a row of figures per contender, and the sentence that compares them."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from bestbefore.demo.contenders import Contender
from bestbefore.demo.live_run import Run


@dataclass(frozen=True, slots=True)
class Score:
    """The means over a contender's evaluations but the first, which fills the view.

    Freshness counts the evaluations with rows.
    """

    contender: Contender
    evaluations: int
    freshness: float
    estimated: float
    completeness: float
    requests: int
    latency_s: float
    service_s: float

    @property
    def requests_each(self) -> float:
        """The requests of one evaluation."""
        return self.requests / self.evaluations


def score(run: Run) -> Score:
    """Sum up a run."""
    evaluations = run.evaluations[1:] or run.evaluations
    records = [evaluation.quality for evaluation in evaluations]
    return Score(
        contender=run.contender,
        evaluations=len(records),
        freshness=_mean(evaluation.true_freshness for evaluation in evaluations),
        estimated=_mean(record.estimated_freshness for record in records),
        completeness=_mean(record.completeness for record in records),
        requests=sum(record.requests for record in records),
        latency_s=_mean(evaluation.latency_s for evaluation in evaluations),
        service_s=_mean(record.service_s for record in records),
    )


def _mean(values: Iterable[float | None]) -> float:
    """The mean of what is known, 0 where nothing is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else 0.0


def conclusion(never: Score, best: Score, everything: Score) -> str:
    """What the figures say, in one sentence."""
    head = (
        f"{best.contender.policy} gave answers that were {best.freshness:.0%} fresh with "
        f"{best.requests_each:.0f} requests per evaluation"
    )
    return f"{head}: {_against_never(best, never)}, and {_against_everything(best, everything)}."


def _against_never(best: Score, never: Score) -> str:
    points = round(100 * best.freshness) - round(100 * never.freshness)
    if points == 0:
        return "as fresh as without any refresh"
    return f"{abs(points)} points {'more' if points > 0 else 'less'} than without any refresh"


def _against_everything(best: Score, everything: Score) -> str:
    reached = f"asking for everything reached {everything.freshness:.0%}"
    if not best.requests or not everything.requests:
        return f"{reached} with {everything.requests_each:.0f}"
    times = everything.requests_each / best.requests_each
    longer = everything.latency_s - best.latency_s
    cost = f"with {times:.1f} times as many" if times >= 1.05 else "with no more of them"
    if longer >= 0.05:
        return f"{reached} {cost} and answered {longer:.1f} s later"
    return f"{reached} {cost}, no later"
