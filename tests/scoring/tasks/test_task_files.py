"""Task files are read strictly, and every error is named with its line and a way out."""

from pathlib import Path
from textwrap import dedent

import pytest

from tracegrade.cli import main
from tracegrade_scoring.errors import TaskFileUnreadable
from tracegrade_scoring.tasks import Loaded, load

EXAMPLE = Path(__file__).with_name("tasks.yaml")

TOOLS = """
version: 1
tools:
  look: {effect: read, cost: 1}
  pay: {effect: destructive}
"""


def loaded(folder: Path, text: str) -> Loaded:
    """Return what is loaded from a file with this text."""
    file = folder / "tasks.yaml"
    file.write_text(dedent(text).lstrip())
    return load([file])


def found(folder: Path, text: str) -> list[str]:
    """Return the problems of a file with this text as `line: fact; way out`."""
    return [str(problem).split("tasks.yaml:", 1)[1] for problem in loaded(folder, text).problems]


def in_task(key: str) -> str:
    """Return a file whose task stands on line 6, with one key on line 7."""
    return f"{TOOLS.strip()}\ntasks:\n  refund:\n    {key}\n"


def test_example_is_well_formed() -> None:
    """The example file has no error and every key of the format."""
    example = load([EXAMPLE])

    assert example.problems == []
    task = example.specification.tasks["refund-order"]
    assert [point.decision for point in task.expected or ()] == ["find", "pay", "tell"]
    assert task.sub_goals["lookup"].serves[1].arguments == "customer"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tools: {}", "1: key 'version' is missing in the file; add it"),
        ("version: 2", "1: version is 2; it should be 1"),
        ("version: 1\ntask: {}", "2: unknown key 'task' in the file; did you mean 'tasks'?"),
        ("", "1: the file is empty; start it with 'version: 1'"),
        ("- 1", "1: the file is not a mapping; start it with 'version: 1'"),
        (
            "version: 1\ntools:\n  a: {}\n  a: {}",
            "4: key 'a' stands twice, first on line 3; remove or rename one",
        ),
        (
            "version: 1\ntools:\n  a: {efect: read}",
            "3: unknown key 'efect' in tools.a; did you mean 'effect'?",
        ),
        (
            "version: 1\ntools:\n  a:\n    effect: safe",
            "4: tools.a.effect is 'safe'; it should be 'read', 'write' or 'destructive'",
        ),
        (
            "version: 1\ntools:\n  a:\n    cost: -1",
            "4: tools.a.cost is -1; it should be greater than or equal to 0",
        ),
        (
            "version: 1\ntools:\n  a:\n    error_pattern: '(?=x)'",
            "4: tools.a.error_pattern is not an RE2 pattern: invalid perl operator: (?=; "
            "correct it (RE2 has no look-around or back-references)",
        ),
        (
            "version: 1\ntools:\n  a:\n    alternatives: [b]",
            "4: tools.a.alternatives[0]: unknown tool 'b'; declare it under 'tools'",
        ),
        (
            "version: 1\ntools:\n  a:\n    alternatives: [a]",
            "4: tool 'a' is its own alternative; remove it",
        ),
    ],
)
def test_error_names_line_and_way_out(tmp_path: Path, text: str, problem: str) -> None:
    """An error in the head of a file or in a tool is reported with line, fact and way out."""
    assert found(tmp_path, text) == [problem]


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (
            "expected: [{tool: lok}]",
            "7: tasks.refund.expected[0].tool: unknown tool 'lok'; did you mean 'look'?",
        ),
        (
            "expected: [{tool: look, accept: [x]}]",
            "7: tasks.refund.expected[0].accept[0]: unknown tool 'x'; declare it under 'tools'",
        ),
        (
            "scope: [x]",
            "7: tasks.refund.scope[0]: unknown tool 'x'; declare it under 'tools'",
        ),
        (
            "success: {tool: x}",
            "7: tasks.refund.success.tool: unknown tool 'x'; declare it under 'tools'",
        ),
        (
            "expected: [{decision: a}]",
            "7: tasks.refund.expected[0]: the decision point expects nothing; give tool or effect",
        ),
        (
            "expected: [{decision: a, tool: look}, {decision: a, tool: pay}]",
            "7: decision 'a' stands twice, first on line 7; give each decision point its own name",
        ),
        (
            "expected: [{tool: look, arguments: {who: {input: customer}}}]",
            "7: tasks.refund.expected[0].arguments.who: match.user_input has no group named "
            "'customer'; add (?P<customer>...) to the pattern",
        ),
        (
            "expected: [{tool: look, arguments: {who: {matches: '('}}}]",
            "7: tasks.refund.expected[0].arguments.who: matches is not an RE2 pattern: missing ): "
            "(; correct it (RE2 has no look-around or back-references)",
        ),
        (
            "expected: [{tool: look, arguments: {n: {about: 10, witin: 1, within: 2}}}]",
            "7: tasks.refund.expected[0].arguments.n: unknown key 'witin' next to 'about'; "
            "remove it, or write {exactly: {...}} if the object itself is meant",
        ),
        (
            "expected: [{tool: look, arguments: {n: {about: 10}}}]",
            "7: tasks.refund.expected[0].arguments.n: within is None; "
            "it should be a number of at least 0",
        ),
        (
            "expected: [{tool: look, arguments: {'$.a[*]': 1}}]",
            "7: '$.a[*]' is not a JSON path to one value: it has a wildcard; "
            "write it like $.order.state or $.orders[0].state",
        ),
        (
            "success: {tool: look, arguments: {n: {about: x, within: 1}}}",
            "7: tasks.refund.success.arguments.n: about is 'x'; it should be a number",
        ),
        (
            "success: {judge: Is it polite}",
            "7: tasks.refund.success: judge is for sub-goals; leave it out, and ask about the "
            "whole run in a judge file with `subject: success`",
        ),
        (
            "success: {any_of: [{tool: look}, {judge: Is it polite}]}",
            "7: tasks.refund.success: judge inside any_of; "
            "put it next to any_of: a verdict is on the whole sub-goal",
        ),
        (
            "success: {any_of: [{tool: look}, {answer: '('}]}",
            "7: tasks.refund.success.any_of[1].answer is not an RE2 pattern: missing ): (; "
            "correct it (RE2 has no look-around or back-references)",
        ),
        (
            "success: {state: {$.n: {matches: 7}}}",
            "7: tasks.refund.success.state.$.n: matches is 7; it should be an RE2 pattern",
        ),
        (
            "expected_complete: 'no'",
            "7: tasks.refund.expected_complete is 'no'; it should be True, False or 'writes'",
        ),
        (
            "match: {user_input: '('}",
            "7: tasks.refund.match.user_input is not an RE2 pattern: missing ): (; "
            "correct it (RE2 has no look-around or back-references)",
        ),
        (
            "match: {}",
            "7: tasks.refund.match: match is empty; give agent_name, user_input or both",
        ),
        (
            "success: {answer: {input: who}}",
            "7: tasks.refund.success.answer: match.user_input has no group named 'who'; "
            "add (?P<who>...) to the pattern",
        ),
        (
            "success: {answer: 7}",
            "7: tasks.refund.success.answer: it is neither text nor a bound value; "
            "give a pattern or {input: NAME}",
        ),
        (
            "success: {status: ok}",
            "7: tasks.refund.success: the criterion is empty; "
            "give tool, arguments, result, state, answer, sql, judge or any_of",
        ),
        (
            "success: {state: {balance: 0}}",
            "7: 'balance' is not a JSON path to one value: it does not start with $; "
            "write it like $.order.state or $.orders[0].state",
        ),
        (
            "success: {result: {'$.a[*].b': 0}}",
            "7: '$.a[*].b' is not a JSON path to one value: it has a wildcard; "
            "write it like $.order.state or $.orders[0].state",
        ),
        (
            "sub_goals: {a: {serves: [look], success: {state: {$..b: 0}}}}",
            "7: '$..b' is not a JSON path to one value: it has a wildcard; "
            "write it like $.order.state or $.orders[0].state",
        ),
        (
            "{sub_goals: {a: {serves: [look]}}, graphs: {x: {a: {}, b: {}}}}",
            "7: task 'refund': a graph names unknown sub-goal 'b'; declare it under 'sub_goals'",
        ),
        (
            "{sub_goals: {a: {serves: [look]}, b: {}}, graphs: {x: {a: {}}}}",
            "7: task 'refund': sub-goal 'b' is in no graph; put it into one, or leave it out",
        ),
        (
            "{sub_goals: {a: {serves: [look]}, b: {deps: [a]}}, graphs: {x: {a: {}, b: {}}}}",
            "7: task 'refund': sub-goal 'b' has deps or any_of in addition to 'graphs'; "
            "write them in each graph",
        ),
        (
            "{sub_goals: {a: {}, b: {}}, "
            "graphs: {x: {a: {}, b: {}}, y: {a: {deps: [b]}, b: {deps: [a]}}}}",
            "7: task 'refund': deps of its sub-goals form a cycle: a -> b -> a; "
            "remove one of them",
        ),
        (
            "sub_goals: {a: {deps: [b]}}",
            "7: task 'refund': sub-goal 'a' names unknown sub-goal 'b'; "
            "declare it under 'sub_goals'",
        ),
        (
            "sub_goals: {a: {deps: [a]}}",
            "7: task 'refund': deps of its sub-goals form a cycle: a -> a; remove one of them",
        ),
        (
            "sub_goals: {a: {deps: [b]}, b: {deps: [c]}, c: {deps: [b]}}",
            "7: task 'refund': deps of its sub-goals form a cycle: b -> c -> b; "
            "remove one of them",
        ),
        (
            "sub_goals: {a: {any_of: [[]]}}",
            "7: task 'refund': path 0 of any_of of 'a' is empty; name a sub-goal",
        ),
        (
            "sub_goals: {a: {weight: 0}}",
            "7: tasks.refund.sub_goals.a.weight is 0; it should be greater than 0",
        ),
    ],
)
def test_error_in_a_task_names_line_and_way_out(tmp_path: Path, key: str, problem: str) -> None:
    """An error in a task is reported with line, fact and way out."""
    assert found(tmp_path, in_task(key)) == [problem]


