"""Runs the verifiers of a case on what a trial left."""

import json
import sqlite3
from collections.abc import Iterable

from tracegrade_harness.errors import EnvironmentFailed, VerifierFailed
from tracegrade_harness.parts.kind_faults import fault_line
from tracegrade_harness.parts.registry import kind_of_verifier
from tracegrade_harness.parts.verifying.result import (
    Context,
    Outcome,
    VerifierResult,
    printable,
    shortened,
)
from tracegrade_harness.suite.strict import Strict


def verify(verifiers: Iterable[Strict], context: Context) -> list[VerifierResult]:
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


def _result(verifier: Strict, context: Context) -> VerifierResult:
    text = json.dumps(verifier.model_dump(by_alias=True, exclude_unset=True), ensure_ascii=False)
    kind = kind_of_verifier(verifier)
    try:
        holds, evidence = kind.verify(verifier, context)
    except (VerifierFailed, EnvironmentFailed, OSError, sqlite3.Error, RecursionError) as error:
        return VerifierResult(text, "error", shortened(printable(str(error))))
    except Exception as error:  # noqa: BLE001 - code of another package
        return VerifierResult(text, "error", shortened(printable(fault_line(kind.name, error))))
    return VerifierResult(text, "pass" if holds else "fail", shortened(evidence))
