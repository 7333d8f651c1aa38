"""What many tests share: one Spark session and one real SPARQL server per run."""

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
    from bestbefore.spark.session import local_session  # noqa: PLC0415 - most tests need no JVM

    # A JVM that lives for minutes gains nothing from being compiled twice; but all of its code
    # must have room, which this option alone would take away. Threads that collect garbage would
    # only be in the way of the other workers, and with little room for new objects there would be
    # much to collect.
    os.environ["SPARK_SUBMIT_OPTS"] = " ".join(
        (
            "-XX:TieredStopAtLevel=1",
            "-XX:ReservedCodeCacheSize=240m",
            "-XX:+UseSerialGC",
            "-Xms1500m",
            "-Xmn800m",
        )
    )
    session = local_session(cores="2", log=tmp_path_factory.mktemp("spark") / "spark.log")
    yield session
    session.stop()
