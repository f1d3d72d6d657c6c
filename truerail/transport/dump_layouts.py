"""Captures that people made in their own way: a file per device, a folder per command, or a parallel shell's output.

    leaf-3.log                       a session of a device, or one answer
    gpu-012_lldpctl_-f_json0.txt     device and command in a file's name
    rdma_link/gpu-012.txt            a folder per command
    nvidia-smi_topo_-m.txt           all hosts in one file, as `clush -b`, `pdsh | dshbak -c` and `pdsh` print them

Each becomes what a capture is: files by their commands' names, of a device.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from truerail.errors import FileRefusedError, NodeSetError
from truerail.files.file_text import text_of
from truerail.files.nodesets import Budget, expand
from truerail.model import Plan
from truerail.model.columns import NONE
from truerail.model.index import Devices
from truerail.model.names import DEFAULT_NAMES
from truerail.model.session_log import LARGEST_BYTES, by_device, session
from truerail.model.terminal import untouched
from truerail.transport.capture_files import Questions, without_ending
from truerail.transport.folders import Folder, Listing

_BETWEEN = re.compile(r"[_.\- ]+")
_HEADED = re.compile(
    r"^-{4,}[ \t]*\n(?: Node \d+ \()?(?P<names>[\w.,/\[\]-]{1,4000}(?: \(\d+\))?)\)?[ \t]*\n-{4,}[ \t]*\n", re.MULTILINE
)
"""The heading that `dshbak` and `clush -b` print above the output of one or of several hosts, and APIC of a switch."""
_COUNT = re.compile(r" \(\d+\)$")
_PREFIXED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]{0,253}): ?(?P<text>.*)")
_HOST = re.compile(r"[A-Za-z][\w.-]*\d[\w.-]*")
"""What may be a host's name where no plan has it: a word that is not a label of an answer."""


@dataclass(slots=True)
class Gathered:
    """A device's answers, gathered from where they lie, as a folder."""

    where: Folder
    files: dict[str, tuple[Folder, str] | bytes] = field(default_factory=dict)
    """By the name of a command's file, or by any name: where it lies, or the answer."""

    def list(self) -> Listing:
        return Listing(files=set(self.files))

    def enter(self, name: str) -> Folder:
        return self.where.enter(name)

    def read(self, name: str) -> bytes:
        content = self.files[name]
        if isinstance(content, bytes):
            return content
        folder, file = content
        return folder.read(file)

    def modified(self) -> float:
        return self.where.modified()


@dataclass(slots=True)
class Dumps:
    """What `gather` found: the answers of each device, and the files and folders in which they lie."""

    devices: dict[str, Gathered] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def _put(self, where: Folder, device: str, file: str, content: tuple[Folder, str] | bytes) -> None:
        self.devices.setdefault(device, Gathered(where)).files.setdefault(file, content)


def gather(folder: Folder, listing: Listing, questions: Questions, known: Devices) -> Dumps:
    """The answers that lie in no folder of their device. `known` are the plan's devices: they decide what a name is."""
    dumps = Dumps()
    for name in sorted(listing.folders):
        if known.find(name) == NONE and questions.claims(name):
            _of_command(dumps, folder, name)
    for file in sorted(listing.files):
        of = None if questions.claims(file) else _device_and_command(file, questions, known)
        stem = of[0] if of else without_ending(file)
        if (of and questions.claims(of[1])) or not _of_text(dumps, folder, file, stem, questions, known):
            if not of:
                continue
            dumps._put(folder, *of, (folder, file))
        dumps.taken.add(file)
    return dumps


def names_devices(files: set[str], questions: Questions) -> bool:
    """Whether these are files of devices, by names that have a device and a command."""
    nothing_known = Devices(Plan({}, ()))
    return any(not questions.claims(file) and _device_and_command(file, questions, nothing_known) for file in files)


def _of_command(dumps: Dumps, folder: Folder, name: str) -> None:
    inside = folder.enter(name)
    try:
        files = inside.list().files
    except FileRefusedError:
        return
    for file in sorted(files):
        dumps._put(folder, without_ending(file), name, (inside, file))
    dumps.taken.add(name)


def _device_and_command(file: str, questions: Questions, known: Devices) -> tuple[str, str] | None:
    """`gpu-012_rdma_link` is device and command; `gpu-012_topo.txt` and `gpu-012.txt`, of a planned device, device and
    any name.
    """
    stem = without_ending(file)
    places = [found.span() for found in _BETWEEN.finditer(stem) if found.start() > 0 and found.end() < len(stem)]
    for start, end in places:
        if any(not claim.command for claim in questions.claims(stem[end:])):
            return stem[:start], stem[end:]
    if known.find(stem) != NONE:
        return stem, file
    for start, end in reversed(places):
        if known.find(stem[:start]) != NONE:
            return stem[:start], stem[end:]
    return None


def _of_text(dumps: Dumps, folder: Folder, file: str, stem: str, questions: Questions, known: Devices) -> bool:
    """Takes the answers in a file whose content says of which devices they are, else of `stem`; False if it has
    none.
    """
    try:
        raw = folder.read(file)
    except FileRefusedError:
        return False
    if len(raw) > LARGEST_BYTES:
        return False
    text = untouched(text_of(raw).replace("\r\n", "\n"))
    logged = by_device(text)
    answering = [name for name, part in logged.items() if session(part, questions.file_of)]
    several = [(name, part) for name, part in logged.items() if name in answering or known.find(name) != NONE]
    found = several if len(several) > 1 else list(_headed(text)) or _prefixed(text, known)
    if not found and answering and not questions.claims(file):
        found = [(_device_of(answering[0], stem, known), text)]
    name = f"log_{file}" if found is several and questions.claims(file) else file
    for device, answer in found:
        dumps._put(folder, device, name, answer.encode())
    return bool(found)


def _device_of(prompt: str, stem: str, known: Devices) -> str:
    """The planned one of the device that a prompt names and that of the file's name; if none is planned, the first, but
    for a name that systems have by default.
    """
    planned = [name for name in (prompt, stem) if known.find(name) != NONE]
    return planned[0] if planned else stem if prompt.lower() in ("", *DEFAULT_NAMES) else prompt


def _headed(text: str) -> Iterator[tuple[str, str]]:
    """The parts below headings of host names, for each host."""
    if "----" not in text:
        return
    headings = list(_HEADED.finditer(text))
    budget = Budget()
    for heading, following in zip(headings, [*headings[1:], None], strict=False):
        try:
            names = expand(_COUNT.sub("", heading["names"].strip()), budget)
        except NodeSetError:
            return
        answer = text[heading.end() : following.start() if following else None]
        yield from ((name, answer) for name in names)


def _prefixed(text: str, known: Devices) -> list[tuple[str, str]]:
    """The lines of each host, where all begin with a host's name and a colon."""
    answers: dict[str, list[str]] = {}
    for line in text.splitlines():
        found = _PREFIXED.fullmatch(line)
        if not found:
            if line.strip():
                return []
            continue
        answers.setdefault(found["name"], []).append(found["text"])
    plan = known.planned > 0
    if len(answers) < 2 or not all(known.find(name) != NONE if plan else _HOST.fullmatch(name) for name in answers):
        return []
    return [(name, "\n".join(lines) + "\n") for name, lines in answers.items()]
