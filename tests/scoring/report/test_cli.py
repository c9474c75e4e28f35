"""`tracegrade report` on a lake of files, as a user types it."""

import json
import re
import sys
from pathlib import Path

import pytest
from tests.scoring.report.build import Tables, as_lake

from tracegrade.cli import main


@pytest.fixture(scope="module")
def lake(sample: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample as Delta tables."""
    return as_lake(sample, tmp_path_factory.mktemp("reported") / "lake").root


def run(*arguments: str | Path) -> int:
    """Run the command in this process and return its exit code."""
    with pytest.raises(SystemExit) as exit_:
        main(["report", *map(str, arguments)])
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


@pytest.mark.parametrize(
    ("format_", "fact"),
    [
        ("markdown", "## `files, live`"),
        pytest.param("html", "<!DOCTYPE html>", marks=pytest.mark.slow),
    ],
)
def test_each_format_goes_to_stdout_alone(
    lake: Path, capsys: pytest.CaptureFixture[str], format_: str, fact: str
) -> None:
    """The report is all there is on stdout; nothing is said on stderr."""
    assert run("--lake", lake, "--format", format_) == 0
    out, err = capsys.readouterr()

    assert fact in out
    assert err == ""


def test_json_on_stdout_is_one_document(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program can read stdout as it comes."""
    run("--lake", lake, "--format", "json")

    out, err = capsys.readouterr()
    releases = json.loads(out)["releases"]
    assert (err, "pass_hat_k" in releases[0]["pass"][0]) == ("", True)
    assert [(r["agent_name"], r["release"]) for r in releases] == [
        ("files", "1.0"),
        ("files", "1.1"),
        ("weather", "2026.11"),
    ]


def test_terminal_report_is_plain_where_there_is_no_terminal(
    lake: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe gets no escapes and the width that the environment names."""
    monkeypatch.setenv("COLUMNS", "70")
    run("--lake", lake, "--long")

    out, err = capsys.readouterr()
    assert ("Tool-selection accuracy" in out, err) == (True, "")
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 70


@pytest.mark.parametrize("format_", ["terminal", "markdown"])
def test_report_begins_with_the_decision_and_is_short(
    lake: Path, capsys: pytest.CaptureFixture[str], format_: str
) -> None:
    """The last line says how to see all of it."""
    run("--lake", lake, "--format", format_, "--agent", "files")

    out = capsys.readouterr().out
    assert "1.1: not enough runs" in out
    assert "Planning" not in out
    assert "--long" in out.rstrip().splitlines()[-1]
    assert len(re.findall(r"[A-Za-z]{2,}", out)) < 170


def test_agent_release_and_time_choose_what_is_shown(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Programs receive the requested data; people learn that nothing else is shown."""
    chosen = ("--agent", "files", "--release", "1.1", "--since", "2026-11-01")
    assert run("--lake", lake, "--format", "json", *chosen) == 0

    document = json.loads(capsys.readouterr().out)
    assert [release["release"] for release in document["releases"]] == ["1.1"]
    assert document["selection"]["since"] == "2026-11-01T00:00:00"


def test_a_time_with_an_offset_is_told_in_utc(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence above a report says which runs are in it."""
    assert run("--lake", lake, "--since", "2026-11-01T07:00+09:00") == 0

    assert "at or after 31 October 2026, 22:00 UTC" in capsys.readouterr().out


def test_a_date_of_eight_digits_is_no_count_of_seconds(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is ISO 8601's short form; as seconds since 1970 it would let through any run."""
    assert run("--lake", lake, "--since", "20261101") == 0

    assert "at or after 01 November 2026, 00:00 UTC" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["1764121200", "tomorrow", "2026-02-30", "2026-11-01T25:00"])
def test_what_is_no_time_is_bad_input(
    lake: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    """Exit 2 and one line that says how times are written."""
    assert run("--lake", lake, "--until", text) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert f"'--until': '{text}' is not a time; write 2026-11-21" in line


def test_agent_that_never_ran_is_bad_input(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 and one line that says which did."""
    assert run("--lake", lake, "--agent", "nobody") == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "tracegrade: no run of agent 'nobody'; there are runs of files 1.0, files 1.1, "
        "weather 2026.11\n"
    )


def test_out_writes_the_file_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is there under its name alone, and stdout stays empty."""
    page = tmp_path / "pages" / "report.html"
    page.parent.mkdir()

    assert run("--lake", tmp_path, "--format", "html", "--out", page) == 0
    assert page.read_text("utf-8").endswith("</html>\n")
    assert list(page.parent.iterdir()) == [page]
    assert capsys.readouterr().out == ""


def test_out_that_cannot_be_written_is_a_failure_outside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 3 and one line that names the file."""
    assert run("--lake", tmp_path, "--out", tmp_path / "none" / "report.txt") == 3

    (line,) = capsys.readouterr().err.splitlines()
    assert "none/report.txt" in line


def test_missing_lake_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 and one line that says how to make one."""
    assert run("--lake", tmp_path / "none") == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert "there is no lake" in line


@pytest.mark.parametrize("arguments", [("--format", "pdf"), ("--lake",), ()])
def test_wrong_usage_is_bad_input(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown format, a value or the lake left out: exit 2."""
    monkeypatch.delenv("TRACEGRADE_LAKE", raising=False)

    assert run(*arguments) == 2


def test_lake_may_come_from_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """TRACEGRADE_LAKE stands for --lake."""
    monkeypatch.setenv("TRACEGRADE_LAKE", str(tmp_path))

    assert run("--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["lake"] == str(tmp_path)


def test_empty_lake_is_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without tables prints the next step, and that is not a failure."""
    assert run("--lake", tmp_path) == 0

    said = "".join(capsys.readouterr().out.split())  # lines are broken where they get long
    assert f"tracegradecollect--lake{tmp_path}" in said


def test_stdout_of_few_characters_is_served(
    lake: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an ASCII terminal cannot show becomes a question mark."""
    sys.stdout.reconfigure(encoding="ascii")  # type: ignore[union-attr] # pytest's stdout has it

    assert run("--lake", lake, "--long") == 0
    assert b"83.3%  55?95%" in capsysbinary.readouterr().out
