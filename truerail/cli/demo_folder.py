"""The folder of `truerail demo`: created, or emptied of an earlier demo's files. Other files are never touched."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from truerail.errors import CommandError, NoRoomError

MARK = ".truerail-demo"
JOURNAL = "journal.db"
HISTORY = "history"


def prepare(output: Path) -> None:
    """Creates the folder, or empties it of an earlier capture. Raises CommandError for a foreign folder, OSError."""
    mark = output / MARK
    if output.exists() and not mark.exists() and any(output.iterdir()):
        raise CommandError(f"{output} is not empty and not made by a demo: set another folder with --output")
    if mark.exists():
        shutil.rmtree(output / "capture", ignore_errors=True)
    output.mkdir(parents=True, exist_ok=True)
    mark.write_text("Made by truerail demo, which empties it when it runs again.\n", encoding="utf-8")


def too_few(hosts: int, rails: int, error: NoRoomError) -> CommandError:
    """The error for a fabric without a place for the faults, and what to change."""
    return CommandError(
        f"{hosts} hosts with {rails} rails are too few for these faults: {error}. "
        "Set more --hosts or --rails (16 and 8 have room), or one --fault"
    )


@contextmanager
def kept_for_one(output: Path) -> Iterator[Path]:
    """The folder while a demo runs, without an earlier demo's journal and history. Raises CommandError if a demo
    already runs there.
    """
    import fcntl

    try:
        prepare(output)
        lock = (output / MARK).open("r")
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror or error}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CommandError(f"{output}: another demo uses this folder: set another one with --output") from None
        for file in output.glob(f"{JOURNAL}*"):
            file.unlink()
        shutil.rmtree(output / HISTORY, ignore_errors=True)
        yield output
