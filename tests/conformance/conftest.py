"""The score of the W3C's tests, folder by folder, after they ran."""

import re
from collections import Counter

from .manifest import absence, suite_root

_TEST = re.compile(r"conformance/test_(\w+)\.py::.*\[([\w-]+)/[^\]]*\]$")


def pytest_terminal_summary(terminalreporter):
    if suite_root() is None:
        terminalreporter.write_sep("=", "no score of the W3C's tests")
        terminalreporter.write_line(absence())
    counts = Counter()
    for outcome in ("passed", "failed", "error", "xfailed", "xpassed", "skipped"):
        for report in terminalreporter.stats.get(outcome, ()):
            if (found := _TEST.search(report.nodeid)) and report.when != "teardown":
                counts[found[1], found[2], outcome == "passed"] += 1
    for kind in sorted({kind for kind, _, _ in counts}):
        terminalreporter.write_sep("=", f"the W3C's {kind.replace('_', ' ')} tests")
        for folder in sorted({folder for each, folder, _ in counts if each == kind}):
            _write(terminalreporter, folder, [counts[kind, folder, good] for good in (True, False)])
        totals = [
            sum(
                count
                for (each, _, passed), count in counts.items()
                if (each, passed) == (kind, good)
            )
            for good in (True, False)
        ]
        _write(terminalreporter, "all", totals)


def _write(terminalreporter, name, counts):
    passed, every = counts[0], sum(counts)
    terminalreporter.write_line(f"{name:<20} {passed:>4} of {every:<4} {passed / every:>6.1%}")
