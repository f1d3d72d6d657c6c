"""Tables as text: labels, a ruler and cells, and rows that are recognised by a MAC address."""

import re
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from typing import NamedTuple

from collector.formats.text import lines
from truerail.errors import UnreadableError
from truerail.model.names import canonical_mac

# ----------------------------------------------------------------------------------------------------------------------
# Tables as SONiC prints them (Python's `tabulate`, style "simple"): labels, a ruler with a run for each, rows.
#
# Two or more blanks separate cells, which contain at most one (`2000.00 MB/s`): cells are split at blanks, not by
# position, since documentation and tickets skew the columns. A row with fewer cells than the header has labels is cut.

_RULED_RULER = re.compile(r"[ \t]*-{2,}(?:[ \t]+-{2,})*[ \t]*")
_UNRULED = re.compile(r"[ \t]*IFACE[ \t]+STATE[ \t]+[RT]X_")  # SONiC's port counters; `grep` leaves no ruler
_GAP = re.compile(r"[ \t]{2,}")
_PROMPT = re.compile(r"\S+@\S+[#$>]|\S+[#$>]$")
_LONGEST_PROMPT = 200


class Row(NamedTuple):
    """The 1-based number of a line, and its cells."""

    line: int
    cells: list[str]


class Table(NamedTuple):
    """A table: its labels in lower case, its rows, and the last line with text above it."""

    labels: tuple[str, ...]
    rows: list[Row]
    title: str

    def column(self, label: str) -> int:
        """The number of a column; -1 if the table lacks it."""
        return self.labels.index(label) if label in self.labels else -1


def sure(cells: list[str], *, last: bool) -> list[str]:
    """The cells of a row; of the last row of an answer without a line feed the last cell may be cut: it is `N/A`, which
    is not reported, unless it is 0.
    """
    return [*cells[:-1], "N/A"] if last and cells[-1] != "0" else cells


