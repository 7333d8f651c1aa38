"""The short form of the campaign: a few tries of each trial, without any fault."""

import os
import subprocess
import sys

import pytest

from tests.run_processes import JAVA_OPTIONS

from .findings import COLUMNS, Findings, table
from .trials import TRIALS


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_nothing_is_found(trial, tmp_path, request):
    if trial.alone:
        check_in_a_process_of_its_own(trial)
        return

    def spark():
        return request.getfixturevalue("spark")

    findings = trial.run(tmp_path, spark, count=trial.short)
    assert findings.trials >= trial.short
    assert findings.notes == []
    assert not findings.faults


def check_in_a_process_of_its_own(trial):
    ran = subprocess.run(
        [sys.executable, "-m", "tests.faults", trial.name, "--count", str(trial.short)],
        env={**os.environ, "SPARK_SUBMIT_OPTS": JAVA_OPTIONS},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    head, line = ran.stdout.splitlines()
    found = dict(zip(head.split(), line.split(), strict=True))
    assert int(found["trials"]) >= trial.short
    assert {found[column] for column in COLUMNS} == {"0"}


def test_the_table_has_a_line_per_trial_with_every_fault_counted():
    findings = Findings("kills", trials=200, seconds=12.6)
    findings.found("lost", "an evaluation", times=3)
    findings.found("hangs", "a run")
    head, line = table([findings]).splitlines()
    assert head.split() == ["trial", "trials", *COLUMNS, "seconds"]
    assert line.split() == ["kills", "200", "3", "0", "0", "0", "0", "0", "1", "13"]
    with pytest.raises(ValueError, match="luck"):
        findings.found("luck", "none")
