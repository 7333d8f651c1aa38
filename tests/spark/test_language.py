"""Continuous queries of all kinds on the engine, against an evaluator of its own (pyoxigraph).

A window is a graph: for the reference the content of every window and all that the service has are
named graphs, and WINDOW and SERVICE are GRAPH. The budget covers all units, so the view is fresh.
"""

from collections import Counter

import numpy as np
import pyoxigraph as ox
import pytest

from bestbefore.windows import Instants
from tests.spark.conftest import EX, PREFIX, TableService

USERS = 6
FOLLOWERS = {f"<{EX}u{user}>": 100 * user for user in range(USERS - 1)}
EVERYTHING = {"budget": {"refreshes": 50}, "policy": {"name": "WSJ-RND"}}


@pytest.fixture(scope="module")
def events():
    """Mentions of users, some of them liked, in the order of time."""
    rng = np.random.default_rng(11)
    times = np.sort(rng.choice(np.arange(1, 40_000), 50, replace=False))
    rows = []
    for ts in times.tolist():
        user = f"<{EX}u{rng.integers(USERS)}>"
        kind = "isMentionedIn" if rng.random() < 0.7 else "likes"
        rows.append((ts, f"{user} <{EX}{kind}> <{EX}p{rng.integers(5)}> ."))
    return rows


def text_of(select, where, *windows, tail="", output="RSTREAM"):
    declared = "".join(f"FROM NAMED WINDOW :{n} ON :s {shape}\n" for n, shape in windows)
    return f"{PREFIX}REGISTER {output} :out AS {select}\n{declared}WHERE {{ {where} }} {tail}"


def answers_of(bench, text, events, *, files=2, **sections):
    """The rows of each answer as the engine gives them, the stream cut into files."""
    for part in np.array_split(np.arange(len(events)), files):
        bench.feed([events[place] for place in part])
    job = bench.job(text, **{**EVERYTHING, **sections})
    bench.run(job, services={each.name: TableService(dict(FOLLOWERS)) for each in job.services})
    return counted(bench.answers())


def counted(answers):
    return {
        number: Counter(
            frozenset((name, term["value"]) for name, term in row.items() if term)
            for row in each["rows"]
            if "boolean" not in row
        )
        for number, each in answers.items()
    }


def all_together(bench, texts, events, *, files, sections=None):
    """The same for queries by their names, which run together."""
    for part in np.array_split(np.arange(len(events)), files):
        bench.feed([events[place] for place in part])
    jobs = []
    for number, (name, text) in enumerate(texts.items()):
        own = (sections or {}).get(name, {})
        query = {"text": text.replace(":out", f":out{number}"), **own.get("query", {})}
        sink = {"path": f"answers{number}", "quality": f"quality{number}"}
        jobs.append(bench.job(text, query=query, sink=sink, **EVERYTHING))
    bench.run_together(jobs, TableService(dict(FOLLOWERS)))
    return {name: counted(bench.answers(f"answers{number}")) for number, name in enumerate(texts)}


def expected(select, where, events, *, tail="", **shapes):
    """The same by the reference, for windows of these widths and slides in milliseconds."""
    earliest, latest = events[0][0], events[-1][0]
    instants = Instants.starting(list(shapes.values()), earliest_ms=earliest)
    text = where.replace("WINDOW", "GRAPH").replace("SERVICE", "GRAPH")
    first, last = instants.first_with(earliest), instants.last_before(latest)
    found = {}
    for evaluation in instants.due(first, last):
        store = ox.Store()
        for place, name in enumerate(shapes):
            opening, closing = instants.windows[place].bounds(instants.index(place, evaluation))
            inside = "\n".join(data for ts, data in events if opening < ts <= closing)
            store.load(inside.encode(), format=ox.RdfFormat.N_TRIPLES, to_graph=graph(name))
        for user, number in FOLLOWERS.items():
            triple = f"{user} <{EX}hasFollowers> {number} ."
            store.load(triple.encode(), format=ox.RdfFormat.TURTLE, to_graph=graph("bkg"))
        rows = store.query(f"{PREFIX}{select} WHERE {{ {text} }} {tail}")
        names = [each.value for each in rows.variables]
        found[evaluation] = Counter(
            frozenset((n, row[n].value) for n in names if row[n] is not None) for row in rows
        )
    return found


def graph(name):
    return ox.NamedNode(f"{EX}{name}")


W10 = ("w", "[RANGE 10s STEP 5s]")
SHAPE = {"w": (10_000, 5_000)}

