"""Labels and explanations of scores, without text of the trace unless that is asked for."""

from collections.abc import Mapping
from typing import Final

from tracegrade_scoring.metrics import METRICS, Metric
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.why_failed import reason_title
from tracegrade_send.scores import ISSUE, ScoreToSend

SUCCESS: Final = "success"
RECOVERED: Final = "call_recovered"
NO_ISSUE: Final = "none"
"""Label in the place of an issue that the run no longer shows."""
OUTCOMES: Final[Mapping[str | None, str]] = {
    "recovered": "the run reached in another way what it was for",
    "retried": "the same call succeeded later",
    "lost": "nothing made up for it",
}
MOST_CHARACTERS: Final = 500
"""Length of an explanation."""


class ScoreTexts:
    """Writes the texts of scores."""

    def __init__(self, own_metrics: Mapping[str, Metric], *, with_content: bool) -> None:
        """Take users' own metrics, and whether explanations may quote the trace."""
        self._metrics = {**own_metrics, **METRICS}
        self._with_content = with_content

    def of(self, score: ScoreToSend) -> tuple[str | None, str]:
        """Return the label of a score and its explanation.

        The label is the metric's; pass or fail of success; the title of an issue; the status where
        there is no value; else None. The explanation says what the score was counted from, or why
        there is none; that of a step names its tools, that of an issue its key and step.
        """
        label, text = self._of(score)
        return label, words.clip(text, MOST_CHARACTERS)

    def _of(self, score: ScoreToSend) -> tuple[str | None, str]:
        if score.metric == ISSUE:
            return _label_of_issue(score), self._of_issue(score)
        if score.span_id:
            return score.label, _of_step(score)
        if score.status != "scored":
            return score.status, words.reason(score.reason)
        label = score.label
        if label is None and score.metric == SUCCESS:
            label = "pass" if score.value == 1 else "fail"
        metric = self._metrics.get(score.metric)
        text = words.ratio(score.numerator, score.denominator, metric) if metric else ""
        return label, f"{text}{_in_runs(score)}"

    def _of_issue(self, score: ScoreToSend) -> str:
        """Return the key and the step of an issue, and with content the sentence."""
        if score.issue is None:
            return "the run no longer shows this issue"
        step = "" if score.issue_step is None else f", step {score.issue_step}"
        sentence = (
            f": {words.line(score.sentence)}" if self._with_content and score.sentence else ""
        )
        return f"issue {score.issue}{step}{sentence}"


def _label_of_issue(score: ScoreToSend) -> str:
    if score.issue is None or score.issue_kind is None:
        return NO_ISSUE
    return words.clip(reason_title(score.issue_kind, score.issue_object), 100)


def _in_runs(score: ScoreToSend) -> str:
    """Return the number of runs of a conversation, '' for other scores."""
    return f", in {words.count(score.runs, 'run')}" if score.runs else ""


def _of_step(score: ScoreToSend) -> str:
    """Return the explanation of a score of a step."""
    called = words.name(score.called_tool, "a call")
    if score.metric == RECOVERED:
        return f"{called} failed; {OUTCOMES[score.label]}"
    wrong_tool = f": the call of {called} was not expected"
    if score.expected_tool:
        wrong_tool = f": {called} was called, {words.name(score.expected_tool)} was expected"
    texts = {
        "wrong_tool": wrong_tool,
        "wrong_arguments": f": the arguments of {called} were wrong",
        "better_tool_offered": f": a better tool than {called} was offered",
    }
    text = words.ratio(score.numerator, score.denominator, METRICS["tsa"])
    return text + texts.get(score.label or "", "")
