"""Tests of the seven tools, in process."""
