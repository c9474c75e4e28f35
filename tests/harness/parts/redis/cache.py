"""A cache in Redis, as a part of small environments; skips tests where there is no server."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.harness.parts.environments import declare

from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment
from tracegrade_harness.parts.redis.programs import why_not

needs_redis = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

CACHE = """
# what a shop keeps in its cache
SET greeting "hello world"
SET session:1 abc EX 3600
RPUSH queue a b c
SADD tags red green
HSET user:1 name Ann age 30
ZADD scores 1.5 ann 2 bob
XADD events 1-1 kind start
"""


def cache_template(folder: Path, commands: str = CACHE, **options: Any) -> EnvironmentTemplate:
    """Return a frozen environment with the cache alone, which agents find by `REDIS_URL`."""
    (folder / "cache.redis").write_text(commands)
    cache = {"from": "cache.redis", "url_env": "REDIS_URL", **options}
    declared = declare(redis={"cache": cache}, locks=["redis:*/lock:*"])
    template = EnvironmentTemplate(declared, folder)
    template.freeze(folder / "frozen")
    return template


@contextmanager
def opened_cache(folder: Path, **options: Any) -> Iterator[tuple[OpenedEnvironment, Any]]:
    """Freeze the cache, and open it for a trial."""
    with opened_for(cache_template(folder, **options), folder / "trial") as opened:
        yield opened


@contextmanager
def opened_for(
    template: EnvironmentTemplate, root: Path
) -> Iterator[tuple[OpenedEnvironment, Any]]:
    """Open a cache for a trial, with a client as the agent has it."""
    import redis  # noqa: PLC0415 - there where the cache is

    with closing(template.open(root)) as environment:
        client = redis.Redis.from_url(environment.variables["REDIS_URL"], decode_responses=True)
        with closing(client):
            yield environment, client