def cells_at(line: str, starts: Sequence[int]) -> list[str]:
    """The cells of a line, which begin in these columns."""
    return [line[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]


def tables(answer: str) -> list[Table]:
    """All tables in an answer, with any text between them. Raises `UnreadableError` if a row is cut.

    If the answer ends inside a line, its last cell may have lost digits: it is then not reported, unless it is 0.
    """
    text = lines(answer) if "--" in answer or "IFACE" in answer else []
    found: list[Table] = []
    table: Table | None = None
    above = ""
    for at, line in enumerate(text):
        below = text[at + 1] if at + 1 < len(text) else ""
        if (ruled := _RULED_RULER.fullmatch(below)) or (below.strip() and _UNRULED.match(line)):
            table = _begun(line, below if ruled else line, above)
            found.extend([table] if table else [])
        elif table and line.strip() and not _RULED_RULER.fullmatch(line):
            if cells := _cells(table, line, at + 1):
                table.rows.append(Row(at + 1, cells))
            else:
                table = None
        above = line.strip() or above
    _doubt(found, text)
    return found


def rows(found: Sequence[Table], *labels: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and the cells below these labels, from each table that has all of them."""
    for table in found:
        places = [table.column(label) for label in labels]
        if -1 not in places:
            yield from ((row.line, [row.cells[place] for place in places]) for row in table.rows)


def _begun(header: str, ruler: str, above: str) -> Table | None:
    """The table below a header, whose labels documentation may set one blank apart."""
    split = (_GAP.split(header.strip().lower()), header.lower().split())
    labels = next((labels for labels in split if len(labels) == len(ruler.split())), None)
    return Table(tuple(labels), [], above) if labels else None


def _cells(table: Table, line: str, number: int) -> list[str]:
    """The cells of a row; empty for a line of text, which ends the table."""
    stripped = line.strip()
    cells = _GAP.split(stripped)
    if len(cells) == len(table.labels) and not (len(cells) == 1 and " " in stripped):
        return cells
    if _PROMPT.match(stripped[:_LONGEST_PROMPT]) or (len(cells) == 1 and " " in stripped):
        return []
    raise UnreadableError(
        f"a row of {len(cells)} of {len(table.labels)} cells: the table is cut", line=number, text=line
    )


def _doubt(found: Sequence[Table], text: Sequence[str]) -> None:
    """Marks the last cell as not reported if the answer ends inside its row."""
    last = found[-1].rows[-1] if found and found[-1].rows else None
    if last and last.line == len(text) and last.cells[-1] != "0":
        last.cells[-1] = "N/A"


# ----------------------------------------------------------------------------------------------------------------------
# Rows of text tables with MAC addresses: the words of a row, whatever the network OS and the order of its columns.
#
# MAC tables and ARP tables have many layouts and few kinds of words: one MAC, one port, perhaps one IP address, a VLAN,
# a type. A row is recognized by its MAC. In a table with drawn borders (Nokia SR Linux) text that does not fit into a
# cell continues in the next row, even inside MACs and names. The last word of an answer without a line feed behind it
# may be cut: of it only a MAC and a word of letters count, and of Linux' rows, whose last word decides, none.

_MAC = re.compile(
    r"[0-9a-fA-F]{1,2}(?::[0-9a-fA-F]{1,2}){5}|[0-9a-fA-F]{2}(?:-[0-9a-fA-F]{2}){5}|[0-9a-fA-F]{4}([.-])[0-9a-fA-F]{4}\1[0-9a-fA-F]{4}"
)
_PORT = re.compile(r"[A-Za-z][A-Za-z.-]* ?\d[\w/.:-]*|\d{1,3}/[\d/.:]*\d|\d{2,3}GE\d[\d/.:]*")
_WORD = re.compile(
    r"(?:Gi|Te|Tf|Twf|Fo|Fi|Hu|Ma|Po|Vl|Eth|Trunk|AggregatePort|[A-Za-z]{0,12}GigabitEthernet) "
    r"\d(?:[\d:]|/(?: ?(?=\d)))*(?!\S)|\S+"
)
"""Dell OS9, Edgecore and RGOS print a blank between the kind of a port and the number, Edgecore one within: `1/ 4`."""
_STATION_RULER = re.compile(r"[ \t]*\+(?:=+\+)+[ \t]*")
_WHOLE_NAME = re.compile(r"[a-z][a-z-]*\d+(?:/\d+)*")
_NOT_A_PORT = re.compile(r"[A-Z]-\d|\d+/-|\d+[dhms]|icmpv6", re.IGNORECASE)
_VLAN = re.compile(r"([0-9]{1,5})(?:/-){0,2}")
"""VRP prints what else a row may have behind the VLAN: `10/-/-`."""
_NXOS = re.compile(r"^-{4,}\+-{17}\+-", re.MULTILINE)  # the ruler of its MAC table, whose heading may come again
_HEADING = re.compile(
    r"^(?=.*(?:mac|hw|hardware|lladd?r|address))(?=.*(?:port|interface|iface|type))(?:\D|(?<=ipv)[46])*$"
)
"""Labels of columns, in small letters."""
_PART_OF_TABLE = re.compile(r"(?!total).*\b(?:vrf|context|instance|domain|vlan|slot|location|\d+/\S*cpu\d+)\b")
"""What comes above each of several tables of one device, in small letters. A total below one may name it again."""
_TIME_OF_ANSWER = re.compile(r"^[MTWFS][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d\.\d{3} \S+\s*$", re.MULTILINE)
"""IOS-XR prints the time above each answer."""
_REMOTE = re.compile(
    r"(?:vxlan|vx\d|vni|nve|vtep|esi|tunnel|cpu|router|sup-?eth|vlan|bridge\d|br\d|irb|pw|loopback|nvi)", re.IGNORECASE
)
"""Ports on which no frame of a cabled device is received: tunnels to other switches, and the switch itself."""


class Station(NamedTuple):
    """One row: its 1-based line, its words, and the place of the MAC among them."""

    line: int
    words: tuple[str, ...]
    at: int

    @property
    def mac(self) -> str:
        """The MAC in its canonical form."""
        return canonical_mac(self.words[self.at]) or ""

    @property
    def ports(self) -> list[str]:
        """The words that have the form of a port's name, without commas and brackets, in their order."""
        return self.ports_without(self.at)

    def ports_without(self, place: int) -> list[str]:
        """The same, without the word in a place."""
        words = (word.strip(",[]") for at, word in enumerate(self.words) if at not in (self.at, place))
        return [word for word in words if is_port(word) and not _is_address(word)]

    @property
    def address(self) -> str | None:
        """The IP address; None if there is none."""
        return next((word for word in self.words if _is_address(word)), None)

    @property
    def of_bridge(self) -> bool:
        """Whether it is a row of `bridge fdb`, which begins with the MAC; one of `ip neigh` begins with the address."""
        return "dev" in self.words and canonical_mac(self.words[0]) is not None

    @property
    def vlan(self) -> int | None:
        """The number beside the MAC: before it, else behind it and before the port."""
        around = [*reversed(self.words[: self.at][-1:]), *self.words[self.at + 1 : self.at + 2]]
        return next((int(found[1]) for word in around if (found := _VLAN.fullmatch(word))), None)


def stations(answer: str) -> Iterator[Station]:
    """The rows with a MAC."""
    text = _unboxed(lines(answer))
    for number, line in enumerate(text, 1):
        words = tuple(word.replace("/ ", "/") for word in _WORD.findall(line))
        if number == len(text):
            words = _whole(words)
        at = next((place for place, word in enumerate(words) if _MAC.fullmatch(word)), None)
        if at is not None:
            yield Station(number, words, at)


def refuse_several(answer: str) -> None:
    """Raises `UnreadableError` where another device's table begins: a heading comes again, no line above it names
    another part of one device's table, as a VRF or a slot, and NX-OS' rows are not in order; or IOS-XR prints the time
    of a second answer; or the kernel's rows begin again (`_kernels_again`).
    """
    times = [answer.count("\n", 0, found.start()) + 1 for found in _TIME_OF_ANSWER.finditer(answer)]
    if again := times[1] if len(times) > 1 else _kernels_again(answer):
        raise UnreadableError("a second answer below the first: the answers of two devices", line=again)
    above, headings, parts = list[str](), dict[str, int](), set[str]()
    rows = stations(answer) if _NXOS.search(answer) else ()
    order = [(row.vlan or 0, row.mac) for row in rows if row.ports]
    for number, line in enumerate(lines(answer), 1):
        text = " ".join(line.lower().split())
        if not _HEADING.search(text):
            above.append(text)
            if _MAC.search(text):  # what is above a row is not above the next heading
                above.clear()
            continue
        named = set(filter(_PART_OF_TABLE.match, above)) - parts
        if number - headings.get(text, number) > 1 and not named and (not order or order != sorted(set(order))):
            raise UnreadableError("a second heading: the answers of two devices", line=number, text=text)
        above.clear()
        headings[text] = number
        parts.update(named)


def _kernels_again(answer: str) -> int:
    """The line in which rows of another kernel begin, 0 without one.

    A dump of neighbours has each address of an interface once, and the rows of each family together (Linux
    net/core/neighbour.c, neigh_dump_info). A dump of the bridge has the rows of each port together (net/core/
    rtnetlink.c, rtnl_fdb_dump), and its own MAC at the port, `permanent`, is one.
    """
    macs, families = dict[tuple[str, str], str](), list[bool]()
    ports, left, before = dict[str, str](), set[str](), ""
    for row in (one for one in stations(answer) if "dev" in one.words[:-1]) if " dev " in answer else ():
        port = row.words[row.words.index("dev") + 1]
        if not row.of_bridge and row.address:
            families += [":" in row.address] * (families[-1:] != [":" in row.address])
            if len(families) > 2 or macs.setdefault((port, row.address), row.mac) != row.mac:
                return row.line
        elif row.of_bridge:
            left |= {before} - {port}
            own = "permanent" in row.words and "master" in row.words
            if own and ports.setdefault(port, row.mac) != row.mac and port in left:
                return row.line
            before = port
    return 0


def _whole(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a line without a line feed that are sure to be whole."""
    if "dev" in words:
        return ()
    last = words[-1] if words else ""
    return words if _MAC.fullmatch(last) or last.isalpha() else words[:-1]


def _unboxed(text: list[str]) -> list[str]:
    """The same lines, each row of a table with drawn borders in its first line."""
    if not any(_STATION_RULER.fullmatch(line) for line in text):
        return text
    found, row, begun = list(text), list[str](), 0
    for at, line in enumerate(text):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.lstrip().startswith("|") or len(cells) < 3:
            row = []
        elif row and len(cells) == len(row) and _continues(cells, text[begun]):
            row = [before + more for before, more in zip(row, cells, strict=True)]
            found[begun], found[at] = f"| {' | '.join(row)} |", ""
        else:
            row, begun = cells, at
    return found


def _continues(cells: list[str], first: str) -> bool:
    """Whether a row is the rest of the one that begins in a line: it lacks a cell that this one has."""
    above = [cell.strip() for cell in first.strip().strip("|").split("|")]
    lacking = any(cell and not more for cell, more in zip(above, cells, strict=True))
    whole = bool(_MAC.fullmatch(cells[0])) or (bool(_WHOLE_NAME.fullmatch(cells[0])) and bool(cells[1]))
    return lacking and not whole


def has_title(answer: str, *words: str) -> bool:
    """Whether a line of the answer has all of these words, each one of the alternatives between `|`. A line of JSON is
    no title.
    """
    return any(
        all(any(one in line for one in word.split("|")) for word in words)
        for line in answer.lower().split("\n")
        if '"' not in line
    )


def is_port(word: str) -> bool:
    """Whether a word has the form of a port's name."""
    return _PORT.fullmatch(word) is not None and not _NOT_A_PORT.fullmatch(word)


def is_remote(port: str) -> bool:
    """Whether a port is a tunnel, or the switch itself: no cable is plugged into it."""
    return _REMOTE.match(port) is not None


def _is_address(word: str) -> bool:
    if word.count(".") != 3 and word.count(":") < 2:
        return False
    try:
        ip_address(word)
    except ValueError:
        return False
    return True
