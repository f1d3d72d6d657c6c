"""Series of the whole fabric, as prometheus-client's metric families: few series, rendered by that library."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, Final

import numpy as np
from prometheus_client import Metric
from prometheus_client.registry import Collector

from rules import rules
from truerail.analysis.explained import AFFECTED_BY
from truerail.analysis.probes.results import NIC_STATES, NO_NIC, PAIR_STATES, ProbeResults, probe_results
from truerail.analysis.published import Published
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import distinct
from truerail.model.finding import Finding, Severity, Status, Verdict
from truerail.model.life import LifeState, Mute, MuteKind
from truerail.outputs.metrics.declared import declared
from truerail.outputs.metrics.metric_series import Samples, family

# ----------------------------------------------------------------------------------------------------------------------
# Running jobs that a fault affects, as series: the worst ones one by one, the rest counted. Probes as series.


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
    kinds: dict[str, set[tuple[str, str]]] = defaultdict(set)
    gpus: Counter[int] = Counter()
    hosts: Counter[tuple[str, str]] = Counter()
    for finding in publication.evaluation.findings:
        if finding.rule in _RULES:
            about: dict[str, Any] = dict(finding.detail)
            job = (about["scheduler"], about["job"])
            kinds[kind_of.get(about.get(AFFECTED_BY, ""), CauseKind.UNKNOWN.value)].add(job)
            gpus.update(dict(about.get("gpus_by_rail", ())))
            hosts[job] = max(hosts[job], len(about["hosts"]))
    worst = sorted(hosts, key=lambda job: (-hosts[job], job))
    families = (
        family(declared("job_affected"), [(fabric | {"kind": kind}, len(of)) for kind, of in sorted(kinds.items())]),
        family(declared("job_affected_gpus"), [(fabric | {"rail": str(rail)}, gpus[rail]) for rail in sorted(gpus)]),
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


# ----------------------------------------------------------------------------------------------------------------------
# Series of the whole fabric, as prometheus-client's metric families: few series, rendered by that library.


NOT_MUTED = "no"
MUTED = (NOT_MUTED, *(kind.value for kind in MuteKind))


class FabricWide(Collector):
    """The families of one publication."""

    def __init__(self, publication: Published) -> None:
        self._publication = publication
        self._fabric = {"fabric": publication.fabric}
        evaluated = [verdict for verdict in publication.evaluation.verdicts if _evaluated(verdict)]
        self._evaluated = tuple(verdict.rule for verdict in evaluated)

    def collect(self) -> Iterator[Metric]:
        """All families with at least one series."""
        families = (
            family(declared("findings"), self._findings()),
            family(declared("findings_by_state"), self._lives()),
            family(declared("causes"), self._causes()),
            family(declared("cause_moves"), self._moves()),
            family(declared("causes_unproven"), self._unproven()),
            family(declared("rule_status"), self._statuses()),
            family(declared("rule_info"), self._rules()),
            family(declared("plan_info"), self._plan()),
            family(declared("jobs_running"), self._jobs()),
            family(declared("job_source_success"), self._sources()),
            family(declared("job_source_age_seconds"), self._source_ages()),
            *job_families(self._publication),
            *probe_families(self._publication),
        )
        return (metric for metric in families if metric.samples)

    def _findings(self) -> Samples:
        mutes = self._publication.mutes
        found = ((f.rule, f.severity, muted(f, mutes)) for f in self._publication.evaluation.findings)
        return self._counted(("rule", "severity", "muted"), product(self._evaluated, Severity, MUTED), found)

    def _lives(self) -> Samples:
        publication = self._publication
        findings = (*publication.evaluation.findings, *publication.pending_resolution)
        if findings and not publication.lives:  # lives are not tracked
            return ()
        states = [state for state in LifeState if state.open]
        lives = ((f.severity, publication.lives.get(f.id)) for f in findings)
        found = ((severity, life.state) for severity, life in lives if life is not None and life.state.open)
        return self._counted(("severity", "state"), product(Severity, states), found)

    def _causes(self) -> Samples:
        known = CauseKind if self._evaluated else ()
        mutes = self._publication.mutes
        found = ((cause.kind, all_muted(cause.explains, mutes)) for cause in self._publication.evaluation.causes)
        return self._counted(("kind", "muted"), product(known, MUTED), found)

    def _moves(self) -> Samples:
        known = CauseKind if self._evaluated else ()
        moved = (cause.kind for cause in self._publication.evaluation.causes for _ in cause.moves)
        return self._counted(("kind",), product(known), zip(moved))

    def _unproven(self) -> Samples:
        if self._evaluated:
            yield self._fabric, sum(cause.unproven for cause in self._publication.evaluation.causes)

    def _statuses(self) -> Samples:
        for verdict in self._publication.evaluation.verdicts:
            for status in Status:
                yield self._fabric | {"rule": verdict.rule, "status": status}, verdict.status is status

    def _rules(self) -> Samples:
        for verdict in self._publication.evaluation.verdicts:
            if rule := rules().get(verdict.rule):
                yield self._fabric | {"rule": rule.code, "name": rule.name, "severity": rule.severity}, 1

    def _plan(self) -> Samples:
        plan = self._publication.plan
        inferred = "yes" if plan.inferred else "no"
        yield self._fabric | {"name": plan.name, "digest": self._publication.plan_digest, "inferred": inferred}, 1

    def _jobs(self) -> Samples:
        jobs = self._publication.round.jobs
        known = ((source.name,) for source in jobs.sources if source.at is not None)
        return self._counted(("source",), known, ((job.source,) for job in jobs.running))

    def _sources(self) -> Samples:
        for source in self._publication.round.jobs.sources:
            yield self._fabric | {"source": source.name}, not source.error

    def _source_ages(self) -> Samples:
        for source in self._publication.round.jobs.sources:
            if source.at is not None:
                age = (self._publication.at - source.at).total_seconds()
                yield self._fabric | {"source": source.name}, max(age, 0.0)

    def _counted(
        self, labels: tuple[str, ...], known: Iterable[tuple[str, ...]], found: Iterable[tuple[str, ...]]
    ) -> Samples:
        """How often each value of the labels is found, those that are known to be possible also if never."""
        counts = Counter(dict.fromkeys(known, 0))
        counts.update(found)
        return [(self._fabric | dict(zip(labels, key, strict=True)), count) for key, count in counts.items()]


def _evaluated(verdict: Verdict) -> bool:
    """Whether the rule evaluated the fabric, in full or except for a part: only then a count of 0 has a meaning."""
    if verdict.status is Status.UNKNOWN:
        return bool(verdict.not_evaluated) and all(part.rest_evaluated for part in verdict.not_evaluated)
    return verdict.status in (Status.PASS, Status.FAIL)


def muted(finding: Finding, mutes: Mapping[str, Mute]) -> str:
    """Why a finding is muted, or `no`."""
    mute = mutes.get(finding.id)
    return NOT_MUTED if mute is None else mute.kind


def all_muted(findings: Iterable[str], mutes: Mapping[str, Mute]) -> str:
    """Why a cause is muted, or `no`: all findings that it explains must be. By maintenance if that covers all of them,
    else also by acknowledgements.
    """
    found = [mutes.get(finding) for finding in findings]
    kinds = [mute.kind for mute in found if mute is not None]
    if not kinds or len(kinds) < len(found):
        return NOT_MUTED
    return MuteKind.ACKNOWLEDGED if MuteKind.ACKNOWLEDGED in kinds else MuteKind.MAINTENANCE
