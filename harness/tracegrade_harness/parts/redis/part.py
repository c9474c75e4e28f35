"""A Redis database as a part of an environment; `keys.py` defines its objects."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import redis
from xxhash import xxh3_128_hexdigest

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.globs import Globs
from tracegrade_harness.parts.names import part_text
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.redis.keys import dumped, read_keys, restore, value_of
from tracegrade_harness.parts.redis.programs import program
from tracegrade_harness.parts.redis.server import RedisServer
from tracegrade_harness.parts.state_reading import ReadableState, StateReading

_DUMP: Final = "dump.jsonl"


@dataclass(frozen=True)
class RedisLocation:
    """The variable and rules of a database in a suite."""

    name: str
    """Name of the part."""
    variable: str | None = None
    """Environment variable that gets the URL."""
    ignore: tuple[str, ...] = ()
    """Globs over keys."""

    @property
    def title(self) -> str:
        """Prefix of the names of its objects."""
        return f"redis:{part_text(self.name)}"


class RedisPart:
    """A database that commands fill; each trial gets a server of its own."""

    def __init__(self, location: RedisLocation, source: Path) -> None:
        self._location = location
        self._source = source
        self._dump = ""

    def source_digest(self) -> str:
        """Return a digest of all sources of the template.

        Raises:
            EnvironmentFailed: The source cannot be read, or Redis is missing.
        """
        return xxh3_128_hexdigest(f"{program()}\n{self._script()}".encode())

    def freeze(self, folder: Path) -> None:
        """Build the template in a new, empty folder; see `part.py`."""
        with closing(RedisServer()) as server:
            try:
                server.execute(self._script())
                (folder / _DUMP).write_text(dumped(server.client))
            except EnvironmentFailed as error:
                msg = f"commands '{self._source}': {error}"
                raise EnvironmentFailed(msg) from error
        self.use(folder)

    def use(self, folder: Path) -> None:
        """Use an existing template of `freeze`."""
        self._dump = (folder / _DUMP).read_text()

    def frozen(self) -> StateReading:
        """Return the template as a trial finds it."""
        with closing(OpenedRedis(self._location, self._dump)) as opened:
            return opened.read()

    def open(self, root: Path) -> "OpenedRedis":
        """Return a fresh copy of the template for a trial; the folder is not used."""
        return OpenedRedis(self._location, self._dump)

    def close(self) -> None:
        """Do nothing: each trial has a server of its own."""

    def _script(self) -> str:
        try:
            return self._source.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            msg = f"commands '{self._source}': {error}; name a readable file in UTF-8"
            raise EnvironmentFailed(msg) from error


class OpenedRedis(ReadableState):
    """A database of one trial."""

    def __init__(self, location: RedisLocation, dump: str) -> None:
        """Start a server with the content of a dump.

        Raises:
            EnvironmentFailed: It cannot be started.
        """
        self._location = location
        self._ignore = Globs(location.ignore)
        self._server = RedisServer()
        try:
            restore(self._server.client, dump)
        except redis.RedisError as error:
            self.close()
            msg = f"{location.title} cannot be restored: {error}; see that memory is not full"
            raise EnvironmentFailed(msg) from error

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with which an agent finds the database."""
        return {self._location.variable: self._server.url} if self._location.variable else {}

    @property
    def addresses(self) -> Sequence[ServiceAddress]:
        """The addresses at which an agent must reach it."""
        return [self._server.address]

    def value(self, key: str) -> Any:
        """Return the value of a key; see `value_of`.

        Raises:
            EnvironmentFailed: The server does not answer.
        """
        return self._ask(lambda client: value_of(client, key))

    def read(self) -> StateReading:
        """Return all keys as they are now.

        While an agent's script does not end, the only object is the database, marked as
        unreadable.

        Raises:
            EnvironmentFailed: The server does not answer.
        """
        title = self._location.title
        try:
            reading: StateReading = self._ask(
                lambda client: read_keys(client, title, self._ignore)
            )
        except _Busy:
            return StateReading({title: "unreadable: a script does not end"})
        return reading

    def held(self) -> list[str]:
        """Return `redis:PART (script)` while a script blocks the server."""
        try:
            self._ask(lambda client: client.ping())
        except _Busy:
            return [f"{self._location.title} (script)"]
        return []

    def clone(self, root: Path) -> "OpenedRedis":
        """Return a copy of the present state, on another server.

        Raises:
            EnvironmentFailed: The server does not answer.
        """
        return OpenedRedis(self._location, self._ask(dumped))

    def close(self) -> None:
        """End the server. Idempotent."""
        self._server.close()

    def _ask(self, ask: Callable[[Any], Any]) -> Any:
        try:
            return ask(self._server.client)
        except redis.RedisError as error:
            title, words = self._location.title, " ".join(str(error).split())
            if isinstance(error, redis.ResponseError) and "BUSY " in words:
                msg = f"{title}: a script of the agent does not end; see it"
                raise _Busy(msg) from error
            msg = f"{title} does not answer: {words}; see that memory is not full"
            raise EnvironmentFailed(msg) from error


class _Busy(EnvironmentFailed):
    """An agent's script blocks the server."""
