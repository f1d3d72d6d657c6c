"""What the ends of a link receive: levels of errors, rates that devices compute, and which side is to blame."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import evidence_of
from truerail.analysis.counters import Quantity
from truerail.analysis.counters.denominators import LINE_CODING, rate_ports
from truerail.analysis.counters.telemetry import LEAST_SAMPLES, Telemetry
from truerail.model import BitErrorRate, Evidence, Severity
from truerail.model.columns import Codes, Mask, distinct

LEAST_SECONDS = 60.0
"""Twice the longest time from poll to poll that SONiC can be set to (`counterpoll port interval`: 0.1 to 30 s)."""


@dataclass(frozen=True, slots=True)
class DeviceRate:
    """A believed rate of a planned port, and its row among the snapshot's rates."""

    fact: BitErrorRate
    row: int

    @property
    def when(self) -> str:
        """The time that it covers, in words."""
        seconds = self.fact.seconds
        return "in the device's last interval" if seconds is None else f"on average over {seconds / 60:.0f} min"


def device_rates(telemetry: Telemetry) -> tuple[dict[int, DeviceRate], int]:
    """The believed rates by planned port, and how many ports have another one.

    A rate over one second is a sample: errors come in bursts, and SONiC's first one is all errors since boot. It is
    believed where its port has corrected as many codewords as a whole minute of it makes; a rate whose device says how
    long it is for, where that is a minute. All others are unknown. A rate that is believed may show errors and never
    their absence: it may be of long ago, or of one good second.
    """
    reported = dict(_reported(telemetry))
    believed = {port: rate for port, rate in reported.items() if _covers_a_level(rate.fact, telemetry, port)}
    return believed, len(reported) - len(believed)


def rate_evidence(telemetry: Telemetry, rate: DeviceRate) -> Evidence:
    """The rate as its device reported it."""
    return evidence_of(telemetry.wiring.seen, BitErrorRate, rate.row)


def _reported(telemetry: Telemetry) -> Iterator[tuple[int, DeviceRate]]:
    rates = telemetry.wiring.seen.table(BitErrorRate).rows
    for port, row in zip(*(column.tolist() for column in rate_ports(telemetry.wiring)), strict=True):
        yield port, DeviceRate(rates[row], row)


def _covers_a_level(rate: BitErrorRate, telemetry: Telemetry, port: int) -> bool:
    if rate.seconds is not None:
        return rate.seconds >= LEAST_SECONDS
    bits = float(telemetry.speed()[port]) * 8 * LINE_CODING * LEAST_SECONDS
    return rate.corrected is not None and rate.corrected >= (rate.before_fec or 0.0) * bits > 0


Q = Quantity
Values = npt.NDArray[np.floating]
Samples = dict[Quantity, Values]

BER_BEFORE_FEC = (1e-6, 1e-5)
"""Warning and critical for RS-544: vendor guidance, quoted by LLDPq's BER analyzer. KP4 FEC gives up at 2.4e-4."""
BER_AFTER_FEC = (1e-12, 1e-11)
"""Warning and critical: 1e-12 is ibdiagnet's long-standing limit, ten times that LLDPq's critical one."""
FAST_ETHERNET = 200e9 / 8
FAST_BER_AFTER_FEC, LEAST_ERRORS = 1e-13, 5
"""Of CRC errors. Ethernet from this speed on, in bytes a second, is built for this rate at the MAC: the objective of
IEEE 802.3bs, where 802.3ba to bm have 1e-12. At 400 Gb/s it is five broken frames in two minutes; fewer are no rate.
Symbol errors may have been counted before FEC: a healthy link has as many.
"""
RISING, RISING_BER = 10.0, 1e-7
"""A level before FEC that rises so many times within the window, to this or more, is worth knowing: healthy links stay
below 1e-8, ANTA's limit is 1e-7.
"""
UNCORRECTED_SECONDS = 300.0
"""Uncorrectable codewords at least this often are critical. Each is a lost frame (SONiC, port FEC FLR)."""
RECURRING_SAMPLES = 2
"""In how many samples uncorrectable codewords must come to be a rate and not one event."""
RECEIVE_ERRORS_PER_SECOND = 10.0
"""NVSentinel's NIC health monitor: port_rcv_errors."""
NRZ_SYMBOL_ERRORS_PER_HOUR = 120.0
"""NVSentinel's limit, which fits NRZ only: on PAM4 symbol errors are normal."""

BEFORE_FEC = (Q.CORRECTED_BITS, Q.FEC_CORRECTED, Q.FEC_SYMBOLS)
AFTER_FEC = {
    Q.FEC_UNCORRECTED: "uncorrectable codewords",
    Q.SYMBOL_ERRORS: "symbol errors",
    Q.CRC_ERRORS: "CRC errors",
    Q.RX_ERRORS: "receive errors",
}


