"""LLDP neighbours in blocks of `key: value` lines, and in tables with drawn borders."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from collector.formats.lldp_tables import announced
from collector.formats.lldp_words import VALUES, advertised, local_port, neighbor
from collector.formats.text import spelled
from truerail.errors import UnreadableError
from truerail.model import Neighbor

# ----------------------------------------------------------------------------------------------------------------------
# LLDP neighbours as blocks of `key: value` lines, as most switches print them with `detail`.
#
# Parsed by key, not by vendor: NX-OS, IOS, Junos (one block per neighbour), Dell OS10, AOS-CX, Comware, VRP, RGOS. A
# block ends where a key repeats or at a line of dashes; it may contain blank lines (IOS). The local port may come
# first, last or in between; where it comes first, a further neighbour of the same port may omit it. Deeper indented
# lines are details of another key and are not read, except for addresses.

_KEYS = spelled(
    {
        "chassis_id": "chassis id",
        "chassis_type": "chassis id subtype, chassis id type, chassis type",
        "description": "port desc, port description",
        "left": "expired time",
        "name": "chassis name, system name",
        "port": "local interface, local intf, local port, local port id, port",
        "port_id": "port id",
        "port_type": "port id subtype, port id type, port subtype, port type",
        "ttl": "hold time, time to live, ttl",
    }
)
_PAIRS = {"chassisid/subtype": ("chassis_id", "chassis_type"), "portid/subtype": ("port_id", "port_type")}
"""Comware's keys without `verbose`: an id and its type in one value, the last slash between them."""
_ADDRESSES = ("management address", "ip", "ipv4", "ipv6", "address")
_LONGEST_KEY = 80  # characters with indentation; anything longer is prose
_SEPARATOR = re.compile(r"[ \t]*-{10,}[ \t]*")
_PORT_HEADING = re.compile(r"LLDP neighbor-information of port (?:\d+ ?)?\[([^\]]+)\]", re.IGNORECASE)
"""Comware's and RGOS' heading of a port."""
VRP = re.compile(
    r"^[ \t]*((?=\S*[A-Za-z])[A-Za-z\d]\S*\d) has (\d{1,4}) neighbors?(?:\(s\))?[ \t]*:?[ \t]*$", re.MULTILINE
)
"""Huawei's heading of a port, with its number of neighbours."""
_REMOTE = ("chassis_id", "port_id", "name")
_NXOS_END = "vlan id"
"""The last key of each of NX-OS' neighbours."""
_IDENTITY = frozenset((*_REMOTE, "description"))
_PORT_NAMES = frozenset({"local interface", "local intf"})
"""Keys whose value is the local port's name. Junos prints the SNMP index below, as `Local Port ID`."""


@dataclass
class _Block:
    """One neighbour as read up to here.

    `keys` are the keys as printed, to detect a repeated one; `first` is the first of them with a meaning, `last` the
    last of all; `closed` is set by a line of dashes below.
    """

    fields: dict[str, str] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    addresses: list[str] = field(default_factory=list)
    line: int = 0
    first: str = ""
    last: str = ""
    closed: bool = False
    inherited: str = ""
    """The port of the previous block, used where this block names none."""

    @property
    def speaks(self) -> bool:
        return any(name in self.fields for name in _REMOTE)


def block_neighbors(text: str, lines: Sequence[str]) -> Iterator[Neighbor]:
    """The neighbours in the blocks. Raises `UnreadableError` where a block lacks its port or the answer is cut."""
    blocks = [block for block in _blocks(lines) if block.speaks]
    total = _announced(text)
    if _is_half_a_key(lines[-1]):
        raise UnreadableError("the answer is cut", line=len(lines), text=lines[-1])
    if total is None and not blocks:
        raise UnreadableError("neither a neighbour nor a total of none")
    if len(blocks) < (total or 0):
        raise UnreadableError(f"{len(blocks)} of {total} neighbours: the answer is cut")
    if blocks:
        _refuse_cut(blocks, total)
        _refuse_strays(blocks)
    found = [_block_neighbor(block) for block in blocks]
    if blocks:
        _refuse_unfinished(blocks[-1], lines, total)
    yield from found