def test_schema_that_is_none_is_an_error(tmp_path: Path) -> None:
    """Parameters that are no JSON Schema are named with their line."""
    text = "version: 1\ntools:\n  a:\n    effect: read\n    parameters: {type: objekt}"

    (problem,) = found(tmp_path, text)
    assert problem.startswith("5: tools.a.parameters is not a JSON Schema: ")


def test_schema_may_not_refer_outside(tmp_path: Path) -> None:
    """A schema that needs the network is refused when it is loaded, not when it is used."""
    text = "version: 1\ntools:\n  a:\n    parameters: {$ref: 'http://localhost:1/a.json'}"

    assert len(found(tmp_path, text)) == 1


def test_expression_that_cannot_be_run_is_an_error(tmp_path: Path) -> None:
    """SQL over steps is tried on an empty table."""
    (problem,) = found(tmp_path, in_task("success: {sql: count(*) < nonsense}"))

    assert problem.startswith("7: tasks.refund.success.sql cannot be run: ")
    assert problem.endswith("give a boolean expression over steps, like count(*) < 9")


def test_too_many_variants_are_an_error(tmp_path: Path) -> None:
    """Nine groups of two paths are 512 variants, more than 256."""
    groups = ", ".join(f"g{i}: {{any_of: [[a{i}], [b{i}]]}}" for i in range(9))
    leaves = ", ".join(f"{side}{i}: {{serves: [look]}}" for i in range(9) for side in "ab")

    (problem,) = found(tmp_path, in_task(f"sub_goals: {{{groups}, {leaves}}}"))
    assert problem == "7: task 'refund': any_of gives more than 256 variants; split the task"


