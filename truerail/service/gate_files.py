"""The gate as files: one for each host, for prologs that can make no request.

A line in `DIRECTORY/HOST`: `fit`, `unfit` or `unknown`, the time of the evaluation and the time until which it holds,
both in seconds since 1970, then why. After that time the file says nothing: a service that is down leaves what it
wrote.
"""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from truerail.analysis.published import Published
from truerail.questions.fabric_tree import scheduler_nodes
from truerail.questions.gate import GateHost, fitness_of, host_fitness
from truerail.service.logs import logger
from truerail.service.settings import GateFolder
from truerail.views.view import view_of

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_WORDS = {True: "fit", False: "unfit", None: "unknown"}
_RENEWED = 4
"""A file that says the same is written again after this part of the time for which it holds."""


class GateFiles:
    """An `Outlet`. Each file is replaced at once: a reader has the old line or the new one."""

    def __init__(self, settings: GateFolder, seconds: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._seconds = settings, seconds
        self._written: dict[str, str] = {}
        """Name of each file that this service wrote, and what it says beside times."""
        self._renewed = float("-inf")
        self._error = ""

    def evaluated(self, publication: Published, *, resumed: bool) -> None:
        """Writes the files whose answer has changed; all of them before they would expire."""
        answers = dict(file_answers(publication))
        due = self._seconds() - self._renewed >= self._settings.valid.total_seconds() / _RENEWED
        at = int(publication.at.timestamp())
        times = f"{at} {at + int(self._settings.valid.total_seconds())}"
        try:
            self._make_folder()
            for name, (word, why) in answers.items():
                if due or self._written.get(name) != f"{word} {why}":
                    _replace(self._settings.directory, name, f"{word} {times} {why}".rstrip() + "\n")
                    self._written[name] = f"{word} {why}"
            for name in self._written.keys() - answers:
                (self._settings.directory / name).unlink(missing_ok=True)
                del self._written[name]
        except OSError as error:
            self._turn(error.strerror or str(error))
            return
        if due:
            self._renewed = self._seconds()
        self._turn("")

    def figures(self) -> Mapping[str, float]:
        """The metrics of the files."""
        return {"gate_files": len(self._written), "gate_files_failing": float(bool(self._error))}

    def close(self) -> None:
        """Leaves the files: they expire."""

    def _make_folder(self) -> None:
        folder = self._settings.directory
        for one in (*reversed(folder.parents), folder):
            if not one.is_dir():
                one.mkdir()
                one.chmod(0o755)  # whatever the umask is: a scheduler's nodes read here

    def _turn(self, error: str) -> None:
        """Logs when writing begins to fail, and when it works again."""
        was, self._error = self._error, error
        if bool(was) is not bool(error):
            health = "failing" if error else "keeping"
            logger().warning("gate files", health=health, path=str(self._settings.directory), error=error)


def file_answers(publication: Published) -> Iterator[tuple[str, tuple[str, str]]]:
    """The name of each file, with its word and why: by the plan's name of a host, by its name without domain and by
    that of its scheduler, where no other host has it.
    """
    view, known, nodes = view_of(publication), fitness_of(publication), scheduler_nodes(publication)
    devices = view.index.devices
    of: dict[str, GateHost] = {}
    named: dict[str, set[str]] = {}
    for code, name in enumerate(devices.names):
        if devices.is_host(code) and view.is_planned(code):
            of[name] = host_fitness(view, known, code, None)
            node = nodes.of.get(code)
            for alias in {name.partition(".")[0], node.node if node else name} - {name}:
                named.setdefault(alias, set()).add(name)
    names = {alias: next(iter(hosts)) for alias, hosts in named.items() if len(hosts) == 1 and alias not in of}
    for name, host in (*((name, name) for name in of), *names.items()):
        if _NAME.fullmatch(name):
            yield name, (_WORDS[of[host].fit], " ".join(of[host].summary.split()))


def _replace(folder: Path, name: str, line: str) -> None:
    new = folder / f".{name}.new"
    with suppress(FileNotFoundError):
        new.unlink()
    opened = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    try:
        os.fchmod(opened, 0o644)
        os.write(opened, line.encode())
    finally:
        os.close(opened)
    new.replace(folder / name)
