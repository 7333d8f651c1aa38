"""`python -m benchmarks [NAME …]`: run some or all of them and print their tables."""

import sys
from importlib import import_module

NAMES = ("election", "view", "simulation", "patterns", "sources", "overlap")


def main(names: list[str]) -> None:
    """Run the named benchmarks, all of them if none is named."""
    for name in names or NAMES:
        if name not in NAMES:
            sys.exit(f"unknown benchmark {name!r}; known: {', '.join(NAMES)}")
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
