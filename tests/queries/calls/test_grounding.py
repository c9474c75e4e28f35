"""What Google ran for an answer is a call, wherever the answer says on what it rests."""

import json
from typing import Any, Final

from tests.queries.calls.test_provider_calls import BY_PROVIDER, EXECUTED_BY, said, told_by
from tests.queries.together import Scene
from tests.queries.traces import Row, agent, rows, span, story
from tests.scenes import built_together

PAGE: Final = {"web": {"uri": "https://e.x/1", "title": "E"}}
SEARCH: Final = {
    "webSearchQueries": ["weather paris"],
    "searchEntryPoint": {"renderedContent": "<div>"},
    "groundingChunks": [PAGE],
    "groundingSupports": [{"groundingChunkIndices": [0], "segment": {"endIndex": 5}}],
}
SNAKE: Final = {"web_search_queries": ["weather paris"], "grounding_chunks": [PAGE]}
READ: Final = {
    "url_metadata": [
        {
            "retrieved_url": "https://e.x",
            "url_retrieval_status": "URL_RETRIEVAL_STATUS_SUCCESS",
        }
    ]
}
CONTENT: Final = {"role": "model", "parts": [{"text": "It rains."}]}
SEARCHED: Final = 'tool_call google_search {"queries":["weather paris"]} ok'
FOUND: Final = f"observation {json.dumps([PAGE], separators=(',', ':'))}"
RAINS: Final = [SEARCHED, FOUND, "answer It rains."]


def answer(**beside: object) -> Row:
    """Return a whole answer of Gemini's, with what stands beside the content of its candidate."""
    return {"candidates": [{"content": CONTENT, "finish_reason": "STOP", **beside}]}


def vercel(**metadata: object) -> list[Row]:
    """Return a run of a model call by Vercel's AI SDK, with the metadata of its provider."""
    told: Row = {"ai__response__providerMetadata": json.dumps(metadata)}
    return [
        agent(1),
        span(
            2, 1, ai__operationId="ai.streamText.doStream", ai__response__text="It rains.", **told
        ),
    ]


def by_keys(output: object, **fields: Any) -> list[Row]:
    """Return a run of OpenInference whose only model call tells its text in a key of its own."""
    key = "llm__output_messages__0__message__"
    keys: Row = {f"{key}role": "model", f"{key}content": "It rains."}
    return told_by("openinference", output, **keys, **fields)


@built_together
def test_answer_of_gemini_with_openinference() -> Scene:
    """Its instrumentation writes the whole answer beside the text."""
    lake = yield by_keys(answer(grounding_metadata=SNAKE, url_context_metadata=READ))

    assert story(lake) == [
        SEARCHED,
        FOUND,
        'tool_call url_context {"urls":["https://e.x"]} ok',
        f"observation {json.dumps(READ['url_metadata'], separators=(',', ':'))}",
        "answer It rains.",
    ]
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER


@built_together
def test_answer_without_any_key_of_its_text() -> Scene:
    """Vertex AI names the fields as its protocol does."""
    lake = yield told_by("openinference", answer(groundingMetadata=SEARCH))

    assert story(lake) == RAINS


@built_together
def test_response_of_adk_with_openinference() -> Scene:
    """ADK's response has content and metadata side by side."""
    lake = yield by_keys({"content": CONTENT, "grounding_metadata": SNAKE, "partial": False})

    assert story(lake) == RAINS


@built_together
def test_response_of_adk_in_its_own_attributes() -> Scene:
    """Its own spans hold the same."""
    response = {"content": CONTENT, "grounding_metadata": SNAKE}
    lake = yield [
        agent(1),
        span(
            *(2, 1),
            scope="gcp.vertex.agent",
            name="call_llm",
            gcp__vertex__agent__llm_request=json.dumps({"model": "gemini", "contents": []}),
            gcp__vertex__agent__llm_response=json.dumps(response),
        ),
    ]

    assert story(lake) == RAINS


