"""No test leaves a process behind, however it ends."""

import pytest

from tests.run_processes import end_started


@pytest.fixture(autouse=True)
def nothing_left_running():
    yield
    end_started()
