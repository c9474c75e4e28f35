"""Verdicts go out to be labeled without what the judge said, and labels of people come back."""

import csv
import datetime
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.csv as pa_csv

from tracegrade_collector.importing.verdict_rows import add_verdicts
from tracegrade_judges.calibration.sample import SampledVerdict, draw
from tracegrade_judges.errors import LabelsUnusable, NothingToJudge
from tracegrade_judges.questions.build import PLAN_CRITERIA, SERVED_CRITERION
from tracegrade_judges.run.open_lake import JudgedLake
from tracegrade_judges.run.verdicts import source_of
from tracegrade_judges.schema import JUDGE_SAMPLES
from tracegrade_judges.sql import query
from tracegrade_lake import Lake
from tracegrade_queries.engine.csv_cells import guarded
from tracegrade_scoring.tasks import Specification

COLUMNS: Final = (
    "item", "label", "task_id", "sub_goal", "step_index", "question", "user_input", "final_answer",
    "trajectory_id",
)  # fmt: skip
WORDS: Final = {
    **dict.fromkeys(("yes", "y", "1", "true"), True),
    **dict.fromkeys(("no", "n", "0", "false"), False),
}
"""The labels that people may write."""
_OF_A_VERDICT: Final = ("trajectory_id", "subject", "sub_goal", "step_index")
MIN_COUNT: Final = 2


class LabelImport(NamedTuple):
    """Contents of a file of labels."""

    labels: int
    empty: int
    """Items without a label."""
    written: Mapping[str, int]
    """Verdicts: added, replaced, known."""


