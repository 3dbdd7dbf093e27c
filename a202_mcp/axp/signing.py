"""The exchange's signature on each of its calls (spec 4, rows 1 to 6; requirements A1 to A18).

Rules this module applies, in order; the first failure refuses, and one answer stands for all of them:

1  platform key and member id are known
2  each of the four headers at most once, names in any letter case
3  the token, where one is configured, in constant time
4  the member id is ours, exactly
5  the timestamp is 1 to 12 ASCII digits and within 300 s of now
6  the signature is 64 lowercase hexadecimal digits, and the HMAC over timestamp, "." and the raw body

Rows 1 to 5 and the shape of 6 are judged before the body is read.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from a202_mcp.axp.secret import Credentials, Secret

SKEW: Final = 300
_NAMES: Final = (b"x-ax-member-id", b"x-ax-timestamp", b"x-ax-signature", b"authorization")
_DIGITS: Final = re.compile(rb"[0-9]{1,12}")
_HEX: Final = re.compile(rb"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, repr=False)
class Claim:
    """A call whose headers are in order and whose body is still to come."""

    key: Secret
    timestamp: bytes
    signature: bytes

    def proves(self, body: bytes) -> bool:
        """Row 6: the signature is over exactly these bytes."""
        expected = sign(self.key, self.timestamp + b"." + body)
        return hmac.compare_digest(expected.encode("ascii"), self.signature)


def sign(key: Secret, data: bytes) -> str:
    """Lowercase hexadecimal HMAC-SHA256 under the key's UTF-8 text."""
    return hmac.new(key.value.encode("utf-8"), data, hashlib.sha256).hexdigest()


def read_claim(headers: Iterable[tuple[bytes, bytes]], credentials: Credentials, now: float) -> Claim | None:
    """Rows 1 to 5 and the shape of row 6; None where any of them fails. Total over any header bytes."""
    key, member_id = credentials.platform_key, credentials.member_id
    if key is None or not member_id:
        return None
    found: dict[bytes, list[bytes]] = {name: [] for name in _NAMES}
    for name, value in headers:
        if (lowered := name.lower()) in found:
            found[lowered].append(value)
    if any(len(values) > 1 for values in found.values()):
        return None
    member, timestamp, signature, authorization = (b"".join(found[name]) for name in _NAMES)
    if credentials.demands_token() and not _bears(authorization, credentials.auth_token):
        return None
    if member != member_id.encode("utf-8"):
        return None
    if not _DIGITS.fullmatch(timestamp) or abs(int(now) - int(timestamp)) > SKEW:
        return None
    return Claim(key, timestamp, signature) if _HEX.fullmatch(signature) else None


def _bears(authorization: bytes, token: Secret | None) -> bool:
    scheme, _, given = authorization.partition(b" ")
    if token is None or scheme.lower() != b"bearer":
        return False
    return hmac.compare_digest(given, token.value.encode("utf-8"))
