"""Redis databases are verified by the values of keys."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.harness.parts.redis.cache import needs_redis, opened_cache
from tests.harness.parts.verifying.build import context, said

from tracegrade_harness.parts.verifying.result import Context

pytestmark = needs_redis


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    """The cache, with a value that is not a text."""
    folder: Path = tmp_path_factory.mktemp("cache")
    with opened_cache(folder) as (environment, client):
        client.set("bytes", b"\xff")
        yield replace(context(folder), opened=environment.parts)


@pytest.mark.parametrize(
    ("key", "equals", "outcome", "evidence"),
    [
        ("greeting", "hello world", "pass", 'is "hello world"'),
        ("greeting", {"matches": "^bye"}, "fail", 'the value is "hello world", expected'),
        ("queue", ["a", "b", "c"], "pass", 'is ["a","b","c"]'),
        ("tags", ["green", "red"], "pass", 'is ["green","red"]'),
        ("user:1", {"name": "Ann", "age": "30"}, "pass", 'is {"age":"30","name":"Ann"}'),
        ("scores", {"ann": 1.5, "bob": 2}, "pass", 'is {"ann":1.5,"bob":2'),
        ("missing", "x", "fail", 'the value is nothing, expected "x"'),
        ("missing", {"optional": "x"}, "pass", "no key"),
        ("bytes", "x", "fail", "the value is not UTF-8"),
    ],
)
def test_a_value_is_compared(
    cache: Context, key: str, equals: Any, outcome: str, evidence: str
) -> None:
    """With values and rules of task files."""
    found = said(cache, redis="cache", key=key, equals=equals)

    assert found[0] == outcome
    assert evidence in found[1]


def test_a_database_that_is_not_declared_is_an_error(tmp_path: Path) -> None:
    """It is the suite that is wrong."""
    assert said(context(tmp_path), redis="cache", key="a", equals=1) == (
        "error",
        "the environment has no redis 'cache'; declare it there",
    )
