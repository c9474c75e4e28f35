"""Searches and operations on memory that programs make: steps on request, else none."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.build.last_build import last_build
from tracegrade_queries.engine.connection import connect

from ..traces import Row, TraceRows, agent, land, message, model, request_of, rows, span, tool

DOCUMENTS = [{"id": "d1", "content": "Refunds take 5 days.", "score": 0.9}]

OTEL = 1
OPENINFERENCE = 2
LANGSMITH = 3
LANGFUSE = 4
HAYSTACK = 5
NESTED = 6
WITHOUT_ANY = 7


def _otel() -> list[Row]:
    """Return a search, operations on memory (one fails), and an embedding, which is not a step."""
    memory: Row = {"gen_ai__memory__store__id": "m1"}
    record = json.dumps([{"content": "likes tea"}])
    return [
        agent(1),
        span(
            *(2, 1),
            name="retrieval kb",
            at=1,
            gen_ai__operation__name="retrieval",
            gen_ai__data_source__id="kb",
            gen_ai__request__top_k=3,
            gen_ai__retrieval__query__text="refund",
            gen_ai__retrieval__documents=json.dumps(DOCUMENTS),
        ),
        span(3, 1, at=2, gen_ai__operation__name="embeddings"),
        span(
            *(4, 1),
            at=3,
            gen_ai__operation__name="search_memory",
            gen_ai__memory__query__text="drinks",
            gen_ai__memory__records=record,
            **memory,
        ),
        span(
            *(5, 1),
            at=4,
            gen_ai__operation__name="upsert_memory",
            gen_ai__memory__records=record,
            **memory,
        ),
        span(
            *(6, 1),
            at=5,
            gen_ai__operation__name="delete_memory",
            gen_ai__memory__record__id="r1",
            error="no such record",
        ),
        model(7, 1, at=6, said=[message("assistant", "Five days.")]),
    ]


def _openinference() -> list[Row]:
    documents: Row = {
        f"retrieval__documents__{number}__document__{key}": value
        for number, text in enumerate(["one", "two"])
        for key, value in (("content", text), ("score", 0.5))
    }
    return [
        span(1, ms=100, name="LangGraph", openinference__span__kind="AGENT"),
        span(
            *(2, 1),
            at=1,
            name="VectorStoreRetriever",
            openinference__span__kind="RETRIEVER",
            input__value="refund",
            **documents,
        ),
    ]


def _langsmith() -> list[Row]:
    return [
        span(1, ms=100, name="agent", langsmith__span__kind="chain"),
        span(
            *(2, 1),
            at=1,
            name="Chroma",
            langsmith__span__kind="retriever",
            gen_ai__operation__name="embeddings",
            gen_ai__prompt='{"query": "refund"}',
            gen_ai__completion='{"documents": []}',
        ),
    ]


def _langfuse() -> list[Row]:
    return [
        span(1, ms=100, name="agent", langfuse__observation__type="agent"),
        span(
            *(2, 1),
            at=1,
            name="lookup",
            langfuse__observation__type="retriever",
            langfuse__observation__input='"refund"',
            langfuse__observation__output='"none"',
        ),
    ]


def _haystack() -> list[Row]:
    return [
        span(1, ms=100, name="haystack.agent.run", haystack__agent__input="{}"),
        span(
            *(2, 1),
            at=1,
            name="haystack.component.run",
            haystack__component__name="docs",
            haystack__component__type="InMemoryBM25Retriever",
            haystack__component__input='{"query": "refund"}',
            haystack__component__output='{"documents": []}',
        ),
    ]


def _nested() -> list[Row]:
    """Return a tool that searches, and a search that another one makes."""
    search: Row = {"gen_ai__operation__name": "retrieval", "gen_ai__data_source__id": "kb"}
    return [
        agent(1),
        tool(2, 1, tool_name="lookup", at=1, ms=9),
        span(3, 2, at=2, name="chain"),
        span(4, 3, at=3, **search),
        span(5, 1, at=20, ms=9, **search),
        span(6, 5, at=21, name="chain"),
        span(7, 6, at=22, **search),
    ]


TRACES = {
    OTEL: _otel(),
    OPENINFERENCE: _openinference(),
    LANGSMITH: _langsmith(),
    LANGFUSE: _langfuse(),
    HAYSTACK: _haystack(),
    NESTED: _nested(),
    WITHOUT_ANY: [agent(1), tool(2, 1, at=1)],
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Return a lake of all traces, built with searches as steps."""
    lake = Lake.create(tmp_path_factory.mktemp("retrieval") / "lake")
    spans = [
        each | {"traceId": f"{number:032x}"} for number, trace in TRACES.items() for each in trace
    ]
    land(lake, request_of(spans))
    build(lake, retrieval=True)
    return lake