def _announced(text: str) -> int | None:
    """The number of neighbours that the answer announces, in total or summed over its ports."""
    ports = VRP.findall(text)
    return sum(int(count) for _, count in ports) if ports else announced(text)


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    block = _Block()
    base: int | None = None
    for number, line in enumerate(lines, 1):
        heading = _PORT_HEADING.match(line.lstrip()) or VRP.match(line)
        if heading or _SEPARATOR.fullmatch(line):
            block.closed = True
            yield block
            block = _Block(inherited=heading.group(1) if heading else "")
            continue
        printed, colon, value = line.partition(":")
        if not colon or len(printed) > _LONGEST_KEY:
            continue
        key = _plain(printed)
        indent = len(printed) - len(printed.lstrip())
        if key.startswith(_ADDRESSES):
            block.addresses.append(value)
        elif (key in _KEYS or key in _PAIRS) and base in (None, indent):
            base = indent
            if key in block.keys:
                yield block
                block = _following(block)
            _put(block, key, printed, value, number)
        block.last = key
    yield block


def _plain(printed: str) -> str:
    """A key in one spelling: `Neighbor Chassis-ID` and `Remote Chassis ID` are `chassis id`."""
    words = printed.lower().replace("-", " ").split()
    return " ".join(words[1:] if words[:1] in (["remote"], ["neighbor"], ["neighbour"]) else words)


def _put(block: _Block, key: str, printed: str, value: str, number: int) -> None:
    if not block.keys:
        block.first, block.line = printed.strip().lower(), number
    block.keys.add(key)
    if key in _PAIRS:
        found, _, kind = value.rpartition("/")
        if found and not any(map(str.isalpha, kind)):  # `HundredGigE1/0` is a part of a name
            raise UnreadableError("an id without its type", line=number, text=value.strip())
        block.fields |= dict(zip(_PAIRS[key], (found.strip(), kind.strip()), strict=True))
    elif key in _PORT_NAMES or not block.fields.get(_KEYS[key]):
        block.fields[_KEYS[key]] = value.strip()


def _following(block: _Block) -> _Block:
    """The block after `block`: of the same port, where the port comes first and is printed once for all neighbours.

    Systems that print `Local Interface` (Junos) or `Local Intf` (IOS) do so for each neighbour.
    """
    first = bool(block.inherited) or next(iter(block.fields)) == "port"
    ports_first = first and block.keys.isdisjoint(_PORT_NAMES)
    return _Block(inherited=(block.fields.get("port") or block.inherited) if ports_first else "")


def _is_half_a_key(line: str) -> bool:
    """True for an answer's last line, if it begins a key and no line feed follows."""
    begun = (*_KEYS, "remote", "neighbor")
    return bool(line.strip()) and ":" not in line and any(key.startswith(_plain(line)) for key in begun)


def _refuse_unfinished(last: _Block, lines: Sequence[str], total: int | None) -> None:
    """Raises where the last neighbour has no port id, which is mandatory in LLDP, or where no line feed follows a value
    that identifies the neighbour.

    NX-OS leaves out the port id of some neighbours (RouterOS): there the end of the block shows that it is whole.
    """
    field = _KEYS.get(_plain(lines[-1].partition(":")[0]), "")
    whole = _is_nxos(last) and (total is not None or last.last == _NXOS_END)
    if ("port_id" not in last.fields and not whole) or (lines[-1].strip() and field in _IDENTITY):
        raise UnreadableError("the last neighbour is cut", line=last.line)


def _refuse_cut(blocks: Sequence[_Block], total: int | None) -> None:
    """Raises where the last block lacks the line that ends every block.

    That is the line of dashes in OS10, `Vlan ID` in NX-OS where no total follows, `TTL` in AOS-CX with its total first,
    `Expired time` in VRP.
    """
    last = blocks[-1]
    short_of_dashes = last.first.startswith("remote ") and not last.closed
    short_of_vlan = _is_nxos(last) and total is None and last.last != _NXOS_END
    short_of_ttl = last.first == "port" and total is not None and "ttl" not in last.fields
    vrp = bool(last.inherited) and last.first == "chassis type" and total is not None
    short_of_expiry = vrp and "left" not in last.fields
    if short_of_dashes or short_of_vlan or short_of_ttl or short_of_expiry:
        raise UnreadableError("the last neighbour is cut", line=last.line)


def _is_nxos(block: _Block) -> bool:
    return block.first == "chassis id" and "local port id" in block.keys


