"""The papers' laboratory: a view that has all that the service has before the first evaluation."""


def loaded(view=None):
    """A job's [view] that is loaded at the start, unless it says or needs otherwise."""
    view = view or {}
    return view if "capacity" in view or "fill" in view else {"fill": "start", **view}
