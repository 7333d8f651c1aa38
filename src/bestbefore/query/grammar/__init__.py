"""The grammar: SPARQL 1.1 with the clauses of RSP-QL, C-SPARQL and CQELS, read in one pass.

It is a recursive descent over tokens. Each `read_…` function reads the production of the W3C's
grammar that its docstring names by number, and gives the algebra that the text means.
https://www.w3.org/TR/sparql11-query/#sparqlGrammar
"""

from bestbefore.query.grammar.queries import parse_query, parse_sparql

__all__ = ["parse_query", "parse_sparql"]
