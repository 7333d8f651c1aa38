"""Random SPARQL queries and small graphs, for tests against an independent evaluator."""

from hypothesis import strategies as st

EX = "http://example.org/"
PREFIX = f"PREFIX : <{EX}>\n"
NODES = [f"<{EX}n{number}>" for number in range(3)]
PREDICATES = [f"<{EX}{name}>" for name in "pq"]
INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"


def number(value):
    """An integer, encoded."""
    return f'"{value}"{INTEGER}'


NUMBERS = [number(value) for value in range(2)]
TEXTS = ['"x"', '"xy"@en']

names = st.sampled_from("abc").map("?{}".format)
nodes = st.sampled_from([":n0", ":n1", ":n2"])
values = st.one_of(nodes, st.sampled_from(["0", "1", "2", '"x"', '"xy"@en']))
predicates = st.sampled_from([":p", ":q"])

triples = st.tuples(
    st.sampled_from(NODES), st.sampled_from(PREDICATES), st.sampled_from([*NODES, *NUMBERS, *TEXTS])
)
graphs = st.lists(triples, min_size=4, max_size=14)


@st.composite
def paths(draw, depth=2):
    """A property path."""
    simple = st.one_of(
        predicates,
        predicates.map("^{}".format),
        st.sampled_from(["!:p", "!(:p|^:q)", "!(^:p)"]),
    )
    if depth == 0:
        return draw(simple)
    inner = paths(depth - 1)
    pair = st.tuples(inner, inner)
    return draw(
        st.one_of(
            simple,
            pair.map(lambda two: f"({two[0]}/{two[1]})"),
            pair.map(lambda two: f"({two[0]}|{two[1]})"),
            st.tuples(inner, st.sampled_from("*+?")).map(lambda two: f"({two[0]}){two[1]}"),
        )
    )


def patterns_of_triples(path):
    """A triple pattern, or a path pattern."""
    verb = paths() if path else st.one_of(predicates, predicates, predicates, names)
    subject = st.one_of(names, names, names, names, nodes)
    return st.tuples(subject, verb, st.one_of(names, names, names, values)).map(
        lambda parts: " ".join(parts) + " ."
    )


@st.composite
def expressions(draw, depth=1):
    """An expression on which evaluators have no reason to differ."""
    leaf = st.one_of(names, names, st.sampled_from(["0", "1", "2", "1.5", '"x"', ":n1"]))
    if depth == 0:
        return draw(leaf)
    inner = expressions(depth - 1)
    two = st.tuples(inner, inner)
    compared = st.tuples(inner, st.sampled_from(["=", "!=", "<", ">="]), inner)
    return draw(
        st.one_of(
            compared.map(" ".join),
            st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda each: f"({' '.join(each)})"),
            two.map(lambda each: f"COALESCE({each[0]}, {each[1]})"),
            two.map(lambda each: f"IF({each[0]} = {each[1]}, 1, {each[1]})"),
            two.map(lambda each: f"({each[0]} IN ({each[1]}, 2))"),
            inner.map("STR({})".format),
            inner.map("isIRI({})".format),
        )
    )


@st.composite
def conditions(draw, depth=1):
    """A condition, which may test for a pattern."""
    compared = st.tuples(
        expressions(0),
        st.sampled_from(["=", "!=", "<", ">="]),
        expressions(draw(st.integers(0, 1))),
    ).map(lambda each: f"({' '.join(each)})")
    simple = st.one_of(compared, names.map("BOUND({})".format), names.map("isLiteral({})".format))
    if depth == 0:
        return draw(simple)
    inner = conditions(depth - 1)
    two = st.tuples(inner, inner)
    tested = groups(draw(st.integers(0, 1)), exists=False)
    return draw(
        st.one_of(
            simple,
            two.map(lambda each: f"({each[0]} && {each[1]})"),
            two.map(lambda each: f"({each[0]} || {each[1]})"),
            inner.map("(! {})".format),
            tested.map("EXISTS {}".format),
            tested.map("NOT EXISTS {}".format),
        )
    )


@st.composite
def groups(draw, depth=2, *, exists=True):
    """A group graph pattern."""
    parts = draw(st.lists(patterns_of_triples(path=False), min_size=depth > 0, max_size=2))
    kinds = _parts(depth, exists=exists)
    for number, kind in enumerate(draw(st.lists(st.sampled_from(sorted(kinds)), max_size=2))):
        parts.append(draw(kinds[kind]).replace("?new", f"?new{depth}{number}"))
    return "{ " + " ".join(parts) + " }"


def _parts(depth, *, exists):
    """What a group may hold beside triple patterns, by name."""
    parts = {
        "triple": patterns_of_triples(path=False),
        "path": patterns_of_triples(path=True),
        "filter": conditions(1 if exists else 0).map("FILTER({})".format),
        "values": _inline_data(),
    }
    if depth == 0:
        return parts
    inner = groups(depth - 1, exists=exists)
    return parts | {
        "optional": inner.map("OPTIONAL {}".format),
        "union": st.tuples(inner, inner).map(" UNION ".join),
        "minus": inner.map("MINUS {}".format),
        "group": inner,
        "bind": expressions().map("BIND({} AS ?new)".format),
        "subquery": selects(depth - 1).map("{{ {} }}".format),
    }


def _inline_data():
    term = st.one_of(values, st.just("UNDEF"))
    rows = st.lists(st.tuples(term, term).map("({0[0]} {0[1]})".format), max_size=3)
    return st.tuples(st.sampled_from(["?a ?b", "?b ?c"]), rows.map(" ".join)).map(
        "VALUES ({0[0]}) {{ {0[1]} }}".format
    )


AGGREGATES = [
    "COUNT(*)", "COUNT(DISTINCT *)", "COUNT(?b)", "COUNT(DISTINCT ?b)", "SUM(?b)",
    "SUM(DISTINCT ?b)", "AVG(?b)", "AVG(DISTINCT ?b)", "MIN(?b)", "MAX(?b)", "SUM(?b + 1)",
]  # fmt: skip


@st.composite
def selects(draw, depth=2):
    """A SELECT query, or a subquery."""
    where = draw(groups(depth))
    shape = draw(st.sampled_from(["all", "some", "distinct", "aggregate", "grouped", "having"]))
    match shape:
        case "all":
            return f"SELECT * {where}"
        case "some":
            return f"SELECT ?a ?b {where}"
        case "distinct":
            return f"SELECT DISTINCT ?a ?c {where}"
    found = draw(st.sampled_from(AGGREGATES))
    if shape == "aggregate":
        return f"SELECT ({found} AS ?total{depth}) {where}"
    having = " HAVING(COUNT(*) > 1)" if shape == "having" else ""
    return f"SELECT ?a ({found} AS ?total{depth}) {where} GROUP BY ?a{having}"
