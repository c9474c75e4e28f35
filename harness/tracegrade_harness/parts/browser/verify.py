"""Verifies the content of a browser's pages."""

import time
from typing import Any, Final

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.browser.model import DomVerifier
from tracegrade_harness.parts.browser.pages import Element
from tracegrade_harness.parts.browser.part import OpenedBrowser
from tracegrade_harness.parts.verifying import value
from tracegrade_harness.parts.verifying.result import Context, Finding, listed, printable

AGAIN_SECS: Final = 0.1


def verify_dom(verifier: DomVerifier, context: Context) -> Finding:
    """Return whether elements of pages are as the suite expects.

    Raises:
        EnvironmentFailed: The browser or a page does not answer, or the selector is none.
        VerifierFailed: The environment has no such browser.
    """
    browser = context.opened.get(f"browser:{verifier.dom}")
    if not isinstance(browser, OpenedBrowser):
        msg = f"the environment has no browser '{verifier.dom}'; declare it there"
        raise VerifierFailed(msg)
    if verifier.url is None:
        return _finding(verifier, browser.elements(verifier.selector))
    ends = time.monotonic() + verifier.timeout_secs
    with browser.visit(verifier.url) as visitor:
        while True:
            found = _finding(verifier, visitor.elements(verifier.selector))
            if found.holds or time.monotonic() > ends:
                return found
            time.sleep(AGAIN_SECS)


def _finding(verifier: DomVerifier, elements: list[Element]) -> Finding:
    fitting = [each for each in elements if _fits(each, verifier)]
    if "count" in verifier.model_fields_set:
        holds = value.fits(value.canonical(len(fitting)), verifier.count)
    else:
        holds = bool(fitting)
    seen = fitting or elements
    what = f"{len(fitting)} of {len(elements)} elements fit"
    return Finding(holds, f"{what}: {listed(map(_described, seen))}" if seen else what)


def _fits(element: Element, expected: DomVerifier) -> bool:
    if expected.visible is not None and element.visible != expected.visible:
        return False
    rules: list[tuple[Any, Any]] = [
        (element.attributes.get(name), rule) for name, rule in (expected.attributes or {}).items()
    ]
    for key in ("text", "value"):
        if key in expected.model_fields_set:
            rules.append((getattr(element, key), getattr(expected, key)))
    return all(
        value.fits(None if found is None else value.canonical(found), rule)
        for found, rule in rules
    )


def _described(element: Element) -> str:
    text = element.text if element.value is None else element.value
    return value.short(printable(text)) or "an element without text"
