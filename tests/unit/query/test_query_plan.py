import pytest

from bestbefore.errors import QueryError, UnsupportedSparql
from bestbefore.query import NamedWindow, Variable, parse_query, plan

E = "http://example.org/"
WINDOW = "WINDOW :w { ?user :isMentionedIn ?post }"
SERVICE = "SERVICE :bkg { ?user :hasFollowers ?followers }"


def test_the_influencer_query(influencers):
    query = parse_query(influencers)
    user, post, followers = map(Variable, ("user", "post", "followers"))
    found = plan(query)
    assert found.window == NamedWindow(E + "w", E + "mentions", 600_000, 60_000)
    assert found.window_pattern == query.pattern.pattern.left.pattern
    assert found.service == query.pattern.pattern.right
    assert (found.window_variables, found.service_variables) == ((user, post), (user, followers))
    assert found.join_key == (user,)
    assert found.around == query.pattern


def test_the_join_key_is_in_the_order_of_the_service(registered):
    where = "WINDOW :w { ?a :p ?b . ?b :p ?c } SERVICE :s { ?c :q ?x . ?x :q ?a }"
    assert plan(parse_query(registered(where))).join_key == (Variable("c"), Variable("a"))


def test_clauses_in_groups_are_found(registered):
    where = f"{{ {{ {WINDOW} }} FILTER(?post != :x) }} {{ {SERVICE} }}"
    assert plan(parse_query(registered(where))).join_key == (Variable("user"),)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (WINDOW, "the query has no SERVICE clause"),
        (
            f"WINDOW :v {{ ?user :p ?x }} {SERVICE}",
            "the window <http://example.org/v> is not declared",
        ),
        (f"WINDOW :v {{ ?user :p ?x }} {SERVICE}", "did you mean 'http://example.org/w'?"),
        (SERVICE, "the window <http://example.org/w> is declared but never used"),
        (
            "WINDOW :w { ?a :p ?b } SERVICE :s { ?c :q ?d }",
            "WINDOW (?a, ?b) and SERVICE (?c, ?d) share no variable; without one every stream",
        ),
        (
            "WINDOW :w { ?a :p [] } SERVICE :s { :c :q [] }",
            "SERVICE (no variables) share no variable",
        ),
        (
            f"WINDOW :w {{ ?user :p ?x {SERVICE} }}",
            "SERVICE <http://example.org/bkg> stands inside",
        ),
        (f"SERVICE :s {{ ?user :p ?x {WINDOW} }}", "stands inside SERVICE <http://example.org/s>"),
        (f"WINDOW :w {{ {WINDOW} }} {SERVICE}", "stands inside WINDOW <http://example.org/w>"),
        (
            f"{WINDOW} {SERVICE} FILTER(?folowers > 1)",
            "FILTER(?folowers > 1), but no pattern of that group binds it; did you mean '?foll",
        ),
        (
            f"{WINDOW} SERVICE :bkg {{ ?user :hasFollowers ?n FILTER(?n != ?post) }}",
            "?post is used in FILTER(?n != ?post), but no pattern of that group binds it",
        ),
    ],
)
def test_what_cannot_be_planned_is_an_error(registered, where, message):
    with pytest.raises(QueryError) as caught:
        plan(parse_query(registered(where)))
    assert message in str(caught.value)
    assert not isinstance(caught.value, UnsupportedSparql)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("SELECT ?user ?folowers", "?folowers is selected, but no pattern"),
        ("SELECT ?user ?folowers", "did you mean '?followers'"),
        ("CONSTRUCT { ?usr a :X }", "?usr is used in the CONSTRUCT template"),
    ],
)
def test_an_answer_needs_variables_that_occur(registered, form, message):
    with pytest.raises(QueryError) as caught:
        plan(parse_query(registered(f"{WINDOW} {SERVICE}", form)))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (f"{WINDOW} {SERVICE} SERVICE :two {{ ?user :q ?x }}", "several SERVICE clauses"),
        (f"{WINDOW} {WINDOW} {SERVICE}", "several WINDOW clauses"),
        (f"{WINDOW} {SERVICE} ?user :q ?x", "a triple pattern outside WINDOW and SERVICE"),
    ],
)
def test_what_a_later_version_may_run_is_unsupported(registered, where, message):
    with pytest.raises(UnsupportedSparql) as caught:
        plan(parse_query(registered(where)))
    assert message in str(caught.value)
