"""Open faults as series: the worst ones one by one, the rest counted."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from truerail.analysis.published import Published
from truerail.model.life import Mute
from truerail.model.open_fault import OpenFault
from truerail.outputs.metrics import declared_faults as declared
from truerail.outputs.metrics.declaring import Declared
from truerail.outputs.metrics.families import all_muted
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
    yield Series(declared.CAUSE_INFO, rows, [1] * len(named), {**_texts(publication, named), **more})
    for metric, values in (
        (declared.CAUSE_GPUS, [fault.affected_gpus for fault in named]),
        (declared.CAUSE_HOSTS, [fault.affected_hosts for fault in named]),
        (declared.CAUSE_SINCE, [fault.since.timestamp() if fault.since else None for fault in named]),
    ):
        yield _known(metric, rows, values)
    yield _folded(layout, publication.mutes, causes[MOST:], declared.CAUSES_FOLDED)
    named, rows = _identified(layout, publication, findings[:MOST], "finding")
    yield Series(declared.FINDING_INFO, rows, [1] * len(named), _texts(publication, named))
    yield _folded(layout, publication.mutes, findings[MOST:], declared.FINDINGS_FOLDED)


def _identified(
    layout: Layout, publication: Published, faults: Sequence[OpenFault], label: str
) -> tuple[list[OpenFault], Rows]:
    """Faults in the order of their pods, and their rows."""
    ordered = sorted(faults, key=lambda fault: layout.rank[fault.pod])
    pod = np.array([layout.rank[fault.pod] for fault in ordered], dtype=np.int64)
    kind = {"kind" if label == "cause" else "rule": [_kind(fault) for fault in ordered]}
    labels = {
        label: [fault.key for fault in ordered],
        **kind,
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
