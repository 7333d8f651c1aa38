"""Generators of traces: workloads with known properties, the same for the same seed.

Importing the package registers every generator that it holds.
"""

from bestbefore.generators.catalogue import (
    PRESETS,
    make_traces,
    read_parameters,
    resolve_generator,
)
from bestbefore.generators.filter_data import FilterSeries
from bestbefore.generators.generator import Generator, generators
from bestbefore.generators.many_to_many import BipartiteTraces
from bestbefore.generators.one_to_one import PoissonTraces
from bestbefore.generators.parameters import Parameter, parameters_of
from bestbefore.generators.twitter import TwitterLike

__all__ = [
    "PRESETS",
    "BipartiteTraces",
    "FilterSeries",
    "Generator",
    "Parameter",
    "PoissonTraces",
    "TwitterLike",
    "generators",
    "make_traces",
    "parameters_of",
    "read_parameters",
    "resolve_generator",
]