@dataclass(slots=True)
class BadPort:
    """A port that receives errors: what it counts, in words, and how bad that is."""

    severity: Severity = Severity.INFO
    summary: list[str] = field(default_factory=list)
    reported: list[Quantity] = field(default_factory=list)
    rate: DeviceRate | None = None
    """What the device computed, where the window has no counts."""

    def add(self, summary: str, quantity: Quantity, severity: Severity) -> None:
        """Adds a symptom; the loudest one counts."""
        self.summary.append(summary)
        self.reported.append(quantity)
        self.severity = max(self.severity, severity, key=lambda one: one.rank)


def evaluate_port(
    gained: Samples, seconds: Samples, bits: Samples, *, nrz: bool, falls_known: Mask, most: float
) -> BadPort:
    """All symptoms of one port; arrays have shape (samples,). Falls are counted of the samples `falls_known`; `most` is
    the bit error rate from CRC errors that FEC may leave.
    """
    port = BadPort()
    _evaluate_before_fec(port, gained, bits)
    for quantity, name in AFTER_FEC.items():
        counted = (gained[quantity], seconds[quantity], bits[quantity])
        severity, summary = _left_by_fec(quantity, name, *counted, nrz=nrz, most=most)
        if severity is not None:
            burst = _one_burst(gained[quantity]) and not falls_known[gained[quantity] > 0].all()
            summary += " in one burst, as when a link comes up; neither end counts falls then" * burst
            port.add(summary, quantity, Severity.INFO if burst else severity)
    return port


def _evaluate_before_fec(port: BadPort, gained: Samples, bits: Samples) -> None:
    """Adds what the level before FEC says: by corrected bits, else at least one bit in each codeword or symbol."""
    levels = {quantity: _rate(gained[quantity], bits[quantity]) for quantity in BEFORE_FEC}
    reported = [quantity for quantity, level in levels.items() if not np.isnan(level)]
    if not reported:
        return
    quantity = reported[0] if reported[0] is Q.CORRECTED_BITS else max(reported, key=levels.__getitem__)
    level, least = levels[quantity], "" if quantity is Q.CORRECTED_BITS else "at least "
    if level >= BER_BEFORE_FEC[0]:
        severity = Severity.CRITICAL if level >= BER_BEFORE_FEC[1] else Severity.WARNING
        port.add(f"{least}{level:.1e} bit errors before FEC", quantity, severity)
        return
    third = len(bits[quantity]) // 3
    before, now = (_rate(gained[quantity][of], bits[quantity][of]) for of in (slice(third), slice(-third, None)))
    if now >= RISING_BER and now >= RISING * before:
        port.add(f"{least}{now:.1e} bit errors before FEC, up from {before:.1e}", quantity, Severity.INFO)


def _left_by_fec(
    quantity: Quantity, name: str, gained: Values, seconds: Values, bits: Values, *, nrz: bool, most: float
) -> tuple[Severity | None, str]:
    """How bad one count of what FEC left is, and in words; None where it is below its limits."""
    count = float(np.nansum(gained))
    if not count:
        return None, ""
    if quantity is Q.FEC_UNCORRECTED:
        when = float(np.nansum(seconds))
        often = np.count_nonzero(gained > 0) >= RECURRING_SAMPLES and count * UNCORRECTED_SECONDS >= when
        return Severity.CRITICAL if often else Severity.WARNING, f"{count:.0f} {name} in {when:.0f} s"
    rate = _rate(gained, seconds)
    if quantity is Q.RX_ERRORS:
        return Severity.WARNING if rate > RECEIVE_ERRORS_PER_SECOND else None, f"{rate:.0f} {name} a second"
    if nrz and quantity is Q.SYMBOL_ERRORS and 3600 * rate > NRZ_SYMBOL_ERRORS_PER_HOUR:
        return Severity.CRITICAL, f"{3600 * rate:.0f} {name} an hour"
    left = _rate(gained, bits)
    severity = Severity.CRITICAL if left >= BER_AFTER_FEC[1] else Severity.WARNING
    limit = most if quantity is Q.CRC_ERRORS and count >= LEAST_ERRORS else BER_AFTER_FEC[0]
    return severity if left >= limit else None, f"{count:.0f} {name}, {left:.1e} of all bits"


def _one_burst(gained: Values) -> bool:
    """Whether it was all counted in one sample, or in two beside each other."""
    return bool(np.ptp(np.flatnonzero(gained > 0)) <= 1)


def _rate(counted: Values, of: Values) -> float:
    """Counted of all there was, over the samples that have both; NaN where these are too few."""
    known = ~np.isnan(counted) & (of > 0)
    if np.count_nonzero(known) < LEAST_SAMPLES:
        return float("nan")
    return float(counted[known].sum(dtype=np.float64) / of[known].sum(dtype=np.float64))


def above_limits(rates: Mapping[int, DeviceRate]) -> dict[int, BadPort]:
    """The ports whose device's own rates are above a limit: one reading is a warning at most."""
    found: dict[int, BadPort] = {}
    for port, rate in rates.items():
        levels = ((rate.fact.before_fec, BER_BEFORE_FEC[0], "before"), (rate.fact.after_fec, BER_AFTER_FEC[0], "after"))
        summary = [f"{of:.1e} bit errors {when} FEC {rate.when}" for of, limit, when in levels if (of or 0.0) >= limit]
        if summary:
            found[port] = BadPort(Severity.WARNING, summary, rate=rate)
    return found


