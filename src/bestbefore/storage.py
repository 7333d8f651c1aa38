"""Where durable state lives: small files that are written whole or not at all."""

import os
import shutil
from errno import EINVAL
from hashlib import sha256
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

_LATELY = 512


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

    def force(self, name: str) -> None:
        """Force a file, or the files of a folder that others wrote, to disk, if there are any."""
        ...

    def fingerprint(self, name: str) -> str | None:
        """What tells a file, or the files of a folder, from others; None if there is none."""
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

    def force(self, name: str) -> None:
        """Force a file, or the files of a folder, to disk."""
        self._storage.force(f"{self._folder}/{name}")

    def fingerprint(self, name: str) -> str | None:
        """What tells a file, or the files of a folder, from others."""
        return self._storage.fingerprint(f"{self._folder}/{name}")


class LocalStorage:
    """Storage on a file system of this machine; what is not `durable` may be lost in a crash."""

    def __init__(self, root: str, *, durable: bool = True) -> None:
        self.root = root
        self._durable = durable
        self._path = local_path(root) or Path(root)
        # What was written lately: `force` has nothing to do with it.
        self._written = dict[Path, None]()

    def read(self, name: str) -> bytes | None:
        """The content of a file, or None if there is none."""
        try:
            return (self._path / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Write beside the file, force it to disk, then rename over it, and force that too."""
        target = self._path / name
        made = _make_folder(target.parent)
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
        if self._durable:
            for folder in (target.parent, *made):
                _force(folder)
            self._written[target] = None
            if len(self._written) > _LATELY:
                del self._written[next(iter(self._written))]

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

    def force(self, name: str) -> None:
        """Force what others wrote to disk, and its names; what was written here is there."""
        path = self._path / name
        if not self._durable or not path.exists():
            return
        files = self._files(name)
        if not all(file in self._written for file in files):
            for one in (*files, *([path] if path.is_dir() else []), path.parent):
                _force(one)

    def fingerprint(self, name: str) -> str | None:
        """How many files, their bytes, and a checksum of what is in them."""
        if not (self._path / name).exists():
            return None
        size, check, files = 0, sha256(), self._files(name)
        for file in files:
            content = file.read_bytes()
            size += len(content)
            check.update(f"{file.name} {len(content)}\n".encode())
            check.update(content)
        return fingerprint_of(len(files), size, check.hexdigest()[:16])

    def _files(self, name: str) -> list[Path]:
        """A file, or the files of a folder less those that readers of Spark do not see."""
        path = self._path / name
        if not path.is_dir():
            return [path]
        names = [one for one in self.names(name) if not one.startswith("_")]
        return [path / one for one in names if (path / one).is_file()]


def fingerprint_of(files: int, size: int, check: str = "") -> str:
    """A fingerprint; file systems that check what they store may do without a checksum."""
    return f"{files} file{'s' if files != 1 else ''}, {size} bytes, {check}"


def agree(told: str, found: str | None) -> bool:
    """Whether two fingerprints may be those of the same files."""
    told_size, _, told_check = told.rpartition(", ")
    found_size, _, found_check = (found or "").rpartition(", ")
    same = told_check == found_check or not (told_check and found_check)
    return told_size == found_size and same


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder where it is missing; return those that hold a new name since."""
    missing = list[Path]()
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
    return [one.parent for one in missing]


def _force(path: Path) -> None:
    """Force a file, or the names in a folder, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # A file system that cannot do this for folders.
        if error.errno != EINVAL:
            raise
    finally:
        os.close(handle)
