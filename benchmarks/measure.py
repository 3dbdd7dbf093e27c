"""Medians, and the bare cost of the same cryptography and canonical bytes, taken from the run itself."""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from a202_reference import canonical
from a202_reference.keys import PrivateKey, PublicKey


def milliseconds(work: Callable[[], object]) -> float:
    """How long one run takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def median(work: Callable[[], object], repeats: int) -> float:
    """The median of several runs, in milliseconds."""
    gc.collect()
    return statistics.median(milliseconds(work) for _ in range(repeats))


@dataclass(frozen=True, slots=True)
class Compared:
    """Some work and what it is held against, such as its bare cost; medians in milliseconds, and over the pairs."""

    work: float
    other: float
    ratio: float
    difference: float


def compared(works: Iterable[Callable[[], object]], others: Iterable[Callable[[], object]]) -> Compared:
    """Each work with the other one right behind it, so that both meet the same load of the machine."""
    gc.collect()
    return of_pairs((milliseconds(work), milliseconds(other)) for work, other in zip(works, others, strict=False))


def of_pairs(pairs: Iterable[tuple[float, float]]) -> Compared:
    """The same of times in milliseconds that were taken in pairs."""
    return Compared(*map(statistics.median, zip(
        *((first, second, first / second, first - second) for first, second in pairs), strict=True)))


@dataclass
class Primitives:
    """Every signature, verification, canonical form and hash that some work made, to be made again alone."""

    calls: list[tuple[Callable[..., object], tuple[Any, ...]]] = field(default_factory=list)

    def replay(self) -> None:
        """The same operations, and nothing else."""
        for function, arguments in self.calls:
            function(*arguments)

    def count(self, name: str) -> int:
        """How many calls of one operation were made."""
        return sum(function.__name__ == name for function, _ in self.calls)


@contextmanager
def recording_primitives() -> Iterator[Primitives]:
    """Note the cryptography, canonical bytes and hashes of what runs inside, wherever they are called from."""
    seen = Primitives()

    def noted(function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: Any) -> object:
            seen.calls.append((function, arguments))
            return function(*arguments)
        return call

    with ExitStack() as stack:
        for owner, name in ((PrivateKey, "sign"), (PublicKey, "verifies")):
            stack.enter_context(mock.patch.object(owner, name, noted(getattr(owner, name))))
        for name in ("canonical_bytes", "sha256_hex"):
            function = getattr(canonical, name)
            for module in _importers(name, function):
                stack.enter_context(mock.patch.object(module, name, noted(function)))
        yield seen


class SignatureWork:
    """Ten ES256 signatures and their verifications, each over 800 bytes: what a machine does in a known time."""

    PAIRS = 10

    def __init__(self) -> None:
        self._key, self._data = PrivateKey.generate(), b"." * 800
        self._value = self._key.sign(self._data)

    def sign(self) -> None:
        """The ten signatures."""
        for _ in range(self.PAIRS):
            self._key.sign(self._data)

    def verify(self) -> None:
        """The ten verifications."""
        for _ in range(self.PAIRS):
            self._key.public.verifies(self._value, self._data)

    def __call__(self) -> None:
        """Both."""
        self.sign()
        self.verify()


def _importers(name: str, function: object) -> list[Any]:
    return [module for module in list(sys.modules.values())
            if getattr(module, "__name__", "").startswith("a202_") and getattr(module, name, None) is function]