MENTIONED = "WINDOW :w { ?user :isMentionedIn ?post }"
FOLLOWED = "SERVICE :bkg { ?user :hasFollowers ?n }"
COUNTED = "SELECT ?user (COUNT(*) AS ?c) { ?user :isMentionedIn ?post } GROUP BY ?user"
QUERIES = {
    "an optional service": (f"{MENTIONED} OPTIONAL {{ {FOLLOWED} }}", "?user ?n", ""),
    "minus and bind": (
        f"{MENTIONED} MINUS {{ {FOLLOWED} FILTER(?n > 200) }} BIND(STR(?user) AS ?name)",
        "?user ?post ?name",
        "",
    ),
    "union": (
        f"{{ {MENTIONED} {FOLLOWED} }} UNION {{ {MENTIONED} FILTER(?user = :u5) }}",
        "?user ?n",
        "",
    ),
    "groups": (
        f"{MENTIONED} {FOLLOWED}",
        "?user (COUNT(DISTINCT ?post) AS ?posts) (MAX(?n) AS ?most)",
        "GROUP BY ?user HAVING (COUNT(?post) > 1)",
    ),
    "the first by order": (
        f"{MENTIONED} {FOLLOWED}",
        "DISTINCT ?user ?n",
        "ORDER BY DESC(?n) ?user LIMIT 2",
    ),
    "optional in the window": (
        "WINDOW :w { ?user :isMentionedIn ?post OPTIONAL { ?user :likes ?other } } " + FOLLOWED,
        "?user ?other ?n",
        "",
    ),
    "values and a subquery": (
        f"VALUES ?user {{ :u1 :u2 :u3 }} WINDOW :w {{ {COUNTED} }} {FOLLOWED}",
        "?user ?c ?n",
        "",
    ),
    "a path, not exists, an aggregate of everything": (
        "WINDOW :w { ?user :isMentionedIn/^:isMentionedIn ?peer "
        "FILTER NOT EXISTS { ?user :likes ?other } } " + FOLLOWED + " FILTER(?user != ?peer)",
        "(SUM(?n) AS ?sum) (COUNT(*) AS ?c)",
        "",
    ),
    "conditions on what is never bound, and on what is outside": (
        (
            f"{MENTIONED} FILTER(?user != :u1 || ?never = 1) "
            f"OPTIONAL {{ {FOLLOWED} FILTER(?post != :p1 && (?n = 200 || ?never = 2)) }}"
        ),
        "?user ?post ?n",
        "",
    ),
    "a graph that is not declared": (
        (
            f"{{ {MENTIONED} {FOLLOWED} OPTIONAL {{ GRAPH :none {{ ?user :q ?x }} }} }} "
            f"UNION {{ {MENTIONED} GRAPH :none {{ ?user :q+ ?x }} }}"
        ),
        "?user ?n ?x",
        "",
    ),
    "one window in two clauses": (
        f"{MENTIONED} WINDOW :w {{ ?user :likes ?other }} {FOLLOWED}",
        "?user ?n ?other",
        "",
    ),
}


def test_queries_around_one_window(bench, events):
    texts = {
        kind: text_of(f"SELECT {selected}", where, W10, tail=tail)
        for kind, (where, selected, tail) in QUERIES.items()
    }
    for kind, given in all_together(bench, texts, events, files=2).items():
        where, selected, tail = QUERIES[kind]
        wanted = expected(f"SELECT {selected}", where, events, tail=tail, **SHAPE)
        assert given == wanted, kind
        assert any(given.values()), kind


@pytest.mark.parametrize(
    ("long", "short"),
    [(("[RANGE 12s STEP 6s]", (12_000, 6_000)), ("[RANGE 5s STEP 4s]", (5_000, 4_000)))],
)
def test_two_windows_at_the_union_of_their_instants(bench, events, long, short):
    where = "WINDOW :a { ?user :isMentionedIn ?post } WINDOW :b { ?user :likes ?other } " + FOLLOWED
    text = text_of("SELECT ?user ?post ?other ?n", where, ("a", long[0]), ("b", short[0]))
    given = answers_of(bench, text, events)
    wanted = expected("SELECT ?user ?post ?other ?n", where, events, a=long[1], b=short[1])
    assert given == wanted
    assert any(given.values())


