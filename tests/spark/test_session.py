"""How the session of a query is set up."""

import pytest
from py4j.java_gateway import JavaClass

from bestbefore.errors import InputError, WorkError
from bestbefore.spark.relation import name_table
from bestbefore.spark.session import (
    _OFTEN_USED,
    CHECKPOINT_FILES,
    _settings,
    check_functions,
    fast_checkpoint,
    session_like,
    tune,
)
from tests.run_processes import until


@pytest.mark.parametrize(
    ("rows", "tasks"), [(0, 1), (49_999, 1), (60_000, 2), (1_000_000, 2), (5_000_000, 6), (None, 2)]
)
def test_as_many_tasks_share_rows_as_have_enough_to_do(spark, rows, tasks):
    session = tune(spark.newSession(), rows=rows)
    assert session.range(10).repartition("id").rdd.getNumPartitions() == tasks


def test_spark_asks_for_no_links_around_the_files_of_a_checkpoint_on_disk(spark, tmp_path):
    session = spark.newSession()
    with fast_checkpoint(session, str(tmp_path)):
        chosen = session.conf.get(CHECKPOINT_FILES)
        assert spark._jvm.java.lang.Class.forName(chosen).getName() == chosen
    assert session.conf.get(CHECKPOINT_FILES, None) is None
    # Elsewhere a rename may be more than that of a disk.
    with fast_checkpoint(session, "hdfs://host/checkpoint"):
        assert session.conf.get(CHECKPOINT_FILES, None) is None


def test_how_checkpoints_are_written_can_be_chosen(spark, tmp_path):
    session = spark.newSession()
    session.conf.set(CHECKPOINT_FILES, "org.example.Own")
    with fast_checkpoint(session, str(tmp_path)):
        assert session.conf.get(CHECKPOINT_FILES) == "org.example.Own"
    assert session.conf.get(CHECKPOINT_FILES) == "org.example.Own"


def test_a_query_is_started_with_it(bench, service, monkeypatch):
    monkeypatch.setattr("bestbefore.spark.session._WITHOUT_LINKS", "org.example.Missing")
    bench.mention((1_000, 1), (3_000, 1))
    with pytest.raises(WorkError, match=r"org\.example\.Missing"):
        bench.run(bench.job(), service)
    assert bench.spark.conf.get(CHECKPOINT_FILES, None) is None


def test_the_list_of_read_files_is_written_with_it(bench, service):
    bench.mention((1_000, 1), (3_000, 1))
    source = bench.run(bench.job(), service).query._jsq.streamingQuery().sources().head()
    log = source.getClass().getDeclaredField("metadataLog")
    log.setAccessible(True)
    writer = log.get(source).fileManager().getClass().getSimpleName()
    assert writer == "FileSystemBasedCheckpointFileManager"


def test_what_a_query_has_kept_stays_kept_when_another_one_names_its_tables(spark):
    one, other = spark.newSession(), spark.newSession()
    name_table(one.range(10), "elements")
    kept = one.sql("SELECT id FROM elements WHERE id > 5").persist()
    for rows in (3, 4):
        name_table(other.range(rows), "elements")
    assert other.table("elements").count() == 4
    name_table(kept, "mappings")
    found = one.sql("SELECT * FROM mappings")
    assert "InMemoryTableScan" in found._jdf.queryExecution().executedPlan().toString()
    assert kept.is_cached
    kept.unpersist()


def test_the_classes_that_are_noted_are_there(spark):
    noted = vars(spark._jvm)
    assert all(isinstance(noted[name], JavaClass) for name in _OFTEN_USED)
    assert noted["PythonUtils"].toSeq is noted["PythonUtils"].toSeq


def test_a_session_without_pages_does_not_remember_all_jobs(spark):
    store = spark._jsparkSession.sharedState().statusStore()
    for _ in range(60):
        spark.range(1).collect()
    until(lambda: store.executionsCount() < 50)


@pytest.mark.parametrize(
    ("master", "conf", "kept"),
    [
        ("local[2]", {}, "20"),
        ("local[2]", {"spark.ui.retainedJobs": "7"}, "7"),
        ("local[2]", {"spark.ui.enabled": "true"}, None),
        ("spark://host:7077", {}, None),
        ("spark://host:7077", {"spark.ui.enabled": "false"}, "20"),
    ],
)
def test_pages_that_are_asked_for_show_as_much_as_spark_has_them_show(master, conf, kept):
    assert _settings(master, conf).get("spark.ui.retainedJobs") == kept


class Renamed:
    """A session that tells, as Spark before 4.3 does, of a function that has taken a place."""

    def __init__(self, spark, replaced):
        self._jvm, self.replaced, self.spark = spark._jvm, replaced, spark
        self._jsparkSession = self

    def sessionState(self):
        return self

    def catalog(self):
        return self

    def lookupFunctionInfo(self, identifier):
        if identifier.funcName() == self.replaced:
            return self
        state = self.spark._jsparkSession.sessionState()
        return state.catalog().lookupFunctionInfo(identifier)

    def getSource(self):
        return "python_udf"


@pytest.mark.parametrize("name", ["string", "not", "concat"])
def test_a_function_in_the_place_of_spark_s_is_refused(spark, name):
    check_functions(spark)
    with pytest.raises(InputError, match=f"a function '{name}' of its own.*newSession"):
        check_functions(Renamed(spark, name))


def test_other_functions_of_the_session_are_welcome(spark):
    session = spark.newSession()
    session.udf.register("my_own", lambda value: value)
    assert session_like(session).sql("SELECT string(5) AS text").first().text == "5"
