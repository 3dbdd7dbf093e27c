"""Values for the property tests: arbitrary JSON, and texts that are nearly JSON."""

from hypothesis import settings
from hypothesis import strategies as st

SAFE = 2**53 - 1
PROPERTY = settings(max_examples=150, deadline=None, database=None)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from([
    "\u20ac", "\ue000", "\ufb33", "\U0001f600", "\U00010000", "\x00\x1f\x7f", "\"\\/\b\f\n\r\t", "1", "a\u0301"])
"""Strings with control characters, escapes, and characters on both sides of the surrogates' range."""

scalars = st.none() | st.booleans() | texts | st.integers(-SAFE, SAFE) | st.sampled_from([SAFE, -SAFE, 0])
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20)
"""Any JSON value that has a canonical form."""