def test_broken_graph_spoils_its_task_alone(tmp_path: Path) -> None:
    """A cycle does not make the file invalid; it costs the task scores of its graph."""
    result = loaded(tmp_path, in_task("sub_goals: {a: {deps: [a]}}"))

    assert result.fatal == []
    assert [problem.graph_of for problem in result.problems] == ["refund"]


def test_every_fault_of_a_graph_is_named_with_its_line(tmp_path: Path) -> None:
    """Cycles, self-loops and unknown sub-goals come all at once, however many there are."""
    text = in_task(
        """sub_goals:
      a: {deps: [a, b]}
      b: {deps: [c, x]}
      c: {deps: [b, a],
          any_of: [[b, y]]}
      d: {deps: [d]}"""
    )

    told = [problem.replace("task 'refund': ", "") for problem in found(tmp_path, text)]

    cycle = "deps of its sub-goals form a cycle"
    assert told == [
        f"8: {cycle}: a -> a; remove one of them",
        f"8: {cycle}: a -> b -> c -> a; remove one of them",
        "9: sub-goal 'b' names unknown sub-goal 'x'; declare it under 'sub_goals'",
        f"9: {cycle}: b -> c -> b; remove one of them",
        "11: sub-goal 'c' names unknown sub-goal 'y'; declare it under 'sub_goals'",
        f"12: {cycle}: d -> d; remove one of them",
    ]


