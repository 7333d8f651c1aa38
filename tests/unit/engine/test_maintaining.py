"""What the due evaluations of a batch are told of each other."""

import pytest

from bestbefore.engine.asking import Asking
from bestbefore.engine.key_statistics import counts_of
from bestbefore.engine.maintaining import QueryNeeds, maintain_all
from bestbefore.job import read_job
from bestbefore.windows import Instants, Timeline

from .conftest import WINDOW, counted, query, random_events

EVALUATIONS = list(range(1, 12))


@pytest.mark.parametrize(
    ("policy", "options", "shared_budget", "together"),
    [
        ("EFG", {}, None, True),
        ("EFG", {}, 2, False),
        ("EFG", {"start": 100, "fill": "on-demand"}, None, False),
        ("FBA(SBM-BGP)", {}, None, False),
        ("price(EFG)", {}, None, False),
    ],
)
def test_evaluations_are_noted_together_only_if_none_spends_what_others_leave(
    rig, policy, options, shared_budget, together
):
    run = rig(policy, change_interval="7s", **options).run([], batches=[])
    view = run.served.begin(0, run.state.view("bkg"))
    view.ledger.together_s = 3600.0
    tables = {"query": {"text": query()}, "streams": {"s": {"source": "dataframe"}},
              "services": {"bkg": {}}, "budget": {"refreshes": 2}}  # fmt: skip
    counts = counted(random_events(7), WINDOW, EVALUATIONS, run.job.join_key)
    asking = Asking(run.job, run.view, Timeline(Instants((WINDOW,))), counts_of(counts, ["?user"]))
    plan = read_job(tables).plan
    maintain_all([QueryNeeds(plan, EVALUATIONS, [view], [asking], run.clock, shared_budget)])
    asked = sum(len(outcome.elected) > 0 for outcome in view.outcomes)
    assert asked > 5
    assert len(view.ledger.journal.names(0)) == (2 if together else asked)
