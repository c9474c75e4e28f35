"""Every secret of the corpus is found by agent and collector, and no harmless text is changed."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.collector.redact import secrets_corpus as corpus
from tests.collector.redact.test_redaction import redactor

from tracegrade.redact.texts import redact

TEXTS = list(corpus.texts())
CAPTURES = Path(__file__).parents[2] / "queries" / "captures"
LEAST_HARMLESS = 500


def kept(secret: str, text: str) -> bool:
    """Return whether a secret can still be read in a text, escaped or not."""
    plain = text.replace("\\u0077", "w").replace("\\u0065", "e").replace("\\", "")
    return secret in plain


def test_corpus_is_as_large_as_it_says() -> None:
    """Forty kinds in twenty places at four levels, and names in structures."""
    assert len(corpus.KINDS) >= 40
    assert len(corpus.PLACES) >= 20
    assert len(TEXTS) >= 40 * 20 * corpus.LEVELS
    assert [label for label, text, secret in TEXTS if not kept(secret, text)] == []


@pytest.fixture(scope="module")
def clean() -> list[str]:
    """The texts as the collector leaves them."""
    return redactor().redact_texts([text for _, text, _ in TEXTS])


def test_collector_keeps_no_secret(clean: list[str]) -> None:
    """Wherever it stands, and however deep the JSON is."""
    left = [each[0] for each, text in zip(TEXTS, clean, strict=True) if kept(each[2], text)]
    assert left == []


def test_agent_finds_what_the_collector_finds(clean: list[str]) -> None:
    """The same catalog, compiled by another engine, gives the same texts."""
    differing = [
        label
        for (label, text, _), other in zip(TEXTS, clean, strict=True)
        if redact(text) != other
    ]

    assert differing == []


def test_json_without_its_secrets_is_json(clean: list[str]) -> None:
    """JSON can still be read, with all values that are not secrets."""
    for (label, *_), text in zip(TEXTS, clean, strict=True):
        assert label.endswith("level 0") or json.loads(text)["more"] == [1, None], label


PASSWORDS = [
    *("secret", "default", "Password123", "my-dog-Rex-2019", "a-secret-Pass9!", "ab{c}d1", "d"),
    *("correct horse match staple", "[abc123!]", "$ECRET123", "new york 1999", "%abc", "12345678"),
    *("xxx9", "<a1>", "enter", "the-end-7", "{2f1b-77}", "#hash#"),
]


@pytest.mark.parametrize("password", PASSWORDS)
def test_odd_passwords_are_secrets(password: str) -> None:
    """They read as words, labels or places to fill in, but they are the value of a field."""
    text = json.dumps({"user": "bob", "password": password})

    assert json.loads(redact(text)) == {"user": "bob", "password": "[redacted:named]"}
    assert redactor().redact_text(text) == redact(text)


HARMLESS = [
    "cookies: 96",
    '{"cookies": 12, "eggs": 3}',
    "I baked 96 cookies: 48 with chocolate.",
    "var cookie = document.cookie;",
    'document.cookie = "theme=dark"',
    '<a href="/x" accesskey="s">Save</a>',
    "6011000990139424 / 5555555555554444 of all rows",
    "ratio 4111111111111111/9007199254740993",
    '{"numerator": 4012888888881881}',
    '{"password": {"type": "string", "minLength": 8}}',
    '{"required": ["password", "username"]}',
    '{"name": "password", "type": "string", "description": "The password of the user"}',
    '{"errors": {"password": "Password is required"}}',
    'password = os.environ["DB_PASSWORD"]',
    "password = getpass.getpass('Password: ')",
    "api_key=os.getenv('OPENAI_API_KEY')",
    "client = Client(api_key=api_key, token=auth_token)",
    "def login(user: str, password: str) -> Token: ...",
    "Password: required. Token: optional.",
    "export PASSWORD=${DB_PASSWORD}",
    '{"api_key": "<your key>", "secret": "***"}',
    '{"next_page_token": "CAUQAAxyz123456789abc", "total": 3}',
    '{"token": "internationalization", "logprob": -0.1}',
    '{"authorized": true, "secret": false, "password": null}',
    '{"max_tokens": 4096, "prompt_tokens": 17}',
    "passed: 12, failed: 3; pass rate: 80 %",
    "# Pass 1: count all rows\n# Pass 2: fill them in",
    "PWD=/home/user/project",
    '{"pwd": "/workspace", "cwd": "/workspace"}',
    "SELECT password FROM users WHERE id = 7",
    "tar -u archive && cp -p a b && mkdir -p x/y",
    "docker run -u 1000:1000 -p 8080:80 nginx",
    "use scikit-learn: sk-learn-based-classification-model",
    "see xai-for-explainable-models and pypi-package-publish-workflow",
    "a basic understanding of bearer shares",
    "The secret: practise every day.",
    "tools: get_password_policy, reset_password(user)",
    "the key is under the mat; keyboard=qwertz",
    "git commit -m 'password reset works' --author x",
    "ssh -i ~/.ssh/id_rsa host; curl https://example.com/u:v",
    "mysql -u root shop < dump.sql; mysql -p shop",
    "It starts with -----BEGIN PRIVATE KEY----- so I do not print it. Next I run the tests.",
    'grep -rn -- "-----BEGIN RSA PRIVATE KEY-----" src/',
    "x = '-----BEGIN EC PRIVATE KEY-----\n' + b64encode(der) + '-----END EC PRIVATE KEY-----'",
    "login <user> <password> on <host>",
    "MaybeUninit::&lt;libc::passwd&gt;::uninit(); <a href=#5>",
    'grep -rn "password=" src/ && python -c "print(1)"',
    "grep -rn 'api_key=' src/ | grep -v 'test'",
    "pass `credentials=` to `Client`",
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:Shop-a1b2c3",
    '{"encryptionKey": "arn:aws:kms:us-west-2:111122223333:key/a1b2c3d4-5678"}',
    "export GOOGLE_APPLICATION_CREDENTIALS=/home/me/key.json",
    'ssh_key = "~/.ssh/id_rsa"',
    "Get your API key: https://platform.openai.com/api-keys",
    "aws ecs list-tasks --next-token eyJhd3NBY2NvdW50SWQiOnsi --starting-token Z3M3LMPEXAMPLE",
    '{"paginationToken": "abc123456789def"}',
    '{"authorization": {"status": "approved", "expires": "2026-01-02"}}',
    '{"authorization": "approved"}',
    '{"secret": {"created": "2026-01-02T03:04:05Z", "version": 3}}',
    '{"boarding_pass": "A12", "ski_pass": "5 days"}',
    '{"pass": "yes", "reason": "all is there"}',
    "if password == expected_password:\n    return True",
    "SELECT id FROM users WHERE name = ? AND password = ?",
    "Password: \nLast login: Tue Nov 26 on ttys000",
    "Invalid password: too short",
    'fetch(url, {credentials: "include"})',
    '{"command": "mysql -u root -p"}',
    "How to set the token and the password:\n```\nexport A=1\npytest -q\n```",
    "PASSWORD=$1; API_KEY=get_key2()",
    '{"type": "password", "required": true, "value": ""}',
    'WWW-Authenticate: Bearer resource_metadata="https://x.com/.well-known/oauth"',
    'f"postgresql://{user}:{password}@{host}/db"',
    "postgres://${DB_USER}:${DB_PASSWORD}@db/app",
    "- name: DB_PASSWORD\n  valueFrom: {secretKeyRef: {name: db, key: password}}",
    "credentials: |\n  See the docs for how to set them.",
    "密码：必填，长度8位",  # noqa: RUF001 - as Chinese writes it
    "prices 4521 4530 4498 4510 4477 4512 4533 4533 4599 4587 4521 4520",
    "2650 1514 1514 1514 1514 1514 1514 1514",
]


@pytest.mark.parametrize("text", HARMLESS, ids=lambda text: text[:40])
def test_harmless_text_stays(text: str) -> None:
    """In code, in documents and in tool results, and as JSON in JSON."""
    texts = [corpus.nested(text, level) for level in range(corpus.LEVELS)]

    assert redactor().redact_texts(texts) == texts
    assert [redact(each) for each in texts] == texts


def test_no_capture_is_changed() -> None:
    """What real frameworks sent holds no secret, so nothing of it may be lost."""
    texts = [text for file in sorted(CAPTURES.rglob("*.json*")) for text in strings(file)]

    assert len(set(texts)) >= LEAST_HARMLESS
    assert changed(texts) == []


def test_no_real_text_is_changed(shared_data: Path) -> None:
    """Messages and tool results of real agents, in shops, offices, airlines and repositories."""
    files = [
        file
        for file in sorted(shared_data.rglob("*.json*"))
        if file.suffix in SUFFIXES and not {"reports", "faults"} & {*file.parts}
    ]
    texts = [_valid(text) for file in files for text in strings(file)]

    assert len(set(texts)) >= 10 * LEAST_HARMLESS
    assert changed(texts) == []


def _valid(text: str) -> str:
    """Return a text without halves of a pair of surrogates, which no column holds."""
    return text.encode(errors="replace").decode()


SUFFIXES = {".json", ".jsonl"}


def changed(texts: list[str]) -> list[str]:
    """Return the texts that redaction changes."""
    distinct = list(dict.fromkeys(texts))
    clean = redactor(max_blob_bytes=1 << 30).redact_texts(distinct)
    return [text for text, other in zip(distinct, clean, strict=True) if text != other]


def strings(file: Path) -> Iterator[str]:
    """Yield each text in a file of JSON, or of JSON lines, packed or not."""
    packed = lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()
    content = packed.decode(errors="replace")
    try:
        yield from leaves(json.loads(content))
    except ValueError:
        for line in content.splitlines():
            try:
                yield from leaves(json.loads(line))
            except ValueError:
                yield line


def leaves(node: Any) -> Iterator[str]:
    """Yield each text in a node of JSON."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for each in node.values():
            yield from leaves(each)
    elif isinstance(node, list):
        for each in node:
            yield from leaves(each)
