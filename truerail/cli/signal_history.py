"""The signals of links in the earlier rounds of a capture, where these go back over days."""

from datetime import timedelta
from typing import TYPE_CHECKING

from truerail.cli import terminal_output
from truerail.errors import CaptureError, CommandError
from truerail.transport.replay import Capture, signals_before
from truerail.transport.times import round_time

if TYPE_CHECKING:
    from truerail.analysis.trends.link_past import Past
    from truerail.model import Plan


def past_before(plan: "Plan", capture: Capture) -> "Past | None":
    """What the rounds of the last fourteen days show, without the newest ones that are of the round itself; None where
    they go back less than a slope needs. Raises CommandError where the capture is gone meanwhile.
    """
    from truerail.analysis.round import Round
    from truerail.analysis.trends.falls import LEAST_DAYS
    from truerail.analysis.trends.link_past import DAYS, SAMPLE_SECONDS

    times = [at for name in capture.rounds if (at := round_time(name)) is not None and at <= capture.at]
    if not times or capture.at - times[0] < timedelta(days=LEAST_DAYS):
        return None
    past = None
    try:
        with terminal_output.progress("reading rounds of the last days") as tick:
            rounds = signals_before(capture, capture.at - timedelta(days=DAYS), SAMPLE_SECONDS, devices=plan.devices)
            for number, (snapshot, counters) in enumerate(rounds, 1):
                past = Round(plan, snapshot, counters, earlier=past).past
                if tick:
                    tick(number, max(len(times), number))
    except CaptureError as error:
        raise CommandError(str(error)) from error
    return past
