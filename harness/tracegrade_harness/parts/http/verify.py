"""Verifies the state of an HTTP service, and the requests that it got."""

from collections.abc import Iterator, Mapping
from typing import Any

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.http.model import HttpCalls, HttpVerifier
from tracegrade_harness.parts.http.part import OpenedHttp
from tracegrade_harness.parts.http.recorder import RecordedRequest
from tracegrade_harness.parts.verifying import value
from tracegrade_harness.parts.verifying.result import Context, Finding, listed, printable


def verify_http(verifier: HttpVerifier, context: Context) -> Finding:
    """Return whether a service's state, or the requests that it got, are as the suite expects.

    Raises:
        EnvironmentFailed: The service does not answer.
        VerifierFailed: The environment has no such service.
    """
    service = context.opened.get(f"http:{verifier.http}")
    if not isinstance(service, OpenedHttp):
        msg = f"the environment has no http '{verifier.http}'; declare it there"
        raise VerifierFailed(msg)
    if verifier.calls is not None:
        return _requests(verifier.calls, service.calls())
    expected = verifier.state or {}
    text = value.canonical(service.document())
    differing = list(_differences(text, expected))
    return Finding(not differing, listed(differing or [f"{len(expected)} values fit"]))


def _differences(text: str | None, expected: Mapping[str, Any]) -> Iterator[str]:
    for path, rule in expected.items():
        found = None if text is None else value.at(text, path)
        if not value.fits(found, rule):
            yield f"{path} {value.difference(found, rule)}"


def _requests(expected: HttpCalls, calls: list[RecordedRequest]) -> Finding:
    fitting = [call for call in calls if _fits(call, expected)]
    number = value.canonical(len(fitting))
    if "times" in expected.model_fields_set:
        holds = value.fits(number, expected.times)
    else:
        holds = bool(fitting)
    seen = fitting if fitting else calls
    requests = listed(f"{call.method} {printable(call.path)} {call.status}" for call in seen)
    what = f"{len(fitting)} of {len(calls)} requests fit"
    return Finding(holds, f"{what}: {requests}" if seen else what)


def _fits(call: RecordedRequest, expected: HttpCalls) -> bool:
    for key in ("method", "path", "status"):
        if key in expected.model_fields_set and not value.fits(
            value.canonical(getattr(call, key)), getattr(expected, key)
        ):
            return False
    if expected.body is None:
        return True
    return not any(_differences(value.json_of(call.body), expected.body))
