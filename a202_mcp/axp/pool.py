"""Things under way, one at a time for each key, and a few at once at most (axp 7.2, 10).

What is stopped is left as it stands on disk: the next start takes it up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any, Generic, TypeVar

_Key = TypeVar("_Key", int, str)
_Thing = TypeVar("_Thing")


class Pool(Generic[_Key]):
    """The running ones, by key. ended: called after each."""

    def __init__(self, ended: Callable[[], None]) -> None:
        self._running: dict[_Key, asyncio.Task[None]] = {}
        self._ended = ended

    def start(
        self, waiting: Iterable[_Thing], key: Callable[[_Thing], _Key],
        run: Callable[[_Thing], Coroutine[Any, Any, None]], most: int,
    ) -> None:
        """Start what waits and does not run yet, in its order, as far as there are places."""
        for thing in waiting:
            if key(thing) in self._running:
                continue
            if len(self._running) >= most:
                return
            running = asyncio.get_running_loop().create_task(run(thing))
            self._running[key(thing)] = running
            running.add_done_callback(partial(self._done, key(thing)))

    @property
    def busy(self) -> list[asyncio.Task[None]]:
        """What is under way."""
        return list(self._running.values())

    @property
    def keys(self) -> tuple[_Key, ...]:
        """What is under way, by its keys."""
        return tuple(self._running)

    async def stop(self) -> None:
        """End everything."""
        running = self.busy
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _done(self, key: _Key, _: asyncio.Task[None]) -> None:
        self._running.pop(key, None)
        self._ended()
