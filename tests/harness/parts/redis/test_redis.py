"""Redis databases are restored for each trial; what differs or is held there is named."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples import many
from tests.harness.parts.redis.cache import (
    CACHE,
    cache_template,
    needs_redis,
    opened_cache,
    opened_for,
)
from tests.harness.parts.servers.test_managed_server import wait_for

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.diff import StateDifference, diff
from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment

pytestmark = needs_redis

PART = "redis:cache"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EnvironmentTemplate]:
    """The cache, frozen."""
    with closing(cache_template(tmp_path_factory.mktemp("cache"))) as made:
        yield made


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """An agent's client of a cache in which its tests change nothing."""
    with opened_cache(tmp_path_factory.mktemp("agent")) as (_, client):
        yield client


def changes(environment: OpenedEnvironment) -> dict[str, list[str]]:
    """Return what differs from before."""
    return short(environment.difference())


def short(difference: StateDifference) -> dict[str, list[str]]:
    """Return what differs, without the part's name; empty lists are left out."""
    without = {
        key: [name.removeprefix(f"{PART}/") for name in names]
        for key, names in difference._asdict().items()
    }
    return {key: names for key, names in without.items() if names}


CHANGES: list[tuple[Callable[[Any], object], dict[str, list[str]]]] = [
    (lambda c: c.set("a", 1), {"added": ["a"]}),
    (lambda c: c.set("a/b: c\n", 1), {"added": [r"a/b: c\x0a"]}),
    (lambda c: c.set("greeting", "bye"), {"changed": ["greeting"]}),
    (lambda c: c.rpush("queue", "d"), {"changed": ["queue"]}),
    (lambda c: c.delete("queue"), {"removed": ["queue"]}),
    (lambda c: c.hset("user:1", "age", 31), {"changed": ["user:1"]}),
    (lambda c: c.zincrby("scores", 1, "ann"), {"changed": ["scores"]}),
    (lambda c: c.xadd("events", {"kind": "end"}), {"changed": ["events"]}),
    (lambda c: c.expire("session:1", 60), {}),
    (lambda c: c.persist("session:1"), {"changed": ["session:1"]}),
    (lambda c: (c.sadd("tags", "blue"), c.srem("tags", "blue")), {}),
    (lambda c: (c.hset("user:1", "x", "y" * 99), c.hdel("user:1", "x")), {}),
    (
        lambda c: c.function_load(
            "#!lua name=mine\nredis.register_function('f', function() return 1 end)"
        ),
        {"changed": [PART]},
    ),
]
"""Made one after the other, and what each changes."""


def test_a_change_is_named(template: EnvironmentTemplate, tmp_path: Path) -> None:
    """By its key; Redis's encoding and a key's remaining time are not changes."""
    with opened_for(template, tmp_path / "trial") as (environment, client):
        before = environment.state()
        for number, (change, changed) in enumerate(CHANGES):
            change(client)
            now = environment.state()
            assert short(diff(before, now)) == changed, number
            before = now
        with closing(environment.clone(tmp_path / "copy")) as copy:
            assert copy.state() == environment.state()
    with closing(template.open(tmp_path / "trial")) as environment:
        assert changes(environment) == {}


KEYS = ("greeting", "queue", "tags", "user:1", "new", "a b")
TEXTS = st.text("xyz", max_size=2)
DOINGS = st.lists(
    st.one_of(
        st.tuples(st.just("SET"), st.sampled_from(KEYS), TEXTS),
        st.tuples(st.just("DEL"), st.sampled_from(KEYS)),
        st.tuples(st.just("RPUSH"), st.just("queue"), TEXTS),
        st.tuples(st.just("SADD"), st.just("tags"), TEXTS),
        st.tuples(st.just("HSET"), st.just("user:1"), TEXTS, TEXTS),
        st.tuples(st.just("EXPIRE"), st.sampled_from(KEYS), st.just("3000")),
    ),
    max_size=8,
)


def plain_keys(client: Any) -> dict[str, Any]:
    """Read all keys without the harness: each one's value, and whether it expires."""
    reads: dict[str, Callable[[str], Any]] = {
        "string": client.get,
        "list": lambda key: client.lrange(key, 0, -1),
        "set": lambda key: sorted(client.smembers(key)),
        "hash": client.hgetall,
        "zset": lambda key: client.zrange(key, 0, -1, withscores=True),
        "stream": client.xrange,
    }
    keys = client.keys("*")
    return {key: (reads[client.type(key)](key), client.ttl(key) >= 0) for key in keys}


