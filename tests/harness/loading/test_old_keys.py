"""Keys of suites that have another name now."""

from pathlib import Path

from tests.harness.loading.build import found, loaded, with_agent


def test_an_old_key_is_read_by_its_new_name(folder: Path) -> None:
    """`check` says so, and where; what is wrong with its value is named by the new one."""
    with_old = loaded(folder, with_agent("command: [run]\ndoors: [http]"))
    assert with_old.suite is not None
    assert with_old.suite.agents["a"].channels == ["http"]
    assert with_old.errors == []
    assert [str(each).split("suite.yaml:")[1] for each in with_old.problems] == [
        "6: agents.a.doors is now 'channels'; rename the key"
    ]

    wrong, note = found(folder, with_agent("command: [run]\ndoors: [window]"))
    assert note.startswith("6: agents.a.doors is now 'channels'")
    assert wrong.startswith("6: agents.a.channels[0] is 'window'")

    twice = found(folder, with_agent("command: [run]\nchannels: [http]\ndoors: [http]"))
    assert twice[0].startswith("7: unknown key 'doors' in agents.a")
