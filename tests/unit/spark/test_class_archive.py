"""A JVM is told of the archive of Spark's classes only where there is one."""

import sys

from bestbefore.spark.class_archive import archive_options, class_archive


def test_a_jvm_is_told_of_an_archive_only_where_there_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "an environment"))
    assert archive_options() == ()
    class_archive().parent.mkdir(parents=True)
    class_archive().write_bytes(b"")
    where, share = archive_options()
    assert where == f'"-XX:SharedArchiveFile={class_archive()}"'
    assert share == "-Xshare:auto"