@built_together
def test_counts_of_adk_beside_the_conventions() -> Scene:
    """It counts queries and sources, and names them where content is captured."""
    counts: Row = {"adk__experimental__grounding__query_count": 1}
    named: Row = {
        "adk__experimental__grounding__chunk_count": 1,
        "adk__experimental__grounding__web_search_queries": '["weather paris"]',
        "adk__experimental__grounding__source_uris": '["https://e.x/1"]',
    }
    lake = yield [
        *said("It rains.", **counts, **named),
        span(3, 1, at=5, gen_ai__operation__name="generate_content", **counts),
        span(4, 1, at=9, gen_ai__operation__name="generate_content",
             adk__experimental__grounding__query_count=0,
             adk__experimental__grounding__chunk_count=0),
    ]  # fmt: skip

    assert [line for line in story(lake) if line.startswith("tool_call")] == [
        SEARCHED,
        "tool_call google_search ok",
    ]


@built_together
def test_metadata_in_the_ai_sdk() -> Scene:
    """Vercel's SDK writes the metadata of the provider, in which nulls stand for nothing."""
    lake = yield vercel(google={"groundingMetadata": SEARCH, "urlContextMetadata": None})

    assert story(lake) == RAINS


@built_together
def test_metadata_of_vertex_in_the_ai_sdk_beside_the_conventions() -> Scene:
    """Version 7 follows the conventions, and may write the metadata beside them."""
    told = json.dumps({"vertex": {"groundingMetadata": SEARCH}})
    lake = yield said("It rains.", ai__response__providerMetadata=told)

    assert story(lake) == RAINS


@built_together
def test_other_metadata_in_the_ai_sdk() -> Scene:
    """Null, or data of another provider, is not a call."""
    lake = yield vercel(google={"groundingMetadata": None}, openai={"responseId": "r"})

    assert story(lake) == ["answer It rains."]


@built_together
def test_answer_on_a_platform() -> Scene:
    """A platform keeps the whole answer."""
    lake = yield told_by("langfuse", answer(groundingMetadata=SEARCH))

    assert story(lake) == RAINS


@built_together
def test_answer_of_litellm() -> Scene:
    """It has OpenAI's form, and what Google tells of each candidate beside it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "It rains."}}
    lake = yield by_keys({"choices": [choice], "vertex_ai_grounding_metadata": [SEARCH]})

    assert story(lake) == RAINS


@built_together
def test_message_of_langchain_on_a_platform() -> Scene:
    """LangChain has it among the metadata of its message."""
    ai = {"type": "ai", "content": "It rains.", "response_metadata": {"grounding_metadata": SNAKE}}
    lake = yield told_by("langfuse", ai)

    assert story(lake) == RAINS


@built_together
def test_message_of_langchain_with_openinference() -> Scene:
    """The whole output holds its message as it is serialized."""
    kwargs = {"content": "It rains.", "response_metadata": {"grounding_metadata": SNAKE}}
    lake = yield by_keys({"generations": [[{"message": {"id": ["x"], "kwargs": kwargs}}]]})

    assert story(lake) == RAINS


@built_together
def test_message_of_langchain_in_langsmith() -> Scene:
    """And so does LangSmith's."""
    kwargs = {
        "type": "ai",
        "content": "It rains.",
        "response_metadata": {"grounding_metadata": SNAKE},
    }
    output = {"generations": [[{"message": {"lc": 1, "kwargs": kwargs}}]]}
    lake = yield [
        span(1, name="a", langsmith__span__kind="chain", langsmith__trace__name="a"),
        span(
            2,
            1,
            langsmith__span__kind="llm",
            gen_ai__prompt=json.dumps({"messages": [[{"type": "human", "content": "Rain?"}]]}),
            gen_ai__completion=json.dumps(output),
        ),
    ]

    assert story(lake) == RAINS


