"""Checking signatures on all processors.

The procedure asks for a function over jobs, in order (evidence.index.Spread), and the result is the same whichever is
used. Jobs go out to processes in batches, a few batches ahead of the answers, so that the parent goes on reading and
hashing while the others verify, and memory stays flat. Processes, not threads: the library holds the interpreter while
it verifies, so two threads take as long as one. A record of a few dozen signatures is not worth a process.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Final

from a202_reference.evidence.index import Job, Spread

BATCH: Final = 512
_AHEAD: Final = 8


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
