"""Who may ask, from where and how; and what each answer tells a browser."""

import re
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from tests.commands import tracegrade
from tests.explorer.lakes import run_query

from tracegrade_collector.edge.address import Address
from tracegrade_explorer.app import PAGES, Explorer, PageRoute
from tracegrade_explorer.guard import (
    HEADERS,
    WRITES,
    Caller,
    Guard,
    PageTokens,
    Rules,
    allowed_hosts,
    knows_file,
    knows_one,
)

HOSTS = allowed_hosts(Address("127.0.0.1", 8321), ["pages.example"])
TOKEN = "the-token"  # noqa: S105 - of these tests


def web(*, token: bool = True, tls: bool = False) -> TestClient:
    """Return what asks a guarded page."""
    rules = Rules(HOSTS, knows_one(TOKEN) if token else None, "tracegrade_8321", tls=tls)
    guard = Guard(PlainTextResponse("the page"), rules)
    return TestClient(guard, base_url="http://127.0.0.1:8321", follow_redirects=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_a_form_reaches_its_page_and_no_other(page: PageRoute) -> None:
    """A page that takes POST is reached by it; what writes needs to come from an own page."""
    path = re.sub(r"\{.*?\}", "x", page.path)
    asked = web(token=False)
    own = {"sec-fetch-site": "same-origin"}
    takes_forms = "POST" in page.methods or path.startswith("/sql/")

    assert asked.post(path, headers=own).status_code == (200 if takes_forms else 405)
    if page.methods == ("POST",):
        assert path in WRITES
        assert asked.post(path, headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_nobody_reads_without_the_token() -> None:
    """The page that says so has a form, and its style sheet is let through."""
    answer = web().get("/runs")

    assert answer.status_code == 401
    assert 'name="token"' in answer.text
    assert "the page" not in answer.text
    assert web().get("/static/app.css").text == "the page"


def test_a_scraper_with_the_token_names_any_host() -> None:
    """An address of a pod, say; without the token in a header, the host is refused as ever."""
    host, header = {"host": "10.0.0.7:8321"}, {"authorization": f"Bearer {TOKEN}"}
    guarded = web()
    guarded.cookies.set("tracegrade_8321", TOKEN)

    assert guarded.get("/metrics", headers=host | header).text == "the page"
    assert guarded.get("/metrics", headers=host).status_code == 421
    assert guarded.get("/runs", headers=host | header).status_code == 421
    wrong = web().get("/metrics", headers=host | {"authorization": "Bearer other"})
    assert wrong.status_code == 401
    assert web(token=False).get("/metrics", headers=host | header).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8321", "10.0.0.7:8321", "elsewhere.example"])
def test_probes_ask_for_its_health_without_a_token(host: str) -> None:
    """They name what host they like, and learn nothing of the lake; nothing else is so open."""
    client = web()
    headers = {"host": host}

    assert client.get("/healthz", headers=headers).text == "ok\n"
    assert client.head("/healthz", headers=headers).status_code == 200
    assert client.post("/healthz", headers=headers).status_code in {405, 421}
    assert client.get("/healthz/../runs", headers=headers).status_code in {401, 421}


def test_the_token_becomes_a_cookie_and_leaves_the_address() -> None:
    """That scripts cannot read, and other sites' requests do not carry."""
    client = web()
    answer = client.get(f"/runs?agent=a%26b&token={TOKEN}&x=")

    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?agent=a%26b&x=")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("tracegrade_8321=the-token;")
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/"))
    assert client.get("/runs").text == "the page"


def test_over_tls_browsers_are_told_to_come_by_nothing_else() -> None:
    """Neither to the pages nor with the cookie."""
    answer = web(tls=True).get(f"/runs?token={TOKEN}")

    assert answer.headers["Strict-Transport-Security"]
    assert "; secure" in answer.headers["set-cookie"].lower()
    assert "Strict-Transport-Security" not in web().get("/runs").headers
    assert "; secure" not in web().get(f"/runs?token={TOKEN}").headers["set-cookie"].lower()


def test_the_token_leads_to_names_as_the_address_wrote_them() -> None:
    """A question mark, a hash or a slash in a name stays a part of it."""
    answer = web().get(f"/tasks/a%3Fb%23c%2Fd?token={TOKEN}")
    assert answer.headers["location"] == "/tasks/a%3Fb%23c%2Fd"


@pytest.mark.parametrize("path", ["//evil.example/", "///evil.example", "/\\evil.example"])
def test_the_token_leads_to_no_other_host(path: str) -> None:
    """Whatever the path of the address was."""
    answer = web().get(f"http://127.0.0.1:8321{path}?token={TOKEN}")
    assert answer.headers["location"].startswith("/")
    assert not answer.headers["location"].startswith("//")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": f"Bearer {TOKEN}"}, 200),
        ({"authorization": "Bearer other"}, 401),
        ({"authorization": TOKEN}, 401),
        ({"cookie": f"tracegrade_8321={TOKEN}"}, 200),
        ({"cookie": f"tracegrade_8322={TOKEN}"}, 401),
        ({"cookie": "tracegrade_8321="}, 401),
        ({"cookie": "a b=;;=\x01,"}, 401),
    ],
)
def test_a_token_is_shown_in_a_cookie_or_as_bearer(headers: dict[str, str], status: int) -> None:
    """Only there; text that is not a cookie is ignored."""
    assert web().get("/", headers=headers).status_code == status


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8321", 200),
        ("localhost:8321", 200),
        ("LOCALHOST:8321", 200),
        ("[::1]:8321", 200),
        ("pages.example:8321", 200),
        ("127.0.0.1", 421),
        ("127.0.0.1:80", 421),
        ("evil.example:8321", 421),
        ("evil.example", 421),
        ("127.0.0.1:8321.evil.example", 421),
        ("", 421),
    ],
)
def test_a_request_names_a_host_of_ours(host: str, status: int) -> None:
    """A foreign name that leads here (DNS rebinding) is refused."""
    assert web(token=False).get("/", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("site", "mode", "destination", "status"),
    [
        ("none", "navigate", "document", 200),
        ("same-origin", "cors", "empty", 200),
        ("cross-site", "navigate", "document", 200),
        ("cross-site", "navigate", "iframe", 403),
        ("cross-site", "no-cors", "script", 403),
        ("cross-site", "no-cors", "image", 403),
        ("cross-site", "cors", "empty", 403),
        ("same-site", "no-cors", "image", 403),
    ],
)
def test_other_sites_may_link_and_nothing_else(
    site: str, mode: str, destination: str, status: int
) -> None:
    """Neither frames nor scripts, images or requests of theirs get an answer."""
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": destination}
    assert web(token=False).get("/", headers=headers).status_code == status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_pages_are_only_read(method: str) -> None:
    """Nothing is written, and no other origin learns what it may send."""
    answer = web(token=False).request(method, "/")
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "path",
    ["/runs", "/sql/", "/SQL", "/sql.html", "/queries", "/sql/x/y", "//sql", "/save-query/x"],
)
def test_no_other_page_takes_a_form(path: str) -> None:
    """Than those that run a query."""
    assert web(token=False).post(f"http://127.0.0.1:8321{path}").status_code == 405
    assert web(token=False).post("/sql").status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_form_of_another_site_is_refused(site: str) -> None:
    """Also where a link may lead here: a page at another port is of the same site."""
    headers = {
        "sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document",
    }  # fmt: skip
    assert web(token=False).post("/sql", headers=headers).status_code == 403
    assert web(token=False).get("/sql", headers=headers).status_code == 200


