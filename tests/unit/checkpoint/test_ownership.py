"""Two runs never write into the same folder, and two processes never use the same checkpoint."""

import pytest

from bestbefore.checkpoint.ownership import OWNER_FILE, Owner, claim, lock_checkpoint, owner_of
from bestbefore.errors import StateError
from bestbefore.storage import LocalStorage


@pytest.fixture
def folders(tmp_path):
    return {key: LocalStorage(str(tmp_path / key)) for key in ("sink.path", "sink.quality")}


def owner(tmp_path, name):
    return owner_of(LocalStorage(str(tmp_path / name)), f"http://example.org/{name}")


def test_a_checkpoint_keeps_its_run_id_and_goes_on_in_its_folders(tmp_path, folders):
    first, again = owner(tmp_path, "c1"), owner(tmp_path, "c1")
    assert first == again != owner(tmp_path, "c2")
    claim(folders, first, begun=False)
    folders["sink.path"].write("batch=0/part", b"an answer")
    claim(folders, again, begun=True)
    assert folders["sink.path"].read("batch=0/part") == b"an answer"


def test_the_folder_of_another_is_refused_by_both_names_and_nothing_is_touched(tmp_path, folders):
    claim({"sink.path": folders["sink.path"]}, owner(tmp_path, "c1"), begun=False)
    both = r"belongs to the query <.*/c1> with the checkpoint .*/c1, and this is .*/c2: use another"
    with pytest.raises(StateError, match=both):
        claim(folders, owner(tmp_path, "c2"), begun=False)
    assert folders["sink.quality"].read(OWNER_FILE) is None


def test_a_new_checkpoint_over_old_answers_needs_a_word_and_then_clears_only_answers(
    tmp_path, folders
):
    answers = {"sink.path": folders["sink.path"]}
    folders["sink.path"].write("batch=0/part", b"an answer")
    folders["sink.path"].write("notes.txt", b"mine")
    new = owner(tmp_path, "c1")
    with pytest.raises(StateError, match="holds answers of an earlier run.*--overwrite"):
        claim(answers, new, begun=False)
    claim(answers, new, begun=False, overwrite=True)
    assert folders["sink.path"].names("") == [OWNER_FILE, "notes.txt"]


def test_a_checkpoint_of_an_older_version_takes_its_answers_for_its_own(tmp_path, folders):
    folders["sink.path"].write("batch=0/part", b"an answer")
    claim(folders, owner(tmp_path, "c1"), begun=True)
    assert folders["sink.path"].names("batch=0") == ["part"]


def test_a_checkpoint_in_use_is_refused_until_it_is_free(tmp_path, folders):
    with lock_checkpoint(str(tmp_path / "c1")):
        with (
            pytest.raises(StateError, match=r"c1 is in use by process \d+ on .+: wait"),
            lock_checkpoint(f"file://{tmp_path}/c1"),
        ):
            pass
        claim(folders, owner(tmp_path, "c1"), begun=False)
        with pytest.raises(StateError, match="sink.path = .* is in use by process"):
            claim(folders, owner(tmp_path, "c2"), begun=False, overwrite=True)
    with lock_checkpoint(str(tmp_path / "c1")):
        claim(folders, owner(tmp_path, "c1"), begun=True)
    claim(folders, owner(tmp_path, "c2"), begun=False, overwrite=True)


def test_a_checkpoint_may_lie_in_folders_that_are_not_there_yet(tmp_path):
    with lock_checkpoint(str(tmp_path / "a" / "b")):
        assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize("checkpoint", ["s3a://bucket/c", "gone"])
def test_who_left_no_lock_is_not_looked_for(tmp_path, folders, checkpoint):
    before = Owner("run", "http://example.org/q", checkpoint.replace("gone", str(tmp_path / "c1")))
    claim(folders, before, begun=False)
    claim(folders, owner(tmp_path, "c2"), begun=False, overwrite=True)
    assert not (tmp_path / "c1").exists()


def test_where_there_are_no_locks_nothing_is_refused():
    with lock_checkpoint("s3a://bucket/c"), lock_checkpoint("s3a://bucket/c"):
        pass
