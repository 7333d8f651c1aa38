"""The local view R: cached mappings of the SERVICE pattern, in columns, and its durable form."""

from bestbefore.view.change_rates import ChangeRates
from bestbefore.view.intervals import ChangeIntervals, read_interval_file
from bestbefore.view.local_view import LocalView, Measure, UnitDefaults, view_of
from bestbefore.view.units import Units

__all__ = [
    "ChangeIntervals",
    "ChangeRates",
    "LocalView",
    "Measure",
    "UnitDefaults",
    "Units",
    "read_interval_file",
    "view_of",
]
