"""Column headers of cable lists, in whatever words, order and number of header rows they come.

A cell such as `A-Node Name`, `SRC_HCA_PORT`, `SourceRU`, `Endpoint 2 Interface Name` or `side_b_device` names an end
and a field, and so does one with the end's letter or number behind: `Device A`, `Termination B` (NetBox), `port_2`.
Without either the columns stand in two blocks: the second begins where a field repeats itself, or where the row above
says Source and Dest. Where none of this gives both ends, two columns name devices by what they are (`Server`, `Switch`)
and two their ports: `Switch Port`, or `NIC` beside its device. A card has a column beside its port, or is one.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain, product

from truerail.plans.imports.translated import in_english, meanings, pattern

_SIDES, _OF_CABLE, _NOUNS = meanings("sides"), meanings("of_cable"), meanings("nouns")
FIELDS = meanings("fields")
"""What a column says of an end."""
_LAST = {"a": "a", "1": "a", "b": "b", "z": "b", "2": "b"}
"""What ends a cell that names its end last."""
_WORDS = re.compile(r"[\s_\-:]+|(?<=[A-Za-z])\.(?=[A-Za-z])")
_END_IN_BRACKETS = re.compile(r"\s*\(([ABZ12]|device|host|node|switch|port|interface|rack)\)$", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PREFIX = pattern("column_of_end")
_SUFFIX = re.compile(r"(.*[a-z])(?: ([abz])| ?([12]))(?: (.+))?")
_LEAST_LETTERS, _LONG = 3, 5
"""Of a word that may be misspelled, and up to which it is short."""
_ALIKE, _ALIKE_LONG = 0.75, 0.8
"""Of the letters of two words, one misspelled."""
_OTHER_WORDS = frozenset(meanings("other_words"))
"""Spelled right, though they are like words of columns."""
_JOINED = {
    f"{end}{what}": f"{end} {what}"
    for end, what in product(_SIDES, ("port", "device", "host", "node", "name", "interface", "hostname"))
    if len(end) > 1
}
"""Two words without a blank: `srcport`."""
_WORDS_OF_COLUMNS = {
    **_JOINED,
    **{word: word for known in (*_SIDES, *FIELDS, *_OF_CABLE, *_NOUNS) for word in known.split() if len(word) > 1},
    "nae": "name",
}
_OF_NAMES = pattern("column_of_names")
_OF_ID = re.compile(r"(?:(?:side|end|endpoint|termination) )?([ab])\b.* ?(?:ids?|terminations?)|terminations? ([ab])")
_PANEL = pattern("column_of_panel")
_OF_PANEL = meanings("of_panel")
_TRUNK = meanings("of_trunk")
"""What columns say of the trunk from one panel to the next."""
_SWITCHES = re.compile(r"switch|leaf|spine|tor\b")


@dataclass(slots=True)
class Header:
    """The columns of a table by field: `end["a"]` and `end["b"]` for the ends, `cable` for the cable itself."""

    end: dict[str, dict[str, int]] = field(default_factory=lambda: {"a": {}, "b": {}})
    cable: dict[str, int] = field(default_factory=dict)
    via: list[dict[str, int]] = field(default_factory=list)
    """The columns of each patch panel between the ends."""

    @property
    def complete(self) -> bool:
        """Whether both ends have a device and a port."""
        return all({"device", "port"} <= columns.keys() for columns in self.end.values())

    @property
    def lacks_ports(self) -> bool:
        """Whether both ends have a device, and one of them no port."""
        return all("device" in columns for columns in self.end.values()) and not self.complete

    @property
    def columns(self) -> set[int]:
        """All columns that have a meaning."""
        return {column for columns in (*self.end.values(), self.cable, *self.via) for column in columns.values()}


def words(cell: str) -> str:
    """A header's cell in lower case, with blanks between its words: `SourcePhysicalPort` is `source physical port`,
    `dstport` is `dst port`.
    """
    plain = in_english(cell).strip().removeprefix("#").removeprefix("Fields:").strip().replace("ToR", "Tor")
    plain = _END_IN_BRACKETS.sub(r" \1", plain)
    known = _WORDS.sub(" ", _CAMEL.sub(" ", plain)).strip().lower()
    return _JOINED.get(known, known)


def has_ids(cells: Sequence[str]) -> bool:
    """Whether a header names the ends of cables by their ids: `Termination A ID`, `a_terminations`."""
    found = [match for cell in cells if (match := _OF_ID.fullmatch(words(cell)))]
    return {"a", "b"} <= {match[1] or match[2] for match in found} and not header_of(cells).complete


@lru_cache(maxsize=4096)
def is_name(cell: str) -> bool:
    """Whether a column may hold names of devices: `Device`, `A-Hostname`, `Label`, `Asset Name`."""
    return _OF_NAMES.fullmatch(words(cell)) is not None


def end_of(cell: str) -> str:
    """The end that a header's cell names first or last, whatever else it says: `A Label`, `label_b`."""
    found = _PREFIX.fullmatch(words(cell))
    return (_SIDES.get(found[1], "") if found else "") or _LAST.get(words(cell).rpartition(" ")[2], "")


