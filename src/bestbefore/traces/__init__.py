"""Traces: recorded streams, background data and links, as columns and as CSV files."""

from bestbefore.traces.columns import BackgroundTrace, Links, StreamTrace, Traces
from bestbefore.traces.files import (
    BACKGROUND,
    LINKS,
    STREAM,
    TRACE_FILES,
    Notice,
    add_rows,
    begin_traces,
    order_traces,
    read_background,
    read_links,
    read_stream,
    read_traces,
    write_traces,
)
from bestbefore.traces.intervals import read_intervals, read_key_intervals

__all__ = [
    "BACKGROUND",
    "LINKS",
    "STREAM",
    "TRACE_FILES",
    "BackgroundTrace",
    "Links",
    "Notice",
    "StreamTrace",
    "Traces",
    "add_rows",
    "begin_traces",
    "order_traces",
    "read_background",
    "read_intervals",
    "read_key_intervals",
    "read_links",
    "read_stream",
    "read_traces",
    "write_traces",
]
