"""What the demo shows: calm lines on stderr while it runs, the comparison on stdout at the end."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bestbefore.demo.contenders import Contender
from bestbefore.demo.live_run import Evaluation
from bestbefore.demo.scores import Score

_BAR = 15
_EIGHTHS = " ▏▎▍▌▋▊▉"
_HEAD = (
    f"  {'time':>5}  {'answers':>7}  {'complete':>8}  {'requests':>8}  {'estimated':>9}"
    f"  {'true freshness':<{_BAR + 5}}  {'latency':>7}"
)

CAPTION = (
    "True freshness: the share of answer rows that agree with the endpoint when the answer is "
    "written, for which the estimate is made. Complete: the share of mentions whose user the view "
    "holds. Latency: from the close of a window to its answer. All but the first evaluation, which "
    "fills the view."
)


def bar(share: float, *, width: int = _BAR) -> str:
    """A share of 1 as a bar of block characters.

    >>> bar(0.5, width=4), bar(0.3, width=4), bar(1.0, width=4)
    ('██  ', '█▎  ', '████')
    """
    eighths = min(round(share * width * 8), width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width)


def percent(share: float | None) -> str:
    """A share as people read it; an answer without rows has none."""
    return "–" if share is None else f"{share:.0%}"


@contextmanager
def waiting(console: Console, what: str) -> Iterator[None]:
    """Say what takes a while: with a spinner on a terminal, with a line elsewhere."""
    if not console.is_terminal:
        console.print(f"{what} …")
    with working(console, what):
        yield


def working(console: Console, what: str) -> AbstractContextManager[object]:
    """Show on a terminal that there is more to come, below the lines that are there."""
    return console.status(f"{what} …") if console.is_terminal else nullcontext()


def facts(console: Console, rows: Sequence[tuple[str, str]]) -> None:
    """Print some lines of a name and what it is."""
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        console.print(Text.assemble("  ", (name.ljust(width), "bold"), "  ", text))


def heading(console: Console, contender: Contender, *, number: int, of: int) -> None:
    """Announce a run."""
    title = f"{contender.title} ({contender.policy})"
    console.print()
    console.print(Text.assemble((f"{number}/{of}  ", "dim"), (title, f"bold {contender.colour}")))
    console.print(Text(_HEAD, style="dim"))


def evaluation_line(evaluation: Evaluation, colour: str) -> Text:
    """One evaluation of a run."""
    record, truth = evaluation.quality, evaluation.true_freshness
    line = Text.assemble(
        f"  {f'{evaluation.offset_s:+.0f} s':>5}  {record.answers:>7}"
        f"  {percent(record.completeness):>8}"
        f"  {record.requests:>8}  {percent(record.estimated_freshness):>9}  {percent(truth):>4} ",
        (bar(truth or 0.0), colour),
        f"  {f'{evaluation.latency_s:.1f} s':>7}",
    )
    if record.service_status != "ok":
        line.append(f"  endpoint {record.service_status}", style="bold")
    return line


def comparison(scores: Sequence[Score]) -> Table:
    """The table at the end; `CAPTION` says how to read it."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=0, pad_edge=False)
    table.add_column("policy", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name in _FIGURES:
        table.add_column(name, justify="right", no_wrap=True)
    for score in scores:
        policy = Text(score.contender.policy, style=f"bold {score.contender.colour}")
        figures = (written(score) for written in _FIGURES.values())
        table.add_row(policy, score.contender.name, *figures)
    return table


_FIGURES: dict[str, Callable[[Score], str]] = {
    "true\nfreshness": lambda score: percent(score.freshness),
    "esti-\nmated": lambda score: percent(score.estimated),
    "com-\nplete": lambda score: percent(score.completeness),
    "requests/\nevaluation": lambda score: f"{score.requests_each:.0f}",
    "latency": lambda score: f"{score.latency_s:.1f} s",
    "endpoint\nwait": lambda score: f"{score.service_s:.2f} s",
}
