"""Recordings of several rounds of one run as one: the counts of each flow, source port, TTL and size added up."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from collector import collectors
from truerail.errors import UnreadableError
from truerail.model.plan import Device
from truerail.model.probe_facts import BUFFER_FULL, PROBE_COLLECTOR, STARTED_LATE
from truerail.probe.host_tasks import ProbePlan
from truerail.probe.packet_schedule import FULL_TTL

_TABLES = ("sent", "heard", "hops")
_NOISE = (BUFFER_FULL, STARTED_LATE)
Recording = dict[str, Any]


def unfit(plan: ProbePlan, answers: Mapping[str, str]) -> dict[str, str]:
    """The hosts whose answers are not understood, or are of other flows than their own, and why: a host speaks for its
    own ends alone.
    """
    found, collector, flows = {}, collectors()[PROBE_COLLECTOR], plan.flows
    for host, text in answers.items():
        try:
            collector.read(text, Device(host))
        except UnreadableError as error:
            found[host] = f"its answer is not understood: {error}"
            continue
        one = json.loads(text)
        sends, hears = flows.sent_by(host).tolist(), flows.heard_by(host).tolist()
        own = _among(one["sends"], sends, flows.about) and _among(one["hears"], hears, flows.expected)
        if (one["run"], one.get("host")) != (plan.run, host) or not own:
            found[host] = "its answer is of other flows than those that it was given"
    return found


def _among(reported: Iterable[Recording], places: Iterable[int], given: Callable[[int], Recording]) -> bool:
    """Whether flows are among those that a host was given, and as they were given."""
    known = {flow["flow"]: flow for flow in map(given, places)}
    return all(
        one["flow"] in known and {name: one.get(name) for name in known[one["flow"]]} == known[one["flow"]]
        for one in reported
    )


def merged(first: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """The recordings of a run by host, with those of a later round. Of the later round, packets that shall arrive count
    only where both ends of their flow answered, and the listener began in time and dropped nothing itself. The later
    recordings are known to be understood; a first one that is not stays as it is.
    """
    new = {host: json.loads(text) for host, text in more.items()}
    noisy = {host for host, one in new.items() if any(row[0] in _NOISE for row in one["trouble"])}
    sent = {flow["flow"] for one in new.values() for flow in one["sends"]}
    heard = {flow["flow"] for host, one in new.items() if host not in noisy for flow in one["hears"]}
    both, found = sent & heard, dict(first)
    for host, one in new.items():
        with suppress(KeyError, TypeError, ValueError, IndexError):
            found[host] = json.dumps(_added(json.loads(first[host]), one, both), separators=(",", ":")) + "\n"
    return found


def _added(old: Recording, new: Recording, both: set[int]) -> Recording:
    """One host's recording with that of a later round."""
    tables = {name: Counter({tuple(row[:-1]): row[-1] for row in old[name]}) for name in _TABLES}
    for name in _TABLES:
        for *key, count in new[name]:
            if name == "hops" or key[2] != FULL_TTL or key[0] in both:
                tables[name][tuple(key)] += count
    trouble = Counter({(*row[:3], row[4]): row[3] for row in old["trouble"]})
    for what, port, flow, count, detail in new["trouble"]:
        if what not in _NOISE:
            trouble[what, port, flow, detail] += count
    return {
        **old,
        **{name: [[*key, count] for key, count in of.items()] for name, of in tables.items()},
        "trouble": [[what, port, flow, count, detail] for (what, port, flow, detail), count in trouble.items()],
        **{name: old.get(name, 0) + new.get(name, 0) for name in ("seconds", "cpu_seconds")},
    }