def test_all_errors_are_told_at_once(tmp_path: Path) -> None:
    """Errors of shape and of meaning in several places all come in one run, by line."""
    text = """
    version: 1
    tools:
      a: {effect: read, alternatives: [x]}
      a: {}
    tasks:
      t:
        match: {user_input: '('}
        expected: [{tool: z}]
    """

    assert [int(problem.split(":")[0]) for problem in found(tmp_path, text)] == [3, 4, 7, 8]


def test_syntax_error_names_its_line(tmp_path: Path) -> None:
    """A text that is not YAML is reported with the line where reading stopped."""
    (problem,) = found(tmp_path, "version: 1\ntools: {a: [}\n")

    assert problem.startswith("2: not valid YAML: ")


def test_alias_inside_itself_is_an_error(tmp_path: Path) -> None:
    """A value that holds itself ends in an error, not in endless reading."""
    (problem,) = found(tmp_path, "version: 1\ntools: &a {b: *a}\n")

    assert "an alias that contains itself" in problem


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2026-11-21", "2026-11-21"),
        ("12:30", "12:30"),
        ("no", "no"),
        ("007", "007"),
        ("7", 7),
        ("1e+3", 1000.0),
        ("0.5", 0.5),
        ("true", True),
        ("null", None),
    ],
)
def test_plain_values_are_those_of_json(tmp_path: Path, written: str, value: object) -> None:
    """YAML's own dates, times and words for true and false are text, as in arguments."""
    task = in_task(f"expected: [{{tool: look, arguments: {{key: {written}}}}}]")

    (point,) = loaded(tmp_path, task).specification.tasks["refund"].expected or []
    assert repr(point.arguments) == repr({"key": value})


def test_folder_is_one_specification(tmp_path: Path) -> None:
    """Files of a folder share their tools; a name that two of them declare is an error."""
    (tmp_path / "a.yaml").write_text("version: 1\ntools: {look: {}}\n")
    (tmp_path / "b.yaml").write_text(
        "version: 1\ntools:\n  look: {}\ntasks: {t: {scope: [look]}}\n"
    )

    (problem,) = load([tmp_path]).problems
    assert str(problem) == (
        f"{tmp_path}/b.yaml:3: tool 'look' is declared twice, first at {tmp_path}/a.yaml:2; "
        "remove or rename one"
    )


