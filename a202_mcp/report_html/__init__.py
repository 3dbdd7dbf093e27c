"""A verification report as one self-contained page (surface 7): no script, no network, made to be printed and kept.

Rules this package applies:

- everything that comes from the record is hostile: it is shown as text, escaped, without control characters, and the
  page forbids itself to load or run anything;
- failed and not checkable stand side by side in the same form; there is no overall verdict, no score and no colour
  that would stand for one;
- the page is written piece by piece, so that a large record does not have to fit in memory twice.
"""

from a202_mcp.report_html.page import pieces

__all__ = ["pieces"]
