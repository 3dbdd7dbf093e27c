"""Values on the command line, each read as what it is (treatyway 4; axp 3): what it cannot be is a usage error.

Rules this module applies:

- text is text: bytes of an argument that are no UTF-8 reach Python as lone surrogates, which nothing here could store,
  hash or print. Paths are not judged so: a file may be named by any bytes;
- a port is one that a socket takes, a host one whose name can be asked for, an address an address and no name.

Each is a `type` of argparse, which says what is wrong and ends with status 2.
"""

from __future__ import annotations

import ipaddress
from argparse import ArgumentTypeError
from typing import Final

_HIGHEST_PORT: Final = 65535


def text(given: str) -> str:
    """Text that can be written as UTF-8. Raises ArgumentTypeError."""
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        raise ArgumentTypeError("must be UTF-8 text") from None
    return given


def port(given: str) -> int:
    """A port; 0 for any free one. Raises ArgumentTypeError."""
    if not (given.isascii() and given.isdigit() and len(given) <= len(str(_HIGHEST_PORT))
            and int(given) <= _HIGHEST_PORT):
        raise ArgumentTypeError(f"must be a whole number from 0 to {_HIGHEST_PORT}")
    return int(given)


def host(given: str) -> str:
    """An address or a name to listen on. Raises ArgumentTypeError."""
    try:
        given.encode("idna")
    except UnicodeError:
        raise ArgumentTypeError("must be an address or a host name") from None
    return given


def address(given: str) -> str:
    """An IP address. Raises ArgumentTypeError."""
    try:
        return str(ipaddress.ip_address(given))
    except ValueError:
        raise ArgumentTypeError("must be an IP address, and no name") from None
