"""The examples for who runs a collector are true."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.config_toml import options_as_toml

from .running import COMMAND

EXAMPLES = Path(__file__).parents[2] / "collector" / "examples"


def test_option_file_is_what_the_command_prints() -> None:
    """`tracegrade collect --print-options` writes the file anew."""
    printed = subprocess.run([*COMMAND, "--print-options"], capture_output=True, check=True)

    assert (EXAMPLES / "tracegrade.toml").read_text() == printed.stdout.decode()


def test_option_file_holds_every_default(tmp_path: Path) -> None:
    """With the comments taken off, it sets each option to what it is anyway."""
    file = tmp_path / "tracegrade.toml"
    file.write_text(re.sub(r"^# (\w+ = )", r"\1", options_as_toml(), flags=re.MULTILINE))

    assert CollectorConfig.load(file, {}) == CollectorConfig()
    assert tomllib.loads(file.read_text())["collector"].keys() == vars(CollectorConfig()).keys()


@pytest.mark.parametrize("name", ["tracegrade-collect.service", "Containerfile"])
def test_commands_of_examples_use_flags_that_exist(name: str) -> None:
    """Each flag behind `collect` in a service or an image is one of the command."""
    text = (EXAMPLES / name).read_text()
    started = [line for line in text.splitlines() if re.match("ExecStart|ENTRYPOINT|CMD", line)]
    flags = set(re.findall(r"--[a-z]+", " ".join(started)))
    told = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True).stdout

    assert flags
    assert flags <= set(re.findall(r"--[a-z-]+", told))


def test_front_sends_to_our_endpoints() -> None:
    """The OpenTelemetry Collector's configuration is YAML that exports traces and logs to us."""
    front = yaml.safe_load((EXAMPLES / "otel-collector.yaml").read_text())
    pipelines = front["service"]["pipelines"]

    assert {*pipelines} == {"traces", "logs"}
    assert "otlphttp/tracegrade" in json.dumps(pipelines)
    assert front["exporters"]["otlphttp/tracegrade"]["compression"] in ("gzip", "zstd")
