"""Timings side by side with peers and with limits, as ratios in one run: `python -m benchmarks`.

How good the defaults are, which no clock can say: `python -m benchmarks.quality`.
"""
