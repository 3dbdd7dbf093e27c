"""Measurements as ratios within one run (design, "Speed"). `python -m benchmarks` prints the table."""
