"""What is done to the server to see whether its record survives: kills, races, hostile input.

`python -m harness.crash`, `python -m harness.race` and `python -m harness.fuzz` print their figures, and exit with 0
only where nothing was lost; each takes `--help`. The tests run a short form of each.
"""
