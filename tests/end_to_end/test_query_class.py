"""Queries of the papers' class and around it, against a real server and another evaluator."""

import json
import os

import pyoxigraph as ox
import pytest

from bestbefore.engine import Engine
from bestbefore.errors import WorkError
from bestbefore.job import read_job

EX = "http://example.org/"
SLIDE, WIDTH, EVENTS = 5_000, 10_000, 60
DATA = """
PREFIX : <http://example.org/>
INSERT DATA {
  :u0 :city :rome ; :followers 10 . :u1 :city :rome ; :followers 20 .
  :u2 :city :oslo ; :followers 30 .
  :u3 :city :oslo, :rome ; :followers 40 . :u4 :followers 50 . :u5 :city :nowhere .
  :rome :weather "sunny", "hot" ; :country :it . :oslo :weather "snow" ; :country :no .
  :it :code "39" . :no :code "47" .
  :g0 :has :u0, :u1, :u2 . :g1 :has :u1, :u4 . :g2 :has :u5 . :g3 :has :u0, :u9 .
  :rate :of 7 . :other :of 8 .
  :u0 :name "a" . :u1 :name "b" . :k0 :price 1 . :k2 :price 3 .
}"""
GROUPS = "WINDOW :w { ?group :seen ?post }"
USERS = "WINDOW :w { ?user :in ?post }"


def ask(pattern, keyword="SERVICE"):
    return f"{keyword} :bkg {{ {pattern} }}"


CITY, WEATHER = ask("?user :city ?city"), ask("?city :weather ?weather")
FOLLOWERS, RATE = ask("?user :followers ?n"), ask("?what :of ?n")
SUM = "SELECT ?group (SUM(?n) AS ?sum) { ?group :has ?user . ?user :followers ?n } GROUP BY ?group"
KEY = 'BIND(IRI(REPLACE(STR(?user), "/u", "/k")) AS ?key)'
COUNTRY, CODE = ask("?city :country ?country"), ask("?country :code ?code")
N, SKY = "SELECT ?user ?n", "SELECT ?user ?weather"
CASES = {
    "chain": ("SELECT ?user ?city ?weather", f"{USERS} {CITY} {WEATHER}"),
    "chain of three": ("SELECT ?user ?code", f"{USERS} {CODE} {CITY} {COUNTRY}"),
    "chain inside OPTIONAL": (SKY, f"{USERS} OPTIONAL {{ {CITY} {WEATHER} }}"),
    "OPTIONAL after a chain": (SKY, f"{USERS} {CITY} OPTIONAL {{ {WEATHER} }}"),
    "chain behind a FILTER": (
        "SELECT ?user ?n ?weather",
        f"{USERS} {ask('?user :city ?city ; :followers ?n')} {WEATHER} FILTER(?n > 10)",
    ),
    "aggregate inside SERVICE": ("SELECT ?group ?sum", f"{GROUPS} {ask(SUM)}"),
    "aggregate around the join": (
        "SELECT ?group (SUM(?n) AS ?sum)",
        f"{GROUPS} {ask('?group :has ?user . ?user :followers ?n')}",
        "GROUP BY ?group",
    ),
    "BIND": ("SELECT ?user ?price", f"{USERS} {KEY} {ask('?key :price ?price')}"),
    "BIND of a constant": (N, f"{USERS} BIND(:rate AS ?what) {RATE}"),
    "VALUES": (N, f"{USERS} VALUES ?what {{ :rate :other }} {RATE}"),
    "VALUES of the key": (N, f"{USERS} VALUES ?user {{ :u1 :u4 :u8 }} {FOLLOWERS}"),
    "VALUES of the key and a value": (
        N,
        f"{USERS} VALUES (?user ?n) {{ (:u1 20) (:u4 51) }} {FOLLOWERS}",
    ),
    "OPTIONAL": (N, f"{USERS} OPTIONAL {{ {FOLLOWERS} }}"),
    "SILENT": (N, f"{USERS} {ask('?user :followers ?n', 'SERVICE SILENT')}"),
    "SILENT before another": (
        SKY,
        f"{USERS} {ask('?user :city ?city', 'SERVICE SILENT')} {WEATHER}",
    ),
}


