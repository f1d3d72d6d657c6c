"""Which NIC is near which GPU, as NVIDIA's driver prints it in a matrix.

Question: over which path does each GPU of this host reach each of its NICs?
Needs: NVIDIA's driver with `nvidia-smi`; no root. Without NICs in the matrix the answer is valid and yields nothing.

Format: a header of columns (`GPU0 ... NIC0 ... CPU Affinity NUMA Affinity GPU NUMA ID`), one row for each GPU and NIC
with one level for each column, then a legend of the levels and, since driver 525, a `NIC Legend` that maps `NIC0` to
its RDMA device. Older drivers use the devices' own names (`mlx5_0`) as columns. `-mp` prints PCI paths only, no NVLink.
Source of the format: NVIDIA's `nvidia-smi` manual, recorded answers of drivers 346 to 595.

Traps, all met in the field:

- The header may carry escapes even into a pipe, of which a paste keeps `[4m` and `[0m` without their first character.
  It may be wrapped over several lines, and its columns may be glued together (`NIC28NIC29`). Affinity cells may be
  empty, lists, or one blank apart: only the levels are read, which are never empty.
- A matrix may be pasted with a prompt before it, commented out with `#`, or inside a longer report.
- NIC rows may be missing: the matrix is symmetric, so the GPU rows are enough. A missing GPU row, a row that is too
  short or too long, an unknown level, a diagonal without `X`, or a NIC row that contradicts a GPU row mean that the
  answer is cut or mixed up: it is refused as a whole. So is a NIC legend that ends early.
- A NIC with Data Direct has a second PCIe function, with a column of its own: `DD0`, whose legend names the NIC's RDMA
  device. GPUs reach the NIC over it, so its levels are the NIC's.
- AMD's tools show no NICs: refused by name. MIG instances do not appear: the matrix stays one of physical GPUs.
"""

import re
from collections.abc import Sequence

from collector.formats.text import PASTED, lines
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import Command, Device, GpuNicPath, Role, collector, minutes, saved_as

_LEVELS = frozenset(
    ("X", "SYS", "SOC", "NODE", "PHB", "PXB", "PSB", "PIX", "C2C", *(f"NV{links}" for links in range(1, 65)))
)
_AFFINITY = frozenset(("CPU", "NUMA", "GPU"))
"""The words that follow the columns of levels: `CPU Affinity`, `NUMA Affinity`, `GPU NUMA ID`."""
_GPU = re.compile(r"GPU\d{1,4}")
_ESCAPE = re.compile(r"(?:\^\[|\\x1b|\\033|\\e|\u241b)?\[[0-9;]*m")
"""What pastes keep of the escapes around the header."""
_AMD = re.compile(
    r"ROCm System Management Interface|^(?:ACCESS|WEIGHT|HOPS|LINK TYPE|NUMA BW) TABLE:"
    r'|\(Topology\) |^=+ .*\bbetween two GPUs =|\b(?i:(?:weight|hops) between two GPUs)|"num_hops"[ \t]*:|^gpu,bdf,',
    re.MULTILINE,
)
_GLUE = re.compile(r"(?<=\d)(?=(?:GPU|NIC|DD|CPU|NUMA|mlx|roce|bnxt|irdma))")
_JOINED = re.compile(r"(?<=[0-9BEXS])(?=(?:SYS|NODE|PHB|PXB|PIX|NV\d)[A-Z0-9]*(?:\s|$))")
"""Between two levels where a paste has lost the tab, as it has in the header."""
_COLUMN = re.compile(r"(?:GPU|NIC|DD)\d{1,4}|[a-z][\w.:-]*\d[\w.:-]*")
_OF_PAIRS = frozenset(("OK", "CNS", "GNS", "TNS", "NS", "DR", "U"))
"""Cells of `nvidia-smi topo -p2p` for each pair of GPUs: whether peers may read, write, ... each other."""
_NIC_NAME = re.compile(r"((?:NIC|DD)\d+)\s*:\s*(\S+)\s*(?:(?:->|[(#=]|data-direct).*)?$")
Rows = dict[str, list[str]]

_MOST_MATRICES = 8
"""Of one host: `-m`, `-mp`, and `-p2p` for each of its capabilities."""


