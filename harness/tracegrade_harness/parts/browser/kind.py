"""Browsers as a kind of parts."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from tracegrade_harness.parts.browser.hosts import SERVICES, check_address, check_browser
from tracegrade_harness.parts.browser.model import Browser, DomVerifier
from tracegrade_harness.parts.browser.part import BrowserLocation, BrowserPart
from tracegrade_harness.parts.browser.programs import why_not
from tracegrade_harness.parts.browser.server import confinement_text
from tracegrade_harness.parts.browser.verify import verify_dom
from tracegrade_harness.parts.kind import Around, MadePart, PartKind
from tracegrade_harness.parts.verifying.result import Context, Finding
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_harness.suite.suite_position import At
from tracegrade_harness.suite.values import check_value
from tracegrade_queries.files.yaml_source import Problem


class BrowserKind(PartKind):
    """Browsers, whose objects are cookies, storage and visible elements of tabs."""

    name = "browser"
    rank = 60
    model = Browser
    verifier = DomVerifier
    verifier_key = "dom"
    collection = r"(?:cookie:[^/]+|(?:local|session):[^/]+//[^/]+)/"

    def check(self, at: At, declared: Browser, around: ReadableEnvironment) -> Iterator[Problem]:
        """Yield a problem for each address without a service."""
        yield from check_browser(at.source, at.path, declared, around)

    def check_verifier(
        self, at: At, verifier: DomVerifier, around: ReadableEnvironment | None
    ) -> Iterator[Problem]:
        """Yield problems of a page's address and expected values."""
        part = None if around is None else around.parts.get((self.name, verifier.dom))
        if around is not None and isinstance(part, Browser) and part.network == "none":
            yield from check_address(at.source, at.below("url"), verifier.url, around)
        for key in ("text", "value", "count"):
            yield from check_value(at.source, at.below(key), getattr(verifier, key))
        for name, value in (verifier.attributes or {}).items():
            yield from check_value(at.source, at.below("attributes", name), value)

    def missing(self, declared: Mapping[str, Browser], folder: Path | None) -> str | None:
        """Return that Chromium is missing, if it is."""
        return why_not()

    def part(self, name: str, declared: Browser, around: Around) -> MadePart:
        """Return a browser whose pages find the environment's HTTP services."""
        services = tuple(around.environment.parts.get(SERVICES, ()))
        location = BrowserLocation(
            name,
            declared.url_env,
            services,
            declared.network == "open",
            tuple(declared.watch),
            tuple(declared.ignore),
        )
        uses = tuple(f"{SERVICES}:{service}" for service in services)
        return MadePart(BrowserPart(location, declared), uses=uses)

    def verify(self, verifier: DomVerifier, context: Context) -> Finding:
        """Return whether elements of pages are as expected."""
        return verify_dom(verifier, context)

    def confinement(self, declared: Browser) -> str | None:
        """Return how the browser's processes are confined."""
        return confinement_text(opened=declared.network == "open")
