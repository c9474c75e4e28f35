"""Copies the sample's files into a folder of the user's."""

import gzip
from pathlib import Path

from tracegrade_scoring.errors import SampleNotWritten
from tracegrade_scoring.sample import RUNS, TASKS


def copy_files(folder: Path) -> None:
    """Write `runs.jsonl` and `tasks.yaml` into a folder, which is created if it is missing.

    Existing files with the same contents are left alone.

    Raises:
        SampleNotWritten: One of them exists with other contents, or the folder cannot be written.
    """
    contents = {
        folder / "runs.jsonl": gzip.decompress(RUNS.read_bytes()),
        folder / "tasks.yaml": TASKS.read_bytes(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in contents.items():
            if file.exists() and file.read_bytes() != content:
                message = f"'{file}' exists already and holds something else; name another folder"
                raise SampleNotWritten(message)
        for file, content in contents.items():
            file.write_bytes(content)
    except OSError as error:
        message = f"the sample cannot be written into '{folder}': {error.strerror}; name another"
        raise SampleNotWritten(message) from error
