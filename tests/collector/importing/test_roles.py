"""Roles that a caller names, and those that look swapped."""

from pathlib import Path

import pytest
from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.test_chats import Row, asks, reply, user

from tracegrade.errors import BadInput
from tracegrade_collector.importing.roles import parse_roles


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("user=asistant", "did you mean 'assistant'"),
        ("user", "NAME=ROLE"),
        ("=user", "NAME=ROLE"),
        ("a=user,A=tool", "two roles, user and tool"),
    ],
)
def test_a_role_that_cannot_be_is_refused(text: str, fault: str) -> None:
    """With what there is, and what was probably meant."""
    with pytest.raises(BadInput, match=fault):
        parse_roles([text])


def test_a_role_that_no_message_has_is_told(tmp_path: Path) -> None:
    """A slip in --role must not pass in silence."""
    file = written(tmp_path, {"messages": [user("Hi."), asks(text="Hello.")]})
    outcome = imported(tmp_path, file, roles=parse_roles(["asistente=assistant"]))

    assert outcome.notes == [f"{file}: no message has role 'asistente', which --role maps"]
    assert outcome.imported.faults == 0


@pytest.mark.parametrize(
    ("messages", "sign"),
    [
        (
            [asks(text="I need help."), asks(("a", "pay")) | {"role": "user"}, reply("a", "ok")],
            "the user requests tools, the assistant never",
        ),
        (
            [user("Hi! How can I help you today?"), asks(text="I lost my card.")],
            "the user offers help, the assistant never",
        ),
        (
            [
                {"role": "system", "content": "You are a customer of an airline. …"},
                user("Hello!"),
                asks(text="I want to cancel."),
            ],
            "the assistant is instructed to play the user",
        ),
        ([user("How can I help my son?"), asks(text="How can I help you?")], None),
        ([user("Pay."), asks(("a", "pay")), reply("a", "ok")], None),
    ],
)
def test_roles_that_look_swapped_are_told(
    tmp_path: Path, messages: list[Row], sign: str | None
) -> None:
    """With what shows it, and how to turn them round; the run is imported as it stands."""
    file = written_lines(tmp_path, [{"messages": messages}, {"messages": messages}])
    outcome = imported(tmp_path, file)

    told = (
        f"{file}: roles look swapped in 2 of 2 runs: {sign}; --role user=assistant,assistant=user"
    )
    assert outcome.notes == ([f"{told} turns them round"] if sign else [])
    assert outcome.imported.faults == 0
