"""The W3C's tests of SERVICE, against real local endpoints and through the engine's own client."""

from dataclasses import replace

import pyarrow as pa
import pyoxigraph as ox
import pytest

from bestbefore.errors import ServiceError, UnsupportedSparql
from bestbefore.query import parse_query, parse_sparql, plan
from bestbefore.query.algebra import Join, Service, numbered, services_of
from bestbefore.query.scope import variables
from bestbefore.service import ClientSettings, ServiceClient, ServicePattern
from bestbefore.spark.session import tune
from tests.oxigraph_server import Oxigraph, find_oxigraph
from tests.relations import table

from .evaluation import dataset_of, is_ordered, result_of
from .known_failures import check_known_failures, known_failure
from .manifest import HOME, QT, entries, file_of, need_suites
from .results import read_result, read_triples, same

need_suites()

# Nothing listens there: what the suite calls an invalid endpoint.
NOWHERE = "http://127.0.0.1:9/sparql"


REGISTERED = parse_query(
    "REGISTER RSTREAM <q> AS ASK FROM NAMED WINDOW <w> ON <s> [RANGE 1s] "
    "WHERE { WINDOW <w> { ?s ?p ?o } }"
)


@pytest.fixture(scope="module")
def session(spark):
    return tune(spark.newSession(), rows=0)


@pytest.fixture
def server():
    """Start endpoints that hold the data of files."""
    if find_oxigraph() is None:
        pytest.skip("the oxigraph server is not installed")
    running = []

    def start(*data):
        running.append(Oxigraph(find_oxigraph()))
        for iri in data:
            triples = " ".join(
                f"{quad.subject} {quad.predicate} {quad.object} ."
                for quad in ox.parse(path=str(file_of(iri)), base_iri=iri)
            )
            running[-1].update(f"INSERT DATA {{ {triples} }}")
        return running[-1].base + "/query"

    yield start
    for each in running:
        each.close()


def endpoints(entry):
    """The endpoints of a test, with the file that each has."""
    graph = ox.Store()
    base = f"{HOME}sparql11/service/manifest.ttl"
    graph.load(path=str(file_of(base)), format=ox.RdfFormat.TURTLE, base_iri=base)
    rows = graph.query(
        f"PREFIX qt: <{QT}> PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#> "
        f"SELECT ?e ?d {{ <{entry.iri}> mf:action/qt:serviceData ?s . "
        "?s qt:endpoint ?e OPTIONAL { ?s qt:data ?d } }"
    )
    return {row["e"].value: row["d"].value if row["d"] else None for row in rows}


def mappings_of(service: Service, session):
    """What an endpoint says to a SERVICE clause; nothing is one empty mapping if it is silent."""
    names = tuple(each.name for each in variables(service))
    pattern = ServicePattern(service.pattern, variables=names, key=names[:1])
    with ServiceClient(ClientSettings(endpoint=service.iri, attempts=1), pattern) as client:
        try:
            rows = client.load().rows
        except ServiceError:
            if not service.silent:
                raise
            rows = [(None,) * len(names)]
    columns = {f"?{name}": pa.array([row[at] for row in rows], pa.string())
               for at, name in enumerate(names)}  # fmt: skip
    evaluation = {"evaluation": pa.array([0] * len(rows), pa.int64())}
    return table(session, pa.table(evaluation | columns))


@pytest.mark.parametrize("entry", entries("service"), ids=str)
def test_service(entry, session, server):
    reason = known_failure("service", entry)
    text = file_of(entry.query).read_text()
    for iri, data in endpoints(entry).items():
        text = text.replace(f"<{iri}>", f"<{server(data) if data else NOWHERE}>")
    text = text.replace("<http://invalid.endpoint.org/sparql>", f"<{NOWHERE}>")
    form, pattern, _ = parse_sparql(text, base=entry.query)
    pattern = numbered(pattern)
    clauses = services_of(pattern)
    nested = {inner for outer in clauses for inner in services_of(outer.pattern)}
    if reason is not None:
        both = Join(REGISTERED.pattern, pattern)
        with pytest.raises(UnsupportedSparql, match=r"SERVICE \?"):
            plan(replace(REGISTERED, pattern=both, default_graphs=("g",)))
        pytest.xfail(reason)
    dataset = dataset_of(session, [each for iri in entry.data for each in read_triples(iri)])
    mappings = [None if each in nested else mappings_of(each, session) for each in clauses]
    dataset = replace(dataset, services=mappings)
    found = result_of(session, form, pattern, dataset)
    expected = read_result(entry.result, construct=False)
    assert same(found, expected, ordered=is_ordered(pattern)), f"{found}\n{expected}"


def test_what_is_known_to_fail_is_a_test():
    check_known_failures("service", entries("service"))
