"""Rules 1.3, 1.6; D-4: public keys as JWK and PEM, canonical base64url, both suites, private keys that stay put."""

import base64
import copy
import pickle
import unittest
from datetime import UTC, datetime, timedelta

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from a202_reference.keys import KeyBinding, Owner, PrivateKey, PublicKey, decode_base64url, encode_base64url
from a202_reference.registries import Algorithm

KEY = PrivateKey.from_scalar(7)
ED_KEY = ed25519.Ed25519PrivateKey.from_private_bytes(b"\x07" * 32)
ED_JWK = {"kty": "OKP", "crv": "Ed25519", "x": encode_base64url(ED_KEY.public_key().public_bytes_raw())}
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def b64(number):
    return encode_base64url(number.to_bytes(32, "big"))


def pem(key):
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


class Base64Url(unittest.TestCase):

    def test_read(self):
        self.assertEqual(decode_base64url("AAEC", 3), b"\x00\x01\x02")
        self.assertEqual(decode_base64url("_-8", 2), b"\xff\xef")
        self.assertEqual(decode_base64url(encode_base64url(b"\x00" * 64), 64), b"\x00" * 64)

    def test_not_canonical(self):
        for name, text, length in (
            ("padded", "AA==", 1), ("unused bits set", "AB", 1), ("unused bits set at three", "AAF", 2),
            ("the other alphabet", "+/8", 2), ("a blank", "AA EC", 3), ("a line end", "AAEC\n", 3),
            ("too short", "AAEC", 4),
            ("too long", "AAEC", 2), ("an impossible length", "A", 0), ("not ASCII", "AAE\u0421", 3),
            ("no text", None, 3), ("bytes", b"AAEC", 3), ("a list", ["AAEC"], 3),
        ):
            with self.subTest(name):
                self.assertIsNone(decode_base64url(text, length))

    def test_every_32_byte_value_has_one_text(self):
        text = b64(2**256 - 1)
        variants = [text[:-1] + last for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"]
        self.assertEqual([v for v in variants if decode_base64url(v, 32) == b"\xff" * 32], [text])


class Jwk(unittest.TestCase):

    def test_both_suites_are_read_and_written_back(self):
        for jwk, algorithm in ((KEY.public.jwk, Algorithm.ES256), (ED_JWK, Algorithm.EDDSA)):
            with self.subTest(algorithm=algorithm):
                key = PublicKey.from_jwk(jwk)
                self.assertEqual(key.algorithm, algorithm)
                self.assertEqual(key.jwk, jwk)
                self.assertTrue(all(len(jwk[part]) == 43 for part in ("x", "y") if part in jwk))

    def test_refused(self):
        jwk = KEY.public.jwk
        x = int.from_bytes(decode_base64url(jwk["x"], 32), "big")
        y = int.from_bytes(decode_base64url(jwk["y"], 32), "big")
        for name, other in {
            "a private member": {**jwk, "d": b64(7)},
            "a private member of Ed25519": {**ED_JWK, "d": encode_base64url(b"\x07" * 32)},
            "a key id": {**jwk, "kid": "key_abc"},
            "an algorithm": {**jwk, "alg": "ES256"},
            "a use": {**jwk, "use": "sig"},
            "no y": {name: value for name, value in jwk.items() if name != "y"},
            "an Ed25519 key with y": {**ED_JWK, "y": jwk["y"]},
            "another curve": {**jwk, "crv": "P-384"},
            "the other type": {**jwk, "kty": "OKP"},
            "a symmetric key": {"kty": "oct", "k": "AAAA"},
            "RSA": {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
            "X25519": {**ED_JWK, "crv": "X25519"},
            "a point off the curve": {**jwk, "y": b64(y ^ 1)},
            "the point at infinity": {**jwk, "x": b64(0), "y": b64(0)},
            "x beyond the field": {**jwk, "x": b64((x + P) % 2**256)},
            "padded x": {**jwk, "x": jwk["x"] + "="},
            "x with unused bits set": {**jwk, "x": jwk["x"][:-1] + _with_unused_bit(jwk["x"][-1])},
            "x of 31 bytes": {**jwk, "x": encode_base64url(b"\x01" * 31)},
            "x that is no text": {**jwk, "x": 7},
            "x that is a list": {**jwk, "x": [jwk["x"]]},
            "a type that is a list": {**jwk, "kty": ["EC"]},
            "text": "EC",
            "nothing": None,
            "a list": [jwk],
            "an empty object": {},
        }.items():
            with self.subTest(name):
                self.assertIsNone(PublicKey.from_jwk(other))


def _with_unused_bit(last):
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return alphabet[alphabet.index(last) | 1]


class Pem(unittest.TestCase):

    def test_both_suites(self):
        p256 = ec.derive_private_key(7, ec.SECP256R1()).public_key()
        self.assertEqual(PublicKey.from_pem(pem(p256)), KEY.public)
        self.assertEqual(PublicKey.from_pem(pem(ED_KEY.public_key())), PublicKey.from_jwk(ED_JWK))

    def test_other_keys_and_other_texts(self):
        private = ec.derive_private_key(7, ec.SECP256R1()).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        p256 = ec.derive_private_key(7, ec.SECP256R1()).public_key()
        der = p256.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        for name, text in {
            "P-384": pem(ec.generate_private_key(ec.SECP384R1()).public_key()),
            "RSA": pem(rsa.generate_private_key(65537, 2048).public_key()),
            "X25519": pem(x25519.X25519PrivateKey.generate().public_key()),
            "a private key": private,
            "an unknown curve": _armoured(
                der.replace(bytes.fromhex("2a8648ce3d030107"), bytes.fromhex("2a8648ce3d030106"))),
            "an unknown kind of key": _armoured(
                der.replace(bytes.fromhex("2a8648ce3d0201"), bytes.fromhex("2a8648ce3d0209"))),
            "a point off the curve": _armoured(der[:-1] + bytes([der[-1] ^ 1])),
            "cut short": _armoured(der[:40]),
            "no PEM": b"hello",
            "nothing": b"",
        }.items():
            with self.subTest(name):
                self.assertIsNone(PublicKey.from_pem(text))


def _armoured(der):
    body = base64.b64encode(der).decode()
    return f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n".encode()


class Verifying(unittest.TestCase):
    """Raw r and s, 32 bytes each; EdDSA over the same bytes."""

    def test_es256(self):
        for sign in (KEY.sign, KEY.sign_deterministically):
            signature = sign(b"data")
            self.assertEqual(len(signature), 64)
            self.assertTrue(KEY.public.verifies(signature, b"data"))
            self.assertFalse(KEY.public.verifies(signature, b"Data"))
            self.assertFalse(PrivateKey.from_scalar(8).public.verifies(signature, b"data"))

    def test_eddsa(self):
        public, signature = PublicKey.from_jwk(ED_JWK), ED_KEY.sign(b"data")
        self.assertTrue(public.verifies(signature, b"data"))
        self.assertFalse(public.verifies(signature, b"Data"))
        self.assertFalse(public.verifies(KEY.sign(b"data"), b"data"))
        self.assertFalse(KEY.public.verifies(signature, b"data"))

    def test_values_that_are_no_signature(self):
        good = KEY.sign(b"data")
        for name, value in {
            "DER": ec.derive_private_key(7, ec.SECP256R1()).sign(b"data", _es256()),
            "empty": b"",
            "one byte short": good[:-1],
            "one byte long": good + b"\x00",
            "zero": bytes(64),
            "r zero": bytes(32) + good[32:],
            "s zero": good[:32] + bytes(32),
            "r beyond the order": N.to_bytes(32, "big") + good[32:],
            "s beyond the order": good[:32] + b"\xff" * 32,
            "r and s swapped": good[32:] + good[:32],
        }.items():
            with self.subTest(name):
                self.assertFalse(KEY.public.verifies(value, b"data"))

    def test_deterministic_signatures_come_out_the_same(self):
        self.assertEqual(KEY.sign_deterministically(b"data"), KEY.sign_deterministically(b"data"))
        self.assertNotEqual(KEY.sign_deterministically(b"data"), KEY.sign_deterministically(b"other"))


def _es256():
    from cryptography.hazmat.primitives import hashes  # noqa: PLC0415 (needed by one case only)

    return ec.ECDSA(hashes.SHA256())


class PrivateKeysStay(unittest.TestCase):

    def test_no_text_form_holds_the_scalar(self):
        key = PrivateKey.from_scalar(0xC0FFEE_C0FFEE_C0FFEE)
        for text in (repr(key), str(key), f"{key}"):
            self.assertNotIn("c0ffee", text.lower())
            self.assertNotIn(str(0xC0FFEE_C0FFEE_C0FFEE), text)

    def test_not_pickled_and_not_copied(self):
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            with self.subTest(attempt.__name__), self.assertRaises(TypeError):
                attempt(KEY)

    def test_generated_keys_differ(self):
        self.assertNotEqual(PrivateKey.generate().public, PrivateKey.generate().public)


class OwnersAndBindings(unittest.TestCase):

    def test_exactly_one_agent_or_principal(self):
        for members in ({}, {"agent_id": "agt_abc", "principal_id": "prn_abc"}):
            with self.subTest(members=members), self.assertRaises(ValueError):
                Owner("org_abc", **members)

    def test_document(self):
        self.assertEqual(
            Owner("org_abc", agent_id="agt_abc").document, {"agent_id": "agt_abc", "organization_id": "org_abc"})
        self.assertEqual(
            Owner("org_abc", principal_id="prn_abc").document,
            {"principal_id": "prn_abc", "organization_id": "org_abc"})

    def test_the_interval_is_half_open(self):
        start, end, second = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC), timedelta(seconds=1)
        binding = KeyBinding("key_abc", Owner("org_abc", agent_id="agt_abc"), KEY.public, start, end)
        for moment, covered in ((start - second, False), (start, True), (end - second, True), (end, False)):
            with self.subTest(moment=moment):
                self.assertIs(binding.covers(moment), covered)
        unending = KeyBinding("key_abc", binding.owner, KEY.public, start)
        self.assertTrue(unending.covers(datetime(9999, 1, 1, tzinfo=UTC)))
