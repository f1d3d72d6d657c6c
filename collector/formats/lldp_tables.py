"""LLDP neighbours in a table of fixed-width columns, as most switches print them without `detail`.

Parsed by header, not by vendor: SONiC and OcNOS (`show lldp table`), NVUE and NCLU, EOS, NX-OS, IOS, Junos, Dell OS9
and OS10, AOS-CX, Comware, VRP, SR OS, VyOS, ICX. Traps:

- columns come from the ruler where it has one run of dashes per column (EOS rulers do not stand under their labels, but
  the cells do stand in the ruler's runs, unless edited by hand), otherwise from the labels;
- a table in a document may be indented as a whole and followed by prose;
- a cell that overflows pushes the rest of its row to the right; IOS cuts names at the column's end, without a blank;
- NX-OS prints a name that is too long on its own line, Comware wraps cells over several lines;
- SR OS and ICX mark what they cut with `*` and `~`; SR OS prints a port's description behind its name and a comma;
- Junos prints a port's description where the id is a number: one of several words that overflows runs into the name;
- cells may be empty, and port names may contain a blank (`GigabitEthernet 0/2`).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from collector.formats.lldp_words import advertised, device, identified, local_port, seconds
from collector.formats.table import cells_at
from collector.formats.text import spelled
from truerail.errors import UnreadableError
from truerail.model import Neighbor
from truerail.model.names import CUT_NAME

_SCOPE = "scope"
"""SR OS' column: which bridges a neighbour's frames reach."""
_LABELS = spelled(
    {
        "chassis_id": "chassis id, chassis-id, rem chassis id, remote chassis id",
        "name": "device, device id, device-id, neighbor dev, neighbor device, neighbor device id, rem host name, "
        "remote device, remote host, remote sys name, remote system name, remotedevice, remotehost, sys-name, "
        "system name",
        "ttl": "hold-time, holdtime, ttl",
        "port": "interface, lcl port, loc portid, local, local interface, local intf, local port, local-port, "
        "localport, port",
        "port_id": "neighbor interface, neighbor intf, neighbor port id, port id, port info, port-id, rem port id, "
        "remote port, remote port id, remoteport, remoteportid",
        "description": "port description, port-desc, remoteportdescr",
        "left": "exptime(s)",
        _SCOPE: "scope",
        "": "capability, parent interface, remote ip, sw version",
    }
)
_SONIC = ("port", "name", "port_id")
_JUNOS = ("chassis_id", "port_id", "name")
"""The last columns of Junos: a description of several words that overflows leaves no sign where the name begins."""
_ABSENT = "-"
_IDS = frozenset(("port_id", "chassis_id", "name"))
"""Cells that name another neighbour if they are cut short."""
_NUMBERS = frozenset(("ttl", "left"))
"""Numeric cells: the time to live, and the remaining time (VRP), which is not used as the time to live."""
_LABEL = re.compile(
    r"(?<!\S)(?:" + "|".join(sorted(map(re.escape, _LABELS), key=len, reverse=True)) + r")(?!\S)|\S+", re.IGNORECASE
)
_RULER = re.compile(r"[ \t]*-{2,}(?:[ \t]+-{2,})+[ \t]*")
_END = re.compile(
    r"[-=]{10,}\s*$|total |number of neighbors|```|\S+@\S+[:>]|\{master|[^\s>#]{1,80}[>#]\s*(?:$|(?:show|display)\s)",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"^[ \t]*(?:total (?:entries displayed|neighbor entries|number of lldp neighbors on all ports)|number of neighbors)"
    r"[ \t]*:[ \t]*(\d{1,6})[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_FRAME = re.compile(r"[ \t]*-{60,}[ \t]*")
_GAP = re.compile(r" {2,}")
_WORD = re.compile(r"\S+")
_MAC = re.compile(r"[0-9a-f]{1,2}(?::[0-9a-f]{1,2}){5}", re.IGNORECASE)
_CUT = "..."
"""Dell's mark at the end of a name truncated to its column; the next cell follows without a blank."""
_SHORTENED = ("*", "~")
"""The same of SR OS and ICX, in the column."""

