"""Results as people and programs read them: a table, JSON, CSV."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from statistics import mean, stdev

from bestbefore.errors import InputError
from bestbefore.simulator import Result

_COLUMNS: tuple[tuple[str, str, Callable[[Result], float | None]], ...] = (
    ("freshness", ".3f", lambda result: result.freshness),
    ("estimated", ".3f", lambda result: result.estimated_freshness),
    ("completeness", ".3f", lambda result: result.completeness),
    ("consistency", ".3f", lambda result: result.consistency),
    ("jaccard", ".2f", lambda result: result.jaccard),
    ("|C|", ".1f", lambda result: result.candidates),
    ("spent", ".2f", lambda result: result.spent),
    ("gain", "+.4f", lambda result: result.gain),
)
_SPREAD = ("freshness", "jaccard")


Format = Callable[[Sequence[Result]], str]


def resolve_format(name: str) -> Format:
    """What turns results into the text of a known format."""
    if name not in _FORMATS:
        raise InputError(f"unknown format {name!r}; known: {', '.join(_FORMATS)}")
    return _FORMATS[name]


def _as_json(results: Sequence[Result]) -> str:
    return json.dumps([result.to_dict() for result in results], indent=1) + "\n"


def _as_csv(results: Sequence[Result]) -> str:
    out = io.StringIO()
    rows = [_flat(result) for result in results]
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _flat(result: Result) -> dict[str, object]:
    """A line of figures; the tenths of the calibration are for JSON."""
    figures = result.to_dict()
    del figures["calibration"]
    sets = figures.pop("sets")
    return {**figures, **(sets if isinstance(sets, dict) else {})}


def _as_table(results: Sequence[Result]) -> str:
    """A line per policy and budget: means over the seeds, and their spread where it matters."""
    groups: dict[tuple[int, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.budget, result.policy), []).append(result)
    head = ["budget", "policy", *(name for name, _, _ in _COLUMNS)]
    by_budget = sorted(groups, key=lambda group: group[0])
    lines = [head, *(_line(*group, groups[group]) for group in by_budget)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(_padded(line, widths) for line in lines)


def _line(budget: int, policy: str, runs: Sequence[Result]) -> list[str]:
    cells = (_cell(name, form, list(map(figure, runs))) for name, form, figure in _COLUMNS)
    return [str(budget), policy, *cells]


def _cell(name: str, form: str, values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    text = format(mean(known), form)
    if name in _SPREAD and len(known) > 1:
        text += f" ±{stdev(known):{form}}"
    return text


def _padded(line: Sequence[str], widths: Sequence[int]) -> str:
    first = f"{line[0]:>{widths[0]}}  {line[1]:<{widths[1]}}"
    rest = (f"{cell:>{width}}" for cell, width in zip(line[2:], widths[2:], strict=True))
    return "  ".join([first, *rest]).rstrip() + "\n"


_FORMATS: dict[str, Format] = {"table": _as_table, "json": _as_json, "csv": _as_csv}
