"""Which plugs were moved between the rounds of a capture: a fall across which a neighbour changed is a repair."""

from truerail.cli import terminal
from truerail.errors import CaptureError, CommandError
from truerail.model import Plan, Snapshot
from truerail.transport.replay import Capture, read_capture


def with_plug_history(plan: Plan, capture: Capture, snapshot: Snapshot) -> Snapshot:
    """The same, with the moves of plugs that the rounds before it saw. They are read where a link fell, and only then:
    each costs as much as the round itself. Raises CommandError where the capture is gone meanwhile.
    """
    from truerail.analysis.cabling import wiring_of
    from truerail.analysis.cabling.plugs import Plugs
    from truerail.analysis.counters import Quantity
    from truerail.analysis.counters.telemetry import telemetry_of
    from truerail.transport.times import round_time

    window = snapshot.window
    if window is None or not (telemetry_of(plan, snapshot).summed(Quantity.LINK_DOWNS).gained > 0).any():
        return snapshot
    times = {name: at for name in capture.rounds if (at := round_time(name)) is not None}
    earlier = [name for name, at in times.items() if window.oldest <= at.timestamp() and at < capture.at]
    plugs, known = Plugs(), window.replugged
    try:
        with terminal.progress("reading earlier rounds") as tick:
            for number, name in enumerate(earlier, 1):
                before = read_capture(capture.path, devices=plan.devices, round_name=name).snapshot()
                known = plugs.update(wiring_of(plan, before), known)
                if tick:
                    tick(number, len(earlier))
    except CaptureError as error:
        raise CommandError(str(error)) from error
    window.replugged = plugs.update(wiring_of(plan, snapshot), known)
    return snapshot
