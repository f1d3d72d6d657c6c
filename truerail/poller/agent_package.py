"""Makes the agent of hosts: one file that Python runs, with the commands that collectors declare for hosts inside.

Only this list is run there, so the file is built again with each version of truerail. Equal sources make equal bytes.
"""

import io
import json
import zipfile
from importlib.resources import files

from collector import collectors
from truerail import __version__
from truerail.agent.allowed_commands import Declared, Question
from truerail.model import PortCounters, Role
from truerail.model.platforms import PROBES
from truerail.poller.questions import applicable

BEAT_SECONDS = 10.0
"""Between two signs of life of an agent."""
ANSWER_SECONDS, ANSWER_BYTES = 30.0, 4 << 20
"""Limits of one command on the host."""
CABLING_SECONDS = 60.0
"""What is asked at least so often, and is no counter, is asked again when lldpd reports a change."""
PROBE = "platform"
"""The question for the commands that identify a platform: an inventory need not name it."""
_PLATFORM, _PACKAGE = "linux", "truerail_agent"
_MAIN = f"import sys\n\nfrom {_PACKAGE}.program import main\n\nsys.exit(main())\n"


def questions() -> list[Question]:
    """What the agent asks its host, by collector."""
    found = []
    for name, commands in applicable(Role.HOST, _PLATFORM).items():
        one = collectors()[name]
        cabling = one.every_seconds <= CABLING_SECONDS and PortCounters not in one.yields
        found.append(Question(name, one.every_seconds, list(commands), cabling, bool(one.volatile)))
    found.sort(key=lambda one: (not one.cabling, one.every_seconds, one.name))
    return found + [Question(PROBE, 3600.0, [text], cabling=False, ages=False) for text in PROBES]


def agent_file(beat_seconds: float = BEAT_SECONDS) -> bytes:
    """The file's bytes: `python3 truerail-agent.pyz` runs it, and so does the file itself where it may be executed."""
    declared = Declared(__version__, beat_seconds, ANSWER_SECONDS, ANSWER_BYTES, questions())
    described = {**declared._asdict(), "questions": [one._asdict() for one in declared.questions]}
    code = (one for one in files("truerail.agent").iterdir() if one.name.endswith(".py"))
    sources = {f"{_PACKAGE}/{one.name}": one.read_bytes() for one in code}
    sources[f"{_PACKAGE}/commands.json"] = json.dumps(described, indent=1).encode()
    sources["__main__.py"] = _MAIN.encode()
    made = io.BytesIO()
    made.write(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(sources):
            entry = zipfile.ZipInfo(name)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, sources[name])
    return made.getvalue()
