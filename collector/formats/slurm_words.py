"""Slurm's notations, and the records of `scontrol show`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import product
from typing import Any

from collector.formats.text import is_login_prompt, whole_lines
from truerail.errors import UnreadableError

# ----------------------------------------------------------------------------------------------------------------------
# Slurm's notations: node lists, generic resources, numbers of its JSON, states and times.

MOST_NAMES = 200_000
"""Most names that the lists of one answer may expand to; Slurm itself takes 65,533 nodes."""
MOST_OF_A_NAME, _LARGEST = 1024, "999999999"
"""Characters of a name, of a job's those that are kept (Slurm bounds it no lower than a line of its own configuration),
and the largest number in one of a list.
"""
_YEAR_SECONDS = 365 * 86_400
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_IN_PARENTHESES = re.compile(r"\([^()]{0,4096}\)")
_GPUS = re.compile(r"(?:gres[/:])?gpu(?::[^=:,\s]+(?=[:=]))?(?:[:=]([0-9]{1,9}))?")
"""`gpu:h100:8`, `gpu:8`, `gres/gpu:8`, `gres/gpu=8`, `gres/gpu:h100=8`, `gpu`, which is one."""
_TYPED_ONE = re.compile(r"(?:gres[/:])?gpu:[A-Za-z_][^=:,\s]*")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)([+-]\d{4})?")
_NONE = frozenset(("", "(null)", "N/A", "None", "Unknown", "n/a"))
_FINISHED = frozenset(
    ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY")
)
NO_TIME = 0xFFFFFFFE
"""NO_VAL of slurm.h; the value above it is INFINITE."""


class Names:
    """Expands the node lists of one answer: `rack[1-2]n[08-10],spare`. Ranges are bounded before they are expanded."""

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._left = self._most = most

    def expand(self, text: str, line: int = 0) -> tuple[str, ...]:
        """The names, in the order written. Raises `UnreadableError`."""
        if text.strip() in _NONE:
            return ()
        found: list[str] = []
        for piece in _pieces(text.strip(), line):
            found += self._piece(piece, line)
        return tuple(found)

    def _piece(self, piece: str, line: int) -> Iterable[str]:
        parts = _BRACKET.split(piece)
        if len(name := _LARGEST.join(parts[::2])) > MOST_OF_A_NAME or set(name) & set("[] ") or not name.isprintable():
            raise UnreadableError("not a list of nodes", line=line, text=piece)
        bounds = [[_bounds(one, line) for one in inside.split(",")] for inside in parts[1::2]]
        count = 1
        for bracket in bounds:
            count *= sum(high - low + 1 for low, high, _ in bracket)
        self._left -= count
        if self._left < 0:
            raise UnreadableError(f"its lists expand to more than {self._most:,} names", line=line, text=piece)
        choices = [[part] for part in parts]
        choices[1::2] = [
            [str(number).zfill(width) for low, high, width in bracket for number in range(low, high + 1)]
            for bracket in bounds
        ]
        return map("".join, product(*choices))


def _pieces(text: str, line: int) -> list[str]:
    """Splits at the commas outside of brackets."""
    pieces, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if depth not in (0, 1):
            raise UnreadableError("not a list of nodes: its brackets do not match", line=line, text=text)
        if char == "," and not depth:
            pieces.append(text[start:at])
            start = at + 1
    pieces.append(text[start:])
    if depth or not all(pieces):
        raise UnreadableError("not a list of nodes", line=line, text=text)
    return pieces


def _bounds(text: str, line: int) -> tuple[int, int, int]:
    """First, last and width of one range."""
    found = _RANGE.fullmatch(text)
    if not found or int(found[2] or found[1]) < int(found[1]):
        raise UnreadableError("not a range of a node list", line=line, text=text)
    return int(found[1]), int(found[2] or found[1]), len(found[1])


def gpus_in(text: str) -> int | None:
    """The GPUs in a list of generic or trackable resources; None where it has none.

    Where an untyped total stands beside the types, as in `gres/gpu=8,gres/gpu:h100=8`, it is the total.
    """
    total: int | None = None
    typed: int | None = None
    for word in _IN_PARENTHESES.sub("", text).split(","):
        word = word.strip()
        found = _GPUS.fullmatch(word)
        if found is None and not _TYPED_ONE.fullmatch(word):
            continue
        count = int(found[1]) if found and found[1] else 1
        if re.match(r"(?:gres[/:])?gpu(?:[:=][0-9]+)?$", word):
            total = count + (total or 0)
        else:
            typed = count + (typed or 0)
    return typed if total is None else total


def number(value: Any) -> int | None:
    """A number of Slurm's JSON: plain, or `{"set": true, "infinite": false, "number": 8}` since 23.02."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < NO_TIME or NO_TIME + 1 < value < 2**62 else None


