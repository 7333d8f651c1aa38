"""A view maintained for due evaluations by itself, as the engine does it for one query."""

from bestbefore.engine.asking import Asking
from bestbefore.engine.key_statistics import counts_of


def maintained(served, batch, evaluations, statistics, *, timeline, state, clock, together_s=None):
    """The view's batch, and what its only clause asked and got.

    With `together_s` evaluations that are likely to be done so soon are reserved for ahead.
    """
    view = served.begin(batch, state)
    if together_s is not None:
        view.expect(evaluations)
        view.ledger.together_s = together_s
    counts = counts_of(statistics, [f"?{name}" for name in served.job.join_key])
    asking = Asking(served.job, served.view, timeline, counts)
    for evaluation in evaluations:
        view.step([(asking, evaluation)], clock)
    view.plan_ahead(asking, clock)
    return view, asking
