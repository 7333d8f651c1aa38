import pytest

from bestbefore.demo.scores import conclusion, score


def test_a_score_sums_up_a_run_after_the_view_was_filled(cast, make_run):
    truths, estimates = [0.9, 0.5, None, 0.7], [1.0, 0.6, None, 0.8]
    run = make_run(cast[1], truths, estimates=estimates, requests=16, latency_ms=2000)
    found = score(run)
    assert found.freshness == pytest.approx(0.6)
    assert found.estimated == pytest.approx(0.7)
    assert (found.requests, found.requests_each) == (48, 16)
    assert found.latency_s == pytest.approx(2.0)
    assert found.service_s == pytest.approx(0.08)


def test_a_run_without_rows_has_a_score_too(cast, make_run):
    assert score(make_run(cast[0], [None])).freshness == 0.0


@pytest.mark.parametrize(
    ("truths", "latency_ms", "says"),
    [
        ((0.5, 0.8, 0.9), 2500, ["80% fresh", "30 points more", "90%", "4.0 times", "1.0 s later"]),
        ((0.8, 0.7, 0.9), 1500, ["70% fresh", "10 points less", "4.0 times as many, no later"]),
        ((0.5, 0.5, 0.4), 900, ["as fresh as without any refresh", "reached 40%", "no later"]),
    ],
)
def test_the_conclusion_follows_from_the_figures(cast, make_run, truths, latency_ms, says):
    never, best, everything = truths
    sentence = conclusion(
        score(make_run(cast[0], [never])),
        score(make_run(cast[1], [best], requests=20)),
        score(make_run(cast[2], [everything], requests=80, latency_ms=latency_ms)),
    )
    assert [each for each in says if each not in sentence] == []
    assert sentence.endswith(".")


def test_the_conclusion_does_not_divide_by_no_requests(cast, make_run):
    scores = [score(make_run(contender, [0.5])) for contender in cast]
    assert "reached 50% with 0" in conclusion(*scores)
