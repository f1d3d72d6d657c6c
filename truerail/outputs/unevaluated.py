"""What could not be evaluated. Every report shows it, because "unknown" is not "fine"."""

from collections.abc import Iterable
from dataclasses import dataclass

from rules import rules
from truerail.model import Evaluation, Reading, Status, Verdict
from truerail.model.columns import grouped
from truerail.outputs.report_words import order


@dataclass(frozen=True, slots=True)
class Unread:
    """Devices with the same error from the same collectors."""

    devices: tuple[str, ...]
    collectors: tuple[str, ...]
    error: str


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """Rules, by code, that could not evaluate the fabric, or a part of it, for one reason. `failing` are those of them
    with findings in the rest; `missing` what no answer has, in words, if that is the reason.
    """

    rules: tuple[str, ...]
    why: str
    failing: tuple[str, ...] = ()
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Doubts:
    """Everything that limits the verdict: unread devices, rules without data or with an error, cables in unknown
    state.
    """

    unread: tuple[Unread, ...]
    unknown: tuple[NotEvaluated, ...]
    broken: tuple[Verdict, ...]
    cables: int

    def __bool__(self) -> bool:
        return bool(self.unread or self.unknown or self.broken or self.cables)


def doubts(evaluation: Evaluation) -> Doubts:
    """Collects what could not be evaluated, in a stable order."""
    verdicts = sorted(evaluation.verdicts, key=lambda verdict: verdict.rule)
    return Doubts(
        unread_groups(evaluation.collection_errors),
        _not_evaluated(v for v in verdicts if v.incomplete),
        tuple(v for v in verdicts if v.status is Status.ERROR),
        evaluation.summary.cables_unknown,
    )


def _not_evaluated(verdicts: Iterable[Verdict]) -> tuple[NotEvaluated, ...]:
    """Verdicts grouped by reason, in the order of each reason's first rule."""
    alike = grouped(
        (why, verdict)
        for verdict in verdicts
        for why in [part.why for part in verdict.not_evaluated] or [verdict.reason]
    )
    return tuple(
        NotEvaluated(
            tuple(verdict.rule for verdict in of),
            why,
            tuple(v.rule for v in of if v.status is Status.FAIL),
            of[0].missing_words if why == of[0].reason and not of[0].why else "",
        )
        for why, of in alike.items()
    )


def unread_groups(unread: Iterable[Reading]) -> tuple[Unread, ...]:
    """Unread answers grouped by error and collectors, devices in natural order."""
    of_device = grouped(  # without the device's name, so that equal errors form one group
        ((one.device, one.error.removeprefix(f"{one.device}/")), one.collector) for one in unread
    )
    alike = grouped(
        ((error, tuple(sorted(set(collectors)))), device) for (device, error), collectors in of_device.items()
    )
    made = (
        Unread(tuple(sorted(devices, key=order)), collectors, error) for (error, collectors), devices in alike.items()
    )
    return tuple(sorted(made, key=lambda u: (order(u.devices[0]), u.collectors, u.error)))


def rule_name(code: str) -> str:
    """The name of a rule, such as `nic_on_wrong_rail`; the code itself if this release has no such rule."""
    rule = rules().get(code)
    return rule.name if rule else code
