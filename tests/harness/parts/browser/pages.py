"""A shop with pages, and a browser that is at it; skips tests where there is no Chromium."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.harness.parts.environments import declare

from tracegrade_harness.parts.browser.part import OpenedBrowser
from tracegrade_harness.parts.browser.programs import why_not
from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment

needs_chromium = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

APP = '''
"""Pages of a shop: a list of orders, a form for one more, a sign-in."""

from html import escape
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route

FORM = """
<form method="post" action="/orders">
  <input name="item" id="item"><input type="checkbox" name="gift" id="gift" value="yes">
  <button id="order">Order</button>
</form>
"""


def app(state):
    orders = state.setdefault("orders", [])

    async def listed(request):
        rows = "".join(f'<li data-item="{escape(each)}">{escape(each)}</li>' for each in orders)
        who = escape(request.cookies.get("session", "nobody"))
        return HTMLResponse(f"""<title>Orders</title><h1 id="who">Orders of <b>{who}</b></h1>
          <ul id="orders">{rows}</ul>{FORM}<p id="hidden" hidden>Order placed</p>
          <script>const said = "Order refused"; setTimeout(() => {{
            const theme = "<p id=theme>in " + (localStorage.theme ?? "white") + "</p>";
            document.body.insertAdjacentHTML("beforeend", theme);
          }}, 100)</script>""")

    async def order(request):
        given = parse_qs((await request.body()).decode())
        orders.append(given["item"][0])
        answer = RedirectResponse("/", 303)
        answer.set_cookie("last", given["item"][0], max_age=3600)
        return answer

    async def blank(request):
        return HTMLResponse("<title>Other</title><p>Other</p>")

    return Starlette(routes=[
        Route("/", listed), Route("/orders", order, methods=["POST"]), Route("/other", blank),
    ])
'''

SHOP: dict[str, Any] = {"app": "shop_app:app", "state": "shop.json", "url_env": "SHOP_URL"}
BROWSER: dict[str, Any] = {
    "url": "http://shop/",
    "url_env": "CDP_URL",
    "cookies": [{"name": "session", "value": "ann", "http_only": True}],
    "storage": {"http://shop": {"local": {"theme": "dark"}, "session": {"step": "1"}}},
    "watch": ["#orders", "form"],
}
STATE = '{"orders": ["tea"]}'


def write_shop(folder: Path) -> None:
    """Write the sources of the shop."""
    (folder / "shop_app.py").write_text(APP)
    (folder / "shop.json").write_text(STATE)


def shop_template(folder: Path, **options: Any) -> EnvironmentTemplate:
    """Return a frozen environment with the shop and a browser `desk` at it."""
    write_shop(folder)
    declared = declare(http={"shop": SHOP}, browser={"desk": {**BROWSER, **options}})
    template = EnvironmentTemplate(declared, folder)
    template.freeze(folder / "frozen")
    return template


@contextmanager
def opened_shop(folder: Path, **options: Any) -> Iterator[tuple[OpenedEnvironment, OpenedBrowser]]:
    """Open the shop for a trial."""
    with closing(shop_template(folder, **options).open(folder / "trial")) as environment:
        browser = environment.parts["browser:desk"]
        assert isinstance(browser, OpenedBrowser)
        yield environment, browser


@contextmanager
def driven(environment: OpenedEnvironment) -> Iterator[Any]:
    """Drive the browser as agents do, by Playwright; gives its context."""
    driver = pytest.importorskip("playwright.sync_api", reason="no playwright")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(environment.variables["CDP_URL"])
        yield browser.contexts[0]
        browser.close()
