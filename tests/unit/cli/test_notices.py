"""What `run` says before it begins."""

import io

import pytest
from rich.console import Console

from bestbefore.cli.running import _notice_intervals
from bestbefore.job import read_job
from tests.unit.job.test_job_file import tables


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ({}, "every unit is taken to change once per PT10M"),
        ({"change_interval": "1h"}, ""),
        ({"change_interval": "learned"}, ""),
        ({"interval_variable": "?followers"}, ""),
    ],
)
def test_an_assumed_change_interval_is_said(view, said):
    out = io.StringIO()
    console = Console(file=out, width=200)
    _notice_intervals(read_job(tables(view=view)).services[0], console)
    assert said in out.getvalue()
    assert bool(out.getvalue()) == bool(said)
