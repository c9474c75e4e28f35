"""A small bank as an HTTP service: accounts, credits and holds, by routes and as an app."""

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.harness.parts.environments import declare

from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment
from tracegrade_harness.parts.http.part import OpenedHttp

STATE = {"credits": 10, "holds": {"h1": {"price": 1}}, "log": ["opened"]}

ROUTES = """
- {method: GET, path: /credits, read: $.credits}
- {method: GET, path: "/holds/{id}", read: "$.holds.{id}"}
- {method: POST, path: /holds, when: {$.credits: 0}, status: 402, respond: {error: no credits}}
- method: POST
  path: /holds
  set: {"$.holds.{body.id}": {price: "{body.price}", note: "request {number} of {query.by}"}}
  subtract: {$.credits: "{body.price}"}
  append: {$.log: {held: "{body.id}"}}
  status: 201
  respond: {id: "{body.id}", left: "{$.credits}"}
- method: DELETE
  path: /holds/{id}
  read: "$.holds.{id}"
  add: {$.credits: "{found.price}"}
  remove: ["$.holds.{id}"]
- {method: PUT, path: "/any/{collection}/{name}", set: {"$.{collection}.{name}": "{body}"}}
- {method: DELETE, path: "/any/{collection}/{name}", remove: ["$.{collection}.{name}"]}
- {method: PUT, path: "/any/{name}", set: {"$.{name}": "{body}"}}
"""

APP = """
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route


def app(state):
    async def hold(request):
        asked = await request.json()
        state["credits"] -= asked["price"]
        state["holds"][asked["id"]] = asked
        return JSONResponse(asked, 201)

    return Starlette(routes=[Route("/holds", hold, methods=["POST"])])
"""


def bank_beside(folder: Path) -> dict[str, Any]:
    """Write the bank's state and routes, and return how a suite beside them declares it."""
    (folder / "bank.json").write_text(json.dumps(STATE))
    (folder / "bank.yaml").write_text(ROUTES)
    return {
        "state": "bank.json",
        "routes": "bank.yaml",
        "url_env": "BANK_URL",
        "ignore": ["$.log"],
    }


def bank_template(folder: Path, **declared: Any) -> EnvironmentTemplate:
    """Return an environment with the bank alone, which agents find by `BANK_URL`."""
    if not (folder / "bank.json").exists():
        (folder / "bank.json").write_text(json.dumps(STATE))
        (folder / "bank.yaml").write_text(ROUTES)
        (folder / "bank_app.py").write_text(APP)
    made_by = {} if "app" in declared else {"routes": "bank.yaml"}
    bank = {"state": "bank.json", "url_env": "BANK_URL", **made_by, **declared}
    template = EnvironmentTemplate(declare(http={"bank": bank}), folder)
    template.freeze(folder / "frozen")
    return template


@contextmanager
def opened_bank(folder: Path, **declared: Any) -> Iterator[tuple[OpenedEnvironment, "Client"]]:
    """Open the bank for a trial, with a client of it."""
    with closing(bank_template(folder, **declared).open(folder / "trial")) as environment:
        yield environment, Client(environment.variables["BANK_URL"])


def service(environment: OpenedEnvironment) -> OpenedHttp:
    """Return the bank of an environment."""
    found = environment.parts["http:bank"]
    assert isinstance(found, OpenedHttp)
    return found


class Client:
    """Asks a service, and returns status and JSON, or None without a body."""

    def __init__(self, url: str) -> None:
        self._address = url.removeprefix("http://")

    def __call__(self, line: str, body: Any = ...) -> tuple[int, Any]:
        """Send one request, such as `POST /holds`."""
        connection = http.client.HTTPConnection(self._address, timeout=60)
        with closing(connection):
            method, path = line.split(" ")
            content = None if body is ... else json.dumps(body)
            connection.request(method, path, content)
            answer = connection.getresponse()
            text = answer.read()
        return answer.status, json.loads(text) if text else None
