"""Loads judge files: reports every error with its line, then reads the environment's settings."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel

from tracegrade_judges.errors import JudgeFileInvalid, JudgeFileUnreadable
from tracegrade_judges.judge_file.chat_classes import ChatClassUnusable, chat_class
from tracegrade_judges.judge_file.model import (
    Judge,
    JudgeFile,
    JudgeLimits,
    JudgeModel,
    JudgePanel,
    Rubric,
    is_variable,
)
from tracegrade_judges.judge_file.providers import PROVIDERS, ProviderName
from tracegrade_judges.judge_file.references import faults_of_references
from tracegrade_queries.files.former_keys import ANY, FormerKeys, with_new_keys
from tracegrade_queries.files.shape import parse_as
from tracegrade_queries.files.yaml_source import Problem, SourceFile, read_file, unreadable

MAX_DOCUMENT_BYTES: Final = 1_000_000
"""A judge reads pages of 4 kB; a larger file is not a policy."""

_KEYS: Final[dict[str, type[BaseModel]]] = {
    "judges": Judge,
    "model": JudgeModel,
    "limits": JudgeLimits,
    "panels": JudgePanel,
    "rubrics": Rubric,
}

_FORMER_KEYS: Final[FormerKeys] = {
    ("judges", ANY, "asks"): "subject",
    ("judges", ANY, "limits", "reasks"): "retries",
}


class LoadedJudges(NamedTuple):
    """A judge file, the documents that it names, and everything that is wrong with it."""

    file: JudgeFile | None
    """None if its shape is wrong."""
    documents: Mapping[str, str]
    """Texts by name."""
    problems: list[Problem]

    @property
    def errors(self) -> list[Problem]:
        """The problems that keep it from being used."""
        return [each for each in self.problems if not each.is_note]


class ModelEndpoint(NamedTuple):
    """The endpoint of a judge's model, as the environment names it now."""

    provider: ProviderName
    base_url: str
    model: str
    key: str
    """Never printed, never kept."""

    def __repr__(self) -> str:
        return f"ModelEndpoint({self.provider!r}, {self.base_url!r}, {self.model!r})"


def load_judges(path: Path) -> LoadedJudges:
    """Return a judge file with all that is wrong with it.

    Raises:
        JudgeFileUnreadable: It does not exist or is not text.
    """
    source = read_file(path, "judge file", "give a YAML file", JudgeFileUnreadable)
    if source.values is None and source.problems:
        return LoadedJudges(None, {}, source.problems)
    source, renamed = with_new_keys(source, _FORMER_KEYS)
    file, problems = parse_as(JudgeFile, _KEYS, source)
    documents: dict[str, str] = {}
    problems = [*source.problems, *renamed, *problems]
    if file:
        problems += _documents(path, source, file, documents)
        problems += _clients(source, file)
        problems += faults_of_references(source, file)
    return LoadedJudges(file, documents, sorted(problems, key=lambda each: each[:2]))


def usable_judges(path: Path) -> LoadedJudges:
    """Return a judge file without errors.

    Raises:
        JudgeFileInvalid: It has errors; the first is named with its line.
        JudgeFileUnreadable: It does not exist or is not text.
    """
    loaded = load_judges(path)
    if loaded.errors:
        more = len(loaded.errors) - 1
        rest = f" (and {more} more: `tracegrade judge check {path}` names all)" if more else ""
        msg = f"{loaded.errors[0]}{rest}"
        raise JudgeFileInvalid(msg)
    return loaded


def endpoint_of(name: str, model: JudgeModel, *, offline: bool = False) -> ModelEndpoint:
    """Return the endpoint of a judge's model.

    Args:
        name: The judge's name.
        model: As its file says.
        offline: Whether requests are not allowed, so that neither URL nor key is needed.

    Raises:
        JudgeFileInvalid: A variable that the file names is not set.
    """
    provider = PROVIDERS[model.provider]
    key = os.environ.get((model.api_key or provider.api_key)[1:]) or "none"
    given = model.base_url or provider.base_url
    base_url = "http://offline.invalid" if offline else _value(name, "base_url", given)
    return ModelEndpoint(model.provider, base_url, _value(name, "name", model.name), key)


def _value(judge: str, key: str, text: str) -> str:
    if not is_variable(text):
        return text
    found = os.environ.get(text[1:])
    if not found:
        msg = f"variable {text[1:]} is not set, which judge '{judge}' has as {key}; set it"
        raise JudgeFileInvalid(msg)
    return found


def _documents(
    path: Path, source: SourceFile, file: JudgeFile, found: dict[str, str]
) -> Iterator[Problem]:
    """Yield the faults of documents, and put the texts of the others into `found`."""
    home = path.parent.resolve()
    for name, relative in file.documents.items():
        document = (home / relative).resolve()
        if not document.is_relative_to(home):
            fact = f"document '{name}' is outside of the folder of the judge file: {relative}"
            yield source.problem(("documents", name), fact, "move it there")
            continue
        try:
            if document.stat().st_size > MAX_DOCUMENT_BYTES:
                fact = f"document '{name}' is larger than {MAX_DOCUMENT_BYTES:,} bytes"
                yield source.problem(("documents", name), fact, "give the part that counts")
                continue
            found[name] = document.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            fact = f"document '{name}' cannot be read from {relative}: {unreadable(error)}"
            yield source.problem(("documents", name), fact, "give a text file")


def _clients(source: SourceFile, file: JudgeFile) -> Iterator[Problem]:
    """Yield the judges of providers whose client, or class, is not installed."""
    for name, judge in file.judges.items():
        provider = PROVIDERS[judge.model.provider]
        if not provider.is_installed:
            fact = (
                f"judge '{name}' asks provider {judge.model.provider}, whose client "
                f"'{provider.module}' is not installed"
            )
            yield source.problem(
                ("judges", name, "model"), fact, f"pip install 'tracegrade[{provider.extra}]'"
            )
        elif judge.model.class_:
            try:
                chat_class(judge.model.class_)
            except ChatClassUnusable as unusable:
                fact = f"judge '{name}' has no model: {unusable}"
                way_out = "install its package, or give PACKAGE:NAME of a chat model"
                yield source.problem(("judges", name, "model", "class"), fact, way_out)
