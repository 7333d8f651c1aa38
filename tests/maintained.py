"""A view maintained for due evaluations by itself, as the engine does it for one query."""

from bestbefore.engine.asking import Asking


def maintained(served, batch, evaluations, statistics, *, timeline, state, clock):
    """The view's batch, and what its only clause asked and got."""
    view = served.begin(batch, state)
    asking = Asking(served.job, served.view, timeline, statistics)
    for evaluation in evaluations:
        view.step([(asking, evaluation)], clock)
    view.plan_ahead(asking, clock)
    return view, asking
