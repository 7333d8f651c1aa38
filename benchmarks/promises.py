"""What a job promises and what it keeps: deadlines, and freshness against the requests it takes.

Live runs of the demo's query in the demo's world: a real SPARQL server whose data change all the
time, behind a front that takes as long as a remote endpoint. Nobody states a budget.
"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from bestbefore.demo.contenders import Contender
from bestbefore.demo.live_run import Evaluation, Stage, run_contender, warm_up
from bestbefore.demo.world import running_world
from bestbefore.spark.session import local_session

USERS, MENTIONS_PER_SECOND, SEED = 240, 1_400, 7
SECONDS = 25
DEADLINE_MS, SLOW_MS, QUICK_MS = 2_000, 200, 40
WANTED = (0.5, 0.7, 0.8, 0.9, 0.95)
# The first evaluations fill the view and find out how long requests take.
WARM = 3


@dataclass(frozen=True, slots=True)
class Promise(Contender):
    """A job that has promises instead of a budget."""

    qos: str = ""
    ahead: bool = False

    def job_text(self, *, endpoint: str, t0_ms: int, seed: int) -> str:
        """The job file of the demo, with what is promised in the place of the budget."""
        text = Contender.job_text(self, endpoint=endpoint, t0_ms=t0_ms, seed=seed)
        head, _, rest = text.partition("[budget]\n")
        view = rest.partition("[view]\n")[2]
        return (
            f"{head}[budget]\nahead = {str(self.ahead).lower()}\n[qos]\n{self.qos}\n[view]\n{view}"
        )


PLAIN = Contender("warm", "warm", "warm", "WSJ-WBM", 16, USERS, "#000000")


def main() -> None:
    """Print how promises were kept."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        spark = local_session(name="bestbefore benchmark", log=Path(folder) / "spark.log")
        for delay_ms, measure in ((SLOW_MS, deadlines), (QUICK_MS, freshness)):
            with running_world(users=USERS, seed=SEED, delay_ms=delay_ms) as world:
                stage = Stage(spark, world, Path(folder), USERS, MENTIONS_PER_SECOND, SEED)
                warm_up(stage, PLAIN)
                console.print(measure(stage))
        spark.stop()


def deadlines(stage: Stage) -> Table:
    """How many answers were in time, with γ found by the engine and, for comparison, without."""
    table = Table(title=f"Deadline {DEADLINE_MS} ms, {SLOW_MS} ms per request, 16 connections")
    for name in ("", "within", "median", "p95", "γ found", "requests", "true freshness"):
        table.add_column(name, justify="right" if name else "left")
    late = f'deadline = "{DEADLINE_MS}ms"'
    cases = {
        "deadline": (late, False),
        "deadline, ahead of time": (late, True),
        "no deadline, all that is stale": ("freshness = 0.99", False),
    }
    for name, (qos, ahead) in cases.items():
        found = _run(stage, "WSJ-LRU", qos, ahead=ahead)
        latency = np.array([1000 * each.latency_s for each in found])
        budgets = [each.quality.budget for each in found]
        shown = f"{int(np.median(budgets))}" if "deadline =" in qos else "–"
        table.add_row(
            name,
            f"{np.mean(latency <= DEADLINE_MS):.0%}",
            *(f"{value:.0f} ms" for value in np.percentile(latency, (50, 95))),
            shown,
            _mean([each.quality.requests for each in found], ".0f"),
            _mean([each.true_freshness for each in found], ".1%"),
        )
    return table


def freshness(stage: Stage) -> Table:
    """The requests that a wanted freshness took, and what it came to."""
    table = Table(title=f"Wanted freshness, {QUICK_MS} ms per request (means per evaluation)")
    for name in ("wanted", "requests", "estimated", "true", "alerts"):
        table.add_column(name, justify="right")
    for wanted in WANTED:
        found = _run(stage, "WSJ-WBM", f"freshness = {wanted}")
        alerts = sum(len(each.quality.alerts) for each in found)
        table.add_row(
            f"{wanted:.0%}",
            _mean([each.quality.requests for each in found], ".1f"),
            _mean([each.quality.estimated_freshness for each in found], ".1%"),
            _mean([each.true_freshness for each in found], ".1%"),
            str(alerts),
        )
    return table


def _run(stage: Stage, policy: str, qos: str, *, ahead: bool = False) -> list[Evaluation]:
    """The evaluations of a live run, but for the first."""
    with tempfile.TemporaryDirectory() as folder:
        promise = Promise("run", "", "", policy, 0, 0, "#000000", qos=qos, ahead=ahead)
        run = run_contender(replace(stage, out=Path(folder)), promise, seconds=SECONDS)
    return list(run.evaluations[WARM:])


def _mean(values: list[float | None] | list[int], form: str) -> str:
    known = [value for value in values if value is not None]
    return format(float(np.mean(known)), form) if known else "–"


if __name__ == "__main__":
    main()
