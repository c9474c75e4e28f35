"""`--map FIELD=PATH,…`: where in a record the fields of a trajectory stand.

Paths are dotted (`info.task.id`, `runs.0.reward`); a key that holds dots counts as a whole first.
`=` before a text makes it the value, for what no record says (`source==human`). A field that is
not mapped is looked for under the names that tools give it.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from tracegrade.errors import BadInput
from tracegrade.suggestions import did_you_mean

MAX_KEY: Final = 60
"""Characters of a key that is shown."""

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
    "runs": ("runs", "attempts", "trials", "rollouts", "trajectories", "samples"),
    "task": ("task_id", "instance_id", "problem_id", "question_id", "task.id", "task"),
    "category": ("task_category", "category"),
    "trial": ("trial", "trial_id", "attempt"),
    "retries": ("error_retries",),
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
    # Fields of verdicts.
    "verdicts": ("verdicts",),
    "trajectory_id": ("trajectory_id",),
    "trace_id": ("trace_id",),
    "subject": ("subject",),
    "sub_goal": ("sub_goal",),
    "step_index": ("step_index",),
    "step_trajectory_id": ("step_trajectory_id",),
    "span_id": ("span_id",),
    "tag": ("tag",),
    "made_at": ("made_at",),
    "withdrawn": ("withdrawn",),
    "kill_point": ("kill_point", "injection"),  # the latter for one release
    "question": ("question",),
    "value": ("value", "score"),
    "label": ("label", "verdict"),
    "source": ("source", "evaluator", "judge"),
    "evidence": ("evidence", "explanation", "reason", "comment"),
}
"""Fields, and where they are looked for, in this order."""

FIELDS: Final = tuple(GUESSES)


_MOST_RECORDS: Final = 20
_MOST_PATHS: Final = 1_000
_MOST_DEPTH: Final = 4
"""Depth to which a record without the mapped path is searched for a path to suggest."""


class FieldMap:
    """Finds the fields of records, and knows which mapped paths no record had."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths: dict[str, tuple[str, ...]] = {field: (path,) for field, path in paths.items()}
        self._unseen = dict(paths)
        self._lacking = 0
        self._known: dict[str, None] = {}

    def find(self, record: Any, field: str) -> Any:
        """Return the field's value in a record; None if it has none."""
        for path in self._paths.get(field, GUESSES[field]):
            value = at_path(record, path)
            if value is not None:
                self._unseen.pop(field, None)
                return value
        if field in self._unseen and self._lacking < _MOST_RECORDS:
            self._lacking += 1
            self._known |= dict.fromkeys(islice(_paths_in(record), _MOST_PATHS))
        return None

    def suggestion(self, path: str) -> str | None:
        """Return a question that names a similar path of the records that lack it, if any."""
        return did_you_mean(path, list(self._known))

    def mapped(self, field: str) -> str | None:
        """Return the path that was given for a field."""
        return next(iter(self._paths.get(field, ())), None)

    def unseen(self) -> list[str]:
        """Return a line for each mapped path that no record has had so far."""
        return [self._lacks(field, path) for field, path in self._unseen.items()]

    def _lacks(self, field: str, path: str) -> str:
        fact = f"no record has anything at '{path}', which is mapped to {field}"
        hint = self.suggestion(path)
        return f"{fact}; {hint}" if hint else fact


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
            hint = did_you_mean(field, FIELDS) if field not in FIELDS else None
            raise BadInput(f"{msg}; {hint}" if hint else msg)
        paths[field] = path
    return paths


def at_path(value: Any, path: str) -> Any:
    """Return the value at a dotted path, or the value written as a path; else None."""
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


def _paths_in(value: Any, prefix: str = "", depth: int = 1) -> Iterator[str]:
    """Yield the dotted paths of a record's values, for plain keys alone."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key and len(key) <= MAX_KEY and key.isprintable():
            yield f"{prefix}{key}"
            if depth < _MOST_DEPTH:
                yield from _paths_in(inner, f"{prefix}{key}.", depth + 1)


def as_name(value: Any) -> str | None:
    """Return a scalar as text; 1.0 becomes 1, so all writers give the same text."""
    if value is None or isinstance(value, dict | list):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
