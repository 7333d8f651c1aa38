import pytest

from bestbefore.storage import LocalStorage


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
