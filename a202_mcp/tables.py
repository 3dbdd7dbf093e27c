"""The tables of a state file, and which of their columns a commit's seal covers (ADR 9).

Rows are only ever added. Every row but those of `meta` names the commit that wrote it, and `commits` holds one row
a commit: its seal, and the key that signed it. Which transactions there are, how often each was committed to, and
when a key was last used are read from these rows: there is no counter to keep in step, or to tamper with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

FORMAT: Final = "2"

SCHEMA: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (
  position INTEGER PRIMARY KEY, transaction_id TEXT, revision INTEGER NOT NULL, at TEXT NOT NULL,
  body TEXT NOT NULL, key_id TEXT, signature TEXT);
CREATE UNIQUE INDEX commits_by_transaction ON commits (transaction_id, revision);
CREATE INDEX commits_first ON commits (position) WHERE revision = 1;
CREATE TABLE keys (
  key_id TEXT PRIMARY KEY, body TEXT NOT NULL, proof TEXT NOT NULL, commit_no INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX keys_by_commit ON keys (commit_no);
CREATE TABLE uses (
  key_id TEXT NOT NULL, at TEXT NOT NULL, commit_no INTEGER NOT NULL,
  PRIMARY KEY (key_id, at, commit_no)) WITHOUT ROWID;
CREATE INDEX uses_by_commit ON uses (commit_no);
CREATE TABLE mandates (
  id TEXT PRIMARY KEY, issuer_key_id TEXT NOT NULL, subject_key_id TEXT NOT NULL, body TEXT NOT NULL,
  commit_no INTEGER NOT NULL);
CREATE INDEX mandates_by_issuer_key ON mandates (issuer_key_id);
CREATE INDEX mandates_by_subject_key ON mandates (subject_key_id);
CREATE INDEX mandates_by_commit ON mandates (commit_no);
CREATE TABLE objects (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, transaction_id TEXT NOT NULL, body TEXT NOT NULL,
  commit_no INTEGER NOT NULL);
CREATE INDEX objects_by_transaction ON objects (transaction_id, position);
CREATE INDEX objects_by_commit ON objects (commit_no);
CREATE TABLE acts (
  transaction_id TEXT NOT NULL, action_hash TEXT NOT NULL, body TEXT NOT NULL, commit_no INTEGER NOT NULL,
  PRIMARY KEY (transaction_id, action_hash)) WITHOUT ROWID;
CREATE INDEX acts_by_commit ON acts (commit_no);
CREATE TABLE status_results (
  position INTEGER PRIMARY KEY, transaction_id TEXT NOT NULL, body TEXT NOT NULL, commit_no INTEGER NOT NULL);
CREATE INDEX status_results_by_transaction ON status_results (transaction_id, position);
CREATE INDEX status_results_by_commit ON status_results (commit_no);
CREATE TABLE consumed (
  approval_id TEXT PRIMARY KEY, action_hash TEXT NOT NULL, commit_no INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX consumed_by_commit ON consumed (commit_no);
CREATE TABLE idempotency (
  scope TEXT PRIMARY KEY, content_hash TEXT NOT NULL, result TEXT NOT NULL, commit_no INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX idempotency_by_commit ON idempotency (commit_no);
INSERT INTO meta VALUES ('format', '2')
"""


@dataclass(frozen=True)
class Table:
    """One table of rows that commits write.

    columns: those a seal covers; the one at `named` names a row. order: how the rows of one commit stand in its seal.
    word: what one row is called.
    """

    name: str
    columns: tuple[str, ...]
    order: str
    word: str
    named: int = 0

    @cached_property
    def insert(self) -> str:
        """The statement that writes a row: its columns, then the commit's number."""
        places = ", ".join("?" * (len(self.columns) + 1))
        return f"INSERT INTO {self.name} ({', '.join(self.columns)}, commit_no) VALUES ({places})"  # noqa: S608 (our own names)

    @property
    def by_transaction(self) -> bool:
        """True where a row says which transaction it belongs to."""
        return "transaction_id" in self.columns


KEYS: Final = Table("keys", ("key_id", "body", "proof"), "key_id", "the key binding")
USES: Final = Table("uses", ("key_id", "at"), "key_id", "the note of when it was used of")
MANDATES: Final = Table("mandates", ("id", "issuer_key_id", "subject_key_id", "body"), "id", "the mandate")
OBJECTS: Final = Table("objects", ("id", "transaction_id", "body"), "position", "the object")
ACTS: Final = Table("acts", ("transaction_id", "action_hash", "body"), "action_hash", "the act document", named=1)
STATUSES: Final = Table("status_results", ("transaction_id", "body"), "position", "a status answer of")
CONSUMED: Final = Table("consumed", ("approval_id", "action_hash"), "approval_id", "the redemption of approval")
IDEMPOTENCY: Final = Table(
    "idempotency", ("scope", "content_hash", "result"), "scope", "the first result under idempotency scope")

TABLES: Final = (KEYS, USES, MANDATES, OBJECTS, ACTS, STATUSES, CONSUMED, IDEMPOTENCY)
