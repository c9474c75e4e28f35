"""The kit does what it says: its services run, its files name what exists, nothing is open."""

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.citations import ROOT
from tests.commands import tracegrade
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade import cli
from tracegrade_explorer.guard import METRICS
from tracegrade_lake.lake_root import lake_url
from tracegrade_scoring.sample.copy_files import copy_files

KIT = ROOT / "kit"
CONTAINERFILE = ROOT / "collector" / "examples" / "Containerfile"
COMMAND = Path(sys.executable).with_name("tracegrade")
SNIPPETS = sorted((KIT / "snippets").iterdir())
COMPOSE = yaml.safe_load((KIT / "compose.yaml").read_text())
MANIFESTS = [
    document
    for path in sorted((KIT / "k8s").glob("*.yaml"))
    if path.name not in {"kustomization.yaml", "tasks.yaml"}
    for document in yaml.safe_load_all(path.read_text())
]
ALL_HOSTS = re.compile(r"0\.0\.0\.0:(\d+)")


def of_kind(kind: str) -> list[Any]:
    """Return the manifests of a kind."""
    return [each for each in MANIFESTS if each["kind"] == kind]


def pod() -> Any:
    """Return the pod of the only deployment."""
    (deployment,) = of_kind("Deployment")
    return deployment["spec"]["template"]


def commands_of(text: str) -> Iterator[list[str]]:
    """Yield the arguments of each `tracegrade ci` command in a script."""
    joined = re.sub(r"\\\n\s*", " ", text.replace("$$", "$"))
    for found in re.finditer(r"(?:^|[\s'/])tracegrade (ci (?:[^\n;|&']|'[^']*')+)", joined):
        yield shlex.split(found[1].split(" || ")[0])