LIKED = "WINDOW :b { ?user :likes ?other }"
NAMED = MENTIONED.replace(":w", ":a")
CLAUSES = {
    "equal services in two branches": (
        f"{{ {NAMED} {FOLLOWED} }} UNION {{ {LIKED} {FOLLOWED} }}",
        "?user ?post ?other ?n",
    ),
    "a window that may have no match": (
        f"{NAMED} OPTIONAL {{ {LIKED} }} {FOLLOWED}",
        "?user ?post ?other ?n",
    ),
    "a window that must have no match": (
        f"{NAMED} {FOLLOWED} FILTER NOT EXISTS {{ {LIKED} }}",
        "?user ?post ?n",
    ),
    "a service with a window in a condition only": (
        f"{{ {NAMED} }} UNION {{ {FOLLOWED} FILTER EXISTS {{ {LIKED} }} }}",
        "?user ?post ?n",
    ),
    "a variable that a subquery keeps for itself": (
        f"{{ SELECT ?user {{ WINDOW :a {{ ?user :isMentionedIn ?other }} }} }} {LIKED} {FOLLOWED}",
        "?user ?other ?n",
    ),
    "a key that the window may leave unbound": (
        f"{NAMED[:-1]} OPTIONAL {{ ?user :likes ?n }} }} OPTIONAL {{ {LIKED} }} {FOLLOWED}",
        "?user ?post ?other ?n",
    ),
}


def test_no_branch_loses_answers(bench, events):
    shapes = ("a", "[RANGE 8s STEP 4s]"), ("b", "[RANGE 4s STEP 4s]")
    texts = {
        kind: text_of(f"SELECT {selected}", where, *shapes)
        for kind, (where, selected) in CLAUSES.items()
    }
    for kind, given in all_together(bench, texts, events, files=1).items():
        where, selected = CLAUSES[kind]
        wanted = expected(f"SELECT {selected}", where, events, a=(8_000, 4_000), b=(4_000, 4_000))
        assert given == wanted, kind
        assert any(given.values()), kind


def test_two_services_each_with_its_own_budget(bench, events):
    where = (
        "WINDOW :w { ?user :isMentionedIn ?post . ?fan :likes ?post } "
        "SERVICE :bkg { ?user :hasFollowers ?n } SERVICE :more { ?fan :hasFollowers ?m }"
    )
    for part in np.array_split(np.arange(len(events)), 3):
        bench.feed([events[place] for place in part])
    job = bench.job(
        text_of("SELECT ?user ?fan ?n ?m", where, W10),
        services={
            "bkg": {"endpoint": "http://127.0.0.1:9/none"},
            "more": {"endpoint": "http://127.0.0.1:9/more", "budget": {"refreshes": 3}},
        },
        **EVERYTHING,
    )
    assert [each.budget for each in job.services] == [50, 3]
    both = {"bkg": TableService(dict(FOLLOWERS)), "more": TableService(dict(FOLLOWERS))}
    bench.run(job, services=both)
    wanted = expected("SELECT ?user ?fan ?n ?m", where.replace(":more", ":bkg"), events, **SHAPE)
    assert {number: sum(rows.values()) for number, rows in wanted.items()} == {
        number: len(each["rows"]) for number, each in bench.answers().items()
    }
    assert max(len(keys) for keys in both["more"].asked) <= 3


def test_what_came_and_what_went(bench, events):
    texts = {
        output: text_of("SELECT ?user ?n", f"{MENTIONED} {FOLLOWED}", W10, output=output)
        for output in ("ISTREAM", "DSTREAM")
    }
    given = all_together(bench, texts, events, files=3)
    whole = expected("SELECT ?user ?n", f"{MENTIONED} {FOLLOWED}", events, **SHAPE)
    before = Counter()
    for number in sorted(whole):
        assert given["ISTREAM"][number] == whole[number] - before
        assert given["DSTREAM"][number] == before - whole[number]
        before = whole[number]


def test_reports(bench, events):
    """Only some evaluations are answered; the stream is silent between 12 and 31 s."""
    quiet = [(ts, data) for ts, data in events if not 12_000 < ts < 31_000]
    whole = expected("SELECT ?user ?n", f"{MENTIONED} {FOLLOWED}", quiet, **SHAPE)
    text = text_of("SELECT ?user ?n", f"{MENTIONED} {FOLLOWED}", W10)
    more = {"periodic": {"report_every": "15s"}}
    sections = {
        strategy: {"query": {"report": strategy, **more.get(strategy, {})}}
        for strategy in ("non-empty", "content-change", "periodic")
    }
    texts = dict.fromkeys(sections, text)
    reported = {}
    for strategy, given in all_together(bench, texts, quiet, files=2, sections=sections).items():
        assert all(given[number] == whole[number] for number in given)
        reported[strategy] = sorted(given)
    # Windows 5 and 6, (15, 25] and (20, 30], are empty.
    assert reported["non-empty"] == [each for each in whole if each not in (5, 6)]
    assert reported["content-change"] == [each for each in whole if each != 6]
    assert reported["periodic"] == [each for each in whole if each % 3 == 0]


