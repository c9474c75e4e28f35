"""Commands verify a copy of an environment, and leave it as it is."""

import os
from pathlib import Path

import pytest
from tests.harness.parts.verifying.build import context, said, verified, write

from tracegrade_harness.parts.files.model import FilesVerifier
from tracegrade_harness.parts.sqlite.model import SqliteVerifier
from tracegrade_harness.parts.verify import outcome, verify
from tracegrade_harness.parts.verifying import copies
from tracegrade_harness.parts.verifying.result import Context


def ran(env: Context, program: str, **keys: float) -> tuple[str, str]:
    """Return what a Python program beside the suite says."""
    write(env.suite, {"checks/verify.py": program})
    return said(env, command=["{python}", "{suite}/checks/verify.py"], **keys)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ('print(\'{"b": 1.0, "a": 2}\')', ("pass", '{"a":2,"b":1}')),
        ("", ("pass", "it printed nothing")),
        ("raise SystemExit('rows\\nmissing')", ("fail", "rows | missing")),
        (
            "raise SystemExit(3)",
            (
                "error",
                "the command ended with code 3: it printed nothing; "
                "end with 0 if it holds, 1 if not",
            ),
        ),
        (
            "import os; os.kill(os.getpid(), 9)",
            (
                "error",
                "the command ended with signal 9: it printed nothing; "
                "end with 0 if it holds, 1 if not",
            ),
        ),
    ],
)
def test_the_exit_code_says_if_it_holds(
    tmp_path: Path, program: str, expected: tuple[str, str]
) -> None:
    """JSON on standard output is the evidence, otherwise what is on standard error."""
    assert ran(context(tmp_path), program) == expected


def test_a_command_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Nothing was verified."""
    outcome, evidence = said(context(tmp_path), command=["no-such-command"])

    assert outcome == "error"
    assert evidence.startswith("the command 'no-such-command' cannot be run: ")


def test_a_command_that_takes_too_long_is_an_error(tmp_path: Path) -> None:
    """What it started dies with it, so that nothing waits for the end of its output."""
    program = "import subprocess; subprocess.run(['sleep', '1000'])"

    assert ran(context(tmp_path), program, timeout_secs=0.5) == (
        "error",
        "the command took more than 0.5 s; raise its timeout_secs",
    )


def test_a_command_changes_nothing(tmp_path: Path) -> None:
    """It works on a copy, even where a link has an absolute path."""
    env = context(tmp_path)
    write(env.root / "data", {"a": "1", "x/b": "2"})
    (env.root / "data/link").symlink_to(env.root / "data/a")
    (env.root / "data/folder").symlink_to("../data/x")
    program = """
import pathlib, shutil
assert pathlib.Path("data/a").read_text() == "1"
pathlib.Path("data/link").write_text("changed")
assert pathlib.Path("data/a").read_text() == "changed"
pathlib.Path("data/folder/b").write_text("changed")
shutil.rmtree("data")
"""

    assert ran(env, program) == ("pass", "it printed nothing")
    assert (env.root / "data/a").read_text() == "1"
    assert (env.root / "data/x/b").read_text() == "2"


def test_nothing_leads_out_of_the_copy(tmp_path: Path) -> None:
    """Links that do lead nowhere; FIFOs are left out; the evidence names both."""
    env = context(tmp_path)
    write(env.root / "data", {"d/e/x": ""})
    for name, target in {
        "passwd": "/etc/passwd",
        "up": "../../suite",
        "d/e/root": "../../..",
        "twisted": "d/e/root/../suite",
        "loop": "loop",
    }.items():
        (env.root / "data" / name).symlink_to(target)
    os.mkfifo(env.root / "data/fifo")
    program = """
import json, os
print(json.dumps({name: os.path.exists(f"data/{name}") for name in os.listdir("data")}))
assert os.path.islink("data/passwd")
assert os.path.realpath("data/d/e/root") == os.getcwd()
"""

    outcome, evidence = ran(env, program)

    assert outcome == "pass"
    assert evidence == (
        '{"d":true,"loop":false,"passwd":false,"twisted":false,"up":false}; '
        "not in the copy: data/fifo; data/passwd; data/up"
    )


def test_what_is_nested_too_deeply_is_not_copied(tmp_path: Path) -> None:
    """It could not be removed again."""
    env = context(tmp_path)
    (env.root / "data" / "/".join("d" * 300)).mkdir(parents=True)

    outcome, evidence = ran(env, "")

    assert outcome == "pass"
    assert "not in the copy: data/d/d" in evidence


def test_too_much_to_copy_is_an_error(tmp_path: Path) -> None:
    """A file with holes has any size at no cost; its copy would not."""
    env = context(tmp_path)
    write(env.root / "data", {"a": ""})
    os.truncate(env.root / "data/a", 2**40)

    assert ran(env, "") == (
        "error",
        f"more than {copies.MAX_BYTES:,} bytes would be copied; verify a part of them",
    )


def test_a_command_runs_nothing_that_the_agent_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python imports from the suite, not from the environment, and gets none of our variables."""
    monkeypatch.setenv("SECRET", "x")
    env = context(tmp_path)
    write(env.root, {"json.py": "raise SystemExit(0)", "checks.py": "raise SystemExit(0)"})
    write(
        env.suite, {"checks.py": "import json, os; raise SystemExit('SECRET' not in os.environ)"}
    )

    assert said(env, command=["{python}", "-m", "checks"])[0] == "fail"
    assert list(env.suite.iterdir()) == [env.suite / "checks.py"]


def test_endless_output_is_cut(tmp_path: Path) -> None:
    """Evidence stays short, and one line."""
    outcome, evidence = ran(context(tmp_path), "print('x\\x1b' * 10_000_000); raise SystemExit(1)")

    assert outcome == "fail"
    assert len(evidence) <= 2_000
    assert evidence.startswith("x\\x1bx\\x1b")


def test_a_result_says_which_verifier_it_is_of(tmp_path: Path) -> None:
    """As the suite has it."""
    result = verified(context(tmp_path), files="data", path="ä", json={"$.x": 1})

    assert result.verifier == '{"files": "data", "path": "ä", "json": {"$.x": 1}}'


def test_results_come_in_order_and_an_error_outweighs_all(tmp_path: Path) -> None:
    """One verifier that cannot tell leaves open whether the whole holds."""
    env = context(tmp_path, added={"files:data/x"})
    results = verify(
        [
            FilesVerifier(files="data", only_changed=["x"]),
            FilesVerifier(files="data", path="x"),
            SqliteVerifier(sqlite="lost", query="SELECT 1", equals=1),
        ],
        env,
    )

    assert [result.outcome for result in results] == ["pass", "fail", "error"]
    assert outcome(results) == "error"
    assert outcome(results[:2]) == "fail"
    assert outcome(results[:1]) == "pass"
    assert outcome([]) is None
