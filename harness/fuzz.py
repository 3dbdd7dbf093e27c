"""Hostile requests over stdio against one server process, which must answer all of them and stay as it was.

The server is started as a client starts it. One walkthrough is recorded; then its calls are sent again in hostile
forms. After every batch:

- every line that is a request, and every line that cannot be read, was answered, once, under its id where it has one;
- no answer holds a traceback, a path or key material; a refusal carries registered codes and says in its first line
  what to send instead; nothing is a defect of the server;
- the state holds exactly the commits that were acknowledged: a refused call changed nothing.

At the end memory has not grown, the record verifies, and the process ends at the end of its input without a word.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from a202_mcp.bilateral.addresses import TRANSACTIONS
from a202_mcp.state_dir import VARIABLE
from a202_mcp.store import FILE_NAME
from a202_reference.codes import Code
from a202_reference.wire import Numbers, Unreadable, read_json
from harness.hostile import Hostile
from harness.story import RECORDED, Story
from harness.wire import GREETING

ROOT: Final = Path(__file__).resolve().parent.parent
_BATCH: Final = 100
_PATIENCE: Final = 60.0
_CODES: Final = frozenset(code.value for code in Code)
_LEAKS: Final = ("Traceback", "File \"", str(ROOT), "PRIVATE KEY", "\"d\":")
_DEFECT: Final = "a defect of the server"
_ALLOWED_GROWTH: Final = 12 << 20
_TRANSACTION: Final = "txn_fuzz_01"
_TABLES: Final = ("objects", "mandates", "keys", "acts", "status_results", "consumed", "idempotency", "commits")


@dataclass
class Figures:
    """What a run did and found. `faults` are sentences, and there should be none."""

    sent: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    recorded: int = 0
    memory: list[int] = field(default_factory=list)
    """Resident bytes after each tenth."""
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """For a reader."""
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.answers.items()))
        tenths = " ".join(str(each >> 20) for each in self.memory)
        return [
            f"{self.sent} lines in {self.seconds:.0f} s, {self.sent / max(self.seconds, 0.001):.0f} a second; {kinds}",
            f"{self.recorded} of them recorded something, which is there; all others changed nothing",
            f"resident memory in MiB after each tenth: {tenths}",
            f"{len(self.faults)} faults", *self.faults[:20]]


class Process:
    """The server as a client starts it; what it writes is read by a thread."""

    def __init__(self, state_dir: Path) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        self._process = subprocess.Popen(  # noqa: S603 (our own server)
            [sys.executable, "-m", "a202_mcp", "--state-dir", str(state_dir)], cwd=ROOT, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr)
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, lines: Sequence[bytes]) -> None:
        """Write lines."""
        if self._process.stdin is not None:
            self._process.stdin.write(b"".join(line + b"\n" for line in lines))
            self._process.stdin.flush()

    def reply(self, seconds: float = _PATIENCE) -> bytes | None:
        """The next line, or None where none comes."""
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            return None

    def memory(self) -> int:
        """Resident bytes; 0 where the system does not tell."""
        try:
            pages = int(Path(f"/proc/{self._process.pid}/statm").read_text("ascii").split()[1])
        except OSError:
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> tuple[int, str]:
        """End the input; the exit status, and what stood on stderr."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        status = self._process.wait(_PATIENCE)
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._stderr.seek(0)
        said = self._stderr.read().decode("utf-8", "replace")
        self._stderr.close()
        return status, said

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._answers.put(line)
        self._answers.put(None)


def fuzz(inputs: int, seed: int, place: Path) -> Figures:
    """Send so many lines, or fewer where something is wrong."""
    figures, server, began = Figures(), Process(place), time.monotonic()
    calls = _prologue(server)
    source = Hostile(seed, calls, [
        TRANSACTIONS, f"{TRANSACTIONS}/{_TRANSACTION}/record", f"{TRANSACTIONS}/{_TRANSACTION}/bundle"])
    state = sqlite3.connect(place / FILE_NAME)
    before = _state(state)
    while figures.sent < inputs and not figures.faults:
        size = min(_BATCH, inputs - figures.sent)
        recorded = figures.recorded
        _batch(server, [source.line(figures.sent + number) for number in range(size)], figures.sent, figures)
        figures.sent += size
        after = _state(state)
        if after["commits"] - before["commits"] != figures.recorded - recorded or (
                after != before and figures.recorded == recorded):
            figures.faults.append(f"inputs {figures.sent - size} to {figures.sent}: {before} became {after}, and "
                                  f"{figures.recorded - recorded} calls were acknowledged")
        before = after
        if figures.sent * 10 >= inputs * (len(figures.memory) + 1):
            figures.memory.append(server.memory())
    state.close()
    _epilogue(server, figures)
    figures.seconds = time.monotonic() - began
    return figures


def _batch(server: Process, lines: list[bytes], first: int, figures: Figures) -> None:
    """Send lines and read until all that must be answered are, and a last call that came behind them."""
    expected = [_expected(line) for line in lines]
    named: Counter[str | None] = Counter(ident for must, ident in expected if must and ident is not None)
    unnamed = sum(must and ident is None for must, ident in expected)
    barrier = f"barrier-{first}"
    server.send([*lines, json.dumps(_request(barrier, "get_transaction_record", {
        "transaction_id": _TRANSACTION})).encode()])
    while named.total() or unnamed > 0 or barrier:
        raw = server.reply()
        if raw is None:
            figures.faults.append(f"inputs from {first} on: no answer to {list(named)[:5]}, nor to {unnamed} unnamed")
            return
        reply = json.loads(raw)
        ident = _countable(reply.get("id"))
        if ident == json.dumps(barrier):
            barrier = ""
        elif named[ident]:
            named[ident] -= 1
        else:
            unnamed -= 1
        if ident != json.dumps(f"barrier-{first}"):
            _judge(raw, reply, figures, first)
    if unnamed < -sum(not must for must, _ in expected):
        figures.faults.append(f"inputs from {first} on: {-unnamed} answers that nobody asked for")


