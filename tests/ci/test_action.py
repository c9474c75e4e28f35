"""The composite action: its shell steps run on a real lake, and inputs are never code."""

import re
import sys
from pathlib import Path

import pytest
import yaml
from tests.ci.github import GitHub
from tests.ci.runner import ActionRun, Runner
from tests.citations import ROOT

from .lakes import BASE, CANDIDATE, Sample
from .test_artifacts import archive, contents

ACTION = ROOT / "kit" / "action" / "action.yml"
COMMAND = Path(sys.executable).with_name("tracegrade")
HOSTILE = '"; curl x; $(touch {0}) `touch {0}` #'
OF_MAIN = {"event_name": "push", "ref_name": "main", "run_id": "1"}
OF_PULL = {"event_name": "pull_request", "ref_name": "7/merge", "run_id": "2"}


class Repository:
    """Jobs of one repository, with its cache and its comments."""

    def __init__(self, folder: Path, server: GitHub) -> None:
        """Take an empty folder."""
        self._folder, self._server = folder, server
        (folder / "cache").mkdir()
        self._jobs = 0

    def job(self, event: dict[str, str], release: str, **inputs: str) -> ActionRun:
        """Run the action in a new job."""
        self._jobs += 1
        temp = self._folder / f"job-{self._jobs}"
        runner = Runner(temp, self._folder / "cache", COMMAND, self._upload)
        context = {
            "sha": "0" * 40,
            "repository": "owner/name",
            "api_url": self._server.url,
            "token": "token",
            "run_attempt": "1",
            "event.repository.default_branch": "main",
            "event.pull_request.number": "7",
        }
        inputs = {name.replace("_", "-"): value for name, value in inputs.items()}
        return runner.run(ACTION, {"candidate": release, **inputs}, context | event)

    def _upload(self, name: str, folder: Path) -> None:
        self._server.upload(archive(contents(folder)), name)

    @property
    def cached(self) -> list[str]:
        """The keys of the cache."""
        return sorted(path.name for path in (self._folder / "cache").iterdir())


@pytest.fixture
def repository(tmp_path: Path, server: GitHub) -> Repository:
    """A repository in which nothing ran."""
    return Repository(tmp_path, server)


@pytest.mark.slow
def test_pull_request_is_checked_against_main(
    repository: Repository, server: GitHub, both: Sample, scored_candidate: Sample
) -> None:
    """Main leaves a baseline; two runs of a pull request leave one comment."""
    main = repository.job(OF_MAIN, BASE, lake=str(both.lake), tasks=str(both.tasks))
    pulls = [repository.job(OF_PULL, CANDIDATE, lake=str(scored_candidate.lake)) for _ in range(2)]

    assert main.outputs["verdict"] == "no-baseline", main.stderr
    assert main.steps["Comment"] == "skipped"
    assert repository.cached == ["tracegrade-agents-1-1"]
    assert [pull.outputs["verdict"] for pull in pulls] == ["fail", "fail"]
    assert [pull.outputs["baseline-age-days"] for pull in pulls] == ["0", "0"]
    assert pulls[0].steps == {
        "Install": "success",
        "Restore the baseline": "success",
        "Fetch the baseline": "skipped",
        "Check": "failure",
        "Comment": "success",
        "Export the baseline": "skipped",
        "Save the baseline": "skipped",
        "Upload the baseline": "skipped",
    }
    (comment,) = server.bodies()
    assert comment.startswith("<!-- tracegrade:agents -->\n## tracegrade: fail\n")
    assert f"commit `{'0' * 40}`" in comment
    assert Path(pulls[0].outputs["junit"]).exists()


def test_baseline_as_an_artifact(
    repository: Repository, server: GitHub, both: Sample, scored_candidate: Sample
) -> None:
    """Instead of the cache."""
    main = repository.job(OF_MAIN, BASE, lake=str(both.lake), store="artifact")
    pull = repository.job(OF_PULL, CANDIDATE, lake=str(scored_candidate.lake), store="artifact")

    assert main.steps["Upload the baseline"] == "success", main.stderr
    assert (main.outputs["verdict"], pull.outputs["verdict"]) == ("no-baseline", "fail")
    assert repository.cached == []
    assert [each["name"] for each in server.artifacts] == ["tracegrade-baseline-agents"]


def test_own_baseline_and_rules(
    repository: Repository, server: GitHub, scored_candidate: Sample, exported: Path
) -> None:
    """From a folder, with one rule a line, without the cache and without a comment."""
    found = repository.job(
        OF_PULL,
        CANDIDATE,
        lake=str(scored_candidate.lake),
        baseline_path=str(exported),
        fail_on="success<-0.9\n\ntsa<-0.5\n",
        comment="false",
        agent="order-desk",
    )

    assert found.outputs["verdict"] == "pass", found.stderr
    assert found.steps["Restore the baseline"] == found.steps["Comment"] == "skipped"
    assert server.requests == []
    junit = Path(found.outputs["junit"]).read_text()
    assert "success&lt;-0.9" in junit
    assert "tsa&lt;-0.5" in junit


@pytest.mark.parametrize("event", ["pull_request", "pull_request_target"])
def test_pull_request_leaves_no_baseline(repository: Repository, both: Sample, event: str) -> None:
    """Also one of the default branch of a fork."""
    at = {**OF_PULL, "event_name": event, "ref_name": "main"}

    repository.job(at, BASE, lake=str(both.lake), comment="false")

    assert repository.cached == []


@pytest.mark.parametrize("name", ["lake", "tasks", "candidate", "agent", "fail-on", "name"])
def test_inputs_are_text(
    repository: Repository, scored_candidate: Sample, tmp_path: Path, name: str
) -> None:
    """Each of them ends as an argument of the command, which refuses it or finds nothing."""
    made = tmp_path / "made"
    given = {"lake": str(scored_candidate.lake), name: HOSTILE.format(made)}
    candidate = given.pop("candidate", CANDIDATE)

    found = repository.job(
        OF_PULL, candidate, **{k.replace("-", "_"): v for k, v in given.items()}
    )

    assert not made.exists()
    assert found.steps["Check"] == "failure" or name in {"agent", "fail-on"}
    assert "curl x" in found.stderr or name == "agent"


def test_expressions_are_in_no_script() -> None:
    """A title, a branch or an input that holds code reaches the shell as a variable."""
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    uses = [step["uses"] for step in steps if "uses" in step]

    assert len(scripts) == 5
    assert [script for script in scripts if "${{" in script] == []
    assert [each for each in uses if not re.search(r"@[0-9a-f]{40}$", each)] == []


def test_action_installs_this_repository() -> None:
    """The paths that it takes from its own folder are those of the source."""
    source = (ACTION.parent / "../..").resolve()

    assert (source / "pyproject.toml").exists()
    assert (source / "tests" / "constraints.txt").exists()
    assert 'source="$GITHUB_ACTION_PATH/../.."' in ACTION.read_text()
