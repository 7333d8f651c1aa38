import pytest

from bestbefore.errors import QueryError, UnsupportedSparql
from bestbefore.query import NamedWindow, TimeWindow, describe_algebra, parse_query, plan
from bestbefore.query.algebra import Filter, Variable, Window, services_of, windows_of
from bestbefore.query.printing import print_pattern

E = "http://example.org/"
WINDOW = "WINDOW :w { ?user :isMentionedIn ?post }"
OTHER_CLAUSE = "WINDOW :w { ?user :q ?x }"
SERVICE = "SERVICE :bkg { ?user :hasFollowers ?followers }"


def test_the_influencer_query(influencers):
    query = parse_query(influencers)
    user, post, followers = map(Variable, ("user", "post", "followers"))
    found = plan(query)
    join = found.around.pattern.pattern
    extent = TimeWindow(600_000, 60_000)
    (window,), (service,) = found.windows, found.services
    assert window.window == NamedWindow(E + "w", (E + "mentions",), extent)
    assert join.left == Window(E + "w", window.pattern, number=window.number)
    assert join.right == service.service
    assert (window.number, service.number, service.service.number) == (0, 0, 0)
    assert (window.variables, service.variables) == ((user, post), (user, followers))
    assert service.join_key == (user,)
    assert service.windows == (0,)
    assert window.outputs == (user,)
    assert [str(each) for each in window.needed] == [f"_ <{E}isMentionedIn> _"]
    assert print_pattern(found.around) == print_pattern(query.pattern)


def test_the_join_key_is_in_the_order_of_the_service(registered):
    where = "WINDOW :w { ?a :p ?b . ?b :p ?c } SERVICE :s { ?c :q ?x . ?x :q ?a }"
    (service,) = plan(parse_query(registered(where))).services
    assert service.join_key == (Variable("c"), Variable("a"))


@pytest.mark.parametrize("operator", ["OPTIONAL", "MINUS"])
def test_only_what_the_left_side_binds_restricts_the_service_of_an_optional(registered, operator):
    """Restricted to the window's ?k, an OPTIONAL without a match for it would leave ?k open."""
    inner = f"{{ WINDOW :w {{ ?a :q ?b }} {operator} {{ SERVICE :s {{ ?a :n ?k }} }} }}"
    (service,) = plan(parse_query(registered(f"WINDOW :w {{ ?a :p ?k }} {inner}"))).services
    assert service.join_key == (Variable("a"),)


