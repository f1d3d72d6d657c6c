"""A whole round: read once to collect the names in it, then written with pseudonyms."""

import re
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

from truerail.analysis.cabling.ib_names import spellings
from truerail.errors import CaptureError
from truerail.model import Neighbor, Plan, Role
from truerail.model.names import canonical_mac
from truerail.scrub.keyed import Keyed
from truerail.scrub.pseudonyms import Names
from truerail.scrub.scrubbed_plan import scrubbed_plan
from truerail.scrub.text import Text
from truerail.scrub.walks import is_walk, scrubbed_walk
from truerail.transport import listed, unanswered
from truerail.transport.capture_files import questions_of
from truerail.transport.replay import read_capture

_RECORDED = ".snmprec"
_WAY_IN = re.compile(r"(\b(?:user|tried key|jump host) |(?<!\w)~?/|\w@|\bSHA256:)[^\s,;)]+")


def scrub_round(
    source: Path, out: Path, plan: Plan | None, devices: Mapping[str, Role | None], *, key: bytes | None = None
) -> Plan | None:
    """Writes the round in folder `source` to the new folder `out`, and gives the plan that goes with it.

    `devices` are those of the inventory, with their roles. Files that answer no collector's question are left out:
    their content is unknown. The key is random for each call and not stored, unless `key` is given. Raises OSError, and
    `ScrubError` before anything is written.
    """
    keyed = Keyed(key or secrets.token_bytes(32))
    planned = {**devices, **({name: device.role for name, device in plan.devices.items()} if plan else {})}
    folders = sorted(found for found in source.iterdir() if found.is_dir())
    heard = [*_heard(source, plan), *(folder.name for folder in folders)]
    text = Text(keyed, Names(keyed, planned, heard))
    questions = questions_of()
    for folder in folders:
        place = out / text.names.name(folder.name)
        place.mkdir(parents=True)
        for file in sorted(found for found in folder.iterdir() if found.is_file()):
            known = file.name == unanswered.FILE or questions.claims(file.name)
            if known and not file.name.endswith(_RECORDED):
                content = file.read_bytes()
                made = _errors(content) if file.name == unanswered.FILE else content
                (place / text(file.name)).write_bytes(_scrubbed(made, text))
    if (source / listed.FILE).is_file():
        names = sorted(listed.load((source / listed.FILE).read_bytes()))
        (out / listed.FILE).write_bytes(listed.dump(text.names.name(name) for name in names))
    return scrubbed_plan(plan, text, keyed) if plan else None


def _heard(source: Path, plan: Plan | None) -> Iterator[str]:
    """The names that devices give each other: systems, and chassis that are called by a serial."""
    try:
        seen = read_capture(source, devices=plan.devices if plan else None)
    except CaptureError:
        return
    for row in seen.snapshot().table(Neighbor).rows:
        if row.system_name:
            yield _called(row.system_name)
        if row.chassis_id and row.chassis_id_type != "guid" and canonical_mac(row.chassis_id) is None:
            yield row.chassis_id


def _called(name: str) -> str:
    """The name of a device as others have it: `leaf-1` of the InfiniBand switch `MF0;leaf-1:MQM9700/U1`."""
    *whole, last = spellings(name)
    return last.partition("/")[0] if whole else last


def _errors(content: bytes) -> bytes:
    """Errors without login details: users, files, fingerprints of host keys."""
    reported = unanswered.load(content)
    reported.device = _WAY_IN.sub(r"\1...", reported.device)
    reported.commands = {command: _WAY_IN.sub(r"\1...", why) for command, why in reported.commands.items()}
    return reported.dump()


def _scrubbed(content: bytes, text: Text) -> bytes:
    """Bytes in, bytes out: bytes that are not UTF-8 stay unchanged."""
    said = content.decode("utf-8", "surrogateescape")
    made = scrubbed_walk(said, text) if is_walk(said) else text(said)
    return made.encode("utf-8", "surrogateescape")
