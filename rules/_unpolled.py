"""Devices that truerail itself does not poll at the moment: no poller of their zone runs, or the bus stores nothing.

Nothing is known of them, and nothing is wrong with them as far as anyone knows: a rule about devices that do not answer
has no finding on them, and is unknown for them with the reason.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from truerail.analysis.round import Round
from truerail.model import NotEvaluated
from truerail.model.finding import MOST_EXAMPLES
from truerail.model.names import printable


def unpolled(round: Round, question: str = "") -> dict[int, str]:
    """Why planned devices are not polled, by code: for collectors whose names begin with `question`."""
    devices = round.cabling.index.devices
    why = {
        reading.device: reading.error
        for reading in round.snapshot.readings
        if not reading.polled and reading.collector.startswith(question)
    }
    found = {devices.find(name): printable(error, 120) for name, error in why.items()}
    return {code: error for code, error in found.items() if 0 <= code < devices.planned}


def not_polled(round: Round, codes: Mapping[int, str]) -> Iterator[NotEvaluated]:
    """The parts of the fabric that these devices are, one for each reason."""
    devices = round.cabling.index.devices
    by_reason: dict[str, list[int]] = defaultdict(list)
    for code, why in sorted(codes.items()):
        by_reason[why].append(code)
    for why, found in by_reason.items():
        names = tuple(devices.names[code] for code in found)
        many = f"{len(names):,} {'device is' if len(names) == 1 else 'devices are'} not polled"
        shown = f"{', '.join(names[:MOST_EXAMPLES])}{', ...' if len(names) > MOST_EXAMPLES else ''}"
        yield NotEvaluated(
            f"{many}: {why} ({shown})", "device", len(names), devices.planned, subjects=names, rest_evaluated=True
        )
