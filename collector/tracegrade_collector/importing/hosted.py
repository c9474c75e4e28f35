"""Recognizes content blocks of tools that the model's provider runs itself.

Such a block is left unchanged in its message: builds read the forms of all providers.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_TYPES: Final = re.compile(
    r"server_tool_(use|call|call_response|result)|mcp_tool_use|\w+_tool_result"
    r"|(web_search|file_search|code_interpreter|image_generation|mcp|tool_search)_call"
    r"|(google_search|google_maps|url_context|code_execution|retrieval|mcp_server_tool)_call"
    r"|(google_search|google_maps|url_context|code_execution|retrieval|file_search)_result"
    r"|mcp_approval_re(quest|sponse)|builtin-tool-(call|return)"
)
_KEYS: Final = (
    "executable_code",
    "executableCode",
    "code_execution_result",
    "codeExecutionResult",
)
_USES: Final = (  # of Google's own tools, with what names the tool
    ("toolCall", "toolType"),
    ("tool_call", "tool_type"),
    ("toolResponse", "toolType"),
    ("tool_response", "tool_type"),
)
_SOURCES: Final = (("google_search", ("web", "image")), ("google_maps", ("maps",)))
_RETRIEVED: Final = ("retrieved_context", "retrievedContext")
_STORES: Final = ("file_search_store", "fileSearchStore")
_QUERIES: Final = {
    "google_search": (
        "web_search_queries",
        "webSearchQueries",
        "image_search_queries",
        "imageSearchQueries",
    ),
    "google_maps": (),
    "file_search": ("retrieval_queries", "retrievalQueries"),
    "retrieval": ("retrieval_queries", "retrievalQueries"),
}


def is_hosted(block: Mapping[str, Any]) -> bool:
    """Return whether this is a call that the provider ran, or its result.

    The types are OpenAI's (Responses), Anthropic's, LangChain's, Pydantic AI's and those of the
    GenAI conventions; the keys are Google's. Vercel's AI SDK and Pydantic AI mark the other
    blocks.
    """
    if block.get("providerExecuted") is True or block.get("builtin") is True:
        return True
    if any(isinstance(block.get(key), dict) for key in _KEYS):
        return True
    if _is_use(block):
        return True
    kind = block.get("type", block.get("part_kind"))
    is_typed = isinstance(kind, str) and _TYPES.fullmatch(kind) is not None
    return is_typed and block.get("execution") != "client"


def hosted_beside(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield, as blocks, the calls of a provider's tools that are next to a message's content.

    LangChain puts items of OpenAI's Responses into `additional_kwargs.tool_outputs`, except in its
    newer form. Google lists with an answer the searches that it rests on and the pages that were
    read. Models with parts for such calls list them there.
    """
    for holder in (message, message.get("response_metadata")):
        if isinstance(holder, dict) and not _has_uses(holder):
            yield from _searches(_found(holder, "grounding_metadata", "groundingMetadata"))
            yield from _pages(_found(holder, "url_context_metadata", "urlContextMetadata"))
    more = message.get("additional_kwargs")
    items = more.get("tool_outputs") if isinstance(more, dict) else None
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and is_hosted(item):
            yield item


def _has_uses(message: Mapping[str, Any]) -> bool:
    parts = message.get("parts", message.get("content"))
    blocks = parts if isinstance(parts, list) else ()
    return any(isinstance(block, dict) and _is_use(block) for block in blocks)


def _is_use(block: Mapping[str, Any]) -> bool:
    return any(isinstance(block.get(key), dict) and type_ in block[key] for key, type_ in _USES)


def _searches(metadata: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a call for each tool whose queries or sources the metadata of an answer name."""
    sources = _found(metadata, "grounding_chunks", "groundingChunks", kind=list)
    objects = [source for source in sources if isinstance(source, dict)]
    retrieved = [source for source in objects if any(key in source for key in _RETRIEVED)]
    stored = any(key in _found(each, *_RETRIEVED) for each in retrieved for key in _STORES)
    found = {
        name: [source for source in objects if any(key in source for key in keys)]
        for name, keys in _SOURCES
    }
    found["file_search" if stored else "retrieval"] = retrieved
    for name, its_sources in found.items():
        queries = _found(metadata, *_QUERIES[name], kind=list)
        if queries or its_sources:
            args = {"args": {"queries": queries}} if queries else {}
            output = {"output": its_sources} if its_sources else {}
            yield {
                "type": "server_tool_call",
                "name": name,
                **args,
                **output,
                "status": "completed",
            }


def _pages(metadata: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the call that read pages; it failed if none of them could be read."""
    pages = _found(metadata, "url_metadata", "urlMetadata", kind=list)
    read = [page for page in pages if isinstance(page, dict)]
    if not read:
        return
    statuses = [
        str(page.get("url_retrieval_status", page.get("urlRetrievalStatus"))) for page in read
    ]
    failed = all(status.endswith(("_ERROR", "_UNSAFE", "_PAYWALL")) for status in statuses)
    yield {
        "type": "server_tool_call",
        "name": "url_context",
        "args": {"urls": [page.get("retrieved_url", page.get("retrievedUrl")) for page in read]},
        "output": read,
        "status": "failed" if failed else "completed",
    }


def _found(block: Mapping[str, Any], *keys: str, kind: type = dict) -> Any:
    """Return the first nonempty value of this kind under one of the keys; else an empty one."""
    values = (block.get(key) for key in keys)
    return next((value for value in values if isinstance(value, kind) and value), kind())
