"""From files to an evaluation: code that `check` and `demo` share."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from truerail.cli import terminal_output
from truerail.cli.exit_codes import refusing
from truerail.errors import CaptureError, CommandError, NodeSetError
from truerail.files.problems import PlanError, nearest
from truerail.model import Evaluation, Plan, Snapshot
from truerail.transport.replay import Capture, read_capture, signals_before, with_counters
from truerail.transport.times import round_time

if TYPE_CHECKING:
    from truerail.analysis.cabling.plugs import Plugs
    from truerail.analysis.counters import CounterView
    from truerail.analysis.round import Round
    from truerail.analysis.trends.link_past import Past
    from truerail.poller import Gathered

Seen: TypeAlias = "Capture | Gathered"
"""One round, replayed or live."""
MOST_OUTLIERS = 10


def evaluated(
    plan: Path | None, capture: Path, codes: Collection[str] | None, only: str | None
) -> tuple[Evaluation, bool]:
    """The evaluation of a capture against a plan, and whether any device gave a readable answer.

    Without a plan the rails are inferred from the fabric itself. Raises CommandError for errors that the user has to
    fix.
    """
    intended = load_plan(plan) if plan else None
    return evaluated_round(intended, read(capture, intended), codes, only)


def evaluated_round(
    intended: Plan | None, seen: Seen, codes: Collection[str] | None, only: str | None
) -> tuple[Evaluation, bool]:
    """The same for a round that is already read, from files or from devices."""
    from truerail.outputs.narrow import narrowed
    from truerail.rounds import evaluate

    round, reported = planned_round(intended, seen)
    notes = [*reported, *(intended.notes if intended else ()), *seen.notes]
    wanted = named(only, (*seen.devices_seen, *round.plan.devices)) if only else None
    evaluation = evaluate(round, only=codes, notes=notes)
    answered = {reading.device for reading in seen.readings if not reading.error}
    return narrowed(evaluation, wanted, answered) if wanted else evaluation, bool(answered)


def load_plan(path: Path, *, out_of_band: bool = False, unnamed: bool = False, form: str = "") -> Plan:
    """The plan in a file. Raises CommandError with a line for each problem."""
    from truerail.plans import load

    with refusing(PlanError):
        return load(path, out_of_band=out_of_band, unnamed=unnamed, form=form)


def read(path: Path, plan: Plan | None, round_name: str | None = None) -> Capture:
    """One round of a capture (the newest by default) with the counters of previous ones; shows a progress bar on a
    terminal.
    """
    devices = plan.devices if plan else None
    with refusing(CaptureError):
        with terminal_output.progress("reading answers") as tick:
            capture = read_capture(path, devices=devices, round_name=round_name, progress=tick)
        with terminal_output.progress("reading counters") as tick:
            return with_counters(capture, devices=devices, progress=tick)


def planned_round(plan: Plan | None, seen: Seen) -> "tuple[Round, list[str]]":
    """The round to evaluate, of a plan that is inferred from it if there is none; and remarks on that one."""
    snapshot = seen.snapshot()
    intended, reported = (plan, []) if plan else inferred(snapshot)
    return round_of(intended, seen, snapshot), reported


def inferred(snapshot: Snapshot) -> tuple[Plan, list[str]]:
    """A plan inferred from the fabric, and remarks on it: the support for each rail, the outliers."""
    from truerail.plans import infer

    inference = infer(snapshot)
    if not inference.plan.cables:
        raise CommandError(f"no plan is given, and none can be inferred: {inference.why_not}")
    reported = [inference.found]
    reported += [f"{outlier.subject}: {outlier.summary}" for outlier in inference.outliers[:MOST_OUTLIERS]]
    if hidden := len(inference.outliers) - len(reported) + 1:
        reported.append(f"and {hidden:,} more cables that do not match their rail")
    return inference.plan, [*reported, *inference.notes]


def codes(wanted: Sequence[str]) -> set[str] | None:
    """Rule codes for codes or names, as users type them; None for an empty list. Raises CommandError for an
    unknown one.
    """
    from rules import rules

    known = {spelling: code for code, rule in rules().items() for spelling in (code.lower(), rule.name)}
    for word in wanted:
        if word.lower() not in known:
            raise CommandError(f"no rule {word!r}{_suggestion(word, list(known))}")
    return {known[word.lower()] for word in wanted} or None


def _suggestion(word: str, known: list[str]) -> str:
    """The nearest word; rule codes in capitals."""
    from difflib import get_close_matches

    close = get_close_matches(word.lower(), known, n=1)
    if not close:
        return ": `truerail rules list` shows all"
    return f", did you mean {close[0].upper() if close[0][-1].isdigit() else close[0]}?"


def named(only: str, among: Iterable[str]) -> set[str]:
    """Those of some devices that a node set names, in their own spelling. Raises CommandError."""
    from truerail.files.nodesets import Budget, expand
    from truerail.model.names import device_key

    known = {device_key(name): name for name in among}
    try:
        names = expand(only, Budget(2 * len(known) + 1000))
    except NodeSetError as error:
        raise CommandError(f"--only {only}: {error}") from error
    for name in names:
        if device_key(name) not in known:
            raise CommandError(f"--only {only}: no device {name!r}{_nearest_device(name, known)}")
    return {known[device_key(name)] for name in names}


def _nearest_device(name: str, known: dict[str, str]) -> str:
    """A suggestion, never the list of all devices: there are thousands."""
    reported = nearest(name, list(known))
    return reported if "did you mean" in reported else " in the plan, the inventory or the capture"


# ----------------------------------------------------------------------------------------------------------------------
# The signals of links in the earlier rounds of a capture, where these go back over days.


def past_before(plan: Plan, capture: Capture) -> "Past | None":
    """What the rounds of the last fourteen days show, without the newest ones that are of the round itself; None where
    they go back less than a slope needs. Raises CommandError where the capture is gone meanwhile.
    """
    from truerail.analysis.round import Round
    from truerail.analysis.trends.declines import LEAST_DAYS
    from truerail.analysis.trends.link_past import DAYS, SAMPLE_SECONDS

    times = [at for name in capture.rounds if (at := round_time(name)) is not None and at <= capture.at]
    if not times or capture.at - times[0] < timedelta(days=LEAST_DAYS):
        return None
    past = None
    with refusing(CaptureError), terminal_output.progress("reading rounds of the last days") as tick:
        rounds = signals_before(capture, capture.at - timedelta(days=DAYS), SAMPLE_SECONDS, devices=plan.devices)
        for number, (snapshot, counters) in enumerate(rounds, 1):
            past = Round(plan, snapshot, counters, earlier=past).past
            if tick:
                tick(number, max(len(times), number))
    return past


# ----------------------------------------------------------------------------------------------------------------------
# Cables moved between the rounds of a capture: a drop of counters with a change of neighbour is a repair.


def round_of(plan: Plan, seen: Seen, snapshot: Snapshot) -> "Round":
    """The round to evaluate, with the moves of plugs and the signals that earlier rounds of its capture saw. Raises
    CommandError where the capture is gone meanwhile.
    """
    from truerail.analysis.round import Round

    counters = seen.counters
    if not isinstance(seen, Capture):
        return Round(plan, snapshot, counters)
    plugs = None if counters is None or not _fell(counters) else _plugs_before(plan, seen, counters)
    return Round(plan, snapshot, counters, plugs, past_before(plan, seen))


def _fell(counters: "CounterView") -> bool:
    """Whether any link fell. Only then the rounds before are read: each costs as much as the round itself."""
    from truerail.analysis.counters import Quantity

    downs = (source.series.get((Quantity.LINK_DOWNS, None)) for source in counters.sources.values())
    return any((column > 0).any() for samples in downs if samples for column in samples.columns)


def _plugs_before(plan: Plan, capture: Capture, counters: "CounterView") -> "Plugs":
    from truerail.analysis.cabling.plugs import Plugs
    from truerail.analysis.round import Round

    times = {name: at for name in capture.rounds if (at := round_time(name)) is not None}
    earlier = [name for name, at in times.items() if counters.oldest <= at.timestamp() and at < capture.at]
    plugs = Plugs()
    with refusing(CaptureError), terminal_output.progress("reading earlier rounds") as tick:
        for number, name in enumerate(earlier, 1):
            before = read_capture(capture.path, devices=plan.devices, round_name=name).snapshot()
            plugs = Round(plan, before, counters, plugs).plugs
            if tick:
                tick(number, len(earlier))
    return plugs
