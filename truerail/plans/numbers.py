"""Numbers as plan files write them, and how large they may be."""

import math
import re
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from typing import TypeVar

from truerail.files.problems import Faults
from truerail.files.yaml_values import Values, whole
from truerail.model.yaml_tree import Node

T = TypeVar("T")

MOST_RAILS = 1024
MOST_PLANES = 64
MOST_GPUS = 1024
HIGHEST_VLAN = 4094
"""IEEE 802.1Q: 0 and 4095 are reserved."""
HIGHEST_DSCP, HIGHEST_PRIORITY = 63, 7
"""RFC 2474; IEEE 802.1Q."""
MOST_MTU, MOST_BYTES = 65535, 999_999_999

_SPEED = re.compile(
    r"(\d{1,6}(?:\.\d{1,3})?) ?(?:([GT]?)(?:b/s|bps)?|([GT])(?:b|be|e|bit/s))", re.ASCII | re.IGNORECASE
)
SPEED_EXPECTED = "expected a speed in Gb/s such as 400, 400G or 1.6T"


def speed_gbps(text: str) -> float | None:
    """Gb/s from `400`, `400G`, `1.6T`, `100 Gb/s`, `100GbE`; None where it is no speed above 0."""
    shape = _SPEED.fullmatch(text.strip())
    tera = shape is not None and (shape[2] or shape[3]) in ("T", "t")
    value = float(shape[1]) * (1000.0 if tera else 1.0) if shape else 0.0
    return value or None


def speed_of(node: Node | None, values: Values) -> float | None:
    """The speed that a plan in YAML gives, in Gb/s."""
    return values.read(node, speed_gbps, SPEED_EXPECTED)


def metres(text: str) -> float | None:
    """A length in metres, above 0 and finite; None where it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


LinkValues = tuple[int | None, int | None, float | None, float | None]
"""Rail, plane, speed in Gb/s, length in metres."""


def link_values(words: Mapping[str, str], line: int, faults: Faults) -> LinkValues:
    """What a cable's words `rail`, `plane`, `speed` and `length_m` say; those that say nothing are faults."""

    def read(name: str, value: Callable[[str], T | None], expected: str) -> T | None:
        text = words.get(name, "")
        found = value(text) if text else None
        if text and found is None:
            faults.add(line, text, expected)
        return found

    def number(name: str, most: int) -> int | None:
        return read(name, lambda text: whole(text, most), f"expected {name} as a whole number from 0 to {most}")

    rail, plane = number("rail", MOST_RAILS), number("plane", MOST_PLANES)
    speed, length = read("speed", speed_gbps, SPEED_EXPECTED), read("length_m", metres, "expected a length in metres")
    return rail, plane, speed, length


def plain(value: float | None) -> str:
    """A number as a plan file writes it: `400`, `1.5`, empty for None."""
    return "" if value is None else repr(value).removesuffix(".0")


def subnet_fault(text: str) -> str:
    """Why this is no subnet such as `10.0.0.0/16`; empty where it is one."""
    try:
        ip_network(text)
    except ValueError as error:
        return f"expected a subnet such as 10.0.0.0/16: {str(error).partition(' ')[2]}"
    return "" if "/" in text else "expected a subnet such as 10.0.0.0/16"
