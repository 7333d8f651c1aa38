"""The local view R: cached mappings of the SERVICE pattern, in columns, and its durable form."""

from bestbefore.view.intervals import ChangeIntervals, read_interval_file
from bestbefore.view.journal import Journal, Refreshed
from bestbefore.view.local_view import Entry, LocalView, Measure, view_of
from bestbefore.view.snapshot import load_snapshot, save_snapshot
from bestbefore.view.units import Units

__all__ = [
    "ChangeIntervals",
    "Entry",
    "Journal",
    "LocalView",
    "Measure",
    "Refreshed",
    "Units",
    "load_snapshot",
    "read_interval_file",
    "save_snapshot",
    "view_of",
]
