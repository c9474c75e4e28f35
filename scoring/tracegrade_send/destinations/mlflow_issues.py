"""Issues of MLflow: each issue of the lake becomes one of the experiment that has its traces.

MLflow gives an issue a random id. Its description ends with the key of the lake's issue, so that
one that was added before is found again. Tried with MLflow 3.17.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from tracegrade_send.destinations.json_endpoint import JsonEndpoint

ISSUES: Final = "/api/3.0/mlflow/issues"
CREATOR: Final = "tracegrade"
_KEY: Final = re.compile(r"tracegrade issue ([0-9a-f]{12})\Z")


class MlflowIssues:
    """The issues of a tracking server, read once for each experiment."""

    def __init__(self, endpoint: JsonEndpoint) -> None:
        """Read nothing yet."""
        self._endpoint = endpoint
        self._known: dict[str, dict[str, str]] = {}

    def id_of(self, experiment: str, key: str, title: str) -> str:
        """Return the id of an issue there, which is added if it is not there yet.

        Args:
            experiment: Where its traces are.
            key: Of the issue in the lake.
            title: Its name there.

        Raises:
            SendFailed: The server has no issues, or does not take this one.
        """
        if experiment not in self._known:
            self._known[experiment] = dict(self._read(experiment))
        known = self._known[experiment]
        if key not in known:
            body = {
                "experiment_id": experiment,
                "name": title,
                "description": f"{title}\n\ntracegrade issue {key}",
                "created_by": CREATOR,
            }
            known[key] = str(self._answer(ISSUES, body)["issue"]["issue_id"])
        return known[key]

    def _read(self, experiment: str) -> Iterator[tuple[str, str]]:
        """Yield the keys of the lake's issues that are there, and their ids there."""
        page: dict[str, Any] = {}
        while True:
            found = self._answer(f"{ISSUES}/search", {"experiment_id": experiment, **page})
            for each in found.get("issues", ()):
                key = _KEY.search(str(each.get("description", "")))
                if key and each.get("created_by") == CREATOR:
                    yield key[1], str(each["issue_id"])
            if not (token := found.get("next_page_token")):
                return
            page = {"page_token": token}

    def _answer(self, path: str, body: object) -> dict[str, Any]:
        answer = self._endpoint.post(path, body)
        try:
            found = json.loads(answer.text) if answer.status == 200 else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise self._endpoint.no_api(answer)
        return found
