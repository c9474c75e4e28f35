"""Opens what judging needs of a lake: runs, tasks, prices, redaction, the cache of calls."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple

import duckdb

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_judges.ask.ask import JudgeSession
from tracegrade_judges.ask.clients import silenced
from tracegrade_judges.calls.cache import CallCache
from tracegrade_judges.calls.exchange import Exchange
from tracegrade_judges.calls.langchain_sender import LangChainSender
from tracegrade_judges.calls.pace import ConcurrencyLimit
from tracegrade_judges.calls.sending import HttpSender, Sender
from tracegrade_judges.calls.spending import JudgeSpending, SharedBudget, SpendingLimits
from tracegrade_judges.errors import JudgeFileInvalid, NoSpendingLimit, NothingToJudge
from tracegrade_judges.judge_file.chat_classes import bounds_answers, chat_model
from tracegrade_judges.judge_file.load import LoadedJudges, endpoint_of
from tracegrade_judges.judge_file.model import AsksAbout, Judge, JudgeFile
from tracegrade_judges.layer import JUDGES
from tracegrade_judges.questions.build import JudgeQuestion, questions_of
from tracegrade_judges.questions.runs import JudgedRun, judgeable_runs
from tracegrade_lake import Lake
from tracegrade_queries.costs.answer_cost import price_of
from tracegrade_queries.costs.price_list import known_prices
from tracegrade_queries.costs.pricing import Prices
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.stored import known_specification

UNLIMITED: Final = SpendingLimits()
JOBS: Final = 4
"""Judgments at a time, by default."""


@dataclass(frozen=True)
class JudgingOptions:
    """Options of a judging run."""

    only: str | None = None
    """The one judge to ask; None: all of the file."""
    limits: SpendingLimits = UNLIMITED
    """Limits of each judge."""
    offline: bool = False
    jobs: int = JOBS


@dataclass(frozen=True)
class JudgedLake:
    """A lake as judges see it."""

    lake: Lake
    con: duckdb.DuckDBPyConnection
    redactor: Redactor
    runs: Sequence[JudgedRun]
    specification: Specification
    prices: Prices


@contextmanager
def judged_lake(lake: Lake) -> Iterator[JudgedLake]:
    """Open a lake for judges.

    Raises:
        NothingToJudge: No run of a known task was scored.
    """
    redactor = Redactor.from_options(CollectorConfig(), lake.state)
    with connect(lake, layers=(SCORES, JUDGES)) as con:
        runs = judgeable_runs(con, redactor)
        if not runs:
            msg = (
                f"no run of a known task is scored in the lake at {lake.location}; "
                "run `tracegrade score --tasks FILE` first"
            )
            raise NothingToJudge(msg)
        specification = known_specification(lake, Specification())
        yield JudgedLake(lake, con, redactor, runs, specification, known_prices(lake).prices)


class PreparedJudge(NamedTuple):
    """A judge or a panel of a file, with its connections and its questions."""

    name: str
    opened: JudgedLake
    sessions: Sequence[JudgeSession]
    """Its own; of a panel those of its judges."""
    questions: Sequence[JudgeQuestion]

    @property
    def subject(self) -> AsksAbout:
        """The subject of its questions."""
        return self.sessions[0].judge.subject


def prepare_judges(
    lake: Lake, loaded: LoadedJudges, options: JudgingOptions
) -> Iterator[PreparedJudge]:
    """Yield each judge and panel to ask, one after the other, while the lake is open.

    Raises:
        JudgeFileInvalid: No judge has the requested name, or a variable is not set.
        NoSpendingLimit: The budget is in US dollars and a model has no price.
        NothingToJudge: No run of a known task was scored.
    """
    if loaded.file is None:
        return
    chosen = _chosen(loaded.file, options.only)
    with judged_lake(lake) as opened:
        for name, judges in chosen.items():
            cache, budget = CallCache(lake), SharedBudget(options.limits)
            sessions = [
                _session_of(opened, (each, judge), loaded.file, options, (cache, budget))
                for each, judge in judges.items()
            ]
            first = next(iter(judges.values()))
            panel = loaded.file.panels.get(name)
            only = first if panel is None else first.model_copy(update={"only": panel.only})
            questions = questions_of(
                (name, only), opened.runs, opened.specification, loaded.documents
            )
            with ExitStack() as quiet:
                for judge in judges.values():
                    quiet.enter_context(silenced(judge.model.provider))
                yield PreparedJudge(name, opened, sessions, questions)


def _chosen(file: JudgeFile, only: str | None) -> Mapping[str, Mapping[str, Judge]]:
    """Return the judges of no panel and the panels with their judges, or only the named one.

    Raises:
        JudgeFileInvalid: There is none of that name, or a panel asks it.
    """
    panels = {
        name: {each: file.judges[each] for each in panel.judges}
        for name, panel in file.panels.items()
    }
    alone = {
        name: {name: judge}
        for name, judge in file.judges.items()
        if not any(name in judges for judges in panels.values())
    }
    found = {**alone, **panels}
    if only is None:
        return found
    if only in found:
        return {only: found[only]}
    asked_by = next((name for name, judges in panels.items() if only in judges), None)
    if asked_by is not None:
        msg = (
            f"judge '{only}' is asked by panel '{asked_by}' alone, or scores would count its "
            f"verdicts next to the panel's; give --judge {asked_by}"
        )
        raise JudgeFileInvalid(msg)
    msg = f"no judge '{only}' in the judge file; known: {', '.join(found)}"
    raise JudgeFileInvalid(msg)


def _session_of(
    opened: JudgedLake,
    named: tuple[str, Judge],
    file: JudgeFile,
    options: JudgingOptions,
    shared: tuple[CallCache, SharedBudget],
) -> JudgeSession:
    """Return the judge's model and the connection to it.

    Raises:
        JudgeFileInvalid: A variable that the judge file names is not set.
        NoSpendingLimit: The budget is in US dollars and the model has no price, or nothing limits
            the answers of its class.
    """
    name, judge = named
    cache, budget = shared
    endpoint = endpoint_of(name, judge.model, offline=options.offline)
    price = price_of(opened.prices, endpoint.model)
    if price is None and options.limits.max_usd is not None and not options.offline:
        msg = (
            f"model '{endpoint.model}' of judge '{name}' has no price in the lake, so --max-usd "
            "cannot hold; give it one with `tracegrade score --prices FILE`, or use --max-tokens"
        )
        raise NoSpendingLimit(msg)
    exchange = Exchange(
        cache,
        JudgeSpending(budget, price),
        ConcurrencyLimit(options.jobs),
        opened.redactor,
        _sender_of(name, judge, options),
        offline=options.offline,
    )
    return JudgeSession(name, judge, endpoint, exchange, file.rubrics.get(judge.own_rubric or ""))


def _sender_of(name: str, judge: Judge, options: JudgingOptions) -> Sender:
    """Return what sends a judge's requests; a class is only made if requests are allowed.

    Raises:
        JudgeFileInvalid: The class refuses its options, or a variable is not set.
        NoSpendingLimit: Nothing limits what the class answers.
    """
    if judge.model.class_ is None or options.offline:
        return HttpSender()
    model = chat_model(name, judge.model)
    if options.limits.max_calls is None and not bounds_answers(model):
        msg = (
            f"class {judge.model.class_} of judge '{name}' takes no limit for its answers, so a "
            "budget cannot hold; give --max-calls"
        )
        raise NoSpendingLimit(msg)
    return LangChainSender(model)
