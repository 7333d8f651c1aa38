"""Grouping, SELECT expressions and solution modifiers: sections 18.2.4 and 18.2.5 of SPARQL 1.1."""

import pytest

from bestbefore.errors import QueryError
from bestbefore.query import DatasetClause, parse_sparql, print_sparql
from bestbefore.query.algebra import (
    BGP,
    Ask,
    Construct,
    Describe,
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    OrderBy,
    OrderCondition,
    Project,
    Reduced,
    Select,
    Slice,
    TriplePattern,
    Values,
    Variable,
)
from bestbefore.query.expressions import Aggregate, And, Arithmetic, Call, Compare, Constant
from bestbefore.rdf.terms import IRI, XSD, BlankNode, Literal

A, B, C, N, M = map(Variable, "abcnm")
A1, A2, K1 = map(Variable, (".a1", ".a2", ".k1"))
ONE = Constant(Literal("1", XSD + "integer"))
P = IRI("http://e/p")
AB = BGP((TriplePattern(A, P, B),))
WHERE = "{ ?a <http://e/p> ?b }"
COUNT, COUNT_B = Aggregate("COUNT", None), Aggregate("COUNT", B)


def pattern_of(text):
    _, pattern, _ = parse_sparql(text)
    return pattern


def counted(keys, *aggregates, where=AB):
    names = (A1, A2)
    return Group(where, keys, tuple(zip(names, aggregates, strict=False)))


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (f"SELECT * {WHERE}", Project(AB, (A, B))),
        (f"SELECT ?b {WHERE}", Project(AB, (B,))),
        (f"SELECT DISTINCT ?b {WHERE}", Distinct(Project(AB, (B,)))),
        (f"SELECT REDUCED ?b {WHERE}", Reduced(Project(AB, (B,)))),
        (f"SELECT ?b {WHERE} LIMIT 5", Slice(Project(AB, (B,)), 0, 5)),
        (f"SELECT ?b {WHERE} OFFSET 2 LIMIT 5", Slice(Project(AB, (B,)), 2, 5)),
        (f"SELECT ?b {WHERE} LIMIT 0", Slice(Project(AB, (B,)), 0, 0)),
        (f"SELECT ?b {WHERE} OFFSET 0", Project(AB, (B,))),
        (
            f"SELECT DISTINCT ?b {WHERE} ORDER BY ?a DESC(?b) (?a + 1) LIMIT 1",
            Slice(
                Distinct(
                    Project(
                        OrderBy(
                            AB,
                            (
                                OrderCondition(A),
                                OrderCondition(B, descending=True),
                                OrderCondition(Arithmetic("+", A, ONE)),
                            ),
                        ),
                        (B,),
                    )
                ),
                0,
                1,
            ),
        ),
        (
            f"SELECT ?a (?b + 1 AS ?n) (?n + 1 AS ?m) {WHERE}",
            Project(
                Extend(Extend(AB, N, Arithmetic("+", B, ONE)), M, Arithmetic("+", N, ONE)),
                (A, N, M),
            ),
        ),
        (
            f"SELECT * {WHERE} VALUES ?a {{ 1 }}",
            Project(Join(AB, Values((A,), ((ONE.term,),))), (A, B)),
        ),
        ("SELECT * { } VALUES ?a { 1 }", Project(Values((A,), ((ONE.term,),)), (A,))),
    ],
)
def test_modifiers_come_in_the_order_of_the_specification(text, pattern):
    assert pattern_of(text) == pattern


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (
            f"SELECT (COUNT(*) AS ?n) {WHERE}",
            Project(Extend(counted((), COUNT), N, A1), (N,)),
        ),
        (
            f"SELECT ?a (COUNT(?b) AS ?n) {WHERE} GROUP BY ?a",
            Project(Extend(counted((A,), COUNT_B), N, A1), (A, N)),
        ),
        (f"SELECT ?a {WHERE} GROUP BY ?a", Project(counted((A,)), (A,))),
        (f"SELECT ?a {WHERE} GROUP BY (?a)", Project(counted((A,)), (A,))),
        (
            f"SELECT ?n {WHERE} GROUP BY (?b + 1 AS ?n)",
            Project(counted((N,), where=Extend(AB, N, Arithmetic("+", B, ONE))), (N,)),
        ),
        (
            f"SELECT ?a {WHERE} GROUP BY STR(?b) ?a",
            Project(counted((K1, A), where=Extend(AB, K1, Call("STR", (B,)))), (A,)),
        ),
        (
            f"SELECT (SUM(?b) + COUNT(*) AS ?n) (SUM(?b) AS ?m) {WHERE}",
            Project(
                Extend(
                    Extend(counted((), Aggregate("SUM", B), COUNT), N, Arithmetic("+", A1, A2)),
                    M,
                    A1,
                ),
                (N, M),
            ),
        ),
        (
            f"SELECT ?a {WHERE} GROUP BY ?a HAVING(COUNT(*) > 1) (?a = 1)",
            Project(
                Filter(And((Compare(">", A1, ONE), Compare("=", A, ONE))), counted((A,), COUNT)),
                (A,),
            ),
        ),
        (
            f"SELECT ?a {WHERE} GROUP BY ?a HAVING(?b = 1) ORDER BY ?b",
            Project(
                OrderBy(
                    Filter(Compare("=", A1, ONE), counted((A,), Aggregate("SAMPLE", B))),
                    (OrderCondition(A1),),
                ),
                (A,),
            ),
        ),
        (
            f"SELECT ?a (COUNT(*) AS ?n) {WHERE} GROUP BY ?a ORDER BY DESC(?n) VALUES ?a {{ 1 }}",
            Project(
                OrderBy(
                    Extend(Join(counted((A,), COUNT), Values((A,), ((ONE.term,),))), N, A1),
                    (OrderCondition(N, descending=True),),
                ),
                (A, N),
            ),
        ),
        (
            f"SELECT (GROUP_CONCAT(DISTINCT ?b ; SEPARATOR=', ') AS ?n) {WHERE}",
            Project(
                Extend(
                    counted((), Aggregate("GROUP_CONCAT", B, distinct=True, separator=", ")), N, A1
                ),
                (N,),
            ),
        ),
        (f"ASK {WHERE} HAVING (COUNT(*) > 1)", Filter(Compare(">", A1, ONE), counted((), COUNT))),
        (f"ASK {WHERE} HAVING (?a = 1)", Filter(Compare("=", A, ONE), AB)),
    ],
)
def test_groups(text, pattern):
    assert pattern_of(text) == pattern


