"""Open faults as series: the worst ones one by one, the rest counted. Findings by device, port and rail."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from truerail.analysis.published import Published
from truerail.model.finding import Finding
from truerail.model.life import Mute
from truerail.model.open_fault import OpenFault
from truerail.model.plan import Role
from truerail.outputs.metrics.declared import Declared, declared
from truerail.outputs.metrics.families import all_muted, muted
from truerail.outputs.metrics.metric_series import Rows, Series
from truerail.outputs.metrics.plan_rows import Layout

MOST: Final = 200
"""Causes, and findings without a cause, that have their own series."""
MOST_FINDINGS: Final = 8
"""Ids of findings in the label of a cause."""


def fault_series(layout: Layout, publication: Published) -> Iterator[Series]:
    """Every series of the open faults."""
    causes = [fault for fault in publication.open_faults if fault.kind is not None]
    findings = [fault for fault in publication.open_faults if fault.kind is None]
    named, rows = _identified(layout, publication, causes[:MOST], "cause")
    more = {"findings": [_ids(fault) for fault in named]}
    yield Series(declared("cause_info"), rows, [1] * len(named), {**_texts(publication, named), **more})
    for name, values in (
        ("cause_affected_gpus", [fault.affected_gpus for fault in named]),
        ("cause_affected_hosts", [fault.affected_hosts for fault in named]),
        ("cause_since_timestamp_seconds", [fault.since.timestamp() if fault.since else None for fault in named]),
    ):
        yield _known(declared(name), rows, values)
    yield _folded(layout, publication.mutes, causes[MOST:], declared("causes_folded"))
    named, rows = _identified(layout, publication, findings[:MOST], "finding")
    yield Series(declared("finding_info"), rows, [1] * len(named), _texts(publication, named))
    yield _folded(layout, publication.mutes, findings[MOST:], declared("findings_folded"))


def _identified(
    layout: Layout, publication: Published, faults: Sequence[OpenFault], label: str
) -> tuple[list[OpenFault], Rows]:
    """Faults in the order of their pods, and their rows."""
    ordered = sorted(faults, key=lambda fault: layout.rank[fault.pod])
    pod = np.array([layout.rank[fault.pod] for fault in ordered], dtype=np.int64)
    labels = {
        label: [fault.key for fault in ordered],
        "kind" if label == "cause" else "rule": [_kind(fault) for fault in ordered],
        "severity": [fault.severity.value for fault in ordered],
        "muted": [all_muted(fault.findings, publication.mutes) for fault in ordered],
    }
    return ordered, layout.rows(pod, **labels)


def _kind(fault: OpenFault) -> str:
    return fault.kind.value if fault.kind else fault.rule


def _texts(publication: Published, faults: Sequence[OpenFault]) -> Mapping[str, Sequence[str]]:
    page = publication.page_url.rstrip("/")
    return {
        "subject": [fault.subject for fault in faults],
        "summary": [fault.summary for fault in faults],
        "action": [fault.action for fault in faults],
        "rack": [fault.rack for fault in faults],
        "unit": [fault.unit for fault in faults],
        "page_url": [f"{page}{fault.path}" if page else "" for fault in faults],
    }


def _ids(fault: OpenFault) -> str:
    more = len(fault.findings) - MOST_FINDINGS
    return " ".join(fault.findings[:MOST_FINDINGS]) + (f" and {more} more" if more > 0 else "")


def _known(metric: Declared, rows: Rows, values: Sequence[float | None]) -> Series:
    """The rows that have a value: unknown has no series."""
    known = np.array([number for number, value in enumerate(values) if value is not None], dtype=np.int64)
    return Series(metric, rows.take(known), [value for value in values if value is not None])


def _folded(layout: Layout, mutes: Mapping[str, Mute], faults: Sequence[OpenFault], metric: Declared) -> Series:
    counts = Counter(
        (layout.rank[fault.pod], _kind(fault), fault.severity.value, all_muted(fault.findings, mutes))
        for fault in faults
    )
    keys = sorted(counts)
    pod = np.array([key[0] for key in keys], dtype=np.int64)
    names = (metric.labels[2], "severity", "muted")
    labels = {name: [str(key[place]) for key in keys] for place, name in enumerate(names, 1)}
    return Series(metric, layout.rows(pod, **labels), [counts[key] for key in keys])


# ----------------------------------------------------------------------------------------------------------------------
# Findings by device, port and rail: only where there are any.

_LABELS = ("host", "nic", "rail", "plane", "switch", "rule", "severity", "muted")
_Key = tuple[int, tuple[str, ...]]


def device_findings(layout: Layout, publication: Published) -> Series:
    """One series for each device, host's port, rail, rule, severity and mute reason. Subjects that are not in the plan
    are counted together, without a name: an unknown device chooses its own name.
    """
    counts = Counter[_Key]()
    devices, mutes = layout.plan.devices, publication.mutes
    for finding in publication.evaluation.findings:
        device = devices.get(finding.subject) or devices.get(finding.device)
        host = device.name if device and device.role is Role.HOST else ""
        switch = device.name if device and not host else ""
        labels = (host, *_port(layout, finding), switch, finding.rule, finding.severity.value, muted(finding, mutes))
        counts[layout.rank[device.pod if device else ""], labels] += 1
    return _series(layout, sorted(counts.items(), key=lambda item: item[0][0]))


def _port(layout: Layout, finding: Finding) -> tuple[str, str, str]:
    """NIC, rail and plane. A finding without a rail has that of its NIC."""
    rail = "" if finding.rail is None else str(finding.rail)
    row = layout.link_at.get(_subject(finding))
    if row is None:
        return "", rail, ""
    labels = layout.links.rows.labels
    return labels["nic"][row], rail or labels["rail"][row], labels["plane"][row]


def _subject(finding: Finding) -> str:
    """The port of a finding. Rules that compare the ports of a device have the device as subject, and the port in
    another field.
    """
    port = str(dict(finding.detail).get("port", ""))
    return port if port.partition("/")[0] == finding.subject else finding.subject


def _series(layout: Layout, counts: list[tuple[_Key, int]]) -> Series:
    pod = np.array([rank for (rank, _), _ in counts], dtype=np.int64)
    labels = {label: [key[place] for (_, key), _ in counts] for place, label in enumerate(_LABELS)}
    return Series(declared("device_findings"), layout.rows(pod, **labels), [count for _, count in counts])
