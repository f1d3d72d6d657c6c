"""The announcement of a drain: for people in words, for truerail as a command."""

from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from shlex import quote
from typing import TYPE_CHECKING

from truerail.errors import QueryError
from truerail.model.names import printable
from truerail.outputs.report_words import count
from truerail.questions.answers.drain_words import Outcome
from truerail.questions.answers.resolve import ResolvedTarget
from truerail.questions.answers.scope import scope_of
from truerail.questions.answers.subjects import rail_words
from truerail.views.view import View

if TYPE_CHECKING:
    from truerail.questions.answers.drain import Wanted


def announcement(one: Outcome, survives: bool | None, because: str) -> str:
    """The maintenance in words, for people."""
    why = f": {_line(because)}" if because.strip() else ""
    until = f"{one.ends:%H:%M}" if one.ends.date() == one.starts.date() else f"{one.ends:%Y-%m-%d %H:%M}"
    parts = [f"Maintenance of {one.target.name}, {one.starts:%Y-%m-%d %H:%M} to {until} UTC{why}.", *_affected(one)]
    if survives is False:
        parts.append("RDMA connections over it end: end or checkpoint jobs on these hosts before it begins.")
    elif survives is None:
        parts.append("RDMA connections over it may end: end or checkpoint jobs on these hosts before it begins.")
    elif one.switches:
        parts.append("No connection ends; less bandwidth is left between leaves.")
    if one.hit:
        parts.append(f"Jobs: {', '.join(job.name for job in one.hit)}.")
    return " ".join(parts)


def _affected(one: Outcome) -> Iterator[str]:
    if one.hosts:
        gpus = sum(len(host.gpus) for host in one.hosts)
        rails = rail_words({rail for host in one.hosts for rail in (*host.lost, *host.reduced)})
        yield f"Affected: {one.below}, {rails or 'no rail'}, {count(gpus, 'GPU')} without their rail."
        least = min(host.share_left for host in one.hosts)
        share = Fraction(least).limit_denominator(100)
        yield f"At least {share} of each host's bandwidth is left." if least else "No bandwidth may be left to a host."
    elif one.switches:
        least_up = min(switch.left / switch.planned for switch in one.switches)
        share = Fraction(least_up).limit_denominator(100)
        below = count(len(one.switches), "switch", "switches")
        yield f"Affected: {below} below, which keep at least {share} of the planned uplinks."
    else:
        yield "No host is affected."


def command(view: View, wanted: "Wanted", target: ResolvedTarget, starts: datetime, ends: datetime) -> str:
    """The command that announces it, ready for a shell. A port has no maintenance of its own: its device has."""
    try:
        scope, what = scope_of(view, wanted.of)
    except QueryError:
        if not view.is_planned(target.device):
            return ""
        scope, what = "device", view.index.devices.names[target.device]
    whole = f"{scope} {what}" if scope in ("rail", "pod") else what
    begins = (wanted.start or "now").strip().lower()
    times = f"--until {quote((wanted.until or '2h').strip())}"
    if begins != "now":
        times = f"--from {_iso(starts)} --until {_iso(ends)}"
    because = _line(wanted.because or "") or _line(f"drain of {target.name}")
    return f"truerail maintenance {quote(whole)} {times} --because {quote(because)}"


def _line(text: str) -> str:
    """A reason on one line."""
    return printable(" ".join(text.split()), 200)


def _iso(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%MZ}"
