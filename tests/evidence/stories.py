"""The unbroken records that the cases break: each verifies with nothing failed and nothing unchecked."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import Any

from a202_reference.lifecycle import acts
from a202_reference.times import format_instant
from tests.evidence.records import BUYER, MONEY, START, SUPPLIER, TXN, Story, mandate, rule, walkthrough


def approved() -> Story:
    """Every act of the buyer above 1000.00 is held, and its director approves it."""
    story = Story(buyer_over={"approval_rules": [rule()]})
    story.approve(BUYER, story.act_of(acts.OFFER_ACCEPT))
    story.later(minutes=1).form()
    agreement = story.of("agreement")[0]
    story.later(minutes=5).approve(BUYER, acts.issue_act(
        acts.Setting(TXN, SUPPLIER.organization_id), acts.core_of("20", "H87", MONEY), agreement["id"]))
    story.later(minutes=1).issue()
    return story


def delegated() -> Story:
    """The buyer's mandate is a child of its organisation's root mandate."""
    root = mandate("mnd_northstar_root_01", "org_northstar", "agt_northstar_middle_01", "key_buyer_middle_01",
                   "key_buyer_principal_01", delegation={"allowed": True, "maximum_depth": 1})
    return walkthrough(buyer_over={"parent_mandate_id": root["id"]}, extra_mandates=[root])


def partial() -> Story:
    """Eight of twenty are accepted; a second obligation carries the remaining twelve."""
    story = Story().form()
    obligation = story.later(minutes=5).issue()
    remainder = story.later(minutes=5).issue("12", consideration={"currency": "EUR", "amount": "1920.00"})
    assertion = story.later(minutes=5).claim(obligation, "8")
    story.later(minutes=5).answer(assertion, quantity="8", remainder=remainder["id"])
    return story


def rejected() -> Story:
    """A first assertion is rejected, a second one accepted."""
    story = Story().form()
    obligation = story.later(minutes=5).issue()
    story.answer(story.later(minutes=5).claim(obligation), "reject")
    story.answer(story.later(minutes=5).claim(obligation), "accept")
    return story


def hurried() -> Story:
    """The same, all of it within one second: the order is causal, not told by clocks."""
    story = Story().form()
    obligation = story.issue()
    story.answer(story.claim(obligation), "reject")
    story.answer(story.claim(obligation), "accept")
    return story


def waived() -> Story:
    """The obligee waives what it is owed; no event records that."""
    story = Story().form()
    story.waive(story.later(minutes=5).issue())
    return story


def eventless() -> Story:
    """A second obligation is issued, asserted and answered beside the first, without events."""
    story = walkthrough()
    obligation = story.later(minutes=5).issue("3", consideration={"currency": "EUR", "amount": "100.00"})
    story.later(minutes=5).answer(story.claim(obligation, "3"))
    return story


def scoped() -> Story:
    """Both mandates bound geographies and categories, and the acts say theirs."""
    scope = {"transaction_ids": [TXN], "geographies": ["NL"], "categories": ["services.calibration"]}
    return walkthrough(buyer_over={"scope": scope}, supplier_over={"scope": scope},
                       scope={"geography": "NL", "category": "services.calibration"})


def waiting() -> Story:
    """A second obligation waits for the discharge of the first, and for a date."""
    story = walkthrough()
    first = story.of("obligation")[0]
    conditions = [{"type": "due_on_discharge", "obligation_id": first["id"]},
                  {"type": "due_at_time", "at": format_instant(START - timedelta(days=1))}]
    story.later(minutes=5).issue("1", consideration={"currency": "EUR", "amount": "10.00"},
                                 due={"type": "all_of", "conditions": conditions})
    return story


STORIES = {story.__name__: story for story in (
    walkthrough, approved, delegated, partial, rejected, hurried, waived, eventless, scoped, waiting)}


@cache
def _told(name: str) -> dict[str, Any]:
    return STORIES[name]().bundle


def told(name: str) -> dict[str, Any]:
    """A story's bundle. Whoever changes it copies it first."""
    return _told(name)