def test_hash_changes_with_the_task_and_its_order(tmp_path: Path) -> None:
    """The hash of a task is that of its content and of the tools."""
    one = loaded(tmp_path, in_task("optimal_steps: 1")).specification
    again = loaded(tmp_path, in_task("optimal_steps: 1")).specification
    two = loaded(tmp_path, in_task("optimal_steps: 2")).specification

    assert one.task_hash("refund") == again.task_hash("refund")
    assert one.task_hash("refund") != two.task_hash("refund")
    assert one.hash != two.hash


ALIASES = "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (f"version: 1\na0: &a0 [x]\n{ALIASES}", "more than 500,000 values"),
        ("version: 1\ntools: " + "[" * 3000 + "]" * 3000, "nested far deeper than 60 levels"),
        ("version: 1\ntools: {a\0: {}}", "special characters are not allowed"),
        ("version: 1\ntasks: {t: {optimal_steps: " + "9" * 5000 + "}}", "so many digits"),
        ("version: 1\ntasks: {t: {expected: [{tool: t, turn: 9999999999}]}}", "less than"),
        ('version: 1\ntasks: {t: {category: "\\ud800"}}', "half a character"),
        ('version: 1\ntasks: {"\\ud800": {}}', "half a character"),
        ("version: 1\ntasks: {t: {success: {state: {}}}}", "the criterion is empty"),
        ("version: 1\ntasks: {t: {success: {arguments: {}, result: {}}}}", "criterion is empty"),
        ("version: 1\ntasks: {t: {optimal_steps: 3000000000}}", "less than or equal to 1000000"),
        ("version: 1\ntools: {a: {error_pattern: " + "x" * 10_001 + "}}", "10,000 characters"),
        ("version: 1\ntasks: {t: {match: {user_input: '(?<a>x)'}}}", "invalid perl operator"),
        ("version: 1\ntasks: {t: {success: {sql: 'true); (true'}}}", "cannot be run"),
        (
            "version: 1\ntasks: {t: {success: {sql: 'true) FROM steps; SELECT (true'}}}",
            "it is more than one expression",
        ),
    ],
)
def test_hostile_file_ends_in_an_error(tmp_path: Path, text: str, fact: str) -> None:
    """What would take forever, all memory, or stop the job later is one line that says so."""
    (problem,) = found(tmp_path, text)

    assert fact in problem


def test_shared_paths_do_not_multiply_the_work(tmp_path: Path) -> None:
    """Forty layers of groups that hold both groups of the next are one variant, found at once."""
    layers = "".join(
        f"{side}{i}: {{any_of: [[a{i + 1}, b{i + 1}]]}}, " for i in range(40) for side in "ab"
    )
    goals = f"sub_goals: {{{layers}a40: {{serves: [look]}}, b40: {{serves: [pay]}}}}"

    assert found(tmp_path, in_task(goals)) == []


def test_missing_file_is_bad_input(tmp_path: Path) -> None:
    """A path that does not exist, and a folder without task files, are reported as such."""
    for path, fact in ((tmp_path / "no.yaml", "cannot read"), (tmp_path, "holds no task file")):
        with pytest.raises(TaskFileUnreadable, match=fact):
            load([path])


@pytest.mark.parametrize(
    ("text", "code", "lines"),
    [
        ("version: 1\n", 0, 0),
        ("version: 2\nx: 1\n", 1, 2),
        (None, 2, 0),
        ("version: 1\ntools: {a: {}}\ntasks: {t: {scope: [b]}}\n", 0, 0),
    ],
)
def test_check_exits_by_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, code: int, lines: int
) -> None:
    """`tasks check` prints a line per error, exits 1; 2 if nothing can be read; notes are none."""
    file = tmp_path / "tasks.yaml"
    if text is not None:
        file.write_text(text)

    with pytest.raises(SystemExit) as ended:
        main(["tasks", "check", str(file)])
    assert ended.value.code == code
    assert len(capsys.readouterr().out.splitlines()) == lines
