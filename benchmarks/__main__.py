"""`python -m benchmarks [NAME …]`: run some or all of them and print their tables."""

import sys
from importlib import import_module

QUICK = (
    "election",
    "view",
    "simulation",
    "planning",
    "patterns",
    "sources",
    "overlap",
    "latency",
    "due_windows",
    "ttl_cache",
    "promises",
    "memory",
    "market",
)
NAMES = (*QUICK, "cluster")


def main(names: list[str]) -> None:
    """Run the named benchmarks; if none is named, all but those of a cluster."""
    for name in names or QUICK:
        if name not in NAMES:
            sys.exit(f"unknown benchmark {name!r}; known: {', '.join(NAMES)}")
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
