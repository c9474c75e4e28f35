"""Secrets of many kinds in many places, as JSON in JSON, and what of them must not stay."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

LEVELS = 4
_RANDOM = random.Random(11)  # noqa: S311 - the same corpus in each run
_DIGITS, _LETTERS, _HEX = string.digits, string.ascii_letters + string.digits, "0123456789abcdef"
_UPPER = string.ascii_uppercase + string.digits


class Kind(NamedTuple):
    """One kind of secret."""

    name: str
    secret: str
    """What must not stay."""

    written: str = "{}"
    """How it stands in a text, where its shape alone does not say what it is."""


def _of(alphabet: str, length: int) -> str:
    return "".join(_RANDOM.choice(alphabet) for _ in range(length))


def _word(length: int) -> str:
    """Return letters and digits, a digit among the first."""
    return _of(string.ascii_letters, 2) + _of(_DIGITS, 1) + _of(_LETTERS, length - 3)


_JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI{_word(12)}.{_word(43)}"
_PEM_BODY = _word(64)
_PASSWORD = "hunter2"  # noqa: S105

KINDS = (
    Kind("OpenAI", f"sk-{_word(48)}"),
    Kind("OpenAI project", f"sk-proj-{_word(30)}_{_word(20)}"),
    Kind("Anthropic", f"sk-ant-api03-{_word(40)}-{_word(8)}AA"),
    Kind("OpenRouter", f"sk-or-v1-{_of(_HEX, 64)}"),
    Kind("Langfuse", f"sk-lf-{_of(_HEX, 8)}-{_of(_HEX, 4)}-4{_of(_HEX, 3)}-{_of(_HEX, 12)}"),
    Kind("Stripe", f"sk_live_{_word(24)}"),
    Kind("Stripe restricted", f"rk_live_{_word(24)}"),
    Kind("Stripe webhook", f"whsec_{_word(32)}"),
    Kind("AWS", f"AKIA{_of(string.ascii_uppercase + _DIGITS, 16)}"),
    Kind("AWS session", f"ASIA{_of(string.ascii_uppercase + _DIGITS, 16)}"),
    Kind("GitHub", f"ghp_{_word(36)}"),
    Kind("GitHub server", f"ghs_{_word(36)}"),
    Kind("GitHub fine-grained", f"github_pat_{_word(22)}_{_word(59)}"),
    Kind("GitLab", f"glpat-{_word(20)}"),
    Kind("Slack bot", f"xoxb-{_of(_DIGITS, 12)}-{_of(_DIGITS, 12)}-{_word(24)}"),
    Kind("Slack app", f"xapp-1-A{_word(10)}-{_of(_DIGITS, 12)}-{_of(_HEX, 64)}"),
    Kind("Google", f"AIza{_word(35)}"),
    Kind("Google OAuth", f"ya29.{_word(60)}"),
    Kind("Google client", f"GOCSPX-{_word(28)}"),
    Kind("Hugging Face", f"hf_{_word(34)}"),
    Kind("npm", f"npm_{_word(36)}"),
    Kind("PyPI", f"pypi-AgEIcHlwaS5vcmc{_word(60)}"),
    Kind("Groq", f"gsk_{_word(52)}"),
    Kind("SendGrid", f"SG.{_word(22)}.{_word(43)}"),
    Kind("DigitalOcean", f"dop_v1_{_of(_HEX, 64)}"),
    Kind("LangSmith", f"lsv2_pt_{_of(_HEX, 32)}_{_of(_HEX, 10)}"),
    Kind("Linear", f"lin_api_{_word(40)}"),
    Kind("xAI", f"xai-{_word(80)}"),
    Kind("Perplexity", f"pplx-{_word(48)}"),
    Kind("NVIDIA", f"nvapi-{_word(64)}"),
    Kind("Shopify", f"shpat_{_of(_HEX, 32)}"),
    Kind("Docker", f"dckr_pat_{_word(27)}"),
    Kind("Vault", f"hvs.{_word(90)}"),
    Kind("Grafana", f"glsa_{_word(32)}_{_of(_HEX, 8)}"),
    Kind("Atlassian", f"ATATT3{_word(60)}"),
    Kind("Databricks", f"dapi{_of(_HEX, 32)}"),
    Kind("Notion", f"ntn_{_word(46)}"),
    Kind("Telegram", f"{_of(_DIGITS, 9)}:AA{_word(33)}"),
    Kind("AWS Bedrock", f"ABSK{_word(120)}"),
    Kind("Alibaba", f"LTAI{_word(20)}"),
    Kind("Yandex", f"AQVN{_word(36)}"),
    Kind("1Password", f"A3-{_of(_UPPER, 6)}-{_of(_UPPER, 11)}{f'-{_of(_UPPER, 5)}' * 3}"),
    Kind("Artifactory", f"AKCp{_word(69)}"),
    Kind("Facebook", f"EAAM{_word(100)}"),
    Kind("Flutterwave", f"FLWSECK_TEST-{_of(_HEX, 32)}-X"),
    Kind("Heroku", f"HRKU-AA{_word(58)}"),
    Kind("New Relic", f"NRAK-{_of(_UPPER, 27)}"),
    Kind("Dynatrace", f"dt0c01.{_of(_UPPER, 24)}.{_of(_UPPER, 64)}"),
    Kind("Doppler", f"dp.pt.{_word(43)}"),
    Kind("Fly.io", f"fm2_{_word(100)}"),
    Kind("PlanetScale", f"pscale_pw_{_word(43)}"),
    Kind("Pinecone", f"pcsk_{_word(6)}_{_word(63)}"),
    Kind("Prefect", f"pnu_{_word(36)}"),
    Kind("ReadMe", f"rdme_{_of(_HEX, 70)}"),
    Kind("Supabase", f"sbp_{_of(_HEX, 40)}"),
    Kind("Sourcegraph", f"sgp_{_of(_HEX, 16)}_{_of(_HEX, 40)}"),
    Kind("Shippo", f"shippo_live_{_of(_HEX, 40)}"),
    Kind("Tailscale", f"tskey-auth-{_word(17)}-{_word(32)}"),
    Kind("Brevo", f"xkeysib-{_of(_HEX, 64)}-{_word(16)}"),
    Kind("GitLab job", f"glcbt-64_{_word(20)}"),
    Kind("JWT", _JWT),
    Kind("bearer", _word(32), "Bearer {}"),
    Kind("basic", "dXNlcjpodW50ZXIyaHVudGVy", "Basic {}"),
    Kind("private key", _PEM_BODY, "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----"),
    Kind("URL", _PASSWORD, "postgres://app:{}@db.internal:5432/app"),
    Kind("card", "4111 1111 1111 1111"),
    Kind("card in one run", "5555555555554444", "card number {}"),
    Kind("cookie", f"session={_word(24)}", "Cookie: {}; theme=dark"),
    Kind("password", _PASSWORD, "password={}"),
    Kind("password in YAML", _PASSWORD, "password: {}"),
    Kind("password in Python", _PASSWORD, "password = '{}'"),
    Kind("confirmation", _PASSWORD, "password_confirmation={}"),
    Kind("pwd", _PASSWORD, "pwd={}"),
    Kind("pass", _PASSWORD, "DB_PASS={}"),
    Kind("in an environment", _word(20), "AWS_SECRET_ACCESS_KEY={}"),
    Kind("header", _word(20), "X-Api-Key: {}"),
    Kind("option", _PASSWORD, "deploy --password {} --verbose"),
    Kind("curl", _PASSWORD, "curl -s -u admin:{} https://example.com/x"),
    Kind("sshpass", _PASSWORD, "sshpass -p {} ssh host"),
    Kind("mysql", _PASSWORD, "mysql -u root -p{} shop"),
    Kind("SQL", _PASSWORD, "CREATE USER bob IDENTIFIED BY '{}';"),
    Kind("XML", _PASSWORD, "<password>{}</password>"),
    Kind("Azure", f"{_word(40)}%3D", "https://x.blob.core.windows.net/a?sv=1&sig={}"),
    Kind("in German", _PASSWORD, "Passwort: {}"),
    Kind("in Chinese", _PASSWORD, "密码: {}"),
    Kind("after a wide colon", _PASSWORD, "密码：{}"),  # noqa: RUF001 - as Chinese writes it
    Kind("name in bold", _PASSWORD, "**Password:** {}"),
    Kind("name in bold before a colon", _PASSWORD, "**Password**: {}"),
    Kind("in bold", _PASSWORD, "Password: **{}**"),
    Kind("of a container", _PASSWORD, "- name: DB_PASSWORD\n  value: {}"),
    Kind("of a container, in quotes", _PASSWORD, "- name: DB_PASSWORD\n  value: '{}'"),
    Kind("of a container, in a line", _PASSWORD, "env: [{{name: DB_PASSWORD, value: {}}}]"),
    Kind("block in YAML", _PASSWORD, "password: |\n  {}\n"),
    Kind("below its name in YAML", _PASSWORD, "password: >-\n    {}\n"),
    Kind("option of two words", "horse-77", "deploy --password 'two {}' --verbose"),
    Kind("login of two words", "horse-77", "docker login -u me -p 'two {}' registry"),
    Kind("hash", "$2b$12$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTU", "password_hash: {}"),
    Kind("field in a browser", _PASSWORD, "<input type='password' id='p' value='{}'>"),
    Kind("with a bracket", "kk2Lq77", "DB_PASSWORD=Xy9({}"),
    Kind("with an ampersand", "kk2Lq77", "DB_PASSWORD=Xy9&{}"),
    Kind("in a text of Python", _PASSWORD, 'password = """{}"""'),
    Kind("CDATA", _PASSWORD, "<password><![CDATA[{}]]></password>"),
    Kind("XML with an entity", _PASSWORD, "<password>a&amp;{}</password>"),
    Kind("key of Rails", _PASSWORD, "SECRET_KEY_BASE={}"),
    Kind("Google's signature", _of(_HEX, 64), "https://x.com/a?X-Goog-Signature={}"),
    Kind("Azure's gateway", _word(32), "Ocp-Apim-Subscription-Key: {}"),
)
"""Each found wherever it stands in a text."""

Place = Callable[[str], str]
PLACES: dict[str, Place] = {
    "alone": lambda text: text,
    "at the end": lambda text: f"the value is {text}",
    "at the start": lambda text: f"{text} is the value",
    "in brackets": lambda text: f"(see {text})",
    "after a line break": lambda text: f"line\n{text}\nline",
    "after CR LF": lambda text: f"line\r\n{text}\r\nline",
    "after a tab": lambda text: f"a\t{text}\tb",
    "after an umlaut": lambda text: f"für\u00fc {text} \u00fcber",
    "after a space of no width": lambda text: f"x\u200b{text}\u200b",
    "in color": lambda text: f"\x1b[31m{text}\x1b[0m",
    "after an escape": lambda text: f"\x1b{text}",
    "after a quote": lambda text: f'he said "{text}" twice',
    "in backquotes": lambda text: f"run `{text}` now",
    "in a code block": lambda text: f"```\n{text}\n```",
    "in Markdown": lambda text: f"- item\n- **{text}**\n",
    "in an environment file": lambda text: f"DEBUG=1\n{text}\nPORT=8080\n",
    "in a table": lambda text: f"| a | {text} | b |",
    "in HTML": lambda text: f"<p>{text}</p>",
    "after a URL's escape": lambda text: f"q=1%20{text}",
    "after an assignment": lambda text: f"x = {text}",
    "in a log line": lambda text: f"2026-01-02T03:04:05Z INFO [main] got {text}, next",
    "in Chinese": lambda text: f"这是 {text} 。",
}

NAMED = "correct.horse-7"
STRUCTURES: dict[str, object] = {
    "object": {"user": "bob", "password": NAMED, "port": 5432},
    "name and value": {"name": "password", "value": NAMED},
    "value and name": {"value": NAMED, "name": "X-Api-Key"},
    "key and value": [{"key": "client_secret", "kind": "x", "value": NAMED}],
    "pairs": [["Accept", "*/*"], ["X-Api-Key", NAMED]],
    "object in object": {"db": {"credentials": {"login": {"text": NAMED}}}},
    "list": {"api_keys": [NAMED, NAMED]},
    "arguments": {"argv": ["tool", "--token", NAMED, "-v"]},
    "commands": {"argv": ["sshpass", "-p", NAMED, "ssh"]},
    "headers": {"headers": {"Authorization": f"Bearer {NAMED}", "Accept": "x"}},
    "camel case": {"clientSecret": NAMED, "refreshToken": NAMED},
    "short names": {"pwd": NAMED, "pass": NAMED},
    "OTLP": {"key": "db.password", "value": {"stringValue": NAMED}},
}
"""Secrets that only the names around them give away."""


def texts() -> Iterator[tuple[str, str, str]]:
    """Yield what it is, a text and the secret in it: each kind in each place at each level."""
    for kind in KINDS:
        for name, place in PLACES.items():
            text = place(kind.written.format(kind.secret))
            for level in range(LEVELS):
                secret = kind.secret
                yield f"{kind.name} {name}, level {level}", nested(text, level), secret
    for name, structure in STRUCTURES.items():
        for is_ascii in (True, False):
            text = json.dumps(structure, ensure_ascii=is_ascii)
            for level in range(LEVELS):
                yield f"{name}, level {level}", nested(text, level), NAMED
                escaped = nested(text.replace("w", "\\u0077").replace("e", "\\u0065"), level)
                yield f"escaped {name}, level {level}", escaped, NAMED
                yield f"{name} in a text, level {level}", nested(f"got:\n{text}\n", level), NAMED


def nested(text: str, level: int) -> str:
    """Return the text as a string in JSON, so often."""
    for _ in range(level):
        text = json.dumps({"id": 7, "output": text, "more": [1, None]})
    return text
