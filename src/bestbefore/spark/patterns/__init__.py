"""Graph patterns as relations; every row says to which evaluation, or evaluations, it belongs."""

from bestbefore.spark.patterns.compiler import compile_solutions
from bestbefore.spark.patterns.context import Dataset, TripleSource
from bestbefore.spark.patterns.solutions import Solutions

__all__ = ["Dataset", "Solutions", "TripleSource", "compile_solutions"]
