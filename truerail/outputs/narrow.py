"""Narrows an evaluation to some devices. The analysis stays the same; only the reported part is smaller."""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from truerail.model import CableState, Cause, Evaluation, Finding, Role, Severity, Status, Summary, Verdict


def narrowed(evaluation: Evaluation, devices: Collection[str], read: Collection[str]) -> Evaluation:
    """The part of an evaluation for `devices` (names as in the plan): their cables, findings, and causes with all of
    their moves.

    A cause keeps all moves, because half a swap repairs nothing. `read` are the devices with any answer.
    """
    findings = tuple(finding for finding in evaluation.findings if _concerns(finding, devices))
    kept = {finding.id for finding in findings}
    touched = {c.a for c in evaluation.plan.cables if c.a.device in devices or c.b.device in devices}
    part = replace(
        evaluation,
        findings=findings,
        causes=tuple(_narrowed_cause(cause, kept) for cause in evaluation.causes if kept.intersection(cause.explains)),
        verdicts=tuple(_narrowed_verdict(verdict, findings) for verdict in evaluation.verdicts),
        collection_errors=tuple(reading for reading in evaluation.collection_errors if reading.device in devices),
        cable_states={port: state for port, state in evaluation.cable_states.items() if port in touched},
    )
    return replace(part, summary=_summary(part, devices, read))


def _concerns(finding: Finding, devices: Collection[str]) -> bool:
    ports = (finding.subject, finding.expected or "", finding.observed or "")
    return any(port.partition("/")[0] in devices for port in ports)


def _narrowed_cause(cause: Cause, kept: Collection[str]) -> Cause:
    return replace(cause, explains=tuple(finding for finding in cause.explains if finding in kept))


def _narrowed_verdict(verdict: Verdict, findings: tuple[Finding, ...]) -> Verdict:
    clean = verdict.status is Status.FAIL and all(finding.rule != verdict.rule for finding in findings)
    rest = Status.UNKNOWN if verdict.not_evaluated else Status.PASS
    return replace(verdict, status=rest) if clean else verdict


def _summary(part: Evaluation, devices: Collection[str], read: Collection[str]) -> Summary:
    count = Counter(part.cable_states.values())
    hosts = [device for device in part.plan.of_role(Role.HOST) if device.name in devices]
    loud = Counter(finding.severity for finding in part.findings)
    return Summary(
        cables_planned=len(part.cable_states),
        cables_right=count[CableState.RIGHT],
        cables_wrong=count[CableState.WRONG],
        cables_missing=count[CableState.MISSING],
        cables_unknown=count[CableState.UNKNOWN],
        hosts=len(hosts),
        hosts_read=sum(host.name in read for host in hosts),
        findings={severity.value: loud[severity] for severity in reversed(Severity)},
    )
