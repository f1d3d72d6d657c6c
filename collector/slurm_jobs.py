"""The jobs of a Slurm cluster: which nodes each of them has, since when, and how many GPUs.

Question: which job runs on which hosts?
Needs: any user on a machine with Slurm's clients, unless `PrivateData=jobs`. Only a machine to which the inventory or
the setting `jobs` gives the platform `slurm` is polled.

| form | from |
|---|---|
| fields between US (0x1f), one job a line, the name last | the command below: running jobs alone |
| table | `squeue [-l]` with its default columns, and with those of `-o` or `-O` |
| JSON | `squeue --json` of 21.08 and later, slurmrestd, `scontrol --json show job ID`, `sacct --json` |
| `Key=value` records | `scontrol show job`, with `-o` and `-d` or without |
| columns | `sacct -P`, with the names of its columns |

A job that has ended, or was never polled, is asked for by its id alone: the commands with `{job}`.
Sources: measured with Slurm 22.05.8; recorded answers of 21.08 and 25.11; squeue(1), scontrol(1); Slurm's
`src/plugins/data_parser`.

Traps:

- GPUs are not in `tres_alloc_str` unless `AccountingStorageTRES` names `gres/gpu`. JSON has them in `gres_detail`,
  `scontrol -d` in `JOB_GRES`; elsewhere they are those for each node, times the nodes. Otherwise they are unknown.
- A job without a time limit ends a year after its begin, in JSON: that is no end.
- The last task of an array that starts keeps the array's id: `324_5` may be job 324. Components of a heterogeneous job
  are records of their own, `5+0` and `5+1`.
- Since 23.02 a number is `{"set": true, "infinite": false, "number": 8}` and a state a list; `nodes` may be an object.
- Times in text are local, without a zone. `SLURM_TIME_FORMAT=%s` makes them seconds; others are read as UTC.
- Names are what users write: with blanks, `|` and `=`. A line that begins no record continues the name before it.
- No output at all is the answer of a cluster without running jobs.
"""

import re
from collections.abc import Iterator
from typing import Any

from collector.formats import slurm_tables, slurm_words
from collector.formats.slurm_tables import COLUMNS, from_accounting, is_accounting
from collector.formats.slurm_words import (
    MOST_OF_A_NAME,
    Names,
    end_of,
    gpus_in,
    name_of,
    number,
    records,
    states,
    text,
    time,
    value,
)
from collector.formats.text import decode, is_json, lines, object_of, objects_of
from truerail.errors import UnreadableError
from truerail.model import Command, Device, Role, SchedulerJob, collector, commands, saved_as

SEPARATOR = "\x1f"
FORMAT = SEPARATOR.join(("%A", "%F", "%K", "%T", "%N", "%D", "%b", "%S", "%e", "%u", "%a", "%P", "%j"))
_ACCOUNTING = f"--delimiter='{SEPARATOR}' -o {','.join(COLUMNS)}"
_NONE = "No jobs in the system"
"""What scontrol prints where there are none."""
_NO_WORD = ("", "N/A", "(null)", "n/a")
_HEAD = re.compile(r"(?<![^\s])UserId=(\S+)\(\d+\) GroupId=\S")
_NAMED = re.compile(r"(?<![^\s])JobName=")
_DETAIL = re.compile(r"(?<![^\s])Nodes=(\S+) CPU_IDs=\S* Mem=\S* GRES=(\S*)")
_PATHS = re.compile(r"(?<![^\s])Command=")


ASK = (
    *commands("slurm", f"env SLURM_TIME_FORMAT=%s squeue -h -r -t R -o '{FORMAT}'", "squeue --json"),
    Command("GET /slurm/jobs", ("slurm_api",)),
    Command("env SLURM_TIME_FORMAT=%s scontrol -o -d show job {job}", ("slurm",)),
    Command(f"env SLURM_TIME_FORMAT=%s sacct -a -D -X -P {_ACCOUNTING} -j {{job}}", ("slurm",)),
    *commands("slurm_api", "GET /slurm/job/{job}", "GET /slurmdb/job/{job}"),
    *saved_as("scontrol -o -d show job", "squeue", "squeue -l"),
)