def test_clauses_in_groups_are_found(registered):
    where = f"{{ {{ {WINDOW} }} FILTER(?post != :x) }} {{ {SERVICE} }}"
    (service,) = plan(parse_query(registered(where))).services
    assert service.join_key == (Variable("user"),)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (
            f"WINDOW :v {{ ?user :p ?x }} {SERVICE}",
            "the window <http://example.org/v> is not declared",
        ),
        (f"WINDOW :v {{ ?user :p ?x }} {SERVICE}", "did you mean 'http://example.org/w'?"),
        (SERVICE, "the window <http://example.org/w> is declared but never used"),
        (
            "WINDOW :w { ?a :p ?b } SERVICE :s { ?c :q ?d }",
            "WINDOW (?a, ?b) and SERVICE (?c, ?d) share no variable on which they",
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


def names(variables):
    return [each.name for each in variables]


def test_several_services_have_a_key_each(registered):
    where = f"{WINDOW} {SERVICE} SERVICE :two {{ ?x :q ?post . ?x :q ?user }}"
    found = plan(parse_query(registered(where)))
    assert [names(each.join_key) for each in found.services] == [["user"], ["post", "user"]]
    assert [each.iri for each in found.services] == [E + "bkg", E + "two"]


def test_several_windows(registered):
    second = "FROM NAMED WINDOW :v ON :t [RANGE PT5M]"
    where = f"{WINDOW} WINDOW :v {{ ?post :by ?author ; :at ?time }} {SERVICE}"
    found = plan(parse_query(registered(where, f"SELECT ?followers ?author {second}")))
    assert [each.window.name for each in found.windows] == [E + "w", E + "v"]
    assert [names(each.outputs) for each in found.windows] == [
        ["user", "post"],
        ["post", "author"],
    ]
    assert found.services[0].windows == (0,)


OPTIONAL_POST = "WINDOW :w { ?user a :User OPTIONAL { ?user :isMentionedIn ?post } }"


@pytest.mark.parametrize(
    ("where", "key", "windows"),
    [
        (f"{{ {WINDOW} }} OPTIONAL {{ {SERVICE} }}", ["user"], (0,)),
        (f"{WINDOW} MINUS {{ {SERVICE} }}", ["user"], (0,)),
        (f"{WINDOW} {{ SELECT ?user {{ {SERVICE} }} }}", ["user"], (0,)),
        (f"{{ SELECT ?user {{ {WINDOW} }} GROUP BY ?user }} {SERVICE}", ["user"], (0,)),
        (f"{SERVICE} FILTER EXISTS {{ {WINDOW} }}", ["user"], (0,)),
        (f"{WINDOW} {SERVICE} FILTER NOT EXISTS {{ WINDOW :w {{ ?user :q ?x }} }}", ["user"], (0,)),
        (f"{WINDOW} {SERVICE} MINUS {{ WINDOW :w {{ ?user :q ?x }} }}", ["user"], (0,)),
        (f"{WINDOW} OPTIONAL {{ WINDOW :w {{ ?user :q ?x }} }} {SERVICE}", ["user"], (0,)),
        (f"{{ {WINDOW} }} UNION {{ {WINDOW} }} {SERVICE}", ["user"], (0, 1)),
        (f"{WINDOW} {WINDOW} {SERVICE}", ["user"], (0, 1)),
        (f"VALUES ?followers {{ 1 }} {WINDOW} {SERVICE}", ["user"], (0,)),
        ("WINDOW :w { ?a :p/:q* ?b } SERVICE :s { ?b :p/:q* ?c }", ["b"], (0,)),
        (f"{OPTIONAL_POST} SERVICE :s {{ ?user :q ?post }}", ["user"], (0,)),
        (
            f"{WINDOW} SERVICE :s {{ ?user a :User OPTIONAL {{ ?user :in ?post }} }}",
            ["user"],
            (0,),
        ),
    ],
)
def test_the_join_key_of_a_service_inside_something(registered, where, key, windows):
    (service,) = plan(parse_query(registered(where, "ASK"))).services
    assert names(service.join_key) == key
    assert service.windows == windows


def test_clauses_that_are_written_alike_are_told_apart_by_their_numbers(registered):
    where = f"{{ {WINDOW} {SERVICE} }} UNION {{ {WINDOW} {SERVICE} }}"
    found = plan(parse_query(registered(where)))
    assert [each.number for each in windows_of(found.around)] == [0, 1]
    assert [each.number for each in services_of(found.around)] == [0, 1]
    assert [each.number for each in found.windows] == [0, 1]
    assert [(each.number, each.windows) for each in found.services] == [(0, (0,)), (1, (1,))]


def test_windows_of_conditions_and_aggregates_have_numbers(registered):
    tested = "EXISTS { WINDOW :w { ?user :q ?x } }"
    where = f"{WINDOW} {SERVICE} FILTER({tested} || ?followers > 1)"
    found = plan(parse_query(registered(where, f"SELECT (SUM(IF({tested}, 1, 0)) AS ?n)")))
    assert [each.number for each in windows_of(found.around)] == [0, 1, 2]


@pytest.mark.parametrize(
    "where",
    [
        f"{{ {WINDOW} }} UNION {{ {SERVICE} }}",
        f"{WINDOW} {{ SELECT ?followers {{ {SERVICE} }} }}",
        f"{{ SELECT ?post {{ {WINDOW} }} }} {SERVICE}",
        f"{SERVICE} OPTIONAL {{ {WINDOW} }}",
        f"{SERVICE} MINUS {{ {WINDOW} }}",
        f"{SERVICE} FILTER NOT EXISTS {{ {WINDOW} }}",
        f"{{ {{ {WINDOW} }} UNION {{ VALUES ?post {{ 1 }} }} }} {SERVICE}",
        f"{WINDOW} {{ SELECT * {{ {SERVICE} }} LIMIT 1 }}",
        f"{WINDOW} {{ VALUES ?post {{ 1 }} OPTIONAL {{ {SERVICE} }} }}",
        f"{WINDOW} SERVICE :s {{ SELECT (COUNT(*) AS ?n) {{ ?user :p ?x }} }}",
    ],
)
def test_a_service_that_meets_no_window_is_an_error_with_its_place(registered, where):
    with pytest.raises(QueryError, match="share no variable on which they are joined") as caught:
        plan(parse_query(registered(where, "ASK")))
    line = registered(where, "ASK").splitlines()[4]
    assert (caught.value.line, caught.value.column) == (5, line.index("SERVICE") + 1)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (
            f"{WINDOW} SERVICE :s {{ ?x a :User OPTIONAL {{ ?x :in ?post }} }}",
            "The SERVICE may leave ?post unbound: bind it in all its cases",
        ),
        (
            f"{OPTIONAL_POST} SERVICE :s {{ ?x :in ?post }}",
            "?post restricts the SERVICE only where a WINDOW always binds it",
        ),
    ],
)
def test_a_join_key_that_may_be_unbound_is_an_error_that_names_it(registered, where, message):
    with pytest.raises(QueryError) as caught:
        plan(parse_query(registered(where, "ASK")))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("form", "after", "outputs"),
    [
        ("SELECT ?followers", "", ["user"]),
        ("SELECT ?followers ?post", "", ["user", "post"]),
        ("SELECT (COUNT(*) AS ?n)", "", ["user"]),
        ("SELECT (COUNT(DISTINCT *) AS ?n)", "", ["user", "post", "time"]),
        ("SELECT (MAX(?time) AS ?n)", "", ["user", "time"]),
        ("SELECT ?followers", "ORDER BY ?time", ["user", "time"]),
        ("SELECT (COUNT(*) AS ?n)", "GROUP BY ?post", ["user", "post"]),
        ("SELECT ?followers", "HAVING(?post > 1)", ["user"]),
        ("SELECT ?followers (RAND() AS ?n)", "", ["user", "post", "time"]),
        ("CONSTRUCT { ?post :x ?followers }", "", ["user", "post"]),
        ("CONSTRUCT { [] :x ?followers }", "", ["user", "post", "time"]),
        ("ASK", "", ["user"]),
    ],
)
def test_a_window_gives_what_others_look_at(registered, form, after, outputs):
    window = "WINDOW :w { ?user :isMentionedIn ?post ; :at ?time }"
    found = plan(parse_query(registered(f"{window} {SERVICE}", form, after)))
    assert names(found.windows[0].outputs) == outputs


