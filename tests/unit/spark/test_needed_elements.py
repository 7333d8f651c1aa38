from bestbefore.job import read_job
from bestbefore.spark.needed_elements import ANY, NeededElements
from tests.unit.job.test_job_file import QUERY, tables

S, T = "http://e/s", "http://e/t"
P = (None, "<http://e/p>", None)
P_OF_A = ("<http://e/a>", "<http://e/p>", None)


def test_what_was_left_out_is_what_no_kept_shape_covers():
    kept = NeededElements({S: (P,), T: ()})
    assert list(NeededElements({S: (P_OF_A, P)}).beyond(kept)) == []
    assert list(NeededElements({S: (ANY,), T: (P,)}).beyond(kept)) == [(S, ANY), (T, P)]
    assert list(kept.beyond(NeededElements({}))) == [(S, P)]


def test_the_condition_is_on_the_stream_s_iri_and_the_terms():
    needed = NeededElements({S: (P_OF_A, P), T: ()})
    assert needed.condition == (
        "`and`(stream = 'http://e/s', s = '<http://e/a>' AND p = '<http://e/p>' "
        "OR p = '<http://e/p>')"
    )
    assert NeededElements({S: (ANY,)}).condition == "`and`(stream = 'http://e/s', true)"
    assert NeededElements({S: ()}).condition == "false"


def test_a_job_needs_what_its_patterns_name_or_all_where_all_counts():
    mentions = "http://example.org/mentions"
    mentioned = (None, "<http://example.org/isMentionedIn>", None)
    assert read_job(tables()).needed_elements.shapes == {mentions: (mentioned,)}
    by_content = read_job(tables(query={"text": QUERY, "report": "content-change"}))
    assert by_content.needed_elements.shapes == {mentions: (ANY,)}
    counted = QUERY.replace("RANGE PT10M STEP PT1M", "ELEMENTS 5")
    job = read_job(tables(query={"text": counted}, view={"change_interval": "1h"}))
    assert job.needed_elements.shapes == {mentions: (ANY,)}
