"""Benchmarks: figures as ratios within one run, because machines differ and are noisy."""
