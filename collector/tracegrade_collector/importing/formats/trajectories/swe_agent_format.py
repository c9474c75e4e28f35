"""The format `swe-agent`: SWE-agent's `.traj` files → spans (0.6 to 1.1, July 2026).

A file is a run: the thoughts of its steps, their commands as calls, what was observed. A call has
the name of the model's tool call, else of SWE-agent's own command, else `bash`. The
chosen attempt of several is the run. Tokens and cost are totals, which the last model call gets.

The submission is the answer. A run that an error of the environment or the API ended is
`invalid`; one that ended without a submission failed, by its budget if a limit ended it.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.chat import read_call, read_messages
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP, JsonObject, parse, read_records
from tracegrade_collector.importing.scores import success_verdict
from tracegrade_collector.importing.source import open_plain, source_of
from tracegrade_collector.importing.spellings import as_list, as_object, as_text
from tracegrade_collector.importing.trajectory import (
    Message,
    MessageText,
    Piece,
    RunOrigin,
    Thought,
    ToolCall,
    ToolResult,
    Trajectory,
    counts,
    left_out,
    spans_of,
    with_totals,
)
from tracegrade_collector.importing.usage import read_cost, read_usage
from tracegrade_collector.importing.verdict_rows import VerdictRecord

FORMAT: Final = "swe-agent"
BASH: Final = "bash"
NO_RUN: Final = "no trajectory of SWE-agent: it lacks 'trajectory' or 'history'"

_COMMANDS: Final = frozenset(
    {
        *("click_mouse", "close_site", "create", "double_click_mouse", "drag_mouse", "edit"),
        *("execute_script_on_page", "exit_forfeit", "filemap", "find_file", "get_console_output"),
        *("goto", "insert", "move_mouse", "navigate_back", "navigate_forward", "open"),
        *("open_site", "press_keys_on_page", "reload_page", "screenshot_site", "scroll_down"),
        *("scroll_on_page", "scroll_up", "search_dir", "search_file", "set_cursors", "submit"),
        *("set_browser_window_size", "str_replace_editor", "type_text", "view_image"),
        *("wait_time", "connect_start", "connect_sendline", "connect_exec", "debug_start"),
        *("debug_add_breakpoint", "debug_continue", "debug_step", "debug_exec", "debug_stop"),
        *("decompile", "disassemble"),
    }
)
"""Commands of SWE-agent's tools, and of EnIGMA's; all else goes to the shell."""

_INFRASTRUCTURE: Final = ("exit_environment_error", "exit_api", "exit_error")
_LIMITS: Final = (
    *("exit_cost", "exit_context", "exit_command_timeout"),
    "exit_total_execution_time",
)


class _Answer(NamedTuple):
    """An answer of the model in the history."""

    calls: list[ToolCall]
    thoughts: list[Thought]


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    chosen = _chosen(record) if isinstance(record, dict) else {}
    return isinstance(chosen.get("trajectory"), list) and isinstance(chosen.get("history"), list)


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each run of a file, and one for each invalid record."""
    with open_plain(path) as file:
        for number, record in enumerate(read_records(file)):
            location = f"{path}:{record.line}"
            if record.fault or not fits(record.value):
                yield ImportPart(location, fault=record.fault or NO_RUN)
                continue
            try:
                yield _part(path, location, number, record.value)
            except RecursionError:
                yield ImportPart(location, fault=TOO_DEEP)


def task_in_path(path: Path) -> str | None:
    """Return the task that a file is named after, if its folder is as well."""
    name = path.name.partition(".traj")[0]
    return name if name == path.parent.name else None


def verdict_on_limit(run: str, source: str) -> list[VerdictRecord]:
    """Return the verdict that a limit ended a run without success."""
    verdict = success_verdict(run, source, 0.0, label="budget")
    return [verdict] if verdict else []


def _chosen(record: JsonObject) -> JsonObject:
    """Return the attempt that counts: the chosen one, else the last."""
    attempts = as_list(record.get("attempts"))
    return record if "trajectory" in record or not attempts else as_object(attempts[-1])


def _part(path: Path, location: str, number: int, record: JsonObject) -> ImportPart:
    ignored: Counter[str] = Counter()
    attempt = _chosen(record)
    if unchosen := len(as_list(record.get("attempts"))) - 1:
        ignored["attempts that were not chosen"] = max(unchosen, 0)
    info = as_object(attempt.get("info"))
    origin = RunOrigin(FORMAT, source_of(path), str(number), number)
    trajectory = _trajectory(path, origin, attempt, ignored)
    status = str(info.get("exit_status"))
    is_limit = status in _LIMITS and not info.get("submission")
    verdicts = verdict_on_limit(origin.trajectory_id(), f"{FORMAT} exit_status") * is_limit
    return ImportPart(
        location,
        Signal.TRACES,
        spans_of(trajectory),
        verdicts=verdicts,
        understood=counts(trajectory) + Counter({"scores": len(verdicts)}),
        ignored=ignored + left_out(trajectory),
    )


