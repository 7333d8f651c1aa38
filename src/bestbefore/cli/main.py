"""The `bestbefore` command."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bestbefore.errors import BestbeforeError

app = typer.Typer(
    name="bestbefore",
    help="Continuous queries over streams and slow SPARQL endpoints, as fresh as a budget allows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def main() -> None:
    """Run the command; a mistake in the input ends in one line, not in a traceback."""
    sys.exit(guarded(app))


def guarded(command: Callable[[], object]) -> int:
    """The exit code of a command: 0 good, 1 the work failed, 2 the input is wrong."""
    try:
        command()
    except BestbeforeError as error:
        stderr.print(f"bestbefore: {error}", markup=False)
        return error.exit_code
    except SystemExit as end:
        return int(end.code or 0)
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    return 0


@app.command()
def run(
    job: Annotated[Path, typer.Argument(help="The job file (TOML).", show_default=False)],
    *,
    follow: Annotated[
        bool, typer.Option("--follow", help="Keep waiting for more of the stream, until Ctrl-C.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No line per evaluation.")] = False,
) -> None:
    """Run a job; after a stop or a crash, the same command goes on where it stood."""
    from bestbefore.cli.running import run_job  # noqa: PLC0415 - pyspark takes a second to import

    run_job(job, console=stderr, follow=follow, quiet=quiet)


@app.command()
def explain(
    source: Annotated[
        str,
        typer.Argument(
            help="A job file (.toml), a query file, or a query's text.",
            metavar="JOB.toml|QUERY",
            show_default=False,
        ),
    ],
    *,
    spark: Annotated[bool, typer.Option(help="Also show the Spark plans (starts Spark).")] = True,
) -> None:
    """Show what would run: the effective job, the algebra, join keys, units and Spark plans."""
    from bestbefore.cli.explaining import explain_source  # noqa: PLC0415

    explain_source(source, with_spark=spark, console=stderr)


@app.command()
def policies() -> None:
    """List the maintenance policies by name."""
    from bestbefore.cli.policy_list import list_policies  # noqa: PLC0415

    list_policies()


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
