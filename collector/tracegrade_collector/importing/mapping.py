"""`--map FIELD=PATH,…`: where in a record the fields of a trajectory stand.

Paths are dotted (`info.task.id`, `runs.0.reward`); a key that holds dots counts as a whole first.
`=` before a text makes it the value, for what no record says (`source==human`). A field that is
not mapped is looked for under the names that tools give it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tracegrade.errors import BadInput

GUESSES: Final[dict[str, tuple[str, ...]]] = {
    "messages": (
        "messages",
        "traj",
        "trajectory",
        "conversation",
        "conversations",
        "history",
        "transcript",
        "dialogue",
        "chat",
        "contents",
        "input",
    ),
    "task": ("task_id", "instance_id", "problem_id", "question_id", "task.id", "task"),
    "category": ("task_category", "category"),
    "trial": ("trial", "trial_id", "attempt"),
    "success": ("success", "passed", "resolved", "is_correct", "correct", "reward", "outcome"),
    "release": ("release",),
    "agent": ("agent_name", "agent"),
    "model": ("model", "model_name"),
    "conversation": ("conversation_id", "session_id", "thread_id"),
    "user_input": ("user_input", "question", "query", "instruction"),
    "time": ("time", "timestamp", "start_time", "created_at", "created"),
    "system": ("system", "system_prompt"),
    "tools": ("tools", "functions"),
    "steps": ("steps", "intermediate_steps"),
    "answer": ("final_answer", "answer", "output"),
    "expected": ("expected", "expected_actions", "ground_truth", "info.task.actions"),
    # Of verdicts.
    "verdicts": ("verdicts",),
    "trajectory_id": ("trajectory_id",),
    "trace_id": ("trace_id",),
    "subject": ("subject",),
    "sub_goal": ("sub_goal",),
    "injection": ("injection",),
    "value": ("value", "score"),
    "label": ("label", "verdict"),
    "source": ("source", "evaluator", "judge"),
    "evidence": ("evidence", "explanation", "reason", "comment"),
}
"""Fields, and where they are looked for, in this order."""

FIELDS: Final = tuple(GUESSES)


class FieldMap:
    """Finds the fields of records, and knows which mapped paths no record had."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths: dict[str, tuple[str, ...]] = {field: (path,) for field, path in paths.items()}
        self._unseen = dict(paths)

    def find(self, record: Any, field: str) -> Any:
        """Return the field's value in a record; None if it has none."""
        for path in self._paths.get(field, GUESSES[field]):
            value = at_path(record, path)
            if value is not None:
                self._unseen.pop(field, None)
                return value
        return None

    def mapped(self, field: str) -> str | None:
        """Return the path that was given for a field."""
        return next(iter(self._paths.get(field, ())), None)

    def unseen(self) -> list[str]:
        """Return a line for each mapped path that stood in no record so far."""
        return [
            f"no record has anything at '{path}', which is mapped to {field}"
            for field, path in self._unseen.items()
        ]


def parse_map(texts: Iterable[str]) -> dict[str, str]:
    """Return the path of each field.

    Raises:
        BadInput: A text is not FIELD=PATH, or there is no such field.
    """
    paths = {}
    for pair in (pair.strip() for text in texts for pair in text.split(",") if pair.strip()):
        field, equals, path = (part.strip() for part in pair.partition("="))
        if not equals or not path or field not in FIELDS:
            msg = f"--map must be FIELD=PATH with FIELD one of {', '.join(FIELDS)}, got '{pair}'"
            raise BadInput(msg)
        paths[field] = path
    return paths


def at_path(value: Any, path: str) -> Any:
    """Return what stands at a dotted path, or the value that is written as one; else None."""
    if path.startswith("="):
        return path[1:]
    if isinstance(value, dict) and path in value:
        return value[path]
    head, dot, rest = path.partition(".")
    if isinstance(value, list) and head.isdecimal():
        value = value[int(head)] if int(head) < len(value) else None
    else:
        value = value.get(head) if isinstance(value, dict) else None
    return at_path(value, rest) if dot and value is not None else value


def as_name(value: Any) -> str | None:
    """Return a scalar as text; 1.0 as 1, so that it is the same from every writer."""
    if value is None or isinstance(value, dict | list):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
