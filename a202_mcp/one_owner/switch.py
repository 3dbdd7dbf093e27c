"""The local switch of a mandate: suspend, resume, revoke (treatyway 4, 9.2; axp 3, 8).

Rules this module applies:

- the switch is a local fact of the state folder, read at the instant of the decision; a mandate that nobody switched
  is active;
- revoked is final for that mandate;
- where an address answers a mandate's status, there is no switch here to turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from a202_reference.registries import MandateStatus

TURNS: Final[Mapping[str, MandateStatus]] = {
    "suspend": MandateStatus.SUSPENDED, "resume": MandateStatus.ACTIVE, "revoke": MandateStatus.REVOKED}
"""What the owner's words turn it to."""


def switched(kept: Mapping[str, Any] | None) -> str:
    """The status that was kept for a mandate."""
    return MandateStatus.ACTIVE.value if kept is None else str(kept["status"])


def fixed(mandate_id: str, status: str, status_url: str | None) -> str | None:
    """Why a mandate's switch cannot be turned, for the owner; or None."""
    if status_url is not None:
        return "the mandate's status is answered by mandate.status_url, not by a switch here"
    if status == MandateStatus.REVOKED:
        return f"{mandate_id} is revoked, and that is final: `init` issues a new mandate"
    return None
