"""Browsers are restored for each trial; what differs there is named, and they are kept in."""

import json
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest
from tests.harness.parts.browser.pages import (
    driven,
    needs_chromium,
    shop_template,
)
from tests.harness.parts.servers.test_managed_server import wait_for
from tests.slow import slow_after

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.browser import server
from tracegrade_harness.parts.browser.command import Confinement
from tracegrade_harness.parts.diff import diff
from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment
from tracegrade_harness.parts.state import State
from tracegrade_harness.sandbox.bwrap import Bubblewrap

pytestmark = needs_chromium

PART = "browser:desk"
FOUND = {
    PART,
    f"{PART}/cookie:shop/session",
    f"{PART}/local:http://shop/theme",
    f"{PART}/session:http://shop/step",
    f"{PART}/dom:#orders",
    f"{PART}/dom:form",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> EnvironmentTemplate:
    """The shop, frozen."""
    return shop_template(tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="module")
def trial(
    template: EnvironmentTemplate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenedEnvironment]:
    """A trial that several tests change, each after the other."""
    with closing(template.open(tmp_path_factory.mktemp("trial"))) as environment:
        yield environment


def changes(environment: OpenedEnvironment, act: Callable[[], object]) -> dict[str, list[str]]:
    """Return what an act changes in the browser."""
    before = environment.state()
    act()
    return named(before, environment.state())


def named(before: State, now: State) -> dict[str, list[str]]:
    """Return what differs in the browser, without the part's name or empty lists."""
    found = diff(before, now)._asdict()
    short = {
        key: [name.removeprefix(f"{PART}/") for name in names if name.startswith(PART)]
        for key, names in found.items()
    }
    return {key: names for key, names in short.items() if names}


def test_a_trial_finds_what_the_suite_gives(template: EnvironmentTemplate) -> None:
    """Cookies, storage, and what the page shows of watched selectors."""
    assert {name for name in template.before if name.startswith("browser:")} == FOUND


CHANGES: list[tuple[str, dict[str, list[str]]]] = [
    ("localStorage.theme = 'light'", {"changed": ["local:http://shop/theme"]}),
    ("localStorage['a/b: c'] = 1", {"added": [r"local:http://shop/a\x2fb\x3a c"]}),
    ("localStorage.clear()", {"removed": ["local:http://shop/a", "local:http://shop/theme"]}),
    ("delete sessionStorage.step", {"removed": ["session:http://shop/step"]}),
    ("document.cookie = 'cart=7; path=/other'", {"added": ["cookie:shop/other/cart"]}),
    ("document.cookie = 'session=eve'", {}),
    ("document.querySelector('#item').value = 'milk'", {"changed": ["dom:form"]}),
    ("document.querySelector('#gift').checked = true", {"changed": ["dom:form"]}),
    ("document.querySelector('#orders').remove()", {"removed": ["dom:#orders"]}),
    ("history.pushState({}, '', '/elsewhere')", {}),
    ("localStorage.x = 1; delete localStorage.x", {}),
]


def test_a_change_is_named(trial: OpenedEnvironment) -> None:
    """And nothing else is; where a tab is counts as no change, nor does what a script cannot."""
    with driven(trial) as context:
        page = context.pages[0]
        before = trial.state()
        for script, changed in CHANGES:
            if script == "localStorage.clear()":
                page.evaluate("localStorage.clear(); localStorage.theme = 1; localStorage.a = 1")
                before = trial.state()
            page.evaluate(script)
            now = trial.state()
            assert named(before, now) == changed, script
            before = now
    assert trial.held() == []


def test_storage_of_a_tab_that_was_closed_is_seen(trial: OpenedEnvironment) -> None:
    """By the service's name, at each of its addresses."""
    with driven(trial) as context:

        def act() -> None:
            page = context.new_page()
            page.goto(trial.variables["SHOP_URL"] + "/other")
            page.evaluate("localStorage.seen = 1")
            page.close()

        assert changes(trial, act) == {"added": ["local:http://shop/seen"]}
        assert len(context.pages) == 1


ANYWHERE = (
    *("http://shop:6667/", "http://nowhere/", "http://shop/\u202e%00/😀?a=b#c"),
    *(
        "data:text/html,<form>x",
        "file:///usr/",
        "view-source:http://shop/other",
        "chrome://crash/",
    ),
)


@pytest.mark.slow
def test_wherever_tabs_are_the_browser_is_read_and_copied(
    template: EnvironmentTemplate, tmp_path: Path
) -> None:
    """An agent's use of its tabs is neither an error of the harness nor a change."""
    with closing(template.open(tmp_path / "one")) as environment:
        with driven(environment) as context:
            for url in ANYWHERE:
                shown(context.new_page(), url)

            assert environment.difference().names == []
            assert len(environment.ignored_changes()) == 1
        environment.clone(tmp_path / "copy").close()


def kept(environment: OpenedEnvironment) -> dict[str, str]:
    """Return the objects that do not depend on what scripts have made of a page."""
    return {name: digest for name, digest in environment.state().items() if "/dom:" not in name}


@pytest.mark.slow
def test_random_changes_are_named_copied_and_undone_by_the_next_trial(
    template: EnvironmentTemplate, trial: OpenedEnvironment, tmp_path: Path
) -> None:
    """Two hundred of them, to cookies and storage, with texts of any kind."""
    draw = random.Random(7)  # noqa: S311 - no secret
    texts = ["", "a", "ü/ö", "😀:,\\", "x" * 300, "None", "' OR 1", "\n", "%20"]
    expected: set[str] = set()
    steps = []
    for _ in range(200):
        kind = draw.choice(["localStorage", "sessionStorage", "cookie"])
        key, value = f"k{draw.randrange(30)}", draw.choice(texts)
        if kind == "cookie":
            steps.append(f"document.cookie = '{key}=' + encodeURIComponent({json.dumps(value)})")
            expected.add(f"{PART}/cookie:shop/{key}")
        else:
            steps.append(f"{kind}.setItem('{key}', {json.dumps(value)})")
            expected.add(f"{PART}/{kind.removesuffix('Storage')}:http://shop/{key}")
    before = trial.state()
    with driven(trial) as context:
        context.pages[0].evaluate(";".join(steps))
    difference = diff(before, trial.state())
    assert {*difference.added} == {*difference.names} == expected
    with closing(trial.clone(tmp_path / "copy")) as copy:
        assert kept(copy) == kept(trial)
    with closing(template.open(tmp_path / "next")) as environment:
        assert environment.fingerprint() == template.fingerprint()


def test_a_page_whose_script_does_not_end_is_held(
    template: EnvironmentTemplate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state says so; the browser can still be closed, and what it holds beside is read."""
    monkeypatch.setattr("tracegrade_harness.parts.browser.pages.PAGE_SECS", 1.0)
    with closing(template.open(tmp_path)) as environment:
        with driven(environment) as context:
            context.pages[0].evaluate("setTimeout(() => { while (true); }, 0)")
            context.new_page().goto("http://shop/other")

        now = environment.state()
        assert environment.held(now) == [f"{PART}/page:http://shop/ (script)"]
        assert f"{PART}/page:http://shop/" in environment.difference(now).added
        assert f"{PART}/local:http://shop/theme" in now


def test_a_browser_that_its_agent_has_ended_is_closed(
    template: EnvironmentTemplate, tmp_path: Path
) -> None:
    """All that was in it is gone; a copy of it can still be made, on which nothing is proven."""
    with closing(template.open(tmp_path / "one")) as environment:
        with driven(environment) as context:
            assert context.browser is not None
            context.browser.new_browser_cdp_session().send("Browser.close")
        wait_for(lambda: environment.state().get(PART) == "closed")

        assert {*environment.difference().removed} == FOUND - {PART}
        assert environment.held() == []
        environment.clone(tmp_path / "copy").close()


class Secret(BaseHTTPRequestHandler):
    """A service of this machine that no suite names."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"secret")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The address of a service that does not belong to the environment."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Secret) as serving:
        Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}/"
        serving.shutdown()


