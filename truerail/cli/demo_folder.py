"""The folder of `truerail demo`: created, or emptied of an earlier demo's files. Other files are never touched."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from truerail.cli.exit_codes import refused_by_system, refusing
from truerail.errors import CommandError, NoRoomError

if TYPE_CHECKING:
    from truerail.simulator import Fault
    from truerail.simulator.traffic import FlowFault

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


@contextmanager
def refused_as_too_few(hosts: int, rails: int) -> Iterator[None]:
    """Raises what is said of a fabric without a place for the faults as a CommandError, with what to change."""
    try:
        yield
    except NoRoomError as error:
        raise CommandError(
            f"{hosts} hosts with {rails} rails are too few for these faults: {error}. "
            "Set more --hosts or --rails (16 and 8 have room), or one --fault"
        ) from error


@contextmanager
def kept_for_one(output: Path) -> Iterator[Path]:
    """The folder while a demo runs, without an earlier demo's journal and history. Raises CommandError if a demo
    already runs there.
    """
    import fcntl

    with refused_by_system(output, ""):
        prepare(output)
        lock = (output / MARK).open("r")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CommandError(f"{output}: another demo uses this folder: set another one with --output") from None
        for file in output.glob(f"{JOURNAL}*"):
            file.unlink()
        shutil.rmtree(output / HISTORY, ignore_errors=True)
        yield output


# ----------------------------------------------------------------------------------------------------------------------
# Faults of a demo from the words on the command line.


def faults(words: Sequence[str]) -> "list[Fault]":
    """`cable-swap` or `cable-swap:one-leaf`. Raises CommandError for an unknown kind or variant."""
    from truerail.files.problems import nearest
    from truerail.model import CauseKind
    from truerail.simulator import KINDS, Fault

    made = []
    for word in words:
        kind, _, variant = word.partition(":")
        if kind not in KINDS:
            known = [*(known.value for known in KINDS), *_troubles()]
            raise CommandError(f"unknown fault {kind!r}{nearest(kind, known)}")
        with refusing(ValueError):
            made.append(Fault(CauseKind(kind), variant))
    return made


def troubles(words: Sequence[str]) -> "tuple[list[str], list[FlowFault]]":
    """Splits words into faults of the cabling, and faults of the traffic: `storm` or `slow-receiver:pcie`."""
    from truerail.simulator.traffic import FlowFault, FlowFaultKind

    traffic = [word for word in words if word.partition(":")[0] in _troubles()]
    made = [FlowFault(FlowFaultKind(word.partition(":")[0]), variant=word.partition(":")[2]) for word in traffic]
    return [word for word in words if word not in traffic], made


def _troubles() -> list[str]:
    """The faults of the traffic."""
    from truerail.simulator.traffic.flow_faults import KINDS

    return [kind.value for kind in KINDS]