_CUT_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){1,3}-[0-9a-f]{0,11}", re.IGNORECASE)
"""OS10 truncates ids to 24 characters without a mark: what is left of a server's UUID is its model, alike on many."""

_MARKED = re.compile(r"[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}[*#]", re.IGNORECASE)
"""A chassis id of Comware with the mark of the LLDP agent that heard it."""


class Header(NamedTuple):
    """Start and content of a table's columns; `body` is the index of the first line below.

    `labels` is where the labels begin, `indent` the indentation of the whole table; other positions are relative to it.
    """

    fields: tuple[str, ...]
    starts: tuple[int, ...]
    labels: tuple[int, ...]
    body: int
    indent: int


Row = dict[str, str]


def announced(text: str) -> int | None:
    """The number of neighbours that the answer announces; None if it does not. Raises `UnreadableError` for two."""
    found = _TOTAL.findall(text)
    if len(found) > 1:
        raise UnreadableError(f"{len(found)} totals: the answers of several devices")
    return int(found[0]) if found else None


def header(lines: Sequence[str]) -> Header | None:
    """The table's header: the first line whose labels name a local port and a neighbour's name or port."""
    for index, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        labels = [(found.start(), found.group().lower()) for found in _LABEL.finditer(line[indent : indent + 500])]
        fields = [_LABELS.get(label, "") for _, label in labels]
        if "port" in fields and len({"name", "port_id", "chassis_id"}.intersection(fields)) > 1:
            starts = tuple(start for start, _ in labels)
            below = lines[index + 1] if index + 1 < len(lines) else ""
            if _RULER.fullmatch(below):
                return _ruled(line, below, Header(tuple(fields), starts, starts, index + 2, indent))
            return Header(tuple(fields), starts, starts, index + 1, indent)
    return None


def _ruled(line: str, ruler: str, labelled: Header) -> Header:
    """The header with its columns at the runs of the ruler; labels may be longer than their run."""
    if len(ruler.rstrip()) < len(line.rstrip()):
        raise UnreadableError("the ruler below the table's header is cut", line=labelled.body, text=ruler)
    indent = len(ruler) - len(ruler.lstrip())
    starts = tuple(run.start() - indent for run in re.finditer("-+", ruler))
    labels = tuple(start + labelled.indent - indent for start in labelled.labels)
    if len(starts) == len(labels):
        return labelled._replace(starts=starts, labels=labels, indent=indent)
    words = cells_at(line[indent:].lower(), starts)
    return Header(tuple(_LABELS.get(word, "") for word in words), starts, labels, labelled.body, indent)


def neighbors(text: str, lines: Sequence[str], table: Header) -> Iterator[Neighbor]:
    """The neighbours in a table. Raises `UnreadableError` if the table is cut or a row does not fit the header."""
    rows = [row for row in _rows(lines, table) if row.get("port_id") or row.get("name") or row.get("chassis_id")]
    total = announced(text)
    if total is None and _always_totalled(text, table, empty=not rows) and not (rows and _framed(lines, table)):
        raise UnreadableError("no total below the table: the answer is cut")
    if total is not None and len(rows) < total:
        raise UnreadableError(f"{len(rows)} of {total} neighbours: the answer is cut")
    if rows and lines[-1].strip():
        rows[-1] = _without_unfinished(rows[-1], lines, table)
    yield from map(_neighbor, rows)