def shown(page: Any, url: str) -> str:
    """Return the text at an address; an empty one if the browser does not come there."""
    try:
        page.goto(url, timeout=10_000)
    except Exception:  # noqa: BLE001 - the driver's own
        return ""
    text: str = page.inner_text("body")
    return text


def test_an_agent_with_a_browser_does_not_get_out_of_it(
    bwrap: Bubblewrap, trial: OpenedEnvironment, elsewhere: str, tmp_path: Path
) -> None:
    """No request to the browser reaches this machine's files or network."""
    private = tmp_path / "private.txt"
    private.write_text("secret")
    for folder in (tmp_path, *tmp_path.parents):
        folder.chmod(folder.stat().st_mode | 0o005)
    with driven(trial) as context:
        page = context.new_page()
        for url in (private.as_uri(), "file:///etc/passwd", Path.home().as_uri(), elsewhere):
            assert "secret" not in shown(page, url)
            assert "root" not in page.inner_text("body")
        assert "usr" in shown(page, "file:///")
        assert "private.txt" not in shown(page, tmp_path.as_uri())
        assert context.browser is not None
        session = context.browser.new_browser_cdp_session()
        made = session.send("Target.createBrowserContext", {"proxyServer": "direct://"})
        target = session.send("Target.createTarget", {"url": elsewhere, **made})
        told = session.send("Target.getTargetInfo", target)["targetInfo"]
        assert "secret" not in json.dumps(told)
        session.send(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
        )
        page.goto("http://shop/other")
        with page.expect_download() as downloading:
            page.evaluate(
                "Object.assign(document.createElement('a'), "
                "{href: 'data:text/plain,x', download: 'out.txt'}).click()"
            )
        downloading.value.failure()
        page.close()
    assert [path.name for path in tmp_path.iterdir()] == ["private.txt"]
    assert trial.notes()[PART] == "not looked into: 1 contexts outside the profile"


