"""The pages in a real browser: they are drawn, say nothing on the console and load nothing."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tests.scoring.report.build import START, Tables
from tests.scoring.report.test_hostile import fill_with
from tests.slow import slow_after

from tracegrade_scoring.compare.html import render_html as render_comparison
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rule_outcomes import apply_rules
from tracegrade_scoring.report.html import render_html
from tracegrade_scoring.timeline.html import render_html as render_run
from tracegrade_scoring.timeline.read import read_timeline

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Debian's package chromium is not here")


class Listener(BaseHTTPRequestHandler):
    """Notes all requests of a page."""

    asked: list[str]

    def do_GET(self) -> None:
        """Note a request and answer with nothing."""
        self.asked.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[tuple[str, list[str]]]:
    """The address of a server on loopback, and what it was asked for."""
    asked: list[str] = []
    handler = type("Noting", (Listener,), {"asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()


def hostile(address: str) -> str:
    """Return a text that acts wherever it is not escaped."""
    return (
        f"</style></svg></title><script>console.error('ran');fetch('{address}/script')</script>"
        f"<img src='{address}/img' onerror=\"console.error('ran')\"><link rel=stylesheet "
        f"href='{address}/css'>\" onload=\"console.error('ran')\" x='\u202e\x00\x1b[2J"
    )


@pytest.fixture(scope="module")
def pages(
    site: tuple[str, list[str]], sample: Tables, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The sample's report; one, a comparison and a run of 1 MB that are full of hostile texts."""
    text = hostile(site[0])
    folder = tmp_path_factory.mktemp("pages")
    with closing(Tables()) as tables:
        fill_with(tables, text)
        for index, kind in enumerate(("tool_call", "answer")):
            tables.insert("steps", trajectory_id="t1", step_index=index, kind=kind, status="error",
                          content=text * 4_000, arguments=text, tool_name=text, start_time=START,
                          error_message=text, flags=[text])  # fmt: skip
        texts = {
            "sample": render_html(sample.report()),
            "hostile": render_html(tables.report(lake=text)),
            "compared": render_comparison(
                apply_rules(read_comparisons(tables.con, text, text, text + "2"), [])
            ),
            "run": render_run(read_timeline(tables.con, text, "t1")),
        }
    for name, page in texts.items():
        (folder / f"{name}.html").write_text(page, "utf-8")
    return {name: folder / f"{name}.html" for name in texts}


def browse(page: Path, profile: Path, *flags: str) -> tuple[str, str]:
    """Open a page and return what the browser made of it, and what it said."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={profile}", "--no-first-run", "--disable-background-networking",
         *flags, page.as_uri()],
        capture_output=True, text=True, timeout=300, check=True, env={**os.environ, "LANG": "C"},
    )  # fmt: skip
    return done.stdout, done.stderr


@pytest.mark.parametrize("name", slow_after(1, ["hostile", "compared", "run", "sample"]))
def test_page_is_drawn_and_silent(
    name: str, pages: dict[str, Path], site: tuple[str, list[str]], tmp_path: Path
) -> None:
    """The whole document stands, the console is empty, and nothing was asked of the network."""
    document, said = browse(pages[name], tmp_path, "--dump-dom")

    assert "</footer>" in document
    assert not re.findall(r".*:CONSOLE.*", said)
    assert "<script" not in document
    assert site[1] == []


def test_browser_would_tell(site: tuple[str, list[str]], tmp_path: Path) -> None:
    """The same texts in a page that does not escape them are on the console and the network."""
    careless = tmp_path / "careless.html"
    careless.write_text(f"<title>x</title>{hostile(site[0])}", "utf-8")
    _, said = browse(careless, tmp_path / "profile", "--dump-dom")

    assert re.search(r":CONSOLE.*ran", said)
    assert "/script" in site[1]
    site[1].clear()


@pytest.mark.slow
def test_page_prints_and_has_a_dark_side(pages: dict[str, Path], tmp_path: Path) -> None:
    """It becomes a PDF of several pages, and another picture where a reader prefers dark."""
    pdf, light, dark = (tmp_path / name for name in ("page.pdf", "light.png", "dark.png"))
    browse(pages["sample"], tmp_path / "a", f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    window = "--window-size=1100,900"
    browse(pages["sample"], tmp_path / "b", f"--screenshot={light}", window)
    browse(pages["sample"], tmp_path / "c", f"--screenshot={dark}", window,
           "--blink-settings=preferredColorScheme=0")  # fmt: skip

    assert pdf.read_bytes().startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes())) > 2
    assert light.read_bytes()[:8] == dark.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert light.read_bytes() != dark.read_bytes()