@lru_cache(maxsize=4096)
def names_column(cell: str, *, of_known: bool = False) -> bool:
    """Whether a cell is the name of a column: a field of an end or of the cable, a device or its port by what it is;
    `of_known`: not a field of what is no device's word, `foo port`.
    """
    known = words(cell)
    owner, rest = _owned(known)
    by_itself = any(known in words for words in (FIELDS, _OF_CABLE, _NOUNS)) or any(_after(known))
    return by_itself or (rest != "" and (owner in _NOUNS or not of_known))


@lru_cache(maxsize=4096)
def spelled(cell: str) -> str:
    """The name of a column that a cell is, but for a few letters: `a port` for `A-Prot`; empty where it is none, or
    spelled right.
    """
    nearest = (" ".join(map(_nearest_word, words(text).split())) for text in (cell, cell.lower()))  # `A-pOrt`
    right = next((one for one in (words(cell), *nearest) if names_column(one, of_known=True)), "")
    return "" if right == words(cell) else right


@lru_cache(maxsize=4096)
def _nearest_word(word: str) -> str:
    bare = re.sub(r"[^\w]", "", word)  # `port(s)`
    if len(bare) < _LEAST_LETTERS or not bare.isalpha() or bare in _OTHER_WORDS:
        return word
    exchanged = (f"{bare[:at]}{bare[at + 1]}{bare[at]}{bare[at + 2 :]}" for at in range(len(bare) - 1))
    near = get_close_matches(bare, _WORDS_OF_COLUMNS, 1, _ALIKE_LONG if len(bare) > _LONG else _ALIKE)
    return next((_WORDS_OF_COLUMNS[one] for one in (word, *exchanged, *near) if one in _WORDS_OF_COLUMNS), word)


def header_of(cells: Sequence[str], groups: Sequence[str] = ()) -> Header:
    """What a row says as a header; `groups` are the cells of the row above it."""
    known = [words(cell) for cell in cells]
    if not (panels := _panels(known)):
        return _header(known, groups)
    used = {column for one in panels for column in one.values()}
    header = _header(["" if column in used else cell for column, cell in enumerate(known)], groups)
    if not header.complete:  # rows of segments, whose ends are panels too
        return _header([_PANEL.sub("device", cell) for cell in known], groups)
    header.via = panels
    return header


def _panels(known: Sequence[str]) -> list[dict[str, int]]:
    """The columns of patch panels in the order of the path: `Panel A`, `Panel A Port`; `Panel`, `Port` twice. The next
    one begins with another word beside `panel`, or where a field repeats itself.
    """
    found: list[tuple[str, dict[str, int]]] = []
    for column, cell in enumerate(known):
        if cell in _TRUNK and found:
            found[-1][1].setdefault(_TRUNK[cell], column)
        elif _PANEL.search(cell):
            rest = _PANEL.sub(" ", cell).split()
            what = next((_OF_PANEL[word] for word in rest if word in _OF_PANEL), "device")
            which = " ".join(word for word in rest if word not in _OF_PANEL)
            mine = next((columns for name, columns in reversed(found) if name == which and what not in columns), None)
            if mine is None:
                found.append((which, mine := {}))
            mine[what] = column
        elif cell == "port" and known[column - 1] and found and found[-1][1] == {"device": column - 1}:
            found[-1][1]["port"] = column
    return [columns for _, columns in found if columns.keys() & {"device", "port"}]


