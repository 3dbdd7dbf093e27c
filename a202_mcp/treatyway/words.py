"""What a person says at the command line that promises nothing: a refusal, a reply, a word of status (spec 4, 9.7).

Rules this module applies:

- only what waits can be refused, and only once; a message is answered or laid aside, once;
- the seller's word and its summary stand over what happened, and book nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from a202_mcp.treatyway.deals import OPEN, Message, Order, Quote, State, written
from a202_mcp.treatyway.person import Refused
from a202_mcp.treatyway.shop import Shop


def reject(shop: Shop, deal: Quote | Order, reason: str | None, who: Mapping[str, str]) -> Quote | Order | Refused:
    """Refuse what waits. Raises LostRaceError."""
    if deal.state not in OPEN:
        return Refused(f"{deal.id} does not wait for a decision; change its word with `seller status {deal.id} --set`")
    if isinstance(deal, Quote):
        changed: Quote | Order = replace(deal, state=State.REJECTED, summary=reason, answered_by=who)
    else:
        changed = replace(deal, state=State.REJECTED, summary=reason, answered_by=who)
    shop.remember([written(changed)])
    return changed


def close(shop: Shop, message: Message, reason: str | None, who: Mapping[str, str]) -> Message | Refused:
    """Lay a message aside. Raises LostRaceError."""
    if message.reply is not None:
        return Refused(f"{message.id} is answered already")
    closed = replace(message, closed=True, summary=reason, answered_by=who)
    shop.remember([written(closed)])
    return closed


def reply(shop: Shop, message: Message, text: str, who: Mapping[str, str]) -> Message | Refused:
    """Answer a message. Raises LostRaceError."""
    if message.reply is not None:
        return Refused(f"{message.id} is answered already")
    answered = replace(message, reply=text, answered_by=who)
    shop.remember([written(answered)])
    return answered


def set_word(shop: Shop, deal: Quote | Order, word: str | None, summary: str | None) -> Quote | Order:
    """Set the seller's word, its summary, or both. Raises LostRaceError."""
    if isinstance(deal, Quote):
        changed: Quote | Order = replace(deal, word=word or deal.word, summary=summary or deal.summary)
    else:
        changed = replace(deal, word=word or deal.word, summary=summary or deal.summary)
    shop.remember([written(changed)])
    return changed
