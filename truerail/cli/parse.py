"""`truerail parse`: one recorded answer to JSON facts."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import refused_by_system
from truerail.errors import CommandError, UnreadableError

STDIN = Path("-")
MOST_BYTES = 1 << 30
_PART_BYTES = 2 << 20


def parse(
    collector: Annotated[str, typer.Argument(help="Name of a collector, such as lldp_host.")],
    file: Annotated[Path, typer.Argument(metavar="[FILE|-]", help="The recorded answer; - is stdin.")] = STDIN,
    device: Annotated[str, typer.Option(help="Name of the device that answered.")] = "device",
    platform: Annotated[str, typer.Option(help="Its platform, where the answer's format depends on it.")] = "",
) -> None:
    """Read one recorded answer and print its facts as JSON, a list of objects."""
    import json

    from collector import collectors
    from truerail.files.problems import nearest
    from truerail.model import Device, Fact, PortCounters, Role
    from truerail.model.nccl_facts import NCCL_FACTS, row

    def rows(fact: Fact) -> Iterable[dict[str, Any]]:
        if isinstance(fact, PortCounters):
            return fact.rows()
        return (row(fact) if isinstance(fact, NCCL_FACTS) else fact._asdict(),)

    known = collectors()
    if collector not in known:
        raise CommandError(f"no collector {collector!r}{nearest(collector, list(known))}")
    chosen = known[collector]
    role = Role.HOST if Role.HOST in chosen.on else chosen.on[0]
    try:
        facts = chosen.read(answer_of(file), Device(device, role, platform=platform))
    except UnreadableError as error:
        raise CommandError(f"{file}: not an answer that {collector} can read: {error}") from error
    encode = json.JSONEncoder(default=str).encode
    lines = ",\n".join(encode(shown) for fact in facts for shown in rows(fact))
    terminal_output.say(f"[\n{lines}\n]" if lines else "[]")


def answer_of(file: Path) -> str:
    """The text of a file or of stdin. Raises CommandError."""
    return "".join(parts_of(file))


def parts_of(file: Path, before: str = "\n") -> Iterator[str]:
    """The text of a file, of stdin or of what a process writes into a pipe, in parts that end where a line does, where
    possible one before a line with `before`; bytes that are not UTF-8 are replaced, since devices may print any. Raises
    CommandError.
    """
    from truerail.files.file_text import decoder_of

    decoder, rest, size = None, "", 0
    with refused_by_system(file, "cannot be read: "):
        for raw in _raw(file):
            size += len(raw)
            if size > MOST_BYTES:
                raise CommandError(
                    f"{file}: larger than {MOST_BYTES:,} bytes, more than any device answers or job logs"
                )
            decoder = decoder or decoder_of(raw)
            text = rest + decoder.decode(raw)
            end = text.rfind("\n", 0, max(text.rfind(before), 0)) + 1 or text.rfind("\n") + 1 or len(text)
            yield text[:end]
            rest = text[end:]
    yield rest + (decoder.decode(b"", True) if decoder else "")


def _raw(file: Path) -> Iterator[bytes]:
    """The content in parts. A pipe is opened without waiting for a process that writes into it. Raises CommandError."""
    import os
    import sys

    if file == STDIN:
        yield from iter(lambda: sys.stdin.buffer.read(_PART_BYTES), b"")
        return
    with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as handle:
        os.set_blocking(handle.fileno(), True)
        if not handle.peek(1) and file.is_fifo():
            raise CommandError(f"{file}: a pipe that no process writes to")
        yield from iter(lambda: handle.read(_PART_BYTES), b"")
