"""Running steps against servers, holding each answer against what the walkthrough states, and printing them."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from rich.console import Console
from rich.markup import escape


@dataclass(frozen=True, slots=True)
class Step:
    """One call, its answer, and what did not come out as stated."""

    title: str
    tool: str
    arguments: Mapping[str, Any]
    answer: Mapping[str, Any]
    faults: tuple[str, ...]


@dataclass
class Stage:
    """Where the walkthrough runs. Nothing is printed where `quiet`."""

    quiet: bool = False
    steps: list[Step] = field(default_factory=list)
    console: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=True))

    @property
    def as_stated(self) -> bool:
        """True where there was at least one step and every one came out as stated."""
        return bool(self.steps) and not any(step.faults for step in self.steps)

    def say(self, text: str, style: str = "") -> None:
        """One paragraph for the reader."""
        if not self.quiet:
            self.console.print(escape(text), style=style)

    def heading(self, text: str) -> None:
        """A part of the walkthrough."""
        self.say(f"\n{text}", "bold")

    async def call(
        self, client: Client, title: str, tool: str, arguments: Mapping[str, Any], stated: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Call a tool and hold the answer against what is stated: dotted path to expected value."""
        result = await client.call_tool(tool, dict(arguments))
        answer = result.structured_content if isinstance(result.structured_content, dict) else {}
        self._note(Step(title, tool, arguments, answer, _faults(answer, stated)), stated)
        return answer

    def check(self, title: str, answer: Mapping[str, Any], stated: Mapping[str, Any]) -> None:
        """Hold a document that no tool answered against what is stated."""
        self._note(Step(title, "", {}, answer, _faults(answer, stated)), stated)

    def lost(self, why: str) -> None:
        """The walkthrough could not go on."""
        self._note(Step("The server answers", "", {}, {}, (why,)), {})

    def transcript(self, mapping: str) -> dict[str, Any]:
        """Everything that happened, for a reader that is a program."""
        return {
            "dates": mapping,
            "as_stated": self.as_stated,
            "steps": [
                {"title": step.title, "tool": step.tool, "arguments": step.arguments, "answer": step.answer,
                 "faults": list(step.faults)}
                for step in self.steps],
        }

    def close(self) -> None:
        """The last line."""
        wrong = [step.title for step in self.steps if step.faults]
        if wrong:
            self.say(f"\n{len(wrong)} of {len(self.steps)} steps did not come out as stated: {'; '.join(wrong)}", "red")
        else:
            self.say(f"\nAll {len(self.steps)} steps came out as the walkthrough states.", "green")

    def _note(self, step: Step, stated: Mapping[str, Any]) -> None:
        self.steps.append(step)
        mark = "✓" if not step.faults else "✗"
        if self.console.encoding.lower().replace("-", "") != "utf8":
            mark = "ok" if not step.faults else "WRONG"
        name = f" [{step.tool}]" if step.tool else ""
        self.say(f"{mark} {step.title}{name}", "" if not step.faults else "red")
        shown = {path: _at(step.answer, path) for path in stated}
        self.say("    " + json.dumps(shown, ensure_ascii=False))
        if step.answer.get("outcome") == "refused":
            self.say(f"    {str(step.answer.get('detail'))[:200]}", "dim")
        for fault in step.faults:
            self.say(f"    {fault}", "red")


@asynccontextmanager
async def server(state_dir: Path | None) -> AsyncIterator[Client]:
    """A server process of our own, with a client on its standard input and output."""
    arguments = ["-P", "-m", "a202_mcp"]
    if state_dir is not None:
        arguments += ["--state-dir", str(state_dir)]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments)) as client:
        yield client


def _at(document: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(document, list) and name.isdigit() and int(name) < len(document):
            document = document[int(name)]
        elif isinstance(document, Mapping) and name in document:
            document = document[name]
        else:
            return None
    return document


def _faults(answer: Mapping[str, Any], stated: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        f"stated {path} = {json.dumps(wanted)}, found {json.dumps(_at(answer, path))}"
        for path, wanted in stated.items() if _at(answer, path) != wanted)