def test_aggregates_are_numbered_as_they_are_met_with_those_that_sample():
    text = f"SELECT ?a {WHERE} GROUP BY ?a HAVING(?b = 1) ORDER BY COUNT(*)"
    query = parse_sparql(text)
    group = query[1].pattern.pattern.pattern
    assert group == counted((A,), Aggregate("SAMPLE", B), COUNT)
    assert parse_sparql(print_sparql(*query)) == query


def test_all_aggregates():
    for name in ("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE"):
        pattern = pattern_of(f"SELECT ({name}(DISTINCT ?b) AS ?n) {WHERE}")
        assert pattern.pattern.pattern == counted((), Aggregate(name, B, distinct=True))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (f"SELECT * {WHERE} GROUP BY ?a", 1, "SELECT * does not go with groups"),
        (f"SELECT ?b {WHERE} GROUP BY ?a", 8, "?b has many values in a group; add it to GROUP BY"),
        (f"SELECT ?a (COUNT(*) AS ?n) {WHERE}", 8, "?a has many values in a group"),
        (f"SELECT (?b + COUNT(*) AS ?n) {WHERE}", 26, "?b has many values in a group"),
        (f"SELECT (1 AS ?a) {WHERE}", 14, "?a is bound in the pattern; choose another name"),
        (f"SELECT (SUM(?b) AS ?b) {WHERE}", 20, "?b is bound in the pattern"),
        ("SELECT (1 AS ?x) (1 AS ?x) {}", 24, "?x is bound"),
        (f"SELECT ?a {WHERE} GROUP BY (1 AS ?a)", 49, "?a is bound in the pattern"),
        (f"SELECT (COUNT(SUM(?b)) AS ?n) {WHERE}", 15, "SUM cannot stand in the aggregate COUNT"),
        (f"SELECT ?a {WHERE} GROUP BY (SUM(?b) AS ?n)", 44, "SUM cannot stand in GROUP BY"),
        (
            f"SELECT (COUNT(*) AS ?n) {WHERE} HAVING(?n > 1)",
            48,
            "HAVING comes before SELECT and does not know ?n; repeat the expression",
        ),
        (f"SELECT ?a {WHERE} GROUP BY ?a HAVING(BOUND(?b))", 46, "?b has many values in a group"),
        (f"SELECT ?a {WHERE} LIMIT 1.5", 40, "expected a whole number, found '1.5'"),
        (f"SELECT ?a {WHERE} LIMIT -1", 40, "'-' does not fit here"),
        (
            f"SELECT (<http://www.w3.org/2001/XMLSchema#integer>(?a, ?b) AS ?n) {WHERE}",
            9,
            "takes one value",
        ),
    ],
)
def test_what_sparql_forbids_is_refused_with_its_place(text, column, message):
    with pytest.raises(QueryError) as caught:
        parse_sparql(text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (1, column)


@pytest.mark.parametrize(
    ("text", "form", "pattern"),
    [
        ("ASK {}", Ask(), BGP(())),
        (f"DESCRIBE ?a <http://e/p> {WHERE}", Describe((A, P)), AB),
        ("DESCRIBE <http://e/p>", Describe((P,)), BGP(())),
        (f"DESCRIBE * {WHERE}", Describe((A, B)), AB),
        (f"CONSTRUCT {{ ?b ?c ?a }} WHERE {WHERE}", Construct((TriplePattern(B, C, A),)), AB),
        (f"CONSTRUCT WHERE {WHERE}", Construct(AB.patterns), AB),
        ("CONSTRUCT WHERE { }", Construct(()), BGP(())),
        (
            "CONSTRUCT WHERE { ?a <http://e/p> _:x } LIMIT 3",
            Construct((TriplePattern(A, P, BlankNode("x")),)),
            Slice(BGP((TriplePattern(A, P, BlankNode("x")),)), 0, 3),
        ),
    ],
)
def test_forms(text, form, pattern):
    assert parse_sparql(text) == (form, pattern, DatasetClause())


def test_the_dataset():
    text = "BASE <http://e/x/> SELECT * FROM <a> FROM NAMED <../b> FROM <a> FROM <c> {}"
    form, _, dataset = parse_sparql(text)
    assert form == Select(())
    assert dataset == DatasetClause(("http://e/x/a", "http://e/x/c"), ("http://e/b",))


def test_the_base_of_a_caller():
    _, pattern, _ = parse_sparql("ASK { <a> <p> <../b> }", "http://e/")
    assert pattern == BGP((TriplePattern(IRI("http://e/a"), IRI("http://e/p"), IRI("http://e/b")),))


def test_iri_depends_on_the_base():
    assert pattern_of("BASE <http://e/> ASK { BIND(URI('x') AS ?a) }").expression == Constant(
        IRI("http://e/x")
    )
    call = pattern_of("BASE <http://e/> ASK { BIND(URI(?b) AS ?a) }").expression
    assert call == Call("IRI", (B,), base="http://e/")
    assert pattern_of("ASK { BIND(IRI(?b) AS ?a) }").expression == Call("IRI", (B,))


def test_plain_sparql_needs_a_form():
    with pytest.raises(QueryError, match="expected SELECT, CONSTRUCT, ASK or DESCRIBE after the"):
        parse_sparql("INSERT DATA { }")
