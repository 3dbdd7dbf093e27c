"""What a person says at the command line that promises nothing: a refusal, a reply, a word of status (spec 4, 9.7).

Rules this module applies:

- only what waits can be refused, and only once; a message is answered or laid aside, once;
- the seller's word and its summary book nothing, and no word says that there is a price or an order where there is
  none. What happens later is not hidden by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from a202_mcp.treatyway.deals import OPEN, Message, Order, Quote, Remark, State, written
from a202_mcp.treatyway.person import Refused
from a202_mcp.treatyway.shop import Shop

_PROMISES: Final[Mapping[str, str]] = {
    "quoted": "only a price makes it quoted", "accepted": "only an order makes it accepted"}
"""Words that promise something, and what alone makes them true."""


def reject(shop: Shop, deal: Quote | Order, reason: str | None, who: Mapping[str, str]) -> Quote | Order | Refused:
    """Refuse what waits. Raises MovedError."""
    if deal.state not in OPEN:
        return Refused(f"{deal.id} does not wait for a decision; change its word with `seller status {deal.id} --set`")
    changed: Quote | Order = replace(deal, state=State.REJECTED, summary=reason, answered_by=who, remark=None)
    shop.remember([written(changed)])
    return changed


def close(shop: Shop, message: Message, reason: str | None, who: Mapping[str, str]) -> Message | Refused:
    """Lay a message aside. Raises MovedError."""
    if message.reply is not None:
        return Refused(f"{message.id} is answered already")
    closed = replace(message, closed=True, summary=reason, answered_by=who)
    shop.remember([written(closed)])
    return closed


def reply(shop: Shop, message: Message, text: str, who: Mapping[str, str]) -> Message | Refused:
    """Answer a message. Raises MovedError."""
    if message.reply is not None:
        return Refused(f"{message.id} is answered already")
    answered = replace(message, reply=text, answered_by=who)
    shop.remember([written(answered)])
    return answered


def set_word(
    shop: Shop, deal: Quote | Order, word: str | None, summary: str | None, now: datetime,
) -> Quote | Order | Refused:
    """Set the seller's word, its summary, or both. Raises MovedError."""
    happened = deal.happened(now)
    promise = None if word is None else _PROMISES.get(word)
    if promise is not None and word != happened:
        return Refused(f"{deal.id} is {happened}: {promise}")
    before = deal.remark if deal.remark is not None and deal.remark.over == happened else Remark(happened)
    remark = Remark(happened, word or before.word, summary or before.summary)
    changed: Quote | Order = replace(deal, remark=remark)
    shop.remember([written(changed)])
    return changed
