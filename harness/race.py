"""Several processes on one state directory, contending for the same transactions, approvals and key identifiers.

The processes open one new directory at the same instant, and go through every round together:

- keys of their own: all name the same new key identifiers at once. One makes them; nobody else can sign under them, and
  says so;
- keys in common, so that the race is about the record: all form an agreement on one transaction at once, and one does;
  then all issue, assert and accept obligations of their own on its one record, and all of these are recorded;
- one approval: all redeem it for the same act at once, and one does;
- one idempotency key: all make the same call at once. One records it, and all get that result.

A call whose race was lost twice is refused A202-SEQUENCE-CONFLICT and made again, as a client would. At the end every
acknowledged object is there, there are as many commits as acknowledged calls, no key identifier has two public keys,
and every record is one chain, agrees with its seals, and verifies without a failed or an unmade check.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, Final

from a202_mcp.bilateral.arguments import read_arguments
from a202_mcp.bilateral.tools import TOOLS
from a202_mcp.keyring import Keyring
from a202_mcp.store import FILE_NAME, Batch, SqliteStore
from a202_mcp.workspace import Workspace
from a202_reference.codes import Refusal
from harness.examine import Examiner
from harness.keys import SharedKeyring
from harness.story import RECORDED, Answer, Story, identifiers
from harness.wire import warm

_TOOL: Final = {tool.name: tool for tool in TOOLS}
_CONFLICT: Final = "A202-SEQUENCE-CONFLICT"
_UNHELD: Final = "does not hold the private key of key_race"
_SEED: Final = "race"
_APPROVED: Final = "txn_race_approved"
_ROLE: Final = "procurement_director"
_RULE: Final = {
    "id": "a_every_obligation", "when": {"path": "$.agreement_id", "operator": "present", "value": True},
    "approver": {"organization_id": "org_northstar", "role": _ROLE}, "expires_after_seconds": 86400}
_ONE_WINS: Final = frozenset({"keys", "agreement", "redemption", "retry"})
_AGAIN: Final = 200
_PER_ROUND: Final = 3
"""Obligation acts of each process in a round."""


@dataclass
class Figures:
    """What a run did and found. `faults` are sentences, and there should be none."""

    processes: int
    appends: int = 0
    lost_races: int = 0
    conflicts: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    checks: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """For a reader."""
        others = ", ".join(f"{count} {code}" for code, count in sorted(self.refused.items()))
        return [
            f"{self.processes} processes, {self.appends} appends in {self.seconds:.1f} s",
            f"{self.lost_races} races lost; {self.conflicts} calls lost two, were refused and made again",
            f"others refused: {others or 'none'}",
            f"{self.checks} checks verified, {len(self.faults)} faults", *self.faults[:20]]


class Counting(SqliteStore):
    """Counts the commits that found the state moved."""

    lost = 0

    def commit(self, batch: Batch) -> bool:
        """See Store."""
        written = super().commit(batch)
        self.lost += not written
        return written


@dataclass
class Racer:
    """One process: its workspace, and what it was told."""

    number: int
    workspace: Workspace
    told: list[tuple[str, str, Answer]] = field(default_factory=list)
    """What was raced for, the outcome or the refusal's first code, and the answer."""
    conflicts: int = 0

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """As the server calls a tool."""
        read = read_arguments(_TOOL[tool].input_schema, json.loads(json.dumps(arguments)))
        answer = read if isinstance(read, Refusal) else _TOOL[tool].answer(self.workspace, read)
        if isinstance(answer, Refusal):
            codes = [code.value for code in answer.codes]
            return {"outcome": "refused", "reason_codes": codes, "detail": answer.detail}
        return answer

    def record(self, prize: str, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """A recording call, made again where its race was lost twice."""
        for _ in range(_AGAIN):
            answer = self.call(tool, arguments)
            if answer.get("reason_codes") != [_CONFLICT]:
                break
            self.conflicts += 1
        outcome = answer["outcome"] if answer["outcome"] in RECORDED else answer["reason_codes"][0]
        self.told.append((prize, outcome, answer))
        return answer

    def agreement(self, transaction_id: str) -> str:
        """The agreement of a record."""
        objects = self.call("get_transaction_record", {"transaction_id": transaction_id})["objects"]
        return next(str(each) for each in objects if each.startswith("agr_"))


def race(processes: int, rounds: int, place: Path) -> Figures:
    """Let so many processes contend in so many rounds."""
    warm()
    figures, began = Figures(processes), time.monotonic()
    context = multiprocessing.get_context("fork")
    barrier, told = context.Barrier(processes), context.SimpleQueue()
    running = [context.Process(target=_race, args=(number, rounds, place, barrier, told.put))
               for number in range(processes)]
    for process in running:
        process.start()
    results = [told.get() for _ in running]
    for process in running:
        process.join()
    figures.seconds = time.monotonic() - began
    figures.faults += [f"a process ended: {result}" for result in results if isinstance(result, str)]
    if not figures.faults:
        _judge(results, rounds, place, figures)
    return figures


def appends_of(processes: int) -> int:
    """How many calls are recorded in a round."""
    return 1 + 1 + _PER_ROUND * processes + 2 + 1


def _race(number: int, rounds: int, place: Path, barrier: Barrier, tell: Callable[[Any], None]) -> None:
    try:
        barrier.wait()
        store = Counting.open(place)
        own = Racer(number, Workspace(store, keyring=Keyring()))
        shared = Racer(number, Workspace(store, keyring=SharedKeyring(_SEED)))
        _all_rounds(own, shared, rounds, barrier)
        tell((own.told + shared.told, store.lost, own.conflicts + shared.conflicts))
    except BaseException as error:
        barrier.abort()
        tell(f"{type(error).__name__}: {error}")
        raise


def _all_rounds(own: Racer, shared: Racer, rounds: int, barrier: Barrier) -> None:
    names = [f"txn_race_{number}" for number in range(rounds)]
    if own.number == 0:  # not a race: what the others build on
        for role in ("buyer", "supplier"):
            arguments = Story(_APPROVED, shared.call).mandate(role)
            scope = {**arguments["scope"], "transaction_ids": names}
            shared.record("mandate", "issue_mandate", {
                **arguments, "scope": scope, "mandate_id": f"mnd_race_{role}"})
            rules = {"approval_rules": [_RULE]} if role == "buyer" else {}
            shared.record("mandate", "issue_mandate", {**arguments, **rules, "mandate_id": f"mnd_approved_{role}"})
        story, parties = Story(_APPROVED, shared.call), _parties("approved")
        shared.record("approved", "create_agreement", story.formation(parties))
    barrier.wait()
    for number, name in enumerate(names):
        _keys(own, number, barrier)
        _record(shared, name, barrier)
        _approval(shared, number, barrier)
        _retry(shared, number, barrier)


def _parties(kind: str) -> dict[str, Answer]:
    return Story(_APPROVED, lambda _, __: {}).parties([
        {"mandate_id": f"mnd_{kind}_{role}"} for role in ("buyer", "supplier")])


def _keys(racer: Racer, number: int, barrier: Barrier) -> None:
    """All name the same new keys at once."""
    arguments = Story(_APPROVED, racer.call).mandate("buyer")
    issuer = {"principal_id": f"prn_race_{number}", "key_id": f"key_race_issuer_{number}"}
    arguments["issuer"] = {**arguments["issuer"], **issuer}
    arguments["subject"] = {"agent_id": f"agt_race_{number}", "key_id": f"key_race_agent_{number}"}
    barrier.wait()
    racer.record(f"keys {number}", "issue_mandate", arguments)


def _record(racer: Racer, transaction_id: str, barrier: Barrier) -> None:
    """All form the agreement; then all exchange an obligation of their own on the one record."""
    story, parties = Story(transaction_id, racer.call), _parties("race")
    formation = story.formation(parties)
    barrier.wait()
    racer.record(f"agreement {transaction_id}", "create_agreement", formation)
    barrier.wait()
    issuance = story.issuance(parties, racer.agreement(transaction_id))
    barrier.wait()
    issued = racer.record(transaction_id, "record_obligation", issuance)
    asserted = racer.record(transaction_id, "record_obligation", story.assertion(parties, issued["obligation"]))
    racer.record(transaction_id, "record_obligation", story.acceptance(parties, asserted["assertion"]))


def _approval(racer: Racer, number: int, barrier: Barrier) -> None:
    """All redeem one approval for the same act."""
    story, parties = Story(_APPROVED, racer.call), _parties("approved")
    agreement_id = racer.agreement(_APPROVED)
    held = story.issuance(parties, agreement_id)["decision"]
    if racer.number == 0:
        issuer = story.mandate("buyer")["issuer"]
        racer.record("approval", "issue_approval", {
            "transaction_id": _APPROVED, "action_hash": held["action_hash"], "requested_by": parties["buyer"],
            "approver": {"principal_id": issuer["principal_id"], "key_id": issuer["key_id"], "role": _ROLE}})
    barrier.wait()
    objects = racer.call("get_transaction_record", {"transaction_id": _APPROVED})["objects"]
    approval_id = [each for each in objects if each.startswith("apr_")][-1]
    issuance = story.issuance(parties, agreement_id, approval_id=approval_id)
    barrier.wait()
    racer.record(f"redemption {number}", "record_obligation", issuance)
    barrier.wait()


def _retry(racer: Racer, number: int, barrier: Barrier) -> None:
    """All make one call under one idempotency key."""
    arguments = Story(_APPROVED, racer.call).mandate("buyer", idempotency_key=f"race retry {number}")
    barrier.wait()
    racer.record(f"retry {number}", "issue_mandate", arguments)


def _judge(results: Sequence[Any], rounds: int, place: Path, figures: Figures) -> None:
    """What all were told, against what is there."""
    told = [each for result in results for each in result[0]]
    figures.lost_races = sum(result[1] for result in results)
    figures.conflicts = sum(result[2] for result in results)
    figures.appends = sum(_wins(outcome, answer) for _, outcome, answer in told)
    figures.refused = Counter(outcome for _, outcome, _ in told if outcome not in RECORDED)
    for prize in {prize for prize, _, _ in told if prize.split()[0] in _ONE_WINS}:
        winners = sum(_wins(outcome, answer) for name, outcome, answer in told if name == prize)
        if winners != 1:
            figures.faults.append(f"{prize}: {winners} processes won")
    for number in range(rounds):
        results_of_retry = {json.dumps({**answer, "replayed": None}) for name, _, answer in told
                            if name == f"retry {number}"}
        if len(results_of_retry) != 1:
            figures.faults.append(f"retry {number}: {len(results_of_retry)} results under one idempotency key")
    figures.faults += _unexpected(told)
    with Examiner(place) as examiner:
        commits, _ = examiner.counts()
        if commits != figures.appends:
            figures.faults.append(f"{commits} commits for {figures.appends} acknowledged calls")
        names = [each for _, _, answer in told for each in (
            [answer["mandate_id"]] if answer["outcome"] == "issued" else identifiers(answer))]
        figures.faults += [f"{each} was acknowledged and is gone" for each in examiner.missing(names)]
        for transaction_id in (_APPROVED, *(f"txn_race_{number}" for number in range(rounds))):
            checks, faults = examiner.verify(transaction_id)
            figures.checks += checks
            figures.faults += faults
    figures.faults += _keys_held_twice(place)


def _wins(outcome: str, answer: Answer) -> bool:
    """True where this call recorded something."""
    return outcome in RECORDED and not answer.get("replayed")


def _unexpected(told: Sequence[tuple[str, str, Answer]]) -> list[str]:
    """Refusals other than those that losing has."""
    expected = {"keys": "A202-POLICY-DENIED", "agreement": "A202-STATE-TRANSITION-DENIED",
                "redemption": "A202-APPROVAL-REQUIRED"}
    faults = []
    for prize, outcome, answer in told:
        kind = prize.split()[0]
        if outcome not in RECORDED and outcome != expected.get(kind):
            faults.append(f"{prize}: {outcome}, {answer['detail'][:200]}")
        elif kind == "keys" and outcome not in RECORDED and _UNHELD not in answer["detail"]:
            faults.append(f"{prize}: the refusal does not say who can sign: {answer['detail'][:200]}")
    return faults


def _keys_held_twice(place: Path) -> list[str]:
    connection = sqlite3.connect(place / FILE_NAME)
    rows = connection.execute("SELECT key_id FROM keys GROUP BY key_id HAVING count(*) > 1").fetchall()
    connection.close()
    return [f"{key_id} has two public keys" for (key_id,) in rows]


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where nothing was lost and nothing forked."""
    parser = argparse.ArgumentParser("python -m harness.race", description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--processes", type=int, nargs="*", default=[2, 4, 8])
    parser.add_argument("--appends", type=int, default=1000, help="at least so many for each number of processes")
    options = parser.parse_args(arguments)
    held = True
    for processes in options.processes:
        rounds = -(-options.appends // appends_of(processes))
        with tempfile.TemporaryDirectory() as folder:
            figures = race(processes, rounds, Path(folder) / "state")
        sys.stdout.write("\n".join(figures.lines()) + "\n")
        held = held and not figures.faults
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
