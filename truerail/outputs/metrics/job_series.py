"""Running jobs that a fault hurts, as series: the worst ones one by one, the rest counted. Probes as series."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from prometheus_client import Metric

from truerail.analysis.explained import HURT_BY
from truerail.analysis.probes.results import NIC_STATES, NO_NIC, PAIR_STATES, ProbeResults, probe_results
from truerail.analysis.published import Published
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import distinct
from truerail.outputs.metrics.declared import declared
from truerail.outputs.metrics.metric_series import Samples, family

MOST: Final = 50
"""Jobs that have their own series: 10,000 jobs a day would be as many new series. Their label is no `job`, which is
Prometheus' own for what it scrapes.
"""
_RULES: Final = ("JOB001", "JOB009")


def job_families(publication: Published) -> Iterator[Metric]:
    """All families with at least one series."""
    if not publication.round.jobs.known:
        return
    fabric = {"fabric": publication.fabric}
    kind_of = {cause.key: cause.kind.value for cause in publication.evaluation.causes}
    by_kind: dict[str, set[tuple[str, str]]] = defaultdict(set)
    gpus: Counter[int] = Counter()
    hosts: Counter[tuple[str, str]] = Counter()
    for finding in publication.evaluation.findings:
        if finding.rule in _RULES:
            about: dict[str, Any] = dict(finding.detail)
            job = (about["scheduler"], about["job"])
            by_kind[kind_of.get(about.get(HURT_BY, ""), CauseKind.UNKNOWN.value)].add(job)
            gpus.update(dict(about.get("gpus_by_rail", ())))
            hosts[job] = max(hosts[job], len(about["hosts"]))
    worst = sorted(hosts, key=lambda job: (-hosts[job], job))
    families = (
        family(declared("job_hurt"), [(fabric | {"kind": kind}, len(jobs)) for kind, jobs in sorted(by_kind.items())]),
        family(declared("job_hurt_gpus"), [(fabric | {"rail": str(rail)}, gpus[rail]) for rail in sorted(gpus)]),
        family(declared("job_info"), [(fabric | {"job_id": key, "scheduler": of}, 1) for of, key in worst[:MOST]]),
        family(declared("jobs_left_out"), [(fabric, max(len(worst) - MOST, 0))]),
    )
    yield from (metric for metric in families if metric.samples)


# ----------------------------------------------------------------------------------------------------------------------
# Probes as series: a few for each rail. What has no result has no series.


def probe_families(publication: Published) -> Iterator[Metric]:
    """The families of a publication's probes."""
    results = probe_results(publication.round)
    if results is None:
        return
    fabric = {"fabric": publication.fabric}
    left_out = len(results.left_out)
    yield family(declared("probe_nics"), _nics(fabric, publication, results))
    yield family(declared("probe_pairs"), _pairs(fabric, results))
    yield family(declared("probe_loss_ratio"), _losses(fabric, results))
    hosts = ({"state": "probed"}, results.hosts - left_out), ({"state": "left_out"}, left_out)
    yield family(declared("probe_hosts"), [(fabric | labels, count) for labels, count in hosts])
    yield family(declared("probe_timestamp_seconds"), [(fabric, results.at.timestamp())])


def _nics(fabric: dict[str, str], publication: Published, results: ProbeResults) -> Samples:
    rail, state = publication.round.cabling.index.rail, results.state
    for number in distinct(rail[state != NO_NIC]).tolist():
        count = np.bincount(state[rail == number], minlength=len(NIC_STATES)).tolist()
        for code, word in enumerate(NIC_STATES):
            if code != NO_NIC:
                yield fabric | {"rail": str(number), "state": word}, count[code]


def _pairs(fabric: dict[str, str], results: ProbeResults) -> Samples:
    for rail, counts in results.pairs.items():
        for word, count in zip(PAIR_STATES, counts, strict=True):
            yield fabric | {"rail": str(rail), "state": word}, count


def _losses(fabric: dict[str, str], results: ProbeResults) -> Samples:
    for rail, (sent, lost) in results.packets.items():
        if sent:
            yield fabric | {"rail": str(rail)}, lost / sent
