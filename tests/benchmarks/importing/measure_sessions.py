"""Seconds and memory of an import of 100 MB of coding agents' sessions: at most 60 s and 1 GB.

    python -m tests.benchmarks.importing.measure_sessions [FORM …]

Each form is written as 25 sessions of 4 MB, and once more as one session of 100 MB; OpenCode's
exports, which are documents, must be smaller than 64 MiB. `tracegrade import` then runs in a
process of its own. Results of tools are half random words, so that they compress as code does.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

Row = dict[str, Any]

WHOLE: Final = 100_000_000
PART: Final = 4_000_000
DOCUMENT: Final = 50_000_000
RESULT: Final = 3_000
"""Characters of a result."""


def stamp(number: int) -> str:
    """Return the time of a turn."""
    hours, seconds = divmod(number, 3600)
    minutes, seconds = divmod(seconds, 60)
    return f"2026-09-{1 + hours // 24:02}T{hours % 24:02}:{minutes:02}:{seconds:02}.000Z"


def output(random: Random) -> str:
    """Return what a tool gave."""
    words = (f"{random.getrandbits(32):x} return value" for _ in range(RESULT // 22))
    return "\n".join(words)


def codex_turn(number: int, text: str) -> list[Row]:
    """Return a thought, a call and its result as Codex writes them."""
    usage = {"input_tokens": 900 + number, "output_tokens": 40, "total_tokens": 940 + number}
    call = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"cat a.py"}'}
    summary = [{"type": "summary_text", "text": f"Look at {number}."}]
    result = f"Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{text}"
    items: list[Row] = [
        {"type": "reasoning", "summary": summary, "encrypted_content": "A" * 800},
        {**call, "call_id": f"call_{number}"},
        {"type": "function_call_output", "call_id": f"call_{number}", "output": result},
    ]
    rows: list[Row] = [{"type": "response_item", "payload": item} for item in items]
    rows.insert(2, {"type": "token_usage_record", "payload": {"usage": usage}})
    return [{"timestamp": stamp(number), **row} for row in rows]


def claude_turn(number: int, text: str) -> list[Row]:
    """Return the same as Claude Code writes it."""
    usage = {"input_tokens": 9, "cache_read_input_tokens": 900, "output_tokens": 40}
    call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file": "a.py"}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
    thought = {"type": "thinking", "thinking": f"Look at {number}.", "signature": "A" * 800}
    model = {"id": f"m{number}", "role": "assistant", "model": "claude-x", "usage": usage}
    messages: list[Row] = [
        {**model, "content": [thought]},
        {**model, "content": [call]},
        {"role": "user", "content": [result]},
    ]
    named = {"isSidechain": False, "version": "2.1.197", "timestamp": stamp(number)}
    return [{"type": each["role"], **named, "message": each} for each in messages]


def gemini_turn(number: int, text: str) -> list[Row]:
    """Return the same as Gemini CLI writes it: first without the call, then with it."""
    response = {"id": f"c{number}", "name": "read_file", "response": {"output": text}}
    parts = [{"functionResponse": response}]
    time_ = {"timestamp": stamp(number)}
    call = {"id": f"c{number}", "name": "read_file", "args": {"path": "a.py"}, **time_}
    thought = {"subject": "Look", "description": f"At {number}."}
    tokens = {"input": 900, "output": 40, "cached": 9, "thoughts": 9, "total": 949}
    said: Row = {
        "id": f"g{number}",
        **time_,
        "type": "gemini",
        "content": "",
        "thoughts": [thought],
    }
    grown = {**said, "toolCalls": [{**call, "status": "success", "result": parts}]}
    answered = {"id": f"u{number}", **time_, "type": "user", "content": parts}
    return [{**said, "tokens": tokens}, {**grown, "tokens": tokens}, answered]


def opencode_turn(number: int, text: str) -> list[Row]:
    """Return the same as OpenCode exports it."""
    start = 1_788_256_800_000 + 1000 * number
    times = {"start": start, "end": start + 500}
    state = {"status": "completed", "input": {"path": "a.py"}, "output": text, "time": times}
    tokens = {"input": 9, "output": 40, "reasoning": 3, "cache": {"read": 900, "write": 0}}
    parts = [
        {"type": "step-start", "snapshot": "0d8a474fc67971fb3dd7616e26323d3066442555"},
        {"type": "reasoning", "text": f"Look at {number}."},
        {"type": "tool", "tool": "read", "callID": f"call_{number}", "state": state},
        {"type": "step-finish", "tokens": {**tokens, "total": 952}},
    ]
    info = {"role": "assistant", "modelID": "m", "time": {"created": start}}
    return [{"info": info, "parts": parts}]


def first_lines(form: str, session: str) -> list[Row]:
    """Return what a session begins with."""
    prompt = {"role": "user", "content": "Mend a.py."}
    words = [{"type": "input_text", "text": "Mend a.py."}]
    item = {"type": "message", "role": "user", "content": words}
    lines: dict[str, list[Row]] = {
        "codex": [
            {"type": "session_meta", "payload": {"id": session, "cli_version": "0.171.0"}},
            {"timestamp": stamp(0), "type": "response_item", "payload": item},
        ],
        "claude-code": [
            {"type": "user", "sessionId": session, "timestamp": stamp(0), "message": prompt}
        ],
        "gemini": [
            {"sessionId": session, "projectHash": "a"},
            {"id": "u", "type": "user", "timestamp": stamp(0), "content": "Mend a.py."},
        ],
        "opencode": [{"info": {"role": "user"}, "parts": [{"type": "text", "text": "Mend."}]}],
    }
    return lines[form]


TURNS: Final[dict[str, Callable[[int, str], list[Row]]]] = {
    "codex": codex_turn,
    "claude-code": claude_turn,
    "gemini": gemini_turn,
    "opencode": opencode_turn,
}


def rows(form: str, session: str, size: int) -> Iterator[str]:
    """Yield the lines of a session of about this size."""
    random = Random(session)  # noqa: S311 - no secret
    written, number = 0, 0
    for row in first_lines(form, session):
        yield json.dumps(row)
    while written < size:
        for row in TURNS[form](number, output(random)):
            line = json.dumps({**row, "sessionId": session} if form == "claude-code" else row)
            written += len(line) + 1
            yield line
        number += 1


def write(form: str, folder: Path, sizes: list[int]) -> list[Path]:
    """Write a session of each size; return the files."""
    files = []
    for number, size in enumerate(sizes):
        session, file = f"session-{len(sizes)}-{number}", folder / f"{number}.jsonl"
        with file.open("w") as target:
            if form == "opencode":
                info = json.dumps({"id": session, "version": "1.18.33", "projectID": "a"})
                messages = ",\n".join(rows(form, session, size))
                target.write(f'{{"info": {info}, "messages": [{messages}]}}')
            else:
                target.writelines(f"{row}\n" for row in rows(form, session, size))
        files.append(file)
    return files


def measure(form: str, folder: Path, sizes: list[int]) -> None:
    """Import sessions of these sizes, and print what it took."""
    files = write(form, folder, sizes)
    call = ["tracegrade", "import", *map(str, files), "--lake", str(folder / "lake")]
    start = time.monotonic()
    with (folder / "printed").open("w") as printed:
        process = subprocess.Popen(call, stdout=printed, stderr=printed)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    facts = f"{len(files):>3} files {megabytes:>6.0f} MB {seconds:>6.1f} s"
    cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    sys.stdout.write(f"{form:<12} {facts} {cpu:>6.1f} s of CPU {memory:>6.0f} MB of memory\n")
    if status:
        sys.exit((folder / "printed").read_text())


def main(forms: list[str]) -> None:
    """Measure the forms, or all of them."""
    for form in forms or TURNS:
        whole = [DOCUMENT, DOCUMENT] if form == "opencode" else [WHOLE]
        for sizes in ([PART] * (WHOLE // PART), whole):
            with tempfile.TemporaryDirectory() as folder:
                measure(form, Path(folder), sizes)


if __name__ == "__main__":
    main(sys.argv[1:])
