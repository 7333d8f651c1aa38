"""Queries: RSP-QL text read into a frozen, typed algebra, planned, and printed back.

`parse_query` reads text, `plan` finds what an engine needs of the query, `print_query` writes it.
"""

from bestbefore.query.algebra import (
    BGP,
    Construct,
    Filter,
    Form,
    Join,
    Pattern,
    PatternTerm,
    Select,
    Service,
    TriplePattern,
    Window,
    services_of,
    variables,
    walk,
    windows_of,
)
from bestbefore.query.continuous import ContinuousQuery, NamedWindow, OutputOperator
from bestbefore.query.expression_printing import print_expression
from bestbefore.query.expressions import Expression, Variable
from bestbefore.query.parsing import parse_query
from bestbefore.query.plan import QueryPlan, plan
from bestbefore.query.printing import describe_algebra, print_pattern, print_query
from bestbefore.query.thresholds import Threshold

__all__ = [
    "BGP",
    "Construct",
    "ContinuousQuery",
    "Expression",
    "Filter",
    "Form",
    "Join",
    "NamedWindow",
    "OutputOperator",
    "Pattern",
    "PatternTerm",
    "QueryPlan",
    "Select",
    "Service",
    "Threshold",
    "TriplePattern",
    "Variable",
    "Window",
    "describe_algebra",
    "parse_query",
    "plan",
    "print_expression",
    "print_pattern",
    "print_query",
    "services_of",
    "variables",
    "walk",
    "windows_of",
]
