"""Tools of an agent's own process on tape: recorded while they run, or answered from it.

    with ToolTape(folder, played_tools(player, is_taped)) as tape:
        ...  # start the agent with `tape.variables`

`tracegrade.tool` asks before each call, by a line of JSON on a connection of its own. One thread
does all the work, because no answer takes long, and only the agent's own time is lost.
"""

import contextlib
import json
import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.diff import diff
from tracegrade_harness.parts.state import State
from tracegrade_harness.tape.entries import TapeEntry, TapeKey, key_of, redacted_json
from tracegrade_harness.tape.player import TapeMiss, TapePlayer, TapeRecorder

CHANNEL: Final = "tool"
VARIABLE: Final = "TRACEGRADE_TOOLS"
MAX_LINE_BYTES: Final = 64 << 20
READ_SECS: Final = 10.0
"""Seconds that an agent may take to finish a message."""
RUN_TOOL: Final = {"type": "run"}
RECORD: Final = {"type": "record"}
ACKNOWLEDGED: Final = {"type": "heard"}


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    name: str
    arguments: str
    """JSON; a text that is not JSON is taken literally."""
    effect: str | None = None
    """The effect that the agent declares."""

    @property
    def key(self) -> TapeKey:
        """The key of the call on a tape."""
        return key_of(CHANNEL, self.name, _read(self.arguments))


class ToolCalled(_Message):
    """A tool is about to be called; the agent waits."""

    type: Literal["call"]


class ToolFinished(_Message):
    """A call to be recorded has finished; the agent waits."""

    type: Literal["gave"]
    reply: dict[str, Any] | None = None
    """`result`, or `error`."""
    refused: str | None = None
    """Why no tape can hold it."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.reply is None) == (self.refused is None):
            msg = "of reply and refused, one is given"
            raise ValueError(msg)
        return self


class ToolUnusable(_Message):
    """The tape has a result only as text, and the tool cannot convert it."""

    type: Literal["unusable"]
    why: str


ToolMessage: TypeAlias = ToolCalled | ToolFinished | ToolUnusable
ReplyFunction: TypeAlias = Callable[[ToolMessage], Mapping[str, Any]]
"""Returns the answer to an agent."""
_MESSAGES: Final[TypeAdapter[ToolMessage]] = TypeAdapter(
    Annotated[ToolMessage, Field(discriminator="type")]
)


def is_tool(key: TapeKey) -> bool:
    """Return whether a call is one of a tool of the agent's own process."""
    return key.channel == CHANNEL


def captured_tool(
    name: str,
    arguments: str,
    effect: str | None,
    *,
    text: str | None = None,
    error: Mapping[str, str] | None = None,
) -> TapeEntry:
    """Return a tape's line for a call in a span, with the result as text.

    Args:
        name: Name of the tool.
        arguments: Arguments as JSON.
        effect: The effect that the agent declares.
        text: The tool's result as a text, or as JSON.
        error: `type` and `message` of the exception, if the tool raised one.
    """
    gave: dict[str, Any] = {"text": text} if error is None else {"error": {**error}}
    reply = gave if effect is None else {**gave, "effect": effect}
    return TapeEntry(key_of(CHANNEL, name, _read(arguments)), redacted_json(reply))


def played_tools(player: TapePlayer, is_taped: Callable[[str], bool]) -> ReplyFunction:
    """Return a function that answers calls from a tape; tools that are not taped run."""

    def answer(message: ToolMessage) -> Mapping[str, Any]:
        if isinstance(message, ToolFinished):
            return ACKNOWLEDGED
        if isinstance(message, ToolUnusable):
            miss = player.record_miss(f"{CHANNEL} {message.name}: {message.why}")
            return {"type": "miss", "message": str(miss)}
        if not is_taped(message.name):
            return RUN_TOOL
        try:
            reply = player.take(message.key)
            if not _is_reply(reply):
                msg = f"{CHANNEL} {message.name}: its line has no result"
                raise player.record_miss(msg)
        except TapeMiss as miss:
            return {"type": "miss", "message": str(miss)}
        return {"type": "reply", "reply": reply}

    return answer