@pytest.fixture(scope="module")
def found(lake: Lake) -> Iterator[TraceRows]:
    """Yield what was built."""
    with connect(lake) as con:
        yield TraceRows(con)


def _calls(found: TraceRows, trace: int) -> list[tuple[str, object, object, object]]:
    calls = rows(
        found,
        "SELECT tool_name, arguments, status, effect FROM steps "
        f"WHERE kind = 'tool_call' AND trace_id = '{trace:032x}' ORDER BY step_index",
    )
    return [(row["tool_name"], row["arguments"], row["status"], row["effect"]) for row in calls]


def test_searches_and_operations_on_memory_are_calls(found: TraceRows) -> None:
    """A search is named by its data source; an embedding is not one."""
    record = '[{"content":"likes tea"}]'
    assert _calls(found, OTEL) == [
        ("kb", '{"query":"refund","top_k":3}', "ok", "read"),
        ("search_memory", '{"query":"drinks","store":"m1"}', "ok", "read"),
        ("upsert_memory", f'{{"records":{record},"store":"m1"}}', "ok", "write"),
        ("delete_memory", '{"record":"r1"}', "error", "destructive"),
    ]
    [first, *_] = rows(
        found,
        "SELECT result, offered, executed_by, error_message FROM steps "
        f"WHERE kind = 'tool_call' AND trace_id = '{OTEL:032x}' ORDER BY step_index",
    )
    assert json.loads(first.pop("result")) == DOCUMENTS
    assert first == {"offered": True, "executed_by": "program", "error_message": None}


@pytest.mark.parametrize(
    ("trace", "name"),
    [
        (OPENINFERENCE, "VectorStoreRetriever"),
        (LANGSMITH, "Chroma"),
        (LANGFUSE, "lookup"),
        (HAYSTACK, "docs"),
    ],
)
def test_other_dialects_name_retrievers_by_kind(found: TraceRows, trace: int, name: str) -> None:
    """The span, or the component, has the name."""
    assert _calls(found, trace) == [(name, '{"query":"refund"}', "ok", "read")]


def test_documents_in_numbered_attributes_are_the_result(found: TraceRows) -> None:
    """OpenInference writes an attribute for each field of each document."""
    [row] = rows(
        found,
        f"SELECT result FROM steps WHERE trace_id = '{OPENINFERENCE:032x}' AND kind = 'tool_call'",
    )
    assert json.loads(row["result"]) == [
        {"content": "one", "score": 0.5},
        {"content": "two", "score": 0.5},
    ]


def test_a_search_inside_a_call_or_a_search_is_part_of_it(found: TraceRows) -> None:
    """However many spans are between."""
    assert [name for name, *_ in _calls(found, NESTED)] == ["lookup", "kb"]


def test_runs_with_such_steps_have_a_flag(found: TraceRows) -> None:
    """Their scores are others than without."""
    flagged = rows(
        found,
        "SELECT DISTINCT trace_id FROM trajectories WHERE list_contains(flags, 'retrieval_steps')",
    )
    assert {int(row["trace_id"], 16) for row in flagged} == TRACES.keys() - {WITHOUT_ANY}


def test_without_the_option_they_are_no_steps(tmp_path: Path) -> None:
    """A build keeps the choice of the last one; another choice builds every trace again."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, request_of(_otel()))
    count = "SELECT count(*) AS steps FROM steps WHERE kind = 'tool_call'"

    def built(retrieval: bool | None) -> tuple[int, object]:
        done = build(lake, retrieval=retrieval)
        with connect(lake) as con:
            return done.traces, rows(TraceRows(con), count)[0]["steps"]

    assert built(None) == (1, 0)
    assert built(True) == (1, 4)
    assert built(None) == (0, 4)
    assert last_build(lake).retrieval
    assert built(False) == (1, 0)
    assert not last_build(lake).retrieval
