"""The rows of a reply in any of the three result formats, read piece by piece as they come.

A reader never holds more than the piece at hand and the rows it has read, and gives up at the
first row too many: what a service sends decides neither memory nor time.
"""

from bestbefore.service.results.formats import ACCEPTED, open_reader
from bestbefore.service.results.rows import Reader, RowCollector, Rows, Wanted

__all__ = ["ACCEPTED", "Reader", "RowCollector", "Rows", "Wanted", "open_reader"]
