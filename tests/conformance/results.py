"""Results of queries: read as the W3C writes them, and compared as it asks.

Numbers are equal by type and value, since a result may write 2.50 for 2.5; blank nodes are equal up
to their labels.
"""

import struct
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from zlib import crc32

import pyoxigraph as ox

from bestbefore.rdf.documents import encoded_triples, term_of
from bestbefore.rdf.terms import XSD, decode, encode

from .manifest import file_of

RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_ROW = "urn:row:"
_EXACT = ("integer", "decimal", "long", "int", "short", "byte", "nonNegativeInteger")


@dataclass(frozen=True)
class Bindings:
    """Mappings in an order, as encoded terms; unbound variables are left out."""

    rows: tuple[tuple[tuple[str, str], ...], ...]


@dataclass(frozen=True)
class Truth:
    """The answer to ASK."""

    value: bool


@dataclass(frozen=True)
class Triples:
    """The answer to CONSTRUCT, as encoded terms."""

    triples: frozenset[tuple[str, str, str]]


def encoded(node):
    """A node of pyoxigraph in our encoding."""
    return encode(term_of(node))


def read_triples(iri):
    """The triples of a data file, as encoded terms; no other file has its blank nodes."""
    path = file_of(iri)
    found = ox.parse(
        path=str(path), base_iri=iri, format=ox.RdfFormat.from_extension(path.suffix[1:])
    )
    return encoded_triples(found, scope=f"{crc32(iri.encode()):x}")


def read_result(iri, *, construct):
    """The result that a test expects."""
    path = file_of(iri)
    if path.suffix in (".srx", ".srj"):
        kind = ox.QueryResultsFormat.from_extension(path.suffix[1:])
        found = ox.parse_query_results(path=str(path), format=kind)
        return Truth(bool(found)) if isinstance(found, ox.QueryBoolean) else bindings(found)
    triples = read_triples(iri)
    return Triples(frozenset(triples)) if construct else _result_set(triples)


def bindings(found):
    names = [each.value for each in found.variables]
    rows = ([(name, row[name]) for name in names] for row in found)
    return Bindings(
        tuple(tuple((name, encoded(term)) for name, term in row if term) for row in rows)
    )


def _result_set(triples):
    """A result written in RDF: a node per solution, with a node per binding."""
    values = {}
    for subject, predicate, object_ in triples:
        values.setdefault((subject, predicate[1:-1].removeprefix(RS)), []).append(object_)
    truth = [objects for (_, name), objects in values.items() if name == "boolean"]
    if truth:
        return Truth(truth[0][0].startswith('"true"'))
    solutions = [
        each for (_, name), objects in values.items() if name == "solution" for each in objects
    ]
    rows = []
    for solution in solutions:
        pairs = [
            (values[binding, "variable"][0].strip('"'), values[binding, "value"][0])
            for binding in values.get((solution, "binding"), [])
        ]
        (index,) = values.get((solution, "index"), ['"0"'])
        rows.append((int(decode(index).lexical), tuple(sorted(pairs))))
    return Bindings(tuple(row for _, row in sorted(rows)))


def same(found, expected, *, ordered=False, lax=False):
    """Whether two results are the same.

    A lax one (of REDUCED) may have a row less often than expected, but must have it.
    """
    if type(found) is not type(expected):
        return False
    match found:
        case Truth():
            return found == expected
        case Triples():
            return _canonical_triples(found) == _canonical_triples(expected)
    if ordered and [_plain(row) for row in found.rows] != [_plain(row) for row in expected.rows]:
        return False
    if lax and not Counter(map(_plain, found.rows)) <= Counter(map(_plain, expected.rows)):
        return False
    return _canonical_rows(found, lax=lax) == _canonical_rows(expected, lax=lax)


def _plain(row):
    """A row in which all blank nodes are the same."""
    terms = ((name, "_:" if term.startswith("_:") else by_value(term)) for name, term in row)
    return tuple(sorted(terms))


def _canonical_rows(bindings, *, lax):
    graph = ox.Dataset()
    counted = Counter(
        tuple(sorted((name, by_value(term)) for name, term in row)) for row in bindings.rows
    )
    for number, (row, count) in enumerate(counted.items()):
        node = ox.BlankNode(f"row{number}")
        copies = ox.Literal(str(1 if lax else count))
        graph.add(ox.Quad(node, ox.NamedNode(f"{_ROW}count"), copies))
        for name, term in row:
            graph.add(ox.Quad(node, ox.NamedNode(f"{_ROW}{name}"), _object(term)))
    return _canonical(graph)


def _canonical_triples(found):
    graph = ox.Dataset()
    for triple in found.triples:
        subject, predicate, object_ = (_object(by_value(each)) for each in triple)
        graph.add(ox.Quad(subject, predicate, object_))
    return _canonical(graph)


def _canonical(graph):
    graph.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return {str(quad) for quad in graph}


def _object(term):
    if term.startswith("<"):
        return ox.NamedNode(term[1:-1])
    return ox.BlankNode(term[2:]) if term.startswith("_:") else ox.Literal(term)


def by_value(term):
    """A number in one form per value, any other term as it is."""
    form, mark, kind = term[1:].rpartition('"^^<')
    local = kind[:-1].removeprefix(XSD)
    try:
        if mark and local in _EXACT:
            return f'"{Decimal(form).normalize():f}"^^{local}'
        if mark and local == "double":
            return f'"{float(form)!r}"^^{local}'
        if mark and local == "float":
            return f'"{struct.unpack("f", struct.pack("f", float(form)))[0]!r}"^^{local}'
    except (InvalidOperation, ValueError):
        pass
    return term
