"""Files of Spark's checkpoint: whether they are whole, and what a batch was to read."""

import json
from zlib import crc32

from bestbefore.storage import Storage

_MAGIC = b"crc\0"


def fault_in(storage: Storage, name: str, *, is_json: bool = True) -> str | None:
    """What is wrong with a file of one of Spark's logs, by its checksum file and its form."""
    content = storage.read(name)
    if content is None:
        return "is missing"
    if not content:
        return "is empty"
    folder, _, file = name.rpartition("/")
    checks = storage.read(f"{folder}/.{file}.crc")
    if checks is not None and checks != _checksums(content, checks):
        return "is damaged"
    return "is damaged" if is_json and not _is_log(content) else None


def files_until(storage: Storage, name: str) -> dict[int, int]:
    """The last entry of its log that each source of files had for a batch, by its number."""
    lines = (storage.read(name) or b"").splitlines()[2:]
    found = dict[int, int]()
    for source, line in enumerate(lines):
        try:
            found[source] = int(json.loads(line)["logOffset"])
        except (ValueError, KeyError, TypeError):
            # Another kind of source, whose offsets say all.
            continue
    return found


def _checksums(content: bytes, checks: bytes) -> bytes:
    """What Hadoop writes into a checksum file for a content, in pieces as given one has them."""
    size = int.from_bytes(checks[4:8]) or 512
    pieces = (content[start : start + size] for start in range(0, len(content), size))
    sums = b"".join(crc32(piece).to_bytes(4) for piece in pieces)
    return _MAGIC + size.to_bytes(4) + sums


def _is_log(content: bytes) -> bool:
    """Whether a content is a version, and lines of JSON or of what says that there is none."""
    try:
        version, *lines = content.decode().splitlines()
        for line in lines:
            if line not in ("", "-"):
                json.loads(line)
    except ValueError:
        return False
    return version.startswith("v")
