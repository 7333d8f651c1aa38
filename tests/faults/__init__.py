"""The campaign of faults: `make faults`, or `python -m tests.faults NAME --count N --seed S`.

A module per trial, each with one function `run(campaign)` that returns `Findings`. What a trial
looks for is always the same: evaluations lost, repeated or wrong, limits exceeded, rows untrue,
tracebacks and hangs. `trials.py` lists them with how often they are tried in full and in the short
form, which is a test.
"""