def _without_unfinished(last: Row, lines: Sequence[str], table: Header) -> Row:
    """The last row if no line feed follows it: without its last id, which may be incomplete.

    Tools that store answers often strip the last line feed, so the rest of the row counts. Raises if the row names no
    neighbour without that id, or ends before the neighbour's port.
    """
    open_ids = {field for field, cell in last.items() if cell and field in _IDS and lines[-1].rstrip().endswith(cell)}
    wrapped = table.fields[0] == "name" and not _NUMBERS.intersection(table.fields)
    rest = {field: cell for field, cell in last.items() if field not in open_ids}
    if "port_id" in table.fields and (not last.get("port_id") or wrapped or not _names_someone(rest)):
        raise UnreadableError("the last row is cut", line=len(lines), text=lines[-1])
    return rest if "port_id" in table.fields else last


def _names_someone(row: Row) -> bool:
    return bool(row.get("name") or row.get("chassis_id"))


def _always_totalled(text: str, table: Header, *, empty: bool) -> bool:
    """SONiC, OcNOS and SR OS always print a total; IOS and NX-OS too, but text without it still ends with a whole row.

    A header that begins like SONiC's and has neither a time nor a chassis id is SONiC's, or another one that was cut.
    """
    start = table.fields[: len(_SONIC)]
    sonic = start == _SONIC[: len(start)] and not {"ttl", "left", "chassis_id"}.intersection(table.fields)
    cisco = table.fields[0] == "name" and "ttl" in table.fields
    return sonic or _SCOPE in table.fields or (cisco and (empty or not text.endswith("\n")))


def _framed(lines: Sequence[str], table: Header) -> bool:
    """Whether the labels stand between two rulers, as in `show lldp table` of `sonic-cli`, which prints no total."""
    around = lines[table.body - 2 : table.body + 1 : 2] if table.body > 1 else ()
    return len(around) > 1 and all(_FRAME.fullmatch(line) for line in around)


def _rows(lines: Sequence[str], table: Header) -> list[Row]:
    rows: list[Row] = []
    said, name = rows.copy(), ""
    above = lines[max(0, table.body - 2) : table.body]
    labels = [" ".join(line.split()) for line in above if not line.lstrip().startswith("==")]
    for number, raw in enumerate(lines[table.body :], table.body + 1):
        line = raw[table.indent :] if not raw[: table.indent].strip() else raw.lstrip()
        if not line.strip() or (rows == said and not line.strip("- ")):
            continue
        words = " ".join(line.split())
        if words in labels or (number == len(lines) and any(label.startswith(words) for label in labels)):
            said = rows.copy()
            continue  # a pager or a second answer repeats the labels; the last line may be cut
        if _END.match(line.lstrip()):
            if header(lines[number:]):
                raise UnreadableError("a second table below the first: the answers of two devices", line=number)
            break
        if table.fields[0] == "name" and not line[0].isspace() and len(line.split(None, 1)) == 1:
            following = next((lines[at] for at in range(number, len(lines)) if lines[at].strip()), "")[table.indent :]
            if rows and not following[:1].isspace() and "ttl" not in table.fields:
                _continue(rows[-1], {"name": line.strip()})
            else:
                name = line.strip()
            continue
        row = _cells(line, number, table)
        if row.get("port") and not row["port"].strip("-"):
            raise UnreadableError("a ruler with words beside it", line=number, text=line)
        if name:
            row, name = {**row, "name": name}, ""
        if row.get("port"):
            rows += [row] if row not in said else []
        elif rows:
            _continue(rows[-1], row)
        else:
            raise UnreadableError("a row without a local port", line=number, text=line)
    return _whole(rows, name, lines)


def _continue(row: Row, more: Row) -> None:
    for field, cell in more.items():
        row[field] = row.get(field, "") + cell


def _whole(rows: list[Row], name: str, lines: Sequence[str]) -> list[Row]:
    """The rows, unless the last one is cut: a name without its row, or a row that ends before its neighbour's port."""
    last = rows[-1] if rows else {}
    if name or (rows and not last.get("port_id") and not last.get("name") and not last.get("chassis_id")):
        raise UnreadableError("the last row is cut", line=len(lines), text=name or last["port"])
    if len(rows) > 1 and not last.get("port_id") and all(row.get("port_id") for row in rows[:-1]):
        raise UnreadableError("the last row is cut", line=len(lines), text=last["port"])
    return rows


