"""What is done to the server to see whether its record survives: kills, races, hostile input.

`python -m harness.crash`, `python -m harness.race`, `python -m harness.fuzz` and `python -m harness.gate` print their
figures; each takes `--help`, and the first three exit with 0 only where nothing was lost. The tests run a short form.
"""
