"""The remote data as they are at each evaluation, and what they answer."""

from bestbefore.arrays import Integers
from bestbefore.maintenance import Reply
from bestbefore.simulator.scenario import Scenario


class RemoteData:
    """The remote data in the course of a run: which version of the background each unit has."""

    def __init__(self, scenario: Scenario) -> None:
        self.background, self._changes = scenario.background, scenario.changes
        self.version, self.position = scenario.initial.copy(), -1
        self.code = self.background.code[self.version]

    def advance(self, position: int) -> None:
        """Let time pass to an evaluation."""
        self.position = position
        versions = self._changes.of(position)
        units = self.background.unit[versions]
        self.version[units] = versions
        self.code[units] = self.background.code[versions]

    def fetch(self, units: Integers) -> Reply:
        """Answer for units at once, with a request each."""
        return Reply(units, self.version[units], requests=len(units))
