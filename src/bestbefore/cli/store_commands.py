"""The commands about a cached store, with their options."""

from pathlib import Path
from typing import Annotated

import typer

from bestbefore.cli.console import stderr

_DATA = Annotated[
    str | None,
    typer.Argument(
        help="N-Triples, or Parquet with s, p, o and fresh; or a job, for what its views hold.",
        metavar="[DATA.nt|JOB.toml]",
    ),
]
_STALE = Annotated[
    str | None, typer.Option(help="The triples of the data that are stale.", metavar="STALE.nt")
]
_LOAD = Annotated[
    Path | None, typer.Option(help="Saved summaries, instead of data.", metavar="FILE")
]
_QUERY = Annotated[
    Path, typer.Option(help="SELECT over triple patterns, in SPARQL.", metavar="Q.rq")
]
_TABLE = Annotated[str, typer.Option("--format", metavar="table|json")]


def estimate(  # noqa: PLR0913 - one argument per option
    data: _DATA = None,
    *,
    stale: _STALE = None,
    query: _QUERY,
    summary: Annotated[
        str | None,
        typer.Option(help="Summaries by name.", metavar="SPM,CS,…", show_default="all"),
    ] = None,
    truth: Annotated[
        bool, typer.Option("--truth", help="Also run the query, and tell what is true.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option(help="Also write the summaries.", metavar="FILE")
    ] = None,
    load: _LOAD = None,
    form: _TABLE = "table",
) -> None:
    """Estimate how fresh a query's answer would be, from summaries of a cached store."""
    from bestbefore.cli.estimating import Source, estimate_answer  # noqa: PLC0415

    estimate_answer(
        Source(data, stale, load),
        query=query,
        names=summary,
        truth=truth,
        save=save,
        form=form,
        console=stderr,
    )


def plan(  # noqa: PLR0913 - one argument per option
    data: _DATA = None,
    *,
    stale: _STALE = None,
    query: _QUERY,
    freshness: Annotated[float, typer.Option(help="How fresh the answer should be: above 0 to 1.")],
    views: Annotated[
        Path | None,
        typer.Option(
            help="What can be refreshed at once: patterns by name, and what they cost.",
            metavar="VIEWS.toml",
            show_default="each predicate of the query",
        ),
    ] = None,
    summary: Annotated[
        str | None,
        typer.Option(help="The summary to plan with.", metavar="NAME", show_default="pairs"),
    ] = None,
    load: _LOAD = None,
    form: _TABLE = "table",
) -> None:
    """Find the cheapest views of a cached store to refresh for an answer as fresh as wanted."""
    from bestbefore.cli.estimating import Source, plan_refreshes  # noqa: PLC0415

    plan_refreshes(
        Source(data, stale, load),
        query=query,
        wanted=freshness,
        name=summary,
        views=views,
        form=form,
        console=stderr,
    )
