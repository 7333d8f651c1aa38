"""`bestbefore simulate`: figures on stdout, the rest on stderr, and what bad input gets."""

import csv
import io
import json
import sys

import pytest

from bestbefore.cli.main import app, guarded

STREAM = "ts_ms,key\n" + "".join(f"{t},{'abc'[t % 3]}\n" for t in range(500, 60_500, 500))
BACKGROUND = "ts_ms,key,value\n" + "".join(
    f"{t},{key},{t + place}\n" for t in range(0, 60_000, 7_000) for place, key in enumerate("abc")
)
LINKS = "join_key,unit\na,a\na,b\nb,b\nc,c\n"
WINDOW = ("--width", "10s", "--slide", "5s")


@pytest.fixture
def simulate(tmp_path, monkeypatch, capsys):
    """Run the command beside some traces; return its code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    files = {"s.csv": STREAM, "b.csv": BACKGROUND, "l.csv": LINKS}

    def run(*options, budget="1", policy="WSJ-LRU", window=WINDOW, **changed):
        for name, text in {**files, **{f"{k}.csv": v for k, v in changed.items()}}.items():
            (tmp_path / name).write_text(text)
        traces = ("--stream", "s.csv", "--background", "b.csv")
        arguments = [*traces, *window, "--budget", budget, "--policy", policy, *options]
        monkeypatch.setattr(sys, "argv", ["bestbefore", "simulate", *arguments])
        code = guarded(app)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def refused(outcome):
    code, out, err = outcome
    assert (code, out) == (2, ""), err
    (line,) = [line for line in err.splitlines() if not line.startswith("note: ")]
    return line


def test_json_has_what_others_rely_on(simulate):
    code, out, _ = simulate("--format", "json", "--seeds", "2", budget="1,2", policy="LRU,WST")
    results = json.loads(out)
    assert code == 0
    assert [(each["policy"], each["budget"], each["seed"]) for each in results] == [
        (name, budget, seed) for name in ("LRU", "WST") for budget in (1, 2) for seed in (0, 1)
    ]
    wanted = {
        "policy", "budget", "seed", "evaluations", "candidates", "freshness", "completeness",
        "consistency", "estimated_freshness", "jaccard", "refreshes", "requests",
        "calibration_error", "calibration",
    }  # fmt: skip
    for each in results:
        assert wanted <= set(each)
        assert set(each["sets"]) == set("ABCDEFG")
        assert each["evaluations"] == 11
    assert results[0]["refreshes"] == 11
    assert results[4]["refreshes"] == 0
    assert results[0]["freshness"] > results[4]["freshness"]
    assert results[2]["gain"] == pytest.approx(
        results[2]["freshness"] - results[0]["freshness"], abs=1e-5
    )


def test_csv_and_table_say_the_same(simulate):
    _, out, _ = simulate("--format", "csv", "--seeds", "1", budget="2")
    (row,) = csv.DictReader(io.StringIO(out))
    _, table, _ = simulate("--seeds", "1", budget="2")
    head, line = table.splitlines()
    assert 0 <= float(row["calibration_error"]) <= 1
    assert "calibration" not in row
    assert head.split()[:3] == ["budget", "policy", "freshness"]
    assert line.split()[:3] == ["2", "WSJ-LRU", f"{float(row['freshness']):.3f}"]


def test_commas_in_parentheses_belong_to_the_policy(simulate):
    _, out, _ = simulate(
        "--format", "json", "--seeds", "1", policy="MP(WSJ,WBM(fill=true),FRP), LRU"
    )
    assert [each["policy"] for each in json.loads(out)] == ["MP(WSJ,WBM(fill=true),FRP)", "LRU"]


def test_seconds_in_a_file_of_intervals_are_as_many_milliseconds(simulate):
    seconds, milliseconds, durations, others = (
        simulate("--format", "json", "--intervals", "i.csv", policy="WBM", i=f"key,{text}")
        for text in (
            "interval_s\na,2\nb,9\nc,0.5\n",
            "interval_ms\na,2000\nb,9000\nc,500\n",
            "interval\na,2s\nb,PT9S\nc,500ms\n",
            "interval_ms\na,2\nb,9\nc,1\n",
        )
    )
    assert seconds[0] == 0
    assert seconds[1] == milliseconds[1] == durations[1] != others[1]


def test_links_filter_aggregate_cache_and_learned_intervals(simulate):
    options = ("--format", "json", "--seeds", "1")
    for more, policy in [
        (("--links", "l.csv"), "IBM-BGP"),
        (("--links", "l.csv", "--aggregate", "sum"), "IBM-Agg"),
        (("--filter", ">20000"), "LRU.F+"),
        (("--cache-size", "2"), "MP(CWSJ,WBM,LRU)"),
        (("--intervals", "learned"), "WBM"),
        (("--warmup", "0.5"), "FBA(WBM)"),
    ]:
        code, out, err = simulate(*options, *more, policy=policy)
        assert code == 0, err
        assert 0 < json.loads(out)[0]["freshness"] <= 1


def test_every_evaluation_and_a_picture_on_request(simulate, tmp_path):
    code, _, err = simulate(
        "--evaluations", "out/e.csv", "--plot", "out/p.png", "--seeds", "2", budget="1,2"
    )
    assert code == 0
    rows = list(csv.DictReader((tmp_path / "out/e.csv").open()))
    assert len(rows) == 2 * 2 * 11
    assert sum(int(row["refreshes"]) for row in rows) == 2 * 11 * (1 + 2)
    assert (tmp_path / "out/p.png").read_bytes().startswith(b"\x89PNG")
    assert "wrote out/e.csv" in err


class TestBadInput:
    def test_empty_traces(self, simulate):
        assert "no rows" in refused(simulate(s="ts_ms,key\n"))
        assert "no rows" in refused(simulate(b="ts_ms,key,value\n"))

    def test_unknown_columns(self, simulate):
        assert "ts_ms" in refused(simulate(s="time,key\n1,a\n"))
        assert "colour" in refused(simulate(b="ts_ms,key,value,colour\n0,a,1,red\n"))

    def test_unordered_times_are_sorted_with_a_notice(self, simulate):
        head, *rows = STREAM.splitlines(keepends=True)
        _, ordered, _ = simulate("--format", "json")
        code, out, err = simulate("--format", "json", s=head + "".join(reversed(rows)))
        assert code == 0
        assert out == ordered
        assert "out of order" in err

    def test_a_key_without_background_joins_nothing(self, simulate):
        code, out, err = simulate("--format", "json", s=STREAM + "60400,nobody\n")
        assert code == 0
        assert json.loads(out)[0]["completeness"] == 1
        assert "note: 1 of 4 units have no background value: they join nothing" in err

    def test_intervals_of_a_file_without_a_unit(self, simulate):
        line = refused(simulate("--intervals", "i.csv", i="key,interval\na,5m\nb,700\n"))
        assert "i.csv, line 3: interval = '700' has no unit; write 700s or 700ms, or name" in line

    def test_a_background_that_begins_after_the_stream(self, simulate):
        rows = (line.split(",", 1) for line in BACKGROUND.splitlines()[1:])
        later = "".join(f"{int(ts_ms) + 100_000},{rest}\n" for ts_ms, rest in rows)
        code, out, err = simulate("--format", "json", b="ts_ms,key,value\n" + later)
        assert code == 0
        assert json.loads(out)[0]["sets"]["E"] == 0
        assert (
            "note: 3 of 3 units had no value yet when the view was loaded, at 0 ms; the first "
            "value came at 100000 ms, after the last evaluation at 55000 ms"
        ) in " ".join(err.split())

    def test_some_units_that_get_a_value_only_later(self, simulate):
        added = "0,d,\n9000,d,1\n12000,e,1\n3000,f,\n"
        code, _, err = simulate("--format", "json", b=BACKGROUND + added)
        assert code == 0
        assert (
            "note: 2 of 6 units had no value yet when the view was loaded, at 0 ms; the first "
            "value came at 9000 ms"
        ) in " ".join(err.split())
        assert "evaluation" not in err

    def test_a_background_that_begins_with_the_stream_needs_no_note(self, simulate):
        assert "when the view was loaded" not in simulate("--format", "json")[2]

    def test_links_to_units_that_do_not_exist(self, simulate):
        code, _, err = simulate("--links", "l.csv", l=LINKS + "c,x\nc,y\n")
        assert code == 0
        assert "note: 2 of 5 units have no background value" in err

    def test_a_key_without_a_link(self, simulate):
        code, _, err = simulate("--links", "l.csv", l="join_key,unit\na,a\n")
        assert code == 0
        assert "note: 2 keys of the stream have no link" in err

    @pytest.mark.parametrize("budget", ["3.5", "x", "1,,2", "-1", "", "1e2"])
    def test_budgets_that_are_no_whole_numbers(self, simulate, budget):
        assert "budget" in refused(simulate(budget=budget))

    def test_a_stream_that_closes_no_window(self, simulate):
        line = refused(simulate(window=("--width", "10s", "--slide", "10m")))
        assert "give a shorter --slide" in line

    @pytest.mark.parametrize(
        ("options", "policy", "message"),
        [
            ((), "WSJ-WMB", "did you mean"),
            ((), "LRU.F+", "needs a FILTER"),
            ((), "SBM-Agg", "needs an answer that aggregates"),
            ((), "WBM.F", "needs fdt, for example fdt=500"),
            ((), "FBA(SBM-Agg)", "elects sets as a whole"),
            ((), "MP(CWSJ,WBM,FIFO)", "unknown replacement 'FIFO'"),
            (("--cache-size", "2"), "WSJ-WBM", "never fetches what is missing"),
            (("--cache-size", "2", "--links", "l.csv"), "CWSJ-WBM", "needs a 1:1 join"),
            (("--links", "l.csv"), "CWSJ-WBM", "their units are not known"),
            (("--filter", "over 9000"), "Filter", "write for example '>100000'"),
            (("--filter", ">1", "--aggregate", "sum"), "Filter", "exclude each other"),
            (("--aggregate", "median"), "SBM-Agg", "unknown aggregate 'median'"),
            (("--format", "xml"), "LRU", "unknown format 'xml'"),
            (("--warmup", "1"), "LRU", "no share of the evaluations"),
            (("--intervals", "none.csv"), "LRU", "none.csv"),
        ],
    )
    def test_what_makes_no_sense_is_refused_with_the_reason(
        self, simulate, options, policy, message
    ):
        assert message in refused(simulate(*options, policy=policy))

    def test_a_filter_needs_numbers(self, simulate):
        line = refused(simulate("--filter", ">1", policy="Filter", b="ts_ms,key,value\n0,a,red\n"))
        assert "needs numbers" in line

    def test_durations(self, simulate):
        assert "10 parsecs" in refused(simulate(window=("--width", "10 parsecs", "--slide", "5s")))
        assert refused(simulate(window=("--width", "0s", "--slide", "5s")))


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--seeds", "9" * 30), 2, "the number of seeds 9999"),
        (("--budget", "9" * 5_000), 2, "is not a whole number"),
        (("--width", f"{'9' * 400}s"), 2, "is too long; write a duration such as PT10M"),
        (("--plot", "x.xyz"), 2, "x.xyz cannot be written: Format 'xyz' is not supported"),
        (("--plot", "s.csv/x.png"), 1, "s.csv/x.png cannot be written: "),
        (("--evaluations", "/dev/full"), 1, "/dev/full cannot be written: No space left"),
        (("--stream", "far.csv"), 2, "look for a wrong ts_ms, in milliseconds, or give a longer"),
        (("--stream", "digits.csv"), 2, "digits.csv, line 2: ts_ms = '999"),
        (("--intervals", "latin.csv"), 2, "latin.csv, line 2: byte 0xff is not UTF-8"),
        (("--intervals", "/dev/zero"), 2, "cannot be read: it is a pipe or a device"),
    ],
)
def test_what_cannot_be_read_written_or_counted(simulate, tmp_path, options, code, said):
    far = "ts_ms,key\n1,a\n9223372036854775807,a\n"
    files = {
        "far.csv": far.encode(),
        "digits.csv": f"ts_ms,key\n{'9' * 5_000},a\n".encode(),
        "latin.csv": b"key,interval_ms\n\xff,5\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    found, out, err = simulate(*options)
    assert (found, out) == (code, "")
    (line,) = (line for line in err.splitlines() if not line.startswith("note: "))
    assert said in line
