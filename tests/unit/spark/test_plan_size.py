import pytest

from bestbefore.errors import UnsupportedSparql
from bestbefore.query import parse_query, plan
from bestbefore.spark.compiled_query import compile_query, window_contents
from bestbefore.windows import Instants, SlidingWindow

MANY = 1_000


def compiled(window, outside=""):
    query = parse_query(
        "PREFIX : <http://e/> REGISTER RSTREAM :q AS SELECT ?u "
        "FROM NAMED WINDOW :w ON :s [RANGE PT10M STEP PT1M] "
        f"WHERE {{ WINDOW :w {{ {window} }} {outside} }}"
    )
    found = plan(query)
    windows = tuple(SlidingWindow(600_000, 60_000) for _ in found.windows)
    streams = tuple(clause.window.streams for clause in found.windows)
    return compile_query(query, found, window_contents(Instants(windows), streams))


@pytest.mark.parametrize(
    "window",
    [
        "?u " + " ; ".join(f":p{n} ?x{n}" for n in range(MANY)),
        f"?u :p ( {'1 ' * MANY})",
        "?u " + "/".join(f":p{n}" for n in range(MANY)) + " ?x",
        "?u :p ?x " + "".join(f"FILTER EXISTS {{ ?u :q{n} ?y }} " for n in range(MANY)),
        "?u :p ?x " + "OPTIONAL { ?u :q ?y } " * 190,
        " UNION ".join(["{ ?u :p ?x }"] * 190),
    ],
)
def test_more_joins_than_spark_can_plan_are_refused_by_number(window):
    with pytest.raises(UnsupportedSparql, match=r"WINDOW <http://e/w> joins \d+ .*no more than 80"):
        compiled(window)


def test_an_expression_that_nests_deeper_than_spark_can_plan_is_refused():
    with pytest.raises(UnsupportedSparql, match="an expression nests 101 operators, and Spark"):
        compiled(f"?u :p ?x FILTER(?x > {'?x + ' * 99}1)")
    assert compiled(f"?u :p ?x FILTER(?x > {'?x + ' * 70}1)")
    assert compiled("?u :p ?x", f"SERVICE :bkg {{ ?u :q ?y FILTER(?y > {'?y + ' * 99}1) }}")


def test_the_clauses_count_together_but_not_what_is_in_them():
    clause = "WINDOW :w { ?u :p ?x, ?y, ?z }"
    assert len(compiled("?u :p ?x", clause * 70).mappings) == 71
    with pytest.raises(UnsupportedSparql, match="the clauses together join"):
        compiled("?u :p ?x", clause * 90)


@pytest.mark.parametrize(
    ("window", "outside"),
    [
        ("?u " + " ; ".join(f":p{n} ?x{n}" for n in range(80)), ""),
        ("?u :p ?x", "SERVICE :bkg { ?u " + " ; ".join(f":p{n} ?x{n}" for n in range(MANY)) + " }"),
        (f"?u :p ?x FILTER(?x IN ({', '.join(map(str, range(MANY)))}))", ""),
        (f"?u :p ?x VALUES ?x {{ {' '.join(map(str, range(MANY)))} }}", ""),
    ],
)
def test_what_is_many_but_no_join_of_ours_is_compiled(window, outside):
    assert compiled(window, outside).answers.text
