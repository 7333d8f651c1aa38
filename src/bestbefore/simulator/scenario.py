"""A scenario: traces made ready for any number of runs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Booleans, Integers
from bestbefore.errors import InputError
from bestbefore.maintenance import Moment, WindowUnits
from bestbefore.simulator.background import (
    NO_ROW,
    Background,
    Changes,
    changes_between,
    make_background,
    true_change_times,
)
from bestbefore.simulator.windows import window_contents
from bestbefore.traces import Notice, StreamTrace, Traces
from bestbefore.view.links import Links, link
from bestbefore.windows import SlidingWindow

_MOST_EVALUATIONS = 10**7


@dataclass(frozen=True)
class Scenario:
    """What every run over the same traces and the same window shares.

    `initial` are the versions that the view is loaded with, at the time t0 of the window;
    `best_before_ms` is what each τ starts with: where changes are `periodic`, the time of a change.
    """

    window: SlidingWindow
    evaluations: range
    contents: tuple[WindowUnits, ...]
    background: Background
    changes: Changes
    initial: Integers
    interval_ms: Integers
    best_before_ms: Integers
    periodic: Booleans
    units: tuple[str, ...]
    many_to_many: bool

    def moment(self, evaluation: int) -> Moment:
        """What a policy is told of the time of an evaluation."""
        window = self.window
        return Moment(window.closing(evaluation), window.width_ms, window.slide_ms)


def make_scenario(
    traces: Traces,
    *,
    width_ms: int,
    slide_ms: int,
    interval_ms: Mapping[str, int] | None = None,
    notice: Notice,
) -> Scenario:
    """Number what the traces name, and lay out windows and changes.

    Change intervals are those given, otherwise those of the trace; τ starts at the first
    evaluation time, or at the next change where the trace tells that changes are periodic.
    """
    numbers = _unit_numbers(traces)
    keys, links = _linked(traces, numbers)
    window, evaluations = _evaluations(traces.stream, width_ms, slide_ms)
    background = make_background(traces.background, numbers)
    closings = np.array([window.closing(number) for number in evaluations])
    _tell_of_missing(traces, keys, background, notice)
    _tell_of_late(background, loaded_ms=window.t0_ms, last_ms=int(closings[-1]), notice=notice)
    intervals, change_ms = _expectations(background, closings, numbers, interval_ms)
    return Scenario(
        window=window,
        evaluations=evaluations,
        contents=_contents(traces.stream, keys, links, window=window, evaluations=evaluations),
        background=background,
        changes=changes_between(background, closings),
        initial=background.versions(window.t0_ms),
        interval_ms=intervals,
        best_before_ms=np.where(change_ms >= 0, change_ms, closings[0]),
        periodic=change_ms >= 0,
        units=tuple(numbers),
        many_to_many=links is not None,
    )


def _unit_numbers(traces: Traces) -> dict[str, int]:
    names = dict.fromkeys(traces.background.key.tolist())
    names |= dict.fromkeys((traces.links.unit if traces.links else traces.stream.key).tolist())
    return {name: number for number, name in enumerate(names)}


def _linked(traces: Traces, numbers: Mapping[str, int]) -> tuple[Mapping[str, int], Links | None]:
    """The numbers of the join keys and, for M:N, their units."""
    if traces.links is None:
        return numbers, None
    names = dict.fromkeys([*traces.links.join_key.tolist(), *traces.stream.key.tolist()])
    keys = {name: number for number, name in enumerate(names)}
    join_key = np.array([keys[name] for name in traces.links.join_key], dtype=np.int64)
    unit = np.array([numbers[name] for name in traces.links.unit], dtype=np.int64)
    links, _ = link(join_key, unit, keys=len(keys))
    return keys, links


def _evaluations(stream: StreamTrace, width_ms: int, slide_ms: int) -> tuple[SlidingWindow, range]:
    earliest, latest = int(stream.ts_ms.min()), int(stream.ts_ms.max())
    window = SlidingWindow.starting(width_ms, slide_ms, earliest_ms=earliest)
    last = window.last_closed(latest)
    if last < 1:
        raise InputError(
            f"the stream trace spans {latest - earliest} ms and closes no window of slide "
            f"{slide_ms} ms; give a shorter --slide or a longer trace"
        )
    if last > _MOST_EVALUATIONS:
        raise InputError(
            f"the stream trace spans {latest - earliest} ms, which are {last} evaluations; look "
            "for a wrong ts_ms, in milliseconds, or give a longer --slide"
        )
    return window, range(1, last + 1)


def _contents(
    stream: StreamTrace,
    keys: Mapping[str, int],
    links: Links | None,
    *,
    window: SlidingWindow,
    evaluations: range,
) -> tuple[WindowUnits, ...]:
    key = np.fromiter((keys[name] for name in stream.key), np.int64, len(stream.key))
    mapping = key
    if stream.event is not None:
        _, event = np.unique(stream.event.astype(str), return_inverse=True)
        _, mapping = np.unique(np.stack([key, event]), axis=1, return_inverse=True)
    return window_contents(
        stream.ts_ms, key, mapping, window=window, evaluations=evaluations, links=links
    )


def _expectations(
    background: Background,
    closings: Integers,
    numbers: Mapping[str, int],
    given: Mapping[str, int] | None,
) -> tuple[Integers, Integers]:
    """The change interval I of each unit, and a time of its change, −1 where none is foretold."""
    truth = true_change_times(background, int(closings[-1]))
    if given is None:
        return truth.interval_ms, truth.change_ms
    intervals = truth.interval_ms.copy()
    for name, interval in given.items():
        if name in numbers:
            intervals[numbers[name]] = interval
    return intervals, np.full(background.units, -1, dtype=np.int64)


def _tell_of_missing(
    traces: Traces, keys: Mapping[str, int], background: Background, notice: Notice
) -> None:
    """Say which keys or units can never join: they are not an error, only no answer."""
    bare = int((np.diff(background.start) == 0).sum())
    if bare:
        notice(f"{bare} of {background.units} units have no background value: they join nothing")
    if traces.links is not None:
        linked = len(set(traces.links.join_key.tolist()))
        if linked < len(keys):
            notice(f"{len(keys) - linked} keys of the stream have no link: they join nothing")


def _tell_of_late(background: Background, *, loaded_ms: int, last_ms: int, notice: Notice) -> None:
    """Say how many units get their first value only after the view was loaded, and when."""
    absent = background.code[background.versions(loaded_ms)] == NO_ROW
    later = (background.code[:-1] != NO_ROW) & absent[background.unit]
    if not later.any():
        return
    late, first_ms = len(np.unique(background.unit[later])), int(background.ts_ms[later].min())
    after = f", after the last evaluation at {last_ms} ms" if first_ms >= last_ms else ""
    notice(
        f"{late} of {background.units} units had no value yet when the view was loaded, at "
        f"{loaded_ms} ms; the first value came at {first_ms} ms{after}"
    )


__all__ = ["NO_ROW", "Scenario", "make_scenario"]
