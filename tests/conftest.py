"""What many tests share: one Spark session and one real SPARQL server per run."""

import gc
import os

import pytest
from hypothesis import settings

from .oxigraph_server import Oxigraph, find_oxigraph

# Timings belong in benchmarks: a busy machine must not fail a law.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

LONGEST_FIRST = ("faults", "end_to_end", "spark", "conformance", "property", "experiments")


def pytest_collection_modifyitems(items):
    """Begin with what takes longest, so that workers end at the same time."""
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.parent.name, len(places)))


def pytest_collection_finish():
    """What is there now stays to the end: whoever looks for garbage need not look through it."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def oxigraph():
    executable = find_oxigraph()
    if executable is None:
        pytest.skip("the oxigraph server is not installed; pip install 'bestbefore[demo]'")
    server = Oxigraph(executable)
    yield server
    server.close()


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    from .shared_jvm import shared_session  # noqa: PLC0415 - most tests need no JVM

    folder = tmp_path_factory.getbasetemp()
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    with shared_session(
        folder if worker is None else folder.parent,
        worker=int((worker or "gw0").removeprefix("gw")),
        workers=int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")),
    ) as session:
        yield session
