import pytest


@pytest.fixture
def file(tmp_path):
    """Write a file into an empty folder and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def notices():
    """A list of what was noticed: pass `notices.append`."""
    return []
