"""Frozen typed views over parsed documents. The raw document is what is hashed."""