def scripts(document: Any) -> Iterator[str]:
    """Yield the texts in a document."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, Mapping):
        for each in document.values():
            yield from scripts(each)
    elif isinstance(document, list):
        for each in document:
            yield from scripts(each)


def check_options(arguments: list[str]) -> None:
    """Fail if a command or one of its options does not exist."""
    command: Any = cli._load(cli._find(arguments[0]))
    rest = arguments[1:]
    while below := getattr(command, "commands", None):
        command = below[rest.pop(0)]
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    given = {each.partition("=")[0] for each in rest if each.startswith("--")}
    assert given <= known, arguments


def test_snippets_use_options_that_exist() -> None:
    """Each writes JUnit, and exports a baseline only on its main branch."""
    for path in SNIPPETS:
        text = path.read_text()
        if path.suffix == ".yaml":
            text = "\n".join(scripts(yaml.safe_load(text)))
        found = [*commands_of(text)]
        for arguments in found:
            check_options(arguments)
        named = [arguments[:2] for arguments in found]
        assert named == ([] if path.stem == "github" else [["ci", "check"], ["ci", "baseline"]])


def test_snippet_of_the_action_gives_inputs_that_exist() -> None:
    """And asks for no more than it needs."""
    action = yaml.safe_load((KIT / "action" / "action.yml").read_text())
    workflow = yaml.safe_load((KIT / "snippets" / "github.yaml").read_text())
    (job,) = workflow["jobs"].values()
    (given,) = [step["with"] for step in job["steps"] if "kit/action" in step.get("uses", "")]

    assert given.keys() <= action["inputs"].keys()
    assert workflow["permissions"] == {}
    assert job["permissions"] == {"contents": "read", "pull-requests": "write"}


def test_services_have_few_rights() -> None:
    """Read-only, without capabilities, reachable from this machine alone."""
    assert COMPOSE["services"].keys() == {"collect", "score", "ui"}
    for service in COMPOSE["services"].values():
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert f"--uid {service['user']} " in CONTAINERFILE.read_text()
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
        assert (ROOT / "kit" / service["build"]["context"]).resolve() == ROOT
        assert (ROOT / service["build"]["dockerfile"]) == CONTAINERFILE
        check_options(service["command"])


def test_pod_has_few_rights() -> None:
    """The same on Kubernetes; the new pod waits for the end of the old one."""
    (deployment,) = of_kind("Deployment")
    spec = pod()["spec"]

    assert deployment["spec"]["strategy"] == {"type": "Recreate"}
    assert spec["securityContext"]["runAsNonRoot"]
    assert not spec["automountServiceAccountToken"]
    for container in spec["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        check_options(container["args"])


def test_manifests_fit_together() -> None:
    """Selectors, ports, claims and files are those that exist."""
    labels = pod()["metadata"]["labels"]
    spec = pod()["spec"]
    ports = {p["name"]: p["containerPort"] for c in spec["containers"] for p in c.get("ports", ())}
    (policy,) = of_kind("NetworkPolicy")
    allowed = [port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]]
    claims = [each["metadata"]["name"] for each in of_kind("PersistentVolumeClaim")]
    volumes = {each["name"] for each in spec["volumes"]}

    for service in of_kind("Service"):
        assert service["spec"]["selector"] == labels
        for port in service["spec"]["ports"]:
            assert ports[port["targetPort"]] == port["port"]
    assert policy["spec"]["podSelector"]["matchLabels"] == labels
    assert policy["spec"]["egress"] == []
    assert sorted(allowed) == sorted(ports.values())
    assert claims == [spec["volumes"][0]["persistentVolumeClaim"]["claimName"]]
    for container in spec["containers"]:
        assert {each["name"] for each in container["volumeMounts"]} <= volumes


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomization_builds() -> None:
    """Offline: all manifests, the image by its name, the tasks as a map."""
    done = subprocess.run(["kubectl", "kustomize", KIT / "k8s"], capture_output=True, check=True)  # noqa: S607
    built = [*yaml.safe_load_all(done.stdout)]

    kinds = sorted(each["kind"] for each in built)
    assert kinds == sorted([*(each["kind"] for each in MANIFESTS), "ConfigMap"])
    (deployment,) = [each for each in built if each["kind"] == "Deployment"]
    images = {c["image"] for c in deployment["spec"]["template"]["spec"]["containers"]}
    assert images == {"registry.example.com/tracegrade:0.1.0"}


def built_with(folder: Path, *components: str) -> list[Any]:
    """Return the manifests of the Kustomization with components, by one in a folder."""
    base = os.path.relpath(KIT / "k8s", folder)
    overlay = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [base],
        "components": [f"{base}/components/{each}" for each in components],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(overlay))
    done = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, check=True)  # noqa: S607
    return [*yaml.safe_load_all(done.stdout)]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_monitor_reads_ports_that_exist(tmp_path: Path) -> None:
    """By the labels of the services, and a policy lets it in."""
    built = built_with(tmp_path, "monitor")
    (monitor,) = [each for each in built if each["kind"] == "ServiceMonitor"]
    chosen = monitor["spec"]["selector"]["matchLabels"].items()
    services = [each for each in built if each["kind"] == "Service"]
    ports = {
        port["name"]: port["port"]
        for service in services
        if chosen <= service["metadata"]["labels"].items()
        for port in service["spec"]["ports"]
    }
    policies = {
        each["metadata"]["name"]: each for each in built if each["kind"] == "NetworkPolicy"
    }
    (rule,) = policies["tracegrade-scraper"]["spec"]["ingress"]

    read = [ports[each["port"]] for each in monitor["spec"]["endpoints"]]
    assert read == [each["port"] for each in rule["ports"]]
    assert [each["path"] for each in monitor["spec"]["endpoints"]] == ["/metrics", METRICS]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_lake_in_a_bucket(tmp_path: Path) -> None:
    """Each container names it, has the credentials, and keeps its state in the volume."""
    built = built_with(tmp_path, "object-store", "monitor")
    (deployment,) = [each for each in built if each["kind"] == "Deployment"]
    containers = deployment["spec"]["template"]["spec"]["containers"]
    policies = {
        each["metadata"]["name"]: each for each in built if each["kind"] == "NetworkPolicy"
    }

    assert len(containers) == 3
    for container in containers:
        variables = {each["name"]: each["value"] for each in container["env"]}
        mounts = {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
        assert lake_url(variables["TRACEGRADE_LAKE"])
        assert mounts[variables["TRACEGRADE_STATE"]] == "lake"
        assert variables["HOME"] == "/tmp"  # noqa: S108 - a folder of the container
        assert container["envFrom"] == [
            {"secretRef": {"name": "tracegrade-store", "optional": True}}
        ]
    assert policies.keys() == {"tracegrade", "tracegrade-scraper", "tracegrade-store"}


@pytest.mark.parametrize("folder", ["tasks", "k8s"])
def test_task_files_are_well_formed(folder: str) -> None:
    """They are placeholders that score without tasks."""
    done = tracegrade("tasks", "check", KIT / folder / "tasks.yaml")

    assert done.returncode == 0, done.stderr


def free_port() -> int:
    """Return a port of loopback that is free."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class Machine:
    """The services of compose.yaml as processes: ports and paths of containers are replaced."""

    def __init__(self, folder: Path) -> None:
        """Take an empty folder."""
        made = tracegrade("token", "new", "--file", folder / "readers.toml")
        self.token = made.stdout.strip().splitlines()[-1]
        self._environment = {**os.environ, "TRACEGRADE_LAKE": str(folder / "lake")}
        self._paths = {
            "/run/secrets/readers": str(folder / "readers.toml"),
            "/etc/tracegrade/tasks": str(folder / "sample" / "tasks.yaml"),
        }
        self._ports: dict[str, int] = {}

    @contextmanager
    def service(self, name: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a service during the block; it ends when it is asked to."""
        arguments = [self._argument(each) for each in COMPOSE["services"][name]["command"]]
        process = subprocess.Popen(
            [COMMAND, *arguments],
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_SECS) in {0, -signal.SIGTERM}

    def _argument(self, text: str) -> str:
        for inside, outside in self._paths.items():
            text = text.replace(inside, outside)
        return ALL_HOSTS.sub(lambda found: f"0.0.0.0:{self._port(found[1])}", text)

    def _port(self, inside: str) -> int:
        return self._ports.setdefault(inside, free_port())

    def answer(self, inside: str, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Return status and body of an answer; 0 while nothing listens on the port."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        connection = http.client.HTTPConnection("localhost", self._port(inside), timeout=60)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (ConnectionError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()


def test_runs_that_are_sent_are_scored_and_shown(tmp_path: Path) -> None:
    """By the three commands of compose.yaml, without a step in between."""
    copy_files(tmp_path / "sample")
    machine = Machine(tmp_path)
    with ExitStack() as services:
        services.enter_context(machine.service("collect"))
        wait_until(lambda: machine.answer("4318", "GET", "/readyz")[0] == 200)
        for line in (tmp_path / "sample" / "runs.jsonl").read_text().splitlines():
            assert machine.answer("4318", "POST", "/v1/traces", line.encode())[0] == 200
        services.enter_context(machine.service("score"))
        services.enter_context(machine.service("ui"))

        def scored() -> bool:
            status, body = machine.answer("8321", "GET", "/releases.json")
            return status == 200 and "1.1" in body.decode() and b'"success"' in body

        wait_until(scored)
        assert json.loads(machine.answer("8321", "GET", "/runs.json")[1])
