"""A view that may hold six units: `python run.py`."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from sparql_example import main, run_jobs  # noqa: E402 - it is beside the folder


def run(spark, folder):
    """The answers, a line of JSON each."""
    return run_jobs(HERE, spark, folder)


if __name__ == "__main__":
    main(HERE)
