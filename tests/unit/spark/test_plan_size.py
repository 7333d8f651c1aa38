import pytest

from bestbefore.errors import UnsupportedSparql
from bestbefore.query import parse_query, plan
from bestbefore.query.expressions import And, Compare, Constant, In, Or, Variable
from bestbefore.rdf.terms import XSD, Literal
from bestbefore.spark.compiled_query import compile_query, window_contents
from bestbefore.spark.expressions import Scope, condition_sql
from bestbefore.spark.sql import call, chain, name
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


def selects(*items):
    """How many SELECTs are in each other, or beside, for what binds some variables."""
    return compiled("?u :p ?x", " ".join(f"BIND({item})" for item in items)).rows.text.count(
        "SELECT"
    )


def test_variables_that_do_not_depend_on_each_other_are_columns_of_one_select():
    one = selects("?x + 0 AS ?y0")
    assert selects(*(f"?x + {n} AS ?y{n}" for n in range(150))) == one
    chain = ["?x + 1 AS ?y0", *(f"?y{n} + 1 AS ?y{n + 1}" for n in range(3))]
    assert selects(*chain) == one + 3
    # What reads none of those beside it is computed with them.
    assert selects(*chain[:2], "?x + 2 AS ?z0", "?x + 3 AS ?z1") == one + 1
    # What draws, or asks for other mappings, stands alone.
    assert selects("?x + 1 AS ?y", "RAND() AS ?r", "?x + 2 AS ?z") > one + 1
    assert selects("?x + 1 AS ?y", "EXISTS { VALUES ?u { :a } } AS ?e", "?x + 2 AS ?z") > one + 1


def test_many_comparisons_with_one_variable_are_as_short_as_an_in():
    scope = Scope({"x": name("?x")})
    numbers = [Constant(Literal(str(number), f"{XSD}integer")) for number in range(200)]
    x = Variable("x")
    equal = Or(tuple(Compare("=", x, number) for number in numbers))
    unequal = And(tuple(Compare("!=", number, x) for number in numbers))
    listed = condition_sql(In(x, tuple(numbers)), scope)
    assert condition_sql(equal, scope) == listed
    assert condition_sql(unequal, scope) == call("not", listed)
    # Where the variable is a condition itself, it stays one.
    mixed = condition_sql(Or((x, *equal.operands)), scope)
    assert mixed == chain("OR", [condition_sql(x, scope), listed])
