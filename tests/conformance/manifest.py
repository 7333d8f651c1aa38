"""The W3C's manifests: what is tested, on which data, with which result."""

import os
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox
import pytest

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
DAWGT = "http://www.w3.org/2001/sw/DataAccess/tests/test-dawg#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
HOME = "http://www.w3.org/2009/sparql/docs/tests/"

FOLDERS = (
    "aggregates", "bind", "bindings", "cast", "construct", "exists", "functions", "grouping",
    "negation", "project-expression", "property-path", "subquery",
)  # fmt: skip


BESIDE = Path(__file__).parents[2].parent / "shared" / "data" / "rdf-tests"


def expected_root():
    """Where a checkout of github.com/w3c/rdf-tests is expected: beside ours, or as one says."""
    return Path(os.environ.get("BESTBEFORE_RDF_TESTS", BESIDE))


def suite_root():
    """The folder of the suites, or None if they are not where they are expected."""
    root = expected_root()
    return next((each for each in (root, root / "sparql") if (each / "sparql11").is_dir()), None)


def absence():
    """What to say where the suites are not, and what to do about it."""
    return (
        f"the W3C's tests are not at {expected_root()}: clone https://github.com/w3c/rdf-tests "
        "there, or set BESTBEFORE_RDF_TESTS to where they are"
    )


def need_suites():
    """Skip a module of tests, and say why, where the suites are not."""
    if suite_root() is None:
        pytest.skip(absence(), allow_module_level=True)


@dataclass(frozen=True)
class Entry:
    """One test of a manifest; files are named by their IRIs."""

    iri: str
    name: str
    folder: str
    kind: str
    approval: str
    query: str
    data: tuple[str, ...]
    graphs: tuple[str, ...]
    result: str | None
    lax: bool

    def __str__(self):
        return f"{self.folder}/{self.iri.rpartition('#')[2]}"


def file_of(iri):
    """The file behind the IRI of a test's query, data or result."""
    return suite_root() / iri.removeprefix(HOME)


def entries(folder, *, suite="sparql11"):
    """The tests of a folder, in the order of its manifest."""
    base = f"{HOME}{suite}/{folder}/"
    path = file_of(f"{base}manifest.ttl")
    graph = ox.Store()
    graph.bulk_load(path=str(path), format=ox.RdfFormat.TURTLE, base_iri=f"{base}manifest.ttl")
    (listed,) = [quad.object for quad in graph.quads_for_pattern(None, _mf("entries"), None)]
    return [_entry(graph, each, folder) for each in _list(graph, listed)]


def _entry(graph, test, folder):
    action = _one(graph, test, _mf("action"))
    named = isinstance(action, ox.NamedNode)
    kind, approval = (
        _one(graph, test, ox.NamedNode(f"{RDF}type")),
        _one(graph, test, _dawgt("approval")),
    )
    result = _one(graph, test, _mf("result"))
    return Entry(
        iri=test.value,
        name=_one(graph, test, _mf("name")).value,
        folder=folder,
        kind=kind.value.removeprefix(MF),
        approval=approval.value.removeprefix(DAWGT) if approval else "",
        query=(action if named else _one(graph, action, _qt("query"))).value,
        data=() if named else _values(graph, action, _qt("data")),
        graphs=() if named else _values(graph, action, _qt("graphData")),
        result=result.value if result else None,
        lax=_one(graph, test, _mf("resultCardinality")) == _mf("LaxCardinality"),
    )


def _list(graph, node):
    while node.value != f"{RDF}nil":
        yield _one(graph, node, ox.NamedNode(f"{RDF}first"))
        node = _one(graph, node, ox.NamedNode(f"{RDF}rest"))


def _one(graph, subject, predicate):
    return next((quad.object for quad in graph.quads_for_pattern(subject, predicate, None)), None)


def _values(graph, subject, predicate):
    found = graph.quads_for_pattern(subject, predicate, None)
    return tuple(sorted(quad.object.value for quad in found))


def _mf(name):
    return ox.NamedNode(MF + name)


def _qt(name):
    return ox.NamedNode(QT + name)


def _dawgt(name):
    return ox.NamedNode(DAWGT + name)
