"""Queries: RSP-QL text read into a frozen, typed algebra, planned, and printed back.

`parse_query` reads text, `plan` finds what an engine needs of the query, `print_query` writes it.
"""

from bestbefore.query.algebra import (
    BGP,
    Ask,
    Construct,
    Describe,
    Distinct,
    Extend,
    Filter,
    Form,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    OrderCondition,
    PathPattern,
    Pattern,
    PatternTerm,
    Project,
    Reduced,
    Select,
    Service,
    Slice,
    TriplePattern,
    Union,
    Values,
    Window,
    services_of,
    variables,
    visible_variables,
    walk,
    windows_of,
)
from bestbefore.query.continuous import (
    ContinuousQuery,
    CountWindow,
    DatasetClause,
    NamedWindow,
    OutputOperator,
    TimeWindow,
)
from bestbefore.query.description import describe_algebra
from bestbefore.query.expressions import Expression, Variable
from bestbefore.query.grammar import parse_query, parse_sparql
from bestbefore.query.needed_triples import TripleShape
from bestbefore.query.plan import QueryPlan, ServicePlan, WindowPlan, plan
from bestbefore.query.printing import (
    print_expression,
    print_pattern,
    print_query,
    print_sparql,
)
from bestbefore.query.query_warnings import QueryWarning, find_warnings
from bestbefore.query.rewrites import rewrite
from bestbefore.query.thresholds import Threshold

# fmt: off
__all__ = [
    "BGP", "Ask", "Construct", "ContinuousQuery", "CountWindow", "DatasetClause", "Describe",
    "Distinct", "Expression", "Extend", "Filter", "Form", "Graph", "Group", "Join", "LeftJoin",
    "Minus", "NamedWindow", "OrderBy", "OrderCondition", "OutputOperator", "PathPattern",
    "Pattern", "PatternTerm", "Project", "QueryPlan", "QueryWarning", "Reduced", "Select",
    "Service", "ServicePlan", "Slice", "Threshold", "TimeWindow", "TriplePattern", "TripleShape",
    "Union", "Values", "Variable", "Window", "WindowPlan", "describe_algebra", "find_warnings",
    "parse_query", "parse_sparql", "plan", "print_expression", "print_pattern", "print_query",
    "print_sparql", "rewrite", "services_of", "variables", "visible_variables", "walk",
    "windows_of",
]
