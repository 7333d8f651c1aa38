"""Generators of traces and stores with known properties, the same for the same seed.

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
from bestbefore.generators.shop import ShopStore
from bestbefore.generators.stores import store_generators

__all__ = [
    "PRESETS",
    "BipartiteTraces",
    "FilterSeries",
    "Generator",
    "PoissonTraces",
    "ShopStore",
    "TwitterLike",
    "generators",
    "make_traces",
    "read_parameters",
    "resolve_generator",
    "store_generators",
]
