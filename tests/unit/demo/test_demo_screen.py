import io

import pytest
from rich.console import Console

from bestbefore.demo.scores import score
from bestbefore.demo.screen import bar, comparison, evaluation_line, facts, heading, waiting


@pytest.fixture
def paper():
    return Console(file=io.StringIO(), width=80, highlight=False)


@pytest.mark.parametrize("share", [0.0, 0.004, 0.37, 0.999, 1.0, 1.7])
def test_a_bar_is_always_as_wide(share):
    assert len(bar(share)) == len(bar(1.0))


def test_a_bar_is_as_long_as_its_share():
    assert bar(0.0).strip() == ""
    assert bar(0.5, width=10) == "█████     "
    assert bar(1.0, width=10) == "█" * 10


def test_lines_stand_under_their_headings(paper, runs):
    for number, run in enumerate(runs, start=1):
        heading(paper, run.contender, number=number, of=3)
        for each in run.evaluations:
            paper.print(evaluation_line(each, run.contender.colour))
    lines = paper.file.getvalue().splitlines()
    head = next(line for line in lines if "answers" in line)
    assert {len(line) for line in lines if " s " in line} == {len(head)}
    assert "EFG" in paper.file.getvalue()


def test_an_answer_without_rows_has_no_freshness(cast, make_run):
    (line,) = (evaluation_line(each, "red") for each in make_run(cast[0], [None]).evaluations)
    assert line.plain.count("–") == 2


def test_the_table_fits_eighty_columns(paper, runs):
    paper.print(comparison([score(run) for run in runs]))
    table = paper.file.getvalue()
    assert "…" not in table
    for cell in ("never refresh", "best first", "everything", "WSJ-RND", "78%", "77", "3.2 s"):
        assert cell in table


def test_elsewhere_than_on_a_terminal_one_line_says_what_takes_a_while(paper):
    with waiting(paper, "starting Spark"):
        facts(paper, [("stream", "fast"), ("", "and long")])
    assert paper.file.getvalue() == "starting Spark …\n  stream  fast\n          and long\n"
