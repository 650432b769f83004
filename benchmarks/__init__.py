"""Timings, as ratios in one run: `python -m benchmarks`; how good the defaults are: `python -m benchmarks.quality`."""
