"""RDF terms in string columns: their parts as Spark SQL.

The encoding is that of `bestbefore.rdf.terms`. A null stands for an unbound variable or a SPARQL
error; SQL's three-valued logic is then exactly SPARQL's. Arguments that are used more than once
must be cheap (`sql.Cheap`).
"""

from bestbefore.rdf.terms import RDF_LANG_STRING, XSD, XSD_STRING
from bestbefore.spark.sql import Cheap, call, if_known, let, once, quote


def type_suffix(local_name: str) -> str:
    """What follows the lexical form of a literal of an XML Schema type."""
    return f"^^<{XSD}{local_name}>"


def is_iri(term: str) -> str:
    """Whether a term is an IRI."""
    return f"startswith({term}, '<')"


def is_blank(term: str) -> str:
    """Whether a term is a blank node."""
    return f"startswith({term}, '_:')"


def is_literal(term: str) -> str:
    """Whether a term is a literal."""
    return f"startswith({term}, '\"')"


def suffix(literal: Cheap) -> Cheap:
    """What follows the lexical form of a literal: nothing, `@language` or `^^<datatype>`."""
    return Cheap(f"substring_index({literal}, '\"', -1)")


def form(literal: Cheap, ending: str) -> Cheap:
    """The lexical form of a literal whose suffix is known."""
    return Cheap(call("substr", literal, "2", f"length({literal}) - 2 - length({ending})"))


@once
def text(term: Cheap) -> str:
    """The result of STR: a literal's lexical form or an IRI's characters."""
    return (
        f"CASE WHEN {is_literal(term)} THEN {form(term, suffix(term))} "
        f"WHEN {is_iri(term)} THEN substr({term}, 2, length({term}) - 2) END"
    )


def language(term: Cheap) -> str:
    """The language of a literal, empty if it has none; null for other terms."""
    return f"CASE WHEN {is_literal(term)} THEN regexp_extract({suffix(term)}, '^@(.*)$', 1) END"


def datatype(term: Cheap) -> str:
    """The datatype of a literal as an encoded IRI; null for other terms."""
    tagged, plain = quote(f"<{RDF_LANG_STRING}>"), quote(f"<{XSD_STRING}>")
    return let(
        f"CASE WHEN {is_literal(term)} THEN {suffix(term)} END",
        lambda ending: (
            f"CASE WHEN {ending} = '' THEN {plain} WHEN startswith({ending}, '@') THEN {tagged} "
            f"ELSE substr({ending}, 3) END"
        ),
    )


def literal(lexical_form: str, ending: str = "''") -> str:
    """The encoding of a literal with a suffix."""
    return f"concat('\"', {lexical_form}, '\"', {ending})"


def percent_encoded(text: str) -> str:
    """A text with all but letters, digits, `-`, `.`, `_` and `~` percent-encoded.

    Spark encodes as HTML forms do, which differs in three characters.
    """
    encoded = f"url_encode({text})"
    for in_form, in_iri in (("+", "%20"), ("*", "%2A"), ("%7E", "~")):
        encoded = f"replace({encoded}, '{in_form}', '{in_iri}')"
    return encoded


def json_term(term: Cheap) -> str:
    """The term as a struct in the shape of a SPARQL 1.1 JSON result term."""
    kind = (
        f"CASE WHEN {is_iri(term)} THEN 'uri' WHEN {is_blank(term)} THEN 'bnode' "
        f"WHEN {is_literal(term)} THEN 'literal' END"
    )
    value = f"CASE WHEN {is_blank(term)} THEN substr({term}, 3) ELSE {text(term)} END"
    ending = f"CASE WHEN {is_literal(term)} THEN {suffix(term)} END"
    tag = f"nullif(regexp_extract({ending}, '^@(.*)$', 1), '')"
    typed = f"nullif(regexp_extract({ending}, '^\\\\^\\\\^<(.*)>$', 1), '')"
    fields = f"'type', {kind}, 'value', {value}, 'xml:lang', {tag}, 'datatype', {typed}"
    return if_known(term, f"named_struct({fields})")
