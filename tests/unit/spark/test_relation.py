"""What relations are written as: one text, with parameters, and nothing computed twice by name."""

from dataclasses import dataclass

import pytest

from bestbefore.spark.relation import Relation, union_all
from bestbefore.spark.sql import inline_table, parameter, quote, with_parameters

T = Relation.table("t", ("a", "b"))


def text(relation):
    return relation.statement().text


def test_a_table_is_selected_whole():
    assert text(T) == "SELECT * FROM t"


def test_filters_and_the_select_after_them_are_one_select():
    found = T.filter("a > 1").filter("b IS NULL").select({"c": "a + 1", "b": "`b`"})
    assert text(found) == "SELECT a + 1 AS `c`, `b` FROM t AS it WHERE `and`(a > 1, b IS NULL)"
    assert found.columns == ("c", "b")


def test_a_condition_in_brackets_is_not_taken_for_an_alias():
    assert " AS it WHERE (" in text(T.filter("(a) IS NULL"))


def test_what_is_used_twice_is_written_once():
    shared = T.filter("a > 1").select({"a": "`a`"})
    both = shared.union(shared.distinct())
    written = text(both)
    assert written.startswith("WITH shared0 AS (SELECT `a` FROM t AS it WHERE a > 1) ")
    assert written.count("a > 1") == 1
    assert written.count("shared0") == 3


def test_a_union_goes_by_the_names_of_columns():
    other = Relation.table("u", ("b", "c"))
    found = union_all([T, other])
    assert found.columns == ("a", "b", "c")
    assert "SELECT `a`, `b`, NULL AS `c` FROM t" in text(found)
    assert "SELECT NULL AS `a`, `b`, `c` FROM u" in text(found)


def test_a_semi_join_has_the_columns_of_the_left():
    other = Relation.table("u", ("c",))
    assert T.join(other, "a = c", "left_semi").columns == ("a", "b")
    joined = T.join(other, "a = c", hashed=True)
    assert joined.columns == ("a", "b", "c")
    assert text(joined) == (
        "SELECT /*+ SHUFFLE_HASH(other) */ * FROM t AS one INNER JOIN u AS other ON a = c"
    )


def test_groups_without_keys_are_one_group():
    assert text(T.group((), {"n": "count(*)"})) == "SELECT count(*) AS `n` FROM t"
    assert text(T.group(("a",), {})) == "SELECT `a` FROM t GROUP BY `a`"


@dataclass(frozen=True)
class Maker:
    """What would make a table."""

    made: list

    def make(self, spark, parameters):
        self.made.append((spark, parameters))


class Session:
    """A session that tells what it was asked."""

    def sql(self, text):
        return text


def test_a_statement_makes_the_tables_that_it_needs_and_binds_parameters():
    maker, session = Maker([]), Session()
    made = Relation.table("m", ("a",), made_by=maker)
    found = T.keep("a").filter(f"a > {parameter('low')}").union(made)
    asked = found.statement().on(session, {"low": "5L"})
    assert "WHERE a > 5L)" in asked
    assert maker.made == [(session, {"low": "5L"})]


def test_text_of_data_is_no_parameter():
    hostile = quote("\x01low\x01")
    assert with_parameters(hostile, {}) == hostile
    with pytest.raises(KeyError):
        with_parameters(parameter("low"), {})


def test_a_table_without_rows_has_its_columns():
    assert inline_table({"a": "BIGINT"}, []).endswith("VALUES (NULL) AS inline(`a`) WHERE FALSE)")
