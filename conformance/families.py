"""Role scopes and fixture families (rules 10; verification A.6): which family a fixture's name puts it in.

The patterns are those of the published set, widened where our own suite holds more of a family. They are
disjoint, and total over both sets; a test holds them to that for ours.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from a202_reference.registries import RoleScope

_BILATERAL = (
    ("mandate", ("valid-commercial-mandate*", "negative/mandate-*")),
    ("delegation-chain", ("valid-mandate-delegation-chain*", "negative/delegation-chain-*")),
    ("offer", ("valid-offer*", "negative/offer-*")),
    ("agreement", ("valid-agreement-*", "valid-acceptance*", "valid-commitment*", "negative/agreement-*")),
    ("obligation", ("valid-obligation*", "negative/obligation-*")),
    ("evidence-and-verification", ("valid-evidence-*", "valid-verification-report*", "negative/evidence-*")),
    ("dispute-and-determination", (
        "valid-dispute*", "valid-determination*", "negative/dispute-*", "negative/determination-*")),
    ("settlement", ("valid-settlement-*", "valid-adapter-receipt*", "negative/settlement-*")),
    ("termination", ("valid-consensual-termination*", "negative/termination-*")),
    ("carrier-declaration", ("valid-extension-declaration*", "negative/declaration-*")),
    ("key-record", ("valid-key-record*", "valid-revocation-record*", "negative/key-record-*")),
    ("approval", ("valid-approval*",)),
    ("party-family", (
        "valid-organization*", "valid-agent*", "valid-principal*", "negative/organization-*", "negative/agent-*",
        "negative/principal-*")),
    ("envelope-annotation", (
        "valid-action-envelope*", "valid-envelope-*", "negative/action-envelope-*", "negative/envelope-*")),
    ("policy-decision", ("valid-policy-decision*", "negative/policy-deny-visible-*", "negative/policy-deny-shown-*")),
    ("conformance-grade", ("valid-conformance-grade-bilateral-*", "negative/grade-*")),
)
_OPERATED = (
    ("invitation", ("valid-counterparty-invitation*", "valid-invitation-acceptance*", "negative/invitation-*")),
    ("session-event", ("valid-session-*", "negative/session-event-*")),
    ("auction", ("negative/auction-*",)),
    ("stream-disclosure", (
        "valid-transaction-event-*", "negative/transaction-event-*", "negative/stream-*",
        "negative/policy-deny-award-*")),
    ("annotated-offer", ("valid-annotated-offer*",)),
    ("direct-formation-contention", ("negative/direct-formation-*",)),
    ("appeal", ("valid-appeal-*", "negative/appeal-*")),
    ("conformance-grade", ("valid-conformance-grade-operated-*",)),
)
_PATTERNS = tuple(
    (scope, family, pattern)
    for scope, families in ((RoleScope.BILATERAL, _BILATERAL), (RoleScope.OPERATED, _OPERATED))
    for family, patterns in families for pattern in patterns)


def families_of(file: str) -> tuple[tuple[RoleScope, str], ...]:
    """Role scope and family of a fixture by its path; empty where no pattern knows it."""
    name = file.removesuffix(".json")
    found = {(scope, family) for scope, family, pattern in _PATTERNS if fnmatchcase(name, pattern)}
    return tuple(sorted(found))