def test_a_suite_may_open_the_network_to_its_browser(tmp_path: Path, elsewhere: str) -> None:
    """Then it reaches what this machine reaches."""
    template = shop_template(tmp_path, network="open", url=elsewhere, watch=["body"])

    assert f"{PART}/dom:body" in template.before


@pytest.mark.slow
def test_without_bubblewrap_a_browser_runs_all_the_same(
    template: EnvironmentTemplate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names lead nowhere but to services, and no process of it is left."""
    monkeypatch.setattr(server, "confinement", lambda folder: Confinement(None, own_sandbox=False))
    others = psutil.Process().children(recursive=True)
    with closing(template.open(tmp_path)) as environment:
        processes = {*psutil.Process().children(recursive=True)} - {*others}
        with driven(environment) as context:
            assert shown(context.new_page(), "http://example.com/") == ""
            assert "tea" in shown(context.new_page(), "http://shop/")
    wait_for(lambda: not any(map(is_alive, processes)))


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process runs."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


HARNESS = """
import time

from tracegrade_harness.parts.browser.server import BrowserServer

server = BrowserServer({}, opened=False)
print("open", flush=True)
time.sleep(3600)
"""


def test_no_browser_outlives_a_killed_harness() -> None:
    """Nor does what leads to it."""
    command = [sys.executable, "-c", HARNESS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout is not None
        assert harness.stdout.readline() == "open\n"
        processes = psutil.Process(harness.pid).children(recursive=True)
        assert any("chrom" in process.name() for process in processes)
        harness.send_signal(signal.SIGKILL)
    wait_for(lambda: not any(map(is_alive, processes)))


@pytest.mark.parametrize(
    ("options", "fault"),
    slow_after(
        1,
        [
            ({"url": "http://nowhere/"}, "cannot be restored: net::ERR_NAME_NOT_RESOLVED"),
            ({"watch": ["li["]}, "'li\\[' is not a CSS selector; correct it"),
        ],
    ),
)
def test_what_cannot_be_restored_is_an_error(
    tmp_path: Path, options: dict[str, Any], fault: str
) -> None:
    """It is the suite that is wrong."""
    with pytest.raises(EnvironmentFailed, match=fault):
        shop_template(tmp_path, **options)


def test_what_is_missing_is_told_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or with the variable that names another program."""
    from tracegrade_harness.parts.declared import missing  # noqa: PLC0415 - as tried

    monkeypatch.setenv("PATH", "/nowhere")
    from tests.harness.parts.environments import declare  # noqa: PLC0415

    declared = declare(browser={"desk": {"url": "about:blank"}})
    assert missing(declared) == (
        "no Chromium was found; `apt-get install chromium`, or name one in TRACEGRADE_CHROMIUM"
    )
    monkeypatch.setenv("TRACEGRADE_CHROMIUM", "/no/such")
    assert "TRACEGRADE_CHROMIUM names '/no/such', which is not a program" in str(missing(declared))