ASK = (Command("nvidia-smi topo -m"), *saved_as("nvidia-smi topo -mp", "nvidia-smi topo --matrix"))


@collector(on=[Role.HOST], ask=ASK, every=minutes(10), yields=[GpuNicPath], shared=True)
def gpu_nic_topology(answer: str, device: Device) -> list[GpuNicPath]:
    """One `GpuNicPath` for each GPU and NIC of the matrix, in its order. Raises `UnreadableError` for a partial
    matrix."""
    if _AMD.search(answer):
        raise NoAnswerError("AMD's tools show paths between GPUs alone: no NICs in it")
    text = lines(answer)
    columns, rows, end = _matrix(text, 0)
    _check(columns, rows)
    names = _nic_names(text[end:])
    nics = [(at, nic, _device(nic, names)) for at, nic in enumerate(columns) if not nic.startswith("GPU")]
    direct = {name: at for at, nic, name in nics if nic.startswith("DD")}
    nics = [(direct.get(name, at), nic, name) for at, nic, name in nics if not nic.startswith("DD")]
    if None in direct or not direct.keys() <= {name for _, _, name in nics}:
        raise UnreadableError("the NIC legend has no NIC for a column of Data Direct: cut short")
    gpus = [(int(gpu[3:]), rows[gpu]) for gpu in columns if gpu.startswith("GPU")]
    return [GpuNicPath(gpu, nic, name, row[at]) for gpu, row in gpus for at, nic, name in nics]


def _matrix(text: Sequence[str], begin: int, most: int = _MOST_MATRICES) -> tuple[list[str], Rows, int]:
    """The columns and rows of a matrix, and where it ends; of two the one that is not of `topo -p2p`. Raises
    `UnreadableError` for two of paths that differ.
    """
    if not most:
        raise UnreadableError(f"more than {_MOST_MATRICES} matrices", line=begin)
    columns, first = _header(text, begin)
    rows, end = _rows(text, first, columns)
    below = [_words(line) for line in text[end:]]
    if not any(map(_is_header, below)):
        return columns, rows, end
    if not all(map(_OF_PAIRS.isdisjoint, rows.values())):
        return _matrix(text, end, most - 1)
    if all(map(_OF_PAIRS.isdisjoint, below)) and _matrix(text, end, most - 1)[:2] != (columns, rows):
        raise UnreadableError("a second matrix below the first: the answers of two hosts", line=end)
    return columns, rows, end


def _is_header(words: Sequence[str]) -> bool:
    """Whether a header begins with these words."""
    if not words or not _GPU.fullmatch(words[0]):
        return False
    return len(words) == 1 or words[1] in _AFFINITY or bool(_COLUMN.fullmatch(words[1]))


def _header(text: Sequence[str], begin: int) -> tuple[list[str], int]:
    """The names of the columns, and the index of the first row."""
    for at, line in enumerate(text[begin:], begin):
        words = _words(line) if "GPU" in line else []
        if _is_header(words):
            return _columns(text, at)
        if len(words) > 1 and _GPU.fullmatch(words[0]) and words[1] in _LEVELS:
            raise UnreadableError("a row before any header: the head of the matrix is missing", line=at + 1, text=line)
    raise UnreadableError("no header of GPUs: not the matrix of `nvidia-smi topo -m`")


def _words(line: str) -> list[str]:
    return _GLUE.sub(" ", _ESCAPE.sub(" ", line).lstrip(PASTED)).split()


def _cells(line: str) -> list[str]:
    """The words of a row: its label, a level for each column, affinities."""
    return _JOINED.sub(" ", line.lstrip(PASTED)).split()


def _columns(text: Sequence[str], at: int) -> tuple[list[str], int]:
    """Collects a header wrapped over several lines; it ends where the first row begins."""
    columns: list[str] = []
    complete = False
    for number in range(at, len(text)):
        row = _cells(text[number])
        if len(row) > 1 and row[0] in columns and row[1] in _LEVELS:
            break
        for word in _words(text[number]):
            complete = complete or word in _AFFINITY
            if not complete and not _COLUMN.fullmatch(word):
                raise UnreadableError("neither a GPU nor a NIC in the header", line=number + 1, text=word)
            if not complete:
                columns.append(word)
    else:
        raise UnreadableError("a header without rows: cut short", line=at + 1, text=text[at])
    if len(set(columns)) != len(columns):
        raise UnreadableError("a column stands twice in the header", line=at + 1, text=text[at])
    return columns, number


