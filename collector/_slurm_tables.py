"""The tables that people paste: `squeue`, also `-l`, and `sinfo`, also with `-l`, `-N`, `-N -l`, `-R` and `-R -l`, in
their default columns.

Sources: squeue(1) and sinfo(1), "OUTPUT FORMAT" and the codes of states; recorded tables of 2018 to 2026. Traps:

- `squeue` cuts names of jobs and users at 8 characters, `sinfo -N -l` reasons at 20. A job's name may have blanks.
- The id of an array's task is not the id of its record, which the table does not show.
- A node is listed once for each of its partitions.
- `-l` prints the time above the table, `-M` the cluster's name: neither is a row. Since 23.02 `sinfo -l` has a column
  RESERVATION, which is mostly empty.
"""

import re
from collections.abc import Iterator

from collector._answer import lines
from collector._sections import is_login_prompt
from collector._slurm_words import Names, states
from truerail.errors import UnreadableError
from truerail.model import SchedulerJob, SchedulerNode

JOBS = re.compile(
    r"^[ \t]*JOBID +PARTITION +NAME +USER +ST(?:ATE)? +TIME +(TIME_LIM\w* +)?NODES +NODELIST\(REASON\)[ \t\r]*$",
    re.MULTILINE,
)
NODES = re.compile(
    r"^[ \t]*(?:PARTITION +AVAIL +TIMELIMIT +(?:JOB_SIZE +ROOT +\w+ +GROUPS +)?NODES +STATE +(?:RESERVATION +)?NODELIST"
    r"|NODELIST +NODES +PARTITION +STATE\b.*|REASON +USER +TIMESTAMP +(?:STATE +)?NODELIST)[ \t\r]*$",
    re.MULTILINE,
)
_TIME = r"(?:[\d:-]+|UNLIMITED|INVALID|NOT_SET)"
_JOB = re.compile(
    rf"[ \t]*((\d+)(?:_\d+|_\[\S+\]|\+\d+)?) ++\S++ ++(\S.*?) ++(\S++) ++([A-Z_]{{1,12}}) ++{_TIME} ++(?:{_TIME} ++)?"
    r"(\d++) ++(\(.*\)|\S+)[ \t]*"
)
_RECORD = re.compile(r"\d+(?:_\[\S+\])?")
_PARTITION = re.compile(
    r"[ \t]*\S+ +(?:up|down|drain|inact) +\S+ +(?:\d[\d-]*(?:infinite)? +(?:yes|no) +\S+ +\S+ +)?"
    r"(\d+) +([a-z]\S*)(?:(?: +\S+)? +(\S+))?[ \t]*"
)
_NODE = re.compile(r"[ \t]*(\S+) +\d+ +\S+ +([a-z]\S*)(?: +\S+ +\d+:\d+:\d+ +\S+ +\S+ +\S+ +\S+ +(\S.*?))?[ \t]*")
_SINCE = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+|Unknown")
_NO_ROW = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}|[ \t]*CLUSTER: \S+")
"""The time that `-l` prints above a table, and the cluster that `-M` does."""
_LONGEST_ROW = 20_000
_CODES = {
    "BF": "BOOT_FAIL", "CA": "CANCELLED", "CD": "COMPLETED", "CF": "CONFIGURING", "CG": "COMPLETING",
    "DL": "DEADLINE", "F": "FAILED", "NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PD": "PENDING",
    "PR": "PREEMPTED", "R": "RUNNING", "RD": "RESV_DEL_HOLD", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD",
    "RQ": "REQUEUED", "RS": "RESIZING", "RV": "REVOKED", "SE": "SPECIAL_EXIT", "SI": "SIGNALING",
    "SO": "STAGE_OUT", "ST": "STOPPED", "S": "SUSPENDED", "TO": "TIMEOUT",
}  # fmt: skip
_OF_NODES = {
    "ALLOC": ("ALLOCATED",), "COMP": ("COMPLETING",), "DRAINED": ("DRAIN",), "DRAINING": ("ALLOCATED", "DRAIN"),
    "DRNG": ("ALLOCATED", "DRAIN"), "FAILG": ("FAILING",), "MIX": ("MIXED",), "PLND": ("PLANNED",),
    "RESV": ("RESERVED",), "UNK": ("UNKNOWN",),
}  # fmt: skip
_WIDTH = 8
"""Characters of a state in `squeue -l`."""


