"""What was redacted is counted by rule, when it comes in and when it is scored."""

import json
from pathlib import Path

from tests.commands import tracegrade

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "login", "arguments": '{"user": "bob", "password": "hunter2"}'},
}
RUN = {
    "task_id": "login",
    "messages": [
        {"role": "user", "content": "log in, cookies: 96"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "Bearer abcdef0123456789 and 96"},
        {"role": "assistant", "content": "96 cookies"},
    ],
}
TASKS = """version: 1
tools:
  login: {parameters: {type: object}}
tasks:
  login:
    expected: [{tool: login, arguments: {user: bob, password: hunter2}}]
    success: {answer: '96'}
"""


def run(*arguments: str) -> str:
    """Return what a command says; it must end well."""
    ended = tracegrade(*arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


def test_redacted_values_are_counted_by_rule(tmp_path: Path) -> None:
    """On import and by the scorer; a score that needs one says so, and an answer stays right."""
    (tmp_path / "runs.jsonl").write_text(json.dumps(RUN) + "\n")
    (tmp_path / "tasks.yaml").write_text(TASKS)
    lake = f"--lake={tmp_path / 'lake'}"
    imported = run("import", str(tmp_path / "runs.jsonl"), lake, "--map", "task=task_id")
    scored = run(
        *("score", lake, f"--tasks={tmp_path / 'tasks.yaml'}"),
        f"--summary={tmp_path / 'summary.json'}",
    )
    summary = json.loads((tmp_path / "summary.json").read_text())

    assert "redacted: " in imported
    assert "1 bearer" in imported
    assert "redacted in the steps: 1 bearer, 1 named; " in scored
    assert summary["redacted"] == {"bearer": 1, "named": 1}
    assert summary["metrics"]["tsa"]["reasons"] == {"content_redacted": 1}
    assert summary["metrics"]["success"]["scored"] == 1
