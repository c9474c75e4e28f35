"""Results as JUnit XML, which CI systems show."""

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from tracegrade_harness.tape.entries import redacted
from tracegrade_harness.trial.result import TrialResult

_PRINTABLE: Final = {"\t", "\n"}


def junit_xml(suite: str, results: Sequence[TrialResult]) -> str:
    """Return the undisturbed trials as test cases: a trial that did not pass is a failure.

    A trial that could not be run or judged is an error; a trial that nothing verified is skipped.
    """
    trials = [result for result in results if result.kill_point is None]
    root = Element("testsuite", name=_text(suite), tests=str(len(trials)))
    for result in trials:
        _add(root, result)
    root.set("failures", str(len(root.findall("testcase/failure"))))
    root.set("errors", str(len(root.findall("testcase/error"))))
    root.set("skipped", str(len(root.findall("testcase/skipped"))))
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add(root: Element, result: TrialResult) -> None:
    case = SubElement(
        root,
        "testcase",
        classname=_text(result.agent_name),
        name=_text(f"{result.task_id} trial {result.trial}"),
        time=f"{result.seconds or 0:.3f}",
    )
    if result.status in {"invalid", "error"}:
        SubElement(case, "error", message=_text(result.reason or result.status))
    elif result.status == "not_run":
        SubElement(case, "skipped", message=_text(result.reason or result.status))
    elif result.success is None:
        SubElement(case, "skipped", message="the case has no verifiers")
    elif not result.success:
        SubElement(case, "failure", message=_text(why_failed(result)))


def why_failed(result: TrialResult) -> str:
    """Return why a trial did not pass: the limit that ended it, or findings of verifiers."""
    if result.reason:
        return result.reason
    failed = [each for each in result.verifiers or [] if each["outcome"] == "fail"]
    return "; ".join(f"{each['verifier']}: {each['evidence']}" for each in failed)


def _text(text: str) -> str:
    """Return a text without secrets and without characters that XML forbids."""
    plain = (each if each.isprintable() or each in _PRINTABLE else "?" for each in text)
    return redacted("".join(plain))
