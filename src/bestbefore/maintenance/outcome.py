"""What an evaluation asked for, what came of it, and the record of it all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestbefore.arrays import Integers, Numbers, Scores
from bestbefore.maintenance.window_sets import WindowSets
from bestbefore.maintenance.window_units import NO_UNITS, WindowUnits

NONE: Integers = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of asking for units: each is in `answered` or, with the reason, in `failed`.

    Those for which no request was left are in `unsent` instead. `content` is what there is of the
    answered units, in the view's own form. `stated_ms` are the change intervals that the source
    states for some units, `modified_ms` the times at which they have last changed; `state` tells
    how it was found, `dropped` counts rows that it sent and that cannot be used, `not_modified` the
    requests that it answered by saying that nothing has changed.
    """

    answered: Integers = field(default_factory=lambda: NONE)
    content: Any = ()
    stated_ms: Mapping[int, int] = field(default_factory=dict)
    modified_ms: Mapping[int, int] = field(default_factory=dict)
    failed: Mapping[int, str] = field(default_factory=dict)
    unsent: Integers = field(default_factory=lambda: NONE)
    requests: int = 0
    seconds: float = 0.0
    state: str = "ok"
    dropped: int = 0
    not_modified: int = 0


NO_REPLY = Reply()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The record of one evaluation's maintenance, from its election to what it did.

    `elected` are those that the ledger granted; `came_ms` is the time of the stream when the reply
    came, and `need` how often the units in it were needed by then (see `Units.need`), which who
    applies it again may not know any more; `evicted` left to make room; `used` are those that the
    window needs and the view then holds, noted where a capacity makes it matter. `bound_by` is the
    limit that kept it from refreshing more, if one did, and `left` the requests that each limit of
    the service then leaves; `budget` is the γ that it had; `lift` how many refreshes a wanted
    freshness would have taken, and the freshness that no budget could exceed; `price` what a
    refresh had to be worth.
    Of what it did: `changed` held units had other content, `waiting` units of the window were no
    candidates (their request failed lately, or can never be sent), `saved` is the budget left for
    later (borrowed, if negative), `started` was spent beyond it to fill the view, `window` is what
    the evaluation needs, and `fresh` how probably each unit of it is fresh. Units are numbers of
    the view.
    """

    evaluation: int
    t_ms: int
    candidates: int = 0
    elected: Integers = field(default_factory=lambda: NONE)
    reply: Reply = NO_REPLY
    came_ms: int | None = None
    need: Numbers | None = None
    evicted: Integers = field(default_factory=lambda: NONE)
    used: Integers = field(default_factory=lambda: NONE)
    bound_by: str | None = None
    left: Mapping[str, int] = field(default_factory=dict)
    budget: int = 0
    lift: tuple[int, float] | None = None
    price: float | None = None
    changed: int = 0
    waiting: int = 0
    saved: int = 0
    started: int = 0
    window: WindowUnits = NO_UNITS
    sets: WindowSets = field(default_factory=WindowSets)
    fresh: Scores = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, slots=True)
class Asked:
    """What an evaluation elected and asked for, now or ahead of its time, and what came of it.

    `room` are those that may leave for what came. For the rest see `Outcome`.
    """

    candidates: int
    elected: Integers
    reply: Reply
    came_ms: int
    bound_by: str | None
    left: Mapping[str, int]
    budget: int
    lift: tuple[int, float] | None
    price: float | None = None
    room: Integers = field(default_factory=lambda: NONE)
