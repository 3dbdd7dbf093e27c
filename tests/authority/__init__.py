"""Tests of a202_reference.authority."""
