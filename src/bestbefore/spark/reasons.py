"""What went wrong inside Spark, in one line."""

import re

_CONDITION = re.compile(r"\[[A-Z_.]+\] [^\n]+")
# What the JVM died of, what an exception was caused by, and how Py4J begins to tell of one.
_CAUSE = re.compile(r"^(?:Exception in thread \"main\"|Caused by:|:) [\w.$]+: (.+)$", re.MULTILINE)


def reason_of(text: str) -> str:
    """The reason in the text of an exception: Spark's own words, or the innermost cause."""
    found = _CONDITION.findall(text)[:1] or _CAUSE.findall(text)[-1:]
    return str((found or text.strip().splitlines())[0]).rstrip(".")
