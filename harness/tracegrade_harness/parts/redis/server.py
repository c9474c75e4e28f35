"""A Redis server of one trial, on its own port; it writes nothing to disk.

The agent is a user without rights to configure, extend or replicate the server. So nothing that it
does there reaches a file or another machine.
"""

import contextlib
import shlex
import signal
import time
from pathlib import Path
from typing import Any, Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.redis.programs import program
from tracegrade_harness.parts.servers.managed_server import (
    HOST,
    START_SECS,
    ManagedServer,
    ServerFolder,
    free_port,
    password,
)

ACCOUNTS: Final = ("redis", "nobody")
AGENT: Final = "agent"
ANSWER_SECS: Final = 20.0
"""Seconds that a server may take for an answer; scripts of agents delay it."""

_HARNESS: Final = "harness"
_TRIES: Final = 5
_CONFIG: Final = """
bind {host}
port {port}
databases 1
save ""
appendonly no
maxmemory 512mb
maxmemory-policy noeviction
enable-debug-command no
enable-module-command no
enable-protected-configs no
lua-time-limit 1000
dir "{folder}"
user default off
user {harness} on >{harness_password} ~* &* +@all
user {agent} on >{agent_password} ~* &* +@all -@admin -migrate -script|debug
"""


class RedisServer:
    """A server that runs until it is closed, or until the harness ends."""

    def __init__(self) -> None:
        """Start an empty server.

        Raises:
            EnvironmentFailed: It cannot be started.
        """
        self._passwords = {_HARNESS: password(), AGENT: password()}
        for tries_left in reversed(range(_TRIES)):  # another process may have taken the port
            folder = ServerFolder(*ACCOUNTS)
            self.address = ServiceAddress(HOST, free_port())
            command = [program(), str(self._configured(folder))]
            self._managed = ManagedServer(folder, command, signal.SIGTERM)
            self.client: Any = self._answering()
            """The harness's own connection, which no number of other connections can block."""
            if self.client is not None:
                return
            words = self._managed.last_words()
            self._managed.close()
            if "Address already in use" not in words or not tries_left:
                msg = f"Redis cannot be started: {words}; see that memory is not full"
                raise EnvironmentFailed(msg)

    @property
    def url(self) -> str:
        """The URL with which an agent connects."""
        who = f"{AGENT}:{self._passwords[AGENT]}"
        return f"redis://{who}@{self.address.host}:{self.address.port}/0"

    def execute(self, script: str) -> None:
        """Run commands, one per line, with the rights of an agent.

        Raises:
            EnvironmentFailed: One cannot be run; the message has its line.
        """
        with contextlib.closing(self._connected(AGENT)) as client:
            for number, line in enumerate(script.splitlines(), 1):
                try:
                    words = shlex.split(line, comments=True)
                    if words:
                        client.execute_command(*words)
                except (ValueError, redis.RedisError) as error:
                    msg = f"line {number}: {error}; write a command as `redis-cli` takes it"
                    raise EnvironmentFailed(msg) from error

    def close(self) -> None:
        """End it and remove its folder. Idempotent."""
        self.client.close()
        self._managed.close()

    def _configured(self, folder: ServerFolder) -> Path:
        """Write the configuration with the passwords into a file that only the server can read."""
        file = folder.path / "redis.conf"
        file.touch(mode=0o600)
        file.write_text(
            _CONFIG.format(
                host=self.address.host,
                port=self.address.port,
                folder=folder.path,
                harness=_HARNESS,
                harness_password=self._passwords[_HARNESS],
                agent=AGENT,
                agent_password=self._passwords[AGENT],
            )
        )
        folder.own(file)
        return file

    def _answering(self) -> Any:
        """Return a connection of the harness, as soon as there is one; None if too late."""
        ends = time.monotonic() + START_SECS
        while time.monotonic() < ends and not self._managed.has_ended():
            with contextlib.suppress(redis.ConnectionError):
                client = self._connected(_HARNESS)
                client.ping()
                return client
            time.sleep(0.01)
        return None

    def _connected(self, user: str) -> Any:
        return redis.Redis(
            host=self.address.host,
            port=self.address.port,
            username=user,
            password=self._passwords[user],
            socket_timeout=ANSWER_SECS,
            single_connection_client=user == _HARNESS,
            retry=Retry(NoBackoff(), 0),
        )
