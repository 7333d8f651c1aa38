"""A registry: names of plug-ins and the objects behind them."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from bestbefore.errors import PolicyError, nearest

T = TypeVar("T")


class Registry(Generic[T]):
    """Named plug-ins of one kind; an unknown name is answered with the nearest ones."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that enters its object under `name`, once."""

        def enter(entry: T) -> T:
            if name in self._entries:
                raise PolicyError(f"{self.kind} {name!r} is registered twice")
            self._entries[name] = entry
            return entry

        return enter

    def __getitem__(self, name: str) -> T:
        if name not in self._entries:
            raise PolicyError(f"unknown {self.kind} {name!r}; {nearest(name, self._entries)}")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def items(self) -> list[tuple[str, T]]:
        """All entries in the order of their registration."""
        return list(self._entries.items())
