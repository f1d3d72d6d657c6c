"""Node sets: `gpu-[001-064]`, `Ethernet[0-252/4]`, `swp[1-32]s[0-1]`, `leaf-[0-3],spare-1`, to names and back.

The syntax and the ranges are ClusterShell's. ClusterShell sorts the expanded names; for lists of ports and NICs the
order matters, so the written order is preserved here, and a range is counted before it is expanded.
"""

import re
from collections.abc import Sequence
from itertools import product

from ClusterShell.RangeSet import RangeSet

from truerail.errors import NodeSetError

MOST_NAMES = 1_000_000
"""Maximum names that the node sets of one file may expand to: five times a fabric of 100,000 GPUs."""

_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12})(?:/(\d{1,12}))?)?", re.ASCII)
_NUMBER = re.compile(r"^(.*?)(\d+)(\D*)$", re.ASCII | re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LONGEST_NAME = 255


def name_fault(name: str) -> str:
    """Why this is not a valid name of a device or a port; empty if it is."""
    if not name:
        return "found nothing"
    if len(name) > _LONGEST_NAME:
        return f"a name of {len(name)} characters, at most {_LONGEST_NAME} are allowed"
    found = _CONTROL.search(name)
    return f"control character \\x{ord(found.group()):02x} in a name" if found else ""


class Budget:
    """Number of names that may still be expanded. A few characters can ask for billions: `a[1-99999]b[1-99999]`."""

    def __init__(self, names: int = MOST_NAMES) -> None:
        self.names = self.left = names

    def take(self, count: int) -> None:
        """Counts `count` names. Raises NodeSetError if the file asks for too many."""
        if count > self.left:
            raise NodeSetError(f"expands to more names than a file may hold ({self.names:,} in all)")
        self.left -= count


def expand(text: str, budget: Budget | None = None) -> list[str]:
    """The names of a node set, in the written order. Raises NodeSetError."""
    budget = budget or Budget()
    names: list[str] = []
    for piece in _pieces(text):
        fault = name_fault(_BRACKETS.sub("0", piece))
        if fault:
            raise NodeSetError(fault)
        names += _expand_piece(piece, budget)
    return names


def _pieces(text: str) -> list[str]:
    """Splits at the commas outside of brackets."""
    pieces, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if depth not in (0, 1):
            raise NodeSetError("brackets do not match")
        if char == "," and not depth:
            pieces.append(text[start:at].strip())
            start = at + 1
    pieces.append(text[start:].strip())
    if depth:
        raise NodeSetError("a bracket is not closed")
    if not all(pieces):
        raise NodeSetError("an empty name")
    return pieces


def _expand_piece(piece: str, budget: Budget) -> list[str]:
    parts = _BRACKETS.split(piece)
    if len(parts) == 1:
        budget.take(1)
        return parts
    bounds = [[_bounds(one) for one in ranges.split(",")] for ranges in parts[1::2]]
    count = 1
    for bracket in bounds:
        count *= sum((high - low) // step + 1 for _, low, high, step in bracket)
    budget.take(count)
    choices = [[part] for part in parts]
    choices[1::2] = [[number for text, *_ in bracket for number in RangeSet(text).striter()] for bracket in bounds]
    return ["".join(chosen) for chosen in product(*choices)]


def _bounds(text: str) -> tuple[str, int, int, int]:
    """The text, first, last and step of one range."""
    text = text.strip()
    shape = _RANGE.fullmatch(text)
    if not shape:
        raise NodeSetError(f"{text!r} is not a range such as 1-64, 0-252/4 or 7")
    low, high, step = int(shape[1]), int(shape[2] or shape[1]), int(shape[3] or 1)
    if high < low:
        raise NodeSetError(f"the range {text} runs backwards, write {high}-{low}")
    if not step:
        raise NodeSetError(f"the range {text} has a step of 0")
    return text, low, high, step


def node_set(names: Sequence[str]) -> str:
    """The names as ClusterShell and Slurm write them: sorted, without steps; empty for none."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    return str(NodeSet.fromlist(list(names), resolver=RESOLVER_NOGROUP)) if names else ""


def fold(names: Sequence[str]) -> str:
    """A node set that `expand` turns into exactly these names in this order: `gpu-[001-064]`.

    Runs of names that differ in their last number, by an even step, become one range.
    """
    pieces: list[str] = []
    at = 0
    while at < len(names):
        end, text = _longest_run(names, at)
        pieces.append(text)
        at = end
    return ",".join(pieces)


def _longest_run(names: Sequence[str], start: int) -> tuple[int, str]:
    """The end of the run of names that starts here, and its text."""
    first = _NUMBER.match(names[start])
    if not first:
        return start + 1, names[start]
    prefix, digits, suffix = first.groups()
    end, step, last = start + 1, 0, int(digits)
    while end < len(names):
        following = _NUMBER.match(names[end])
        if not following or following[1] != prefix or following[3] != suffix:
            break
        gap = int(following[2]) - last
        if gap <= 0 or (step and gap != step) or following[2] != str(last + gap).zfill(len(digits)):
            break
        step, last, end = gap, last + gap, end + 1
    if end == start + 1 or (end == start + 2 and step > 1):
        return start + 1, names[start]
    width = len(digits)
    stride = f"/{step}" if step > 1 else ""
    return end, f"{prefix}[{digits}-{str(last).zfill(width)}{stride}]{suffix}"
