"""Runs the verifiers of a case on what a trial left."""

import json
import sqlite3
from collections.abc import Iterable

from tracegrade_harness.errors import EnvironmentFailed, VerifierFailed
from tracegrade_harness.parts.browser.verify import verify_dom
from tracegrade_harness.parts.command.verify import verify_command
from tracegrade_harness.parts.files.verify import verify_files
from tracegrade_harness.parts.http.verify import verify_http
from tracegrade_harness.parts.sqlite.verify import verify_sqlite
from tracegrade_harness.parts.verifying.result import (
    Context,
    Finding,
    Outcome,
    VerifierResult,
    shortened,
    shown,
)
from tracegrade_harness.suite.model import (
    CommandVerifier,
    DomVerifier,
    FilesVerifier,
    HttpVerifier,
    PostgresVerifier,
    RedisVerifier,
    SqliteVerifier,
    Verifier,
)


def verify(verifiers: Iterable[Verifier], context: Context) -> list[VerifierResult]:
    """Return what each verifier says, in order; they change nothing.

    A verifier fails where what the agent left is not what is asked, or cannot be read as that. It
    is in error where nobody can tell: a source of the suite is missing, a query or command does
    not run or takes too long, there is more than we copy.
    """
    return [_result(verifier, context) for verifier in verifiers]


def outcome(results: Iterable[VerifierResult]) -> Outcome | None:
    """Return what verifiers say together: one in error makes an error, else one that fails a fail.

    None if there are none: then nothing was asked, and nothing held.
    """
    found = {result.outcome for result in results}
    ranked: tuple[Outcome, ...] = ("error", "fail", "pass")
    return next((each for each in ranked if each in found), None)


def _result(verifier: Verifier, context: Context) -> VerifierResult:
    text = json.dumps(verifier.model_dump(by_alias=True, exclude_unset=True), ensure_ascii=False)
    try:
        holds, evidence = _finding(verifier, context)
    except (VerifierFailed, EnvironmentFailed, OSError, sqlite3.Error, RecursionError) as error:
        return VerifierResult(text, "error", shortened(shown(str(error))))
    return VerifierResult(text, "pass" if holds else "fail", shortened(evidence))


def _finding(verifier: Verifier, context: Context) -> Finding:
    if isinstance(verifier, FilesVerifier):
        return verify_files(verifier, context)
    if isinstance(verifier, SqliteVerifier):
        return verify_sqlite(verifier, context)
    if isinstance(verifier, CommandVerifier):
        return verify_command(verifier, context)
    return _of_service(verifier, context)


def _of_service(
    verifier: PostgresVerifier | RedisVerifier | HttpVerifier | DomVerifier, context: Context
) -> Finding:
    if isinstance(verifier, PostgresVerifier):
        # The client library is an extra's, and not there for those who have no such part.
        from tracegrade_harness.parts.postgres.verify import verify_postgres  # noqa: PLC0415

        return verify_postgres(verifier, context)
    if isinstance(verifier, RedisVerifier):
        from tracegrade_harness.parts.redis.verify import verify_redis  # noqa: PLC0415 - as above

        return verify_redis(verifier, context)
    if isinstance(verifier, HttpVerifier):
        return verify_http(verifier, context)
    return verify_dom(verifier, context)
