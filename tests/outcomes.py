"""Outcomes of maintenance by key: made for tests, and told so that they can be compared."""

import numpy as np

from bestbefore.maintenance import Outcome, Reply


def outcome_of(view, t_ms, rows=None, *, failed=None, evicted=(), used=(), **more):
    """An outcome that fetched these rows by key; the view gets to know their units."""
    rows, failed = rows or {}, failed or {}
    view.learn(rows)
    evaluation = more.pop("evaluation", 1)
    stated = more.pop("intervals_ms", {})
    reply = Reply(
        answered=view.numbers(rows),
        content=list(rows.values()),
        stated_ms=dict(zip(view.numbers(stated).tolist(), stated.values(), strict=True)),
        failed=dict(zip(view.numbers(failed).tolist(), failed.values(), strict=True)),
        requests=more.pop("requests", 0),
        seconds=more.pop("seconds", 0.0),
    )
    return Outcome(
        evaluation,
        t_ms,
        elected=view.numbers([*rows, *failed]),
        reply=reply,
        evicted=view.numbers(evicted),
        used=view.numbers(used),
        **more,
    )


def keys_of(names, units):
    return tuple(names[unit] for unit in units.tolist())


def told(outcome, names):
    """What an outcome says, units by the name that a list has for their number."""
    reply = outcome.reply
    return {
        "evaluation": outcome.evaluation,
        "t_ms": outcome.t_ms,
        "candidates": outcome.candidates,
        "elected": keys_of(names, outcome.elected),
        "answered": keys_of(names, reply.answered),
        "failed": {names[unit]: reason for unit, reason in reply.failed.items()},
        "stated": {names[unit]: interval for unit, interval in reply.stated_ms.items()},
        "evicted": keys_of(names, outcome.evicted),
        "used": keys_of(names, outcome.used),
        "requests": reply.requests,
        "bound_by": outcome.bound_by,
        "changed": outcome.changed,
        "waiting": outcome.waiting,
        "saved": outcome.saved,
        "window": keys_of(names, outcome.window.unit),
        "sets": outcome.sets,
        "fresh": np.round(outcome.fresh, 9).tolist(),
    }
