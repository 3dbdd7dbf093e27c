"""The public keys that passes are signed with (spec 6, "Keys"; T62, T71, T91).

Rules this module applies:

- a file is read again when its time stamp changes. An address is asked with GET, within 5 s, for at most 256 KB,
  without a redirect to another host, and with nothing of a call in it;
- a list counts for `cache_seconds`; a kid that is not in it asks again at most once a minute, the first load aside;
- a failed load is tried again after 10 s at the earliest, and leaves the list before it for at most 24 h;
- one load at a time, and nobody whose key is held waits for it; a list that is no key list is a failed load.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from a202_mcp.fetching import fetch
from a202_reference.wire import Numbers, Unreadable, read_json

_TIMEOUT: Final = 5.0
_MOST_BYTES: Final = 256 * 1024
_REDIRECTS: Final = 3
_KEPT: Final = 24 * 3600.0
_AGAIN_FOR_UNKNOWN: Final = 60.0
_AGAIN_AFTER_FAILURE: Final = 10.0
_NEVER: Final = float("-inf")


class KeyList:
    """The key list in a file or at an address. Any thread may ask."""

    def __init__(
        self, source: str | Path, cache_seconds: int, *, clock: Callable[[], float] = time.monotonic,
        fetch: Callable[[str], bytes] | None = None,
    ) -> None:
        self._source = source
        self._cache = cache_seconds
        self._clock = clock
        self._fetch = fetch or fetch_bytes
        self._loading = threading.Lock()
        self._keys: tuple[Mapping[str, Any], ...] = ()
        self._loaded = self._failed = self._asked = _NEVER
        self._stamp: tuple[int, int] | None = None

    def find(self, kid: str) -> tuple[Mapping[str, Any], ...]:
        """Every key of the list under this kid, loaded where that is due; none where there is no list."""
        self.load_for(kid)
        return self.held(kid)

    def held(self, kid: str) -> tuple[Mapping[str, Any], ...]:
        """Every key under this kid in the list as it is held. Waits for nothing."""
        return tuple(key for key in self._keys if key.get("kid") == kid)

    def is_ready(self, kid: str) -> bool:
        """True where a key under this kid is held, and nothing is due that is not under way already."""
        return bool(self.held(kid)) and (not self._is_due(kid) or self._loading.locked())

    def load_for(self, kid: str) -> None:
        """Load the list where that is due. Only whoever has no key under its kid waits for a load that is under way."""
        known = bool(self.held(kid))
        if known and not self._is_due(kid):
            return
        if not self._loading.acquire(blocking=not known):
            return
        try:
            if isinstance(self._source, Path):
                self._read_file(self._source)
            else:
                self._refresh(self._source, kid)
        finally:
            self._loading.release()

    def _is_due(self, kid: str) -> bool:
        """True where the list is to be read again now, for this kid."""
        if isinstance(self._source, Path):
            return True
        now = self._clock()
        stale = now - self._loaded >= self._cache
        unknown = not self.held(kid) and now - self._asked >= _AGAIN_FOR_UNKNOWN
        return (stale or unknown) and now - self._failed >= _AGAIN_AFTER_FAILURE

    def _read_file(self, path: Path) -> None:
        try:
            found = path.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            if stamp != self._stamp:
                keys = read_keys(path.read_bytes()[:_MOST_BYTES + 1])
                self._keys, self._stamp = keys if keys is not None else self._keys, stamp
        except OSError:
            return

    def _refresh(self, address: str, kid: str) -> None:
        if self._is_due(kid):
            now = self._clock()
            if now - self._loaded < self._cache:
                self._asked = now
            self._load(address)
        if self._clock() - self._loaded >= _KEPT + self._cache:
            self._keys = ()

    def _load(self, address: str) -> None:
        try:
            keys = read_keys(self._fetch(address))
        except (OSError, ValueError):
            keys = None
        if keys is None:
            self._failed = self._clock()
        else:
            self._keys, self._loaded, self._failed = keys, self._clock(), _NEVER


def read_keys(data: bytes) -> tuple[Mapping[str, Any], ...] | None:
    """The entries of a key list, or None where it is none."""
    if len(data) > _MOST_BYTES:
        return None
    value = read_json(data, numbers=Numbers.ANY)
    if isinstance(value, Unreadable) or not isinstance(value, dict) or not isinstance(value.get("keys"), list):
        return None
    return tuple(key for key in value["keys"] if isinstance(key, dict))


def fetch_bytes(address: str) -> bytes:
    """At most 256 KB and one byte of what is at an address, within 5 s. Raises OSError, ValueError."""
    return fetch(address, seconds=_TIMEOUT, most_bytes=_MOST_BYTES, redirects=_REDIRECTS)
