"""What a generator is, and the registry of all generators."""

from dataclasses import Field
from typing import Any, ClassVar, Protocol

from bestbefore.registry import Registry
from bestbefore.traces import Traces


class Generator(Protocol):
    """A workload's parameters, a frozen dataclass, with a method that draws traces from it."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def make(self, seed: int) -> Traces:
        """Traces with these parameters; the same seed gives the same ones."""
        ...


generators: Registry[type[Generator]] = Registry("generator")
