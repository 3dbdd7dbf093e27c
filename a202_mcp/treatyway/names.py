"""The contract's names, and which ones a shop may use for tools of its own (spec 8; seed, "Tools a seller adds").

Reserved are the declaration's name, the six standard names, every name that starts with `treatyway_`, and every
name that starts with a standard name and an underscore.
"""

from __future__ import annotations

import re
from typing import Final

DECLARATION: Final = "treatyway_contract"
DESCRIBE: Final = "describe_offer"
AVAILABILITY: Final = "check_availability"
QUOTE: Final = "request_quote"
ORDER: Final = "place_order"
STATUS: Final = "get_status"
MESSAGE: Final = "message"
STANDARD: Final = (DESCRIBE, AVAILABILITY, QUOTE, ORDER, STATUS, MESSAGE)

_FORM: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def name_fault(name: str) -> str | None:
    """Why a shop's own tool may not have this name, or None."""
    if not _FORM.fullmatch(name):
        return "must be 1 to 64 letters, digits, `_` or `-`"
    taken = name in (DECLARATION, *STANDARD) or name.startswith("treatyway_")
    if taken or any(name.startswith(standard + "_") for standard in STANDARD):
        return "is reserved by the Treatyway contract; choose another name"
    return None
