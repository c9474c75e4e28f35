"""Takes the explorer's pictures: `python -m docs.explorer_pictures LAKE`, of the demo's lake.

It needs a Chromium, and playwright of the group `test`.
"""

import json
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, sync_playwright

FOLDER: Final = Path(__file__).parent
VIEW: Final = {"width": 1_180, "height": 900}
FAILED: Final = "outcome=failed&failure=loop_trap"


def main() -> None:
    """Write the pictures of a failed run, and of it beside the nearest success."""
    lake = Path(sys.argv[1]).resolve()
    command = [str(Path(sys.executable).with_name("tracegrade")), "ui", "--lake", lake.name]
    with subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--listen", "127.0.0.1:0", "--no-token"],
        cwd=lake.parent,  # pages show the lake's name as it was given
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None  # noqa: S101 - it is a pipe
        base = server.stdout.readline().removeprefix("ui: ").strip().rstrip("/")
        try:
            _take(base)
        finally:
            server.terminate()


def _take(base: str) -> None:
    run = _first(f"{base}/runs.json?{FAILED}")["trajectory_id"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=VIEW, color_scheme="light")  # type: ignore[arg-type]
        _picture(page, f"{base}/runs/{run}", "explorer-run")
        _picture(page, f"{base}/runs/{run}/nearest", "explorer-compare")
        browser.close()


def _picture(page: Page, url: str, name: str) -> None:
    page.goto(url)
    page.screenshot(path=FOLDER / f"{name}.png")


def _first(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own server
        rows: list[dict[str, Any]] = json.load(answer)["rows"]
    return rows[0]


if __name__ == "__main__":
    main()
