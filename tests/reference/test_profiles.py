"""Profiles: exact lookup, further directories, and a registry that refuses to load what it does not understand."""

import json
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given

from a202_reference import gate
from a202_reference.codes import Code
from a202_reference.profiles import ProfileRegistry, installed_profiles, profile_errors
from a202_reference.schema_compiler import BrokenSchemaError
from conformance.documents.formation import offer, terms
from conformance.world import at, changed, days
from tests.reference.strategies import PROPERTY, documents

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
RESERVATION = "a202-profile/cloud-capacity-reservation/0.1"
RESERVED = {
    "capacity": {"machine_class": "gpu-8x", "machines": 16, "region": "eu-north-1"},
    "window": {"starts": at(days(20)), "ends": at(days(34))},
    "availability": {"percent": "99.95", "measured_by": "third_party_probe"},
    "remedy": {"kind": "service_credit", "percent_per_hour": "4"},
}


@contextmanager
def directory(**schemas: Any) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        for name, schema in schemas.items():
            text = schema if isinstance(schema, str) else json.dumps({"$id": f"urn:test:{name}", **schema})
            (Path(folder) / f"{name.replace('_', '-').replace('-v', '-')}.schema.json").write_text(text, "utf-8")
        yield Path(folder)


class Lookup(unittest.TestCase):
    def test_the_published_profiles_are_installed(self) -> None:
        self.assertEqual(
            installed_profiles().ids, ("a202-profile/calibration-service/0.1", "a202-profile/direct-trade/0.1",
                            "a202-profile/freight-spot/0.1"))

    def test_lookup_is_exact(self) -> None:
        good = terms()["profile_terms"]
        self.assertEqual(profile_errors("a202-profile/calibration-service/0.1", good), ())
        for other in ("a202-profile/calibration-service/0.2", "a202-profile/calibration-service/0.10",
                      "a202-profile/Calibration-Service/0.1", "calibration-service/0.1",
                      "a202-profile/calibration-service/0.1\n", "", None, 1, [], {}):
            with self.subTest(other):
                self.assertIsNone(profile_errors(other, good))

    def test_terms_are_judged(self) -> None:
        good = terms()["profile_terms"]
        for path, value in (("payment.prepayment_percent", "100.1"), ("completion.business_days_after_collection", 0),
                            ("acceptance.certificate_required", 1), ("rework.included_attempts", 11)):
            with self.subTest(path):
                errors = profile_errors("a202-profile/calibration-service/0.1", changed(good, path, value))
                self.assertEqual([error.split(":")[0] for error in errors or ()], [path])

    @PROPERTY
    @given(documents)
    def test_any_terms_get_an_answer(self, value: Any) -> None:
        for profile_id in installed_profiles().ids:
            self.assertTrue(profile_errors(profile_id, value))


class FurtherDirectories(unittest.TestCase):
    """The worked example of docs/profiles.md, loaded as a configuration would."""

    def setUp(self) -> None:
        self.registry = ProfileRegistry.load([EXAMPLES])

    def test_the_example_is_registered_beside_the_installed(self) -> None:
        self.assertEqual(set(self.registry.ids), {*installed_profiles().ids, RESERVATION})
        self.assertIsNone(profile_errors(RESERVATION, RESERVED))

    def test_the_example_judges_terms(self) -> None:
        damages = {**RESERVED, "remedy": {"kind": "liquidated_damages",
                                          "amount_per_hour": {"currency": "EUR", "amount": "75.00"}}}
        for good in (RESERVED, damages):
            self.assertEqual(self.registry.errors(RESERVATION, good), ())
        for path, value in (("availability.percent", "100.01"), ("capacity.machines", 0), ("capacity.region", "EU-1"),
                            ("window.starts", "soon"), ("remedy.kind", "apology"), ("remedy", {})):
            with self.subTest(path):
                self.assertTrue(self.registry.errors(RESERVATION, changed(RESERVED, path, value)))

    def test_the_gate_takes_the_registry_it_is_given(self) -> None:
        reserved = offer(terms={**terms(unit_code="HUR"), "profile": RESERVATION, "profile_terms": RESERVED})
        broken = changed(reserved, "payload.terms.profile_terms.capacity.machines", 0)
        lookup = gate.Lookup(profiles=self.registry)
        self.assertTrue(gate.judge_object(reserved, lookup).accepted)
        self.assertEqual(gate.judge_object(broken, lookup).codes, (Code.PROFILE_TERMS_INVALID,))
        self.assertEqual(gate.judge_object(reserved).codes, (Code.PROFILE_UNKNOWN,))


class Loading(unittest.TestCase):
    """A registry that loads can judge every profile it lists."""

    def test_each_fault_stops_loading(self) -> None:
        for words, schemas in (
            ("named <name>-<major.minor>", {"nameless": {"type": "object"}}),
            ("registered already", {"freight_spot_v0.1": {"type": "object"}}),
            ("not a draft 2020-12 schema", {"tea_v0.1": {"type": "objekt"}}),
            ("is not supported", {"tea_v0.1": {"reqired": ["leaves"]}}),
            ("leads nowhere", {"tea_v0.1": {"$ref": "urn:test:pot"}}),
            ("leads nowhere", {"tea_v0.1": {"$ref": "urn:test:pot_v0.1"}, "pot_v0.1": {"type": "object"}}),
            ("leads back into itself", {"tea_v0.1": {"properties": {"cup": {"$ref": "#"}}}}),
            ("does not compile", {"tea_v0.1": {"pattern": "(?<=a)b"}}),
            ("not JSON", {"tea_v0.1": "{"}),
            ("twice", {"tea_v0.1": '{"$id": "urn:a", "$id": "urn:b"}'}),
            ("that of a kernel schema", {"tea_v0.1": {"$id": kernel_address()}}),
        ):
            with self.subTest(words), directory(**schemas) as folder:
                with self.assertRaises(BrokenSchemaError) as caught:
                    ProfileRegistry.load([folder])
                self.assertIn(words, str(caught.exception))

    def test_a_directory_that_is_not_there_stops_loading(self) -> None:
        with self.assertRaises(BrokenSchemaError):
            ProfileRegistry.load([EXAMPLES / "none"])

    def test_a_pattern_cannot_be_made_to_run_for_ages(self) -> None:
        """On a backtracking engine this text would take longer than anyone waits."""
        with directory(**{"slow_v0.1": {"pattern": "^(a+)+$"}}) as folder:
            registry = ProfileRegistry.load([folder])
            self.assertEqual(len(registry.errors("a202-profile/slow/0.1", "a" * 50_000 + "!") or ()), 1)
            self.assertEqual(registry.errors("a202-profile/slow/0.1", "a" * 50_000), ())
            self.assertEqual(len(registry.errors("a202-profile/slow/0.1", "\ud800") or ()), 1)

    def test_a_pattern_ends_at_the_very_end(self) -> None:
        with directory(**{"line_v0.1": {"pattern": "^a$"}}) as folder:
            registry = ProfileRegistry.load([folder])
            self.assertEqual(registry.errors("a202-profile/line/0.1", "a"), ())
            self.assertTrue(registry.errors("a202-profile/line/0.1", "a\n"))


def kernel_address() -> str:
    example = json.loads((EXAMPLES / "cloud-capacity-reservation-0.1.schema.json").read_text("utf-8"))
    reference: str = example["properties"]["availability"]["properties"]["percent"]["$ref"]
    return reference.split("#", maxsplit=1)[0]


if __name__ == "__main__":
    unittest.main()
