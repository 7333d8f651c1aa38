"""Queries: RSP-QL text read into a frozen, typed algebra, planned, and printed back.

`parse_query` reads text, `plan` finds what an engine needs of the query, `print_query` writes it.
The nodes are in `algebra`, `expressions` and `paths`.
"""

from bestbefore.query.continuous import (
    ContinuousQuery,
    CountWindow,
    DatasetClause,
    NamedWindow,
    OutputOperator,
    TimeWindow,
)
from bestbefore.query.description import describe_algebra
from bestbefore.query.grammar import parse_query, parse_sparql
from bestbefore.query.needed_triples import TripleShape
from bestbefore.query.plan import QueryPlan, ServicePlan, WindowPlan, plan
from bestbefore.query.printing import print_query, print_sparql
from bestbefore.query.query_warnings import find_warnings
from bestbefore.query.rewrites import rewrite
from bestbefore.query.thresholds import Threshold

# fmt: off
__all__ = [
    "ContinuousQuery", "CountWindow", "DatasetClause", "NamedWindow", "OutputOperator", "QueryPlan",
    "ServicePlan", "Threshold", "TimeWindow", "TripleShape", "WindowPlan", "describe_algebra",
    "find_warnings", "parse_query", "parse_sparql", "plan", "print_query", "print_sparql",
    "rewrite",
]
