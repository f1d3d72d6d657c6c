"""Records of Slurm's accounting: `sacct`, a line of column names, then one line for each record; between fields `|` or
another separator (`-P`), or, with a ruler below the names, blanks.

Columns are found by their names; the name of the job, which users write, may hold the separator where it is the last.
Sources: sacct(1) of Slurm 22.05 and 24.11.

Traps:

- Without `-P` columns have widths, and a value that is wider ends with `+`: a list of nodes that is cut is refused, and
  a name or an end that is cut is not reported.
- `sacct` prints a job that was requeued once for each run with `-D`, under one id, and steps (`1234.batch`) without
  `-X`: steps are left out.
- A state has who cancelled it behind it: `CANCELLED by 1000`. An end of a job that runs is `Unknown`.
- `JobID` is `324_5` for a task of an array and `5+0` for a component of a heterogeneous job; `JobIDRaw` is a number.
"""

import re
from collections.abc import Iterator

from collector._answer import lines
from collector._sections import is_login_prompt
from collector._slurm_words import Names, end_of, gpus_in, states, time
from truerail.errors import UnreadableError
from truerail.model import SchedulerJob

COLUMNS = ("JobID", "JobIDRaw", "State", "NodeList", "AllocTRES", "Start", "End", "User", "JobName")
"""Those of the command."""
_NEEDED = ("state", "nodelist", "start", "end")
_MOST_OF_A_NAME = 1024
_TABLE = re.compile(r"^[ \t]*JobID(?:Raw)? [^\n|]*\n-{2,}(?: -{2,})+[ \r]*$", re.MULTILINE)
_RULER = re.compile(r"-{2,}(?: -{2,})+")


def is_accounting(answer: str) -> bool:
    """Whether an answer begins with the names of its columns."""
    head = answer.split("\n", 1)[0].lower()
    return (head.startswith(("jobid|", "jobid\x1f", "jobidraw|")) and "state" in head) or bool(_TABLE.search(answer))


def from_accounting(answer: str, separator: str) -> Iterator[SchedulerJob]:
    """One `SchedulerJob` for each record that is no step. Raises `UnreadableError`."""
    found = lines(answer)
    if found[-1] and not is_login_prompt(found[-1]):
        raise UnreadableError("cut short: its last line has no end", line=len(found), text=found[-1][:80])
    if _TABLE.search(answer):
        yield from _from_table(found)
        return
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
            yield from _record(dict(zip(columns, values, strict=True)), names, at)


def _from_table(found: list[str]) -> Iterator[SchedulerJob]:
    """The records below a ruler, whose runs are as wide as the columns."""
    ruled = next(at for at, line in enumerate(found) if _RULER.fullmatch(line.rstrip()))
    spans = [run.span() for run in re.finditer("-+", found[ruled])]
    columns = [found[ruled - 1][begin:end].strip().lower() for begin, end in spans]
    if lacking := [name for name in _NEEDED if name not in columns]:
        raise UnreadableError(f"no column {lacking[0]} of sacct", line=ruled, text=found[ruled - 1][:80])
    names = Names()
    for at, line in enumerate(found[ruled + 1 :], ruled + 2):
        if line.strip() and not is_login_prompt(line):
            if any(line[end : end + 1].strip() for _, end in spans):
                raise UnreadableError("columns that are not below the ruler", line=at, text=line.strip()[:80])
            record = {name: line[begin:end].strip() for name, (begin, end) in zip(columns, spans, strict=True)}
            cut = {name for name, value in record.items() if value.endswith("+")}
            if cut & {"jobid", "jobidraw", "nodelist"} and "." not in record.get("jobid", ""):
                raise UnreadableError("a value that sacct has cut: use -P", line=at, text=line.strip()[:80])
            kept = {name: value for name, value in record.items() if name not in cut or name == "state"}
            yield from _record(kept | dict.fromkeys(cut & set(_NEEDED) - {"state"}, ""), names, at)


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
