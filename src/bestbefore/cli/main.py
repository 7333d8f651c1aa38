"""The `bestbefore` command."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from bestbefore.cli import store_commands
from bestbefore.cli.console import stderr
from bestbefore.cli.logs import LEVELS, tell_error
from bestbefore.cli.view_commands import views
from bestbefore.errors import BestbeforeError
from bestbefore.registry import load_module

app = typer.Typer(
    name="bestbefore",
    help="Continuous queries over streams and slow SPARQL endpoints, as fresh as a budget allows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_POLICY_MODULES = typer.Option(
    "--policies", help="A Python module with policies of your own; repeatable.", metavar="MODULE"
)


def main() -> None:
    """Run the command; a mistake in the input ends in one line, not in a traceback."""
    sys.exit(guarded(app))


def guarded(command: Callable[[], object]) -> int:
    """The exit code of a command: 0 good, 1 the work failed, 2 the input is wrong."""
    try:
        command()
    except BestbeforeError as error:
        if not tell_error(error):
            stderr.print(f"bestbefore: {' '.join(str(error).splitlines())}")
        return error.exit_code
    except SystemExit as end:
        return int(end.code or 0)
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    return 0


_JOB = Annotated[Path, typer.Argument(help="The job file (TOML).")]
_FOLLOW = Annotated[
    bool, typer.Option("--follow", help="Keep waiting for more of the stream, until Ctrl-C.")
]
_QUIET = Annotated[bool, typer.Option("--quiet", help="No line per evaluation.")]
_LOG_FORMAT = Annotated[
    str, typer.Option(help="What the lines on stderr are.", metavar="text|json")
]
_LOG_LEVEL = Annotated[
    str, typer.Option(help="The least of them that is shown.", metavar="|".join(LEVELS))
]
_MASTER = Annotated[
    str | None,
    typer.Option(
        help="The Spark master; spark-submit names it itself.",
        metavar="URL",
        show_default="local[*]",
    ),
]
_CONF = Annotated[
    list[str] | None,
    typer.Option("--conf", help="A setting of Spark; repeatable.", metavar="NAME=VALUE"),
]


@app.command()
def run(  # noqa: PLR0913 - one argument per option
    jobs: Annotated[
        list[Path],
        typer.Argument(
            help="Job files; several run together and share streams, views and refreshes.",
            metavar="JOB.toml…",
        ),
    ],
    *,
    follow: _FOLLOW = False,
    until_end: Annotated[
        bool,
        typer.Option(
            "--until-end",
            help="Then take the stream to have ended: answer the windows that still hold elements.",
        ),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Remove the answers of another run from the sink."),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="End with exit code 1 if refreshes failed or an alert was raised."
        ),
    ] = False,
    quiet: _QUIET = False,
    log_format: _LOG_FORMAT = "text",
    log_level: _LOG_LEVEL = "info",
    master: _MASTER = None,
    conf: _CONF = None,
) -> None:
    """Run jobs; after a stop or a crash, the same command goes on where it stood."""
    from bestbefore.cli.running import (  # noqa: PLC0415 - pyspark takes a second to import
        RunOptions,
        run_jobs,
    )

    options = RunOptions(
        follow=follow,
        until_end=until_end,
        overwrite=overwrite,
        strict=strict,
        quiet=quiet,
        log_format=log_format,
        log_level=log_level,
        master=master,
        conf=tuple(conf or ()),
    )
    run_jobs(jobs, options)


@app.command()
def record(  # noqa: PLR0913 - one argument per option
    job: _JOB,
    *,
    lasting: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="How long, such as 1h; a stream that is not followed may end before.",
            metavar="DURATION",
            show_default="until Ctrl-C or the end of the stream",
        ),
    ] = None,
    follow: _FOLLOW = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder for the traces.",
            metavar="FOLDER",
            show_default="JOB-traces, beside the job file",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing traces.")] = False,
    quiet: _QUIET = False,
    log_format: _LOG_FORMAT = "text",
    log_level: _LOG_LEVEL = "info",
    master: _MASTER = None,
    conf: _CONF = None,
) -> None:
    """Record traces for `simulate`: a job's stream, and its service polled within the limits."""
    from bestbefore.cli.recording import record_job  # noqa: PLC0415
    from bestbefore.cli.running import RunOptions  # noqa: PLC0415

    options = RunOptions(
        follow=follow,
        quiet=quiet,
        log_format=log_format,
        log_level=log_level,
        master=master,
        conf=tuple(conf or ()),
    )
    record_job(job, options, lasting=lasting, out=out, force=force)


@app.command()
def explain(
    source: Annotated[
        str,
        typer.Argument(
            help="A job file (.toml), a query file, or a query's text.", metavar="JOB.toml|QUERY"
        ),
    ],
    *,
    spark: Annotated[bool, typer.Option(help="Also show the Spark plans (starts Spark).")] = True,
) -> None:
    """Show what would run: the effective job, the algebra, join keys, units and Spark plans."""
    from bestbefore.cli.explaining import explain_source  # noqa: PLC0415

    explain_source(source, with_spark=spark, console=stderr)


