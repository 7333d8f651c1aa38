from decimal import Decimal

import pytest

from bestbefore.errors import JobError
from bestbefore.job import read_job
from bestbefore.job.explanation import describe_job
from bestbefore.limits import NO_LIMITS

from .test_job_file import tables


def limits_of(own=None, **budget):
    service = {"limits": own} if own is not None else {}
    return read_job(tables(services={"bkg": service}, budget=budget)).services[0].limits


def test_a_job_has_no_limits_unless_it_gives_some():
    assert limits_of() == NO_LIMITS
    assert limits_of(refreshes=3) == NO_LIMITS


def test_a_service_has_its_own_limits_over_those_of_the_job():
    found = limits_of(
        {"per_minute": 30, "cost_per_request": 0.0005, "cost_per_day": "2.5"},
        per_minute=60,
        per_day=1000,
        quiet=["08:00-18:00 Europe/Rome", "22:00-06:00 UTC"],
    )
    assert (found.per_minute, found.per_day) == (30, 1000)
    assert (found.cost_per_request, found.cost_per_day) == (Decimal("0.0005"), Decimal("2.5"))
    assert list(map(str, found.quiet)) == ["08:00-18:00 Europe/Rome", "22:00-06:00 UTC"]


def test_the_budget_of_a_service_may_hold_limits_too():
    services = {"bkg": {"budget": {"per_hour": 7}}}
    job = read_job(tables(services=services, budget={"per_hour": 9, "total": 50}))
    assert (job.services[0].limits.per_hour, job.services[0].limits.total) == (7, 50)


def test_a_ledger_s_folder_counts_from_the_job_file(tmp_path):
    job = read_job(tables(budget={"total": 5, "ledger": "../quota"}), folder=tmp_path)
    assert job.services[0].ledger == str(tmp_path / "../quota")


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"per_minute": 0}, "services.bkg.limits.per_minute = 0: it must be a whole number ≥ 1"),
        ({"total": -1}, "services.bkg.limits.total = -1"),
        ({"per_day": True}, "services.bkg.limits.per_day = True"),
        ({"per_day": 2.5}, "services.bkg.limits.per_day = 2.5"),
        ({"cost_per_request": 0}, "services.bkg.limits.cost_per_request = 0: it must be an amount"),
        ({"cost_per_request": "free"}, "cost_per_request = 'free': it must be an amount"),
        ({"cost_per_request": True}, "cost_per_request = True: it must be an amount"),
        ({"cost_per_day": 5}, "services.bkg.limits: cost_per_day = 5 needs to know what a request"),
        ({"burst": 5}, "services.bkg.limits: burst = 5 saves up"),
        ({"quiet": ["8-18 UTC"]}, "services.bkg.limits.quiet: '8-18 UTC' is no span of hours"),
        ({"quiet": ["08:00-18:00 Roma"]}, "services.bkg.limits.quiet: 'Roma' is no time zone"),
        ({"quiet": "08:00-18:00 UTC"}, "services.bkg.limits.quiet = '08:00-18:00 UTC': it must be"),
        ({"per_minuet": 5}, "unknown key services.bkg.limits.per_minuet; did you mean 'per_minute"),
    ],
)
def test_a_mistake_names_the_key_the_value_and_the_way_out(own, message):
    with pytest.raises(JobError) as raised:
        limits_of(own)
    assert message in str(raised.value)


def test_a_mistake_in_the_budget_names_the_budget():
    with pytest.raises(JobError, match="budget.per_minute = 0"):
        limits_of(per_minute=0)
    with pytest.raises(JobError, match="unknown key budget.refreshed"):
        limits_of(refreshed=3)


def test_explain_shows_the_limits():
    job = read_job(tables(budget={"per_minute": 60, "burst": 90, "quiet": ["8:00-9:00 UTC"]}))
    shown = dict(describe_job(job))["service bkg"]
    assert "limits.per_minute = 60\nlimits.burst = 90 (of per_minute)\n" in shown
    assert "limits.quiet = 08:00-09:00 UTC\nlimits.ledger = in the checkpoint" in shown
    assert "limits: none" in dict(describe_job(read_job(tables())))["service bkg"]
