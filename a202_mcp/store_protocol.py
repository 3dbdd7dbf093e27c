"""What a workspace needs of its state, wherever that is kept (design, "store"; ADR 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from a202_mcp.batch import Batch, Idempotency
from a202_mcp.seal import Fault, HeldKey
from a202_reference.keys import KeyBinding
from a202_reference.lifecycle.holdings import Holdings


class Store(Protocol):
    """The one implementation here is `store.SqliteStore`; another may keep the state elsewhere."""

    def holdings(self, transaction_id: str) -> Holdings:
        """What is held of a transaction; empty where nothing is. Raises DamagedError."""

    def recorded(self, transaction_id: str) -> tuple[Mapping[str, Any], ...]:
        """The documents of a transaction as they stand now, whatever happened to them."""

    def faults(
        self, transaction_id: str | None, mandate_ids: Iterable[str], key_ids: Iterable[str],
    ) -> tuple[Fault, ...]:
        """Every part of a transaction, and of the mandates and keys it names, that is not what was recorded.

        transaction_id: None asks only which of these keys cannot be relied on.
        """

    def held_object(self, object_id: str) -> Mapping[str, Any] | None:
        """One object of any transaction."""

    def mandate(self, mandate_id: str) -> Mapping[str, Any] | None:
        """One mandate."""

    def mandates_naming(self, key_id: str) -> Iterator[Mapping[str, Any]]:
        """The mandates that name this key as issuer's or subject's, oldest first, read one by one."""

    def key(self, key_id: str) -> KeyBinding | None:
        """The authentic binding of one key."""

    def held_key(self, key_id: str) -> HeldKey | None:
        """One key's binding and what is wrong with it, or None where none is stored."""

    def acts(self, transaction_id: str) -> dict[str, Mapping[str, Any]]:
        """Act documents by action hash."""

    def status_results(self, transaction_id: str) -> tuple[Mapping[str, Any], ...]:
        """Presented status answers in the order they were recorded."""

    def consumed(self, approval_id: str) -> bool:
        """True where an act has used this approval up."""

    def first_result(self, scope: str) -> Idempotency | None:
        """The first result under an idempotency scope. Raises DamagedError."""

    def newest(self, transaction_id: str | None, key_ids: Iterable[str]) -> str | None:
        """The newest instant stored for this transaction or any of these keys."""

    def transactions(self, limit: int) -> tuple[int, list[str]]:
        """How many transactions are held, and the newest of them first."""

    def commit(self, batch: Batch) -> bool:
        """Write a batch whole and return True, or write nothing and return False: the state has moved.

        Raises ValueError for a key that the mandate named for it does not prove.
        """

    def close(self) -> None:
        """Release the state."""
