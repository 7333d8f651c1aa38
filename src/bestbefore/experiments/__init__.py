"""Experiments: many simulated runs, in this process or spread over Spark."""

from bestbefore.experiments.simulation import simulate

__all__ = ["simulate"]
