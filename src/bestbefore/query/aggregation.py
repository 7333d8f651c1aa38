"""Aggregation: the aggregates of one SELECT, each under the hidden variable of its result."""

from dataclasses import dataclass, field

from bestbefore.query.expressions import Aggregate, Variable


@dataclass(slots=True)
class Aggregates:
    """The aggregates met so far; equal ones share a variable."""

    found: dict[Aggregate, Variable] = field(default_factory=dict)

    def variable(self, aggregate: Aggregate) -> Variable:
        """The variable that stands for an aggregate in expressions."""
        return self.found.setdefault(aggregate, Variable(f".a{len(self.found) + 1}"))

    def named(self) -> tuple[tuple[Variable, Aggregate], ...]:
        """The aggregates with their variables, as `Group` has them."""
        return tuple((variable, aggregate) for aggregate, variable in self.found.items())
