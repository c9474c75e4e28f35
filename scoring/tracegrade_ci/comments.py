"""Puts one comment on a pull request of GitHub, and replaces it in later runs."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from tracegrade_ci.github import GitHubApi

MOST_PAGES: Final = 50
"""Pages of 100 comments that are searched."""
READ_ONLY: Final = {403, 404}
"""Statuses by which GitHub refuses a token that may not read or write comments."""
NOT_ACCEPTED: Final = "did not accept the comment"


class _TokenRefused(Exception):
    """The token may not do this."""


class PullRequest(NamedTuple):
    """A pull request of a repository."""

    repository: str
    """As `owner/name`."""
    number: int

    @property
    def path(self) -> str:
        """The path of its comments."""
        return f"/repos/{self.repository}/issues/{self.number}/comments"


class Comments:
    """The comments of one pull request."""

    def __init__(self, api: GitHubApi, pull_request: PullRequest) -> None:
        """Take a pull request whose repository was checked."""
        self._api = api
        self._pull_request = pull_request

    def put(self, text: str) -> str | None:
        """Replace the comment of a bot with the same first line, or else add one.

        Returns:
            The URL of the comment; None if the token may not read or write comments.

        Raises:
            GitHubFailed: GitHub cannot be reached, or refuses the text.
        """
        first_line = text.partition("\n")[0]
        try:
            return self._replaced_or_added(text, first_line)
        except _TokenRefused:
            return None

    def _replaced_or_added(self, text: str, first_line: str) -> str:
        for number in self._own(first_line):
            path = f"/repos/{self._pull_request.repository}/issues/comments/{number}"
            answer = self._api.request("PATCH", path, {"body": text})
            if answer.status == 200:
                return _url(answer.found)
            if answer.status not in READ_ONLY:
                raise self._api.failed(answer, NOT_ACCEPTED)
        answer = self._api.request("POST", self._pull_request.path, {"body": text})
        if answer.status == 201:
            return _url(answer.found)
        if answer.status in READ_ONLY:
            raise _TokenRefused
        raise self._api.failed(answer, NOT_ACCEPTED)

    def _own(self, first_line: str) -> Iterator[int]:
        """Yield the ids of the comments of bots with this first line, the oldest first."""
        for page in range(1, MOST_PAGES + 1):
            path = f"{self._pull_request.path}?per_page=100&page={page}"
            answer = self._api.request("GET", path)
            found = answer.found
            if answer.status in READ_ONLY:
                raise _TokenRefused
            if answer.status != 200 or not isinstance(found, list):
                raise self._api.failed(answer, NOT_ACCEPTED)
            yield from (each["id"] for each in found if _is_own(each, first_line))
            if len(found) < 100:
                return


def _is_own(comment: object, first_line: str) -> bool:
    if not isinstance(comment, dict) or not isinstance(comment.get("id"), int):
        return False
    body, author = comment.get("body"), comment.get("user")
    is_bot = isinstance(author, dict) and author.get("type") == "Bot"
    return is_bot and isinstance(body, str) and body.splitlines()[:1] == [first_line]


def _url(comment: object) -> str:
    url = comment.get("html_url") if isinstance(comment, dict) else None
    return url if isinstance(url, str) else "the comment"
