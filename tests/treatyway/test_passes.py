"""Identity passes: T61 to T72, T74, T81, T91. What fails is 401, says nothing of which check, and runs nothing."""

import hashlib
import hmac
import json
import time
import unittest
from dataclasses import replace

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from a202_mcp.treatyway.keylist import KeyList, read_keys
from a202_mcp.treatyway.passes import judge_pass
from tests.treatyway.shops import DOMAIN, ISSUER, KEY, KID, ShopTest, b64, claims, jwk, signed, token

NOON = 1_800_000_000
HEADER = {"alg": "ES256", "kid": KID}
OTHER = ec.derive_private_key(0x0DD, ec.SECP256R1())


class Passes(ShopTest):
    def answer(self, pass_, scheme="Bearer ", body=None):
        sent = pass_ if isinstance(pass_, bytes) else pass_.encode()
        headers = {"authorization": scheme.encode() + sent, "content-type": "application/json",
                   "accept": "application/json, text/event-stream"}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "request_quote", "arguments": {"summary": "x"}}}
        return self.http(body=body or json.dumps(call), headers=headers)

    def assert_refused(self, pass_):
        before = len(list(self.shop.store.entries("quote")))
        response = self.answer(pass_)
        self.assertEqual(response.status_code, 401, response.text)
        self.assertEqual(response.json(), {"error": "invalid_token"})
        self.assertEqual(response.headers["www-authenticate"], 'Bearer error="invalid_token"')
        self.assertEqual(len(list(self.shop.store.entries("quote"))), before)

    def assert_accepted(self, pass_):
        response = self.answer(pass_)
        self.assertEqual(response.status_code, 200, response.text)

    def test_t61_a_valid_pass(self):
        self.assert_accepted(token())
        self.assert_accepted(token(level=1))

    def test_t63_other_algorithms(self):
        public = KEY.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        for alg in ("HS256", "none", "ES384", "es256", "RS256", None, 7, ["ES256"]):
            with self.subTest(alg):
                self.assert_refused(signed({**HEADER, "alg": alg}, claims()))
        first = f"{b64(json.dumps({**HEADER, 'alg': 'HS256'}).encode())}.{b64(json.dumps(claims()).encode())}"
        for secret in (public, json.dumps(jwk()).encode()):
            self.assert_refused(f"{first}.{b64(hmac.new(secret, first.encode(), hashlib.sha256).digest())}")
        self.assert_refused(first + ".")

    def test_t64_unknown_missing_and_doubled_kid(self):
        for header in ({"alg": "ES256"}, {**HEADER, "kid": "other"}, {**HEADER, "kid": 7}, {**HEADER, "kid": None}):
            with self.subTest(header):
                self.assert_refused(signed(header, claims()))
        (self.folder / "keys.json").write_text(json.dumps({"keys": [jwk(), jwk()]}))
        self.assert_refused(token())

    def test_keys_in_the_header_are_not_followed(self):
        for more in ({"jwk": jwk(OTHER)}, {"jku": "https://evil.invalid/keys"}, {"x5c": ["AAAA"]}):
            with self.subTest(more):
                self.assert_refused(signed({**HEADER, **more}, claims(), OTHER))
                self.assert_accepted(signed({**HEADER, **more}, claims()))
        self.assert_refused(signed({**HEADER, "crit": ["exp"]}, claims()))

    def test_unfit_keys(self):
        numbers = ec.derive_private_key(5, ec.SECP384R1()).public_key().public_numbers()
        wide = {"kty": "EC", "crv": "P-384", "kid": KID, "x": b64(numbers.x.to_bytes(48, "big")),
                "y": b64(numbers.y.to_bytes(48, "big"))}
        for key in (jwk(use="enc"), jwk(alg="ES384"), jwk(kty="RSA"), jwk(crv="P-384"), wide,
                    {**jwk(), "y": jwk(OTHER)["y"]}, {**jwk(), "x": jwk()["x"] + "="}, {"kid": KID},
                    {"kid": KID, "kty": "oct", "k": b64(b"x" * 32)}):
            with self.subTest(key):
                (self.folder / "keys.json").write_text(json.dumps({"keys": [key], "pad": time.monotonic_ns()}))
                self.assert_refused(token())

    def test_t65_another_issuer(self):
        for issuer in ("https://evil.invalid", ISSUER + "/", ISSUER.upper(), None, [ISSUER]):
            with self.subTest(issuer):
                self.assert_refused(token(iss=issuer))

    def test_t66_expiry_and_leeway(self):
        now = int(time.time())
        for exp in (now - 1, now - 100, None, True, "9999999999", "soon", [now + 60], 10**400):
            with self.subTest(exp=str(exp)[:20]):
                self.assert_refused(token(exp=exp))
        endless = json.dumps(claims(exp=0)).replace('"exp": 0', '"exp": 1e999')
        self.assert_refused(signed(HEADER, endless.encode()))
        self.open(passes="leeway_seconds = 60")
        self.assert_accepted(token(exp=now - 10))
        self.assert_refused(token(exp=now - 120))

    def test_t67_not_before(self):
        now = int(time.time())
        for more in ({"nbf": now + 60}, {"iat": now + 60}, {"nbf": "x"}, {"iat": False}):
            with self.subTest(more):
                self.assert_refused(token(**more))
        self.assert_accepted(token(nbf=now - 5))

    def test_t66_t67_the_edges_to_the_second(self):
        for leeway in (0, 60):
            rules = replace(self.shop.settings.passes, leeway=leeway)
            for name, seconds, valid in (
                ("exp", -leeway, False), ("exp", 1 - leeway, True), ("nbf", leeway, True), ("nbf", leeway + 1, False),
                ("iat", leeway, True), ("iat", leeway + 1, False), ("nbf", -leeway, True), ("exp", 0.5 - leeway, True),
                ("nbf", leeway + 0.5, False)):
                with self.subTest(leeway=leeway, name=name, seconds=seconds):
                    pass_ = token(**{"iat": NOON, "exp": NOON + 600, name: NOON + seconds})
                    found = judge_pass(pass_, rules, self.shop.keys.find, float(NOON))
                    self.assertEqual(found is not None, valid)

    def test_t68_audience(self):
        for audience in ("other.example", None, [], ["other.example"], 7, DOMAIN + ".evil", [7], "metals", {}):
            with self.subTest(audience):
                self.assert_refused(token(aud=audience))
        for audience in ([DOMAIN, "x"], "https://" + DOMAIN, "https://" + DOMAIN.upper() + "/"):
            with self.subTest(audience):
                self.assert_accepted(token(aud=audience))

    def test_t69_changed_payload_or_signature(self):
        header, payload, signature = token().split(".")
        self.assert_refused(f"{header}.{b64(json.dumps(claims(sub='other')).encode())}.{signature}")
        flipped = ("A" if signature[0] != "A" else "B") + signature[1:]
        for changed in (flipped, signature[:-4], signature + "AAAA", "", b64(b"\0" * 64), signature[:-1] + "="):
            with self.subTest(changed[-6:]):
                self.assert_refused(f"{header}.{payload}.{changed}")
        self.assert_refused(token(key=OTHER))

    def test_t70_malformed_tokens(self):
        first = token().split(".")
        for bad in ("", "x", "a.b", "a.b.c", "a.b.c.d", "...", token() + ".x", "=." + ".".join(first[1:]),
                    " ".join(first), "\u00e9.b.c", token(pad="x" * 9000), "A" * 9000,
                    signed(b"[]", claims()), signed(b"{", claims()), signed(HEADER, b"[1]"), signed(HEADER, b"\xff"),
                    signed(b'{"alg":"ES256","alg":"ES256","kid":"test-1"}', claims()),
                    signed(HEADER, json.dumps(claims())[:-1].encode() + b',"sub":"agent-8"}'),
                    signed(HEADER, b"[" * 5000)):
            with self.subTest(bad[:20]):
                response = self.answer(bad.encode())
                self.assertEqual(response.status_code, 401)
        for subject in (None, "", 7, "x" * 257, "a\nb", "a\x00", "\x7f"):
            with self.subTest(subject=subject):
                self.assert_refused(token(sub=subject))
        self.assert_refused(signed(HEADER, json.dumps(claims(sub="?")).replace("?", "\\ud800").encode()))

    def test_more_than_one_header_and_other_schemes(self):
        request = [("authorization", f"Bearer {token()}"), ("authorization", f"Bearer {token()}")]
        self.assertEqual(self.http(body="{}", headers=request).status_code, 401)
        self.assertEqual(self.answer("anything", scheme="Basic ").status_code, 200)

    def test_t71_an_empty_key_list(self):
        (self.folder / "keys.json").write_text('{"keys": []}')
        self.assert_refused(token())
        self.assertIn("quote_id", self.ask("request_quote", {"summary": "x"}))

    def test_t72_levels(self):
        quote = self.quote()["quote_id"]
        arguments = {"quote_id": quote, "level": 2, "trust_level": 2}
        for level in ("2", True, 2.5, [2], {"n": 2}, 3, -1, "Owner proven", 1):
            with self.subTest(level):
                self.fails("trust_level", "place_order", arguments, token(level=level))
        self.fails("trust_level", "place_order", arguments)
        self.assertEqual(self.order(quote)["status"], "accepted")

    def test_t74_a_refusal_comes_before_the_body_and_for_every_method(self):
        for method in ("GET", "DELETE", "POST", "PUT"):
            with self.subTest(method):
                response = self.http(method, body="not json", headers={"authorization": "Bearer x"})
                self.assertEqual((response.status_code, response.json()), (401, {"error": "invalid_token"}))
        self.assertEqual(list(self.shop.store._connection.execute("SELECT * FROM shop_calls")), [])

    def test_t81_the_token_is_nowhere(self):
        pass_ = token()
        quote = self.quote(pass_, idempotency_key="k")["quote_id"]
        self.order(quote, pass_)
        self.ask("message", {"text": "x"}, pass_)
        self.answer(pass_[:-3] + "AAA")
        signature = pass_.split(".")[2].encode()
        kept = [path.read_bytes() for path in self.shop.settings.state_dir.rglob("*") if path.is_file()]
        self.assertTrue(any(b"agent-7" in data for data in kept))
        for data in [*kept, self.log.getvalue().encode()]:
            self.assertNotIn(signature, data)
            self.assertNotIn(pass_.encode(), data)

    def test_without_a_domain_no_pass_is_accepted(self):
        self.shop.settings = replace(self.shop.settings, passes=replace(self.shop.settings.passes, audience=None))
        self.assert_refused(token())


