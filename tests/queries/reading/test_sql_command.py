"""`tracegrade sql` answers in four formats, and its errors are one line."""

import csv
import io
import json
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import Ended, tracegrade
from tests.queries.traces import agent, land, request_of, tool

from tracegrade.cli import main
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

QUERY = "SELECT kind, tool_name, span_id FROM steps ORDER BY step_index"
ROW = {"kind": "tool_call", "tool_name": "t", "span_id": "0000000000000002"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a lake with one step, which tests only read."""
    lake = Lake.create(tmp_path_factory.mktemp("sql") / "lake")
    land(lake, request_of([agent(1), tool(2, 1, at=1)]))
    build(lake)
    return lake.root


def sql(folder: Path, *arguments: str) -> Ended:
    """Run the command to its end."""
    return tracegrade("sql", *arguments, "--lake", folder)


def test_json_is_an_array_of_objects(folder: Path) -> None:
    """Machines get rows as objects; timestamps and structs included."""
    answer = sql(folder, QUERY, "--format", "json")

    assert json.loads(answer.stdout) == [ROW]


def test_csv_has_a_header(folder: Path) -> None:
    """Names come first; ids of digits stay text."""
    answer = sql(folder, QUERY, "--format", "csv")

    assert list(csv.DictReader(io.StringIO(answer.stdout))) == [ROW]


def test_parquet_goes_to_stdout(folder: Path) -> None:
    """The output is one Parquet file."""
    answer = sql(folder, QUERY, "--format", "parquet")

    assert pq.read_table(pa.BufferReader(answer.output)).to_pylist() == [ROW]


def test_saved_query_takes_parameters(folder: Path) -> None:
    """A saved query runs by name, with values for its parameters."""
    answer = sql(folder, "--saved", "repeated_calls", "--param", "times=1", "--format", "json")

    assert answer.returncode == 0
    assert json.loads(answer.stdout) == []


def test_list_shows_saved_queries(folder: Path) -> None:
    """Each saved query is named with what it tells, and with the values that it needs."""
    lines = sql(folder, "--list").stdout.splitlines()

    assert any(line.startswith("slowest_tools\tTotal time of each tool") for line in lines)
    (drift,) = (line for line in lines if line.startswith("argument_drift\t"))
    assert drift.endswith("\t--param base=VALUE\t--param candidate=VALUE")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["SELEC 1"], "syntax error"),
        (["SELECT * FROM nothing"], "nothing"),
        (["SELECT CAST('x' AS INTEGER)"], "x"),
        (["SELECT $a"], "a"),
        (["COPY (SELECT 1) TO 'x.csv'"], "got COPY"),
        (["SELECT 1; SELECT 2"], "got SELECT, SELECT"),
        ([" "], "got nothing"),
        ([], "--saved"),
        (["--saved", "nothing"], "no query is named 'nothing'"),
        (
            ["--saved", "worst_tasks"],
            "in this lake, since no run of it was scored yet",
        ),
        ([QUERY, "--format", "xml"], "xml"),
        ([QUERY, "--param", "x"], "name=value"),
        ([QUERY, "--memory-limit", "101%"], "give it as 4GB, 512MB or 40%"),
    ],
)
def test_bad_question_is_one_line(folder: Path, arguments: list[str], says: str) -> None:
    """A user's mistake is reported in one line on stderr, with exit code 2."""
    answer = sql(folder, *arguments)

    assert answer.returncode == 2
    assert answer.stdout == ""
    assert says in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_spans_without_steps_are_told(folder: Path, tmp_path: Path) -> None:
    """An answer about steps says on stderr that some are not built; one about spans does not."""
    lake = Lake.open(shutil.copytree(folder, tmp_path / "a lake"))
    land(lake, request_of([agent(3, trace=2)]), seq=2)
    about_steps, about_spans = sql(lake.root, QUERY), sql(lake.root, "SELECT name FROM spans")

    assert (about_steps.returncode, about_spans.stderr) == (0, "")
    assert about_steps.stderr == (
        "spans not in steps and trajectories yet: 1; "
        f"run `tracegrade score --lake '{lake.root}'`\n"
    )


def test_missing_lake_is_bad_input(tmp_path: Path) -> None:
    """A folder that is not there is named."""
    answer = sql(tmp_path / "none", QUERY)

    assert answer.returncode == 2
    assert "there is no lake" in answer.stderr


def test_nested_values_are_json_in_a_csv_cell(folder: Path) -> None:
    """A list or a map is one cell of text; sums of integers stay numbers."""
    query = "SELECT [1, 2] AS items, map {'a': 'b'} AS named, sum(step_index) AS total FROM steps"
    answer = sql(folder, query, "--format", "csv").stdout

    assert list(csv.DictReader(io.StringIO(answer))) == [
        {"items": "[1,2]", "named": '{"a":"b"}', "total": "0"}
    ]
    (row,) = json.loads(sql(folder, query, "--format", "json").stdout)
    assert row == {"items": [1, 2], "named": {"a": "b"}, "total": 0}


def test_query_may_begin_with_a_comment(folder: Path) -> None:
    """As files of queries do, `tracegrade sql "$(cat query.sql)"`; it is not an option."""
    for comment in ("-- how many", "--how many", "--"):
        answer = sql(folder, f"{comment}\nSELECT count(*) AS steps FROM steps", "--format", "csv")

        assert (answer.stdout, answer.returncode) == ('"steps"\n1\n', 0), comment
    assert "No such option: --nothing" in sql(folder, "--nothing").stderr


def test_query_that_is_no_text_is_bad_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in Latin-1, also as an argument, is reported in one line instead of the engine's."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"SELECT '\xfc'")))
    given, read = sql(folder, "SELECT '\udcfc'"), sql(folder, "-")

    assert (given.returncode, read.returncode) == (2, 2)
    assert "is not UTF-8" in given.stderr
    assert "is not UTF-8 at byte 8" in read.stderr


def test_tables_are_shown_on_terminals_without_unicode(folder: Path) -> None:
    """What such a terminal lacks becomes a question mark."""
    shown = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
    with redirect_stdout(shown), pytest.raises(SystemExit) as ended:
        main(["sql", "SELECT 'ü' AS u", "--lake", str(folder)])

    assert ended.value.code == 0
    assert b"u" in shown.buffer.getvalue()


def test_query_can_come_from_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input takes any text."""
    text = b"-- how many\nSELECT count(*) AS steps FROM steps;\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    answer = sql(folder, "-", "--format", "csv")

    assert (answer.returncode, answer.stdout) == (0, '"steps"\n1\n')


def test_missing_value_is_named_with_its_option(folder: Path) -> None:
    """A query with parameters says how to give them."""
    answer = sql(folder, "SELECT $kind AS kind, $size AS size")

    assert answer.returncode == 2
    assert "--param kind=VALUE --param size=VALUE" in answer.stderr


HOSTILE = (
    "SELECT '=HYPERLINK(1)' AS \"=a\", '@b' AS b, ['-1'] AS c, -1 AS d, 'a=b' AS e, NULL AS f"
)


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ([], '"\'=HYPERLINK(1)","\'@b","[""-1""]",-1,"a=b",'),
        (["--no-guard"], '"=HYPERLINK(1)","@b","[""-1""]",-1,"a=b",'),
    ],
)
def test_csv_holds_no_formula_unless_asked_for(folder: Path, option: list[str], line: str) -> None:
    """A spreadsheet does not run texts of a trace; numbers stay numbers."""
    name, row = sql(folder, HOSTILE, "--format", "csv", *option).stdout.splitlines()

    assert row == line
    assert name.startswith('"=a"' if option else '"\'=a"')


def test_csv_guards_texts_of_every_type(folder: Path) -> None:
    """An ENUM and JSON are texts in a cell, too."""
    query = "SELECT '=1'::ENUM('=1') AS a, '\"=1\"'::JSON ->> '$' AS b, '\t=1' AS c"
    answer = sql(folder, query, "--format", "csv").stdout

    assert list(csv.reader(io.StringIO(answer)))[1] == ["'=1", "'=1", "'\t=1"]
