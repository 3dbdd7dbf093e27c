"""Tests of the verification procedure."""
