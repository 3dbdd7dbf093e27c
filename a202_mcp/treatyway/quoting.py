"""request_quote (spec 5, 9.3): a price by the owner's rules, under the owner's mandate, signed before it is answered.

Rules this module applies:

- what the rules cannot price waits for a person, and so does what the mandate holds or (as configured) denies; both
  read alike, and neither answer says a number or a limit;
- the request is evidenced, the decision is private, the offer is signed, all in one commit;
- an offer of a job that takes a place in the calendar ends when that job begins, if not before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from a202_mcp.one_owner.book import Write
from a202_mcp.one_owner.ruling import Ruling
from a202_mcp.one_owner.scribe import SALT_BYTES, Scribe, reference, salted_hash
from a202_mcp.treatyway.answers import NOT_QUOTED, Answer, invalid, needs_human
from a202_mcp.treatyway.basket import Basket, assess
from a202_mcp.treatyway.book import keep
from a202_mcp.treatyway.calling import Call
from a202_mcp.treatyway.deals import PERSON_DECIDES, Quote, State, written
from a202_mcp.treatyway.mandate import OFFER
from a202_mcp.treatyway.records import pass_evidence
from a202_mcp.treatyway.shop import Shop
from a202_mcp.treatyway.taking import booked_span
from a202_mcp.treatyway.terms import priced
from a202_reference.codes import Decision
from a202_reference.identifiers import Prefix
from a202_reference.lifecycle.drafts import Draft
from a202_reference.lifecycle.holdings import Holdings
from a202_reference.registries import EvidenceType
from a202_reference.times import format_instant

_UNDECIDED: Final = {Decision.REQUIRE_APPROVAL: State.HELD, Decision.DENY: State.DENIED}


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it is evidenced: the drafts, and what the artifact hash stands for."""

    drafts: tuple[Draft, ...]
    writes: tuple[Write, ...]
    artifact_hash: str


def request_quote(shop: Shop, call: Call) -> Answer:
    """A quote_id, with a price or with what a person must add. Raises MovedError outside of a decision."""
    now = shop.now()
    basket = assess(shop, call.inputs, now)
    if isinstance(basket, str):
        return invalid(basket)
    quote = _begun(shop, call, basket, now)
    scribe = shop.scribe(quote.transaction_id, now)
    received = evidence_of(shop, call, scribe, f"Treatyway request_quote {quote.id}")
    quote = replace(quote, evidence=[reference(draft) for draft in received.drafts])
    holdings = Holdings(quote.transaction_id, ())
    drafts, writes = list(received.drafts), list(received.writes)
    rulings: list[Ruling] = []
    if basket.missing:
        quote = replace(quote, state=State.WAITING, missing=needs_human(basket.missing)["missing"])
    else:
        terms = priced(basket, quote.id, quote.attested_by, shop.settings.currency)
        quote = replace(quote, terms=terms)
        counterparty = shop.counterparty(quote.counterparty)
        ruling = shop.authority.rule(OFFER, holdings, counterparty.organization_id, terms, now)
        rulings.append(ruling)
        drafts.append(scribe.decision(ruling))
        quote, offer = ruled(shop, quote, ruling, scribe, now)
        drafts += offer
    answer = _answer(quote)
    shop.commit(holdings, now, drafts, rulings, [*writes, written(quote), *call.remembered(answer)])
    return answer


def _begun(shop: Shop, call: Call, basket: Basket, now: datetime) -> Quote:
    spans = [offer.valid_for or shop.settings.valid_for for offer in basket.offers] or [shop.settings.valid_for]
    return Quote(
        id=shop.new_id("q"),
        transaction_id=shop.minted(Prefix.TRANSACTION),
        session_id=shop.minted(Prefix.SESSION),
        owner=call.caller.owner,
        label=call.caller.label,
        attested_by=call.caller.attested_by,
        counterparty=shop.placeholder(call.caller.owner),
        created_at=format_instant(now),
        request={name: value for name, value in call.inputs.items() if name != "idempotency_key"},
        state=State.WAITING,
        valid_seconds=int(min(spans).total_seconds()))


def evidence_of(shop: Shop, call: Call, scribe: Scribe, claim: str) -> Received:
    """What evidences a request: an attestation over it, and the pass where there is one."""
    salt = shop.randomness(SALT_BYTES)
    artifact = salted_hash(salt, call.body)
    request = attestation(scribe, claim, artifact)
    drafts = [request]
    if call.caller.facts is not None:
        drafts.append(pass_evidence(scribe, call.caller.facts))
    return Received(tuple(drafts), (keep(request.id, salt, call.body),), artifact)


def attestation(scribe: Scribe, claim: str, artifact: str) -> Draft:
    """Evidence of a request that nobody but us saw."""
    return scribe.evidence(EvidenceType.ATTESTATION, claim, artifact, verified=False)


def ruled(
    shop: Shop, quote: Quote, ruling: Ruling, scribe: Scribe, now: datetime,
) -> tuple[Quote, Sequence[Draft]]:
    """The quote after a ruling over its terms, and its signed offer where it was allowed."""
    if not ruling.allows or quote.terms is None:
        refused = ruling.decision is Decision.DENY and shop.settings.refuse_denied
        return replace(
            quote, state=State.REJECTED if refused else _UNDECIDED[ruling.decision], missing=[PERSON_DECIDES]), ()
    valid_until = format_instant(ends_at(shop, quote, now))
    offer = scribe.offer(
        shop.counterparty(quote.counterparty), quote.session_id, valid_until, quote.terms, quote.evidence)
    return replace(
        quote, state=State.QUOTED, missing=[], offer_id=offer.id, offer_hash=offer.content_hash,
        expires_at=valid_until), (offer,)


def ends_at(shop: Shop, quote: Quote, now: datetime) -> datetime:
    """When an offer that is made now ends."""
    span, usual = booked_span(shop, quote), now + timedelta(seconds=quote.valid_seconds)
    return usual if span is None or span[0] <= now else min(usual, span[0])


def price_of(quote: Quote) -> Mapping[str, Any]:
    """`price` and what stands beside it."""
    if quote.state is State.QUOTED:
        return {"price": _shown(quote), "expires_at": quote.expires_at}
    return {"price": "needs_human", "needs_human": needs_human(quote.missing or [PERSON_DECIDES])}


def _shown(quote: Quote) -> dict[str, str]:
    price = quote.price or {}
    return {"amount": price["amount"], "currency": price["currency"]}


def _answer(quote: Quote) -> Answer:
    if quote.state is State.REJECTED:
        return NOT_QUOTED
    return {"quote_id": quote.id, **price_of(quote)}
