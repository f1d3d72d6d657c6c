"""What of an answer's text is read: one device's answer, to the command that a collector asks.

A paste or a log has prompts that name devices, and commands with other answers. Where it has no prompts, ports that
begin again are those of another device, or of the same at another time.
"""

import re
from collections.abc import Sequence
from itertools import chain, groupby
from operator import itemgetter

from collector._answer import begins_json, is_json
from collector._snmp import SWITCH
from truerail.errors import UnreadableError
from truerail.model import Collector, Device, Fact, MacEntry
from truerail.model.names import answer_file, printable
from truerail.model.session_log import Part, part_of, parts, session, without_pager

_OTHER_SHAPE = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)
"""What reading a document raises where it has something else than the format has: a number for an object, a key less, a
depth that no device has.
"""
_NO_NUMBER = re.compile("invalid literal for int|could not convert string to float|Exceeds the limit")
"""What `int` and `float` say of a text that is no number, or one of thousands of digits: of any answer's."""


def of_device(found: Collector, answer: str, device: Device) -> str:
    """The text without other devices' lines. Raises `UnreadableError` if several answer, and none is `device`."""
    if begins_json(answer):
        return answer
    return part_of(answer, lambda typed: _asks(found, typed), device.name, *device.aliases)


def read(found: Collector, text: str, device: Device) -> Sequence[Fact]:
    """The facts in a device's answer, or in the answer that is asked for where there are others beside it."""
    try:
        return _whole(found, text, device)
    except UnreadableError:
        for asked in _answers(found, text, device):
            try:
                return _whole(found, asked, device)
            except UnreadableError:
                continue
        raise


def _asks(found: Collector, typed: str) -> bool:
    """Whether a command, of which each word may be abbreviated, asks what the collector asks."""
    words = typed.partition("|")[0].split()
    asked = (command.text.partition("{")[0].split() for command in found.ask)
    return any(len(words) >= min(2, len(of)) and all(map(str.startswith, of, words)) for of in asked)


def _answers(found: Collector, log: str, device: Device) -> list[str]:
    """The answers in a log to commands of the collector, in their order; none if another answer stands above."""
    if not any(command.text in log for command in found.ask) or _reads(found, parts(log)[0], device):
        return []
    files = dict.fromkeys(command.file for command in found.ask)
    answers = session(log, lambda typed: file if (file := answer_file(without_pager(typed))) in files else "")
    return [answers[file] for file in files if file in answers]


def _reads(found: Collector, above: Part, device: Device) -> bool:
    try:
        return not above.device and bool(_whole(found, above.text, device))
    except UnreadableError:
        return False


def _whole(found: Collector, text: str, device: Device) -> Sequence[Fact]:
    try:
        return _of_one(found, tuple(found.parse(text, device)))
    except UnreadableError:
        raise
    except _OTHER_SHAPE as error:
        if not is_json(text) and "</" not in text and not _NO_NUMBER.match(str(error)):
            raise
        raise UnreadableError(f"not understood ({type(error).__name__}: {printable(str(error), 80)})") from error


def _of_one(found: Collector, facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts; refused if more than one port begins again, behind others, with something else."""
    of_port = found.yields[0]._fields[0] in ("port", "netdev") and found.yields[0] is not MacEntry
    of_port &= found.ask[0] != SWITCH  # a walk has the neighbours of all ports in the order of their times
    if not of_port or len(found.yields) > 1 or len({fact[0] for fact in facts}) == len(facts):
        return facts
    said: dict[object, list[set[Fact]]] = {}
    for port, run in groupby(facts, itemgetter(0)):
        said.setdefault(port, []).append(set(run))
    again = [str(port) for port, (first, *runs) in said.items() if not first.issuperset(chain(*runs))]
    if len(again) > 1:
        raise UnreadableError(f"the answers of two devices: ports begin again ({', '.join(again[:3])})")
    return facts