def judge_verdicts(opened: JudgedLake, judge: str) -> list[dict[str, Any]]:
    """Return a judge's yes or no on each run, in a fixed order.

    Raises:
        NothingToJudge: The judge has no verdict.
    """
    found = opened.con.execute(query("judge_verdicts"), {"judge_source": source_of(judge)})
    names = [column[0] for column in found.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    if not rows:
        msg = f"no verdict of judge '{judge}' says yes or no; `tracegrade judge run` asks it"
        raise NothingToJudge(msg)
    return rows


def draw_labels(opened: JudgedLake, judge: str, count: int, seed: int, out: Path) -> int:
    """Draw verdicts that were not drawn before, note them in the lake, and write them to a file.

    Returns:
        The number of verdicts drawn.

    Raises:
        LabelsUnusable: All were drawn, fewer than 2 are asked for, or the file cannot be written.
        NothingToJudge: The judge has no verdict.
    """
    if count < MIN_COUNT:
        msg = f"--count is {count}; give at least {MIN_COUNT}, one for yes and one for no"
        raise LabelsUnusable(msg)
    known = {(row["judge"], row["item"]) for row in _samples(opened.lake)}
    rows = [row for row in judge_verdicts(opened, judge) if (judge, item_of(row)) not in known]
    if not rows:
        msg = f"all verdicts of judge '{judge}' were drawn already; ask it about more runs"
        raise LabelsUnusable(msg)
    sampled = draw(rows, count, seed)
    _write(out, [_cells(opened, each.row) for each in sampled])
    opened.lake.append(JUDGE_SAMPLES, _sampled(judge, sampled, seed))
    return len(sampled)


def import_labels(opened: JudgedLake, judge: str, path: Path, person: str) -> LabelImport:
    """Write the labels in a file as verdicts of a person.

    Raises:
        LabelsUnusable: The file cannot be read, no labeler is named, or a row has an undrawn
            verdict or an unknown word; nothing is written then.
    """
    if not person.strip():
        msg = "no labeler is named; name one with --by"
        raise LabelsUnusable(msg)
    samples = {row["item"]: row for row in _samples(opened.lake) if row["judge"] == judge}
    verdicts, empty = [], 0
    for line, row in _read(path):
        sample = samples.get(row["item"])
        if sample is None:
            msg = (
                f"{path}:{line}: item '{row['item']}' was not drawn of judge '{judge}'; "
                "label what `judge label` wrote"
            )
            raise LabelsUnusable(msg)
        word = row["label"].strip().lower()
        if not word:
            empty += 1
        elif word not in WORDS:
            msg = f"{path}:{line}: label '{row['label']}' is neither yes nor no; correct it"
            raise LabelsUnusable(msg)
        else:
            verdicts.append(_verdict(sample, WORDS[word], person.strip()))
    written = add_verdicts(opened.lake, verdicts, opened.redactor)
    return LabelImport(len(verdicts), empty, written)


def item_of(row: Mapping[str, Any]) -> str:
    """Return what a file of labels calls a verdict."""
    parts = [row["trajectory_id"], row["subject"], row["sub_goal"] or ""]
    if row["subject"] == "planning":
        parts.append(row["plan_question"])
    if row["subject"] == "served":
        parts.append(str(row["step_index"]))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _samples(lake: Lake) -> list[dict[str, Any]]:
    dataset = lake.dataset(JUDGE_SAMPLES.name)
    return dataset.to_table().to_pylist() if dataset else []


def _cells(opened: JudgedLake, row: Mapping[str, Any]) -> dict[str, str | None]:
    texts = [row["user_input"] or "", row["final_answer"] or ""]
    user_input, final_answer = opened.redactor.redact_texts(texts)
    question = question_of(opened.specification, row)
    return {
        **{name: row.get(name) for name in COLUMNS},
        "step_index": None if row["step_index"] is None else str(row["step_index"]),
        "item": item_of(row),
        "label": "",
        "question": question,
        "user_input": user_input,
        "final_answer": final_answer,
    }


def question_of(specification: Specification, row: Mapping[str, Any]) -> str:
    """Return what a person has to decide of a verdict, as the task file says it now."""
    if row["subject"] == "planning":
        return f"The plan before the first tool call: {PLAN_CRITERIA[row['plan_question']]}"
    if row["subject"] == "served":
        question_text = SERVED_CRITERION.format(
            step_index=row["step_index"], sub_goal=row["sub_goal"]
        )
        return f"{question_text} It may serve: {', '.join(row['candidates'] or ())}"
    task = specification.tasks.get(row["task_id"])
    if row["subject"] == "success":
        reference = task.reference if task else None
        given = [reference] if isinstance(reference, str) else reference or []
        return "Is each answer right? The right ones: " + " | ".join(given)
    node = task.sub_goals.get(row["sub_goal"]) if task else None
    return (node.success and node.success.judge if node else None) or ""


def _sampled(judge: str, sampled: Sequence[SampledVerdict], seed: int) -> pa.Table:
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    rows = [
        {
            "item": item_of(each.row),
            "judge": judge,
            **{k: each.row[k] for k in _OF_A_VERDICT},
            "task_id": each.row["task_id"],
            "question": each.row["plan_question"],
            "verdict": each.row["label"],
            "probability": each.probability,
            "seed": seed,
            "drawn_at": now,
            "date": now.date(),
        }
        for each in sampled
    ]
    return pa.Table.from_pylist(rows, JUDGE_SAMPLES.arrow())


def _write(out: Path, rows: Sequence[Mapping[str, str | None]]) -> None:
    table = pa.Table.from_pylist(
        [dict(row) for row in rows], pa.schema([(name, pa.string()) for name in COLUMNS])
    )
    try:
        with out.open("xb") as file:
            pa_csv.write_csv(guarded(table), file)
    except OSError as error:
        msg = f"labels cannot be written to '{out}': {error.strerror}; give a new file with --out"
        raise LabelsUnusable(msg) from error


def _read(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        msg = f"labels cannot be read from '{path}': {reason}; give the file that was labeled"
        raise LabelsUnusable(msg) from error
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if not {"item", "label"} <= set(reader.fieldnames or ()):
        msg = f"'{path}' has no columns item and label; give the file that `judge label` wrote"
        raise LabelsUnusable(msg)
    for row in reader:
        yield reader.line_num, {key: row.get(key) or "" for key in ("item", "label")}


def _verdict(sample: Mapping[str, Any], says_yes: bool, person: str) -> Mapping[str, Any]:
    return {
        **{k: sample.get(k) for k in _OF_A_VERDICT},
        "kill_point": None,
        "question": sample.get("question"),
        "value": float(says_yes),
        "label": "yes" if says_yes else "no",
        "source": f"human:{person}",
        "evidence": None,
    }
