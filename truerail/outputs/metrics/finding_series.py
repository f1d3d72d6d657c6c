"""Findings by device, port and rail: only where there are any."""

from collections import Counter

import numpy as np

from truerail.analysis.published import Published
from truerail.model.finding import Finding
from truerail.model.plan import Role
from truerail.outputs.metrics.declared_links import DEVICE_FINDINGS
from truerail.outputs.metrics.families import muted
from truerail.outputs.metrics.metric_series import Series
from truerail.outputs.metrics.plan_rows import Layout

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
    return Series(DEVICE_FINDINGS, layout.rows(pod, **labels), [count for _, count in counts])
