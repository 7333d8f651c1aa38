"""How the time to read, plan and explain a query grows with the query, without Spark.

Each query is taken with n, 2n and 4n parts; a ratio of 2 from one to the next is linear.
"""

import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from bestbefore.job import explain
from bestbefore.query import find_warnings, parse_query

ROUNDS = 3
HEAD = (
    "PREFIX : <http://example.org/> REGISTER RSTREAM :q AS SELECT ?user "
    "FROM NAMED WINDOW :w ON :s [RANGE PT10M STEP PT1M] "
)


def _over(window: str, more: str = "") -> str:
    service = "SERVICE :bkg { ?user :hasFollowers ?n }"
    return f"{HEAD} WHERE {{ WINDOW :w {{ ?user :p ?x . {window} }} {service} {more} }}"


QUERIES: dict[str, tuple[int, Callable[[int], str]]] = {
    "triple patterns, a star": (
        1_000,
        lambda n: _over(" . ".join(f"?user :p{i} ?x{i}" for i in range(n))),
    ),
    "triple patterns, a chain": (
        1_000,
        lambda n: _over(" . ".join(f"?x{i} :p{i} ?x{i + 1}" for i in range(n))),
    ),
    "items of a collection": (1_000, lambda n: _over(f"?user :p ({' 1' * n})")),
    "items of IN": (
        5_000,
        lambda n: _over("", f"FILTER(?n IN ({', '.join(map(str, range(n)))}))"),
    ),
    "conditions of ||": (
        1_000,
        lambda n: _over("", f"FILTER({' || '.join(f'?n = {i}' for i in range(n))})"),
    ),
    "rows of VALUES": (5_000, lambda n: _over("", f"VALUES ?n {{ {' 1' * n} }}")),
    "steps of a path": (1_000, lambda n: _over(f"?user {'/'.join([':p'] * n)} ?y")),
    "SERVICE clauses": (
        40,
        lambda n: _over("", " ".join(f"SERVICE :s{i} {{ ?user :q ?y{i} }}" for i in range(n))),
    ),
    "OPTIONALs": (
        40,
        lambda n: _over(" ".join(f"OPTIONAL {{ ?user :q{i} ?y{i} }}" for i in range(n))),
    ),
}


def seconds(text: str) -> float:
    """How long a query takes, at best."""
    return min(_once(text) for _ in range(ROUNDS))


def _once(text: str) -> float:
    started = time.perf_counter()
    query = parse_query(text)
    find_warnings(query)
    explain(query)
    return time.perf_counter() - started


def main() -> None:
    """Measure all queries and print the times with their ratios."""
    table = Table("query of", "n", "n (ms)", "2n", "4n", title="read, plan and explain")
    for name, (parts, query) in QUERIES.items():
        once, twice, fourfold = (seconds(query(parts * times)) for times in (1, 2, 4))
        ratios = f"× {twice / once:.1f}", f"× {fourfold / twice:.1f}"
        table.add_row(name, f"{parts:,}", f"{once * 1000:,.0f}", *ratios)
    Console().print(table)


if __name__ == "__main__":
    main()
