"""How a server ends by SIGINT or SIGTERM (surface 4; treatyway 10): within a second, and with nothing left behind.

Rules this module applies:

- the first signal asks for an orderly end, and forces it where that takes longer than most of a second, which a store
  that commits all or nothing survives; a second signal ends at once;
- whatever way it ends, programs that the server started end before it does.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final, NoReturn

_GRACE_SECONDS: Final = 0.7


def _nothing() -> None:
    """Nothing is left behind."""


class Ending:
    """The end of a process that serves. `status`: 128 plus the number of the signal that ends it, 0 before one came.

    end_children: ends whatever the process started. It is called from any thread, and again after it was called.
    """

    def __init__(self, end_children: Callable[[], object] = _nothing) -> None:
        self.status = 0
        self._end_children = end_children
        self._stop: Callable[[], object] = _nothing
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._received)

    def on_stop(self, stop: Callable[[], object]) -> None:
        """Call `stop` at the first signal, at once where that has come already."""
        self._stop = stop
        if self.status:
            stop()

    def leave(self) -> NoReturn:
        """End the process now, with all it started."""
        self._end_children()
        os._exit(self.status)

    def _received(self, number: int, _: FrameType | None) -> None:
        if self.status:
            self.leave()
        self.status = 128 + number
        threading.Thread(target=self._force, daemon=True).start()
        with suppress(RuntimeError):  # the loop has closed: it is ending already
            self._stop()

    def _force(self) -> None:
        time.sleep(_GRACE_SECONDS)
        self.leave()
