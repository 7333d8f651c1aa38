"""Stops the set-up with one clear line where Python is too old."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this is the file that tells
    found = ".".join(map(str, sys.version_info[:3]))
    sys.exit(
        "bestbefore needs Python 3.11 or newer, this is " + found + ": make PYTHON=python3.11 …"
    )