@collector(on=[Role.HOST], ask=ASK, every=30.0, yields=[SchedulerJob], megabytes=16, long_lines=True, empty=True)
def slurm_jobs(answer: str, device: Device) -> Iterator[SchedulerJob]:
    """One `SchedulerJob` for each record. Raises `UnreadableError`."""
    if re.search(r"^[ \t]*JobId=", answer, re.MULTILINE):
        return _from_records(answer)
    if SEPARATOR not in answer and slurm_tables.has_jobs(answer):
        return slurm_tables.jobs(answer)
    if is_accounting(answer):
        return from_accounting(answer, SEPARATOR)
    if SEPARATOR not in answer and is_json(answer):
        return _from_json(decode(answer))
    if answer.lstrip().startswith("JOBID"):
        needs = (
            "not a job: a table needs the columns JOBID, NODES, NODELIST and STATE or ST, each once, by blanks or `|`"
        )
        raise UnreadableError(needs, line=1, text=answer.strip().split("\n")[0])
    return iter(()) if answer.strip() == _NONE else _from_fields(answer)


def _from_fields(answer: str) -> Iterator[SchedulerJob]:
    rows: list[tuple[int, str]] = []
    found = lines(answer)
    if found[-1]:
        raise UnreadableError("cut short: its last line has no end", line=len(found), text=found[-1])
    for at, line in enumerate(found, 1):
        if re.match(r"\d{1,12}\x1f", line):
            rows.append((at, line))
        elif rows and SEPARATOR not in line:
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line}".rstrip())
        elif line.strip():
            raise UnreadableError("not a job: no id and fields between 0x1f", line=at, text=line)
    names = Names()
    for at, row in rows:
        fields = row.split(SEPARATOR)
        ends = len(fields) >= 13 and (fields[8] in (*_NO_WORD, "NONE", "Unknown") or time(fields[8]) is not None)
        if len(fields) < 12:
            raise UnreadableError(f"{len(fields)} fields of a job, 12 or 13 expected", line=at, text=row)
        job_id, array, task, state, listed, count, resources, start = fields[:8]
        user, name = fields[9 if ends else 8], SEPARATOR.join(fields[12 if ends else 11 :])
        nodes = names.expand(listed, at)
        each = gpus_in(resources)
        if not count.isdigit() or int(count) != len(nodes):
            raise UnreadableError(f"{len(nodes)} nodes in a job of {count}", line=at, text=row)
        begun = time(start)
        yield SchedulerJob(
            name_of(int(job_id), _digits(array), None if task in _NO_WORD else task, None, None),
            int(job_id),
            name[:MOST_OF_A_NAME],
            None if user in _NO_WORD else user,
            "+".join(states(state)),
            nodes,
            None if each is None else each * len(nodes),
            begun,
            end_of(begun, time(fields[8]) if ends else None, state, unlimited=False),
        )


