"""Cables moved between the rounds of a capture: a drop of counters with a change of neighbour is a repair."""

from typing import TYPE_CHECKING

from truerail.cli import terminal_output
from truerail.cli.signal_history import past_before
from truerail.errors import CaptureError, CommandError
from truerail.transport.replay import Capture, read_capture

if TYPE_CHECKING:
    from truerail.analysis.cabling.plugs import Plugs
    from truerail.analysis.counters import CounterView
    from truerail.analysis.round import Round
    from truerail.cli.evaluating import Seen
    from truerail.model import Plan, Snapshot


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
    from truerail.transport.times import round_time

    times = {name: at for name in capture.rounds if (at := round_time(name)) is not None}
    earlier = [name for name, at in times.items() if counters.oldest <= at.timestamp() and at < capture.at]
    plugs = Plugs()
    try:
        with terminal_output.progress("reading earlier rounds") as tick:
            for number, name in enumerate(earlier, 1):
                before = read_capture(capture.path, devices=plan.devices, round_name=name).snapshot()
                plugs = Round(plan, before, counters, plugs).plugs
                if tick:
                    tick(number, len(earlier))
    except CaptureError as error:
        raise CommandError(str(error)) from error
    return plugs
