"""The same answers by plain SQL over the data, which are those of sql-sqlite."""

import runpy
from pathlib import Path

rows = runpy.run_path(str(Path(__file__).parents[1] / "sql-sqlite" / "independent.py"))["rows"]