def text_of(name, form, where, rest=""):
    return (
        f"PREFIX : <{EX}>\nREGISTER RSTREAM :{name} AS {form}\n"
        f"FROM NAMED WINDOW :w ON :s [RANGE {WIDTH}ms STEP {SLIDE}ms]\nWHERE {{ {where} }} {rest}"
    )


def events():
    for number in range(EVENTS):
        ts = 500 + number * 450
        kind, user = ("in", "u") if number % 2 else ("seen", "g")
        yield ts, f"<{EX}{user}{number * 7 % 11 % 7}> <{EX}{kind}> <{EX}p{number}> ."


def expected(store, form, where, rest=""):
    """The rows of each evaluation by an evaluator of SPARQL, over graphs."""
    window = ox.NamedNode(f"{EX}w")
    where = where.replace("WINDOW", "GRAPH").replace("SERVICE SILENT", "GRAPH")
    text = f"PREFIX : <{EX}>\n{form} WHERE {{ {where.replace('SERVICE', 'GRAPH')} }} {rest}"
    last = max(ts for ts, _ in events())
    found = {}
    for closing in range(SLIDE, last + WIDTH, SLIDE):
        store.clear_graph(window)
        lines = [line for ts, line in events() if closing - WIDTH < ts <= closing]
        store.load("\n".join(lines).encode(), ox.RdfFormat.N_TRIPLES, to_graph=window)
        rows = store.query(text)
        names = [variable.value for variable in rows.variables]
        found[closing] = sorted(
            tuple(sorted((name, row[name].value) for name in names if row[name] is not None))
            for row in rows
        )
    return {closing: rows for closing, rows in found.items() if rows}


@pytest.fixture(scope="module")
def data(oxigraph):
    oxigraph.update("CLEAR ALL")
    oxigraph.update(DATA)
    store = ox.Store()
    store.update(DATA.replace("INSERT DATA {", "INSERT DATA { GRAPH :bkg {").rstrip()[:-1] + "} }")
    return store


