"""The verification procedure: seven steps over whatever was handed over (rules 6.7; verification 1).

Rules this module applies:

- the steps run in order and all of them run: a failing check stops nothing;
- every check is made in full or reported as not made; nothing is raised over a document, however hostile;
- the set is indexed once, each object hashed once, each signature verified once; no step looks at all pairs.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from a202_reference.evidence import (
    step1_hashes,
    step2_signatures,
    step3_versions,
    step4_streams,
    step5_transitions,
    step6_determinations,
    step7_gaps,
)
from a202_reference.evidence.index import Spread, build_index
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.keychain import Keychain, Standing, revocations, revoked_at
from a202_reference.evidence.material import Material
from a202_reference.evidence.readings import obligation_readings
from a202_reference.evidence.report import Report
from a202_reference.profiles import ProfileRegistry
from a202_reference.times import format_instant


def verify(
    material: Material, *, now: datetime, spread: Spread = map, profiles: ProfileRegistry | None = None,
) -> Report:
    """Run the seven steps. `now` is the instant that present standings are told for.

    spread: applies the signature checks; a caller with processes brings one that uses them.
    profiles: those of this configuration; None: those that come with this software.
    """
    keychain = Keychain(material.keys, material.objects)
    index = build_index(material.objects, keychain.public, spread)
    inquiry = Inquiry(index, material, now, keychain, revocations(index, keychain), profiles=profiles)
    step1_hashes.check(inquiry)
    step2_signatures.check(inquiry)
    step3_versions.check(inquiry)
    step4_streams.check(inquiry)
    step5_transitions.check(inquiry)
    step6_determinations.check(inquiry)
    scope = step7_gaps.check(inquiry)
    return Report(
        findings=inquiry.findings,
        scope=scope,
        obligations=obligation_readings(inquiry),
        key_status=tuple(_key_status(inquiry)),
        rules_version=material.rules_version)


def _key_status(inquiry: Inquiry) -> list[dict[str, Any]]:
    """Each key that signed something here: whose, who says so, and how it stands now."""
    used: dict[str, int] = {}
    for signed in inquiry.signed.values():
        for each in signed:
            if each.key is not None:
                used[each.key.key_id] = used.get(each.key.key_id, 0) + 1
    statuses = []
    for key_id in sorted(used):
        key = inquiry.keychain.get(key_id)
        if key is None:
            continue
        revoked = revoked_at(inquiry.revocations, key_id, key.organization_id, inquiry.now)
        standing = key.standing_at(inquiry.now) if revoked is Standing.ACTIVE else revoked
        statuses.append({
            "key_id": key_id,
            "owner": {name: value for name, value in key.whose.items() if value is not None},
            "source": key.source.value,
            "conflict": key.conflict,
            "valid_from": format_instant(key.spans[0].start) if key.spans else None,
            "valid_until": (format_instant(key.spans[-1].until)
                            if key.spans and key.spans[-1].until is not None else None),
            "status_now": standing.value,
            "status_at": format_instant(inquiry.now),
            "signatures": used[key_id],
        })
    return statuses
