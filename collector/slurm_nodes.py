"""The nodes of a Slurm cluster: their states, and why a drained one is drained.

Question: which hosts does the scheduler use, and which has it or a person taken out?
Needs: any user on a machine with Slurm's clients.

Formats: records of `scontrol show node`, on one line each (`-o`) or on several; `scontrol show node --json`,
`sinfo --json` and slurmrestd's nodes; the tables of `sinfo`, `sinfo -N [-l]` and `sinfo -R`. Sources: measured with
Slurm 22.05.8; scontrol(1), sinfo(1).

Traps:

- `sinfo -R` cuts the reason at 20 characters and shows no states.
- States are joined by `+`, and newer ones may follow: `MIXED+NOT_RESPONDING` is a node whose slurmd is dead and that
  is still allocated. Older releases mark it `IDLE*`.
- `Gres=(null)` is a node without a configured resource: whether it has GPUs is unknown.
- The name of a node need not be its host name.
"""

import re
from collections.abc import Iterator
from typing import Any

from collector import _slurm_tables
from collector._answer import decode, is_json, lines
from collector._slurm_records import records, value
from collector._slurm_words import Names, gpus_in, states, text
from truerail.errors import UnreadableError
from truerail.model import Command, Device, Role, SchedulerNode, collector

_BY = re.compile(r"[^\[\]\s]{1,80}@[0-9T:-]{1,30}\]")
_TABLE = re.compile(r"REASON\s+USER\s+TIMESTAMP\s+NODELIST\s*")
_ROW = re.compile(r"(\S.*?)\s+(\S+)\s+(\d{4}-\d\d-\d\dT[\d:]+|Unknown)\s+(\S+)\s*")
_LONGEST_ROW = 20_000


@collector(
    on=[Role.HOST],
    ask=[
        Command("scontrol -o show node", ("slurm",)),
        *(Command(text, ("capture",)) for text in ("sinfo -R", "sinfo", "sinfo -N -l")),
    ],
    every=60.0,
    yields=[SchedulerNode],
)
def slurm_nodes(answer: str, device: Device) -> Iterator[SchedulerNode]:
    """One `SchedulerNode` for each node. Raises `UnreadableError`."""
    if not answer.startswith("NodeName=") and is_json(answer):
        return _from_json(decode(answer))
    if _slurm_tables.NODES.search(answer):
        return _slurm_tables.nodes(answer)
    if _TABLE.match(answer):
        return _from_table(answer)
    return _from_records(answer)


def _from_records(answer: str) -> Iterator[SchedulerNode]:
    for at, record in records(answer, "NodeName", "a node of scontrol"):
        name, state = value(record, "NodeName"), value(record, "State")
        if not name or not state:
            raise UnreadableError("cut short: a node without a name or a state", line=at, text=record[:80])
        yield SchedulerNode(
            name,
            states(state),
            _reason(record),
            _features(value(record, "ActiveFeatures") or value(record, "AvailableFeatures") or ""),
            gpus_in(value(record, "Gres") or ""),
        )


def _reason(record: str) -> str | None:
    """The reason, without the user and the time behind it."""
    _, found, rest = record.partition(" Reason=")
    said = rest.partition("\n")[0].strip()
    before, _, by = said.rpartition(" [")
    return (text(before.strip() if _BY.fullmatch(by) else said)) if found else None


def _features(value: Any) -> tuple[str, ...]:
    words = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(word for word in words if isinstance(word, str) and word not in ("", "(null)"))


def _from_json(document: Any) -> Iterator[SchedulerNode]:
    found = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise UnreadableError("not nodes of Slurm: no list nodes", line=1, text=str(document)[:80])
    for at, node in enumerate(found):
        name = text(node.get("name")) if isinstance(node, dict) else None
        if name is None:
            raise UnreadableError(f"nodes[{at}] has no name", text=str(node)[:80])
        flags = states(node.get("state_flags", []))
        yield SchedulerNode(
            name,
            tuple(dict.fromkeys((*states(node.get("state")), *flags))),
            text(node.get("reason")),
            _features(node.get("active_features") or node.get("features")),
            gpus_in(node["gres"]) if isinstance(node.get("gres"), str) else None,
        )


def _from_table(answer: str) -> Iterator[SchedulerNode]:
    names, found = Names(), lines(answer)
    if found[-1]:
        raise UnreadableError("cut short: its last line has no end", line=len(found), text=found[-1])
    for at, line in enumerate(found[1:-1], 2):
        row = _ROW.fullmatch(line) if len(line) <= _LONGEST_ROW else None
        if row is None:
            raise UnreadableError("not a row of sinfo -R", line=at, text=line)
        for name in names.expand(row[4], at):
            yield SchedulerNode(name, (), row[1])
