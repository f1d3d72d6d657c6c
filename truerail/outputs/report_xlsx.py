"""The workbook: steps by rack, causes with their moves, findings, hosts."""

from collections import Counter
from collections.abc import Iterator

from truerail.files.spreadsheet import Row, Sheet, workbook
from truerail.model import CableState, Cause, Evaluation
from truerail.outputs.punch import punch_list
from truerail.outputs.report_csv import COLUMNS, rows
from truerail.outputs.report_words import headline, name, order, place, place_of, sentence, title

_BAD = ("FFC7CE", "9C0006")
_SEVERITIES = {"critical": _BAD, "warning": ("FFEB9C", "7F6000"), "info": ("DDEBF7", "1F4E78")}


def render_xlsx(evaluation: Evaluation) -> bytes:
    """The workbook's bytes: sheets Punch list, Causes, Findings, Summary."""
    sheets = (_punch(evaluation), _causes(evaluation), _findings(evaluation), _summary(evaluation))
    return workbook(sheets, f"truerail: {title(evaluation.plan)}", headline(evaluation).cables)


def _summary(evaluation: Evaluation) -> Sheet:
    marks = {column: {"> 0": _BAD} for column in range(4, 9)}
    columns = ("host", "place", "planned", "right", "wrong", "missing", "unknown", "findings", "not right")
    return Sheet("Summary", columns, (24, 20, 10, 10, 10, 10, 10, 10, 11), _hosts(evaluation), marks)


def _hosts(evaluation: Evaluation) -> Iterator[Row]:
    """Each host's cables by state, hosts with most missing, then most wrong, first."""
    states: dict[str, Counter[CableState]] = {}
    for cable in evaluation.plan.host_cables:
        if state := evaluation.cable_states.get(cable.a):
            states.setdefault(cable.a.device, Counter())[state] += 1
    findings = Counter(finding.device for finding in evaluation.findings)
    for host in sorted(states, key=lambda h: (*_worst(states[h]), order(h))):
        of = states[host]
        counts = (of.total(), *(of[state] for state in CableState), findings[host])
        yield (name(host), place(evaluation.plan.devices[host]), *counts, of.total() - of[CableState.RIGHT])


def _worst(states: Counter[CableState]) -> tuple[int, ...]:
    return tuple(-states[state] for state in (CableState.MISSING, CableState.WRONG, CableState.UNKNOWN))


def _punch(evaluation: Evaluation) -> Sheet:
    columns = (
        *("step", "rack", "unit", "at", "action", "move the plug to", "place of target", "other end"),
        *("place of other end", "label", "serial", "serial of other end", "not before", "cause", "kind"),
    )
    widths = (6, 10, 6, 24, 50, 24, 18, 28, 18, 16, 18, 18, 40, 8, 16)
    return Sheet("Punch list", columns, widths, _steps(evaluation))


def _steps(evaluation: Evaluation) -> Iterator[Row]:
    """One row for each step in walking order; those that depend on another repair come last. Sorting by `step` restores
    it.
    """
    plan = evaluation.plan
    for number, step in enumerate(punch_list(evaluation), 1):
        device = plan.placed(step.device)
        yield (
            number,
            name(device.rack) if device else "",
            device.unit if device else None,
            name(str(step.at)),
            sentence("; ".join(filter(None, (step.action, step.panels)))),
            name(str(step.to or "")),
            place_of(step.to or "", plan),
            name(str(step.far or "")),
            place_of(step.far or "", plan),
            name(step.label),
            name(step.serial),
            name(step.far_serial),
            step.after,
            step.cause,
            step.kind,
        )


def _causes(evaluation: Evaluation) -> Sheet:
    columns = (
        *("cause", "kind", "subjects", "summary", "action", "explains", "confidence", "move", "unplug from", "place"),
        *("plug into", "place of target", "other end", "place of other end"),
        *("label", "alternatives", "to confirm", "not before"),
    )
    widths = (8, 16, 36, 50, 40, 10, 11, 7, 22, 18, 22, 18, 26, 18, 16, 40, 40, 40)
    lines = (line for cause in evaluation.causes for line in _cause_lines(cause, evaluation))
    return Sheet("Causes", columns, widths, lines)


def _cause_lines(cause: Cause, evaluation: Evaluation) -> Iterator[Row]:
    """One line for each move; one line for a cause without moves. The cause's text is on each: rows get sorted."""
    plan = evaluation.plan
    subjects = ", ".join(map(name, cause.subjects))
    texts = (subjects, sentence(cause.summary), sentence(cause.action))
    reported = (cause.id, cause.kind.value, *texts, len(cause.explains), cause.confidence)
    others = "; ".join(f"{other.kind.value}: {sentence(other.summary)}" for other in cause.alternatives)
    tail = (others, sentence(cause.to_confirm))
    if not cause.moves:
        yield (*reported, *(None,) * 8, *tail, "")
    for number, move in enumerate(cause.moves, 1):
        cable = plan.cable_at(move.cable)
        ends = [
            text for port in (move.source, move.target, move.cable) for text in (name(str(port)), place_of(port, plan))
        ]
        yield (*reported, number, *ends, name(cable.label) if cable else "", *tail, move.after)


def _findings(evaluation: Evaluation) -> Sheet:
    widths = (14, 9, 22, 10, 28, 20, 6, 22, 22, 8, 16, 11, 60, 60, 10)
    return Sheet("Findings", COLUMNS, widths, rows(evaluation), {COLUMNS.index("severity"): _SEVERITIES})
