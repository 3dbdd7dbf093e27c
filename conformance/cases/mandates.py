"""Families mandate and delegation-chain."""

from __future__ import annotations

from a202_reference.codes import Code
from conformance.cases.registry import faulty, valid
from conformance.documents.mandates import child_mandate, mandate
from conformance.documents.performance import evidence_ref
from conformance.world import ADDRESSES, Document, at, changed, days, sealed_mandate, without

UNBOUNDED_CHAIN = Code.MANDATE_DELEGATION_WIDENING


@valid("mandate")
def valid_commercial_mandate() -> Document:
    """A root mandate: bounded to one transaction and seller, with a ceiling, an approval rule and one hop."""
    return mandate()


@valid("mandate")
def valid_commercial_mandate_to_principal() -> Document:
    """A mandate given to a principal, with a full evidence reference and a scope of categories only."""
    return mandate(
        subject={"principal_id": "prn_brightwater_clerk", "key_id": "key_brightwater_clerk"},
        scope={"categories": ["services.calibration"]}, evidence_refs=[evidence_ref()])


@faulty("mandate", Code.MANDATE_UNBOUNDED)
def mandate_without_constraints() -> Document:
    """The list of constraints is empty."""
    return mandate(constraints=[])


@faulty("mandate", Code.MANDATE_SCOPE_TOO_BROAD)
def mandate_bounded_by_country_only() -> Document:
    """The scope names a country but neither transactions nor categories."""
    return mandate(scope={"geographies": ["NL"]})


@faulty("mandate", Code.MANDATE_DELEGATION_INCOHERENT)
def mandate_delegates_to_no_depth() -> Document:
    """Delegation is allowed, to a depth of nought."""
    return mandate(delegation={"allowed": True, "maximum_depth": 0})


@faulty("mandate", Code.MANDATE_DELEGATION_INCOHERENT)
def mandate_depth_without_delegation() -> Document:
    """Delegation is not allowed, yet has a depth."""
    return mandate(delegation={"allowed": False, "maximum_depth": 2})


@faulty("mandate", Code.MANDATE_INTERVAL_INVALID)
def mandate_ends_when_it_starts() -> Document:
    """Start and end are the same instant, so it is never in force."""
    return mandate(valid_until=at(0))


@faulty("mandate", Code.MANDATE_STATUS_INSECURE)
def mandate_status_over_http() -> Document:
    """Its status is asked over plain HTTP."""
    return mandate(status_endpoint=ADDRESSES["status over http"])


@faulty("mandate", Code.MANDATE_CONSTRAINT_UNKNOWN)
def mandate_constraint_type_unregistered() -> Document:
    """A constraint is of a type that is not registered."""
    return sealed_mandate(changed(mandate(), "constraints.0.type", "commercial.money"))


@faulty("mandate", Code.MANDATE_CONSTRAINT_UNKNOWN)
def mandate_constraint_operator_unregistered() -> Document:
    """A constraint has an operator that is not registered."""
    return sealed_mandate(changed(mandate(), "constraints.0.operator", "at_most"))


@faulty("mandate", Code.MANDATE_SUBJECT_AMBIGUOUS)
def mandate_to_agent_and_principal() -> Document:
    """It is given to an agent and to a principal."""
    return sealed_mandate(changed(mandate(), "subject.principal_id", "prn_brightwater_clerk"))


@faulty("mandate", Code.MANDATE_SUBJECT_AMBIGUOUS)
def mandate_to_nobody() -> Document:
    """It is given to a key that is nobody's."""
    return sealed_mandate(without(mandate(), "subject.agent_id"))


@faulty("mandate", Code.DISCLOSURE_DENIED)
def mandate_evidence_hint_with_password() -> Document:
    """The hint where to find its evidence carries a password."""
    return mandate(evidence_refs=[evidence_ref(locator_hint=ADDRESSES["certificate with password"])])


@faulty("mandate", None)
def mandate_approval_lives_too_long() -> Document:
    """An approval rule lets approvals live two days; a day is the most."""
    return sealed_mandate(changed(mandate(), "approval_rules.0.expires_after_seconds", 172800))


def _chain(**child: object) -> Document:
    return {"parent": mandate(), "child": child_mandate(**child)}


def _constraint(index: int, **members: object) -> Document:
    constraints = child_mandate()["constraints"]
    constraints[index] = {**constraints[index], **members}
    return _chain(constraints=constraints)


@valid("mandate_chain")
def valid_mandate_delegation_chain() -> Document:
    """A child narrower than its parent on every axis."""
    return _chain()


@valid("mandate_chain")
def valid_mandate_delegation_chain_equal() -> Document:
    """A child exactly as wide as its parent, except that it delegates no further."""
    parent = mandate()
    return _chain(**{name: parent[name] for name in (
        "valid_from", "valid_until", "actions", "scope", "constraints", "approval_rules")})


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_of_another() -> Document:
    """The child names a mandate that is not this parent."""
    return _chain(parent_mandate_id="mnd_brightwater_other")


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_starts_earlier() -> Document:
    """The child is in force before its parent is."""
    return _chain(valid_from=at(-1))


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_outlives_parent() -> Document:
    """The child ends a minute after its parent."""
    return _chain(valid_until=at(days(60) + 1))


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_adds_action() -> Document:
    """The child may instruct settlements, which its parent may not."""
    return _chain(actions=["offer.accept", "settlement.instruct"])


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_adds_counterparty() -> Document:
    """The child may deal with a party outside its parent's list."""
    scope = {**mandate()["scope"], "counterparty_organization_ids": ["org_fernhill", "org_quayside"]}
    return _chain(scope=scope)


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_drops_axis() -> Document:
    """The child leaves out the countries its parent is bound to."""
    return _chain(scope={name: axis for name, axis in mandate()["scope"].items() if name != "geographies"})


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_raises_ceiling() -> Document:
    """The child's ceiling is a cent above its parent's."""
    return _constraint(0, value="2000.01")


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_changes_currency() -> Document:
    """The child must pay in another currency than its parent."""
    return _constraint(1, value="USD")


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_softens_denial() -> Document:
    """What the parent denies, the child would only have approved."""
    return _constraint(0, on_failure="require_approval")


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_drops_constraint() -> Document:
    """The child keeps the ceiling and forgets the currency."""
    return _chain(constraints=child_mandate()["constraints"][:1])


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_delegates_as_far() -> Document:
    """The child may delegate as deep as its parent may."""
    return _chain(delegation={"allowed": True, "maximum_depth": 1})


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_parent_does_not_delegate() -> Document:
    """The parent allows no delegation at all."""
    return {**_chain(), "parent": mandate(delegation={"allowed": False, "maximum_depth": 0})}


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_child_represents_another() -> Document:
    """The child speaks for another organisation than its parent."""
    return _chain(represented_organization_id="org_fernhill")


@faulty("mandate_chain", UNBOUNDED_CHAIN)
def delegation_chain_issued_by_stranger() -> Document:
    """The child is issued under a key that is neither its parent's subject's nor its issuer's."""
    chain = _chain()
    issuer = {**chain["child"]["issuer"], "key_id": "key_fernhill_seller"}
    proof = {**chain["child"]["proof"], "key_id": "key_fernhill_seller"}
    return {**chain, "child": child_mandate(issuer=issuer, proof=proof)}


@faulty("mandate_chain", Code.MANDATE_INTERVAL_INVALID)
def delegation_chain_child_ends_before_it_starts() -> Document:
    """The child lies within its parent's interval, the wrong way round."""
    return _chain(valid_from=at(days(30)), valid_until=at(days(2)))