def test_windows_of_so_many_elements(bench, events):
    """Six triples, moving on by four; numbered in the order of time."""
    text = text_of(
        "SELECT ?user ?p ?post ?n",
        f"WINDOW :w {{ ?user ?p ?post }} OPTIONAL {{ {FOLLOWED} }}",
        ("w", "[ELEMENTS 6 STEP 4]"),
    )
    given = answers_of(bench, text, events, files=3, view={"change_interval": "1s"})
    distinct = sorted(set(events))[:-1]
    for number, rows in given.items():
        inside = distinct[max(0, 4 * number - 6) : 4 * number]
        assert sum(rows.values()) == len({data for _, data in inside})
        users = {data.split()[0].strip("<>") for _, data in inside}
        followed = {dict(row)["user"] for row in rows if "n" in dict(row)}
        assert followed == {each for each in users if f"<{each}>" in FOLLOWERS}
        answer = bench.answers()[number]
        assert answer["at"] == inside[-1][0]
    assert sorted(given) == list(range(1, len(distinct) // 4 + 1))


def test_two_streams_wait_for_each_other(bench, tmp_path, events):
    """Mentions come in one stream and likes in another, which is read later."""
    text = (
        f"{PREFIX}REGISTER RSTREAM :out AS SELECT ?user ?post ?other "
        "FROM NAMED WINDOW :a ON :mentions [RANGE 10s STEP 5s] "
        "FROM NAMED WINDOW :b ON :likings [RANGE 10s STEP 5s] "
        "WHERE { WINDOW :a { ?user :isMentionedIn ?post } WINDOW :b { ?user :likes ?other } }"
    )
    for name, word in (("mentions", "isMentionedIn"), ("likings", "likes")):
        one = type(bench)(bench.spark, tmp_path / name)
        one.folder.mkdir()
        one.feed([each for each in events if word in each[1]])
    streams = {name: {"path": f"{name}/stream"} for name in ("mentions", "likings")}
    bench.run(bench.job(text, streams=streams, **EVERYTHING))
    where = "WINDOW :a { ?user :isMentionedIn ?post } WINDOW :b { ?user :likes ?other }"
    latest = min(
        max(ts for ts, data in events if word in data) for word in ("isMentionedIn", "likes")
    )
    whole = expected("SELECT *", where, events, a=SHAPE["w"], b=SHAPE["w"])
    given = {number: len(each["rows"]) for number, each in bench.answers().items()}
    assert given == {
        number: sum(rows.values()) for number, rows in whole.items() if number * 5_000 < latest
    }
    assert any(given.values())


def test_static_graphs(bench, tmp_path, events):
    """A default graph from one file, a named one from another; both count in every window."""
    (tmp_path / "people.ttl").write_text(f"@prefix : <{EX}> . :u1 :team :red . :u2 :team :blue .")
    (tmp_path / "teams.nt").write_text(f'<{EX}red> <{EX}motto> "go" .')
    text = (
        f"{PREFIX}REGISTER RSTREAM :out AS SELECT DISTINCT ?user ?team ?motto "
        "FROM :people FROM NAMED :teams FROM NAMED WINDOW :w ON :s [RANGE 10s STEP 5s] "
        f"WHERE {{ {MENTIONED} ?user :team ?team "
        "OPTIONAL { GRAPH :teams { ?team :motto ?motto } } }"
    )
    graphs = {"people": {"path": "people.ttl"}, "teams": {"path": "teams.nt"}}
    given = answers_of(bench, text, events, graphs=graphs)
    red = frozenset({("user", f"{EX}u1"), ("team", f"{EX}red"), ("motto", "go")})
    blue = frozenset({("user", f"{EX}u2"), ("team", f"{EX}blue")})
    whole = expected("SELECT DISTINCT ?user", MENTIONED, events, **SHAPE)
    for number, rows in whole.items():
        users = {value for row in rows for _, value in row}
        wanted = {red} if f"{EX}u1" in users else set()
        wanted |= {blue} if f"{EX}u2" in users else set()
        assert set(given[number]) == wanted
    assert any(given.values())


def test_without_named_graphs_there_is_none_to_find(bench, events):
    where = f"{MENTIONED} OPTIONAL {{ GRAPH ?g {{ ?user ?p ?o }} }}"
    given = answers_of(bench, text_of("SELECT ?user ?g", where, W10), events)
    assert given == expected("SELECT ?user", MENTIONED, events, **SHAPE)


def test_ask_and_construct(bench, tmp_path, events):
    where = f"{MENTIONED} {FOLLOWED} FILTER(?n > 300)"
    asked = answers_of(bench, text_of("ASK", where, W10), events)
    whole = expected("SELECT ?user", where, events, **SHAPE)
    found = {number: each["rows"] for number, each in bench.answers().items()}
    assert {number: rows == [{"boolean": True}] for number, rows in found.items()} == {
        number: bool(rows) for number, rows in whole.items()
    }
    assert asked.keys() == whole.keys()