def _header(known: Sequence[str], groups: Sequence[str]) -> Header:
    sides = _grouped([words(cell) for cell in groups], len(known))
    if any(sides):
        header = _in_groups(known, sides)
    elif any(side and rest for side, rest in map(_prefixed, known)):
        header = _with_ends(known, _prefixed)
    else:
        first = next((cell for cell in known if cell in FIELDS), "")
        again = [column for column, cell in enumerate(known) if cell == first][1:2] if first else []
        blocks = (_in_blocks(known, column) for column in again)
        header = next((header for header in blocks if header.complete), _in_blocks(known))
    if header.complete or any(sides):
        return header
    devices = (column for column, cell in enumerate(known) if FIELDS.get(cell) == "device")
    bare = ["" if cell == "gpu" else cell for cell in known]
    others = chain(
        (_with_ends(known, _after, loose=True), _by_nouns(bare), _by_nouns(known)),
        (_in_blocks(known, column) for column in devices),
    )
    return next((other for other in others if other.complete), header)


def _after(cell: str) -> tuple[str, str]:
    """The end that a cell names behind or within its words, and the field: `port a`, `device 1 name`. `side a` has no
    field.
    """
    found = _SUFFIX.fullmatch(cell)
    named = [f"{found[1]} {found[4]}", found[4], found[1]] if found and found[4] else [found[1]] if found else []
    what = next((FIELDS[name] for name in named if name in FIELDS), "")
    return (_LAST[found[2] or found[3]], what) if found and what else _prefixed(cell)


def _by_nouns(known: Sequence[str]) -> Header:
    """Two devices by what they are. A port's column begins with its device's word, or is right of its device."""
    ends: dict[str, dict[str, int]] = {}
    cable: dict[str, int] = {}
    latest = ""
    cards = [cell for cell in known if FIELDS.get(cell) == "card"]
    card_of = ""
    for column, cell in enumerate(known):
        noun = cell.removesuffix(" name").removesuffix(" hostname")
        owner, rest = _owned(cell)
        if noun in _NOUNS and "device" not in ends.get(noun, {}):
            begun = next((of for of in ends if _same(noun, of) and "device" not in ends[of]), noun)
            ends[noun], latest = {**ends.pop(begun, {}), "device": column}, noun
        elif rest and latest and len(ends) == 2 and _SIDES.get(owner) == "b":  # `connected to`, `remote interface`
            ends[latest].setdefault(FIELDS[rest], column)
        elif rest and (owner in _NOUNS or any(_same(of, owner) for of in ends)):
            near = owner if owner in ends else next((of for of in ends if _same(of, owner)), owner)
            ends.setdefault(near, {}).setdefault(FIELDS[rest], column)
        elif cell in _OF_CABLE:
            cable.setdefault(_OF_CABLE[cell], column)
        elif cards == [cell]:
            card_of = latest
        elif cell in FIELDS and latest:
            ends[latest].setdefault(FIELDS[cell], column)
    hosts = [noun for noun in ends if not _SWITCHES.search(noun)]
    if len(cards) == 1 and (owner := hosts[0] if len(hosts) == 1 else card_of):  # a switch has no NIC
        ends[owner].setdefault("card", known.index(cards[0]))
    for columns in ends.values():
        _settle_card(columns)
    whole = [columns for columns in ends.values() if {"device", "port"} <= columns.keys()]
    if len(whole) != 2 or any("port" in columns and "device" not in columns for columns in ends.values()):
        return Header()
    return _settled(Header({"a": whole[0], "b": whole[1]}, cable))


def _owned(cell: str) -> tuple[str, str]:
    """The device's word and the field's in `server nic port`; no field where the cell does not end with one."""
    before = cell.split(" ")
    cuts = ((" ".join(before[:at]), " ".join(before[at:])) for at in range(1, len(before)))
    return next(((owner, rest) for owner, rest in cuts if rest in FIELDS), (cell, ""))


