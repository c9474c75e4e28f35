"""Test cases as JUnit XML."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from tracegrade_scoring.rendering.junit import JunitCase, junit_xml

CASES = st.builds(
    JunitCase,
    st.text(),
    st.text(),
    st.sampled_from(["failure", "error", "skipped", None]),
    st.text(),
)


def test_each_problem_is_counted() -> None:
    """Seconds have three decimals; a case that passed has no child."""
    cases = [
        JunitCase("a", "passed", seconds=1.25),
        JunitCase("a", "broken", "failure", "tsa fell"),
        JunitCase("a", "unjudged", "error", "no data"),
        JunitCase("b", "left out", "skipped", "no task"),
    ]

    root = ElementTree.fromstring(junit_xml("s & <t>", cases))  # noqa: S314 - ours

    assert root.attrib == {
        "name": "s & <t>",
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    assert root[0].attrib == {"classname": "a", "name": "passed", "time": "1.250"}
    assert [len(case) for case in root] == [0, 1, 1, 1]
    assert root[1][0].attrib == {"message": "tsa fell"}


@given(st.text(), st.lists(CASES))
def test_any_text_is_well_formed(suite: str, cases: list[JunitCase]) -> None:
    """Surrogates and control characters are in names of traces, too."""
    root = ElementTree.fromstring(junit_xml(suite, cases))  # noqa: S314 - ours

    assert int(root.get("tests", "")) == len(cases)
    problems = [case.problem for case in cases if case.problem]
    assert [case[0].tag for case in root if len(case)] == problems
