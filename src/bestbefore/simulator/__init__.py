"""The simulator: the maintenance kernel over traces instead of a stream and a service."""

from bestbefore.simulator.answers import Condition
from bestbefore.simulator.result import Result, summarise
from bestbefore.simulator.run import Setting, run
from bestbefore.simulator.scenario import Scenario, make_scenario

__all__ = ["Condition", "Result", "Scenario", "Setting", "make_scenario", "run", "summarise"]
