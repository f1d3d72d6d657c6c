"""The suspected side of a link that receives errors: the sender, the cable, or a whole card."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from truerail.analysis.counters.telemetry import Telemetry
from truerail.model.columns import Codes, Mask

CARD_PORTS, CARD_SHARE = 3, 0.5
"""Ports of one card with errors, and their share of the ports with data, from which the card is suspected."""
_LAST_NUMBER = re.compile(r"\d+\D*$")


@dataclass(frozen=True, slots=True)
class Cards:
    """`of[port]` is a port's card; `receives` and `sends` count, for suspected cards, their ports that receive errors
    or send to such ports, out of how many ports with data.
    """

    of: Codes
    receives: Mapping[int, tuple[int, int]]
    sends: Mapping[int, tuple[int, int]]


def suspected_cards(telemetry: Telemetry, reported: Mask, other: Codes, bad: Collection[int]) -> Cards:
    """A card is the ports of a switch that share a name up to its last number, or a host."""
    index = telemetry.wiring.index
    device, name = index.ports.device_of(np.arange(telemetry.ports)), index.ports.name_of(np.arange(telemetry.ports))
    stems: dict[str, int] = {}
    stem = np.zeros(int(name.max()) + 1, dtype=np.int64)
    for code in np.unique(name).tolist():
        stem[code] = stems.setdefault(_LAST_NUMBER.sub("", index.ports.spelled(code)), len(stems))
    host = np.array(index.devices.tier)[device] == 0
    of = device * (len(stems) + 1) + np.where(host, len(stems), stem[name])
    receivers = np.array(list(bad), dtype=np.int64)
    senders, reported_senders = other[receivers], other[reported]
    return Cards(
        of,
        _suspected(of, receivers, np.flatnonzero(reported)),
        _suspected(of, _within(of, senders), _within(of, reported_senders)),
    )


def _within(of: Codes, ports: Codes) -> Codes:
    return ports[(ports >= 0) & (ports < len(of))]


def _suspected(of: Codes, bad: Codes, reported: Codes) -> dict[int, tuple[int, int]]:
    """Cards with enough bad ports: how many of how many."""
    cards, count = np.unique(of[reported], return_counts=True)
    whole = dict(zip(cards.tolist(), count.tolist(), strict=True))
    wrong = Counter(of[bad].tolist())
    return {
        card: (ports, whole[card])
        for card, ports in wrong.items()
        if ports >= CARD_PORTS and ports >= CARD_SHARE * whole[card]
    }


def blamed(telemetry: Telemetry, bad: Collection[int], other: Codes, reported: Mask) -> tuple[str, str]:
    """The suspected side, and the action."""
    index = telemetry.wiring.index
    port = next(iter(bad))
    sender = int(other[port])
    if len(bad) > 1:
        return "both directions suffer: the cable", "Clean both connectors, then replace the cable."
    if sender < 0:
        return "its sender is unknown", f"Clean and reseat {index.spell(port)} and what it is cabled to."
    does = f"Clean and reseat {index.spell(sender)}, which sends, then {index.spell(port)}; then replace that optic."
    if sender < telemetry.ports and reported[sender]:
        return f"the other direction is clean: the transmitter of {index.spell(sender)} or the strand from it", does
    return f"the transmitter of {index.spell(sender)} or the cable, as {index.spell(sender)} reports no errors", does


def blamed_card(telemetry: Telemetry, bad: Collection[int], other: Codes, cards: Cards) -> str:
    """The reason why a card is suspected, in words; empty where it is not."""
    for ports, suspected, does in (
        (list(bad), cards.receives, "receive errors"),
        (other[list(bad)].tolist(), cards.sends, "send to ports that receive errors"),
    ):
        for port in ports:
            wrong, whole = suspected.get(int(cards.of[port]), (0, 0)) if 0 <= port < telemetry.ports else (0, 0)
            if wrong:
                name = telemetry.wiring.index.spell(port)
                return f"{wrong} of the {whole} ports reported on the card of {name} {does}"
    return ""
