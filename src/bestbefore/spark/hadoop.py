"""Storage on any file system that Spark can reach, through Hadoop's file system API."""

import uuid
from contextlib import closing
from typing import Any, cast

from pyspark.sql import SparkSession

from bestbefore.storage import LocalStorage, Storage, fingerprint_of, local_path

# Object stores, where a file appears whole when it is closed, and is renamed by copy and delete.
PUT_SCHEMES = frozenset({"s3a", "s3", "gs"})


class HadoopStorage:
    """Storage below a URI such as `hdfs://…` or `s3a://…`.

    A write goes to a draft that is renamed over the file; into an object store it is put at once,
    which replaces the object in one step.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        self.root = root.rstrip("/")
        self._jvm: Any = spark.sparkContext._jvm
        configuration = spark.sparkContext._jsc.hadoopConfiguration()
        self._files = self._path("").getFileSystem(configuration)
        self._renaming: _Renaming | None = None
        if self.root.partition(":")[0] not in PUT_SCHEMES:
            self._renaming = _Renaming(spark, self._path(""))

    def read(self, name: str) -> bytes | None:
        """The content of a file, or None if there is none."""
        path = self._path(name)
        if not self._files.exists(path):
            return None
        with closing(self._files.open(path)) as stream:
            return bytes(stream.readAllBytes())

    def write(self, name: str, content: bytes) -> None:
        """Put the file, or write beside it and rename over it."""
        target = self._path(name)
        if self._renaming is None:
            self._created(target, content).close()
            return
        draft = self._path(f"{name}.{uuid.uuid4().hex}.draft")
        stream = self._created(draft, content)
        stream.hsync()
        stream.close()
        self._renaming.rename(draft, target)

    def names(self, folder: str) -> list[str]:
        """The names directly in `folder`, sorted, without drafts."""
        path = self._path(folder)
        if not self._files.exists(path):
            return []
        found = [status.getPath().getName() for status in self._files.listStatus(path)]
        return sorted(name for name in found if not name.endswith(".draft"))

    def delete(self, name: str) -> None:
        """Remove a file or a folder with its content."""
        self._files.delete(self._path(name), True)  # noqa: FBT003

    def force(self, name: str) -> None:
        """Such file systems keep what was closed."""

    def fingerprint(self, name: str) -> str | None:
        """How many files and their bytes; such file systems check what they store themselves."""
        path = self._path(name)
        if not self._files.exists(path):
            return None
        sizes = [
            status.getLen()
            for status in self._files.listStatus(path)
            if not status.getPath().getName().startswith((".", "_"))
        ]
        return fingerprint_of(len(sizes), sum(sizes))

    def _created(self, path: Any, content: bytes) -> Any:  # noqa: ANN401 - Java objects
        """The open stream of a new file; after a failure it must not be closed, which would put."""
        stream = self._files.create(path, True)  # noqa: FBT003 - Java has no keywords
        stream.write(bytearray(content))
        return stream

    def _path(self, name: str) -> Any:  # noqa: ANN401 - a Java object
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.root}/{name}".rstrip("/"))


class _Renaming:
    """Renaming over an existing file, which of Hadoop's APIs only a FileContext does."""

    def __init__(self, spark: SparkSession, root: Any) -> None:  # noqa: ANN401 - a Java object
        jvm: Any = spark.sparkContext._jvm
        files, gateway = jvm.org.apache.hadoop.fs, cast("Any", spark.sparkContext._gateway)
        configuration = spark.sparkContext._jsc.hadoopConfiguration()
        self._context = files.FileContext.getFileContext(root.toUri(), configuration)
        kind = getattr(files, "Options$Rename")
        self._overwrite = gateway.new_array(kind, 1)
        self._overwrite[0] = kind.OVERWRITE

    def rename(self, file: Any, target: Any) -> None:  # noqa: ANN401
        """Rename a file over another: in one step on HDFS, elsewhere after the other is deleted."""
        self._context.rename(file, target, self._overwrite)


def storage_at(spark: SparkSession, root: str) -> Storage:
    """The storage for a path or URI: plain files need no detour through the JVM."""
    return LocalStorage(root) if local_path(root) else HadoopStorage(spark, root)
