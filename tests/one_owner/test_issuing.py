"""What an owner's init records of a document, and what serving rests on."""

import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.documented import Documented
from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.issuing import (
    NotReadyError,
    is_taken,
    keep_organization,
    own_signer,
    proved,
    rest_on,
    taken,
    unbound,
)
from a202_mcp.workspace import Workspace
from a202_reference.times import parse_instant
from tests.harness.foreign import AGENT, AGENT_BINDING, BRANCH, HEAD_OFFICE, batch, bound, given
from tests.shell.issuers import Issuer

NOW = parse_instant("2026-08-20T10:00:00Z")
WHO = Identity("org_north", AGENT_BINDING.owner.agent_id, AGENT.key_id, "prn_north", "key_owner")


def documented(issuer=HEAD_OFFICE, mandate_id="mnd_first", **changes):
    document = given(issuer, mandate_id, **changes)
    return Documented(document, bound(issuer, document))


class Folder(unittest.TestCase):
    def setUp(self):
        self.workspace = Workspace.open(None)
        self.addCleanup(self.workspace.close)
        self.store = self.workspace.store
        self.workspace.keyring.hold(AGENT)

    def take(self, document):
        self.assertTrue(self.store.commit(taken(self.store, document, WHO, AGENT, NOW, "seller")))

    def refused(self, said, document, mandate_ids=("mnd_first",), who=WHO):
        with self.assertRaisesRegex(NotReadyError, said):
            rest_on(self.workspace, document, who, mandate_ids, "seller")


class Documents(Folder):
    def test_a_document_is_taken_once_with_the_agent_s_key_and_its_issuer_s(self):
        document = documented()
        self.assertFalse(is_taken(self.store, document, ["mnd_first"]))
        self.take(document)
        self.assertTrue(is_taken(self.store, document, ["mnd_first"]))
        self.assertEqual(self.store.key(HEAD_OFFICE.key_id), document.issuer)
        self.assertEqual(self.store.key(AGENT.key_id).owner, WHO.agent)
        rest_on(self.workspace, document, WHO, ["mnd_first", "mnd_first"], "seller")

    def test_a_document_for_somebody_else_is_not_taken(self):
        own = Issuer("key_agents_own", scalar=21)
        for who, document, said in (
            (replace(WHO, organization_id="org_south"), documented(), "of org_south .*: agt_buyer of org_north"),
            (replace(WHO, agent_id="agt_other"), documented(), "for agent agt_other of org_north"),
            (replace(WHO, agent_key_id="key_other"), documented(), "with key key_other .see `seller key`"),
            (WHO, documented(own), "its issuer's key is the agent's own"),
        ):
            with self.subTest(said), self.assertRaisesRegex(NotReadyError, f"^mandate.document: .*{said}"):
                taken(self.store, document, who, AGENT, NOW, "seller")

    def test_a_document_that_the_state_has_no_place_for_is_not_taken(self):
        self.take(documented())
        changed = documented(valid_until="2036-01-01T00:00:00Z")
        with self.assertRaisesRegex(NotReadyError, "^mandate.document: another one is recorded as mnd_first"):
            taken(self.store, changed, WHO, AGENT, NOW, "seller")

    def test_serving_rests_on_the_very_document(self):
        document = documented()
        self.take(document)
        self.take(documented(BRANCH, "mnd_branch"))
        for name, mandate_ids in (("another", ["mnd_branch"]), ("another beside it", ["mnd_first", "mnd_branch"]),
                                  ("one that is not recorded", ["mnd_lost"]), ("none", [])):
            with self.subTest(name):
                self.assertFalse(is_taken(self.store, document, mandate_ids))
                self.refused("is not the mandate of this state folder: run `a202-mcp seller init`", document,
                             mandate_ids)
        self.refused("^mandate.issuer_jwk: another key", documented(Issuer(scalar=12), "mnd_second"))

    def test_a_folder_from_before_gets_its_issuer_s_key_when_it_is_served(self):
        document = documented()
        self.store.commit(batch(mandates=(document.document,), keys=(AGENT_BINDING,)))
        self.assertFalse(is_taken(self.store, document, ["mnd_first"]))
        self.refused("^the owner's key is not recorded yet: run `a202-mcp seller init`", document,
                     who=replace(WHO, owner_key_id=HEAD_OFFICE.key_id))
        self.assertIsNone(self.store.key(HEAD_OFFICE.key_id))
        rest_on(self.workspace, document, WHO, ["mnd_first"], "seller")
        self.assertTrue(is_taken(self.store, document, ["mnd_first"]))


class Own(Folder):
    def test_a_folder_keeps_its_organisation(self):
        for named in (None, "org_north"):
            keep_organization(WHO, named)
        with self.assertRaisesRegex(NotReadyError, "is org_south, and this state folder belongs to org_north"):
            keep_organization(WHO, "org_south")

    def test_a_key_file_signs_only_as_the_key_that_the_record_knows(self):
        with tempfile.TemporaryDirectory() as folder:
            keyfiles.make_missing(Path(folder))
            agent = replace(AGENT, key=keyfiles.load(Path(folder), keyfiles.AGENT))
            with self.assertRaises(keyfiles.KeyFileError):
                own_signer(self.store, Path(folder), WHO, keyfiles.AGENT)
            [binding] = unbound(self.store, WHO, (agent,), NOW)
            self.store.commit(batch(keys=(binding,), signers=(agent,)))
            self.assertEqual(unbound(self.store, WHO, (agent,), NOW), ())
            signer = own_signer(self.store, Path(folder), WHO, keyfiles.AGENT)
            self.assertEqual((signer.key_id, signer.key.public), (AGENT.key_id, binding.public))
            for who in (replace(WHO, agent_id="agt_other"), replace(WHO, agent_key_id="key_other")):
                with self.subTest(who), self.assertRaises(keyfiles.KeyFileError):
                    own_signer(self.store, Path(folder), who, keyfiles.AGENT)

    def test_limits_that_mean_no_mandate_are_the_owner_s_to_mend(self):
        with self.assertRaisesRegex(NotReadyError, r"^\[mandate\]: "):
            proved({"id": "mnd_first"}, AGENT)
