import os
from pathlib import Path

import pytest

from bestbefore.storage import LocalStorage, agree, fingerprint_of


@pytest.fixture
def storage(tmp_path):
    return LocalStorage(str(tmp_path / "state"))


def test_a_file_is_read_back_and_replaced(storage):
    storage.write("a/b.json", b"one")
    storage.write("a/b.json", b"two")
    assert storage.read("a/b.json") == b"two"
    assert storage.names("a") == ["b.json"]


def test_a_missing_file_is_none_and_a_missing_folder_empty(storage):
    assert storage.read("nothing") is None
    assert storage.names("nothing") == []
    storage.delete("nothing")


def test_a_folder_is_deleted_with_its_content(storage):
    storage.write("a/b/c", b"1")
    storage.delete("a")
    assert storage.read("a/b/c") is None


def test_an_interrupted_write_leaves_the_old_content(storage, tmp_path, monkeypatch):
    storage.write("a", b"old")

    def crash(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", crash)
    with pytest.raises(KeyboardInterrupt):
        storage.write("a", b"new")
    assert storage.read("a") == b"old"
    assert storage.names("") == ["a"]


def test_file_uris_are_paths(tmp_path):
    LocalStorage(f"file://{tmp_path}/with%20space").write("a", b"1")
    assert (tmp_path / "with space" / "a").read_bytes() == b"1"


def test_a_write_forces_the_file_then_renames_it_then_forces_its_name(storage, monkeypatch):
    done, fsync, replace = [], os.fsync, Path.replace

    def forced(handle):
        done.append(f"force {Path(f'/proc/self/fd/{handle}').readlink().name}")
        fsync(handle)

    def renamed(path, target):
        done.append(f"rename {target.name}")
        return replace(path, target)

    monkeypatch.setattr("os.fsync", forced)
    monkeypatch.setattr("pathlib.Path.replace", renamed)
    storage.write("a/b", b"1")
    root = Path(storage.root)
    # The folders above are new: their names are forced too.
    folders = [f"force {name}" for name in ("a", root.name, root.parent.name)]
    assert done == ["force .b.draft", "rename b", *folders]
    done.clear()
    storage.write("a/b", b"2")
    assert done == ["force .b.draft", "rename b", "force a"]
    done.clear()
    storage.force("a")
    storage.force("nothing")
    assert done == []
    # What somebody else wrote is not known to be there.
    (root / "a" / "c").write_bytes(b"3")
    storage.force("a")
    assert done == ["force b", "force c", "force a", f"force {root.name}"]
    done.clear()
    storage.force("a/c")
    assert done == ["force c", "force a"]


def test_fingerprints_tell_files_apart(storage):
    assert storage.fingerprint("a") is None
    storage.write("a/one", b"12")
    storage.write("a/two", b"3")
    (Path(storage.root) / "a" / "_SUCCESS").write_bytes(b"")
    (Path(storage.root) / "a" / ".one.crc").write_bytes(b"x")
    whole = storage.fingerprint("a")
    assert whole.startswith("2 files, 3 bytes, ")
    assert storage.fingerprint("a/one").startswith("1 file, 2 bytes, ")
    for name, content in (("a/one", b"1"), ("a/one", b"13"), ("a/three", b"")):
        before = storage.read(name)
        storage.write(name, content)
        assert not agree(whole, storage.fingerprint("a"))
        storage.delete(name) if before is None else storage.write(name, before)
        assert agree(whole, storage.fingerprint("a"))
    storage.write("a/one", b"123")
    storage.write("a/two", b"")
    # What stands in which file counts, too.
    assert not agree(whole, storage.fingerprint("a"))


def test_a_fingerprint_without_a_checksum_is_compared_by_sizes():
    plain = fingerprint_of(2, 30)
    assert agree(plain, fingerprint_of(2, 30, "abc"))
    assert agree(fingerprint_of(2, 30, "abc"), plain)
    assert not agree(plain, fingerprint_of(2, 31, "abc"))
    assert not agree(plain, fingerprint_of(1, 30))
    assert not agree(plain, None)