class Fetched(unittest.TestCase):
    """A key list at an address, with a clock and a network of the test's own."""

    def setUp(self):
        self.now, self.asked = 0.0, []
        self.answer = json.dumps({"keys": [jwk()]}).encode()
        self.keys = KeyList("address", 3600, clock=lambda: self.now, fetch=self.fetch)

    def fetch(self, address):
        self.asked.append((address, self.now))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def test_t62_one_fetch_for_many_calls_with_nothing_of_a_call_in_it(self):
        for _ in range(50):
            self.assertEqual(len(self.keys.find(KID)), 1)
        self.assertEqual(self.asked, [("address", 0.0)])
        self.now = 3600
        self.keys.find(KID)
        self.assertEqual(len(self.asked), 2)

    def test_t91_a_new_kid_is_fetched_once_and_unknown_ones_cause_no_storm(self):
        self.keys.find(KID)
        self.answer = json.dumps({"keys": [jwk(), jwk(OTHER, "new")]}).encode()
        self.assertEqual(len(self.keys.find("new")), 1)
        for each in range(100):
            self.assertEqual(self.keys.find(f"unknown-{each}"), ())
        self.assertEqual(len(self.asked), 2)
        self.now = 61
        self.keys.find("unknown")
        self.assertEqual(len(self.asked), 3)

    def test_a_failed_load_is_tried_again_after_ten_seconds(self):
        self.answer = OSError("down")
        for self.now in (0.0, 5.0, 9.9):
            self.assertEqual(self.keys.find(KID), ())
        self.assertEqual(len(self.asked), 1)
        self.answer, self.now = json.dumps({"keys": [jwk()]}).encode(), 10.0
        self.assertEqual(len(self.keys.find(KID)), 1)

    def test_an_old_list_is_kept_for_a_day(self):
        self.keys.find(KID)
        self.answer, self.now = ValueError("no list"), 24 * 3600.0
        self.assertEqual(len(self.keys.find(KID)), 1)
        self.now = 25 * 3600.0
        self.assertEqual(self.keys.find(KID), ())

    def test_what_is_no_key_list(self):
        for data in (b"", b"[]", b"{}", b'{"keys": {}}', b"\xff", b'{"keys": [], "keys": []}', b" " * 300_000):
            with self.subTest(data[:10]):
                self.assertIsNone(read_keys(data))
        self.assertEqual(read_keys(b'{"keys": [1, null, {}]}'), ({},))
