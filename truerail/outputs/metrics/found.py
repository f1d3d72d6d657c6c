"""Findings by device and rail: only where there are some."""

from collections import Counter

import numpy as np

from truerail.model.plan import Role
from truerail.model.publication import Publication
from truerail.outputs.metrics.declared import DEVICE_FINDINGS
from truerail.outputs.metrics.families import muted
from truerail.outputs.metrics.layout import Layout
from truerail.outputs.metrics.series import Series

_LABELS = ("host", "switch", "rail", "rule", "severity", "muted")
_Key = tuple[int, tuple[str, ...]]


def device_findings(layout: Layout, publication: Publication) -> Series:
    """One series for each device, rail, rule, severity and reason for silence. Subjects that the plan does not know
    are counted together, under no name: a stranger's name is its own choice.
    """
    counts = Counter[_Key]()
    devices, mutes = layout.plan.devices, publication.mutes
    for finding in publication.judgement.findings:
        device = devices.get(finding.subject) or devices.get(finding.device)
        host = device.name if device and device.role is Role.HOST else ""
        switch = device.name if device and not host else ""
        rail = "" if finding.rail is None else str(finding.rail)
        labels = (host, switch, rail, finding.rule, finding.severity.value, muted(finding, mutes))
        counts[layout.rank[device.pod if device else ""], labels] += 1
    return _series(layout, sorted(counts.items(), key=lambda item: item[0][0]))


def _series(layout: Layout, counts: list[tuple[_Key, int]]) -> Series:
    pod = np.array([rank for (rank, _), _ in counts], dtype=np.int64)
    labels = {label: [key[place] for (_, key), _ in counts] for place, label in enumerate(_LABELS)}
    return Series(DEVICE_FINDINGS, layout.rows(pod, **labels), [count for _, count in counts])
