"""Normalizes names of devices, ports and MACs, so that two spellings of one thing compare equal.

Nothing here uses a plan or a device: these are functions of text. `identity` decides which device a name means.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

_MAC_HEX = re.compile(r"[0-9a-fA-F]{12}")
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_NUMBERS = re.compile(r"(\d+)")
_SERIAL_SUFFIX = re.compile(r"\([^()]*\)\s*$")
_LONG_WORDS = {
    "hu": ("hundredgigabitethernet", "hundredgige", "hge"),
    "fh": ("fourhundredgigabitethernet", "fourhundredgige", "fhge"),
    "twe": ("twentyfivegigabitethernet", "twentyfivegige", "tfgigabitethernet", "wge", "tf"),
    "te": ("tengigabitethernet", "tengige", "xgigabitethernet", "xge"),
    "fo": ("fortygigabitethernet", "fortygige", "fge"),
    "gi": ("gigabitethernet", "ge"),
    "fa": ("fastethernet",),
    "th": ("twohundredgigabitethernet", "twohundredgige"),
    "eh": ("eighthundredgigabitethernet", "eighthundredgige"),
    "mgmt": ("management",),
    "ethernet": ("eth", "et", "e"),
}
"""The field's own short and long forms, Comware's and VRP's short ones, that of 25 Gb/s of IOS-XR and RGOS (`tf`)."""
_PORT_WORDS = {long: short for short, words in _LONG_WORDS.items() for long in words}
_PADDED = re.compile(r"(?<!\d)0+(?=\d)")
_PORT_SHAPE = re.compile(r"^([a-z]+(?:-[a-z]+)*)[ _]?(\d[\d/:.]*)$")
DEFAULT_NAMES = frozenset(
    ("amnesiac", "cumulus", "debian", "linux", "localhost", "router", "sonic", "switch", "ubuntu")
)
"""Default short names: Junos, Cumulus, SONiC, EOS and NX-OS, Linux distributions."""
_DPU_FIRST = re.compile(r"(?:dpu|bf|bluefield)(?P<number>\d{0,2})[-_.](?P<host>[^.]+)(?:\..*)?", re.IGNORECASE)
_DPU_LAST = re.compile(r"(?P<host>[^.]+)[-_](?:dpu|bf|bluefield)[-_]?(?P<number>\d{0,2})(?:\..*)?", re.IGNORECASE)
_UNSAFE = re.compile(r"[^A-Za-z0-9.\-]+")
_OCTETS = re.compile(r"[0-9a-fA-F]{1,2}(?::[0-9a-fA-F]{1,2}){5}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_LAST_NUMBER = re.compile(r"(.*?)(\d*)(\D*)\Z", re.DOTALL)
MOST_RANGES = 8
"""Maximum number of similar names and ranges of names in a sentence."""
CUT_NAME = "..."
"""At the end of a name that a switch has shortened to its table's column, as OS10 does."""
CUT_COLUMN = 20
"""Characters of a name in IOS' table of neighbours, which cuts it without a mark (ntc-templates, issue 375)."""


def canonical_mac(text: str) -> str | None:
    """`b8:ce:f6:00:01:02` from any usual spelling (colons, dashes, Cisco dots, bare hex; Dell OS10 prints octets
    without their zero, `4:17:eb:f7:6:c4`), or None if it is not a MAC.
    """
    bare = text.strip().lower().removeprefix("0x").replace(":", "").replace("-", "").replace(".", "").replace(" ", "")
    if len(bare) != 12 or not _MAC_HEX.fullmatch(bare):
        octets = _OCTETS.fullmatch(text.strip())
        return ":".join(octet.zfill(2) for octet in text.strip().lower().split(":")) if octets else None
    return ":".join(bare[i : i + 2] for i in range(0, 12, 2))


def is_plain_name(text: str) -> bool:
    """Whether a text has letters, digits, `_` and `-` alone, at most 64: it names a zone or a poller."""
    return bool(_PLAIN.fullmatch(text))


@lru_cache(maxsize=65536)
def device_key(name: str) -> str:
    """The normalized device name for look-ups: lower case, without surrounding blanks and NX-OS' `(SERIAL)`."""
    return _SERIAL_SUFFIX.sub("", name.strip().rstrip(".")).strip().lower()


def host_of_dpu(name: str) -> tuple[str, int | None]:
    """The host's name and the number inside the name of its DPU: `gpu-001` of `dpu-gpu-001`, and 3 of `gpu-001-bf3`;
    empty and None where there is none.
    """
    found = _DPU_FIRST.fullmatch(name.strip()) or _DPU_LAST.fullmatch(name.strip())
    return (found["host"], int(found["number"]) if found["number"] else None) if found else ("", None)


def short_name(key: str) -> str:
    """The host part of a fully qualified name; an address stays unchanged (`10.0.0.1` is not host `10`)."""
    head, dot, _ = key.partition(".")
    return head if dot and not key.replace(".", "").isdigit() else key


@lru_cache(maxsize=65536)
def port_key(name: str) -> str:
    """The normalized port name for look-ups: `Ethernet1/1`, `Eth1/1`, `Et1/1` and `E1/1` are one port, `swp1` and
    `swp01` too.

    `eth0` without a slash is a kernel's interface and never SONiC's `Ethernet0`. Only forms that vendors print
    interchangeably are unified; whether `Ethernet0` and SONiC's alias `etp1` are one port follows from the device's own
    report (see `claims`), never from their spelling.
    """
    low = name.strip().strip('"').lower()
    shape = _PORT_SHAPE.match(low)
    if not shape:
        return low
    word, number = shape[1].replace("-", ""), _PADDED.sub("", shape[2])
    return low if word == "eth" and number.isdigit() else _PORT_WORDS.get(word, word) + number


@lru_cache(maxsize=65536)
def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key under which `swp2` comes before `swp10`."""
    parts = filter(None, _NUMBERS.split(name))
    return tuple((0, int(part), "") if part.isdigit() and part.isascii() else (1, 0, part) for part in parts)


@lru_cache(maxsize=4096)
def answer_file(command: str) -> str:
    """The file name of a command's answer in a capture, as in sosreport.

    Every run of characters outside `[A-Za-z0-9.-]` becomes one underscore: `show lldp neighbors detail | json` is
    `show_lldp_neighbors_detail_json`.
    """
    return _UNSAFE.sub("_", command.strip())


def _escaped(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def printable(text: str, limit: int = 200) -> str:
    """Foreign text made safe to show in one line: control characters, escapes, direction marks shown as `\\xNN`
    or `\\uNNNN`, cut at `limit`.
    """
    clean = _CONTROL.sub(_escaped, text[: limit + 1])
    return clean if len(text) <= limit and len(clean) <= 4 * limit else clean[:limit] + "…"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address."""
    from ipaddress import ip_address

    with suppress(ValueError):
        return host == "localhost" or ip_address(host).is_loopback
    return False


def folded(names: Iterable[str]) -> str:
    """Names with their last number as a range: `gpu-[003-064], leaf-7`."""
    parts = [_LAST_NUMBER.findall(name)[0] for name in sorted(names, key=natural_key)]
    keyed = [((head, tail, int(last) - at if last else None), last) for at, (head, last, tail) in enumerate(parts)]
    shown = []
    for (head, tail, _), run in groupby(keyed, key=itemgetter(0)):
        numbers = [number for _, number in run]
        many = numbers[0] != numbers[-1]
        shown.append(f"{head}[{numbers[0]}-{numbers[-1]}]{tail}" if many else f"{head}{numbers[0]}{tail}")
    return some(shown, MOST_RANGES)


def some(names: Sequence[str], most: int = 4, more: str = " and {:,} more", between: str = ", ") -> str:
    """The first few names, and how many more there are."""
    left = len(names) - most
    return between.join(names[:most]) + (more.format(left) if left > 0 else "")


def clauses(parts: Sequence[str], most: int) -> str:
    """The first few parts of a sentence, and how many more there are."""
    return some(parts, most, "; and {:,} more", "; ")


_FIGURE = re.compile(r"(?<![\w/-])\d[\d.,]*")


def without_figures(text: str) -> str:
    """A sentence without its figures, which may change with every round; those in names stay."""
    return _FIGURE.sub("", text)
