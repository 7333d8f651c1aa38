"""Damage to one file of a checkpoint, of every kind that disks and people do."""

import shutil
from dataclasses import dataclass
from pathlib import Path

OWNER_FILE = "_bestbefore.json"
_IGNORED = ("lock", "spark.log")
_GARBAGE = (b"", b"\x00" * 64, b"no JSON", b"{}", b"[]", b"null", b"{" * 9, b"PAR1", b"v1\n{}\n")


@dataclass(frozen=True)
class Damage:
    """One kind of damage to one file, and whether the checksum that Spark keeps of it went too."""

    file: Path
    kind: str
    unchecked: bool

    @property
    def is_deletion(self):
        return self.kind.startswith("delete")

    def __str__(self):
        without = " (and its checksum deleted)" if self.unchecked else ""
        return f"{self.kind} {self.file.parent.name}/{self.file.name}{without}"


def files_by_kind(folder):
    """The files of a checkpoint and the owner files of its outputs, by what they are for."""
    found = {}
    checkpoint = folder / "checkpoint"
    for file in sorted(checkpoint.rglob("*")):
        if file.is_file() and file.name not in _IGNORED and not file.name.startswith("."):
            parts = file.relative_to(checkpoint).parts
            kind = (
                parts[2] if parts[0] == "services" else "/".join(parts[: 2 if _spark(parts) else 1])
            )
            found.setdefault(kind, []).append(file)
    found["owner"] = [folder / name / OWNER_FILE for name in ("answers", "quality")]
    return found


def _spark(parts):
    return parts[0] == "spark"


def damage(rng, folder, older):
    """Damage a file at random; `older` is the same folder as it was some batches before."""
    by_kind = files_by_kind(folder)
    kind = rng.choice(sorted(by_kind))
    file = rng.choice(by_kind[kind])
    how = rng.choice(sorted(_KINDS))
    checksum = file.with_name(f".{file.name}.crc")
    unchecked = checksum.exists() and rng.random() < 0.5
    done = Damage(file, f"{how} ({kind})", unchecked)
    _KINDS[how](rng, file, by_kind[kind], older / file.relative_to(folder))
    if unchecked:
        checksum.unlink(missing_ok=True)
    return done


def _truncate(rng, file, _, __):
    content = file.read_bytes()
    file.write_bytes(content[: rng.randrange(max(1, len(content)))])


def _empty(_, file, __, ___):
    file.write_bytes(b"")


def _flip(rng, file, _, __):
    content = bytearray(file.read_bytes() or b"x")
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


def _delete(_, file, __, ___):
    file.unlink()


def _delete_folder(_, file, __, ___):
    """Many files are lost at once; all of a checkpoint would be no damage, but a new one."""
    if file.parent.name in ("checkpoint", "answers", "quality"):
        file.unlink()
    else:
        shutil.rmtree(file.parent)


def _swap(rng, file, others, _):
    other = rng.choice([one for one in others if one != file] or [file])
    mine, theirs = file.read_bytes(), other.read_bytes()
    file.write_bytes(theirs)
    other.write_bytes(mine)


def _replace(rng, file, others, older):
    """By an older version of itself, or by another of its kind."""
    source = (
        older if older.exists() and older.read_bytes() != file.read_bytes() else rng.choice(others)
    )
    file.write_bytes(source.read_bytes())


def _garbage(rng, file, _, __):
    file.write_bytes(rng.choice(_GARBAGE))


def _append(rng, file, _, __):
    with file.open("ab") as opened:
        opened.write(rng.choice([b"\x00", b"}", b"\n{}\n", file.read_bytes() or b"x"]))


_KINDS = {
    "truncate": _truncate,
    "empty": _empty,
    "flip a byte of": _flip,
    "delete": _delete,
    "delete the folder of": _delete_folder,
    "swap": _swap,
    "replace": _replace,
    "garbage in": _garbage,
    "append to": _append,
}