def text(value: Any) -> str | None:
    """A text that is set."""
    return value if isinstance(value, str) and value not in ("", "(null)") else None


def states(value: Any) -> tuple[str, ...]:
    """The states in `MIXED+NOT_RESPONDING`, `IDLE*`, a list or an object's `current`."""
    if isinstance(value, dict):
        value = value.get("current")
    words = value if isinstance(value, list) else [value]
    found: list[str] = []
    for word in "+".join(one for one in words if isinstance(one, str)).split("+"):
        found += [word.rstrip("*~#!%$@^-").upper()] if word.strip("*") else []
        found += ["NOT_RESPONDING"] if word.endswith("*") else []
    return tuple(dict.fromkeys(filter(None, found)))


def time(value: str) -> int | None:
    """Seconds since 1970 of a time that Slurm prints: those seconds (`SLURM_TIME_FORMAT=%s`), time with a zone
    (`%FT%T%z`), or local time without one, which is read as UTC. None where it is none.
    """
    if value.isascii() and value.isdigit() and len(value) < 12:
        return int(value) or None
    found = _TIME.fullmatch(value)
    if found is None:
        return None
    try:
        return int(datetime.strptime(f"{found[1]}{found[2] or '+0000'}", "%Y-%m-%dT%H:%M:%S%z").timestamp())
    except ValueError:
        return None


def end_of(start: int | None, end: int | None, state: str, unlimited: bool) -> int | None:
    """The end of a job. Slurm gives a job without a limit that of a year after its begin, which is none."""
    if set(state.split("+")) & _FINISHED:
        return end or None
    year = start is not None and end is not None and end - start == _YEAR_SECONDS
    return None if unlimited or year else end or None


def name_of(job_id: int | None, array: int | None, task: str | None, het: int | None, offset: int | None) -> str | None:
    """What users call a job: `324_5`, `5+0`, `1234`; `3_[3-6]` are the tasks of an array that have not started."""
    if het:
        return f"{het}+{offset or 0}"
    if array and task:
        return f"{array}_{task}" if task.isdigit() else f"{array}_[{task}]"
    return None if job_id is None else str(job_id)


# ----------------------------------------------------------------------------------------------------------------------
# Records of `scontrol show`: `Key=value` pairs, one record a line (`-o`) or several indented lines.
#
# Values may hold blanks, `=` and whole pairs: a job's name, comment and paths are what a user wrote. A value ends at
# the next key that the record knows, and of a key that occurs more than once the place counts that `scontrol` prints
# first after what a user wrote before it.

_ASKED = re.compile(r"\bscontrol\b.{0,200}\bshow\b")
"""The command, behind a prompt above its answer."""
MOST_CHARACTERS = 1 << 20
"""Of one record; one of 10,000 nodes in single names has a tenth."""


def entries(document: Any, key: str, *needed: str) -> list[Any]:
    """The list under a key, or Slurm-web's bare list or entry, with a key of each `a|b`. Raises `UnreadableError`."""
    found = document.get(key) if isinstance(document, dict) else None
    if isinstance(found, list):
        return found
    alone, groups = document if isinstance(document, list) else [document], [keys.split("|") for keys in needed]
    if alone and all(isinstance(one, dict) and not any(map(one.keys().isdisjoint, groups)) for one in alone):
        return alone
    raise UnreadableError(f"not {key} of Slurm: no list {key}", line=1, text=str(document)[:80])


def records(answer: str, first: str, what: str) -> Iterator[tuple[int, str]]:
    """The records of an answer that is not blank, with the numbers of their first lines; `first` is the key of each.

    Raises `UnreadableError` for another text, and for a last line that has no end.
    """
    found = whole_lines(answer)
    held: list[str] = []
    begun = 0
    margin = next((line[: -len(line.lstrip())] for line in found if line.lstrip().startswith(f"{first}=")), "")
    for at, raw in enumerate(found, 1):
        line = raw.removeprefix(margin)
        if line.startswith(f"{first}="):
            if held:
                yield begun, _joined(held, begun)
            held, begun = [line], at
        elif held and line.startswith((" ", "\t")):
            held.append(line)
        elif line.strip() and not is_login_prompt(line) and (held or not _ASKED.search(line)):
            raise UnreadableError(f"not {what}: no {first}=", line=at, text=line[:80])
    if not held:
        raise UnreadableError(f"not {what}: no {first}=", line=len(found))
    yield begun, _joined(held, begun)


def _joined(held: Sequence[str], line: int) -> str:
    text = "\n".join(held)
    if len(text) > MOST_CHARACTERS:
        raise UnreadableError(f"a record of {len(text):,} characters", line=line, text=text[:40])
    return text


def value(record: str, key: str, start: int = 0) -> str | None:
    """The value of a key without blanks in it; None where the record does not have it."""
    found = re.compile(rf"(?<![^\s]){re.escape(key)}=(\S*)").search(record, start)
    return found[1] if found else None
