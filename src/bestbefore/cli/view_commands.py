"""The commands of `bestbefore view`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

views = typer.Typer(help="Look at the local views of a job, or clear them.", no_args_is_help=True)
_JOB = Annotated[Path, typer.Argument(help="The job file (TOML).", metavar="JOB.toml")]
_SERVICE = Annotated[
    str | None, typer.Option(help="Only the view of this service.", metavar="NAME")
]


@views.command()
def show(
    job: _JOB,
    *,
    service: _SERVICE = None,
    form: Annotated[str, typer.Option("--format", metavar="table|json|parquet")] = "table",
    limit: Annotated[int | None, typer.Option(help="The most units of each view.", min=1)] = None,
    out: Annotated[Path | None, typer.Option(help="The Parquet file.", metavar="FILE")] = None,
) -> None:
    """What the views hold: each unit, how old it is, how fresh, and how often it was needed."""
    from bestbefore.cli.viewing import show_views  # noqa: PLC0415 - as pyspark

    show_views(job, service=service, form=form, limit=limit, out=out)


@views.command()
def stats(
    job: _JOB,
    *,
    service: _SERVICE = None,
    form: Annotated[str, typer.Option("--format", metavar="table|json")] = "table",
) -> None:
    """How much the views hold, how old and how fresh it is."""
    from bestbefore.cli.viewing import tell_figures  # noqa: PLC0415

    tell_figures(job, service=service, form=form)


@views.command()
def clear(job: _JOB, *, service: _SERVICE = None) -> None:
    """Let the views begin anew with the next run; answers, ledgers and limits stay."""
    from bestbefore.cli.viewing import clear_views  # noqa: PLC0415

    clear_views(job, service=service, console=Console(stderr=True))
