"""Mutated queries, job files and stream lines: each is taken, or refused in one line of ours."""

from random import Random

import pyoxigraph

from bestbefore.errors import BestbeforeError
from bestbefore.job import load_job
from bestbefore.job.explanation import explain
from bestbefore.query import find_warnings
from bestbefore.rdf.terms import IRI, BlankNode, decode
from tests.spark.conftest import source_of

from . import corpus
from .mutating import mutated
from .watching import HangError, where_of, within

_LONGEST_S, _LINES_S = 5, 120
_SHARES = {"queries": 0.4, "jobs": 0.3}
_LINES_PER_FILE = 500


def run(campaign):
    findings = campaign.shared(try_texts)
    try_lines(campaign, findings)
    return findings


def try_texts(campaign):
    """Read mutated queries and job files, without a JVM."""
    findings, rng = campaign.findings(), Random(campaign.seed)
    queries, jobs = corpus.queries(), corpus.jobs()
    (campaign.folder / "stream").mkdir()
    counts = {name: round(campaign.count * share) for name, share in _SHARES.items()}
    for number in range(sum(counts.values())):
        of_query = number < counts["queries"]
        query = mutated(rng, rng.choice(queries), queries) if of_query else rng.choice(queries)
        job = jobs[0] if of_query else mutated(rng, rng.choice(jobs), jobs)
        (campaign.folder / "q.rq").write_bytes(query)
        (campaign.folder / "influencers.rq").write_bytes(query)
        (campaign.folder / "job.toml").write_bytes(job)
        judge(findings, campaign.folder, query if of_query else job, _read)
        findings.tried(number + 1, sum(counts.values()))
    return findings


def _read(folder):
    job = load_job(folder / "job.toml")
    explain(job)
    for warning in find_warnings(job.query):
        assert "\n" not in str(warning)


def judge(findings, folder, text, read, *, seconds=_LONGEST_S):
    """Count what is neither taken nor refused in one line within the time."""
    try:
        with within(seconds):
            return read(folder)
    except BestbeforeError as error:
        if "\n" in str(error) or not str(error).strip():
            findings.found("tracebacks", f"not one line: {error!r} for {shown(text)}")
    except HangError as hang:
        findings.found("hangs", f"{hang}: {shown(text)}")
    except Exception as error:
        findings.found("tracebacks", f"{where_of(error)} for {shown(text)}")
    return None


def try_lines(campaign, findings):
    """Read mutated lines by Spark, a file of them per layout in turn."""
    rng, before = Random(campaign.seed), findings.trials
    left = campaign.count - round(campaign.count * sum(_SHARES.values()))
    while left > 0:
        for number, layout in enumerate(corpus.LAYOUTS):
            count = min(left, _LINES_PER_FILE, campaign.count // len(corpus.LAYOUTS))
            if count:
                folder = campaign.folder / f"{left}-{number}"
                folder.mkdir()
                _try_file(campaign, findings, rng, layout, count, folder)
                left -= count
                findings.tried(campaign.count - left, campaign.count)
    findings.trials = max(before, campaign.count)


def _try_file(campaign, findings, rng, layout, count, folder):
    laid_out = corpus.LAYOUTS[layout]
    known = [line.encode() for line in laid_out.lines]
    text = b"\n".join(
        [line.encode() for line in laid_out.head]
        + [mutated(rng, rng.choice(known), known) for _ in range(count)]
    )
    (folder / "stream").mkdir()
    (folder / "stream" / "lines.txt").write_bytes(text)

    def read(folder):
        source = source_of(folder, **laid_out.settings)
        return source.present(campaign.spark()).collect()

    rows = judge(findings, folder, text, read, seconds=_LINES_S) or []
    for row in rows:
        terms = [row[part] for part in "spo"] if row["reason"] is None else []
        if wrong := next((term for term in terms if not is_term(term)), None):
            findings.found("untrue", f"{layout}: {wrong!r} is no RDF term")
        if row["reason"] is not None and "\n" in row["reason"]:
            findings.found("tracebacks", f"{layout}: not one line: {row['reason']!r}")


def is_term(encoded):
    """Whether an independent library takes a term for one."""
    try:
        term = decode(encoded)
        if isinstance(term, IRI):
            pyoxigraph.NamedNode(term.value)
        elif not isinstance(term, BlankNode):
            kind = term.datatype if term.language is None else None
            pyoxigraph.Literal(
                term.lexical,
                language=term.language,
                datatype=pyoxigraph.NamedNode(kind) if kind else None,
            )
    except (ValueError, BestbeforeError):
        return False
    return True


def shown(text):
    return repr(text if len(text) < 200 else text[:100] + b" ... " + text[-100:])
