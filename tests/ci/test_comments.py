"""One comment for each pull request and name: added once, then replaced."""

from pathlib import Path

import pytest
from tests.ci.github import FORBIDDEN, NOT_FOUND, GitHub
from tests.commands import Ended, tracegrade

FIRST = "<!-- tracegrade:agents -->"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A comment as a check writes it."""
    path = tmp_path / "comment.md"
    path.write_text(f"{FIRST}\nsecond\n")
    return path


def comment(server: GitHub, file: Path, *options: object) -> Ended:
    """Run `tracegrade ci comment` to its end."""
    where = ("--repository", "owner/name", "--pull-request", 7, "--api", server.url)
    return tracegrade("ci", "comment", "--markdown", file, *where, *options)


def test_two_runs_leave_one_comment(server: GitHub, file: Path) -> None:
    """The second replaces that of the first."""
    first = comment(server, file)
    file.write_text(f"{FIRST}\nthird\n")
    second = comment(server, file)

    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout == second.stdout == "comment: c/1\n"
    assert server.bodies() == [f"{FIRST}\nthird\n"]
    assert [request.split("?")[0] for request in server.requests] == [
        "GET /repos/owner/name/issues/7/comments",
        "POST /repos/owner/name/issues/7/comments",
        "GET /repos/owner/name/issues/7/comments",
        "PATCH /repos/owner/name/issues/comments/1",
    ]


def test_other_comments_are_left_alone(server: GitHub, file: Path) -> None:
    """Of people who quote it, of other names, of other bots, and with the line further down."""
    others = [
        server.add(f"{FIRST}\nquoted", "ann", "User"),
        server.add("<!-- tracegrade:agents2 -->\n"),
        server.add(f"see\n{FIRST}"),
        server.add(f"{FIRST}\nmirrored", "mirror[bot]"),
    ]
    before = server.bodies()

    done = comment(server, file)

    assert (done.returncode, done.stdout) == (0, f"comment: c/{len(others) + 1}\n")
    assert server.bodies() == [*before, f"{FIRST}\nsecond\n"]


def test_own_comment_is_found_among_many(server: GitHub, file: Path) -> None:
    """On a later page, with the line ends that GitHub gives it."""
    for number in range(230):
        server.add(f"{number}", "ann", "User")
    own = server.add(f"{FIRST}\r\nfirst\r\n")

    done = comment(server, file)

    assert done.stdout == f"comment: c/{own}\n"
    assert len(server.comments) == own


def test_read_only_token_comments_nothing(server: GitHub, file: Path) -> None:
    """A fork's token may not; the job goes on."""
    server.may_write = False

    done = comment(server, file)

    assert done.returncode == 0
    assert "the token may not read or write comments" in done.stdout
    assert server.comments == []


def test_busy_server_is_asked_again(server: GitHub, file: Path) -> None:
    """It says how long to wait."""
    server.answers += [(503, {"message": "busy"}, {"Retry-After": "0"})]

    assert comment(server, file).returncode == 0
    assert server.bodies() == [f"{FIRST}\nsecond\n"]


def test_unanswered_post_is_not_repeated(server: GitHub, file: Path) -> None:
    """It may have arrived; the next run would find the comment and replace it."""
    server.answers += [(200, [], {}), (502, {"message": "lost"}, {})]

    done = comment(server, file)

    assert done.returncode == 3
    assert "status 502 lost" in done.stderr
    assert [request.split()[0] for request in server.requests] == ["GET", "POST"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((401, {"message": "Bad credentials\x1b[31m"}), "status 401 Bad credentials\\x1b[31m"),
        ((200, {"message": "no list"}), "status 200 no list"),
        ((302, {}), "status 302"),
    ],
)
def test_unreadable_comments_are_an_error(
    server: GitHub, file: Path, answer: tuple[int, object], message: str
) -> None:
    """Without the list, another comment would be added each time."""
    server.answers += [(*answer, {"Location": "http://127.0.0.1:1/"})]

    done = comment(server, file)

    assert done.returncode == 3
    assert message in done.stderr
    assert server.comments == []


@pytest.mark.parametrize("answer", [FORBIDDEN, NOT_FOUND])
def test_comments_that_a_token_may_not_read_are_no_error(
    server: GitHub, file: Path, answer: tuple[int, object]
) -> None:
    """GitHub hides them from a token of a fork; the list is read before anything is written."""
    server.answers += [(*answer, {})]

    done = comment(server, file)

    assert done.returncode == 0
    assert "the token may not read or write comments of owner/name" in done.stdout
    assert server.comments == []


def test_absent_server_is_an_error(server: GitHub, file: Path) -> None:
    """Exit code 3: something outside failed."""
    done = comment(server, file, "--api", "http://127.0.0.1:1")

    assert done.returncode == 3
    assert "http://127.0.0.1:1 cannot be reached" in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--repository", "owner"),
        ("--repository", "owner/../x"),
        ("--repository", "../.."),
        ("--repository", 'owner/"; curl x'),
        ("--api", "http://example.com"),
        ("--api", "https://user:secret@example.com"),
        ("--api", "ftp://127.0.0.1"),
        ("--pull-request", "0"),
        ("--pull-request", "1; curl x"),
    ],
)
def test_nothing_is_sent_elsewhere(server: GitHub, file: Path, options: tuple[str, str]) -> None:
    """Names become no path, and the token leaves the machine only encrypted."""
    done = comment(server, file, *options)

    assert done.returncode == 2
    assert server.requests == []
    assert "secret" not in done.stderr


def test_token_is_needed(server: GitHub, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says where it is read from."""
    monkeypatch.delenv("GITHUB_TOKEN")

    done = comment(server, file)

    assert done.returncode == 2
    assert "no token is in TRACEGRADE_GITHUB_TOKEN or GITHUB_TOKEN" in done.stderr


@pytest.mark.parametrize("text", ["", "hello", "<!-- tracegrade:a b -->\n", b"\xff"])
def test_other_files_are_not_sent(server: GitHub, file: Path, text: str | bytes) -> None:
    """A wrong path must not publish a file."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())

    done = comment(server, file)

    assert done.returncode == 2
    assert server.requests == []
