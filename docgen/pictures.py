"""Takes the documents' pictures: `python -m docgen.pictures LAKE`, of the demo's lake.

It needs a Chromium, and playwright of the group `test`.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, ViewportSize, sync_playwright

FOLDER: Final = Path(__file__).parents[1] / "docs"
TRACEGRADE: Final = str(Path(sys.executable).with_name("tracegrade"))
EXPLORER: Final[ViewportSize] = {"width": 1_180, "height": 900}
REPORT: Final[ViewportSize] = {"width": 1_000, "height": 1_432}
FAILED: Final = "outcome=failed&failure=loop_trap"


def main() -> None:
    """Write the pictures of a report, of a failed run, and of it next to the nearest success."""
    lake = Path(sys.argv[1]).resolve()
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as driver,
        _served(lake) as base,
    ):
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(color_scheme="light")
        _picture(page, _report(lake, Path(folder)), "report", REPORT)
        run = _first(f"{base}/runs.json?{FAILED}")["trajectory_id"]
        _picture(page, f"{base}/runs/{run}", "explorer-run", EXPLORER)
        _picture(page, f"{base}/runs/{run}/nearest", "explorer-compare", EXPLORER)
        browser.close()


def _report(lake: Path, folder: Path) -> str:
    """Write a report as pages that lead to runs; return where it begins."""
    command = [TRACEGRADE, "report", "--lake", lake.name, "--format", "html", "--out", str(folder)]
    subprocess.run(command, cwd=lake.parent, check=True)  # noqa: S603 - our own command
    return (folder / "index.html").as_uri()


@contextmanager
def _served(lake: Path) -> Iterator[str]:
    """Serve the explorer's pages, and yield where."""
    command = [TRACEGRADE, "ui", "--lake", lake.name, "--listen", "127.0.0.1:0", "--no-token"]
    with subprocess.Popen(  # noqa: S603 - our own command
        command,
        cwd=lake.parent,  # pages show the lake's name as it was given
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None  # noqa: S101 - it is a pipe
        try:
            yield server.stdout.readline().removeprefix("ui: ").strip().rstrip("/")
        finally:
            server.terminate()


def _picture(page: Page, url: str, name: str, size: ViewportSize) -> None:
    page.set_viewport_size(size)
    page.goto(url)
    page.screenshot(path=FOLDER / f"{name}.png")


def _first(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own server
        rows: list[dict[str, Any]] = json.load(answer)["rows"]
    return rows[0]


if __name__ == "__main__":
    main()
