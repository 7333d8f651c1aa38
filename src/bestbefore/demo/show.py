"""`bestbefore demo`: three policies, one after another, in the same live world."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console

from bestbefore.demo import screen
from bestbefore.demo.contenders import JOB_FILE, QUERY, WIDTH_S, Contender, clear_folder, contenders
from bestbefore.demo.lifetime import ending_on_signals, ignore_signals, starting_spark, stderr_into
from bestbefore.demo.live_run import Evaluation, Run, Stage, run_contender, warm_up
from bestbefore.demo.population import users
from bestbefore.demo.scores import conclusion, score
from bestbefore.demo.world import WorldProcess, running_world
from bestbefore.errors import WorkError
from bestbefore.time import monotonic_s

USERS = 240
BUDGET = 16
DELAY_MS = 40
MENTIONS_PER_SECOND = 1_400
SEED = 7
FIGURE, LOG = "freshness.png", "spark.log"

# Without a wish for the length of a run, everything together takes less than a minute.
_WHOLE_S, _AFTERWARDS_S, _AROUND_A_RUN_S = 55.0, 1.5, 4.0
_SHORTEST_S, _LONGEST_S = 7, 12


def run_demo(out: Path, *, seconds: int | None, console: Console) -> None:
    """Run the demo; whatever happens, every process that it started is gone afterwards."""
    started_s = monotonic_s()
    cast = contenders(users=USERS, budget=BUDGET)
    out.mkdir(parents=True, exist_ok=True)
    for contender in cast:
        clear_folder(contender, out)
    (out / LOG).unlink(missing_ok=True)
    endpoint = running_world(users=USERS, seed=SEED, delay_ms=DELAY_MS)
    with ending_on_signals(), stderr_into(out / LOG, console):
        with starting_spark(out / LOG) as spark, endpoint as world, _end_announced(console):
            stage = _set_up(console, spark, world, out)
            with screen.waiting(console, "warming up Spark"):
                warm_up(stage, cast[1])
            length = seconds or _fitting_seconds(monotonic_s() - started_s, len(cast))
            runs = [
                _run(console, stage, contender, length, number=number, of=len(cast))
                for number, contender in enumerate(cast, start=1)
            ]
            _conclude(console, runs, out)
        console.print(f"  done in {monotonic_s() - started_s:.0f} s; nothing is left running")


def _set_up(console: Console, spark: Future[SparkSession], world: WorldProcess, out: Path) -> Stage:
    """Show what is there, while Spark starts."""
    pace = sum(1 / user.interval_s for user in users(USERS, seed=SEED))
    console.print()
    question = "who is in the news, and has more than 100,000 followers?\n"
    console.print(f"[bold]bestbefore demo[/]: {question}", markup=True)
    screen.facts(
        console,
        [
            ("endpoint", f"oxigraph on 127.0.0.1:{world.oxigraph_port}, {USERS} users, each"),
            ("", f"changed at its own pace by SPARQL UPDATE, {pace:.0f} times a second in all"),
            ("", f"asked through 127.0.0.1:{world.port}, which answers each request"),
            ("", f"after {DELAY_MS} ms, as a remote endpoint would"),
            ("stream", f"{MENTIONS_PER_SECOND:,} mentions a second, as RDF in files of JSON lines"),
            ("window", f"the last {WIDTH_S} s, evaluated on Spark every second"),
            ("view", "starts empty; the first evaluation fills it with what its window needs"),
            ("budget", f"{BUDGET} refreshes per evaluation, one request each; what is missing"),
            ("", "goes first, then what may be stale"),
        ],
    )  # fmt: skip
    console.print()
    console.print(QUERY)
    with screen.waiting(console, "starting Spark"):
        _import_figure()
        session = spark.result()
    return Stage(session, world, out, USERS, MENTIONS_PER_SECOND, SEED)


def _run(
    console: Console, stage: Stage, contender: Contender, seconds: int, *, number: int, of: int
) -> Run:
    screen.heading(console, contender, number=number, of=of)

    def show(evaluation: Evaluation) -> None:
        console.print(screen.evaluation_line(evaluation, contender.colour))

    with screen.working(console, f"running for {seconds} s, and until the last answer is there"):
        return run_contender(stage, contender, seconds=seconds, show=show)


def _fitting_seconds(elapsed_s: float, runs: int) -> int:
    left_s = (_WHOLE_S - _AFTERWARDS_S - elapsed_s) / runs - _AROUND_A_RUN_S
    return int(min(max(left_s, _SHORTEST_S), _LONGEST_S))


def _conclude(console: Console, runs: Sequence[Run], out: Path) -> None:
    """The comparison on stdout; what to look at next on stderr."""
    from bestbefore.demo.figure import draw  # noqa: PLC0415 - imported while Spark started

    draw(runs, out / FIGURE)
    scores = [score(run) for run in runs]
    data = Console(highlight=False)
    data.print()
    data.print(screen.comparison(scores))
    data.print(screen.CAPTION, style="dim", soft_wrap=not data.is_terminal)
    data.print()
    data.print(conclusion(*scores), soft_wrap=not data.is_terminal)
    best = out / runs[1].contender.folder
    elements = sum(run.elements for run in runs)
    console.print()
    screen.facts(
        console,
        [
            ("figure", str(out / FIGURE)),
            ("answers", f"{best / 'answers'} (of {elements:,} events in all)"),
            ("job", str(best / JOB_FILE)),
            ("next", f"{_command()} explain {best / JOB_FILE}"),
        ],
    )


def _command() -> str:
    """How this program was called, as one can type it here."""
    if shutil.which("bestbefore"):
        return "bestbefore"
    called = Path(sys.argv[0])
    here = Path.cwd()
    return str(called.relative_to(here)) if called.is_relative_to(here) else str(called)


def _import_figure() -> None:
    """Import matplotlib, which takes its time, while Spark takes even more."""
    try:
        import bestbefore.demo.figure  # noqa: F401, PLC0415
    except ImportError as error:
        raise WorkError(f"{error}; the demo needs: pip install 'bestbefore[demo]'") from None


@contextmanager
def _end_announced(console: Console) -> Iterator[None]:
    """Say that the end is near when somebody asked for it, and let nobody hurry it."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        console.print("\nending Spark and the endpoint …")
        raise
    finally:
        ignore_signals()
