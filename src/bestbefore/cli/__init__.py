"""The command line: data to stdout, everything else to stderr, exit codes 0, 1 and 2."""
