"""Whether a query can tell of each answer row how probably it is fresh (`sink.row_freshness`).

A row is as fresh as what it is joined of. Where it depends on what a service does *not* have, no
row of a view could tell.
"""

from collections.abc import Iterator

from bestbefore.errors import JobError
from bestbefore.job.job import Job, ServiceSettings, listed
from bestbefore.query import OutputOperator
from bestbefore.query.algebra import Ask, Group, LeftJoin, Minus, Variable, services_of, walk
from bestbefore.query.scope import variables


def check_row_freshness(job: Job) -> None:
    """Refuse what would have to be guessed."""
    for reason in _reasons(job):
        raise JobError(
            f"sink.row_freshness = true: {reason}; leave it out, "
            "quality records have the estimated freshness of the whole answer"
        )


def _reasons(job: Job) -> Iterator[str]:
    if isinstance(job.query.form, Ask):
        yield "ASK is answered with no row of its own, and its false depends on all that is missing"
    elif job.query.output is OutputOperator.DSTREAM:
        yield "a row that DSTREAM gives is gone, and whether it should be is not known"
    for node in walk(job.plan.around):
        if isinstance(node, LeftJoin | Minus) and (clauses := services_of(node.right)):
            word = "OPTIONAL" if isinstance(node, LeftJoin) else "MINUS"
            yield (
                f"SERVICE <{clauses[0].iri}> stands in {word}, and how probably a service still "
                "has nothing is not known row by row"
            )
        if isinstance(node, Group):
            yield from _of_group(node, [job.services[number] for number in _numbers(node)])


def _numbers(group: Group) -> list[int]:
    numbers = (clause.number for clause in services_of(group.pattern))
    return [number for number in numbers if number is not None]


def _of_group(group: Group, services: list[ServiceSettings]) -> Iterator[str]:
    """Why the units behind a group cannot be told apart, if so."""
    keys = {key.name for key in group.keys}
    if len(services) > 1 and not all(keys.issuperset(one.refresh_key) for one in services):
        names = " and ".join(service.name for service in services)
        yield f"a group has rows of {names}, of several units, and which pairs of them is not known"
    for service in services:
        units = {Variable(name) for name in service.refresh_key}
        hiding = (
            node
            for node in walk(group.pattern)
            if service.plan.service in services_of(node) and not units <= {*variables(node)}
        )
        if any(hiding):
            yield (
                f"a group has rows of several units of {service.name}, and a subquery in it does "
                f"not select {listed(service.refresh_key)}, which names them"
            )
