"""Slurm's tables: `squeue`, `sinfo` and `sacct`."""

import re
from collections.abc import Iterator

from collector.formats.slurm_words import MOST_OF_A_NAME, Names, end_of, gpus_in, states, time
from collector.formats.text import is_login_prompt, whole_lines
from truerail.errors import UnreadableError
from truerail.model import SchedulerJob, SchedulerNode

# ----------------------------------------------------------------------------------------------------------------------
# The tables that people paste: `squeue`, also `-l`, and `sinfo`, also with `-l`, `-N`, `-N -l`, `-R` and `-R -l`, in
# their default columns; both also with columns that were asked for (`-o`, `-O`), with blanks or `|` between them.
#
# Sources: squeue(1) and sinfo(1), "OUTPUT FORMAT" and the codes of states; recorded tables of 2018 to 2026. Traps:
#
# - `squeue` cuts names of jobs and users at 8 characters, `sinfo -N -l` reasons at 20. A job's name may have blanks.
# - The id of an array's task is not the id of its record, which the table does not show.
# - A node is listed once for each of its partitions.
# - `-l` prints the time above the table, `-M` the cluster's name: neither is a row. Since 23.02 `sinfo -l` has a column
#   RESERVATION, which is mostly empty.

NODES = re.compile(
    r"^[ \t]*(?:PARTITION +AVAIL +TIMELIMIT +(?:JOB_SIZE +ROOT +\w+ +GROUPS +)?NODES +STATE +(?:RESERVATION +)?NODELIST"
    r"|NODELIST +NODES +PARTITION +STATE\b.*|REASON +USER +TIMESTAMP +(?:STATE +)?NODELIST)[ \t\r]*$",
    re.MULTILINE,
)
_RECORD = re.compile(r"\d+(?:_\[\S+\])?")
_PARTITION = re.compile(
    r"[ \t]*\S+ +(?:up|down|drain|inact) +\S+ +(?:\d[\d-]*(?:infinite)? +(?:yes|no) +\S+ +\S+ +)?"
    r"(\d{1,9}) +([a-z]\S*)(?:(?: +\S+)? +(\S+))?[ \t]*"
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
_ASKED = re.compile(
    r"^[ \t]*+(?=[^\n]*\bJOBID\b)(?=[^\n]*\bNODES?\b)[A-Z_]+(?:[ \t|]+[A-Z_:()]+)+[ \t\r]*$", re.MULTILINE
)
_ASKED_NODES = re.compile(
    r"^[ \t]*+(?=[^\n]*\b(?:NODELIST|HOSTNAMES)\b)(?=[^\n]*\bSTATE\b)[A-Z_]+(?:[ \t|]+[A-Z_:()/]+)+[ \t\r]*$",
    re.MULTILINE,
)
_JOB_ID = re.compile(r"(\d{1,12})(?:_\d+|_\[\S+\]|\+\d+)?")
_FREE = frozenset(("COMMENT", "COMMAND", "WORK_DIR", "REASON", "FEATURES", "LICENSES", "DEPENDENCY"))
"""Columns whose values may have blanks, beside the name."""
_GRES = re.compile(r"\S+[:=]\d{1,9}")
_GRES_OF_NODE = re.compile(rf"{_GRES.pattern}(?:\(\S*\))?")
"""What each node has of GPUs with their number, which is the first to be lost where a column is too narrow."""
_NAMES = (
    *("TIME", "NODES", "NODELIST", "NODELIST(REASON)", "STATE", "START_TIME", "END_TIME", "TIME_LIMIT"),
    "TRES_PER_NODE",
)
_LEAST_OF_A_NAME = 4
"""Characters of a column's name that a narrow column leaves."""


def _state(word: str, at: int) -> str:
    known = _CODES.get(word) or next(
        (state for state in _CODES.values() if state == word or (len(word) == _WIDTH and state.startswith(word))), None
    )
    if known is None:
        raise UnreadableError("not a state of a job", line=at, text=word)
    return known


def has_jobs(answer: str) -> bool:
    """Whether a table of jobs says what a job is, where it runs and its state."""
    return _asked(answer) is not None


def _asked(answer: str) -> tuple[str, list[str], str, str] | None:
    """The header, its columns, those with the state and with the nodes; None where one is missing, or there twice."""
    header = _ASKED.search(answer)
    columns = _columns(header[0]) if header else []
    state = next((name for name in ("STATE", "ST") if name in columns), None)
    listed = next((name for name in ("NODELIST", "NODELIST(REASON)") if name in columns), None)
    if header is None or state is None or listed is None or len(set(columns)) < len(columns):
        return None
    return (header[0].strip(), columns, state, listed) if {"JOBID", "NODES"} <= set(columns) else None


def jobs(answer: str) -> Iterator[SchedulerJob]:
    """The jobs below squeue's columns. Raises `UnreadableError`."""
    header, columns, state, listed = _asked(answer) or ("", [], "", "")
    names = Names()
    for at, line in _rows(answer, re.compile(r"[ \t]*" + re.escape(header))):
        row = dict(zip(columns, _cells(line, columns, at), strict=True))
        job = _JOB_ID.fullmatch(row["JOBID"])
        if job is None or not row["NODES"].isdecimal():
            raise UnreadableError("not a row of squeue", line=at, text=line)
        nodes = () if row[listed].startswith("(") else names.expand(row[listed], at)
        if nodes and int(row["NODES"]) != len(nodes):
            raise UnreadableError(f"{len(nodes)} nodes in a job of {row['NODES']}", line=at, text=line)
        gres = row.get("TRES_PER_NODE", row.get("GRES", ""))
        each = gpus_in(gres) if _GRES.fullmatch(gres) else None
        start = time(row.get("START_TIME", ""))
        found = _state(row[state], at)
        yield SchedulerJob(
            job[0],
            int(job[1]) if _RECORD.fullmatch(job[0]) else None,
            row.get("NAME"),
            row.get("USER"),
            found,
            nodes,
            each * len(nodes) if nodes and each is not None else None,
            start,
            end_of(start, time(row.get("END_TIME", "")), found, unlimited=row.get("TIME_LIMIT") == "UNLIMITED"),
        )


def asks_columns_of_nodes(answer: str) -> bool:
    """Whether a table of nodes has columns of its own, each once."""
    header = _ASKED_NODES.search(answer)
    columns = _columns(header[0]) if header else []
    return "STATE" in columns and len(set(columns)) == len(columns)


def asked_nodes(answer: str) -> Iterator[SchedulerNode]:
    """The nodes below the columns that were asked for, each once. A list of nodes is taken only with their number
    beside it, since a narrow column cuts it. Raises `UnreadableError`.
    """
    header = (_ASKED_NODES.findall(answer) or [""])[0].strip()
    columns = _columns(header)
    names, seen = Names(), dict[str, SchedulerNode]()
    for at, line in _rows(answer, re.compile(r"[ \t]*" + re.escape(header))):
        row = dict(zip(columns, _cells(line, columns, at, "REASON"), strict=True))
        found = names.expand(row.get("NODELIST", "") or row.get("HOSTNAMES", ""), at)
        if row.get("NODES", str(len(found))) != str(len(found)) or ("NODES" not in row and len(found) != 1):
            raise UnreadableError(f"{len(found)} of {row.get('NODES', 'unknown')} nodes", line=at, text=line)
        reason = None if row.get("REASON", "none") in ("none", "(null)", "") else row["REASON"]
        gres = row.get("GRES", "")
        gpus = gpus_in(gres) if _GRES_OF_NODE.fullmatch(gres) else None
        for name in found:
            seen.setdefault(name, SchedulerNode(name, _states(row["STATE"]), reason, gpus=gpus))
    yield from seen.values()


def _columns(header: str) -> list[str]:
    """The names of columns, whole where a narrow column cut them."""
    words = [word for word in re.split(r"[\s|]+", header) if word]
    long = _LEAST_OF_A_NAME
    return [next((name for name in _NAMES if len(word) >= long and name.startswith(word)), word) for word in words]


def _cells(line: str, columns: list[str], at: int, free: str = "NAME") -> list[str]:
    """The values of a row. Of words without `|` the free column has those that are too many, if only it may have
    blanks.
    """
    if "|" in line:
        cells = [cell.strip() for cell in line.split("|")]
    else:
        reason = line.rfind(" (") if columns[-1] == "NODELIST(REASON)" and line.endswith(")") else -1
        cells = [*line[:reason].split(), line[reason + 1 :]] if reason > 0 else line.split()
        more = len(cells) - len(columns)
        if more > 0 and free in columns and not (_FREE - {free}) & set(columns):
            name = columns.index(free)
            cells[name : name + more + 1] = [" ".join(cells[name : name + more + 1])]
        cells += [""] if more == -1 and columns[-1] == "NODELIST" else []
    if len(cells) != len(columns):
        raise UnreadableError(f"not a row of {'squeue' if free == 'NAME' else 'sinfo'}", line=at, text=line)
    return cells


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
    text = whole_lines(answer)
    first = next(at for at, line in enumerate(text, 1) if header.match(line))
    yield from (
        (at, line.rstrip())
        for at, line in enumerate(text[first:], first + 1)
        if line.strip()
        and not header.match(line)
        and not _NO_ROW.fullmatch(line.rstrip())
        and not is_login_prompt(line)
    )


# ----------------------------------------------------------------------------------------------------------------------
# Records of Slurm's accounting: `sacct`, a line of column names, then one line for each record; between fields `|` or
# another separator (`-P`), or, with a ruler below the names, blanks.
#
# Columns are found by their names; the name of the job, which users write, may hold the separator where it is the last.
# Sources: sacct(1) of Slurm 22.05 and 24.11.
#
# Traps:
#
# - Without `-P` columns have widths, and a value that is wider ends with `+`: a list of nodes that is cut is refused,
#   and a name or an end that is cut is not reported.
# - `sacct` prints a job that was requeued once for each run with `-D`, under one id, and steps (`1234.batch`) without
#   `-X`: steps are left out.
# - A state has who cancelled it behind it: `CANCELLED by 1000`. An end of a job that runs is `Unknown`.
# - `JobID` is `324_5` for a task of an array and `5+0` for a component of a heterogeneous job; `JobIDRaw` is a number.

COLUMNS = ("JobID", "JobIDRaw", "State", "NodeList", "AllocTRES", "Start", "End", "User", "JobName")
"""Those of the command."""
_NEEDED = ("state", "nodelist", "start", "end")
_TABLE = re.compile(r"^[ \t]*JobID(?:Raw)? [^\n|]*\n-{2,}(?: -{2,})+[ \r]*$", re.MULTILINE)
_RULER = re.compile(r"-{2,}(?: -{2,})+")


def is_accounting(answer: str) -> bool:
    """Whether an answer begins with the names of its columns."""
    head = answer.split("\n", 1)[0].lower()
    return (head.startswith(("jobid|", "jobid\x1f", "jobidraw|")) and "state" in head) or bool(_TABLE.search(answer))


def from_accounting(answer: str, separator: str) -> Iterator[SchedulerJob]:
    """One `SchedulerJob` for each record that is no step. Raises `UnreadableError`."""
    found = whole_lines(answer)
    table, names = bool(_TABLE.search(answer)), Names()
    head = next(at for at, line in enumerate(found) if _RULER.fullmatch(line.rstrip())) - 1 if table else 0
    between = separator if separator in found[0] else "|"
    spans = [run.span() for run in re.finditer("-+", found[head + 1])] if table else []
    columns = [name.strip().lower() for name in (_below(found[head], spans) if table else found[0].split(between))]
    if lacking := [name for name in _NEEDED if name not in columns]:
        raise UnreadableError(f"no column {lacking[0]} of sacct", line=head + 1, text=found[head][:80])
    for at, line in enumerate(found[head + 1 + table :], head + 2 + table):
        if not line.strip() or (table and is_login_prompt(line)):
            continue
        if any(line[end : end + 1].strip() for _, end in spans):
            raise UnreadableError("columns that are not below the ruler", line=at, text=line.strip()[:80])
        values = _below(line, spans) if table else line.split(between, len(columns) - 1)
        if len(values) != len(columns):
            raise UnreadableError(f"{len(values)} fields, {len(columns)} expected", line=at, text=line[:80])
        record = dict(zip(columns, values, strict=True))
        yield from _record(_uncut(record, at, line) if table else record, names, at)


def _below(line: str, spans: list[tuple[int, int]]) -> list[str]:
    return [line[begin:end].strip() for begin, end in spans]


def _uncut(record: dict[str, str], at: int, line: str) -> dict[str, str]:
    """The record without the values that its widths have cut. Raises `UnreadableError` where they name the job or its
    nodes.
    """
    cut = {name for name, value in record.items() if value.endswith("+") and name != "state"}
    if cut & {"jobid", "jobidraw", "nodelist"} and "." not in record.get("jobid", ""):
        raise UnreadableError("a value that sacct has cut: use -P", line=at, text=line.strip()[:80])
    return {name: "" if name in cut else value for name, value in record.items()}


def _record(record: dict[str, str], names: Names, at: int) -> Iterator[SchedulerJob]:
    """The job, unless the record is a step's."""
    job = record.get("jobid") or record.get("jobidraw", "")
    if not job[:1].isdigit():
        raise UnreadableError("not an id of a job", line=at, text=job[:40])
    if "." not in job:
        yield _job(job, record, names, at)


def _job(job: str, record: dict[str, str], names: Names, at: int) -> SchedulerJob:
    raw = record.get("jobidraw", job)
    words = record["state"].split()
    if not words:
        raise UnreadableError("a job without a state", line=at, text=job[:40])
    state = "+".join(states(words[0].rstrip("+")))
    start, end = time(record["start"]), time(record["end"])
    return SchedulerJob(
        job[:MOST_OF_A_NAME],
        int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 19 else None,
        record.get("jobname", "")[:MOST_OF_A_NAME] or None,
        record.get("user") or None,
        state,
        names.expand(record["nodelist"].removeprefix("None assigned"), at),
        gpus_in(record.get("alloctres", "")),
        start,
        end_of(start, end, state, unlimited=False),
    )
