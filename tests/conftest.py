"""What many tests share: one Spark session and one real SPARQL server per run."""

import os

import pytest

from .oxigraph_server import Oxigraph, find_oxigraph


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

    # A JVM that lives for minutes gains nothing from being compiled twice.
    os.environ["SPARK_SUBMIT_OPTS"] = "-XX:TieredStopAtLevel=1"
    session = local_session(cores="2", log=tmp_path_factory.mktemp("spark") / "spark.log")
    yield session
    session.stop()