class RecordedTools:
    """Records calls, from one thread.

    A call that changes the environment is refused, because a replay would not change it.
    """

    def __init__(
        self,
        recorder: TapeRecorder,
        is_taped: Callable[[str], bool],
        state: Callable[[], State],
    ) -> None:
        """Prepare.

        Args:
            recorder: Receives the calls.
            is_taped: Tells which tools are taped, by name.
            state: Reads the environment.
        """
        self._recorder = recorder
        self._is_taped = is_taped
        self._state = state
        self._before: dict[TapeKey, list[State]] = defaultdict(list)

    def __call__(self, message: ToolMessage) -> Mapping[str, Any]:
        """Return the answer to an agent."""
        is_call = isinstance(message, ToolCalled)
        if is_call and not self._is_taped(message.name):
            return RUN_TOOL
        try:
            if isinstance(message, ToolFinished):
                self._take(message)
            elif is_call:
                self._before[message.key].append(self._state())
        except EnvironmentFailed as error:
            self._refuse(message, str(error))
        return RECORD if is_call else ACKNOWLEDGED

    def _take(self, message: ToolFinished) -> None:
        begun = self._before[message.key]
        if not begun:
            self._refuse(message, "its changes could not be observed")
            return
        changed = diff(begun.pop(0), self._state()).names
        if changed:
            self._refuse(message, f"it changed the environment, first '{changed[0]}'")
        elif message.reply is None:
            self._refuse(message, str(message.refused))
        else:
            effect = {} if message.effect is None else {"effect": message.effect}
            self._recorder.add(message.key, {**message.reply, **effect})

    def _refuse(self, message: ToolMessage, why: str) -> None:
        self._recorder.refuse(f"{CHANNEL} {message.name}: {why}")


class ToolTape:
    """A `with` block in which tools ask whether to run or to use the tape."""

    def __init__(
        self, folder: Path, answer: ReplyFunction, seen: Callable[[], None] = lambda: None
    ) -> None:
        """Prepare.

        Args:
            folder: The folder for the socket to which the agent connects.
            answer: Returns the answers; called by one thread.
            seen: Called for each message.
        """
        self._seen = seen
        self._socket_path = folder / "tools"
        self._answer = answer
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._thread = threading.Thread(target=self._serve, name="tools", daemon=True)
        self._notes: dict[str, None] = {}

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with which an agent finds it."""
        return {VARIABLE: str(self._socket_path)}

    def notes(self) -> list[str]:
        """Return the notes about it for readers of the trial."""
        return [*self._notes]

    def __enter__(self) -> Self:
        self._listener.bind(str(self._socket_path))
        self._listener.listen()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits there
        self._thread.join()
        self._listener.close()
        self._socket_path.unlink(missing_ok=True)

    def _serve(self) -> None:
        for connection in self._connections():
            with connection, contextlib.suppress(OSError):
                connection.settimeout(READ_SECS)
                self._serve_one(connection)

    def _connections(self) -> Iterator[socket.socket]:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            yield connection

    def _serve_one(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as lines:
            line = lines.readline(MAX_LINE_BYTES + 1)
        try:
            if len(line) > MAX_LINE_BYTES:
                msg = f"more than {MAX_LINE_BYTES} bytes"
                raise ValueError(msg)
            self._seen()
            answer = self._answer(_MESSAGES.validate_json(line))
            text = json.dumps(answer, ensure_ascii=False).encode(errors="replace")
        except (ValueError, RecursionError):
            self._notes[f"tools: no message: {line[:100]!r}"] = None
            return
        connection.sendall(text + b"\n")


def _is_reply(reply: Any) -> bool:
    """Return whether a line of a tape, which people may edit, holds a tool's result."""
    if not isinstance(reply, dict):
        return False
    if "error" in reply:
        return isinstance(reply["error"], dict)
    return "result" in reply or isinstance(reply.get("text"), str)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
