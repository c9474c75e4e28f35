"""Reads and restores a Redis database: one object for each key, and one for the whole.

A key is `redis:PART/KEY`. Its digest covers its type, its value, and whether it expires, but not
the time left, which changes constantly. `redis:PART` is the whole database, with its functions.
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from xxhash import xxh3_128_hexdigest

from tracegrade_harness.parts.globs import Globs
from tracegrade_harness.parts.names import path_text
from tracegrade_harness.parts.state_reading import StateReading

BATCH: Final = 500
"""Keys that one request reads."""

_READ: Final[Mapping[bytes, Callable[[Any, bytes], Any]]] = {
    b"string": lambda client, key: client.get(key),
    b"list": lambda client, key: client.lrange(key, 0, -1),
    b"set": lambda client, key: client.smembers(key),
    b"hash": lambda client, key: client.hgetall(key),
    b"zset": lambda client, key: client.zrange(key, 0, -1, withscores=True),
}
"""Functions that read values by type; Redis itself writes values of other types."""


def read_keys(client: Any, title: str, ignore: Globs) -> StateReading:
    """Return all objects.

    Args:
        client: The harness's own connection.
        title: Prefix of the names of objects, such as `redis:cache`.
        ignore: Globs over keys.

    Raises:
        redis.RedisError: A script does not end, or the server has ended.
    """
    reading = StateReading()
    functions = client.execute_command("FUNCTION", "LIST", "WITHCODE")
    reading.state[title] = f"database {_digest(sorted(map(repr, functions)))}"
    for key, kind, value, expires in _all(client):
        name = key_name(key)
        digest = _digest((kind, _comparable(value), expires))
        reading.add(f"{title}/{name}", digest, ignore.rule(name))
    return reading


def key_name(key: bytes) -> str:
    """Return a key in the form for names."""
    return path_text(key.decode("utf-8", "surrogateescape"))


def value_of(client: Any, key: str) -> Any:
    """Return a key's value: None without one, bytes for types that are not JSON."""
    name = key.encode("utf-8", "surrogateescape")
    kind = client.type(name)
    if kind == b"none":
        return None
    return _READ.get(kind, _dumped)(client, name)


def dumped(client: Any) -> str:
    """Return all keys and functions as lines of JSON, which `restore` takes."""
    functions = base64.b64encode(client.execute_command("FUNCTION", "DUMP")).decode()
    lines = [json.dumps({"functions": functions})]
    for key in _sorted_keys(client):
        content, left_ms = client.dump(key), client.pttl(key)
        if content is not None:
            texts = [base64.b64encode(each).decode() for each in (key, content)]
            lines.append(json.dumps({"key": texts[0], "value": texts[1], "ms": max(0, left_ms)}))
    return "".join(f"{line}\n" for line in lines)


def restore(client: Any, dump: str) -> None:
    """Fill an empty server; keys with an expiry get their remaining time."""
    functions, *lines = map(json.loads, dump.splitlines())
    client.execute_command("FUNCTION", "RESTORE", base64.b64decode(functions["functions"]))
    for begin in range(0, len(lines), BATCH):
        pipeline = client.pipeline(transaction=False)
        for line in lines[begin : begin + BATCH]:
            key, value = (base64.b64decode(line[name]) for name in ("key", "value"))
            pipeline.restore(key, line["ms"], value)
        pipeline.execute()


def _all(client: Any) -> Iterator[tuple[bytes, bytes, Any, bool]]:
    """Yield key, type, value and expiry of each key that still exists."""
    keys = _sorted_keys(client)
    for begin in range(0, len(keys), BATCH):
        batch = keys[begin : begin + BATCH]
        kinds = _results_of(client, lambda pipeline, key: pipeline.type(key), batch)
        known = dict(zip(batch, kinds, strict=True))
        values = _results_of(client, lambda p, key: _READ.get(known[key], _dumped)(p, key), batch)  # noqa: B023 - asked at once
        lives = _results_of(client, lambda pipeline, key: pipeline.pttl(key), batch)
        for key, value, left_ms in zip(batch, values, lives, strict=True):
            if left_ms != -2:  # -2: it no longer exists, -1: it never expires
                yield key, known[key], value, left_ms >= 0


def _results_of(client: Any, ask: Callable[[Any, bytes], Any], keys: list[bytes]) -> list[Any]:
    pipeline = client.pipeline(transaction=False)
    for key in keys:
        ask(pipeline, key)
    return list(pipeline.execute())


def _sorted_keys(client: Any) -> list[bytes]:
    return sorted(set(client.scan_iter(count=1000)))


def _dumped(client: Any, key: bytes) -> Any:
    return client.dump(key)


def _comparable(value: Any) -> Any:
    """Return a value in an order that does not depend on its history."""
    if isinstance(value, dict):
        return sorted(value.items())
    return sorted(value) if isinstance(value, set) else value


def _digest(value: Any) -> str:
    return xxh3_128_hexdigest(repr(value).encode())
