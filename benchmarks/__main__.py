"""`python -m benchmarks [NAME …]`: run some of them, or all that are quick, and print tables."""

import sys
from importlib import import_module

QUICK = ("election", "simulation", "patterns", "sources", "overlap")
NAMES = (*QUICK, "cluster")


def main(names: list[str]) -> None:
    """Run the named benchmarks, the quick ones if none is named."""
    for name in names or QUICK:
        if name not in NAMES:
            sys.exit(f"unknown benchmark {name!r}; known: {', '.join(NAMES)}")
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
