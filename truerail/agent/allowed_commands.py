"""What the agent may run: the list that `truerail agent build` has written into the file, and nothing else."""

from __future__ import annotations

import json
import pkgutil
import re
from hashlib import blake2b
from typing import NamedTuple

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_OTHER = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)


class Question(NamedTuple):
    """A collector: its commands, best first, all of which only read.

    `cabling`: asked again at once when lldpd reports a change; `ages`: its answers differ although nothing has changed.
    """

    name: str
    every_seconds: float
    commands: list[str]
    cabling: bool
    ages: bool


class Declared(NamedTuple):
    """The list and the limits of one build. Sizes in bytes."""

    version: str
    beat_seconds: float
    answer_seconds: float
    answer_bytes: int
    questions: list[Question]


def declared() -> Declared:
    """Those of this file. Raises RuntimeError where it was not built."""
    data = pkgutil.get_data(__package__ or "", "commands.json")
    if data is None:
        raise RuntimeError("no list of commands: build the agent with `truerail agent build`")
    found = json.loads(data)
    return Declared(**dict(found, questions=[Question(**one) for one in found["questions"]]))


def command_id(command: str) -> str:
    """A command as messages name it: 16 hexadecimal digits."""
    return blake2b(command.encode(), digest_size=8).hexdigest()


def name_token(text: str) -> str:
    """A name as one part of a subject: itself where it can be, else what is readable of it and eight hex digits."""
    if _PLAIN.fullmatch(text):
        return text
    readable = _OTHER.sub("-", text).strip("-")[:48] or "x"
    return readable + "-" + blake2b(text.encode(), digest_size=4).hexdigest()
