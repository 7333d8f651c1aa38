"""A registry: names of plug-ins, the objects behind them, and where plug-ins come from.

A plug-in is a module that registers something when it is imported. It is named by an entry point
of an installed package, in a job file, or on the command line; those of this package need no name.
"""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from inspect import unwrap
from pathlib import Path
from typing import Any, Generic, TypeVar

from bestbefore.errors import InputError, PolicyError, nearest

T = TypeVar("T")

POLICIES = "bestbefore.policies"
SERVICES = "bestbefore.services"
_own_modules: dict[str, Path] = {}


class Registry(Generic[T]):
    """Named plug-ins of one kind; an unknown name is answered with the nearest ones."""

    def __init__(self, kind: str, error: type[InputError] = PolicyError) -> None:
        self.kind, self.error = kind, error
        self._entries: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that enters its object under `name`.

        Only the same object of the same module may be entered again, as a notebook does.
        """

        def enter(entry: T) -> T:
            known = self._entries.get(name, entry)
            if _origin(known) != _origin(entry):
                raise self.error(
                    f"{self.kind} {name!r} is registered twice: by {_origin(known)} and by "
                    f"{_origin(entry)}"
                )
            self._entries[name] = entry
            return entry

        return enter

    def __getitem__(self, name: str) -> T:
        if name not in self._entries:
            raise self.error(f"unknown {self.kind} {name!r}; {nearest(name, self._entries)}")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def items(self) -> list[tuple[str, T]]:
        """All entries in the order of their registration."""
        return list(self._entries.items())


@cache
def load_entry_points(group: str) -> None:
    """Import what installed packages register under `group`, once."""
    for point in sorted(entry_points(group=group)):
        package = point.dist.name if point.dist else "a package"
        _imported(f"the plug-in {point.name!r} of {package} ({group})", point.value, point.load)


def load_module(name: str, *, folder: Path, where: str) -> None:
    """Import a module of the user's own: from `folder`, or from wherever Python finds modules.

    `where` is what names the module: a key of a job file, or an option of the command line.
    """
    home = folder.resolve()
    if _own_modules.get(name, home) != home:
        raise InputError(
            f"{where}: {name!r} was loaded from {_own_modules[name]} before, and Python loads a "
            f"module once: give the one in {home} another name"
        )
    if str(home) not in sys.path:
        # At the end: a file of the user's must not stand in for a module that others import.
        sys.path.append(str(home))
    _imported(where, name, lambda: import_module(name))
    _own_modules[name] = home


def own_modules() -> dict[str, Path]:
    """The modules of the user's own that were loaded, with the folders that they were sought in."""
    return dict(_own_modules)


def _imported(what: str, module: str, load: Callable[[], object]) -> None:
    try:
        load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise InputError(f"{what}: {module!r} cannot be loaded: {reason}") from error


def _origin(entry: object) -> str:
    made: Any = unwrap(entry)  # type: ignore[arg-type]
    return f"{made.__module__}.{made.__qualname__}"
