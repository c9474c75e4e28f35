"""Test cases as JUnit XML, which CI systems show."""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

_PRINTABLE: Final = {"\t", "\n"}
_COUNTS: Final = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))


class JunitCase(NamedTuple):
    """One test case; it passed unless it has a problem."""

    group: str
    """What CI systems list cases under."""
    name: str
    problem: Literal["failure", "error", "skipped"] | None = None
    message: str = ""
    """Why; empty if it passed."""
    seconds: float = 0.0


def junit_xml(suite: str, cases: Iterable[JunitCase]) -> str:
    """Return the cases as one suite; characters that XML forbids become `?`."""
    root = Element("testsuite", name=xml_text(suite))
    for case in cases:
        _add(root, case)
    root.set("tests", str(len(root)))
    for count, problem in _COUNTS:
        root.set(count, str(len(root.findall(f"testcase/{problem}"))))
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add(root: Element, case: JunitCase) -> None:
    element = SubElement(
        root,
        "testcase",
        classname=xml_text(case.group),
        name=xml_text(case.name),
        time=f"{case.seconds:.3f}",
    )
    if case.problem:
        SubElement(element, case.problem, message=xml_text(case.message))


def xml_text(text: str) -> str:
    """Return a text without characters that XML forbids."""
    return "".join(each if each.isprintable() or each in _PRINTABLE else "?" for each in text)
