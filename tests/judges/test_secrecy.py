"""No key, prompt or answer gets out of a judge but into the lake: not in logs, errors or files."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.commands import tracegrade
from tests.waiting import PATIENCE_SECS

from tracegrade_lake import Lake

from .conftest import KEY, judge_file
from .messages_api import needs_client, speaking_messages
from .model_server import Json, ModelServer, Reply, Rule, honest

SAID = "as the judge alone would say it"
SECRETS = (KEY, "You judge one run", "Was look called", SAID)
"""The key, the instructions and questions of a judge, and its answers."""


def telling(request: Json, number: int) -> Reply:
    """Answer honestly, in words that can be looked for."""
    reply = honest(request, number)
    return reply._replace(body=reply.body.replace(b"as recorded", SAID.encode()))


def leaked(*texts: str) -> set[str]:
    """Return what of the secrets stands in texts."""
    return {secret for secret in SECRETS if any(secret in text for text in texts)}


def written_outside(lake: Lake, folder: Path) -> list[str]:
    """Return what files beside the lake hold, but for the judge file and its document."""
    return [
        path.read_text(errors="replace")
        for path in folder.rglob("*")
        if path.is_file() and not path.is_relative_to(lake.root)
    ]


def broken_off(request: Json, number: int) -> Reply:
    """Promise more than is sent: an exception of the HTTP library."""
    reply = telling(request, number)
    return reply._replace(headers={"Content-Length": "99999"}) if number else reply


@pytest.mark.parametrize(
    ("provider", "rule"),
    [
        ("openai", broken_off),
        pytest.param("anthropic", speaking_messages(telling), marks=needs_client),
    ],
)
def test_debug_logs_have_nothing_of_it(
    lake: Lake,
    tmp_path: Path,
    server: ModelServer,
    caplog: pytest.LogCaptureFixture,
    provider: str,
    rule: Rule,
) -> None:
    """It holds for all loggers, whether the endpoint answers or breaks off."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, provider)
    server.rule = rule
    model = {"provider": provider, "name": "claude-haiku-4-5", "timeout_secs": 5}
    judges = judge_file(tmp_path, only=["refund/find"], model=model)

    ended = tracegrade("judge", "run", judges, "--lake", lake.root, "--max-tokens", 30_000,
                       "--verbose")  # fmt: skip

    assert server.bodies
    assert leaked(ended.stdout, ended.stderr, caplog.text) == set()
    assert leaked(*written_outside(lake, tmp_path)) == set()
    assert logging.getLogger(provider).level == logging.DEBUG


@pytest.mark.slow
@needs_client
def test_a_crash_tells_nothing_of_it(lake: Lake, tmp_path: Path, server: ModelServer) -> None:
    """A process whose lake breaks under it shows its traceback; its client logs everything."""
    model = {"provider": "anthropic", "name": "claude-haiku-4-5"}
    judges = judge_file(tmp_path, only=["refund/find"], model=model)

    def breaking(request: Json, number: int) -> Reply:
        (lake.root / "judge_calls").write_text("no table")
        return telling(request, number)

    server.rule = speaking_messages(breaking)
    command = [sys.executable, "-m", "tracegrade", "judge", "run", str(judges), "--lake",
               str(lake.root), "--max-tokens", "1000000", "--verbose"]  # fmt: skip
    done = subprocess.run(
        command,
        env={**os.environ, "ANTHROPIC_LOG": "debug", "OPENAI_LOG": "debug"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECS,
        check=False,
    )

    assert done.returncode == 3
    assert "Traceback" in done.stderr
    assert server.bodies
    assert leaked(done.stdout, done.stderr, *written_outside(lake, tmp_path)) == set()
