"""Records of `scontrol show`: `Key=value` pairs, one record a line (`-o`) or several indented lines.

Values may hold blanks, `=` and whole pairs: a job's name, comment and paths are what a user wrote. A value ends at the
next key that the record knows, and of a key that occurs more than once the place counts that `scontrol` prints first
after what a user wrote before it.
"""

import re
from collections.abc import Iterator, Sequence

from collector._answer import lines
from collector._sections import is_login_prompt
from truerail.errors import UnreadableError

_ASKED = re.compile(r"\bscontrol\b.{0,200}\bshow\b")
"""The command, behind a prompt above its answer."""
MOST_CHARACTERS = 1 << 20
"""Of one record; one of 10,000 nodes in single names has a tenth."""


def records(answer: str, first: str, what: str) -> Iterator[tuple[int, str]]:
    """The records of an answer that is not blank, with the numbers of their first lines; `first` is the key of each.

    Raises `UnreadableError` for another text, and for a last line that has no end.
    """
    found = lines(answer)
    if found[-1] and not is_login_prompt(found[-1]):
        raise UnreadableError("cut short: its last line has no end", line=len(found), text=found[-1][:80])
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
