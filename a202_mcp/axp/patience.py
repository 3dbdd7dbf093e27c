"""Waiting for the state without holding up anything else (axp 7.2, 10).

Rules this module applies:

- the connection of a running server never waits for another program: the act fails at once and is made again a little
  later, whole, from what is stored by then, while other calls are answered;
- an answer waits a few seconds for others who write, and no longer;
- what is done beside the answers waits for as long as it takes: no trouble of the file or the disk is the end of work
  that was done. A record that is not what was recorded is no passing trouble.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

from a202_mcp import logs
from a202_mcp.state_file import is_trouble, trouble
from a202_mcp.store import DamagedError

ANSWER_SECONDS: Final = 4.0
_FIRST_WAIT: Final = 0.02
_LONGEST_WAIT: Final = 2.0
_PRIMARY: Final = 0xFF

_Done = TypeVar("_Done")


async def shortly(act: Callable[[], _Done]) -> _Done:
    """What `act` returns, made again while others write. Raises what it raised last where that takes too long."""
    until = time.monotonic() + ANSWER_SECONDS
    return await _again(partial(_at_once, act), lambda error: _is_taken(error) and time.monotonic() < until)


async def patiently(act: Callable[[], _Done]) -> _Done:
    """What `act` returns, made again through any trouble that may pass; the first long wait is told."""
    return await outlasting(partial(_at_once, act))


async def outlasting(act: Callable[[], Awaitable[_Done]]) -> _Done:
    """`patiently` for an act that itself waits for something."""
    return await _again(act, _may_pass)


async def _at_once(act: Callable[[], _Done]) -> _Done:
    return act()


async def _again(act: Callable[[], Awaitable[_Done]], passes: Callable[[Exception], bool]) -> _Done:
    wait = _FIRST_WAIT
    while True:
        try:
            return await act()
        except sqlite3.Error as error:
            if not passes(error):
                raise
            if wait < _LONGEST_WAIT <= wait * 2:
                logs.say(f"the state cannot be written: {trouble(error) or type(error).__name__}; it is tried again")
        await asyncio.sleep(wait)
        wait = min(wait * 2, _LONGEST_WAIT)


def _is_taken(error: Exception) -> bool:
    """True where others were writing."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY == sqlite3.SQLITE_BUSY


def _may_pass(error: Exception) -> bool:
    return is_trouble(error) and not isinstance(error, DamagedError)
