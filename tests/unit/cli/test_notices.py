"""What `run` says before it begins."""

import pytest

from bestbefore.cli.logs import set_up_log
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
def test_an_assumed_change_interval_is_said(view, said, capsys):
    set_up_log("text", "info")
    _notice_intervals(read_job(tables(view=view)).services[0])
    err = capsys.readouterr().err
    assert said in err
    assert bool(err) == bool(said)
