"""A state whose mandates another house issued, and what somebody without its keys can do to the file."""

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

from a202_mcp.batch import Batch, binding_document, text_of
from a202_mcp.issuer_keys import issuer_binding, proof_by
from a202_mcp.seal import Seal, digest, sign_binding, sign_seal
from a202_mcp.store import FILE_NAME, SqliteStore
from a202_mcp.tables import TABLES
from a202_reference.canonical import sha256_hex
from a202_reference.keys import KeyBinding, Owner, PrivateKey
from a202_reference.signing import Signer
from a202_reference.times import parse_instant
from tests.authority.mandates import mandate
from tests.shell.issuers import CREATED, Issuer

AT, LATER = "2026-08-20T10:00:00Z", "2026-08-20T11:00:00Z"
HEAD_OFFICE, BRANCH = Issuer(), Issuer("key_branch_office", "prn_branch_office", ed25519_seed=7)
STRANGER = Issuer("key_stranger_office", "prn_stranger", scalar=77)
"""An issuer of the attacker's own, with the attacker's own agent beside it."""


def agent(key_id="key_agent", agent_id="agt_buyer", scalar=21, since=AT):
    """An agent's key pair and its binding."""
    signer = Signer(key_id, PrivateKey.from_scalar(scalar))
    return signer, KeyBinding(key_id, Owner("org_north", agent_id=agent_id), signer.key.public, parse_instant(since))


AGENT, AGENT_BINDING = agent()
THIEF, THIEF_BINDING = agent("key_thief", "agt_thief", 99)


def given(issuer, mandate_id, created_at=CREATED, to=AGENT_BINDING, **changes):
    """A mandate that an issuer gave to an agent."""
    subject = {"key_id": to.key_id, "agent_id": to.owner.agent_id}
    plain = mandate(signed=False, id=mandate_id, subject=subject, **changes)
    return issuer.issued({name: member for name, member in plain.items() if name != "issuer"}, created_at)


FIRST = given(HEAD_OFFICE, "mnd_first")
SECOND = given(HEAD_OFFICE, "mnd_second", "2026-08-20T09:00:00Z")
BRANCHS = given(BRANCH, "mnd_branch")


def bound(issuer, document):
    return issuer_binding(document, issuer.public)


def evidence(number, mandate_id):
    """As much of an object as the state reads: who signed it, and under which mandate."""
    return {"id": f"evd_number_{number}", "object_type": "evidence", "transaction_id": f"txn_number_{number}",
            "created_by": {"mandate_id": mandate_id}, "signatures": [{"key_id": AGENT.key_id}]}


def batch(**parts):
    return Batch(**{"now": AT, "signing_keys": frozenset({AGENT.key_id}), "signers": (AGENT,), **parts})


BATCHES = (
    batch(mandates=(FIRST,), keys=(AGENT_BINDING, bound(HEAD_OFFICE, FIRST)),
          proven_by={HEAD_OFFICE.key_id: FIRST["id"]}),
    batch(transaction_id="txn_number_2", objects=(evidence(2, "mnd_first"),)),
    batch(mandates=(SECOND, BRANCHS), keys=(bound(BRANCH, BRANCHS),), proven_by={BRANCH.key_id: BRANCHS["id"]}),
    batch(transaction_id="txn_number_4", objects=(evidence(4, "mnd_second"),)),
    batch(transaction_id="txn_number_5", objects=(evidence(5, "mnd_branch"),), now=LATER))
"""Five commits: two documents, then a third by another issuer, and a transaction under each."""


class Foreign:
    """The state on disk; `changed` gives a store over a copy to which something was done."""

    def __init__(self, folder, batches=BATCHES):
        self.folder = Path(folder)
        store = SqliteStore.open(self.folder / "kept")
        assert all(store.commit(each) for each in batches)
        store.close()

    def changed(self, *changes):
        place = self.folder / "changed"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder / "kept", place)
        connection = sqlite3.connect(place / FILE_NAME)
        for change in changes:
            if isinstance(change, str):
                connection.execute(change)
            else:
                change(connection)
        connection.commit()
        connection.close()
        return SqliteStore.open(place)


def sql(statement, *values):
    return lambda connection: connection.execute(statement, values)


def write_key(binding, proof, commit_no=1):
    """The binding under its identifier, whatever stood there."""
    return sql("INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?)", binding.key_id,
               text_of(binding_document(binding)), proof, commit_no)


def write_mandate(document, commit_no):
    return sql("INSERT OR REPLACE INTO mandates VALUES (?, ?, ?, ?, ?)", document["id"], document["issuer"]["key_id"],
               document["subject"]["key_id"], text_of(document), commit_no)


def resealed(position, signer=None):
    """The seal of a commit made to list the rows as they stand; signed anew by a key that the attacker has, or not."""

    def change(connection):
        body, at = connection.execute("SELECT body, at FROM commits WHERE position = ?", (position,)).fetchone()
        rows = {}
        for table in TABLES:
            found = connection.execute(
                f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE commit_no = ? ORDER BY {table.order}",  # noqa: S608 (our own names)
                (position,)).fetchall()
            if found:
                rows[table.name] = [[row[table.named], digest(row)] for row in found]
        new = replace(Seal.read(body), rows=rows).body
        connection.execute("UPDATE commits SET body = ? WHERE position = ?", (new, position))
        if signer is not None:
            connection.execute("UPDATE commits SET key_id = ?, signature = ? WHERE position = ?",
                               (signer.key_id, sign_seal(new, at, signer), position))

    return change


def appended(document, issuer, signer=THIEF, signer_binding=THIEF_BINDING):
    """What a stranger with keys, an agent and a mandate of their own can add behind the last commit, rightly sealed."""

    def change(connection):
        last, body = connection.execute("SELECT position, body FROM commits ORDER BY position DESC LIMIT 1").fetchone()
        position = last + 1
        owner = Owner(document["issuer"]["organization_id"], principal_id=issuer.principal_id)
        binding = KeyBinding(issuer.key_id, owner, issuer.public, parse_instant(document["proof"]["created_at"]))
        write_key(signer_binding, sign_binding(signer_binding, signer), position)(connection)
        write_key(binding, proof_by(document["id"]), position)(connection)
        write_mandate(document, position)(connection)
        seal = Seal(position, sha256_hex(body.encode()), None, 0, LATER, {}).body
        connection.execute("INSERT INTO commits VALUES (?, NULL, 0, ?, ?, ?, '')",
                           (position, LATER, seal, signer.key_id))
        resealed(position, signer)(connection)

    return change
