"""The nodes of a Slurm cluster: their states, and why a drained one is drained.

Question: which hosts does the scheduler use, and which has it or a person taken out?
Needs: any user on a machine with Slurm's clients.

Formats: records of `scontrol show node`, also with `-o`; its `--json`, slurmrestd's nodes; `sinfo --json`, since 23.02
rows of nodes that are alike; tables of `sinfo` with `-l`, `-N`, `-R`, or `-o` that asks for STATE and NODELIST or
HOSTNAMES. Sources: Slurm 22.05.8, measured; scontrol(1), sinfo(1); recorded answers of 23.02 and 25.05.

Traps:

- `sinfo -R` cuts the reason at 20 characters and, without `-l`, shows no states.
- States are joined by `+`, and newer ones may follow: `MIXED+NOT_RESPONDING` is a node whose slurmd is dead and that
  is still allocated. Older releases mark it `IDLE*`.
- `Gres=(null)` is a node without a configured resource: whether it has GPUs is unknown.
- The name of a node need not be its host name.
"""

import re
from collections.abc import Iterator
from typing import Any

from collector.formats import slurm_tables
from collector.formats.slurm_words import Names, entries, gpus_in, records, states, text, value
from collector.formats.text import decode, is_json, object_of
from truerail.errors import UnreadableError
from truerail.model import Command, Device, Role, SchedulerNode, collector, saved_as

_BY = re.compile(r"[^\[\]\s]{1,80}@[0-9T:-]{1,30}\]")
_BEHIND = re.compile(r"\s(?:Comment|Extra|InstanceId|InstanceType|ReservationName)=\S")
"""What `scontrol` prints behind a reason (slurm/src/api/node_info.c)."""


ASK = (
    Command("scontrol -o show node", ("slurm",)),
    *saved_as("sinfo -R", "sinfo", "sinfo -N -l", "sinfo -l", "sinfo --json"),
)


@collector(on=[Role.HOST], ask=ASK, every=60.0, yields=[SchedulerNode], megabytes=16, long_lines=True)
def slurm_nodes(answer: str, device: Device) -> Iterator[SchedulerNode]:
    """One `SchedulerNode` for each node. Raises `UnreadableError`."""
    if not answer.startswith("NodeName=") and is_json(answer):
        return _from_json(decode(answer))
    if slurm_tables.NODES.search(answer):
        return slurm_tables.nodes(answer)
    if slurm_tables.asks_columns_of_nodes(answer):
        return slurm_tables.asked_nodes(answer)
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
    """The reason, without the user, the time and the other values behind it."""
    _, found, rest = record.partition(" Reason=")
    behind = _BEHIND.search(rest)
    said = " ".join((rest[: behind.start()] if behind else rest).split())
    before, _, by = said.rpartition(" [")
    return (text(before.strip() if _BY.fullmatch(by) else said)) if found else None


def _features(value: Any) -> tuple[str, ...]:
    words = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(word for word in words if isinstance(word, str) and word not in ("", "(null)"))


def _from_json(document: Any) -> Iterator[SchedulerNode]:
    if isinstance(document, dict) and isinstance(document.get("sinfo"), list):
        yield from _alike(document["sinfo"])
        return
    for at, node in enumerate(entries(document, "nodes", "name", "state", "real_memory")):
        name = text(node.get("name")) if isinstance(node, dict) else None
        if name is None:
            raise UnreadableError(f"nodes[{at}] has no name", text=str(node)[:80])
        if "state" not in node:
            raise UnreadableError(f"nodes[{at}] has no state", text=str(node)[:80])
        flags = states(node.get("state_flags", []))
        yield SchedulerNode(
            name,
            tuple(dict.fromkeys((*states(node.get("state")), *flags))),
            text(node.get("reason")),
            _features(node.get("active_features") or node.get("features")),
            gpus_in(node["gres"]) if isinstance(node.get("gres"), str) else None,
        )


def _alike(rows: list[Any]) -> Iterator[SchedulerNode]:
    """The nodes of `sinfo`'s rows, each once: a row has nodes that are alike, and there is one for each partition."""
    names, seen = Names(), set[str]()
    for at, row in enumerate(rows):
        parts = ("node", "nodes", "gres", "reason", "features")
        node, listed, gres, reason, features = (object_of(object_of(row).get(key)) for key in parts)
        if not isinstance(listed.get("nodes"), list):
            raise UnreadableError(f"sinfo[{at}] has no nodes", text=str(row)[:80])
        for name in names.expand(",".join(filter(None, map(text, listed["nodes"])))):
            if name not in seen:
                seen.add(name)
                yield SchedulerNode(
                    name,
                    states(node.get("state")),
                    text(reason.get("description")),
                    _features(features.get("active")),
                    gpus_in(text(gres.get("total")) or ""),
                )
