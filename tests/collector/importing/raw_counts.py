"""Counts in raw trajectory files by plain code, and in a lake that they were imported into.

    python -m tests.collector.importing.raw_counts atif FILE…

prints both. The plain code shares nothing with the importers.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect

KINDS: Final = (
    *("runs", "calls", "failed calls", "texts", "thoughts"),
    *("input tokens", "output tokens", "successes"),
)
_FAILURES: Final = ("error", "exception", "traceback")


def counts_in_lake(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Return the counts of all runs of a lake."""
    ((runs, sent, received, successes),) = con.sql(
        "SELECT count(*), sum(input_tokens), sum(output_tokens), "
        "count(*) FILTER (WHERE outcome = 'success') FROM trajectories"
    ).fetchall()
    (steps,) = con.sql(
        "SELECT count(*) FILTER (WHERE kind = 'tool_call'), "
        "count(*) FILTER (WHERE kind = 'tool_call' AND status = 'error'), "
        "count(*) FILTER (WHERE kind IN ('message', 'answer') AND role = 'assistant'), "
        "count(*) FILTER (WHERE kind = 'thought') FROM steps"
    ).fetchall()
    found = (runs, *steps, sent, received, successes)
    return {kind: int(count or 0) for kind, count in zip(KINDS, found, strict=True)}


def counts_in_file(kind: str, path: Path) -> dict[str, int]:
    """Return the counts of a raw file of one of the forms in `FORMS`."""
    counted = Counter[str]()
    FORMS[kind](json.loads(path.read_text()), counted)
    return {name: counted[name] for name in KINDS}


def _atif(document: dict[str, Any], counted: Counter[str]) -> None:
    counted["runs"] += 1
    for step in document["steps"]:
        if step["source"] == "agent" and not step.get("is_copied_context"):
            _atif_step(step, counted)
    for inner in document.get("subagent_trajectories") or []:
        _atif(inner, counted)


def _atif_step(step: dict[str, Any], counted: Counter[str]) -> None:
    metrics = step.get("metrics") or {}
    calls = step.get("tool_calls") or []
    fillers = [f"Executed {call['function_name']} {call['tool_call_id']}" for call in calls]
    results = (step.get("observation") or {}).get("results") or []
    counted["calls"] += len(calls)
    counted["failed calls"] += sum(_atif_failed(each) for each in results if calls)
    counted["texts"] += bool(_atif_text(step["message"])) and step["message"] not in fillers
    counted["thoughts"] += bool(step.get("reasoning_content"))
    counted["input tokens"] += metrics.get("prompt_tokens") or 0
    counted["output tokens"] += metrics.get("completion_tokens") or 0


def _atif_text(message: Any) -> str:
    parts = message if isinstance(message, list) else [{"type": "text", "text": message}]
    return "".join(part["text"] for part in parts if part["type"] == "text")


def _atif_failed(result: dict[str, Any]) -> bool:
    extra = result.get("extra") or {}
    is_flagged = bool(extra.get("is_error") or extra.get("tool_result_is_error"))
    return is_flagged or plainly_failed(result.get("content"))


def plainly_failed(text: Any) -> bool:
    """Return whether a result begins as failures do."""
    return isinstance(text, str) and text.strip().lower().startswith(_FAILURES)


FORMS: Final[Mapping[str, Callable[[Any, Counter[str]], None]]] = {"atif": _atif}
"""What counts a parsed file, by the name of its format."""


def compared(kind: str, paths: Sequence[Path]) -> Iterator[tuple[str, int, int]]:
    """Yield each kind of count: in the files, and in a lake that they were imported into."""
    raw = Counter[str]()
    for path in paths:
        raw.update(counts_in_file(kind, path))
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        import_files(lake, paths, print, reading=ReadOptions())
        build(lake)
        with connect(lake) as con:
            found = counts_in_lake(con)
    for name in KINDS:
        yield name, raw[name], found[name]


if __name__ == "__main__":
    for name, in_files, in_lake in compared(sys.argv[1], [Path(each) for each in sys.argv[2:]]):
        mark = "" if in_files == in_lake else "   differs"
        sys.stdout.write(f"{name:15}{in_files:10}{in_lake:10}{mark}\n")
