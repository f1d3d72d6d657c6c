"""What NCCL's RAS service reports of the communicators of a job: `ncclras`, or its protocol.

Question: which ranks of which communicator are running, missing or dead, and which have launched fewer operations than
others?
Needs: NCCL 2.24 or later; bash; a connection to `localhost:28028`, without login. Each answer makes all processes of a
job report, so one host of a job is enough: only machines to which the inventory or the setting `jobs` gives the
platform `nccl` are polled. Where no job listens there is no answer, and nothing is known.

Format: `CLIENT PROTOCOL 2`, `TIMEOUT 5`, `SET FORMAT json`, `STATUS`, each in a line; the answer ends with the
connection, and at once if the client ends its side of it first. No other command is sent: newer versions have some that
write (`CONTROL`). Text up to 2.28.6, which answers `SET FORMAT` with an error; then JSON. Source: NCCL,
`src/ras/client_support.cc`.

Traps:

- 2.28.7 to 2.28.9 print no comma behind `nvml_dev` of a missing rank: exactly that is repaired.
- Text names outliers alone, and a communicator by its id only where it has an error or a warning. The ranks that it
  does not name belong to the only group of a communicator that it does not list.
- Hosts are addresses. `GPU 4 (NVML 6)` has the number for NVML last.
- Different numbers of operations are normal while ranks move: `behind` is of this moment.
- Some versions and clients print lines of the protocol before it (`SERVER PROTOCOL 2`, `OK`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from collector.formats.text import decode
from truerail.errors import UnreadableError
from truerail.model import BY_HAND, Command, Device, Role, collector, minutes
from truerail.model.nccl_facts import RasComm, RasRank
from truerail.model.platforms import NCCL

_STATUS = (
    "bash -c 'exec 3<>/dev/tcp/localhost/28028 && "
    'printf "CLIENT PROTOCOL 2\\nTIMEOUT 5\\nSET FORMAT json\\nSTATUS\\n" >&3 && '
    'timeout 9 sed "/^ERROR: Unknown command SET FORMAT/d" <&3\''
)
"""Versions without JSON refuse the format, and answer the rest as text."""
_MOST_COMMS = 100_000
_MOST_RANKS = 1_000_000
_PROTOCOL = re.compile(r"(?:SERVER PROTOCOL \d+|OK|ERROR: Unknown command SET FORMAT json)\s*$", re.IGNORECASE)
_NO_COMMA = re.compile(r'("nvml_dev"[ \t]*:[ \t]*-?\d{1,6})([ \t\r]*\n[ \t]*"status")')
_GROUP = re.compile(r" *(\d+) +(\d+) +(\d+) +(\d+(?:-\d+)?) +(\d+) +(\d+) +([A-Z]+) +([A-Z,]+)$")
_COMM = re.compile(r"#(\d+)-(\d+) \(([0-9a-f]{16})\) ([A-Z]+)$")
_RANK = re.compile(
    r"Rank (\d+)(.{0,80}?) -- (?:GPU (\d+)(?: \(NVML (\d+)\))? managed by process \d+ on node (\S{1,100})|\[.*\])$"
)
_COUNTS = re.compile(r"Communicator ranks have different (\w+) operation counts$")
_BEGINNINGS = ("NCCL version ", "Job summary")
"""The version is left out of most excerpts."""
_STATUSES = "Communicator ranks have different status"
_SEVERAL = re.compile(
    r"(\d+) ranks have (?:launched up to operation (\d+)|not launched any operations|status ([A-Z]+))$"
)
_SINGLE = re.compile(r"has (?:launched up to operation (\d+)|not launched any operations|status ([A-Z]+))$")
_STATES = {"INIT": "init", "RUNNING": "running", "FINALIZE": "finalize", "ABORT": "abort", "NOCOMM": "missing"}


ASK = (Command(_STATUS, (NCCL,)), Command("ncclras -f json", BY_HAND), Command("ncclras", BY_HAND))


@collector(on=[Role.HOST], ask=ASK, every=minutes(0.5), yields=[RasComm, RasRank], megabytes=16)
def nccl_ras(answer: str, device: Device) -> list[RasComm | RasRank]:
    """A `RasComm` for each communicator, and a `RasRank` for each rank that is named or follows. Raises
    `UnreadableError`, also for an answer that was cut short.
    """
    lines = answer.replace("\r", "").split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip() and not _PROTOCOL.match(line)), len(lines))
    if '"communicators"' in answer:
        return list(_from_json(decode(_NO_COMMA.sub(r"\1,\2", "\n".join(lines[first:])))))
    return list(_Text(lines, first).facts())


def _from_json(found: Any) -> Iterator[RasComm | RasRank]:
    if not isinstance(found, dict) or not isinstance(found.get("communicators"), list) or "ras" not in found:
        raise UnreadableError("not the status of NCCL's RAS: it has no communicators")
    for comm in found["communicators"]:
        if not isinstance(comm, dict):
            raise UnreadableError("not a communicator of NCCL's RAS", text=str(comm)[:80])
        name = str(comm["hash"])
        yield RasComm(name, _number(comm["size"]))
        ranks = [_rank_of(one) for one in comm.get("ranks", ())]
        most: dict[str, int] = {}
        for rank in ranks:
            for kind, count in rank["collective_counts"].items():
                most[kind] = max(most.get(kind, 0), _number(count))
        total = max((sum(map(_number, rank["collective_counts"].values())) for rank in ranks), default=0)
        for rank in ranks:
            counts = rank["collective_counts"]
            behind = any(count < most[kind] for kind, count in counts.items())
            yield _json_rank(name, rank, _state(rank["status"]), behind, sum(counts.values()), total)
        for one in comm.get("missing_ranks", ()):
            rank = _rank_of(one, counted=False)
            dead = bool(rank["status"].get("considered_dead"))
            yield _json_rank(name, rank, "dead" if dead else "missing", None, None, None)


def _rank_of(one: Any, *, counted: bool = True) -> dict[str, Any]:
    wanted = ("status", "collective_counts") if counted else ("status",)
    if not isinstance(one, dict) or not all(isinstance(one.get(key), dict) for key in wanted):
        raise UnreadableError("not a rank of NCCL's RAS", text=str(one)[:80])
    return one


def _json_rank(
    comm: str, rank: dict[str, Any], state: str, behind: bool | None, operations: int | None, most: int | None
) -> RasRank:
    gpu = rank.get("nvml_dev", rank.get("cuda_dev"))
    number, host = _number(rank["rank"]), str(rank["host"])
    return RasRank(comm, number, host, None if gpu is None else _number(gpu), state, behind, operations, most)


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnreadableError("not a number of NCCL's RAS", text=str(value)[:80])
    return value


def _state(status: dict[str, Any]) -> str:
    if status.get("abort_flag"):
        return "abort"
    if status.get("finalize_called") or status.get("destroy_flag"):
        return "finalize"
    return "running" if status.get("init_state") == 0 else "init"


@dataclass
class _Group:
    """Ranks of one communicator that are alike: how many there are, and those that are named."""

    count: int
    operations: int | None = None
    state: str | None = None
    named: list[tuple[int, int | None, str | None]] = field(default_factory=list)
    """Rank, GPU and host."""


class _Text:
    """The text form."""

    def __init__(self, lines: list[str], first: int) -> None:
        self._lines = lines
        self._first = first
        self._groups: list[tuple[int, int, str]] = []
        """Communicators, ranks of each, and status of each row of the table."""
        self._ranks: dict[tuple[str, int], RasRank] = {}
        self._named: dict[tuple[int, int], str] = {}

    def facts(self) -> Iterator[RasComm | RasRank]:
        """Communicators in the table's order, then their ranks."""
        lines = self._lines
        number = self._first + 1
        if not any(line.strip().startswith(_BEGINNINGS) for line in lines[self._first : self._first + 1]):
            text = lines[self._first] if self._first < len(lines) else ""
            raise UnreadableError("not the status of NCCL's RAS", line=number if text else 0, text=text[:80])
        if not any(line.strip() == "Warnings" for line in lines[:-1]):
            raise UnreadableError("cut short: no warnings at its end", line=len(lines), text=lines[-1][:80])
        sections: list[tuple[int, list[str]]] = []
        for at, line in enumerate(lines[self._first :], number):
            if found := _GROUP.match(line.rstrip()):
                self._groups.append((int(found[2]), int(found[5]), found[7]))
            elif _COMM.match(line.strip()):
                sections.append((at, [line.strip()]))
            elif sections and line.strip():
                sections[-1][1].append(line.strip())
        if sum(count for count, _, _ in self._groups) > _MOST_COMMS:
            raise UnreadableError(f"more than {_MOST_COMMS:,} communicators")
        for at, section in sections:
            self._section(at, section)
        for row, (count, size, _) in enumerate(self._groups):
            for place in range(count):
                yield RasComm(self._named.get((row, place)), size)
        yield from self._ranks.values()

    def _section(self, at: int, section: list[str]) -> None:
        found = _COMM.match(section[0])
        assert found is not None  # noqa: S101 - its first line is one
        row, name = int(found[1]), f"0x{found[3]}"
        if row >= len(self._groups):
            raise UnreadableError("a communicator of a group that the table does not have", line=at, text=section[0])
        self._named[row, int(found[2])] = name
        _, size, status = self._groups[row]
        if found[4] == "INCOMPLETE":
            for rank, _, gpu, host in _ranks(section[1:]):
                self._ranks[name, rank] = RasRank(name, rank, host, gpu, "missing", None)
            return
        blocks: list[tuple[bool, list[_Group]]] = []
        for line in section[1:]:
            if _COUNTS.match(line) or line == _STATUSES:
                blocks.append((line != _STATUSES, []))
            elif blocks and (several := _SEVERAL.match(line)):
                blocks[-1][1].append(
                    _Group(int(several[1]), _operations(several[2], several[3]), _STATES.get(several[3] or ""))
                )
            elif blocks:
                self._named_rank(line, blocks[-1][1])
        missing = sum(1 for (comm, _), rank in self._ranks.items() if comm == name and rank.state == "missing")
        for counted, groups in blocks:
            _complete(groups, size - missing)
            most = max((group.operations or 0 for group in groups), default=0)
            for group in groups:
                for rank, gpu, host in group.named:
                    known = self._ranks.get((name, rank)) or RasRank(name, rank, host, gpu, _STATES.get(status), None)
                    known = known._replace(host=known.host or host, gpu=gpu if known.gpu is None else known.gpu)
                    self._ranks[name, rank] = _of_group(known, group, most if counted else None)

    @staticmethod
    def _named_rank(line: str, groups: list[_Group]) -> None:
        for rank, words, gpu, host in _ranks([line]):
            if single := _SINGLE.match(words.strip()):
                groups.append(_Group(1, _operations(single[1], single[2]), _STATES.get(single[2] or "")))
            if groups:
                groups[-1].named.append((rank, gpu, host))


