"""Turns a form into the rows of a label, as `tracegrade import` reads them."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from tracegrade_explorer.errors import FormRefused
from tracegrade_explorer.labels.people import HUMAN

VALUES: Final = {"good": 1.0, "bad": 0.0, "unsure": None}
MOST_TAG, MOST_NOTE = 60, 4_000
"""Characters."""


class LabelForm(NamedTuple):
    """The label of a run in a form."""

    verdict: str
    """A key of `VALUES`."""
    tag: str = ""
    note: str = ""
    step: int | None = None


class LabeledStep(NamedTuple):
    """A step that a person labels as wrong."""

    step_trajectory_id: str
    step_index: int | None
    span_id: str | None


def read_form(fields: dict[str, str]) -> LabelForm:
    """Return the label in the fields of a form; a good run has no step and no tag.

    Raises:
        FormRefused: There is no verdict, or the step is not a number.
    """
    verdict = fields.get("verdict", "")
    if verdict not in VALUES:
        msg = "a label is good, bad or unsure; choose one"
        raise FormRefused(msg)
    note = fields.get("note", "").strip()[:MOST_NOTE]
    if verdict == "good":
        return LabelForm(verdict, note=note)
    tag = " ".join(fields.get("tag", "").split())[:MOST_TAG]
    return LabelForm(verdict, tag, note, _step(fields.get("step", "")))


def _step(text: str) -> int | None:
    digits = text.strip().lower().removeprefix("s").split(" ")[0]
    if not digits:
        return None
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
        msg = f"a step is a number, as s14, got {text[:40]!r}"
        raise FormRefused(msg)
    return int(digits)


def rows_of(
    run_id: str,
    name: str,
    form: LabelForm,
    step: LabeledStep | None,
    before: Iterable[LabeledStep],
) -> list[dict[str, Any]]:
    """Return the rows of a label: the verdict, the step, and steps that it no longer names.

    Args:
        run_id: The run.
        name: The labeler's name.
        form: The label in the form.
        step: The step in it.
        before: Steps of the run that the same person named before.
    """
    common = common_fields(run_id, name)
    more = {"tag": form.tag or None, "evidence": form.note or None}
    verdict = {"subject": "success", "value": VALUES[form.verdict], "label": form.verdict}
    found = [{**common, **verdict, **more}]
    if step:
        found.append({**common, **_of(step), "value": 0.0, **more})
    span = step and step.span_id
    return [*found, *_taken_back(common, (each for each in before if each.span_id != span))]


def rows_taken_back(run_id: str, name: str, steps: Iterable[LabeledStep]) -> list[dict[str, Any]]:
    """Return the rows that withdraw a person's label of a run, and the steps in it."""
    common = common_fields(run_id, name)
    return [{**common, "subject": "success", "withdrawn": True}, *_taken_back(common, steps)]


def _taken_back(common: dict[str, Any], steps: Iterable[LabeledStep]) -> Iterator[dict[str, Any]]:
    for step in steps:
        yield {**common, **_of(step), "withdrawn": True}


def common_fields(run_id: str, name: str) -> dict[str, Any]:
    """Return the fields of every row of a person's label."""
    made_at = datetime.now(UTC).isoformat()
    return {"trajectory_id": run_id, "source": f"{HUMAN}{name}", "made_at": made_at}


def _of(step: LabeledStep) -> dict[str, Any]:
    return {"subject": "step", **step._asdict()}
