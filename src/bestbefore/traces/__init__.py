"""Traces: recorded streams, background data and links, as columns and as CSV files."""

from bestbefore.traces.columns import BackgroundTrace, Links, StreamTrace, Traces
from bestbefore.traces.files import (
    TRACE_FILES,
    Notice,
    read_background,
    read_links,
    read_stream,
    read_traces,
    write_traces,
)
from bestbefore.traces.intervals import read_intervals, read_key_intervals

__all__ = [
    "TRACE_FILES",
    "BackgroundTrace",
    "Links",
    "Notice",
    "StreamTrace",
    "Traces",
    "read_background",
    "read_intervals",
    "read_key_intervals",
    "read_links",
    "read_stream",
    "read_traces",
    "write_traces",
]
