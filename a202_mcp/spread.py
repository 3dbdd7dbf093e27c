"""Checking signatures on all processors.

The procedure asks for a function over jobs, in order (evidence.index.Spread), and the result is the same whichever is
used. `in_threads` is for a record in a running server: verifying releases the interpreter, so a second thread takes
half of it. `spreading` is for a large bundle: jobs go out to processes in batches, a few batches ahead of the answers,
so that the parent goes on reading and hashing while the others verify, and memory stays flat.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Final

from a202_reference.evidence.index import Job, Spread

BATCH: Final = 512
_AHEAD: Final = 8
_WORTH: Final = 6
"""How many jobs make a thread worth waking."""


def in_threads(function: Callable[[Job], bool], jobs: Iterable[Job]) -> list[bool]:
    """A Spread over the processors' threads; every job is held at once, as one record's may be."""
    held = list(jobs)
    workers = min(os.cpu_count() or 1, len(held) // _WORTH)
    if workers < 2:
        return [function(job) for job in held]
    share = -(-len(held) // workers)
    batches = [held[at:at + share] for at in range(0, len(held), share)]
    others = [_threads().submit(_all, function, batch) for batch in batches[1:]]
    answers = _all(function, batches[0])
    for other in others:
        answers += other.result()
    return answers


@cache
def _threads() -> ThreadPoolExecutor:
    """The helping threads of this process; started at first use, idle between calls."""
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="verify")


@contextmanager
def spreading(advance: Callable[[int], None]) -> Iterator[Spread]:
    """A Spread over worker processes; `advance` is told how many jobs are done."""
    workers = max(1, os.cpu_count() or 1)
    with ProcessPoolExecutor(workers) as pool:

        def spread(function: Callable[[Job], bool], jobs: Iterable[Job]) -> Iterator[bool]:
            waiting: deque[Future[list[bool]]] = deque()
            source = iter(jobs)
            while batch := list(islice(source, BATCH)):
                waiting.append(pool.submit(_all, function, batch))
                if len(waiting) > _AHEAD:
                    yield from _done(waiting.popleft(), advance)
            while waiting:
                yield from _done(waiting.popleft(), advance)

        yield spread


def _all(function: Callable[[Job], bool], batch: list[Job]) -> list[bool]:
    return [function(job) for job in batch]


def _done(batch: Future[list[bool]], advance: Callable[[int], None]) -> list[bool]:
    answers = batch.result()
    advance(len(answers))
    return answers