def _digits(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdigit() else None


def _from_json(document: Any) -> Iterator[SchedulerJob]:
    names = Names()
    for at, job in enumerate(slurm_words.entries(document, "jobs", "nodes", "state|job_state", "name|job_id")):
        if not isinstance(job, dict):
            raise UnreadableError(f"jobs[{at}] is no object", text=str(job)[:80])
        yield _job(job, names)


def _job(job: dict[str, Any], names: Names) -> SchedulerJob:
    """A job of squeue and slurmctld, or one of the accounting, whose array, times and state are objects."""
    times, array, het = (object_of(job.get(key)) for key in ("time", "array", "het"))
    state = "+".join(states(job.get("job_state", job.get("state"))))
    if not state:
        raise UnreadableError("a job without a state", text=str(job.get("job_id"))[:40])
    start, end = (number(job.get(f"{key}_time", times.get(key))) or None for key in ("start", "end"))
    limit = job["time_limit"] if "time_limit" in job else times.get("limit", 0)
    unlimited = limit is None or (isinstance(limit, dict) and bool(limit.get("infinite")))
    job_id = number(job.get("job_id"))
    task = number(job.get("array_task_id", array.get("task_id")))
    waiting = text(job.get("array_task_string", array.get("task")))
    return SchedulerJob(
        name_of(
            job_id,
            number(job.get("array_job_id", array.get("job_id"))),
            waiting if task is None else str(task),
            number(job.get("het_job_id", het.get("job_id"))),
            number(job.get("het_job_offset", het.get("job_offset"))),
        ),
        job_id,
        (text(job.get("name")) or "")[:MOST_OF_A_NAME] or None,
        text(job.get("user_name")) or text(job.get("user")),
        state,
        names.expand(_listed(job)),
        _gpus(job),
        start,
        end_of(start, end, state, unlimited),
    )


def _listed(job: dict[str, Any]) -> str:
    """The node list of a job, which 24.05 may show as an object with the list in it."""
    for place in (job.get("nodes"), job.get("job_resources")):
        while isinstance(place, dict):
            place = place.get("nodes") if "nodes" in place else place.get("list")
        if isinstance(place, list):
            place = ",".join(one for one in place if isinstance(one, str))
        if isinstance(place, str) and place not in ("None assigned", "(null)", ""):
            return place
    return ""


def _gpus(job: dict[str, Any]) -> int | None:
    """What was allocated. `tres_per_node` and its kin are what was asked for."""
    detail = job.get("gres_detail")
    counts = [gpus_in(one) for one in detail if isinstance(one, str)] if isinstance(detail, list) else []
    if known := [count for count in counts if count is not None]:
        return sum(known)
    allocated = job.get("tres_alloc_str")
    if isinstance(allocated, str):
        return gpus_in(allocated)
    tres = job.get("tres")
    rows = tres.get("allocated") if isinstance(tres, dict) else None
    named = [row for row in objects_of(rows) if row.get("type") == "gres"]
    return gpus_in(",".join(f"gres/{row.get('name')}={row.get('count')}" for row in named))


def _from_records(answer: str) -> Iterator[SchedulerJob]:
    names = Names()
    for at, record in records(answer, "JobId", "a job of scontrol"):
        head = _head(record, at)
        job_id = (value(record, "JobId") or "").partition(" ")[0]
        if not job_id.isdigit():
            raise UnreadableError("not an id of a job", line=at, text=job_id)
        named = _NAMED.search(record)
        before = record[: named.start()] if named else record[: head.start()]
        state, listed = value(record, "JobState", head.start()), value(record, "NodeList", head.start())
        if not state or listed is None or not named:
            raise UnreadableError("cut short: a job without JobName, JobState or NodeList", line=at, text=record[:80])
        nodes = names.expand(listed, at)
        start, end = (time(value(record, key, head.start()) or "") for key in ("StartTime", "EndTime"))
        unlimited = value(record, "TimeLimit", head.start()) == "UNLIMITED"
        yield SchedulerJob(
            name_of(
                int(job_id),
                _digits(value(before, "ArrayJobId") or ""),
                value(before, "ArrayTaskId"),
                _digits(value(before, "HetJobId") or ""),
                _digits(value(before, "HetJobOffset") or ""),
            ),
            int(job_id),
            re.sub(r"\s*HetJobIdSet=\S+$", "", record[named.end() : head.start()].strip())[:MOST_OF_A_NAME] or None,
            head[1],
            "+".join(states(state)),
            nodes,
            _allocated(record[head.start() :], nodes, names, at),
            start,
            end_of(start, end, state, unlimited),
        )


def _head(record: str, at: int) -> re.Match[str]:
    """Where the record goes on behind the name, which may itself hold such words."""
    paths = [found.start() for found in _PATHS.finditer(record)]
    found = list(_HEAD.finditer(record, 0, paths[-1] if paths else len(record)))
    if not found:
        raise UnreadableError("cut short: a job without a user", line=at, text=record[:80])
    return found[-1]


def _allocated(record: str, nodes: tuple[str, ...], names: Names, at: int) -> int | None:
    total = gpus_in(value(record, "JOB_GRES") or "")
    if total is None:
        total = gpus_in(value(record, "AllocTRES") or value(record, "TRES") or "")
    if total is None:
        rows = [(names.expand(found[1], at), gpus_in(found[2])) for found in _DETAIL.finditer(record)]
        counts = [len(listed) * each for listed, each in rows if each is not None]
        total = sum(counts) if counts else None
    each = gpus_in(value(record, "TresPerNode") or "")
    return each * len(nodes) if total is None and each is not None and nodes else total
