"""Kill servers while clients record, and hold what is on disk against what was acknowledged.

Each round starts two servers on one state directory, each with a client in the midst of its transactions, and ends both
with SIGKILL at random instants: while they open the state, between calls, within a call. Then, over the state as it
was left:

- the store opens, and nobody waits for the lock of a dead process;
- every object of every acknowledged call is there, and there are exactly as many commits as calls were acknowledged,
  but for calls in doubt, each of which is there whole or not at all;
- every record touched is linked, agrees with its seals, and verifies without a failed or an unmade check;
- a call in doubt, made again under its idempotency key, gives its first result, marked replayed, or is recorded now.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.examine import Examiner
from harness.keys import SharedKeyring
from harness.story import RECORDED, Answer, Step, Story, identifiers
from harness.wire import GoneError, Server, warm

_CLIENTS: Final = 2
_OPENING: Final = 0.03
_WORKING: Final = 0.25
_OPENING_SHARE: Final = 0.25
_PATIENCE: Final = 20.0
_AGAIN: Final = 40
_NOISE: Final = ("Traceback", "defect")


@dataclass
class Figures:
    """What a run did and found. `lost` and `faults` are sentences, and there should be none."""

    kills: int = 0
    acknowledged: int = 0
    in_doubt: int = 0
    whole: int = 0
    replayed: int = 0
    records: int = 0
    checks: int = 0
    seconds: float = 0.0
    lost: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool:
        """True where nothing acknowledged was lost and nothing else was wrong."""
        return not self.lost and not self.faults

    def lines(self) -> list[str]:
        """For a reader."""
        return [
            f"{self.kills} kills in {self.seconds:.0f} s",
            f"{self.acknowledged} acknowledged calls, {len(self.lost)} of their objects lost",
            f"{self.in_doubt} calls in doubt: {self.whole} recorded whole, the others not at all; "
            f"{self.replayed} replayed when they were made again",
            f"{self.records} records verified after a kill: {self.checks} checks verified, {len(self.faults)} faults",
            *self.lost[:20], *self.faults[:20]]


@dataclass
class Client:
    """One client, over as many servers as it takes: what it was told, and which call it waits for."""

    name: str
    server: Server | None = None
    told: list[str] = field(default_factory=list)
    transactions: list[str] = field(default_factory=list)
    acknowledged: int = 0
    replayed: int = 0
    in_doubt: Step | None = None
    refusals: list[str] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    def run(self) -> None:
        """Greet, then record until the server is gone."""
        try:
            if self.server is not None:
                self.server.greet()
            while not self.refusals:
                self.record()
        except GoneError:
            return

    def record(self) -> None:
        """Make the next call, or the one in doubt once more. Raises GoneError."""
        if self.in_doubt is None:
            self.in_doubt = self._next()
        step = self.in_doubt
        answer = self._call(step.tool, step.arguments)
        if answer.get("outcome") not in RECORDED:
            self.refusals.append(f"{self.name}: {step.tool} answered {str(answer)[:300]}")
            return
        self.in_doubt = None
        self.acknowledged += 1
        self.replayed += answer.get("replayed") is True
        self.told += [answer["mandate_id"]] if answer["outcome"] == "issued" else identifiers(answer)
        self.answers.append(answer)

    def _next(self) -> Step:
        step = Story(self.transactions[-1], self._call).step(self.answers) if self.transactions else None
        if step is None:
            self.transactions.append(f"txn_{self.name}_{len(self.transactions)}")
            self.answers = []
            return self._next()
        return step

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        if self.server is None:
            raise GoneError
        return self.server.call(tool, arguments)


def crash(kills: int, seed: int, place: Path) -> Figures:
    """Run rounds until so many servers were killed, or something was lost."""
    figures, chance, began = Figures(), random.Random(seed), time.monotonic()  # noqa: S311 (instants of kills)
    warm()
    keyring = SharedKeyring(str(seed))
    clients = [Client(f"crash_{number}") for number in range(_CLIENTS)]
    while figures.kills < kills and figures.held:
        _round(clients, keyring, place, chance, figures)
        _examine(clients, place, chance, figures)
    _settle(clients, keyring, place)
    _examine(clients, place, None, figures)
    figures.acknowledged = sum(client.acknowledged for client in clients)
    figures.replayed = sum(client.replayed for client in clients)
    figures.seconds = time.monotonic() - began
    return figures


def _round(
    clients: Sequence[Client], keyring: SharedKeyring, place: Path, chance: random.Random, figures: Figures,
) -> None:
    """A server for each client; the first is killed, the others go on without it for a while and are killed."""
    for client in clients:
        client.server = Server(place, keyring)
    threads = [threading.Thread(target=client.run, daemon=True) for client in clients]
    for thread in threads:
        thread.start()
    order = chance.sample(clients, len(clients))
    time.sleep(chance.uniform(0, _OPENING if chance.random() < _OPENING_SHARE else _WORKING))
    _kill(order[0], figures)
    for survivor in order[1:]:
        if not _goes_on(survivor):
            figures.faults.append(f"{survivor.name} was not answered after another server was killed")
        time.sleep(chance.uniform(0, _OPENING))
        _kill(survivor, figures)
    for client, thread in zip(clients, threads, strict=True):
        thread.join()
        said = client.server.end() if client.server is not None else ""
        client.server = None
        figures.in_doubt += client.in_doubt is not None
        figures.faults += [f"{client.name}: {word} on stderr: {said[-600:]}" for word in _NOISE if word in said]


def _kill(client: Client, figures: Figures) -> None:
    if client.server is not None:
        client.server.kill()
        figures.kills += 1


def _goes_on(client: Client) -> bool:
    """True once the client is told of another recorded call."""
    before, until = client.acknowledged, time.monotonic() + _PATIENCE
    while client.acknowledged == before and not client.refusals:
        if time.monotonic() > until:
            return False
        time.sleep(0.002)
    return True


def _settle(clients: Sequence[Client], keyring: SharedKeyring, place: Path) -> None:
    """Every call that is still in doubt is made again, and answered."""
    for client in clients:
        client.server = Server(place, keyring)
        client.server.greet()
        if client.in_doubt is not None:
            client.record()
        client.server.end()
        client.server = None


def _examine(clients: Sequence[Client], place: Path, chance: random.Random | None, figures: Figures) -> None:
    """The state as it was left: what was told last and some of what was told before; all of it without `chance`."""
    with Examiner(place) as examiner:
        commits, first = examiner.counts()
        acknowledged = sum(client.acknowledged for client in clients)
        doubtful = sum(client.in_doubt is not None for client in clients)
        if not acknowledged <= commits <= acknowledged + doubtful or first != commits:
            figures.faults.append(
                f"{commits} commits and {first} first results: {acknowledged} calls acknowledged, {doubtful} in doubt")
        figures.whole += commits - acknowledged
        for client in clients:
            told = client.told if chance is None else [
                *client.told[-_AGAIN:], *chance.sample(client.told, min(_AGAIN, len(client.told)))]
            figures.lost += [f"{each} was acknowledged and is gone" for each in examiner.missing(told)]
            figures.faults += client.refusals
            for transaction_id in client.transactions if chance is None else client.transactions[-2:]:
                checks, faults = examiner.verify(transaction_id)
                figures.records += checks > 0
                figures.checks += checks
                figures.faults += faults


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where nothing was lost."""
    parser = argparse.ArgumentParser("python -m harness.crash", description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        figures = crash(options.kills, options.seed, Path(folder) / "state")
    sys.stdout.write("\n".join(figures.lines()) + "\n")
    return 0 if figures.held else 1


if __name__ == "__main__":
    sys.exit(main())
