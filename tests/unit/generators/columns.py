"""Traces as plain Python, for comparisons."""

from itertools import groupby

import numpy as np


def rows(traces):
    stream, background, links = traces.stream, traces.background, traces.links
    return (
        stream.ts_ms.tolist(),
        stream.key.tolist(),
        None if stream.event is None else stream.event.tolist(),
        background.ts_ms.tolist(),
        background.key.tolist(),
        background.value.tolist(),
        None if links is None else (links.join_key.tolist(), links.unit.tolist()),
        traces.interval_ms,
    )


def series(traces):
    """The times and values of each unit."""
    background = traces.background
    ordered = sorted(zip(background.key, background.ts_ms.tolist(), background.value, strict=True))
    return {
        key: [(ts, int(value)) for _, ts, value in each]
        for key, each in groupby(ordered, key=lambda row: row[0])
    }


def changes_of(traces):
    """How often each unit changes."""
    return {key: len(each) - 1 for key, each in series(traces).items()}


def rank_correlation(one, other):
    ranks = [np.argsort(np.argsort(each)) for each in (one, other)]
    return np.corrcoef(*ranks)[0, 1]
