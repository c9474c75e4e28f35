"""Results as test cases of JUnit XML, without secrets."""

from collections.abc import Sequence

from tracegrade_harness.tape.entries import redacted
from tracegrade_harness.trial.result import TrialResult
from tracegrade_scoring.rendering.junit import JunitCase, junit_xml, xml_text


def trials_as_junit(suite: str, results: Sequence[TrialResult]) -> str:
    """Return the undisturbed trials as test cases: a trial that did not pass is a failure.

    A trial that could not be run or judged is an error; a trial that nothing verified is skipped.
    """
    trials = [result for result in results if result.kill_point is None]
    return junit_xml(_text(suite), map(_case, trials))


def _case(result: TrialResult) -> JunitCase:
    name = _text(f"{result.task_id} trial {result.trial}")
    passed = JunitCase(_text(result.agent_name), name, seconds=result.seconds or 0.0)
    reason = _text(result.reason or result.status)
    if result.status in {"invalid", "error"}:
        return passed._replace(problem="error", message=reason)
    if result.status == "not_run":
        return passed._replace(problem="skipped", message=reason)
    if result.success is None:
        return passed._replace(problem="skipped", message="the case has no verifiers")
    if not result.success:
        return passed._replace(problem="failure", message=_text(why_failed(result)))
    return passed


def why_failed(result: TrialResult) -> str:
    """Return why a trial did not pass: the limit that ended it, or findings of verifiers."""
    if result.reason:
        return result.reason
    failed = [each for each in result.verifiers or [] if each["outcome"] == "fail"]
    return "; ".join(f"{each['verifier']}: {each['evidence']}" for each in failed)


def _text(text: str) -> str:
    """Return a text without secrets; redaction needs one that can be encoded."""
    return redacted(xml_text(text))
