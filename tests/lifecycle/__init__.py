"""Tests of a202_reference.lifecycle."""
