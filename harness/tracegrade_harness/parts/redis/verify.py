"""Verifies the value of a key of a Redis database."""

from typing import Any

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.redis.model import RedisVerifier
from tracegrade_harness.parts.redis.part import OpenedRedis
from tracegrade_harness.parts.verifying import value
from tracegrade_harness.parts.verifying.result import Context, Finding


def verify_redis(verifier: RedisVerifier, context: Context) -> Finding:
    """Return whether a key has the value that the suite expects.

    A value that is not UTF-8, or that has a type without JSON form, fits no expectation.

    Raises:
        EnvironmentFailed: The server does not answer.
        VerifierFailed: The environment has no such database.
    """
    database = context.opened.get(f"redis:{verifier.redis}")
    if not isinstance(database, OpenedRedis):
        msg = f"the environment has no redis '{verifier.redis}'; declare it there"
        raise VerifierFailed(msg)
    try:
        found = _plain(database.value(verifier.key))
    except UnicodeDecodeError:
        return Finding(False, "the value is not UTF-8")
    json_text = None if found is None else value.canonical(found)
    if value.fits(json_text, verifier.equals):
        return Finding(True, "no key" if json_text is None else f"is {value.short(json_text)}")
    return Finding(False, f"the value {value.difference(json_text, verifier.equals)}")


def _plain(found: Any) -> Any:
    """Return a value of Redis as JSON values."""
    match found:
        case bytes():
            return found.decode()
        case set():
            return sorted(map(_plain, found))
        case dict():
            return {_plain(key): _plain(each) for key, each in found.items()}
        case [[bytes(), float()], *_]:  # a sorted set, with scores
            return {_plain(member): score for member, score in found}
        case list():
            return [_plain(each) for each in found]
    return found