def _refuse_strays(blocks: Sequence[_Block]) -> None:
    """Raises where a neighbour has no chassis id although the first has one: the id is mandatory in LLDP, so this is
    half a neighbour, or a detail of the previous one without its indentation."""
    if "chassis_id" in blocks[0].fields:
        for block in blocks:
            if "chassis_id" not in block.fields:
                raise UnreadableError("a neighbour without chassis id: cut, or indentation lost", line=block.line)


def _block_neighbor(block: _Block) -> Neighbor:
    found = block.fields
    port = found.get("port") or block.inherited
    if not port:
        raise UnreadableError("a neighbour without a local port", line=block.line)
    if not (advertised(found.get("port_id")) or advertised(found.get("chassis_id"))):
        raise UnreadableError("a neighbour without chassis id and port id", line=block.line)
    return neighbor(local_port(port), map(found.get, VALUES), block.addresses)


# ----------------------------------------------------------------------------------------------------------------------
# LLDP neighbours in a table with drawn borders: Nokia SR Linux' `show system lldp neighbor`.
#
# The labels stand between `+---+` and `+===+`, on one or two lines; columns differ between releases. Text that does not
# fit into a cell continues on the next line, even inside MACs and names, with an empty port cell. A table without its
# lower border is cut. Sources: answers in containerlab's and clabernetes' documentation.

_BORDER = re.compile(r"[ \t]*\+(?:-+\+)+[ \t]*")
_BELOW_LABELS = re.compile(r"[ \t]*\+(?:=+\+)+[ \t]*")
_FIELDS = {
    "name": "port",
    "interface": "port",
    "neighborsystemname": "name",
    "neighborchassisid": "chassis_id",
    "neighborport": "port_id",
}
"""Labels without blanks, since a line break may replace a blank."""
_PORT = re.compile(r"[a-z][a-z-]*\d+(?:/\d+)*")
Row = dict[str, str]


def is_table(rows: Sequence[str]) -> bool:
    """Whether these lines contain the labels of such a table."""
    return any(_BELOW_LABELS.fullmatch(line) for line in rows)


def boxed_neighbors(rows: Sequence[str]) -> Iterator[Neighbor]:
    """The neighbours in all such tables. Raises `UnreadableError` with the line if a table is cut or shows something
    else."""
    for at, line in enumerate(rows):
        if _BELOW_LABELS.fullmatch(line):
            for row, number in _table(rows, at):
                yield _boxed_neighbor(row, number)


def _table(rows: Sequence[str], ruler: int) -> Iterator[tuple[Row, int]]:
    """The rows of the table whose labels end at this line, and the lines where they begin."""
    above = next((at for at in range(ruler - 1, -1, -1) if _BORDER.fullmatch(rows[at])), 0)
    labels = zip(*[_cells(line, at) for at, line in enumerate(rows[above + 1 : ruler], above + 2)], strict=False)
    fields = [_FIELDS.get("".join(parts).replace(" ", "").lower(), "") for parts in labels]
    if not {"port", "chassis_id", "port_id"}.issubset(fields):
        raise UnreadableError("a table of something else than LLDP neighbours", line=above + 2, text=rows[above + 1])
    row: Row = {}
    begun = 0
    for number, line in enumerate(rows[ruler + 1 :], ruler + 2):
        if not line.strip():
            continue
        if _BORDER.fullmatch(line):
            if row:
                yield row, begun
            return
        cells = dict(zip(fields, _cells(line, number, len(fields)), strict=True))
        if cells["port"]:
            if row:
                yield row, begun
            row, begun = cells, number
        else:
            row = {field: row.get(field, "") + cell for field, cell in cells.items()}
    raise UnreadableError("the table's lower border is missing: the answer is cut", line=len(rows), text=rows[-1])


def _cells(line: str, number: int, count: int = 0) -> list[str]:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if not line.strip().startswith("|") or not line.strip().endswith("|") or (count and len(cells) != count):
        raise UnreadableError("a row that does not fit the table's labels: the answer is cut", line=number, text=line)
    return cells


def _boxed_neighbor(row: Row, number: int) -> Neighbor:
    port = row.get("port", "")
    if not _PORT.fullmatch(port):
        why = "a port's name that is broken over lines: the table is too narrow"
        raise UnreadableError(why, line=number, text=port)
    return neighbor(row["port"], map(row.get, VALUES))