@settings(
    max_examples=many(3),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(doings=DOINGS)
def test_random_changes_are_named_and_the_next_trial_has_none(
    template: EnvironmentTemplate, tmp_path: Path, doings: list[tuple[str, ...]]
) -> None:
    """Exactly the keys that differ; the restored fingerprint is the frozen one."""
    import redis  # noqa: PLC0415 - there where the cache is

    with closing(template.open(tmp_path / "trial")) as environment:
        url = environment.variables["REDIS_URL"]
        connected: Any = redis.Redis.from_url(url, decode_responses=True)
        with closing(connected) as client:
            before = plain_keys(client)
            for words in doings:
                with contextlib.suppress(redis.ResponseError):  # of another type by now
                    client.execute_command(*words)
            after = plain_keys(client)
            named = {name.removeprefix(f"{PART}/") for name in environment.difference().names}
    with closing(template.open(tmp_path / "trial")) as again:
        assert again.fingerprint() == template.fingerprint()

    assert named == {key for key in before | after if before.get(key) != after.get(key)}


def test_keys_can_be_ignored_and_locks_are_held(tmp_path: Path) -> None:
    """By globs."""
    with opened_cache(tmp_path, ignore=["session:*"]) as (environment, client):
        client.delete("session:1")
        client.set("lock:orders", "me", ex=60)

        assert changes(environment) == {"added": ["lock:orders"]}
        assert environment.held() == [f"{PART}/lock:orders"]
        assert environment.ignored_changes() == {"session:*": 1}


@pytest.mark.parametrize(
    "command",
    [
        ("CONFIG", "SET", "dir", "/"),
        ("CONFIG", "GET", "*"),
        ("MODULE", "LOAD", "/x.so"),
        ("SAVE",),
        ("REPLICAOF", "127.0.0.1", "1"),
        ("MIGRATE", "127.0.0.1", "1", "greeting", "0", "1"),
        ("DEBUG", "SLEEP", "1"),
        ("ACL", "SETUSER", "agent", "+@all"),
        ("SHUTDOWN",),
        ("EVAL", "return redis.call('CONFIG', 'SET', 'dir', '/tmp')", "0"),
        ("EVAL", "return io.open('/etc/passwd')", "0"),
    ],
)
def test_the_agent_has_no_rights_beyond_its_keys(agent: Any, command: tuple[str, ...]) -> None:
    """Neither over the server nor over the files of its machine."""
    import redis  # noqa: PLC0415 - there where the cache is

    with pytest.raises(redis.ResponseError):
        agent.execute_command(*command)


def test_nobody_comes_in_without_the_password(tmp_path: Path) -> None:
    """Other processes of the machine have no business there."""
    import redis  # noqa: PLC0415 - there where the cache is

    with opened_cache(tmp_path) as (environment, _):
        url = environment.variables["REDIS_URL"]
        address = url.rpartition("@")[2]
        for wrong in (f"redis://{address}", f"redis://agent:x@{address}"):
            with (
                pytest.raises((redis.AuthenticationError, redis.ResponseError)),
                closing(redis.Redis.from_url(wrong)) as client,
            ):
                client.get("greeting")


def test_a_script_that_does_not_end_is_held(tmp_path: Path) -> None:
    """The state says so; the server can still be closed."""
    import redis  # noqa: PLC0415 - there where the cache is

    def run_for_ever(url: str) -> None:
        with (
            closing(redis.Redis.from_url(url, retry=None, socket_timeout=60)) as client,
            pytest.raises(redis.RedisError),
        ):
            client.eval("redis.call('SET', 'a', 1) while true do end", 0)

    with opened_cache(tmp_path) as (environment, _):
        running = Thread(target=run_for_ever, args=[environment.variables["REDIS_URL"]])
        running.start()
        wait_for(lambda: environment.held() == [f"{PART} (script)"])

        assert environment.state() == {PART: "unreadable: a script does not end"}
    running.join()


@pytest.mark.parametrize(
    ("commands", "fault"),
    [
        ("SET a 1\nSETT b 2\n", "line 2: unknown command"),
        ('SET a "1\n', "line 1: No closing quotation"),
        ("CONFIG SET dir /tmp", "line 1: .*no permissions"),
    ],
)
def test_a_command_that_does_not_run_is_an_error(
    tmp_path: Path, commands: str, fault: str
) -> None:
    """It has no more rights than an agent, and the error names the line."""
    with pytest.raises(EnvironmentFailed, match=fault):
        cache_template(tmp_path, commands)


def test_what_is_frozen_lives_as_long_as_it_had_to(tmp_path: Path) -> None:
    """However old the template is, and for each trial anew."""
    with opened_cache(tmp_path, commands=CACHE) as (_, client):
        assert 3500 < client.ttl("session:1") <= 3600
