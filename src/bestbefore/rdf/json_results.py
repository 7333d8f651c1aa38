"""Terms of the SPARQL 1.1 JSON result format."""

from typing import Any

from bestbefore.errors import ServiceError
from bestbefore.rdf.foreign_terms import encode_blank_node, encode_iri, encode_literal
from bestbefore.rdf.terms import IRI, XSD, BlankNode, Literal, decode


def encode_json_term(term: Any) -> str:  # noqa: ANN401 - whatever a service wrote there
    """The encoding of one term of a SPARQL 1.1 JSON result.

    What has not the form of a term is a `ServiceError`, a value that no term has `NotATermError`.
    """
    try:
        kind, value = term["type"], term["value"]
        if kind == "uri":
            return encode_iri(value)
        if kind in ("literal", "typed-literal"):
            return encode_literal(value, term.get("datatype"), term.get("xml:lang"))
        if kind == "bnode":
            return encode_blank_node(value)
    except (KeyError, TypeError, AttributeError):
        pass
    raise ServiceError(f"not a SPARQL 1.1 result term: {term!r}")


def json_term(text: str) -> dict[str, str]:
    """An encoded term in the form of a SPARQL 1.1 JSON result."""
    match decode(text):
        case IRI(value):
            return {"type": "uri", "value": value}
        case BlankNode(label):
            return {"type": "bnode", "value": label}
        case Literal(lexical, datatype, language):
            literal = {"type": "literal", "value": lexical}
            if language:
                return {**literal, "xml:lang": language}
            return literal if datatype == f"{XSD}string" else {**literal, "datatype": datatype}