def _trajectory(
    path: Path, origin: RunOrigin, attempt: JsonObject, ignored: Counter[str]
) -> Trajectory:
    info, replay = as_object(attempt.get("info")), _replayed(attempt)
    stats = as_object(info.get("model_stats"))
    usage = {
        "input_tokens": stats.get("tokens_sent"),
        "output_tokens": stats.get("tokens_received"),
    }
    cost = read_cost(stats.get("instance_cost")) or None  # 0 where it was not tracked
    system, messages = _messages(attempt, _model(replay), ignored)
    task = as_object(replay.get("problem_statement")).get("id")
    return Trajectory(
        origin,
        path.name,
        with_totals(messages, read_usage(usage) if any(usage.values()) else {}, cost),
        task=task if isinstance(task, str) and task else task_in_path(path),
        outcome=_outcome(info),
        release=as_text(info["swe_agent_version"]) if info.get("swe_agent_version") else None,
        agent=FORMAT,
        system=system,
        answer=as_text(info["submission"]) if info.get("submission") else None,
    )


def _outcome(info: JsonObject) -> str | None:
    status = info.get("exit_status")
    if status is None or info.get("submission"):
        return None
    return "invalid" if status in _INFRASTRUCTURE else "failure"


def _replayed(attempt: JsonObject) -> JsonObject:
    """Return the configuration that a run can be replayed by: an object, or its JSON."""
    found = attempt.get("replay_config")
    if isinstance(found, str):
        try:
            return as_object(parse(found.encode("utf-8", "replace")))
        except (ValueError, RecursionError):
            return {}
    return as_object(found)


def _model(replay: JsonObject) -> str | None:
    name = as_object(as_object(replay.get("agent")).get("model")).get("name")
    return name if isinstance(name, str) and name else None


def _messages(
    attempt: JsonObject, model: str | None, ignored: Counter[str]
) -> tuple[str | None, list[Message]]:
    """Return the system's text, and the messages."""
    history = [each for each in as_list(attempt.get("history")) if isinstance(each, dict)]
    roles = [each.get("role") for each in history]
    first = roles.index("assistant") if "assistant" in roles else len(roles)
    ignored["messages of demonstrations"] += sum(each.get("is_demo") is True for each in history)
    asked = [each for each in history[:first] if each.get("is_demo") is not True]
    opening = read_messages(asked, ignored)
    system = [
        piece.text
        for message in opening
        if message.role == "system"
        for piece in message.pieces
        if isinstance(piece, MessageText)
    ]
    messages = [message for message in opening if message.role == "user"]
    answers = _answers(history)
    for number, step in enumerate(as_list(attempt.get("trajectory"))):
        if isinstance(step, dict):
            messages += _step(step, number, answers, model, ignored)
        else:
            ignored["steps that are not objects"] += 1
    return "\n".join(system) or None, messages


def _answers(history: list[dict[str, Any]]) -> dict[str, deque[_Answer]]:
    """Return the model's answers by the command in them."""
    found: defaultdict[str, deque[_Answer]] = defaultdict(deque)
    for item in history:
        if item.get("role") == "assistant" and item.get("is_demo") is not True:
            calls = [each for each in as_list(item.get("tool_calls")) if isinstance(each, dict)]
            blocks = map(as_object, as_list(item.get("thinking_blocks")))
            texts = [each.get("thinking") for each in blocks]
            thoughts = [Thought(text) for text in texts if isinstance(text, str) and text]
            asked = _Answer([read_call(each) for each in calls], thoughts)
            found[str(item.get("action")).strip()].append(asked)
    return found


def _step(
    step: JsonObject,
    number: int,
    answers: dict[str, deque[_Answer]],
    model: str | None,
    ignored: Counter[str],
) -> Iterator[Message]:
    action, observation = step.get("action"), step.get("observation")
    command = action.strip() if isinstance(action, str) else ""
    queue = answers.get(command)
    asked = queue.popleft() if queue else _Answer([], [])
    thought, response = step.get("thought"), step.get("response")
    pieces: list[Piece] = list(asked.thoughts)
    if isinstance(thought, str) and thought.strip():
        pieces.append(Thought(thought))
    elif not command and isinstance(response, str) and response.strip():
        pieces.append(MessageText(response))
    calls = (asked.calls or [_shell_call(command, f"step-{number}")]) if command else []
    if pieces or calls:
        yield Message("assistant", [*pieces, *calls], model=model)
    if calls:
        text = "" if observation is None else as_text(observation)
        yield Message("tool", [ToolResult(calls[0].call_id, None, text, failed=False)])
    elif observation:
        ignored["observations without an action"] += 1


def _shell_call(command: str, call_id: str) -> ToolCall:
    """Return a command as a call: of SWE-agent's own by its name, else of the shell."""
    word = command.split(maxsplit=1)[0]
    name = word if word in _COMMANDS else BASH
    return ToolCall(call_id, name, as_text({"command": command}))