@built_together
def test_sources_of_other_tools() -> Scene:
    """Maps and stores of files are tools of their own; which query found them is not told."""
    place = {"maps": {"uri": "https://m.x", "title": "Paris"}}
    stored = {"retrievedContext": {"title": "f", "fileSearchStore": "fileSearchStores/s"}}
    lake = yield told_by(
        "langfuse", answer(groundingMetadata={"groundingChunks": [place, stored]})
    )

    assert [line for line in story(lake) if line.startswith("tool_call")] == [
        "tool_call google_maps ok",
        "tool_call file_search ok",
    ]


@built_together
def test_page_that_could_not_be_read() -> Scene:
    """A call that read none of its pages failed."""
    page = {"retrieved_url": "https://e.x", "url_retrieval_status": "URL_RETRIEVAL_STATUS_ERROR"}
    lake = yield by_keys(answer(url_context_metadata={"url_metadata": [page]}))

    assert story(lake)[0] == 'tool_call url_context {"urls":["https://e.x"]} error'


@built_together
def test_answer_that_rests_on_nothing() -> Scene:
    """Metadata without queries and sources tell of no call: the model did not search."""
    lake = yield by_keys(answer(grounding_metadata={}, url_context_metadata={"url_metadata": []}))

    assert story(lake) == ["answer It rains."]


@built_together
def test_text_that_speaks_of_grounding() -> Scene:
    """A mention in a user's text or a tool's arguments is not a call."""
    spoken = json.dumps({"groundingMetadata": SEARCH})
    lake = yield told_by("langfuse", {"role": "assistant", "content": spoken})

    assert [line.partition(" ")[0] for line in story(lake)] == ["answer"]


@built_together
def test_parts_of_google_for_its_own_tools() -> Scene:
    """Newer models have parts for these calls: what the answer rests on tells them once more."""
    parts = [
        {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "t1", "args": {"queries": ["x"]}}},
        {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "t1", "response": {"hits": 1}}},
        {"text": "It rains."},
    ]
    content = {"role": "model", "parts": parts}
    lake = yield told_by(
        "langfuse", {"candidates": [{"content": content, "groundingMetadata": SEARCH}]}
    )

    assert story(lake) == [
        'tool_call google_search {"queries":["x"]} ok',
        'observation {"hits":1}',
        "answer It rains.",
    ]
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER


@built_together
def test_parts_of_the_conventions_for_googles_tools() -> Scene:
    """OpenTelemetry's instrumentation names a search by its type, and code by what it is."""
    search = {"type": "google_search_web", "arguments": {"queries": ["x"]}}
    lake = yield said(
        {"type": "server_tool_call", "id": "t1", "name": "google_search_web",
         "server_tool_call": search},
        {"type": "server_tool_call_response", "id": "t1",
         "server_tool_call_response": {"type": "google_search_web", "response": {"hits": 1}}},
        {"type": "server_tool_call", "id": None, "name": "code_execution",
         "server_tool_call": {"type": "code_execution", "code": "1/0", "language": "PYTHON"}},
        {"type": "server_tool_call_response", "id": None, "server_tool_call_response":
         {"type": "code_execution", "outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}},
        "It rains.",
    )  # fmt: skip

    assert story(lake) == [
        'tool_call google_search {"queries":["x"]} ok',
        'observation {"hits":1}',
        'tool_call code_execution {"code":"1/0","language":"PYTHON"} error',
        "observation ZeroDivisionError",
        "answer It rains.",
    ]


@built_together
def test_steps_of_an_interaction() -> Scene:
    """Google's Interactions have a step for a call, and one for what came of it."""
    steps = [
        {"type": "url_context_call", "id": "u1", "arguments": {"urls": ["https://e.x"]}},
        {"type": "url_context_result", "call_id": "u1", "result": [], "is_error": True},
        {"type": "google_search_call", "id": "g1", "arguments": {"queries": ["x"]}},
        {"type": "google_search_result", "call_id": "g1", "result": ["hit"]},
    ]
    lake = yield by_keys({"id": "i1", "status": "completed", "steps": steps})

    assert story(lake) == [
        'tool_call url_context {"urls":["https://e.x"]} error',
        "observation []",
        'tool_call google_search {"queries":["x"]} ok',
        'observation ["hit"]',
        "answer It rains.",
    ]
