"""Everything that one act writes, as one batch (design, "All or nothing"; treatyway 10; axp 10).

Rules this module applies:

- the objects are judged and signed together before anything is written; with them go the act documents, the presented
  statuses and the approvals that are used up, and the key pairs that seal the batch;
- an object of our own making that the gate refuses is a defect of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from a202_mcp.recording import batch_of
from a202_mcp.store import Batch
from a202_mcp.workspace import Workspace
from a202_reference.authority.presented import Authorised
from a202_reference.codes import Refusal
from a202_reference.lifecycle.drafts import Draft
from a202_reference.lifecycle.holdings import Holdings


def batch_for(
    workspace: Workspace, holdings: Holdings, now: datetime, drafts: Sequence[Draft], acts: Sequence[Authorised],
    signed: Sequence[Mapping[str, Any]] = (),
) -> Batch:
    """The batch of one act over what is held. signed: objects that are signed already, in front of the drafts."""
    objects = workspace.signed(drafts, holdings) if drafts else ()
    if isinstance(objects, Refusal):
        raise RuntimeError(  # noqa: TRY004 - the gate's verdict, not a type
            f"an object of our own making was refused: {', '.join(objects.codes)}")
    batch = batch_of(holdings, now, (*signed, *objects), acts)
    held = (workspace.keyring.signer(key_id) for key_id in sorted(batch.signing_keys))
    return replace(batch, signers=tuple(signer for signer in held if signer is not None))
