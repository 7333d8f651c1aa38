"""The maintenance of a batch: the due evaluations of its queries, in the order of their times.

At each time the views are maintained one after the other, a service that asks for what another one
answers after that one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow as pa

from bestbefore.engine.asking import Asking
from bestbefore.engine.served_view import ViewBatch
from bestbefore.maintenance import EventClock, Outcome
from bestbefore.query import QueryPlan, ServicePlan


@dataclass
class QueryNeeds:
    """A query with the evaluations of it that are answered, and what its services are asked.

    `views` and `askings` are in the order of the services; with a `budget`, they share it.
    """

    plan: QueryPlan
    evaluations: Sequence[int]
    views: Sequence[ViewBatch]
    askings: Sequence[Asking]
    clock: EventClock
    budget: int | None = None

    def times(self) -> Iterator[tuple[int, int]]:
        """The evaluations, each after its time."""
        for evaluation in self.evaluations:
            yield self.askings[0].timeline.at(evaluation), evaluation

    def slices(self) -> list[pa.Table]:
        """What job B joins with, per service."""
        return [asking.table() for asking in self.askings]

    def outcomes(self) -> list[list[Outcome]]:
        """What maintenance did, per service and evaluation."""
        return [asking.outcomes for asking in self.askings]

    def pass_on(self, service: ServicePlan, evaluation: int) -> None:
        """Let a service need what the one before it answers now."""
        if service.after is not None:
            asking = self.askings[service.number]
            before = self.askings[service.after]
            asking.need(before.passed_on(evaluation, asking.clause.join_key))

    def share(self, service: ServicePlan, evaluation: int) -> int | None:
        """The part of a shared budget that a service may spend: that of the best units it has.

        What services to come are going to need is told by what the views hold now.
        """
        if self.budget is None:
            return None
        order = list(self.plan.in_order)
        done, waiting = order[: order.index(service)], order[order.index(service) + 1 :]
        left = self.budget - sum(self.views[one.number].spent(evaluation) for one in done)
        if not waiting or left <= 0:
            return max(0, left)
        own = self._worth(service, evaluation)
        for one in waiting:
            self.pass_on(one, evaluation)
        others = np.concatenate([self._worth(one, evaluation) for one in waiting])
        found = np.concatenate([own, others])
        # Of equals, those of who comes first.
        best = np.argsort(-found, kind="stable")[:left]
        return int(np.count_nonzero((best < len(own)) & (found[best] > 0)))

    def _worth(self, service: ServicePlan, evaluation: int) -> np.ndarray:
        number = service.number
        return self.views[number].worth(self.askings[number], evaluation, self.clock)


def maintain_all(queries: Sequence[QueryNeeds]) -> None:
    """Maintain the views for all due evaluations; queries that share a view share its refreshes."""
    due = [
        (t_ms, number, evaluation)
        for number, query in enumerate(queries)
        if query.askings
        for t_ms, evaluation in query.times()
    ]
    due.sort()
    sharing = {id(view) for query in queries if query.budget is not None for view in query.views}
    for view in _views_of(queries):
        if id(view) in sharing:
            # Services that share a budget spend what others leave: each is noted before the next.
            continue
        # At one time a view is maintained once, whoever needs it.
        times = {t_ms: evaluation for t_ms, number, evaluation in reversed(due)
                 if any(view is own for own in queries[number].views)}  # fmt: skip
        view.expect([times[t_ms] for t_ms in sorted(times)])
    for _, at_one_time in groupby(due, key=lambda each: each[0]):
        _maintain_at([(queries[number], evaluation) for _, number, evaluation in at_one_time])
    for query in queries:
        for view, asking in zip(query.views, query.askings, strict=True):
            view.plan_ahead(asking, query.clock)


def _views_of(queries: Sequence[QueryNeeds]) -> list[ViewBatch]:
    """The views of all queries, each once."""
    return list({id(view): view for query in queries for view in query.views}.values())


def _maintain_at(due: Sequence[tuple[QueryNeeds, int]]) -> None:
    """Maintain the views for the evaluations at one time, services that depend on others later."""
    waiting = [
        (query.plan.depth(service), query, service, evaluation)
        for query, evaluation in due
        for service in query.plan.services
    ]
    waiting.sort(key=lambda each: each[0])
    done = set[int]()
    for depth, query, service, evaluation in waiting:
        view = query.views[service.number]
        if id(view) in done:
            continue
        done.add(id(view))
        together = [
            (other, one, number)
            for level, other, one, number in waiting
            if level == depth and other.views[one.number] is view
        ]
        for other, one, number in together:
            other.pass_on(one, number)
        askings = [(other.askings[one.number], number) for other, one, number in together]
        view.step(askings, query.clock, budget=query.share(service, evaluation))
