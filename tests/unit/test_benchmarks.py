"""Every benchmark that can be named is there and fits what it measures."""

from importlib import import_module

import pytest

from benchmarks.__main__ import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_can_be_run(name):
    assert callable(import_module(f"benchmarks.{name}").main)
