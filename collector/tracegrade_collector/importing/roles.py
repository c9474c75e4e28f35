"""`--role NAME=ROLE,…`: roles of a chat's messages, if a log has names of its own.

A log may also have swapped roles, if the side that played the user recorded it. Messages cannot
prove this, but the user alone may have content that only models produce.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import re2

from tracegrade.errors import BadInput
from tracegrade.suggestions import did_you_mean
from tracegrade_collector.importing.chat import ROLES
from tracegrade_collector.importing.trajectory import Message, MessageText, Thought, ToolCall

KINDS: Final = ("assistant", "user", "system", "tool")

_OFFERS_HELP: Final = re2.compile(r"(?i)\bhow (?:can|may|could) (?:i|we) (?:help|assist) you\b")
_PLAYS_USER: Final = re2.compile(
    r"(?i)\b(?:you are|you're|act as|play) (?:a|the) (?:user|customer|client)\b"
)


def parse_roles(texts: Iterable[str]) -> dict[str, str]:
    """Return the role of each name that a log has for one, in lower case.

    Raises:
        BadInput: A text is not NAME=ROLE, a role is none of `KINDS`, or a name has two.
    """
    roles: dict[str, str] = {}
    for pair in (pair.strip() for text in texts for pair in text.split(",") if pair.strip()):
        name, _, role = (part.strip() for part in pair.rpartition("="))
        if not name or role not in KINDS:
            hint = did_you_mean(role, KINDS) if name else None
            msg = f"--role must be NAME=ROLE with ROLE one of {', '.join(KINDS)}, got '{pair}'"
            raise BadInput(f"{msg}; {hint}" if hint else msg)
        if roles.setdefault(name.casefold(), role) != role:
            msg = f"--role gives '{name}' two roles, {roles[name.casefold()]} and {role}; give one"
            raise BadInput(msg)
    return roles


def known_roles(mapped: Mapping[str, str]) -> Mapping[str, str]:
    """Return the role of every known name: those that are mapped, else those of providers."""
    return {**ROLES, **mapped}


def swapped_roles_sign(messages: Sequence[Message]) -> str | None:
    """Return what shows that user and assistant are the wrong way round; None if nothing does."""
    user, assistant = (set(_signs_in(messages, role)) for role in ("user", "assistant"))
    sign = next((f"the user {each}" for each in _SIGNS if each in user - assistant), None)
    if sign is None and not assistant and _must_play_user(messages):
        return "the assistant is instructed to play the user"
    return f"{sign}, the assistant never" if sign else None


_SIGNS: Final = ("requests tools", "thinks", "offers help")


def _signs_in(messages: Sequence[Message], role: str) -> Iterator[str]:
    """Yield what of `_SIGNS` the messages of a role show."""
    for message in messages:
        for piece in message.pieces if message.role == role else ():
            if isinstance(piece, ToolCall):
                yield "requests tools"
            elif isinstance(piece, Thought):
                yield "thinks"
            elif isinstance(piece, MessageText) and _OFFERS_HELP.search(piece.text):
                yield "offers help"


def _must_play_user(messages: Sequence[Message]) -> bool:
    return any(
        isinstance(piece, MessageText) and _PLAYS_USER.search(piece.text) is not None
        for message in messages
        if message.role == "system"
        for piece in message.pieces
    )