def _same(one: str, other: str) -> bool:
    """Whether two words mean one device: `leaf switch`, `leaf`; `gpu server`, `server`."""
    short, long = sorted((one, other), key=len)
    return long.startswith(f"{short} ") or long.endswith(f" {short}")


def _prefixed(cell: str) -> tuple[str, str]:
    """The end that a cell names in front of its words, and the field, empty without more words; none for others."""
    found = _PREFIX.fullmatch(cell)
    side = _SIDES.get(found[1], "") if found else ""
    rest = (found[2] or "") if found and side else ""
    what = FIELDS.get(rest) or ("device" if rest in _NOUNS and rest != "gpu" else "")  # `source leaf`, not `source gpu`
    return (side, what) if what or (found and not found[2]) else ("", "")


def _with_ends(known: Sequence[str], parted: Callable[[str], tuple[str, str]], *, loose: bool = False) -> Header:
    """By the cells that name an end, which `parted` returns with its field. With `loose`, a port without an end is of
    the end that was named last.
    """
    header, bare, latest = Header(), dict[str, int](), ""
    for column, cell in enumerate(known):
        side, what = parted(cell)
        latest = side or latest
        if what or (loose and latest and FIELDS.get(cell) in ("port", "card")):
            header.end[latest].setdefault(what or FIELDS[cell], column)
        elif side:
            bare.setdefault(side, column)
        elif cell in _OF_CABLE:
            header.cable.setdefault(_OF_CABLE[cell], column)
    for side, column in bare.items():  # beside `source_device`, `source` is another word for it, such as its number
        header.end[side].setdefault("device", column)
    for what in () if loose else header.end["b"]:  # `hostname, local_port, remote_hostname, remote_port`
        names = (what, "name") if what == "device" else (what,)
        of_a = [column for column, cell in enumerate(known) if FIELDS.get(cell) in names]
        if len(of_a) == 1:
            header.end["a"].setdefault(what, of_a[0])
    return _settled(header)


def _in_groups(known: Sequence[str], sides: Sequence[str]) -> Header:
    header = Header()
    for column, (cell, side) in enumerate(zip(known, sides, strict=True)):
        if cell in _OF_CABLE and cell not in FIELDS:
            header.cable.setdefault(_OF_CABLE[cell], column)
        elif side and cell in FIELDS:
            header.end[side].setdefault(FIELDS[cell], column)
    return _settled(header)


def _grouped(groups: Sequence[str], width: int) -> list[str]:
    """The side of each column: a group holds until the next one begins."""
    sides, side = [], ""
    for column in range(width):
        word = groups[column] if column < len(groups) else ""
        if word:
            side = _SIDES.get(word, "")
        sides.append(side)
    return sides if {"a", "b"} <= set(sides) else []


def _in_blocks(known: Sequence[str], second: int = -1) -> Header:
    """Two blocks of columns: the second begins at column `second`, by default where a field repeats itself. The first
    of two columns `Name` in it is the unit.
    """
    header, side = Header(), "a"
    for column, cell in enumerate(known):
        word = _SIDES.get(cell, "")
        name = "device" if word else FIELDS.get(cell, "")
        if word:
            side = word
        elif cell in _OF_CABLE:
            header.cable.setdefault(_OF_CABLE[cell], column)
        elif column == second or (second < 0 and name in header.end["a"] and side == "a"):
            side = "b"
        mine = header.end[side]
        if side == "b" and "port" in mine and (second < 0 or mine.keys() & {"device", "name"}):
            continue  # what follows the second block is not about its device
        if name == "name" and "name" in mine and "unit" not in mine:
            mine["unit"] = mine.pop("name")
        if name:
            mine.setdefault(name, column)
    return _settled(header)


def _settled(header: Header) -> Header:
    """A card without a port is the port; a column `Name` is the port beside a device, else the device."""
    for mine in header.end.values():
        _settle_card(mine)
        if "name" in mine:
            column = mine.pop("name")
            mine.setdefault("port" if "device" in mine and "port" not in mine else "device", column)
    return header


def _settle_card(mine: dict[str, int]) -> None:
    if "card" in mine and "port" not in mine:
        mine["port"] = mine.pop("card")
