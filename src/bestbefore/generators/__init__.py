"""Generators of traces: workloads with known properties, the same for the same seed.

Importing the package registers every generator that it holds.
"""

from bestbefore.generators.catalogue import (
    PRESETS,
    Generator,
    generators,
    make_traces,
    read_parameters,
    resolve_generator,
)
from bestbefore.generators.followers import FilterSeries, TwitterLike
from bestbefore.generators.many_to_many import BipartiteTraces
from bestbefore.generators.one_to_one import PoissonTraces

__all__ = [
    "PRESETS",
    "BipartiteTraces",
    "FilterSeries",
    "Generator",
    "PoissonTraces",
    "TwitterLike",
    "generators",
    "make_traces",
    "read_parameters",
    "resolve_generator",
]