def _rows(text: Sequence[str], first: int, columns: Sequence[str]) -> tuple[Rows, int]:
    """The words after each label, and where the matrix ends: a remark on a GPU ends it. A wrapped row goes on below."""
    width, labels = len(columns), frozenset(columns)
    rows: Rows = {}
    cells: list[str] = []
    for at in range(first, len(text)):
        words = _cells(text[at])
        if not words:
            continue
        label = words[0]
        remark = label in rows and not _LEVELS.issuperset(words[1:2])
        if label in labels and not remark:
            _refuse_ragged(cells, width, at)
            if label in rows:
                raise UnreadableError("a row stands twice", line=at + 1, text=text[at])
            del words[0]
            rows[label] = cells = words
        elif (len(cells) < width and label in _LEVELS) or label[0].isdigit() or label == "N/A":
            cells.extend(words)
        else:
            _refuse_ragged(cells, width, at)
            return rows, at
    _refuse_ragged(cells, width, len(text))
    return rows, len(text)


def _refuse_ragged(cells: Sequence[str], width: int, line: int) -> None:
    """Raises unless the row that ends at `line` has exactly one level for each column."""
    if cells and len(cells) < width:
        raise UnreadableError(f"a row has {len(cells)} of the {width} levels that the header promises", line=line)
    if len(cells) > width and cells[width] in _LEVELS:
        raise UnreadableError(f"a row has more than the {width} levels that the header promises", line=line)


def _check(columns: Sequence[str], rows: Rows) -> None:
    """Raises unless every GPU has a row and the matrix is valid: known levels, `X` on the diagonal only, symmetric."""
    width = len(columns)
    square: list[list[str]] = []
    for at, label in enumerate(columns):
        if label not in rows:
            if label.startswith("GPU"):
                raise UnreadableError(f"the header promises {label}, but its row is missing")
            continue
        row = rows[label][:width]
        if not _OF_PAIRS.isdisjoint(row):
            raise UnreadableError(f"row {label} says what pairs of GPUs are capable of, not over what they are reached")
        if not _LEVELS.issuperset(row):
            raise UnreadableError(f"row {label} holds what is no level", text=" ".join(row))
        if row[at : at + 1] != ["X"] or row.count("X") != 1:
            raise UnreadableError(f"row {label} does not have its X in column {label}", text=" ".join(row))
        square.append(row)
    if len(square) < width:
        present = [at for at, label in enumerate(columns) if label in rows]
        square = [[row[at] for at in present] for row in square]
    if square != [list(column) for column in zip(*square, strict=True)]:
        raise UnreadableError(_disagreement([label for label in columns if label in rows], square))


def _disagreement(labels: Sequence[str], square: Sequence[Sequence[str]]) -> str:
    """The first pair whose two cells differ, in words."""
    pairs = ((a, b) for a in range(len(labels)) for b in range(a))
    a, b = next((a, b) for a, b in pairs if square[a][b] != square[b][a])
    return f"the matrix contradicts itself: {labels[b]} to {labels[a]} is {square[b][a]}, back it is {square[a][b]}"


def _nic_names(legend: Sequence[str]) -> dict[str, str] | None:
    """The NIC legend by column; None if the answer has none."""
    names: dict[str, str] | None = None
    for line in legend:
        entry = line.lstrip(PASTED)
        if names is None:
            names = {} if "NIC Legend" in line else None
        elif found := _NIC_NAME.match(entry):
            names[found[1]] = found[2]
        elif entry.strip():
            break
    plain = [name for nic, name in (names or {}).items() if nic.startswith("NIC")]
    if len(set(plain)) != len(plain):
        raise UnreadableError("the NIC legend gives two NICs one name: cut short")
    return names


def _device(nic: str, names: dict[str, str] | None) -> str | None:
    """The RDMA device behind a column."""
    if not nic.startswith(("NIC", "DD")):
        return nic
    if names is None:
        return None
    if nic not in names:
        raise UnreadableError(f"the NIC legend ends before {nic}: cut short")
    return names[nic]
