"""RDF terms in string columns: their parts as native Spark expressions.

The encoding is that of `bestbefore.rdf.terms`. A null column stands for an unbound variable or a
SPARQL error; Spark's three-valued logic is then exactly SPARQL's.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.rdf.numbers import DECIMAL_FORM, DOUBLE_FORM, DOUBLE_SUFFIXES, EXACT_SUFFIXES
from bestbefore.rdf.terms import XSD, XSD_STRING

BOOLEAN_SUFFIX = f"^^<{XSD}boolean>"
DATETIME_SUFFIX = f"^^<{XSD}dateTime>"
EXACT_TYPE = "decimal(38,18)"


def is_iri(term: Column) -> Column:
    """Whether a term is an IRI."""
    return term.startswith("<")


def is_blank(term: Column) -> Column:
    """Whether a term is a blank node."""
    return term.startswith("_:")


def is_literal(term: Column) -> Column:
    """Whether a term is a literal."""
    return term.startswith('"')


def lexical(term: Column) -> Column:
    """The lexical form of a literal, null for other terms."""
    return F.when(is_literal(term), _between_quotes(term))


def _between_quotes(term: Column) -> Column:
    return F.regexp_extract(term, r'(?s)^"(.*)"', 1)


def suffix(term: Column) -> Column:
    """What follows the lexical form of a literal: nothing, `@language` or `^^<datatype>`."""
    return F.when(is_literal(term), F.regexp_extract(term, r'(?s)^".*"(.*)$', 1))


def text(term: Column) -> Column:
    """The result of STR: a literal's lexical form or an IRI's characters."""
    return F.when(is_iri(term), term.substr(F.lit(2), F.length(term) - 2)).otherwise(lexical(term))


def language(term: Column) -> Column:
    """The language of a literal, empty if it has none."""
    return F.when(is_literal(term), F.regexp_extract(term, r'(?s)^".*"@(.*)$', 1))


def datatype(term: Column) -> Column:
    """The datatype of a literal as an encoded IRI."""
    found = F.regexp_extract(term, r'(?s)^".*"\^\^(<.*>)$', 1)
    return F.when(
        is_literal(term) & (language(term) == ""),
        F.when(found == "", F.lit(f"<{XSD_STRING}>")).otherwise(found),
    )


def exact(term: Column) -> Column:
    """The value of an integer or decimal literal, null for anything else."""
    form = _between_quotes(term)
    known = suffix(term).isin(*EXACT_SUFFIXES) & form.rlike(DECIMAL_FORM)
    return F.when(known, form.try_cast(EXACT_TYPE))


def double(term: Column) -> Column:
    """The value of any numeric literal as a double, null for anything else."""
    form, kind = _between_quotes(term), suffix(term)
    return F.when(
        kind.isin(*EXACT_SUFFIXES), F.when(form.rlike(DECIMAL_FORM), form.try_cast("double"))
    ).when(
        kind.isin(*DOUBLE_SUFFIXES) & form.rlike(DOUBLE_FORM),
        F.replace(form, F.lit("INF"), F.lit("Infinity")).try_cast("double"),
    )


def boolean(term: Column) -> Column:
    """The value of a boolean literal, null for anything else."""
    form = lexical(term)
    return F.when(
        suffix(term) == BOOLEAN_SUFFIX,
        F.when(form.isin("true", "1"), F.lit(True)).when(form.isin("false", "0"), F.lit(False)),  # noqa: FBT003
    )


def instant(term: Column) -> Column:
    """The value of a dateTime literal, null for anything else."""
    return F.when(suffix(term) == DATETIME_SUFFIX, lexical(term).try_cast("timestamp"))


def string(term: Column) -> Column:
    """The value of a plain string literal, null for anything else."""
    return F.when(suffix(term) == "", lexical(term))


def json_term(term: Column) -> Column:
    """The term as a struct in the shape of a SPARQL 1.1 JSON result term."""
    tag = language(term)
    kind = (
        F.when(is_iri(term), "uri").when(is_blank(term), "bnode").when(is_literal(term), "literal")
    )
    value = F.when(is_blank(term), term.substr(F.lit(3), F.length(term))).otherwise(text(term))
    type_iri = datatype(term)
    typed = F.when(type_iri != f"<{XSD_STRING}>", text(type_iri))
    return F.when(
        term.isNotNull(),
        F.struct(
            kind.alias("type"),
            value.alias("value"),
            F.when(tag != "", tag).alias("xml:lang"),
            typed.alias("datatype"),
        ),
    )