PASSED_ON = "the switch that sends receives as many errors and passes them on"
_FRAMES = {Q.CRC_ERRORS, Q.RX_ERRORS}
_SLACK = 1.1
"""Counters of two devices are read seconds apart."""


def passed_on(telemetry: Telemetry, bad: Mapping[int, BadPort], other: Codes) -> frozenset[int]:
    """The ports that receive nothing but broken frames that a cut-through switch passed on: it begins to send a frame
    before it has received the checksum at the frame's end, so what another link broke counts as a CRC error here, and
    as nothing else (Cisco: stomped CRC). They receive no more of them than the switch that sends them receives at
    its other ports; all such ports of a switch together, too.
    """
    index = telemetry.wiring.index
    ports = np.array([port for port, of in bad.items() if not of.rate and _FRAMES.issuperset(of.reported)], dtype=int)
    ports = ports[(other[ports] >= 0) & (other[ports] < telemetry.ports)]
    gained = np.stack([np.nan_to_num(telemetry.summed(quantity).gained) for quantity in AFTER_FEC]).max(axis=0)
    device = index.ports.device_of(np.arange(telemetry.ports))
    sender = device[other[ports]]
    received = _SLACK * (np.bincount(device, gained)[sender] - gained[other[ports]])
    sent = np.bincount(sender, gained[ports], len(index.devices.names))[sender]
    switch = np.array(index.devices.tier)[sender] > 0
    return frozenset(ports[switch & (sent <= received)].tolist())


def samples_covered(telemetry: Telemetry, span: npt.NDArray[np.floating]) -> Codes:
    """How many samples up to each one its increment covers: at least itself."""
    covered: Codes = np.maximum(np.rint(np.nan_to_num(span) / telemetry.pace), 1).astype(np.int64)
    return np.minimum(covered, np.arange(1, span.shape[1] + 1))


def all_covered(of: Mask, covered: Codes) -> Mask:
    """The samples that are covered by one of these."""
    row, last = np.nonzero(of)
    edges = np.zeros((len(of), of.shape[1] + 1), dtype=np.int64)
    np.add.at(edges, (row, last + 1 - covered[row, last]), 1)
    np.add.at(edges, (row, last + 1), -1)
    return np.asarray(edges.cumsum(axis=1)[:, :-1] > 0)


def cover_any(of: Mask, covered: Codes) -> Mask:
    """The samples whose increment covers one of these."""
    before = np.pad(of.cumsum(axis=1), ((0, 0), (1, 0)))
    after = np.arange(1, of.shape[1] + 1)
    return np.asarray(before[:, 1:] > np.take_along_axis(before, after - covered, axis=1))


def without_link(fell: Mask, received: npt.NDArray[np.floating]) -> Mask:
    """The samples in which a link fell, and those after them in which nothing was received: it had not come back. A
    link that carries nothing still receives LLDP; a port of which no bytes are counted shows nothing.
    """
    dark = ~(received > 0) & ~np.isnan(received).all(axis=1, keepdims=True)
    found = fell.copy()
    for sample in range(1, fell.shape[1]):
        found[:, sample] |= found[:, sample - 1] & dark[:, sample]
    return found


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
    for code in distinct(name).tolist():
        stem[code] = stems.setdefault(_LAST_NUMBER.sub("", index.ports.spelled(code)), len(stems))
    host = np.array(index.devices.tier)[device] == 0
    of = device * (len(stems) + 1) + np.where(host, len(stems), stem[name])
    receivers = np.array(list(bad), dtype=np.int64)
    senders, reported_senders = other[receivers], other[reported]
    sending = _suspected(of, _within(of, senders), _within(of, reported_senders))
    return Cards(of, _suspected(of, receivers, np.flatnonzero(reported)), sending)


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
        return "errors in both directions: the cable", "Clean both connectors, then replace the cable."
    if sender < 0:
        return "its sender is unknown", f"Clean and reseat {index.spell(port)} and what it is cabled to."
    does = f"Clean and reseat {index.spell(sender)}, which sends, then {index.spell(port)}; then replace that optic."
    if sender < telemetry.ports and reported[sender]:
        return f"the other direction is clean: the transmitter of {index.spell(sender)} or the strand from it", does
    return f"the transmitter of {index.spell(sender)} or the cable, as {index.spell(sender)} reports no errors", does


def blamed_card(telemetry: Telemetry, bad: Collection[int], other: Codes, cards: Cards) -> str:
    """The reason why a card is suspected, in words; empty where it is not."""
    receiving = list(bad), cards.receives, "receive errors"
    sending = other[list(bad)].tolist(), cards.sends, "send to ports that receive errors"
    for ports, suspected, does in (receiving, sending):
        for port in ports:
            wrong, whole = suspected.get(int(cards.of[port]), (0, 0)) if 0 <= port < telemetry.ports else (0, 0)
            if wrong:
                name = telemetry.wiring.index.spell(port)
                return f"{wrong} of the {whole} ports reported on the card of {name} {does}"
    return ""
