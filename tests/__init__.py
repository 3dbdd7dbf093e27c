"""Tests, named after the rule they hold."""
