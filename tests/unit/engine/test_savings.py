"""Budget that moves in time (FBA)."""

from .conftest import BATCHES, integer, random_events, user


def spent(rig):
    return [len(outcome["elected"]) for outcome in rig.outcomes]


def horizon_bound(rig):
    """No more up to an evaluation than the budgets of all evaluations to its horizon's end."""
    budget, total = rig.job.budget, 0
    for place, each in enumerate(spent(rig), start=1):
        total += each
        assert total <= (place + 1) * budget
    return total


def test_flexible_budget_is_saved_and_borrowed_within_the_horizon(rig):
    run = rig("FBA(IBM-BGP)", rows=[(user(n), integer(n)) for n in range(12)], budget=2,
              change_interval="7s")  # fmt: skip
    run.run(random_events(1), batches=BATCHES)
    saved, expected = 0, []
    for each in spent(run):
        saved = min(saved + 2 - each, 4)
        expected.append(saved)
    assert [outcome["saved"] for outcome in run.outcomes] == expected
    assert run.state.view("bkg").saved == expected[-1]
    assert min(expected) >= -2
    assert any(each > 2 for each in spent(run)), "it never moved budget"
    horizon_bound(run)


def test_fixed_budget_saves_nothing(rig):
    run = rig("WSJ-WBM").run(random_events(1), batches=BATCHES)
    assert {outcome["saved"] for outcome in run.outcomes} == {0}
