"""Records of Slurm's accounting: `sacct -P`, a line of column names, then one line for each record.

Columns are found by their names; the name of the job, which users write, may hold the separator where it is the last.
Sources: sacct(1) of Slurm 22.05 and 24.11.

Traps:

- `sacct` prints a job that was requeued once for each run with `-D`, under one id, and steps (`1234.batch`) without
  `-X`: steps are left out.
- A state has who cancelled it behind it: `CANCELLED by 1000`. An end of a job that runs is `Unknown`.
- `JobID` is `324_5` for a task of an array and `5+0` for a component of a heterogeneous job; `JobIDRaw` is a number.
"""

from collections.abc import Iterator

from collector._answer import lines
from collector._slurm_words import Names, end_of, gpus_in, states, time
from truerail.errors import UnreadableError
from truerail.model import SchedulerJob

COLUMNS = ("JobID", "JobIDRaw", "State", "NodeList", "AllocTRES", "Start", "End", "User", "JobName")
"""Those of the command."""
_NEEDED = ("state", "nodelist", "start", "end")
_MOST_OF_A_NAME = 1024


def is_accounting(answer: str) -> bool:
    """Whether an answer begins with the names of its columns."""
    head = answer.split("\n", 1)[0].lower()
    return head.startswith(("jobid|", "jobid\x1f", "jobidraw|")) and "state" in head


def from_accounting(answer: str, separator: str) -> Iterator[SchedulerJob]:
    """One `SchedulerJob` for each record that is no step. Raises `UnreadableError`."""
    found = lines(answer)
    if found[-1]:
        raise UnreadableError("cut short: its last line has no end", line=len(found), text=found[-1][:80])
    between = separator if separator in found[0] else "|"
    columns = [name.lower() for name in found[0].split(between)]
    if lacking := [name for name in _NEEDED if name not in columns]:
        raise UnreadableError(f"no column {lacking[0]} of sacct", line=1, text=found[0][:80])
    names = Names()
    for at, line in enumerate(found[1:], 2):
        if line.strip():
            values = line.split(between, len(columns) - 1)
            if len(values) != len(columns):
                raise UnreadableError(f"{len(values)} fields, {len(columns)} expected", line=at, text=line[:80])
            record = dict(zip(columns, values, strict=True))
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
    state = "+".join(states(words[0]))
    start, end = time(record["start"]), time(record["end"])
    return SchedulerJob(
        job[:_MOST_OF_A_NAME],
        int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 19 else None,
        record.get("jobname", "")[:_MOST_OF_A_NAME] or None,
        record.get("user") or None,
        state,
        names.expand(record["nodelist"].removeprefix("None assigned"), at),
        gpus_in(record.get("alloctres", "")),
        start,
        end_of(start, end, state, unlimited=False),
    )
