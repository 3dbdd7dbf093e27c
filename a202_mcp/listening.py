"""The socket that a server listens on (treatyway 4; axp 3): one that cannot be had stops the start."""

from __future__ import annotations

import os
import socket
from typing import Final

_WAITING: Final = 256


def listen(host: str, port: int) -> socket.socket:
    """A socket that says it is TCP: the event loop sends at once only where that is said. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_WAITING)
    except OSError:
        listening.close()
        raise
    return listening
