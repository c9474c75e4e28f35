"""A suite whose agents ask services over HTTP and write no spans, in several languages."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from tests.harness.parts.http.bank import bank_beside
from tests.harness.trial.agents import HarnessRun

CURL_AGENT = """
set -e
ask() { curl -sf "$BANK_URL$@" > /dev/null; }
hold() { ask "/holds?by=me" -d "{\\"id\\": \\"$1\\", \\"price\\": $2}"; }
ask /credits
hold h2 3
ask /credits
hold h3 4
"""

NODE_AGENT = """
const bank = process.env.BANK_URL;

async function ask(path, body) {
  const answer = await fetch(bank + path, body && { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  await answer.text();
}

(async () => {
  await ask("/credits");
  await ask("/holds?by=me", { id: "h2", price: 3 });
  await ask("/credits");
  await ask("/holds?by=me", { id: "h3", price: 4 });
})();
"""

BOOKED: list[dict[str, Any]] = [{"http": "bank", "state": {"$.credits": 3, "$.holds.h3.price": 4}}]
KILLS: dict[str, Any] = {"kill": {"points": ["early", "mid", "late"]}, "verify": BOOKED}
CURL = ("sh", "{suite}/agent.sh")


def made(
    folder: Path,
    cases: Mapping[str, Mapping[str, Any]],
    command: Sequence[str] = CURL,
    **environment: Any,
) -> HarnessRun:
    """Write a suite whose cases are runs of an agent behind the channel `http`."""
    (folder / "agent.sh").write_text(CURL_AGENT)
    (folder / "agent.js").write_text(NODE_AGENT)
    suite = {
        "version": 1,
        "suite": "ordering",
        "agents": {"worker": {"command": [*command], "release": "1", "channels": ["http"]}},
        "environments": {"town": {"http": {"bank": bank_beside(folder)}, **environment}},
        "cases": {
            task_id: {"environment": "town", "agent": "worker", **case}
            for task_id, case in cases.items()
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")
