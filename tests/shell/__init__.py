"""Tests of a202_mcp."""
