"""Enrichment: a streaming DataFrame joined with a lookup, for who has no use for SPARQL.

enriching ─► lookups (a section of a job file each) and events (rows as triples)
          └► the engine ─► enriched (answers as rows of Spark types)
"""

from bestbefore.enrichment.enriching import enrich
from bestbefore.enrichment.lookups import HttpLookup, SparqlLookup, SqlLookup

__all__ = ["HttpLookup", "SparqlLookup", "SqlLookup", "enrich"]