def test_a_form_without_a_readers_token_is_refused() -> None:
    """As any page is."""
    assert web().post("/sql").status_code == 401
    assert web().post("/sql", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_a_page_token_is_of_one_caller_and_one_start() -> None:
    """Nobody else's form is taken for his."""
    tokens, others = PageTokens(), PageTokens()
    one, two = Caller("a"), Caller("b")
    assert tokens.know(one, tokens.of(one))
    assert not tokens.know(two, tokens.of(one))
    assert not others.know(one, tokens.of(one))


def test_a_program_with_a_token_in_its_header_sends_a_form_of_its_own(pages: Explorer) -> None:
    """A cookie needs the token of a page beside it, of the same reader."""
    guard = Guard(pages.app(), Rules(HOSTS, knows_one(TOKEN), "tracegrade_8321", tls=False))
    client = TestClient(guard, base_url="http://127.0.0.1:8321", follow_redirects=False)
    asked = {"q": "SELECT 41 + 1 AS n"}
    answer = client.post("/sql.csv", data=asked, headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.text == '"n"\n42\n'
    client.cookies.set("tracegrade_8321", TOKEN)
    of_nobody = pages.tokens.of(Caller())
    assert client.post("/sql.csv", data=asked).status_code == 403
    assert client.post("/sql.csv", data={**asked, "page_token": of_nobody}).status_code == 403
    assert run_query(client, "SELECT 41 + 1 AS n", ".csv").text == '"n"\n42\n'


def test_addresses_are_bounded() -> None:
    """As headers are by the server."""
    assert web(token=False).get("/?q=" + "x" * 9_000).status_code == 414


@pytest.mark.parametrize("path", ["/", "/static/app.css", "/?q=" + "x" * 9_000])
def test_every_answer_has_the_policy(path: str) -> None:
    """Errors as well as pages: no inline script or style, no frame, no type that is guessed."""
    for client in (web(), web(token=False)):
        answer = client.get(path)
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'; trusted-types 'none'" in policy


def test_tokens_of_a_file_are_known(tmp_path: Path) -> None:
    """Those of the lake itself; another tenant's, and one for metrics, are not."""
    file = tmp_path / "readers.toml"
    made = {
        tenant: tracegrade("token", "new", "--file", file, *tenant).stdout.split()
        for tenant in ((), ("--tenant", "acme"), ("--metrics",))
    }
    knows = knows_file(file)

    assert {bool(tenant): any(map(knows, words)) for tenant, words in made.items()} == {
        False: True, True: False,
    }  # fmt: skip
    assert not knows("other")
