"""Windows of so many elements: their spans, their reports, and what the run says of them."""

import pytest

from bestbefore.cli.logs import set_up_log
from bestbefore.cli.running import summarise
from bestbefore.cli.tally import Tally

from .conftest import PREFIX

TEXT = (
    f"{PREFIX}REGISTER RSTREAM :out AS SELECT ?user\n"
    "FROM NAMED WINDOW :w ON :s [ELEMENTS {size} STEP {step}]\n"
    "WHERE {{ WINDOW :w {{ ?user :isMentionedIn ?post }} }}"
)


def times(bench, *seconds):
    bench.mention(*((1_000 * second, second % 8) for second in seconds))


@pytest.mark.parametrize("files", [1, 4])
def test_a_leading_window_opens_before_its_first_element(bench, files):
    seconds = list(range(10, 23))
    for number in range(files):
        times(bench, *seconds[number * 13 // files : (number + 1) * 13 // files])
    running = bench.run(bench.job(TEXT.format(size=6, step=4)))
    # The elements 1 to 12 come at 10 to 21 s; the last one waits.
    assert {number: each["window"] for number, each in bench.answers().items()} == {
        1: [9_999, 13_000],
        2: [11_000, 17_000],
        3: [15_000, 21_000],
    }
    assert {number: len(rows) for number, rows in bench.rows().items()} == {1: 4, 2: 6, 3: 6}
    assert bench.reports[0].window == (9_999, 13_000)
    assert running.state.evaluations == 3


def test_gaps_between_windows(bench):
    times(bench, *range(10, 16))
    times(bench, *range(16, 23))
    bench.run(bench.job(TEXT.format(size=2, step=5)))
    assert {number: each["window"] for number, each in bench.answers().items()} == {
        1: [12_000, 14_000],
        2: [17_000, 19_000],
    }


@pytest.mark.parametrize("files", [1, 3])
def test_periodic_reports(bench, files):
    """A window closes with every second element: the first in each ten seconds is reported."""
    seconds = [1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 35, 36, 41, 42, 50]
    for number in range(files):
        times(bench, *seconds[number * 5 * 3 // files : (number + 1) * 5 * 3 // files])
    text = TEXT.format(size=2, step=2)
    report = {"text": text, "report": "periodic", "report_every": "10s"}
    bench.run(bench.job(text, query=report))
    # Windows close at 2, 4, 12, 14, 16, 36 and 42 s.
    assert sorted(each["at"] for each in bench.answers().values()) == [
        2_000,
        12_000,
        36_000,
        42_000,
    ]


def test_the_summary_tells_the_evaluations(bench, capsys):
    times(bench, *range(10, 23))
    running = bench.run(bench.job(TEXT.format(size=6, step=4)))
    set_up_log("text", "info")
    summarise(running, Tally())
    said = capsys.readouterr().err
    assert "3 evaluations of 13 elements in all" in said
    assert "open: elements at 1970-01-01T00:00:22Z or later wait for later elements" in said


def test_periodic_reports_of_windows_in_time_without_a_service(bench):
    """What is not reported is not answered, although no SERVICE keeps its rows out."""
    times(bench, *range(1, 14))
    text = TEXT.replace("[ELEMENTS {size} STEP {step}]", "[RANGE 4s STEP 2s]").format()
    report = {"text": text, "report": "periodic", "report_every": "6s"}
    bench.run(bench.job(text, query=report))
    assert sorted(each["at"] for each in bench.answers().values()) == [6_000, 12_000]
