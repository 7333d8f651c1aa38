"""RDF documents that pyoxigraph read, as encoded triples."""

from collections.abc import Iterable

import pyoxigraph as ox

from bestbefore.rdf.terms import IRI, BlankNode, Literal, Term, encode

Triple = tuple[str, str, str]


def encoded_triples(quads: Iterable[ox.Quad], *, scope: str) -> list[Triple]:
    """The triples of a document; its blank nodes are numbered and named after a scope.

    So a document that is read again gives the same names, and two of different scopes share none.
    What is no triple of RDF 1.1 is a `ValueError`.
    """
    labels: dict[str, str] = {}

    def encoded(node: object) -> str:
        term = term_of(node)
        if isinstance(term, BlankNode):
            term = BlankNode(labels.setdefault(term.label, f"b{len(labels)}x{scope}"))
        return encode(term)

    return [
        (encoded(quad.subject), encoded(quad.predicate), encoded(quad.object)) for quad in quads
    ]


def term_of(node: object) -> Term:
    """The term behind a node of pyoxigraph."""
    match node:
        case ox.NamedNode():
            return IRI(node.value)
        case ox.BlankNode():
            return BlankNode(node.value)
        case ox.Literal() if node.direction is None:
            return Literal(node.value, node.datatype.value, node.language)
    raise ValueError(f"{node} is no term of an RDF 1.1 triple")
