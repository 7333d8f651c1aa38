"""The short form of the campaign: a few tries of each trial, without any fault."""

import pytest

from .findings import COLUMNS, Findings, table
from .trials import TRIALS


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_nothing_is_found(trial, tmp_path, request):
    def spark():
        return request.getfixturevalue("spark")

    findings = trial.run(tmp_path, spark, count=trial.short)
    assert findings.trials >= trial.short
    assert findings.notes == []
    assert not findings.faults


def test_the_table_has_a_line_per_trial_with_every_fault_counted():
    findings = Findings("kills", trials=200, seconds=12.6)
    findings.found("lost", "an evaluation", times=3)
    findings.found("hangs", "a run")
    head, line = table([findings]).splitlines()
    assert head.split() == ["trial", "trials", *COLUMNS, "seconds"]
    assert line.split() == ["kills", "200", "3", "0", "0", "0", "0", "0", "1", "13"]
    with pytest.raises(ValueError, match="luck"):
        findings.found("luck", "none")
