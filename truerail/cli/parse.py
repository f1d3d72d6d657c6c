"""`truerail parse`: one recorded answer to JSON facts."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from truerail.errors import CommandError

STDIN = Path("-")
MOST_BYTES = 1 << 30


def parse(
    collector: Annotated[str, typer.Argument(help="Name of a collector, such as lldp_host.")],
    file: Annotated[Path, typer.Argument(metavar="[FILE|-]", help="The recorded answer; - is stdin.")] = STDIN,
    device: Annotated[str, typer.Option(help="Name of the device that answered.")] = "device",
    platform: Annotated[str, typer.Option(help="Its platform, where the answer's format depends on it.")] = "",
) -> None:
    """Read one recorded answer and print its facts as JSON, a list of objects."""
    import json

    from collector import collectors
    from truerail.cli import terminal_output
    from truerail.errors import UnreadableError
    from truerail.files.problems import nearest
    from truerail.model import Device, Fact, PortCounters, Role
    from truerail.model.nccl_facts import NCCL_FACTS

    def rows(fact: Fact) -> Iterable[dict[str, Any]]:
        if isinstance(fact, PortCounters):
            return fact.rows()
        return (fact.row() if isinstance(fact, NCCL_FACTS) else fact._asdict(),)

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
    lines = ",\n".join(encode(row) for fact in facts for row in rows(fact))
    terminal_output.say(f"[\n{lines}\n]" if lines else "[]")


def answer_of(file: Path) -> str:
    """The text of a file or of stdin; bytes that are not UTF-8 are replaced, since devices may print any. Raises
    CommandError.
    """
    import sys

    from truerail.files.file_text import text_of

    try:
        if file == STDIN:
            raw = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with file.open("rb") as handle:
                raw = handle.read(MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{file}: cannot be read: {error.strerror or error}") from error
    if len(raw) > MOST_BYTES:
        raise CommandError(f"{file}: larger than {MOST_BYTES:,} bytes, more than any device answers or job logs")
    return text_of(raw)