def jobs(answer: str) -> Iterator[SchedulerJob]:
    """The jobs below squeue's header. Raises `UnreadableError`."""
    names = Names()
    for at, line in _rows(answer, JOBS):
        found = _JOB.fullmatch(line)
        if found is None:
            raise UnreadableError("not a row of squeue", line=at, text=line)
        job, number, name, user, state, count, listed = found.groups()
        nodes = () if listed.startswith("(") else names.expand(listed, at)
        if nodes and int(count) != len(nodes):
            raise UnreadableError(f"{len(nodes)} nodes in a job of {count}", line=at, text=line)
        record = int(number) if _RECORD.fullmatch(job) else None
        yield SchedulerJob(job, record, name, user, _state(state, at), nodes)


def _state(word: str, at: int) -> str:
    known = _CODES.get(word) or next(
        (state for state in _CODES.values() if state == word or (len(word) == _WIDTH and state.startswith(word))), None
    )
    if known is None:
        raise UnreadableError("not a state of a job", line=at, text=word)
    return known


def nodes(answer: str) -> Iterator[SchedulerNode]:
    """The nodes below sinfo's header, each once. Raises `UnreadableError`."""
    names, seen = Names(), dict[str, SchedulerNode]()
    for at, line in _rows(answer, NODES):
        if len(line) > _LONGEST_ROW:
            raise UnreadableError("not a row of sinfo", line=at, text=line[:80])
        by_partition, by_node, by_reason = _PARTITION.fullmatch(line), _NODE.fullmatch(line), _reason(line)
        if by_reason:
            for name in names.expand(by_reason[2], at):
                seen.setdefault(name, SchedulerNode(name, _states(by_reason[1]), by_reason[0]))
        elif by_partition:
            count, word, listed = by_partition.groups()
            found = names.expand(listed or "", at)
            if int(count) != len(found):
                raise UnreadableError(f"{len(found)} of {count} nodes", line=at, text=line)
            for name in found:
                seen.setdefault(name, SchedulerNode(name, _states(word), None))
        elif by_node:
            reason = None if by_node[3] in (None, "none", "(null)") else by_node[3]
            seen.setdefault(by_node[1], SchedulerNode(by_node[1], _states(by_node[2]), reason))
        else:
            raise UnreadableError("not a row of sinfo", line=at, text=line)
    yield from seen.values()


def _reason(line: str) -> tuple[str, str, str] | None:
    """Reason, state and nodes in a row of `sinfo -R`, which shows a state only with `-l`."""
    for count in (3, 4):
        words = line.strip().rsplit(None, count)
        if len(words) == count + 1 and _SINCE.fullmatch(words[2]):
            return words[0], words[3] if count == 4 else "", words[-1]
    return None


def _states(word: str) -> tuple[str, ...]:
    found = (_OF_NODES.get(state, (state,)) for state in states(word))
    return tuple(dict.fromkeys(state for several in found for state in several))


def _rows(answer: str, header: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """The numbered lines below the header. A last line without a line feed may be cut: the answer is refused."""
    text = lines(answer)
    if text[-1] and not is_login_prompt(text[-1]):
        raise UnreadableError("cut short: its last line has no end", line=len(text), text=text[-1])
    first = next(at for at, line in enumerate(text, 1) if header.match(line))
    yield from (
        (at, line.rstrip())
        for at, line in enumerate(text[first:], first + 1)
        if line.strip()
        and not header.match(line)
        and not _NO_ROW.fullmatch(line.rstrip())
        and not is_login_prompt(line)
    )