@app.command()
def generate(
    name: Annotated[str | None, typer.Argument(help="The generator.", metavar="NAME")] = None,
    *,
    out: Annotated[
        Path | None, typer.Option(help="The folder for the files.", metavar="FOLDER")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.", min=0)] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter; repeatable.", metavar="NAME=VALUE"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    list_all: Annotated[
        bool, typer.Option("--list", help="List the generators with their parameters.")
    ] = False,
) -> None:
    """Write traces for `simulate`, or a store with queries for `estimate` and `plan`."""
    from bestbefore.cli import generating  # noqa: PLC0415

    if list_all:
        generating.list_generators()
    else:
        generating.generate(
            name, out, seed=seed, settings=settings or (), force=force, console=stderr
        )


@app.command()
def simulate(  # noqa: PLR0913 - one argument per option
    *,
    stream: Annotated[Path, typer.Option(help="The stream: ts_ms,key[,…].", metavar="S.csv")],
    background: Annotated[
        Path, typer.Option(help="The remote data: ts_ms,key,value.", metavar="B.csv")
    ],
    links: Annotated[
        Path | None, typer.Option(help="For M:N joins: join_key,unit.", metavar="L.csv")
    ] = None,
    width: Annotated[str, typer.Option(help="The width ω of the window.", metavar="DURATION")],
    slide: Annotated[str, typer.Option(help="The slide β of the window.", metavar="DURATION")],
    budget: Annotated[str, typer.Option(help="Refreshes per evaluation.", metavar="3,5,10")],
    policy: Annotated[str, typer.Option(help="Policies by name.", metavar="WSJ-LRU,WSJ-WBM,…")],
    modules: Annotated[list[str] | None, _POLICY_MODULES] = None,
    intervals: Annotated[
        str, typer.Option(help="Change intervals.", metavar="true|learned|FILE")
    ] = "true",
    condition: Annotated[
        str | None, typer.Option("--filter", help="Answers pass it.", metavar='">100000"')
    ] = None,
    aggregate: Annotated[
        str | None,
        typer.Option(
            help="Answers aggregate the units of each join key.", metavar="sum|count|avg|min|max"
        ),
    ] = None,
    cache_size: Annotated[
        int | None, typer.Option(help="The most units that the view holds.", min=1)
    ] = None,
    seeds: Annotated[int, typer.Option(help="Runs per policy and budget.", min=1)] = 5,
    warmup: Annotated[float, typer.Option(help="The share of evaluations left out.")] = 0.0,
    form: Annotated[str, typer.Option("--format", metavar="table|json|csv")] = "table",
    evaluations: Annotated[
        Path | None, typer.Option(help="Also write every evaluation.", metavar="FILE.csv")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw the figures.", metavar="FILE.png")
    ] = None,
    spark: Annotated[bool, typer.Option("--spark", help="Spread the runs over Spark.")] = False,
) -> None:
    """Compare policies over traces: policies × budgets × seeds, with the engine's own kernel."""
    from bestbefore.cli.simulating import simulate_traces  # noqa: PLC0415

    _load_policies(modules)
    simulate_traces(
        stream=stream,
        background=background,
        links=links,
        width=width,
        slide=slide,
        budget=budget,
        policy=policy,
        intervals=intervals,
        condition=condition,
        aggregate=aggregate,
        cache_size=cache_size,
        seeds=seeds,
        warmup=warmup,
        form=form,
        evaluations=evaluations,
        plot=plot,
        spark=spark,
        console=stderr,
    )


app.command()(store_commands.estimate)
app.command()(store_commands.plan)


@app.command()
def policies(
    source: Annotated[
        str | None,
        typer.Argument(
            help="Tell which fit it: a job file (.toml), a query file, or a query's text.",
            metavar="JOB.toml|QUERY",
        ),
    ] = None,
    *,
    modules: Annotated[list[str] | None, _POLICY_MODULES] = None,
    form: Annotated[
        str, typer.Option("--format", help="JSON lists every combination.", metavar="text|json")
    ] = "text",
) -> None:
    """List what policies are made of, what each needs, and which of them fit a query."""
    from bestbefore.cli.listing import list_policies  # noqa: PLC0415

    _load_policies(modules)
    sys.stdout.write(list_policies(source, form=form))


def _load_policies(modules: list[str] | None) -> None:
    """Import modules from where the command is run, for the policies that they register."""
    for module in modules or ():
        load_module(module, folder=Path(), where="--policies")


checkpoints = typer.Typer(
    help="Check what a job's checkpoint holds, or repair it.", no_args_is_help=True
)
app.add_typer(checkpoints, name="checkpoint")
app.add_typer(views, name="view")


@checkpoints.command()
def check(job: _JOB) -> None:
    """Tell whether a checkpoint is whole: a line per file that is not, and exit code 1."""
    from bestbefore.cli.checking import check_checkpoint  # noqa: PLC0415

    check_checkpoint(job, write=sys.stdout.write)


@checkpoints.command()
def repair(
    job: _JOB,
    *,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Also do what loses something; it is said what.")
    ] = False,
) -> None:
    """Mend a checkpoint, so that its job goes on; nothing is done if not all can be mended."""
    from bestbefore.cli.checking import repair_checkpoint  # noqa: PLC0415

    repair_checkpoint(job, accept_loss=accept_loss, write=sys.stdout.write, console=stderr)


@app.command()
def demo(
    *,
    out: Annotated[Path, typer.Option(help="The folder for the figure and the answers.")] = Path(
        "out/demo"
    ),
    seconds: Annotated[
        int | None,
        typer.Option(
            help="How long each policy runs.",
            min=6,
            max=600,
            show_default="what fits into a minute in all",
        ),
    ] = None,
) -> None:
    """Run the papers' influencer query live, with three policies, against a real endpoint."""
    from bestbefore.demo.show import run_demo  # noqa: PLC0415

    run_demo(out, seconds=seconds, console=stderr)
