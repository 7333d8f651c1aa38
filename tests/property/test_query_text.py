"""The law of reading: any text is a query or an error in one line with its place."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bestbefore.errors import QueryError
from bestbefore.query import find_warnings, parse_query, parse_sparql, plan, print_query

# fmt: off
TOKENS = (
    "{", "}", "(", ")", "[", "]", ".", ";", ",", "*", "/", "+", "-", "=", "!=", "<", ">", "<=", "!",
    "|", "||", "&&", "^", "^^", "?", "?x", "?y", "_:b", ":p", "<http://e/p>", "<a>", "a", "'s'",
    "@en", "1", "2.5", "3e4", "true", "SELECT", "DISTINCT", "CONSTRUCT", "ASK", "DESCRIBE", "WHERE",
    "FROM", "NAMED", "WINDOW", "STREAM", "ON", "RANGE", "STEP", "10m", "PT1M", "ELEMENTS", "FILTER",
    "OPTIONAL", "UNION", "MINUS", "GRAPH", "SERVICE", "SILENT", "BIND", "AS", "VALUES", "UNDEF",
    "GROUP", "BY", "HAVING", "ORDER", "DESC", "LIMIT", "OFFSET", "EXISTS", "NOT", "IN", "COUNT",
    "GROUP_CONCAT", "SEPARATOR", "STR", "IF", "BOUND", "COALESCE", "REGEX", "NOW", "COMPUTED",
    "EVERY", "BASE", "PREFIX",
)
# fmt: on
HEAD = "PREFIX : <http://e/> REGISTER QUERY q AS "
QUERIES = """
SELECT ?x ( COUNT ( ?y ) AS ?n ) FROM NAMED WINDOW :w ON :s [ RANGE 10m STEP 1m ] WHERE
{ WINDOW :w { ?x :p / :q * ?y . FILTER ( ?y > 1 && ! BOUND ( ?x ) ) }
  SERVICE :s { ?x a [ :r ( 1 2.5 ) ] OPTIONAL { ?x :q ?z } } }
GROUP BY ?x HAVING ( COUNT ( * ) > 1 ) LIMIT 3

CONSTRUCT { ?x :p ?y } FROM STREAM :s [ RANGE TRIPLES 10 ] WHERE
{ { ?x :p ?y } UNION { ?x ! ( :p | ^ :q ) 's' @en }
  BIND ( IF ( ?y IN ( 1 , - 2 ) , 1 , 2 ) AS ?z ) VALUES ( ?x ?y ) { ( UNDEF 1 ) }
  MINUS { SELECT * { ?x ?p ?y } ORDER BY DESC ( ?y ) } }
""".strip().split("\n\n")


@st.composite
def damaged(draw):
    """A query in which some tokens are left out, put in or exchanged."""
    tokens = draw(st.sampled_from(QUERIES)).split()
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.integers(0, len(tokens) - 1))
        tokens[number : number + draw(st.integers(0, 1))] = draw(
            st.lists(st.sampled_from(TOKENS), max_size=2)
        )
    return " ".join(tokens)


def problem_of(text, parse):
    """Why nothing can be done with a text, if nothing can."""
    try:
        query = parse(text)
        if parse is parse_query:
            assert parse_query(print_query(query)) == query
            find_warnings(query)
            plan(query)
    except QueryError as problem:
        return problem
    return None


def check(text):
    for parse in (parse_sparql, parse_query):
        if problem := problem_of(text, parse):
            assert "\n" not in str(problem)
            assert problem.line is not None


@settings(max_examples=300, deadline=None, derandomize=True)
@given(damaged())
def test_a_damaged_query_is_read_or_refused(text):
    check(HEAD + text)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(TOKENS), max_size=30).map(" ".join))
def test_any_tokens_are_read_or_refused(text):
    check(HEAD + text)
    check(f"ASK {{ {text} }}")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    check(text)
    check(f"ASK {{ ?x ?y {text} }}")
