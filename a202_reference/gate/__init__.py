"""The normative checks: from object type to small named check functions."""