def _of_group(known: RasRank, group: _Group, most: int | None) -> RasRank:
    """A rank with its group's state, or with its operations if `most`, those of the foremost group, are counted."""
    if most is None:
        return known._replace(state=group.state or known.state)
    operations = group.operations or 0
    return known._replace(
        behind=bool(known.behind) or operations < most,
        operations=operations + (known.operations or 0),
        most=most + (known.most or 0),
    )


def _operations(count: str | None, status: str | None) -> int | None:
    return int(count) if count else None if status else 0


def _ranks(lines: list[str]) -> Iterator[tuple[int, str, int | None, str | None]]:
    """Rank, words between, GPU for NVML, host of each line that names one."""
    for line in lines:
        if found := _RANK.match(line):
            gpu = found[4] or found[3]
            yield int(found[1]), found[2], None if gpu is None else int(gpu), found[5]


def _complete(groups: list[_Group], size: int) -> None:
    """Names the ranks of the only group whose ranks the text leaves out, if the groups add up to the communicator."""
    unnamed = [group for group in groups if len(group.named) != group.count]
    if len(unnamed) == 1 and not unnamed[0].named and sum(group.count for group in groups) == size <= _MOST_RANKS:
        named = {rank for group in groups for rank, _, _ in group.named}
        unnamed[0].named += [(rank, None, None) for rank in range(size) if rank not in named]
