"""Results as JUnit XML."""

from xml.etree import ElementTree

from tests.harness.results import kill, result

from tracegrade_harness.junit import trials_as_junit

FAILED = [
    {"verifier": "a", "outcome": "pass", "evidence": "it is"},
    {"verifier": "b", "outcome": "fail", "evidence": "1 < 2 & \x00\ud800 'x'"},
]


def parsed(*results: object) -> ElementTree.Element:
    """Return the document's root."""
    return ElementTree.fromstring(trials_as_junit("s & <t>", results))  # type: ignore[arg-type] # noqa: S314 - ours


def test_a_trial_is_a_test_case() -> None:
    """Kills are none: they are scored, and cannot fail."""
    root = parsed(result(), kill())

    assert root.attrib == {
        "name": "s & <t>",
        "tests": "1",
        "failures": "0",
        "errors": "0",
        "skipped": "0",
    }
    assert root[0].attrib == {"classname": "worker", "name": "pay trial 1", "time": "1.500"}
    assert len(root[0]) == 0


def test_what_failed_says_why() -> None:
    """Whatever characters the evidence has."""
    root = parsed(result(success=False, verifiers=FAILED))

    assert root.get("failures") == "1"
    assert [(each.tag, each.get("message")) for each in root[0]] == [
        ("failure", "b: 1 < 2 & ?? 'x'")
    ]


def test_what_a_limit_ended_is_a_failure() -> None:
    """The limit is named."""
    root = parsed(result(success=False, status="budget", reason="calls: more than 3"))

    assert root[0][0].attrib == {"message": "calls: more than 3"}


def test_what_could_not_be_judged_is_an_error() -> None:
    """And no failure."""
    root = parsed(
        result(success=None, status="error", reason="verifier: x"),
        result(success=None, status="invalid", reason="disk full"),
    )

    assert (root.get("failures"), root.get("errors")) == ("0", "2")
    assert [case[0].get("message") for case in root] == ["verifier: x", "disk full"]


def test_what_nothing_verified_is_skipped() -> None:
    """It neither passed nor failed."""
    assert parsed(result(success=None, verifiers=None)).get("skipped") == "1"
