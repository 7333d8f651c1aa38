"""Windows over a stream: which instants they close at, what they hold, which are reported."""

from bestbefore.windows.instants import Instants
from bestbefore.windows.reports import ReportSetting, ReportStrategy, reported
from bestbefore.windows.sliding import SlidingWindow
from bestbefore.windows.symbols import Symbol
from bestbefore.windows.timeline import Due, Timeline

__all__ = [
    "Due",
    "Instants",
    "ReportSetting",
    "ReportStrategy",
    "SlidingWindow",
    "Symbol",
    "Timeline",
    "reported",
]
