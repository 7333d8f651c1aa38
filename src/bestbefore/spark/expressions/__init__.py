"""SPARQL expressions as Spark columns.

A compiled expression is SQL text. Null is the SPARQL error (or an unbound variable): it passes
through functions, `&&` and `||` as SPARQL prescribes, and a FILTER drops it.
"""

from bestbefore.spark.expressions.compiler import (
    Scope,
    compile_condition,
    compile_term,
    condition_sql,
    term_sql,
)

__all__ = ["Scope", "compile_condition", "compile_term", "condition_sql", "term_sql"]
