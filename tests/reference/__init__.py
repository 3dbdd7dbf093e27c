"""Tests of the core's base modules."""