def _expected(line: bytes) -> tuple[bool, str | None]:
    """Whether a line must be answered, and under which id; None: under null, or what could be told of its id."""
    value = read_json(line, numbers=Numbers.ANY)
    if isinstance(value, Unreadable) or not isinstance(value, dict):
        return bool(line.strip()), None
    if "method" not in value or "id" not in value:
        return not ("method" in value or "id" in value), None  # a notification or a response is answered by nobody
    return True, _countable(value["id"])


def _countable(ident: Any) -> str | None:
    """An id in a form that can be counted; what is no id is answered under null."""
    return json.dumps(ident) if isinstance(ident, int | str) and not isinstance(ident, bool) else None


def _judge(raw: bytes, reply: Mapping[str, Any], figures: Figures, first: int) -> None:
    """One answer."""
    text = raw.decode("utf-8")
    faults = [f"an answer holds {leak!r}" for leak in _LEAKS if leak in text]
    if b"\r" in raw:
        faults.append("an answer holds a carriage return")
    if "error" in reply:
        kind = "protocol errors"
        if _DEFECT in reply["error"]["message"]:
            faults.append("an answer is a defect of the server")
    else:
        kind, more = _judge_result(reply.get("result", {}))
        faults += more
        figures.recorded += kind == "recorded"
    figures.answers[kind] += 1
    figures.faults += [f"inputs from {first} on: {fault}: {text[:500]}" for fault in faults]


def _judge_result(result: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Which kind of result it is, and what is wrong with it."""
    data = result.get("structuredContent")
    if data is None:
        return "other results", []
    faults = []
    lines = str(result["content"][0]["text"]).split("\n")
    if json.loads(lines[-1]) != data:
        faults.append("the text is not the structured content")
    if data.get("outcome") == "refused":
        if not result.get("isError") or not set(data["reason_codes"]) <= _CODES or not data["reason_codes"]:
            faults.append("a refusal without isError or without a registered code")
        if len(lines) < 2 or not lines[0].startswith("Refused (") or len(lines[0]) < 20:
            faults.append("a refusal whose first line says nothing")
        return "refusals", faults
    recorded = data.get("outcome") in RECORDED and not data.get("replayed")
    return "recorded" if recorded else "other results", faults


def _prologue(server: Process) -> list[tuple[str, dict[str, Any]]]:
    """Greet, record one walkthrough, and give its calls as they were made."""
    server.send([json.dumps(message).encode() for message in GREETING])
    server.reply()
    calls: list[tuple[str, dict[str, Any]]] = []

    def call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        calls.append((name, dict(arguments)))
        server.send([json.dumps(_request("prologue", name, arguments)).encode()])
        answer: dict[str, Any] = json.loads(server.reply() or b"{}")["result"]["structuredContent"]
        return answer

    story, answers = Story(_TRANSACTION, call), list[dict[str, Any]]()
    while (step := story.step(answers)) is not None:
        bare = {name: value for name, value in step.arguments.items() if name != "idempotency_key"}
        answers.append(call(step.tool, bare))
        calls.append((step.tool, dict(step.arguments)))
    record = call("get_transaction_record", {"transaction_id": _TRANSACTION, "after_sequence": 1, "limit": 2})
    parties = story.parties(answers)
    call("issue_approval", {
        "transaction_id": _TRANSACTION, "action_hash": "a" * 64, "requested_by": parties["buyer"], "approver": {
            **{name: story.mandate("buyer")["issuer"][name] for name in ("principal_id", "key_id")}, "role": "any"}})
    call("verify_evidence", {"object_ids": record["objects"][:2], "rules_version": "1.3", "checks": "not_verified"})
    call("verify_mandate", {"mandate": answers[0]["mandate"]})
    return calls


def _epilogue(server: Process, figures: Figures) -> None:
    """The record still verifies, memory is what it was, and the process ends quietly."""
    server.send([json.dumps(_request("last", "verify_evidence", {
        "transaction_id": _TRANSACTION, "rules_version": "1.3", "checks": "not_verified"})).encode()])
    while (raw := server.reply()) is not None and (reply := json.loads(raw)).get("id") != "last":
        pass
    failed = [] if raw is None else reply["result"]["structuredContent"]["results"]["failed"]
    if failed != 0:
        figures.faults.append(f"the record does not verify any more: {failed}")
    grown = figures.memory[-1] - figures.memory[len(figures.memory) // 2] if figures.memory else 0
    if grown > _ALLOWED_GROWTH:
        figures.faults.append(f"memory grew by {grown >> 20} MiB in the second half")
    status, said = server.end()
    if status != 0 or said:
        figures.faults.append(f"the process ended with {status} and said: {said[-1000:]}")


def _state(state: sqlite3.Connection) -> dict[str, int]:
    """How many rows each table has."""
    return {table: int(state.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 (our own names)
            for table in _TABLES}


def _request(ident: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where nothing was wrong."""
    parser = argparse.ArgumentParser("python -m harness.fuzz", description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        figures = fuzz(options.inputs, options.seed, Path(folder) / "state")
    sys.stdout.write("\n".join(figures.lines()) + "\n")
    return 0 if not figures.faults else 1


if __name__ == "__main__":
    sys.exit(main())
