"""Files that the user wrote: read whole, and what is wrong with one is said in one line."""

import stat
from pathlib import Path

from bestbefore.errors import InputError

_SHOWN = 300


def read_bytes(path: str | Path, what: str = "") -> bytes:
    """The content of a file; messages say what it is. A pipe or a device is none."""
    file, it_is = Path(path), f" ({what})" if what else ""
    try:
        if stat.S_ISREG(mode := file.stat().st_mode) or stat.S_ISDIR(mode):
            return file.read_bytes()
        reason = "it is a pipe or a device; write what it gives to a file"
    except FileNotFoundError:
        raise InputError(f"no such file: {_shown(file)}{it_is}") from None
    except OSError as error:
        reason = error.strerror or str(error)
    except ValueError:
        reason = "there can be no such path"
    raise InputError(f"{_shown(file)}{it_is} cannot be read: {reason}")


def read_text(path: str | Path) -> str:
    """The text of a file in UTF-8, without a byte order mark."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path, content, error) from None


def not_utf8(path: str | Path, content: bytes, error: UnicodeDecodeError) -> InputError:
    """The error that a file is not UTF-8, with the line."""
    # A byte order mark was taken away before the bytes were counted.
    start = len(content) - len(error.object) + error.start
    line = content.count(b"\n", 0, start) + 1
    return InputError(
        f"{path}, line {line}: byte 0x{content[start]:02x} is not UTF-8; save the file as UTF-8"
    )


def _shown(path: Path) -> str:
    text = str(path).replace("\0", "\\0")
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