def _cells(line: str, number: int, table: Header) -> Row:
    starts, count = table.starts, len(table.starts)
    slices = cells_at(line, starts)
    joined = [start for start in starts if 0 < start < len(line) and not line[start - 1].isspace()]
    if not joined and not _astride(line, table) and _fits(slices, table):
        return _row(slices, table)
    cells, words = _GAP.split(line.strip()), list(_WORD.finditer(line))
    if len(cells) == count and _fits(cells, table):
        return _row(cells, table)
    if len(words) == count and _pushed(_begins(words, table), table):
        cells = [word.group() for word in words]
        if _fits(cells, table):
            return _row(cells, table)
    cut_names = table.fields[0] == "name" and "ttl" in table.fields and joined == [*starts[1:2]]
    if _fits(slices, table) and (cut_names or all(line[:start].endswith(_CUT) for start in joined)):
        return _row(slices, table)
    if table.fields[-len(_JUNOS) :] == _JUNOS and _MAC.fullmatch(slices[-len(_JUNOS)]):
        return _row([*slices[:-2], _ABSENT, _ABSENT], table)
    raise UnreadableError("a row that does not fit the table's header", line=number, text=line)


def _begins(words: Sequence[re.Match[str]], table: Header) -> list[int]:
    """Where the words begin; OS10 prints its chassis ids one column left of their label, there is no second blank."""
    return [
        word.start() + (field == "chassis_id" and word.start() == start - 1 and bool(_MAC.fullmatch(word.group())))
        for word, field, start in zip(words, table.fields, table.starts, strict=True)
    ]


def _pushed(begin: Sequence[int], table: Header) -> bool:
    """Whether no word begins left of its column: a cell that overflows only pushes others to the right.

    If a word begins further left, words are not cells: `Te 1/3` is one cell of two words. From the time to live on, a
    number that `_fits` has checked, edits by hand may have moved the cells. EOS' cells may stand below their labels
    where its ruler does not.
    """
    sure = table.fields.index("ttl") if "ttl" in table.fields else len(begin)
    return any(
        all(at >= start for at, start in zip(begin[:sure], starts, strict=False))
        for starts in (table.starts, table.labels)
        if len(starts) == len(begin)
    )


def _astride(line: str, table: Header) -> bool:
    """Whether a cell begins below its label but in the middle of a run of the ruler."""
    for label in table.labels:
        column = max((start for start in table.starts if start <= label), default=0)
        if line[label - 1 : label].isspace() and line[label : label + 1].strip() and line[column:label].strip():
            return True
    return False


def _fits(cells: Sequence[str], table: Header) -> bool:
    """False if a numeric cell contains anything else: the row's cells are not below the header's labels."""
    return all(cells[at].isdigit() for at, field in enumerate(table.fields) if field in _NUMBERS)


def _row(cells: Sequence[str], table: Header) -> Row:
    return {field: cell for field, cell in zip(table.fields, cells, strict=True) if field}


def _neighbor(row: Row) -> Neighbor:
    name = _marked_alike(row.get("name", ""))
    chassis = _identified(row.get("chassis_id", ""))
    who = (*chassis, advertised(name)) if chassis[0] else device(name)
    return Neighbor(
        local_port(row["port"]),
        *who,
        *_identified(row.get("port_id", "").partition(",")[0] if _SCOPE in row else row.get("port_id", "")),
        advertised(row.get("description")),
        seconds(row.get("ttl")),
    )


def _marked_alike(name: str) -> str:
    return name[:-1] + CUT_NAME if name.endswith(_SHORTENED) else name


def _identified(cell: str) -> tuple[str | None, str | None]:
    if _MARKED.fullmatch(cell):
        return identified(cell[:-1])
    return (None, None) if _CUT_UUID.fullmatch(cell) or cell.endswith(_SHORTENED) else identified(cell)
