"""Where durable state lives: small files that are written whole or not at all."""

import os
import shutil
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit


class Storage(Protocol):
    """A folder of files named by relative paths with `/`; writes replace atomically."""

    root: str

    def read(self, name: str) -> bytes | None:
        """The content of a file, or None if there is none."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Replace a file by `content`: after a crash it holds the old or the new, never a part."""
        ...

    def names(self, folder: str) -> list[str]:
        """The names of the files and folders directly in `folder`, sorted."""
        ...

    def delete(self, name: str) -> None:
        """Remove a file or a folder with its content; a missing one is fine."""
        ...


def local_path(address: str) -> Path | None:
    """The path on this machine that a path or URI names, None if it names another file system."""
    if address.startswith("file:"):
        return Path(unquote(urlsplit(address).path))
    return None if "://" in address else Path(address)


class StorageFolder:
    """A folder of some storage, as storage of its own."""

    def __init__(self, storage: Storage, folder: str) -> None:
        self.root = f"{storage.root}/{folder}"
        self._storage, self._folder = storage, folder

    def read(self, name: str) -> bytes | None:
        """The content of a file, or None if there is none."""
        return self._storage.read(f"{self._folder}/{name}")

    def write(self, name: str, content: bytes) -> None:
        """Replace a file as the storage does."""
        self._storage.write(f"{self._folder}/{name}", content)

    def names(self, folder: str) -> list[str]:
        """The names directly in `folder`, sorted."""
        return self._storage.names(f"{self._folder}/{folder}")

    def delete(self, name: str) -> None:
        """Remove a file or a folder with its content."""
        self._storage.delete(f"{self._folder}/{name}")


class LocalStorage:
    """Storage on a file system of this machine; what is not `durable` may be lost in a crash."""

    def __init__(self, root: str, *, durable: bool = True) -> None:
        self.root = root
        self._durable = durable
        self._path = local_path(root) or Path(root)

    def read(self, name: str) -> bytes | None:
        """The content of a file, or None if there is none."""
        try:
            return (self._path / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Write beside the file, force it to disk, then rename over it."""
        target = self._path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}.draft")
        try:
            with draft.open("wb") as file:
                file.write(content)
                if self._durable:
                    file.flush()
                    os.fsync(file.fileno())
        except OSError as error:
            # A disk that is full does not say which.
            error.filename = str(target)
            raise
        draft.replace(target)

    def names(self, folder: str) -> list[str]:
        """The names directly in `folder`, sorted, without drafts."""
        path = self._path / folder
        if not path.is_dir():
            return []
        return sorted(file.name for file in path.iterdir() if not file.name.startswith("."))

    def delete(self, name: str) -> None:
        """Remove a file or a folder with its content."""
        path = self._path / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
