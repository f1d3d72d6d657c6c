"""A link gets worse over days: it receives less light, or makes more bit errors, than before.

## Why it matters
A link that decays slowly shows it days or weeks before frames are lost. It can then be cleaned in a maintenance window,
and costs no job.

## How it is detected
A service remembers, for fourteen days, light, temperature and bit errors before FEC of both ends of every link; a
capture shows the same with a round every three hours or more often over five days. Bit errors count as a margin in
optical decibels over what FEC corrects (2.4e-4; 2.1e-5 up to 100 Gb/s): light that falls by as much each day makes a
straight line of it.

- A day is one mean, so that the wave of day and night is none. The lot's common change (the same part at the same end)
  is taken off, and what a change of temperature may explain: 0.05 dB a degree.
- A fall is at least 0.7 dB of light or 0.35 dB of margin, and five robust deviations of the lot.
- A trend is Theil and Sen's median slope from the day on which it began; its 95 % interval must be negative. The
  horizon is the time from the day's worst hours to FEC's limit, or to the module's own alarm limit of light (-10.3 dBm
  without one), at both ends of that interval, or at the steepest that the last four days allow. It is a warning if it
  may be shorter than 30 days, information up to 60 days.
- One step down, of 1 dB or 0.5 dB of margin, has no horizon: information, with the fall of the link beside it, if any.
- Light that falls while bit errors do not rise may be the meter's: information.

The past of a link begins again where a serial number or a plug changes, or where light rises by 0.5 dB or margin by
0.3 dB from one day to the next: a part was cleaned or exchanged. With fewer than five days a link is not evaluated.
benchmarks/results/accuracy.md has recall and false alarms.

## What to do
Plan the repair before the horizon. Where the other end sends less too, its laser ages: replace that module. Otherwise
light is lost on the way: clean both connectors and look for a bend. Where light is steady and bit errors rise, replace
the module that receives, then the one that sends.

## Decide
- `sends N dB less`: the laser of the other end ages. Replace that module.
- `receives N dB less light`: dirt, a bend or a damaged strand. Clean both connectors, then replace the cable.
- `less margin over FEC's limit`: without lost light it is a module. Replace the one that receives, then the other.
- `since a step`: look at what was done that day. Clean and reseat what was touched.

## False positives
A meter that drifts shows less light without more bit errors. A step may be a patch that was touched and still is good
enough. A trend may also stop by itself: the horizon holds if it goes on.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from rules._examples import finds_nic, railed
from rules._links import blind_links
from truerail.analysis.cabling import State, Wiring
from truerail.analysis.counters import Quantity
from truerail.analysis.counters.evidence import counter_evidence
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.analysis.trends.daily_means import limits, rate_at
from truerail.analysis.trends.declines import LEAST_DAYS, LONGEST_HORIZON_DAYS, Decline, Declines, Way, declines_of
from truerail.analysis.trends.signal_levels import BEFORE_FEC
from truerail.model import BitErrorRate, CauseKind, Evidence, Finding, Optic, Port, PortCounters, Severity, Snapshot
from truerail.model.columns import Mask, grouped
from truerail.model.names import port_key

WARNING_DAYS = 30.0
"""A horizon that begins later is a hint: a month has a maintenance window."""
SENDER_SHARE = 0.5
"""Of the light that is lost: where the other end sends so much less, its laser is to blame."""
STEADY_DB = 0.2
"""A sender whose light falls by less sends as before: meters drift by as much."""
CONFIRMED, ALONE, HINT = 0.9, 0.7, 0.5
"""Confidence in a trend that light and bit errors both show, that only one of them can show, and in a hint."""


@rule("LNK006", Severity.WARNING, [Optic], instead=[PortCounters, BitErrorRate], cause=CauseKind.DEGRADED_LINK)
def link_worsening(round: Round) -> Findings:
    """Planned links whose light or margin falls over days."""
    if round.earlier is None:
        of = "of a service, or of a capture with a round every three hours"
        raise InsufficientDataError(f"it needs the past of {LEAST_DAYS} days: {of}")
    past, wiring = round.past.links, round.cabling
    declines = past.once(declines_of)
    if not declines.enough.any():
        raise InsufficientDataError(f"the past covers {past.days:.1f} days; a slope needs {LEAST_DAYS}")
    by_cable = grouped((one.cable, one) for one in declines.found if wiring.state[one.cable] != State.MISSING)
    for cable, found in by_cable.items():
        yield _finding(round, cable, sorted(found, key=_urgency), float(limits(past)[cable]))
    report_not_evaluated(blind_links(wiring, _seen(wiring, declines), f"has readings of {LEAST_DAYS} days"))


def _seen(wiring: Wiring, declines: Declines) -> Mask:
    """The planned ports of links of which either end has days enough."""
    seen, index = np.zeros(wiring.index.planned_ports, dtype=bool), wiring.index
    either = declines.enough.any(axis=0)
    for ends in (index.a, index.b):
        seen[ends[either & (ends >= 0)]] = True
    return seen


def _urgency(one: Decline) -> tuple[int, float]:
    return -_severity(one).rank, one.horizon_days[0] if one.horizon_days else np.inf


def _severity(one: Decline) -> Severity:
    soon = one.horizon_days is not None and one.horizon_days[0] <= WARNING_DAYS
    return Severity.WARNING if soon and (one.of != "light" or one.confirmed is not False) else Severity.INFO


def _finding(round: Round, cable: int, declines: Sequence[Decline], limit: float) -> Finding:
    planned, first = round.plan.cables[cable], declines[0]
    ends = planned[:2]
    by_end = [[one for one in declines if one.end == end] for end in dict.fromkeys(one.end for one in declines)]
    summary = f"{'; '.join(_words(found, ends, limit) for found in by_end)}; {_horizon_words(first)}"
    severity = _severity(first)
    return link_worsening.found(
        planned.a,
        severity=severity,
        summary=summary,
        action=_action(first, ends),
        rail=planned.rail,
        confidence=HINT if severity is Severity.INFO else CONFIRMED if first.confirmed else ALONE,
        evidence=tuple(_evidence(round, declines, ends)),
        detail=(
            ("way", first.way.value),
            ("slope_db_per_day", round_of(first.slope[0])),
            *([("horizon_days", tuple(map(round_of, first.horizon_days)))] if first.horizon_days else ()),
        ),
    )


def round_of(value: float | None) -> float | None:
    """A number of a report; None where it is unbounded."""
    return None if value is None or not np.isfinite(value) else round(value, 2)


def _words(declines: Sequence[Decline], ends: Sequence[Port], limit: float) -> str:
    """What gets worse at one end, and what its other end sends."""
    first = declines[0]
    receiver, sender = ends[first.end], ends[1 - first.end]
    return f"{receiver} {' and '.join(_change(one, limit) for one in declines)}{_sender_words(first, sender)}"


def _change(one: Decline, limit: float) -> str:
    ago = f"{one.days} days ago"
    since = f"since a step {ago}" if one.way is Way.STEP else f"than {ago}"
    when = ", about when its link fell" if one.after_fall else ""
    if one.of == "light":
        unconfirmed = ", but no more bit errors" if one.confirmed is False else ""
        return f"receives {one.fell_db:.1f} dB less light {since}{when} (now {one.now:.1f} dBm{unconfirmed})"
    now = rate_at(one.now, limit)
    return f"has {one.fell_db:.1f} dB less margin over FEC's limit {since}{when} (now {now:.0e} bit errors)"


def _sender_words(one: Decline, sender: Port) -> str:
    if one.sender_fell_db is None:
        return ""
    less = one.sender_fell_db >= STEADY_DB
    return f", and {sender} sends {one.sender_fell_db:.1f} dB less" if less else f", while {sender} sends as before"


def _horizon_words(one: Decline) -> str:
    if one.horizon_days is None:
        return "one step has no horizon"
    near, far = one.horizon_days
    limit = "its limit of light" if one.of == "light" else "FEC's limit"
    words = dict.fromkeys((f"{near:.0f}", f"{far:.0f}"))
    until = f"{' to '.join(words)} days" if far <= 2 * LONGEST_HORIZON_DAYS else f"{near:.0f} days or more"
    return f"at this slope {limit} is reached in {until}"


def _action(one: Decline, ends: Sequence[Port]) -> str:
    receiver, sender = ends[one.end], ends[1 - one.end]
    if one.way is Way.STEP:
        return f"Look at what was done at {receiver} and {sender} that day; clean both connectors."
    if one.sender_fell_db is not None and one.sender_fell_db >= SENDER_SHARE * one.fell_db:  # the other end sends less
        return f"Replace the module in {sender} in a maintenance window before then."
    if one.of == "margin" and one.confirmed is False:
        return f"Replace the module in {receiver} in a maintenance window before then, next the one in {sender}."
    return f"Clean the connectors at {sender} and {receiver} in a maintenance window before then; next, the cable."


def _evidence(round: Round, declines: Sequence[Decline], ends: Sequence[Port]) -> Iterator[Evidence]:
    """What was read last of the ends that get worse."""
    index = round.cabling.index
    for end, cable in dict.fromkeys((one.end, one.cable) for one in declines):
        yield from _light(round.snapshot, ends[end])
        ports = (index.a, index.b)[end]
        yield from counter_evidence(round.telemetry, [int(ports[cable])], *BEFORE_FEC, Quantity.RX_BITS)


def _light(snapshot: Snapshot, port: Port) -> Iterator[Evidence]:
    """The lane of a port that receives least."""
    for reading in snapshot.readings:
        if reading.device == port.device and reading.facts and isinstance(reading.facts[0], Optic):
            lanes = [fact for fact in reading.facts if isinstance(fact, Optic) and fact.rx_power_dbm is not None]
            own = [fact for fact in lanes if port_key(fact.port) == port_key(port.name)]
            for fact in sorted(own, key=lambda lane: lane.rx_power_dbm or 0.0)[:1]:
                yield Evidence(reading.device, reading.collector, reading.at, fact)


PLAN = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=400"
_MANY = railed(12, more=" speed=400")
_HEARD = {"gpu-1": [Optic("nic0", 1, -2.0, -1.0, part="A")]}
_STEADY = {"rx_dbm": [-2.0] * 10, "ber": [-9.0] * 10}
_FALLING = [-2.0 - day / 5 for day in range(10)]
_RISING = [-9.0 + day / 4 for day in range(10)]
_WARMER = {"rx_dbm": [-2.0 - day / 10 for day in range(10)], "celsius": [45.0 + 2.5 * day for day in range(10)]}
_worsens, _link = partial(finds_nic, facts=_HEARD), partial(Case, facts=_HEARD)

EXAMPLES = {
    "Light falls by 0.2 dB a day and bit errors rise; the leaf sends as before: dirt on the way.": _worsens(
        past={"gpu-1/nic0": {"rx_dbm": _FALLING, "ber": _RISING}, "leaf-0/swp1": {**_STEADY, "tx_dbm": [-1.0] * 10}}
    ),
    "The leaf sends less each day: its laser.": _worsens(
        past={"gpu-1/nic0": {"rx_dbm": _FALLING, "ber": _RISING}, "leaf-0/swp1": {"tx_dbm": _FALLING}}
    ),
    "Bit errors rise and light is steady: a module.": _worsens(
        past={"gpu-1/nic0": {"rx_dbm": [-2.0] * 10, "ber": _RISING}}
    ),
    "Light fell in one step, four days ago: no horizon.": _worsens(
        past={"gpu-1/nic0": {"rx_dbm": [*(-2.0,) * 6, *(-4.0,) * 4]}}
    ),
    "Light falls and bit errors do not rise: perhaps its meter.": _worsens(
        past={"gpu-1/nic0": {"rx_dbm": [-4.0 - day / 2 for day in range(10)], "ber": [-9.0] * 10}}
    ),
    "One of twelve NICs falls; a warm week takes as much from the others as from it.": Case(
        {f"gpu-{host}": [Optic("nic0", 1, -2.0, part="A")] for host in range(1, 13)},
        "gpu-7/nic0",
        plan=_MANY,
        past={
            f"gpu-{host}/nic0": {"rx_dbm": [-2.0 - day * (0.6 if host == 7 else 0.1) for day in range(10)]}
            for host in range(1, 13)
        },
    ),
    # Quiet:
    "Light and bit errors are steady.": _link(past={"gpu-1/nic0": _STEADY}),
    "No past: one round.": _link(unknown=True),
    "A past of three days.": _link(unknown=True, past={"gpu-1/nic0": {"rx_dbm": [-2.0, -3.0, -4.0]}}),
    "The connector was cleaned six days ago, and light is steady since.": _link(
        past={"gpu-1/nic0": {"rx_dbm": [-2.0, -2.5, -3.0, -3.5, *(-2.0,) * 6]}}
    ),
    "A module is 20 degrees warmer than a week ago, and its light 0.9 dB less.": _link(past={"gpu-1/nic0": _WARMER}),
    "Light falls so slowly that its limit is a year away.": _link(
        past={"gpu-1/nic0": {"rx_dbm": [-2.0 - day / 50 for day in range(14)]}}
    ),
    "A whole lot loses light alike: a warm week.": Case(
        {f"gpu-{host}": [Optic("nic0", 1, -2.0, part="A")] for host in range(1, 13)},
        plan=_MANY,
        past={f"gpu-{host}/nic0": {"rx_dbm": [-2.0 - day / 5 for day in range(10)]} for host in range(1, 13)},
    ),
}
