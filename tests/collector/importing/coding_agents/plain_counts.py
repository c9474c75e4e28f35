"""Counts of a coding agent's session file, read plainly: what a lake must hold of it.

    python tests/collector/importing/coding_agents/plain_counts.py FORMAT FILE

This knows nothing of the importers, so it finds what they lose or count twice.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]

CODEX_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
CODEX_EXIT = re.compile(r"(?:Exit code:|Process exited with code) (-?\d+)$", re.MULTILINE)
CODEX_ERRORS = ("unsupported ", "failed to parse function arguments", "aborted", "tool call error")


def rows_of(file: Path) -> Iterator[Row]:
    """Yield the lines of a file that are JSON objects."""
    for line in file.read_text(errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def codex_counts(file: Path) -> Counter[str]:
    """Return the counts of a rollout of Codex that was not forked."""
    counts: Counter[str] = Counter()
    totals = None
    for row in rows_of(file):
        item = row.get("payload") or {}
        kind = item.get("type")
        if row["type"] == "event_msg" and kind == "token_count" and item.get("info"):
            last, total = item["info"]["last_token_usage"], item["info"]["total_token_usage"]
            if total != totals:
                counts["input tokens"] += last["input_tokens"]
                counts["output tokens"] += last["output_tokens"]
            totals = total
        if row["type"] != "response_item":
            continue
        counts["calls"] += kind in CODEX_CALLS
        thinks = kind == "reasoning" and bool(item["summary"] or item.get("content"))
        speaks = kind == "message" and item["role"] == "assistant"
        counts["thoughts and texts"] += thinks or speaks
        counts["failed calls"] += str(kind).endswith("_output") and codex_failed(item)
    return +counts


def codex_failed(item: Row) -> bool:
    """Return whether an output tells an exit code that is not 0, or one of Codex's errors."""
    text = item["output"] if isinstance(item["output"], str) else json.dumps(item["output"])
    if text.startswith('{"output"'):
        return bool(json.loads(text).get("metadata", {}).get("exit_code"))
    found = CODEX_EXIT.search(text.partition("Output:\n")[0])
    return bool(found and int(found[1])) or text.startswith(CODEX_ERRORS)


COUNTS: dict[str, Callable[[Path], Counter[str]]] = {"codex": codex_counts}

IN_LAKE = {
    "calls": "SELECT count(*) FROM steps WHERE tool_name IS NOT NULL AND kind != 'observation'",
    "failed calls": "SELECT count(*) FROM raw_spans WHERE status_code = 'ERROR'",
    "thoughts and texts": "SELECT count(*) FROM steps WHERE kind IN ('thought', 'answer')",
    "input tokens": "SELECT sum(input_tokens) FROM trajectories",
    "output tokens": "SELECT sum(output_tokens) FROM trajectories",
}
"""What is counted in the relations of a lake that holds only this file."""

if __name__ == "__main__":
    for name, count in sorted(COUNTS[sys.argv[1]](Path(sys.argv[2])).items()):
        sys.stdout.write(f"{count:>10,} {name}\n")
