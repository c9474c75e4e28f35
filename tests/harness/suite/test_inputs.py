"""What a case's user asks comes to its agent as it is, or the suite is refused."""

from pathlib import Path

import pytest
from tests.harness.loading.build import found

from tracegrade_harness.suite.command import TO_FILL_IN
from tracegrade_harness.suite.inputs import MAX_ARGUMENT_BYTES


def with_input(command: str, case: str = "") -> str:
    """Return a suite whose agent's command is on line 4, and whose case's last key on line 9."""
    return (
        f"version: 1\nsuite: s\nagents:\n  a: {{command: {command}}}\nenvironments: {{e: {{}}}}\n"
        f"cases:\n  c:\n    agent: a\n    environment: e\n{case}"
    )


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (with_input("[run, '{user_input}']", "    user_input: 'no {task}, $x'\n"), []),
        (with_input("[run, '{user_input_file}']", '    user_input: "\\0"\n'), []),
        (
            with_input("[run, '{user_input}']"),
            [
                "7: cases.c: the command of agent 'a' names {user_input}, but the case has no "
                "user_input; give it one"
            ],
        ),
        (
            with_input("[run]", "    user_input: hello\n"),
            [
                "10: cases.c.user_input is not used: the command of agent 'a' does not name "
                "{user_input}; add it, or {user_input_file}, to the command"
            ],
        ),
        (
            with_input("[run, '{user_input}']", '    user_input: "a\\0b"\n'),
            [
                "10: cases.c.user_input has a NUL character, which no argument can have; "
                "let the command read {user_input_file} instead"
            ],
        ),
        (
            with_input("[run, '{user_input}']", f"    user_input: {'ä' * MAX_ARGUMENT_BYTES}\n"),
            [
                f"10: cases.c.user_input has {2 * MAX_ARGUMENT_BYTES} bytes, more than an "
                "argument can have; let the command read {user_input_file} instead"
            ],
        ),
        (
            with_input("[run, '{user_input}']", "    user_input: '--help me'\n"),
            [
                "10: cases.c.user_input begins with '-', as options do: agents that have some may "
                "take it for one; write '--' before {user_input} in the command, or let the "
                "command read {user_input_file} instead"
            ],
        ),
        (with_input("[run, --, '{user_input}']", "    user_input: '-1'\n"), []),
        (with_input("[run, '--ask={user_input}']", "    user_input: '-1'\n"), []),
        (with_input("[run, '{user_input_file}']", "    user_input: '-1'\n"), []),
        (
            with_input(f"['{TO_FILL_IN}', x]"),
            [
                f"4: agents.a.command is not filled in; write in place of '{TO_FILL_IN}' how "
                "agent 'a' is started"
            ],
        ),
    ],
)
def test_what_a_user_asks_has_to_come_somewhere(
    folder: Path, text: str, problems: list[str]
) -> None:
    """By an argument, if that can have it, or by a file."""
    assert found(folder, text) == problems
