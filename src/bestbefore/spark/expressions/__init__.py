"""SPARQL expressions as Spark SQL.

A compiled expression is SQL text. Null is the SPARQL error (or an unbound variable): it passes
through functions, `&&` and `||` as SPARQL prescribes, and a FILTER drops it.
"""

from bestbefore.spark.expressions.compiler import Scope, condition_sql, term_sql

__all__ = ["Scope", "condition_sql", "term_sql"]