def job_of(oxigraph, folder, case, *, name="out", **sections):
    stream = folder / "stream"
    if not stream.exists():
        stream.mkdir(parents=True)
        lines = [json.dumps({"ts": ts, "data": line}) for ts, line in events()]
        for part in range(3):
            file = stream / f"{part}.jsonl"
            file.write_text("\n".join(lines[part * EVENTS // 3 : (part + 1) * EVENTS // 3]))
            os.utime(file, (1_000_000_000 + part,) * 2)
    return read_job(
        {
            "query": {"text": text_of(name, *case), "trigger": "until-end"},
            "streams": {"s": {"path": "stream", **sections.pop("stream", {})}},
            "services": {"bkg": {"endpoint": f"{oxigraph.base}/query"}},
            "budget": {"refreshes": 1_000},
            **sections,
        },
        folder=folder,
    )


def run(spark, oxigraph, folder, case, **sections):
    records = []
    job = job_of(oxigraph, folder, case, **sections)
    Engine(spark).start(job, on_quality=records.append).wait(120)
    return answers_in(folder), records


def run_together(spark, oxigraph, folder, cases):
    """The answers and quality records of cases with their sections, which run together."""
    found = {name: [] for name in cases}
    with Engine(spark).together() as queries:
        for number, (name, (case, sections)) in enumerate(cases.items()):
            sink = {"path": f"answers{number}", "quality": f"quality{number}"}
            job = job_of(oxigraph, folder, case, sink=sink, name=f"out{number}", **sections)
            queries.start(job, on_quality=found[name].append)
    queries.running.wait(120)
    return {
        name: (answers_in(folder, f"answers{number}"), records)
        for number, (name, records) in enumerate(found.items())
    }


def answers_in(folder, name="answers"):
    answers = {}
    for file in folder.glob(f"{name}/*/*.json"):
        for line in file.read_text().splitlines():
            answer = json.loads(line)
            rows = [
                tuple(sorted((name, term["value"]) for name, term in row.items() if term))
                for row in answer["rows"]
            ]
            answers[answer["at"]] = sorted(rows)
    return {at: rows for at, rows in answers.items() if rows}


def test_with_budget_enough_answers_are_those_of_another_evaluator(spark, oxigraph, data, tmp_path):
    cases = {name: (case, {}) for name, case in CASES.items()}
    for name, (found, _) in run_together(spark, oxigraph, tmp_path, cases).items():
        assert found == expected(data, *CASES[name]), name
        assert found, name


def test_aggregates_are_computed_from_the_rows_of_smaller_units(spark, oxigraph, data, tmp_path):
    view = {"refresh_key": ["user"]}
    cases = {
        (name, policy): (CASES[name], {"view": view, "policy": {"name": policy}})
        for name in ("aggregate inside SERVICE", "aggregate around the join")
        for policy in ("SBM-Agg", "IBM-Agg", "EFG")
    }
    for (name, policy), (found, records) in run_together(spark, oxigraph, tmp_path, cases).items():
        assert found == expected(data, *CASES[name]), (name, policy)
        assert max(record.sets["C"] + record.sets["D"] for record in records) > 2


@pytest.mark.parametrize(
    ("budget", "most"),
    [({"refreshes": 2}, 2), ({"refreshes": 2, "shared": False}, 4)],
    ids=["shared", "each its own"],
)
def test_the_services_of_a_chain_share_the_budget(spark, oxigraph, data, tmp_path, budget, most):
    found, records = run(spark, oxigraph, tmp_path, CASES["chain"], budget=budget)
    assert max(record.elected for record in records) == most
    truth = expected(data, *CASES["chain"])
    assert found.keys() <= truth.keys()
    assert sum(len(rows) for rows in found.values()) > sum(map(len, truth.values())) / 2


def test_a_mapping_whose_bind_is_an_error_asks_for_nothing(spark, oxigraph, data, tmp_path):
    bind = "BIND(IF(?user = :u0, ?user, 1/0) AS ?who) "
    followers = ask("?who :followers ?n")
    inner = (N, f"{USERS} {bind} {followers}")
    found, records = run(spark, oxigraph, tmp_path, inner)
    assert {row for rows in found.values() for row in rows} == {(("n", "10"), ("user", f"{EX}u0"))}
    assert max(record.candidates for record in records) == 1
    outer = (
        "SELECT ?user ?n",
        f"{USERS} {bind} OPTIONAL {{ SERVICE :bkg {{ ?who :followers ?n }} }}",
    )
    (tmp_path / "outer").mkdir()
    found, _ = run(spark, oxigraph, tmp_path / "outer", outer)
    rows = {row for rows in found.values() for row in rows}
    assert (("n", "10"), ("user", f"{EX}u0")) in rows
    assert (("user", f"{EX}u1"),) in rows


def test_values_say_what_is_asked_for(spark, oxigraph, data, tmp_path):
    _, records = run(spark, oxigraph, tmp_path, CASES["VALUES of the key"])
    assert max(record.candidates for record in records) <= 2


@pytest.mark.parametrize("fill", ["start", "on-demand"])
def test_a_silent_service_that_fails_gives_no_rows_and_no_error(spark, tmp_path, fill):
    class Nobody:
        base = "http://127.0.0.1:9"

    found, records = run(spark, Nobody, tmp_path, CASES["SILENT"], view={"fill": fill})
    assert found == {}
    assert {record.service_status for record in records} == {"ok"}
    assert {record.failed for record in records} == {0}
    assert sum(record.silenced for record in records) > 0 or fill == "start"


class Crash(Exception):
    """The end of the process, as far as the engine can tell."""


@pytest.mark.parametrize(("case", "at"), [("chain of three", 1)])
def test_a_crash_before_the_answers_changes_nothing(spark, oxigraph, data, tmp_path, case, at):
    few = {"budget": {"refreshes": 2}, "stream": {"files_per_batch": 1}}
    whole, records = run(spark, oxigraph, tmp_path / "whole", CASES[case], **few)
    folder = tmp_path / "crashed"
    repeated = []

    def sink(frame, batch):
        if batch == at:
            raise Crash
        frame.coalesce(1).write.mode("overwrite").json(f"{folder}/answers/batch={batch}")

    for _ in range(2):
        job = job_of(oxigraph, folder, CASES[case], **few)
        running = Engine(spark).start(job, sink=sink, on_quality=repeated.append)
        if at is None:
            running.wait(120)
        else:
            with pytest.raises(WorkError):
                running.wait(120)
        at = None
    assert answers_in(folder) == whole
    told = {record.evaluation: record for record in repeated}
    assert len(told) == len(repeated) == len(records)
    for record in records:
        again = told[record.evaluation]
        for field in ("elected", "refreshed", "requests", "estimated_freshness", "sets"):
            assert getattr(again, field) == getattr(record, field)
