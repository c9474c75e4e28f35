"""Tools with which a judge reads the steps of one trajectory and the documents of its task.

Nothing here writes, runs or fetches. Each answer is a page of a few kilobytes, quoted.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tracegrade_judges.judge_file.model import JudgeTool
from tracegrade_judges.untrusted_text import quoted
from tracegrade_judges.verdict import JudgedStep

PAGE_CHARACTERS: Final = 4_000
LISTED_STEPS: Final = 100
MAX_FOUND: Final = 20
AROUND: Final = 80
"""Characters that are shown on both sides of what a search finds."""


class RunReader:
    """The tools of one judgment."""

    def __init__(
        self, steps: Sequence[JudgedStep], documents: Mapping[str, str], nonce: str
    ) -> None:
        """Take the readable steps, and the nonce that quotes them."""
        self._steps = {step.number: step for step in steps}
        self._documents = documents
        self._nonce = nonce

    def tools(self) -> Mapping[JudgeTool, Callable[..., str]]:
        """Return the tools by name."""
        return {
            "list_steps": self.list_steps,
            "read_step": self.read_step,
            "search_steps": self.search_steps,
            "read_document": self.read_document,
        }

    def list_steps(self, from_step: int = 0) -> str:
        """List steps of the run: index, kind, tool, status and characters of its texts."""
        later = [step for step in self._steps.values() if step.number >= from_step]
        lines = [_line(step) for step in later[:LISTED_STEPS]]
        more = len(later) - len(lines)
        if more:
            lines.append(f"{more} more, from step {later[LISTED_STEPS].number}")
        return self._page("\n".join(lines) or "there are no such steps", 0)

    def read_step(self, step: int, page: int = 0) -> str:
        """Read all texts of one step: arguments, result, content, plan, error message."""
        found = self._steps.get(step)
        if found is None:
            return f"there is no step {step}; the last is {max(self._steps, default=None)}"
        return self._page(
            json.dumps({"kind": found.kind, **found.texts}, ensure_ascii=False), page
        )

    def search_steps(self, text: str) -> str:
        """Find a text in all steps, ignoring case; show each match with the text around it."""
        if not text.strip():
            return "give a text to search for"
        found = [
            f"step {step.number} {name}: {_around(content, at, len(text))}"
            for step in self._steps.values()
            for name, content in step.texts.items()
            if (at := content.lower().find(text.lower())) >= 0
        ]
        lines = found[:MAX_FOUND]
        if len(found) > MAX_FOUND:
            lines.append(f"{len(found) - MAX_FOUND} more; search for a longer text")
        return self._page("\n".join(lines) or "found nowhere", 0)

    def read_document(self, name: str, page: int = 0) -> str:
        """Read a document that the task names, such as a policy."""
        if name not in self._documents:
            return f"there is no such document; known: {', '.join(self._documents) or 'none'}"
        return self._page(self._documents[name], page)

    def _page(self, text: str, page: int) -> str:
        start = max(page, 0) * PAGE_CHARACTERS
        part = text[start : start + PAGE_CHARACTERS]
        pages = -(-len(text) // PAGE_CHARACTERS)
        heading = f"page {page} of 0 to {pages - 1}\n" if pages > 1 else ""
        return heading + quoted(part, self._nonce)


def _line(step: JudgedStep) -> str:
    sizes = " ".join(f"{name}={len(text)}" for name, text in step.texts.items())
    words = [str(step.number), step.kind, step.tool_name or "", step.status or "", sizes]
    return " ".join(word for word in words if word)


def _around(text: str, at: int, length: int) -> str:
    return text[max(0, at - AROUND) : at + length + AROUND]
