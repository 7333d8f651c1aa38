"""`python -m benchmarks`: run them all and print their tables."""

from benchmarks.overlap import main

if __name__ == "__main__":
    main()