def test_a_filter_on_the_window_goes_into_it_and_one_on_the_service_stays(registered):
    where = f"{WINDOW} {SERVICE} FILTER(?post != :x && ?followers > 5)"
    found = plan(parse_query(registered(where, "ASK")))
    assert isinstance(found.around, Filter)
    assert isinstance(found.windows[0].pattern, Filter)
    assert windows_of(found.around) == (Window(E + "w", found.windows[0].pattern, number=0),)
    assert [str(each) for each in found.thresholds] == ["?followers > 5"]
    assert found.services[0].thresholds == found.thresholds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FILTER(?followers > 5) OPTIONAL { ?user :p ?x FILTER(?followers > 6) }", ["> 5"]),
        ("{ ?user :p ?followers FILTER(?followers > 6) } UNION { }", []),
        ("MINUS { ?user :p ?followers FILTER(?followers > 6) }", []),
        ("{ SELECT ?followers { ?user :p ?followers FILTER(?followers > 6) } }", ["> 6"]),
    ],
)
def test_a_threshold_is_what_every_answer_fulfils(registered, text, expected):
    found = plan(parse_query(registered(f"{WINDOW} {SERVICE} {text}", "ASK FROM :g")))
    assert [str(each).removeprefix("?followers ") for each in found.thresholds] == expected


@pytest.mark.parametrize(
    ("where", "condition"),
    [
        (f"{WINDOW} OPTIONAL {{ {SERVICE} }} FILTER(%s)", "?followers > 1"),
        (f"{WINDOW} {SERVICE} FILTER(%s)", "!BOUND(?nothing)"),
        (f"{WINDOW} {SERVICE} FILTER(%s)", "COALESCE(?nothing, 1) = 1"),
        (f"{WINDOW} {SERVICE} FILTER EXISTS {{ {OTHER_CLAUSE} FILTER(%s) }}", "?x = ?post"),
        (f"{WINDOW} OPTIONAL {{ {SERVICE} FILTER(%s) }}", "?post != ?followers"),
        (f"{WINDOW} {SERVICE} FILTER(%s)", "?followers = 1 || ?never = 2"),
        (f"{WINDOW} {SERVICE} FILTER(%s)", "?never = 2"),
    ],
)
def test_a_filter_on_what_may_be_unbound_is_planned(registered, where, condition):
    found = plan(parse_query(registered(where % condition)))
    assert condition in describe_algebra(found.around)
    assert [service.join_key for service in found.services] == [(Variable("user"),)]


@pytest.mark.parametrize(
    ("more", "node"),
    [
        ("BIND(?never AS ?x)", "?never"),
        ("GRAPH :g { ?user ?p ?o }", "<http://example.org/g>"),
        ("GRAPH ?g { ?user ?p ?o }", "?g"),
    ],
)
def test_what_is_unbound_or_empty_is_planned(registered, more, node):
    found = plan(parse_query(registered(f"{WINDOW} {SERVICE} {more}")))
    assert node in describe_algebra(found.around)


@pytest.mark.parametrize(
    ("where", "form", "column", "message"),
    [
        (
            f"{WINDOW} {SERVICE} FILTER EXISTS {{ WINDOW :w {{ ?x :q ?y FILTER(?x = ?post) }} }}",
            "ASK",
            135,
            "?post of outside EXISTS in a WINDOW inside it is not supported",
        ),
        (
            f"GRAPH :g {{ {WINDOW} }} {SERVICE}",
            "ASK FROM NAMED :g",
            20,
            "WINDOW <http://example.org/w> stands inside GRAPH",
        ),
    ],
)
def test_mistakes_have_a_place(registered, where, form, column, message):
    with pytest.raises(QueryError) as caught:
        plan(parse_query(registered(where, form)))
    assert message in str(caught.value)
    assert caught.value.column == column
