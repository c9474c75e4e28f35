"""The command: where it listens, what it prints, whom it keeps out."""

import re
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import trustme
from tests.commands import tracegrade

from tracegrade_lake import Lake


def ui(lake: Path, *options: object) -> subprocess.Popen[str]:
    """Start the command on a free port."""
    command = [Path(sys.executable).with_name("tracegrade"), "ui", "--lake", lake]
    return subprocess.Popen(
        [str(each) for each in (*command, "--listen", "127.0.0.1:0", *options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_command_serves_until_it_is_told_to_stop(sample_lake: Lake) -> None:
    """The address that it prints has the token; without it there is no page."""
    with ui(sample_lake.root) as process:
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("ui: ").strip()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        page = opener.open(url).read().decode()
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.build_opener().open(url.partition("?")[0])
        process.send_signal(signal.SIGTERM)
        process.wait()

    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", url)
    assert '<h1 class="unseen">Now</h1>' in page


@pytest.mark.slow
def test_pages_are_served_with_a_certificate(sample_lake: Lake, tmp_path: Path) -> None:
    """That browsers know the authority of; the cookie is then for TLS alone."""
    authority = trustme.CA()
    made = authority.issue_cert("127.0.0.1")
    cert, key, ca = (tmp_path / name for name in ("cert.pem", "key.pem", "ca.pem"))
    made.cert_chain_pems[0].write_to_path(cert)
    made.private_key_pem.write_to_path(key)
    key.chmod(0o600)
    authority.cert_pem.write_to_path(ca)
    with ui(sample_lake.root, "--tls-cert", cert, "--tls-key", key) as process:
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("ui: ").strip()
        context = ssl.create_default_context(cafile=str(ca))
        https = urllib.request.HTTPSHandler(context=context)
        opener = urllib.request.build_opener(https, urllib.request.HTTPCookieProcessor())
        answer = opener.open(url)
        process.terminate()
        process.wait()

    assert url.startswith("https://")
    assert answer.headers["Strict-Transport-Security"]
    assert '<h1 class="unseen">Now</h1>' in answer.read().decode()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--listen", "0.0.0.0:0"], 2, "can be reached from outside"),
        (["--listen", "0.0.0.0:0", "--insecure"], 2, "give the names to use with --host-name"),
        (["--listen", "192.0.2.1:0", "--insecure", "--no-token"], 2, "--no-token is for loopback"),
        (["--listen", "192.0.2.1:0", "--insecure"], 3, "cannot listen on 192.0.2.1:0"),
        (["--listen", "here"], 2, "address must be HOST:PORT"),
        (["--listen", "off"], 2, "nothing to listen on"),
        (["--tls-cert", "cert.pem"], 2, "belong together"),
        (["--token-file", "missing.toml"], 2, "cannot read the tokens in missing.toml"),
    ],
)
def test_what_cannot_be_served_is_told_before_a_port_opens(
    sample_lake: Lake, options: list[str], code: int, words: str
) -> None:
    """In one line, with the way out."""
    ended = tracegrade("ui", "--lake", sample_lake.root, *options)
    assert (ended.returncode, ended.stderr.count("\n")) == (code, 1)
    assert words in ended.stderr


def test_without_a_lake_no_port_opens(tmp_path: Path) -> None:
    """It ends as every command does there."""
    ended = tracegrade("ui", "--lake", tmp_path / "none")
    assert ended.stdout == ""
    assert "none" in ended.stderr
    assert ended.returncode in {2, 3}
