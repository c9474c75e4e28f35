"""Steps of a run → steps of an ATIF trajectory.

One model call is one step: its text, its thought, its calls, and their results as
observation. Calls that no model requested are a step with `llm_call_count` 0.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

Row = Mapping[str, Any]

_TEXTS: Final = ("message", "answer")
_CALLS: Final = ("tool_call", "handoff")
_FAILED: Final = ("error", "not_executed")
_FEW: Final = 2000
"""Year in which times begin that an import made up."""


def atif_time(time: datetime | None) -> str | None:
    """Return a time in UTC; None for one that an import made up."""
    known = time is not None and time.year > _FEW
    return f"{time.isoformat(timespec='microseconds')}Z" if known and time else None


def atif_steps(
    run: Row, rows: Sequence[Row], sub_agents: Mapping[int, Sequence[str]]
) -> list[Row]:
    """Return the numbered steps of a run.

    Args:
        run: A row of `exported_runs`.
        rows: Its rows of `exported_steps`, in order.
        sub_agents: Ids of the runs that a call started, by the step_index of the call.
    """
    writer = _Writer(sub_agents)
    if run["user_input"] is not None:
        writer.add_user(run["user_input"], run["start_time"])
    seen = {row["call_step"]: row["content"] for row in rows if row["call_step"] is not None}
    for row in rows:
        writer.add(row, seen.get(row["step_index"]))
    numbered = enumerate(map(_finished, writer.steps), start=1)
    return [{"step_id": number, **step} for number, step in numbered]


class _Writer:
    """Joins the rows of each model call."""

    def __init__(self, sub_agents: Mapping[int, Sequence[str]]) -> None:
        self.steps: list[dict[str, Any]] = []
        self._sub_agents = sub_agents
        self._request: str | None = None  # the model call of the last step

    def add_user(self, text: str, time: datetime | None) -> None:
        """Add a message of the user."""
        self._request = None
        self.steps.append({"source": "user", "timestamp": atif_time(time), "message": text})

    def add(self, row: Row, seen: str | None) -> None:
        """Add a row.

        Args:
            row: The row.
            seen: For a call, what the model was given as its result.
        """
        kind = row["kind"]
        if row["role"] == "user":
            self.add_user(row["content"] or "", row["time"])
        elif kind in _CALLS:
            self._add_call(self._step(row), row, seen)
        elif kind == "thought":
            _append(self._step(row), "reasoning_content", row["content"])
        elif kind in _TEXTS:
            _append(self._step(row), "message", row["content"])
        elif kind == "plan":
            self._step(row).setdefault("extra", {}).setdefault("plans", []).append(row["plan"])
        elif row["call_step"] is None and self.steps and row["content"] is not None:
            self._results(self.steps[-1]).append({"content": row["content"]})

    def _step(self, row: Row) -> dict[str, Any]:
        """Return the step of the row's model call, which may be new."""
        request = row["request_span_id"]
        is_new = not self.steps or request is None or request != self._request
        self._request = request
        if is_new:
            step: dict[str, Any] = {"source": "agent", "timestamp": atif_time(row["time"])}
            self.steps.append(step | {"model_name": row["model"], "message": ""})
            if request is None and row["kind"] in _CALLS:
                self.steps[-1]["llm_call_count"] = 0
        if row["input_tokens"] is not None or row["output_tokens"] is not None:
            self.steps[-1]["metrics"] = _metrics(row)
        return self.steps[-1]

    def _add_call(self, step: dict[str, Any], row: Row, seen: str | None) -> None:
        call_id = row["tool_call_id"] or f"step-{row['step_index']}"
        calls = step.setdefault("tool_calls", [])
        call = {"tool_call_id": call_id, "function_name": row["tool_name"] or ""}
        calls.append(call | {"arguments": _arguments(row["arguments"])})
        content = next((e for e in (row["result"], seen, row["error_message"]) if e), None)
        started = self._sub_agents.get(row["step_index"])
        if content is None and row["status"] not in {"ok", *_FAILED} and not started:
            return
        result: dict[str, Any] = {"source_call_id": call_id, "content": content or ""}
        if started:
            result["subagent_trajectory_ref"] = [{"trajectory_id": each} for each in started]
        if row["status"] in _FAILED:
            result["extra"] = {"is_error": True}
        self._results(step).append(result)

    @staticmethod
    def _results(step: dict[str, Any]) -> list[Any]:
        found: list[Any] = step.setdefault("observation", {"results": []})["results"]
        return found


def _append(step: dict[str, Any], key: str, text: str | None) -> None:
    step[key] = "\n".join(filter(None, (step.get(key), text)))


def _metrics(row: Row) -> dict[str, Any]:
    extra = {"reasoning_tokens": row["reasoning_tokens"]}
    return {
        "prompt_tokens": row["input_tokens"],
        "completion_tokens": row["output_tokens"],
        "cached_tokens": row["cache_read_tokens"],
        "extra": extra if row["reasoning_tokens"] is not None else None,
    }


def _arguments(text: str | None) -> dict[str, Any]:
    """Return arguments as an object, as ATIF wants them; others are its only member."""
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    return value if isinstance(value, dict) else {"arguments": value}


def _finished(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return a step without the fields that have no value."""
    found = {key: value for key, value in step.items() if value is not None}
    if "metrics" in found:
        metrics = found["metrics"].items()
        found["metrics"] = {key: value for key, value in metrics if value is not None}
    return found
