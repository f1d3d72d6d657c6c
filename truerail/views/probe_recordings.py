"""The probes that count in an evaluation as recordings again: what a capture needs to replay them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from truerail.analysis.published import Published
from truerail.model.facts import Fact
from truerail.model.probe_facts import FULL_TTL, PROBE_COLLECTOR, ProbeEcho, ProbeHop, ProbeReach, ProbeTrouble

VERSION = 1
Recording = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ProbeRecording:
    """What a host has recorded, in all runs that count: the answer `truerail-probe` of its folder in a capture."""

    host: str
    recording: str


def probe_recordings(publication: Published, offset: int, limit: int) -> tuple[Sequence[ProbeRecording], int]:
    """The recordings of some of the hosts that have one, and how many hosts have one."""
    found = [one for one in publication.snapshot.readings if one.collector == PROBE_COLLECTOR and one.facts]
    made = [ProbeRecording(one.device, recording_of(one.device, one.facts)) for one in found[offset : offset + limit]]
    return made, len(found)


def recording_of(host: str, facts: Iterable[Fact]) -> str:
    """A host's facts of probes as its recordings: a list with one of each run."""
    runs: dict[str, Recording] = {}
    for fact in facts:
        if isinstance(fact, (ProbeReach, ProbeHop, ProbeTrouble, ProbeEcho)):
            _add(runs.setdefault(fact.run, _empty(fact.run, host)), fact)
    for one in runs.values():
        for role in ("sends", "hears"):
            one[role] = list({flow["flow"]: flow for flow in one[role]}.values())
        one["sent"] = list(dict.fromkeys(one["sent"]))
    return json.dumps(list(runs.values()), separators=(",", ":")) + "\n"


def _empty(run: str, host: str) -> Recording:
    tables: Recording = {name: [] for name in ("sends", "hears", "sent", "heard", "hops", "trouble", "echoes")}
    return {"truerail_probe": VERSION, "run": run, "host": host, **tables}


def _add(recording: Recording, fact: ProbeReach | ProbeHop | ProbeTrouble | ProbeEcho) -> None:
    if isinstance(fact, ProbeTrouble):
        recording["trouble"].append((fact.what, fact.port, fact.flow, fact.amount, fact.detail))
        return
    if isinstance(fact, ProbeEcho):
        least = None if fact.rtt_us is None else fact.rtt_us / 1000
        output = fact.detail or "" if least is None else f"rtt min/avg/max = {least:.4f}/{least:.4f}/{least:.4f} ms"
        recording["echoes"].append((fact.flow, output))
        return
    if isinstance(fact, ProbeHop):
        key = (fact.flow, fact.source_port, fact.ttl, fact.size)
        if fact.sent:
            recording["sent"].append((*key, fact.sent))
        if fact.address is not None:
            recording["hops"].append((*key, fact.address, fact.kind, fact.mtu or 0, fact.answered))
        return
    recording["sends" if fact.heard is None else "hears"].append(_flow(fact))
    if fact.sent and fact.size is not None:
        recording["sent"].append((fact.flow, fact.source_port, FULL_TTL, fact.size, fact.sent))
    if fact.heard:
        row = (fact.flow, fact.source_port, FULL_TTL, fact.size, fact.tos_heard, fact.arrived_on, fact.heard)
        recording["heard"].append(row)


def _flow(fact: ProbeReach) -> Recording:
    names = ("flow", "port", "peer", "peer_port", "mode", "tos", "pinglist", "address", "peer_address", "left_by")
    return {name: value for name in names if (value := getattr(fact, name)) is not None}
