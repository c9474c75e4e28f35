"""The forms of test cases that `tracegrade tasks from` reads without `--map`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tracegrade_scoring.tasks import adk_cases, deepeval_goldens, strands_cases, tau2_tasks
from tracegrade_scoring.tasks.cases import CaseTask


class CaseForm(NamedTuple):
    """One form."""

    name: str
    fits: Callable[[Any], bool]
    """Whether a record is of this form."""

    read: Callable[[Mapping[str, Any]], Iterator[CaseTask]]
    """Yields the tasks of a record."""


FORMS: Final = (
    CaseForm("evalsets of ADK and agentevals", adk_cases.fits, adk_cases.read),
    CaseForm("tasks of tau2-bench", tau2_tasks.fits, tau2_tasks.read),
    CaseForm("experiments of Strands Evals", strands_cases.fits, strands_cases.read),
    CaseForm("goldens of DeepEval", deepeval_goldens.fits, deepeval_goldens.read),
)


def form_of(record: Any) -> CaseForm | None:
    """Return the first form that fits a record."""
    return next((form for form in FORMS if form.fits(record)), None)
