"""Cables moved between the rounds of a capture: a drop of counters with a change of neighbour is a repair."""

from typing import TYPE_CHECKING

from truerail.cli import terminal_output
from truerail.errors import CaptureError, CommandError
from truerail.transport.replay import Capture, read_capture

if TYPE_CHECKING:
    from truerail.analysis.round import Round


def with_plug_history(round: "Round", capture: Capture) -> None:
    """Adds the moves of plugs that the rounds before it saw to a round's counters. They are read where a link fell,
    and only then: each costs as much as the round itself. Raises CommandError where the capture is gone meanwhile.
    """
    from truerail.analysis.cabling import join
    from truerail.analysis.cabling.plugs import Plugs
    from truerail.analysis.counters import Quantity
    from truerail.transport.times import round_time

    window = round.counters
    if window is None or not (round.telemetry.summed(Quantity.LINK_DOWNS).gained > 0).any():
        return
    times = {name: at for name in capture.rounds if (at := round_time(name)) is not None}
    earlier = [name for name, at in times.items() if window.oldest <= at.timestamp() and at < capture.at]
    plugs, known = Plugs(), window.replugged
    try:
        with terminal_output.progress("reading earlier rounds") as tick:
            for number, name in enumerate(earlier, 1):
                before = read_capture(capture.path, devices=round.plan.devices, round_name=name).snapshot()
                known = plugs.update(join(round.plan, before), known)
                if tick:
                    tick(number, len(earlier))
    except CaptureError as error:
        raise CommandError(str(error)) from error
    window.replugged = plugs.update(round.cabling, known)
