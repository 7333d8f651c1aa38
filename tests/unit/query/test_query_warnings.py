"""What SPARQL gives a meaning that hardly anyone means is run, with a warning."""

import pickle

import pytest

from bestbefore.query import find_warnings, parse_query, plan
from bestbefore.query.algebra import Variable
from bestbefore.query.expressions import In, Not
from bestbefore.query.query_warnings import outcomes

WINDOW = "WINDOW :w { ?user :isMentionedIn ?post }"
SERVICE = "SERVICE :bkg { ?user :hasFollowers ?n }"
BOTH = f"{WINDOW} {SERVICE}"


def warned(text):
    query = parse_query(text)
    plan(query)
    return [str(warning) for warning in find_warnings(query)]


@pytest.mark.parametrize(
    ("where", "column", "message"),
    [
        (
            f"{BOTH} FILTER(?never = 2)",
            90,
            "FILTER(?never = 2) is never true: no pattern of that group binds ?never",
        ),
        (f"{BOTH} FILTER(?pots = :x)", 90, "did you mean '?post'?"),
        (f"{BOTH} FILTER(?n > 1) FILTER(!?never)", 105, "FILTER(!?never) is never true"),
        (f"{BOTH} FILTER(?n > 1 && ?never = 2)", 107, "FILTER(?never = 2) is never true"),
        (f"{BOTH} FILTER(BOUND(?never) || ?no IN (1))", 90, "binds ?never, ?no"),
        (f"{BOTH} FILTER(?n IN (?never, ?no))", 90, "is never true"),
        (f"{BOTH} FILTER(IF(?never, 1, 2))", 90, "is never true"),
        (f"{BOTH} FILTER(false)", 90, "FILTER(false) is never true"),
        (
            f"{WINDOW} SERVICE :bkg {{ ?user :hasFollowers ?n FILTER(?n != ?post) }}",
            88,
            "no pattern of that group binds ?post",
        ),
        (f"{BOTH} OPTIONAL {{ {WINDOW} FILTER(?never = 1) }}", 142, "is never true"),
        (
            f"{BOTH} FILTER EXISTS {{ WINDOW :w {{ ?user :q ?x FILTER(?never) }} }}",
            130,
            "FILTER(?never) is never true",
        ),
        (
            f"{BOTH} BIND(?never + 1 AS ?x)",
            95,
            "?never + 1 is always an error and ?x unbound: no pattern of that group binds ?never",
        ),
        (
            f"{BOTH} GRAPH :g {{ ?user ?p ?o }}",
            90,
            "no FROM NAMED declares the graph <http://example.org/g>, so it is empty",
        ),
    ],
)
def test_a_mistake_that_sparql_gives_a_meaning(registered, where, column, message):
    (warning,) = warned(registered(where))
    assert message in warning
    assert warning.startswith(f"line 5, column {column}: ")


@pytest.mark.parametrize(
    "where",
    [
        f"{BOTH} FILTER(?n = 1 || ?never = 2)",
        f"{BOTH} FILTER(!BOUND(?never))",
        f"{BOTH} FILTER(COALESCE(?never, 1) = 1)",
        f"{BOTH} FILTER(?n IN (1, ?never))",
        f"{BOTH} FILTER(?n NOT IN ())",
        f"{BOTH} FILTER(IF(?n > 1, true, ?never))",
        f"{BOTH} BIND(IF(?n > 1, 1, ?never) AS ?x)",
        f"{WINDOW} OPTIONAL {{ {SERVICE} FILTER(?post != ?n) }}",
        f"{BOTH} FILTER EXISTS {{ WINDOW :w {{ ?user :q ?x }} FILTER(?x = ?post) }}",
        f"{WINDOW} SERVICE :bkg {{ GRAPH :g {{ ?user :hasFollowers ?n }} }}",
        f"{BOTH} FILTER(NOT EXISTS {{ WINDOW :w {{ ?user :q ?x }} }})",
    ],
)
def test_what_may_be_meant_is_run_without_a_word(registered, where):
    assert warned(registered(where)) == []


def test_two_equal_conditions_have_a_place_each(registered):
    where = f"{BOTH} FILTER(?x = 1)\nOPTIONAL {{ {SERVICE} FILTER(?x = 1) }}"
    assert [each.split(": ")[0] for each in warned(registered(where))] == [
        "line 5, column 90",
        "line 6, column 52",
    ]


def test_a_condition_on_a_window_of_c_sparql_has_its_place(registered):
    text = """PREFIX : <http://e/> REGISTER QUERY q AS ASK FROM STREAM :s [RANGE 1m]
{ ?a :p ?b SERVICE :x { ?a :p ?c } FILTER(?never = 1) }"""
    (warning,) = warned(text)
    assert warning.startswith("line 2, column 36: ")


def test_a_named_graph_that_is_declared_nearby_is_named(registered):
    text = registered(f"{BOTH} GRAPH :teems {{ ?user ?p ?o }}", "SELECT * FROM NAMED :teams")
    assert "did you mean 'http://example.org/teams'?" in warned(text)[0]


def test_an_in_without_choices_is_false_and_not_an_error():
    known = frozenset({Variable("a")})
    assert "true" in outcomes(Not(In(Variable("a"), ())), known)


def test_a_copy_of_a_query_has_no_places_rather_than_wrong_ones(registered):
    query = pickle.loads(pickle.dumps(parse_query(registered(f"{BOTH} FILTER(?never = 2)"))))
    (warning,) = find_warnings(query)
    assert str(warning).startswith("FILTER(?never = 2) is never true")
