"""Terms of the SPARQL 1.1 JSON result format."""

from collections.abc import Mapping

from bestbefore.errors import ServiceError
from bestbefore.rdf.terms import IRI, RDF_LANG_STRING, XSD_STRING, BlankNode, Literal, Term

JsonTerm = Mapping[str, str]


def term_from_json(term: JsonTerm) -> Term:
    """Read one term of a SPARQL 1.1 JSON result; what is not a term is a `ServiceError`."""
    try:
        kind, value = term["type"], term["value"]
        if not isinstance(value, str):
            raise ServiceError(f"the value of a result term is not a string: {value!r}")
        match kind:
            case "uri":
                return IRI(value)
            case "bnode":
                return BlankNode(value)
            case "literal" | "typed-literal" if "xml:lang" in term:
                return Literal(value, RDF_LANG_STRING, term["xml:lang"].lower())
            case "literal" | "typed-literal":
                return Literal(value, term.get("datatype", XSD_STRING))
    except (KeyError, TypeError, AttributeError):
        pass
    raise ServiceError(f"not a SPARQL 1.1 JSON result term: {term!r}")
