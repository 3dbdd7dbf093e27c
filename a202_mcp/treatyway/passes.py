"""Judging an identity pass (spec 6), check by check in the order of the table. One failure is like another outside.

Rules this module applies:

- shape: three canonical base64url parts, header and payload JSON objects without duplicate members;
- alg is the text ES256 and nothing else; no `crit`; keys come from the key list alone, by a kid that is in it once;
- the key is EC, P-256, on its curve, for signing with ES256; the signature is 64 bytes over the parts as sent;
- iss, aud, exp, nbf, iat, sub as configured. A level is the integer 1 or 2, anything else counts as 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from a202_mcp.treatyway.callers import PassFacts
from a202_mcp.treatyway.settings import PassRules
from a202_reference.canonical import sha256_hex
from a202_reference.keys import SIGNATURE_BYTES, PublicKey, decode_base64url
from a202_reference.wire import Numbers, Unreadable, has_lone_surrogate, read_json

LONGEST: Final = 8192
_LONGEST_TEXT: Final = 256
_PART: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_SCHEME: Final = "https://"

Keys: TypeAlias = Callable[[str], tuple[Mapping[str, Any], ...]]
"""The keys of the list under a kid."""


def judge_pass(token: str, rules: PassRules, keys: Keys, now: float) -> PassFacts | None:
    """What the pass says, or None where any check fails. `now` in seconds since 1970."""
    parts = token.split(".")
    if len(token) > LONGEST or len(parts) != 3:
        return None
    header, payload, signature = _object(parts[0]), _object(parts[1]), decode_base64url(parts[2], SIGNATURE_BYTES)
    if header is None or payload is None or not _PART.fullmatch(parts[2]):
        return None
    key = _key(header, keys)
    if key is None or signature is None or not _signed(token, key):
        return None
    return _facts(payload, rules, now, token)


def kid_of(token: str) -> str | None:
    """The kid that a token's header names, of whatever worth the token is; None where it names none."""
    header = _object(token.partition(".")[0]) if len(token) <= LONGEST else None
    kid = None if header is None else header.get("kid")
    return kid if isinstance(kid, str) else None


def _object(part: str) -> dict[str, Any] | None:
    """A JSON object in one part, or None."""
    if not _PART.fullmatch(part):
        return None
    data = decode_base64url(part, len(part) * 3 // 4)
    value = None if data is None else read_json(data, numbers=Numbers.ANY)
    return value if isinstance(value, dict) and not isinstance(value, Unreadable) else None


def _key(header: Mapping[str, Any], keys: Keys) -> PublicKey | None:
    """The one key that the header names. What else the header says of keys is not followed."""
    kid = header.get("kid")
    if header.get("alg") != "ES256" or "crit" in header or not isinstance(kid, str):
        return None
    found = keys(kid)
    if len(found) != 1 or found[0].get("use", "sig") != "sig" or found[0].get("alg", "ES256") != "ES256":
        return None
    public = PublicKey.from_jwk({name: found[0][name] for name in ("kty", "crv", "x", "y") if name in found[0]})
    return public if public is not None and public.y is not None else None


def _signed(token: str, key: PublicKey) -> bool:
    from jwt import PyJWK, PyJWS  # noqa: PLC0415 - of the extra; the base installation starts without it
    from jwt.exceptions import PyJWTError  # noqa: PLC0415 - the same

    try:
        PyJWS(algorithms=["ES256"]).decode(token, PyJWK(key.jwk, algorithm="ES256"), algorithms=["ES256"])
    except PyJWTError:
        return False
    return True


def _facts(payload: Mapping[str, Any], rules: PassRules, now: float, token: str) -> PassFacts | None:
    claims = rules.claims
    subject = payload.get(claims["subject"])
    if payload.get("iss") != rules.issuer or not _for_us(payload.get(claims["audience"]), rules.audience):
        return None
    if not _in_time(payload, rules.leeway, now) or not _is_text(subject) or not subject:
        return None
    token_id, name = payload.get(claims["id"]), payload.get(claims["name"])
    return PassFacts(
        rules.issuer, str(subject), _level(payload.get(claims["level"])),
        token_id if _is_text(token_id) else None,
        name if isinstance(name, str) and not has_lone_surrogate(name) else None,
        sha256_hex(token.encode("ascii")))


def _for_us(audience: object, own: str | None) -> bool:
    named = audience if isinstance(audience, list) else [audience]
    return own is not None and any(isinstance(each, str) and _bare(each) == _bare(own) for each in named)


def _bare(domain: str) -> str:
    return domain.lower().removeprefix(_SCHEME).removesuffix("/")


def _in_time(payload: Mapping[str, Any], leeway: int, now: float) -> bool:
    expires = _seconds(payload.get("exp"))
    if expires is None or expires + leeway <= now:
        return False
    begins = (_seconds(payload[name]) for name in ("nbf", "iat") if name in payload)
    return all(at is not None and at <= now + leeway for at in begins)


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None


def _level(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value in (1, 2) else 0


def _is_text(value: object) -> bool:
    return (isinstance(value, str) and len(value) <= _LONGEST_TEXT and not has_lone_surrogate(value)
            and not any(ord(each) < 0x20 or 0x7F <= ord(each) < 0xA0 for each in value))
