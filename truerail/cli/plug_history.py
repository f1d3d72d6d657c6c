"""Cables moved between the rounds of a capture: a drop of counters with a change of neighbour is a repair."""

from datetime import timedelta
from typing import TYPE_CHECKING

from truerail.cli import terminal_output
from truerail.cli.exit_codes import refusing
from truerail.errors import CaptureError
from truerail.transport.replay import Capture, read_capture, signals_before
from truerail.transport.times import round_time

if TYPE_CHECKING:
    from truerail.analysis.cabling.plugs import Plugs
    from truerail.analysis.counters import CounterView
    from truerail.analysis.round import Round
    from truerail.analysis.trends.link_past import Past
    from truerail.cli.evaluating import Seen
    from truerail.model import Plan, Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# The signals of links in the earlier rounds of a capture, where these go back over days.


def past_before(plan: "Plan", capture: Capture) -> "Past | None":
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


def round_of(plan: "Plan", seen: "Seen", snapshot: "Snapshot") -> "Round":
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

    downs = (one for _, _, one in counters.columns() if one.column.quantity is Quantity.LINK_DOWNS)
    return any((column > 0).any() for one in downs for column in one.gained.columns)


def _plugs_before(plan: "Plan", capture: Capture, counters: "CounterView") -> "Plugs":
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
