"""Pages are verified by the elements that selectors find in them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.harness.parts.browser.pages import driven, needs_chromium, opened_shop
from tests.harness.parts.verifying.build import context, said

from tracegrade_harness.parts.http.part import OpenedHttp
from tracegrade_harness.parts.verifying.result import Context

pytestmark = needs_chromium

HOSTILE = """
document.body.innerHTML = `
  <p class="said">Hello   <b>you</b></p><p class="said" hidden>secret</p>
  <script>const never = "Order placed";</` + `script>
  <form id="f">
    <input name="innerText"><input name="attributes"><input name="querySelectorAll">
  </form>
  <select id="size"><option>S</option><option selected>M</option></select>`;
document.querySelectorAll = () => [];
Element.prototype.checkVisibility = () => true;
Object.defineProperty(HTMLElement.prototype, "innerText", {get: () => "Order placed"});
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    """The shop as an agent leaves it that has rewritten its page."""
    folder: Path = tmp_path_factory.mktemp("shop")
    with opened_shop(folder) as (environment, _):
        with driven(environment) as driver:
            driver.pages[0].evaluate("localStorage.theme = 'green'")
            driver.pages[0].evaluate(HOSTILE)
        yield replace(context(folder), opened=environment.parts)


@pytest.mark.parametrize(
    ("asked", "outcome", "evidence"),
    [
        ({"selector": ".said"}, "pass", "2 of 2 elements fit: Hello you; secret"),
        ({"selector": ".said", "text": "Hello you"}, "pass", "1 of 2 elements fit: Hello you"),
        ({"selector": ".said", "visible": False}, "pass", "1 of 2 elements fit: secret"),
        ({"selector": ".said", "text": {"matches": "^Bye"}}, "fail", "0 of 2 elements fit: Hello"),
        ({"selector": ".said", "count": 2}, "pass", "2 of 2"),
        ({"selector": ".said", "visible": True, "count": 2}, "fail", "1 of 2"),
        ({"selector": ".none"}, "fail", "0 of 0 elements fit"),
        ({"selector": ".none", "count": 0}, "pass", "0 of 0 elements fit"),
        ({"selector": "body", "text": {"matches": "Order placed"}}, "fail", "0 of 1"),
        ({"selector": "#size", "value": "M"}, "pass", "1 of 1 elements fit: M"),
        (
            {"selector": "#f", "attributes": {"id": "f", "class": {"optional": "x"}}},
            "pass",
            "1 of",
        ),
        ({"selector": "#f", "attributes": {"id": {"matches": "^g"}}}, "fail", "0 of 1"),
        ({"selector": "li["}, "error", "browser:desk: 'li[' is not a CSS selector; correct it"),
    ],
)
def test_pages_are_verified_as_the_agent_left_them(
    shop: Context, asked: dict[str, Any], outcome: str, evidence: str
) -> None:
    """Whatever their scripts, or names of their elements, make of the browser's own functions."""
    found = said(shop, dom="desk", **asked)

    assert (found[0], found[1][: len(evidence)]) == (outcome, evidence)


@pytest.mark.parametrize(
    ("asked", "outcome", "evidence"),
    [
        ({"selector": "#who", "text": "Orders of ann"}, "pass", "1 of 1"),
        ({"selector": "#theme", "text": "in green"}, "pass", "1 of 1"),
        ({"selector": "#theme", "text": "in red", "timeout_secs": 0.5}, "fail", "0 of 1"),
        ({"selector": "#hidden", "text": "Order placed", "visible": True, "timeout_secs": 0.1},
         "fail", "0 of 1"),
    ],
)  # fmt: skip
def test_a_page_is_visited_with_what_the_browser_keeps(
    shop: Context, asked: dict[str, Any], outcome: str, evidence: str
) -> None:
    """Its cookies and its storage; the elements may come as late as the limit allows."""
    found = said(shop, dom="desk", url="http://shop/", **asked)

    assert (found[0], found[1][: len(evidence)]) == (outcome, evidence)


def test_a_visit_is_none_to_the_environment(shop: Context) -> None:
    """It is paid to a copy of the service, by a copy of the browser."""
    service, browser = shop.opened["http:shop"], shop.opened["browser:desk"]
    assert isinstance(service, OpenedHttp)
    before = (len(service.calls()), service.state(), browser.state())

    assert said(shop, dom="desk", url="http://shop/other", selector="p")[0] == "pass"
    assert (len(service.calls()), service.state(), browser.state()) == before


def test_an_address_at_which_nobody_answers_is_an_error(shop: Context) -> None:
    """So is a browser that is not declared."""
    assert said(shop, dom="desk", url="http://nowhere/", selector="p") == (
        "error",
        "browser:desk cannot go to http://nowhere/: net::ERR_NAME_NOT_RESOLVED; "
        "see that a service answers there",
    )
    assert said(shop, dom="other", selector="p") == (
        "error",
        "the environment has no browser 'other'; declare it there",
    )
