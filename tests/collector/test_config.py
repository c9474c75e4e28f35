"""Options come from a file, the environment and flags, and a wrong one stops the start."""

from dataclasses import fields
from pathlib import Path

import pytest

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.errors import BadConfig

SECRET_WORDS = ("token", "secret", "password", "key")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that sets three options."""
    path = tmp_path / "tracegrade.toml"
    path.write_text('[collector]\nhttp = "127.0.0.1:1"\ngrpc = "off"\nland_every_secs = 2\n')
    return path


def test_later_sources_win(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flags over environment over file over default."""
    monkeypatch.setenv("TRACEGRADE_COLLECTOR_HTTP", "127.0.0.1:2")
    monkeypatch.setenv("TRACEGRADE_COLLECTOR_MAX_REQUEST_BYTES", "1000")
    config = CollectorConfig.load(file, {"http": "127.0.0.1:3", "grpc": None})

    assert (config.http, config.grpc) == ("127.0.0.1:3", "off")
    assert (config.land_every_secs, config.max_request_bytes) == (2.0, 1000)
    assert config.max_wal_bytes == CollectorConfig().max_wal_bytes


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("[collector]\nhtpp = 'off'", "unknown option 'htpp'"),
        ("collector = 3", "options belong in a table [collector]"),
        ("[colector]\nhttp = 'off'", "unknown table colector"),
        ("[collector]\nland_every_secs = 'soon'", "land_every_secs must be a float"),
        ("[collector]\nmax_in_flight_bytes = 1000", "at least twice max_request_bytes"),
        ("[collector]\nmax_wal_bytes = -1", "max_wal_bytes must be > 0"),
        ("[collector]\nhttp = '4318'", "address must be HOST:PORT"),
        ("[collector]\nhttp = 'off'\ngrpc = 'off'", "both off"),
        ("[collector", "cannot read the options"),
    ],
)
def test_wrong_option_is_named(tmp_path: Path, content: str, text: str) -> None:
    """The text says which one, and what it should be."""
    (tmp_path / "bad.toml").write_text(content)

    with pytest.raises(BadConfig, match=text.replace("[", r"\[")):
        CollectorConfig.load(tmp_path / "bad.toml", {})


def test_unknown_environment_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error in a name never silently means the default."""
    monkeypatch.setenv("TRACEGRADE_COLLECTOR_HTPP", "off")

    with pytest.raises(BadConfig, match="unknown option 'htpp'"):
        CollectorConfig.load(None, {})


@pytest.mark.parametrize("address", ["0.0.0.0:4318", "[::]:4318", "192.168.1.5:4318"])
def test_address_that_others_reach_needs_a_flag(address: str) -> None:
    """Senders would be unknown, so the flag must be explicit."""
    with pytest.raises(BadConfig, match="--insecure"):
        CollectorConfig.load(None, {"http": address})

    assert CollectorConfig.load(None, {"http": address, "insecure": True}).http == address


TLS = {"tls_cert_file": "cert.pem", "tls_key_file": "key.pem"}


@pytest.mark.parametrize(
    ("options", "is_let"),
    [
        (TLS | {"token_file": "tokens.toml"}, True),
        (TLS | {"tls_client_ca_file": "ca.pem"}, True),
        (TLS, False),
        ({"token_file": "tokens.toml"}, False),
    ],
)
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_address_that_others_reach_needs_tls_and_a_credential(
    options: dict[str, str], is_let: bool, protocol: str
) -> None:
    """Encryption alone lets anybody in; a token alone is read by anybody on the way."""
    given = {protocol: "0.0.0.0:1"} | options
    if is_let:
        assert CollectorConfig.load(None, given).token_file == options.get("token_file", "")
        return
    with pytest.raises(BadConfig, match=f"{protocol} address 0.0.0.0:1 can be reached"):
        CollectorConfig.load(None, given)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tls_cert_file": "cert.pem"}, "must be set together"),
        ({"tls_key_file": "key.pem"}, "must be set together"),
        ({"tls_client_ca_file": "ca.pem"}, "tls_client_ca_file needs tls_cert_file"),
        ({"token_file": "t", "max_in_flight_bytes": 128 << 20}, "at least four times"),
    ],
)
def test_options_of_security_need_each_other(options: dict[str, str], text: str) -> None:
    """An option alone would have no effect, and a user might rely on it."""
    with pytest.raises(BadConfig, match=text):
        CollectorConfig.load(None, options)


def test_config_holds_no_secret() -> None:
    """It goes to the lander as an argument, which every user can see: only names of files."""
    names = {field.name for field in fields(CollectorConfig)}
    of_secrets = {name for name in names if any(word in name for word in SECRET_WORDS)}

    assert {name for name in of_secrets if not name.endswith(("_file", "_keys"))} == set()


@pytest.mark.parametrize("address", ["localhost:1", "127.0.0.1:1", "127.8.8.8:1", "[::1]:1"])
def test_loopback_needs_no_flag(address: str) -> None:
    """Only this machine reaches it."""
    assert CollectorConfig.load(None, {"http": address}).http == address
