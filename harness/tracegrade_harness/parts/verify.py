"""Runs the verifiers of a case on the state after a trial."""

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
    """Return the result of each verifier, in order; verifiers change nothing.

    A verifier fails if the agent's state is not as expected, or cannot be read in the requested
    way. A verifier is in error if it cannot judge: a source is missing, a query or command does
    not run or takes too long, or the part is too large to copy.
    """
    return [_result(verifier, context) for verifier in verifiers]


def outcome(results: Iterable[VerifierResult]) -> Outcome | None:
    """Return the verifiers' common result: error before fail before pass.

    None if there are no verifiers: then nothing was checked.
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
