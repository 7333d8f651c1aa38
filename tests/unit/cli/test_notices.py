"""What `run` says before it begins."""

import pytest

from bestbefore.cli.logs import set_up_log
from bestbefore.cli.running import _notice_intervals
from bestbefore.job import read_job
from tests.unit.job.test_job_file import tables


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ({}, "how often each unit changes is learned"),
        ({"change_interval": "1h"}, ""),
        ({"change_interval": "learned"}, "how often each unit changes is learned"),
        ({"interval_variable": "?followers"}, ""),
    ],
)
def test_that_change_intervals_are_learned_is_said(view, said, capsys):
    set_up_log("text", "info")
    _notice_intervals(read_job(tables(view=view)).services[0])
    err = capsys.readouterr().err
    assert said in err
    assert bool(err) == bool(said)
