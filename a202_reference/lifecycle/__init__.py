"""Rule sets, formation, obligations and the hash-chained record."""
