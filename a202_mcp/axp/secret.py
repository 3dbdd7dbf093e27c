"""Secrets: read from the environment or a file, masked wherever they are shown (spec 2, 9).

Rules this module applies:

- a secret is named `env:NAME` or `file:PATH`; a bare value is an error, and is not repeated in it;
- one trailing line break of a file is dropped; nothing else is trimmed or decoded;
- what registration stored in the state folder is used where the configuration names nothing, and is taken as soon
  as it is written. A secret of the environment or of a named file is taken at the start.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from a202_reference.wire import has_lone_surrogate

NAMES: Final = ("platform_key", "member_secret", "auth_token")
FOLDER: Final = "secrets"
MASK: Final = "(secret)"
_LONGEST: Final = 4096
_LINE_BREAKS: Final = ("\r\n", "\n", "\r")


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A secret text. It shows itself as set, never as what it is."""

    value: str

    def __repr__(self) -> str:
        return "Secret(set)"

    __str__ = __repr__


@dataclass(frozen=True, slots=True)
class SecretSource:
    """Where a secret comes from: kind `env` or `file`, and the name or the path."""

    kind: str
    name: str


def read_source(value: object, folder: Path) -> SecretSource | None:
    """The source that a configuration value names, or None where it names none."""
    if not isinstance(value, str):
        return None
    kind, _, name = value.partition(":")
    if kind == "env" and name.isidentifier() and name.isascii():
        return SecretSource(kind, name)
    return SecretSource(kind, str(folder / name)) if kind == "file" and name and "\0" not in name else None


def fetch(source: SecretSource) -> Secret | None:
    """The secret, or None where it is missing, empty or no text."""
    text = os.environ.get(source.name) if source.kind == "env" else read_file(Path(source.name))
    return Secret(text) if text and not has_lone_surrogate(text) else None


def read_file(path: Path) -> str | None:
    """A secret's file without its trailing line break, or None where it cannot be read."""
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    ending = next((each for each in _LINE_BREAKS if text.endswith(each)), "")
    return text.removesuffix(ending)


def readable_by_others(source: SecretSource) -> bool:
    """True where a file secret may be read by other users."""
    try:
        return source.kind == "file" and bool(Path(source.name).stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
    except OSError:
        return False


def is_secret(text: object) -> bool:
    """True for a text that can be a secret: one line that UTF-8 can write, as a file and a header need it."""
    return isinstance(text, str) and 1 <= len(text) <= _LONGEST and text.isprintable()


class Credentials:
    """Who we are to the exchange. Stored parts are read again when registration has replaced them."""

    def __init__(
        self, state_dir: Path | None, member_id: str | None, sources: Mapping[str, SecretSource],
    ) -> None:
        self._folder = None if state_dir is None else state_dir / FOLDER
        self._member_id = member_id
        self._named = {name: fetch(source) for name, source in sources.items()}
        self._stored: dict[str, tuple[tuple[int, int], str]] = {}

    def __repr__(self) -> str:
        return "Credentials(masked)"

    @property
    def member_id(self) -> str | None:
        """Our member id, configured or stored."""
        return self._member_id or self._kept("member_id")

    @property
    def platform_key(self) -> Secret | None:
        """The key of the exchange's signatures."""
        return self._secret("platform_key")

    @property
    def member_secret(self) -> Secret | None:
        """What our own calls carry."""
        return self._secret("member_secret")

    @property
    def auth_token(self) -> Secret | None:
        """What the exchange's calls must carry besides; None where nothing is demanded."""
        return self._secret("auth_token")

    @property
    def configured_id(self) -> str | None:
        """The member id that the configuration names."""
        return self._member_id

    def masked(self, text: str) -> str:
        """A text of somebody else's without any of our secrets in it."""
        for secret in (self.platform_key, self.member_secret, self.auth_token):
            if secret is not None:
                text = text.replace(secret.value, MASK)
        return text

    def demands_token(self) -> bool:
        """True where a token is configured, also where it could not be read: then every call fails."""
        return "auth_token" in self._named

    def _secret(self, name: str) -> Secret | None:
        if name in self._named:
            return self._named[name]
        kept = self._kept(name) if name != "auth_token" else None
        return Secret(kept) if kept else None

    def _kept(self, name: str) -> str | None:
        if self._folder is None:
            return None
        path = self._folder / name
        try:
            facts = path.stat()
        except OSError:
            return None
        mark = (facts.st_mtime_ns, facts.st_ino)
        known = self._stored.get(name)
        if known is None or known[0] != mark:
            known = (mark, read_file(path) or "")
            self._stored[name] = known
        return known[1] or None
