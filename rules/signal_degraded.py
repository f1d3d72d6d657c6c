"""A link receives errors: its signal is getting worse, or is already losing frames.

## Why it matters
RoCE and InfiniBand send everything again from the frame that was lost, so a few lost frames a second slow down a whole
collective. The errors that FEC still corrects come weeks before: a link that is cleaned then costs no job.

## How it is seen
A port counts what it receives, so errors blame what sends to it: the transmitter at the other end or the strand from
there. Errors at both ends blame the cable; errors at most ports of one card, or of most ports that one card sends to,
blame the card. Samples in which the link fell are left out (LNK003).

- Codewords that FEC could not correct are lost frames: warning at the first; critical where they come in two samples or
  more, at one in five minutes or faster.
- Bit error rate before FEC, from corrected bits; where only corrected codewords are told, at least one bit in each:
  warning from 1e-6, critical from 1e-5. RS-544 gives up at 2.4e-4.
- Bit error rate that FEC leaves, from symbol and CRC errors, at least one bit in each: warning from 1e-12, critical
  from 1e-11. A cut-through switch passes broken frames on, so CRC errors alone may come from further away.
- Symbol errors on InfiniBand up to 100 Gb/s (NRZ) are critical above 120 an hour, receive errors a warning above 10 a
  second.

## What to do
Clean and reseat the end that sends (the finding names it), then the end that receives; exchange the transceiver that
sends, then the cable. Compare LNK005. Where one card is to blame, exchange no cable: look at the card.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rules._counted import counter_evidence, other_ends, rail_at, subject_of
from rules._senders import Cards, blamed, blamed_card, suspected_cards
from truerail.model import Finding, Plan, PortCounters, Severity, Snapshot, Transport
from truerail.model.columns import Codes, Mask
from truerail.model.counters import Quantity
from truerail.model.counters.telemetry import LEAST_SAMPLES, Telemetry, telemetry_of
from truerail.model.rule import Case, Undecided, rule
from truerail.model.wiring import BOTH_ENDS, ONE_END

Q = Quantity
Numbers = npt.NDArray[np.float64]

BER_BEFORE_FEC = (1e-6, 1e-5)
"""Warning and critical, for RS-544: vendor guidance, as LLDPq's BER analyzer quotes it. KP4 FEC gives up at 2.4e-4.
"""
BER_AFTER_FEC = (1e-12, 1e-11)
"""Warning and critical: 1e-12 is ibdiagnet's long-standing limit, ten times that LLDPq's critical one."""
UNCORRECTED_SECONDS = 300.0
"""Uncorrectable codewords at least this often are critical. Each is a lost frame (SONiC, port FEC FLR)."""
RECURRING_SAMPLES = 2
"""In how many samples uncorrectable codewords must come to be a rate and not one event."""
RECEIVE_ERRORS_PER_SECOND = 10.0
"""NVSentinel's NIC health monitor: port_rcv_errors."""
NRZ_SYMBOL_ERRORS_PER_HOUR = 120.0
"""NVSentinel's limit, which fits NRZ only: on PAM4 symbol errors are normal."""
FASTEST_NRZ_GBPS = 100.0
"""InfiniBand EDR, four lanes of 25 Gb/s."""
LINE_CODING = 1.0625
"""Bits on the wire for each bit of data: 106.25 Gb/s a lane for 100 Gb/s (SONiC, port FEC BER)."""
ALONE = 0.7
"""Confidence in CRC errors without any other: a cut-through switch may have passed them on."""

_COUNTED = (Q.FEC_UNCORRECTED, Q.CORRECTED_BITS, Q.FEC_CORRECTED, Q.SYMBOL_ERRORS, Q.CRC_ERRORS, Q.RX_ERRORS)


@dataclass(slots=True)
class _Port:
    """A port that receives errors: what it counts, in words, and how bad that is."""

    severity: Severity = Severity.WARNING
    says: list[str] = field(default_factory=list)
    told: list[Quantity] = field(default_factory=list)

    def add(self, says: str, quantity: Quantity, *, critical: bool) -> None:
        """Adds a symptom; the loudest one counts."""
        self.says.append(says)
        self.told.append(quantity)
        self.severity = Severity.CRITICAL if critical else self.severity


@rule("LNK004", severity=Severity.WARNING, needs=[PortCounters])
def signal_degraded(plan: Plan, seen: Snapshot) -> Iterator[Finding]:
    """Links of which an end receives errors, with the side that is to blame."""
    telemetry = telemetry_of(plan, seen)
    told = _told(telemetry)
    if not told.any():
        raise Undecided("no port told twice of FEC, symbol, CRC or receive errors")
    bad = _bad_ports(telemetry, _suspects(telemetry))
    if not bad:
        return
    other = other_ends(telemetry.wiring)
    links: dict[int, list[int]] = {}
    for port in bad:
        links.setdefault(subject_of(telemetry.wiring.index, port, int(other[port])), []).append(port)
    cards = suspected_cards(telemetry, told, other, bad)
    for subject, ends in links.items():
        yield _finding(telemetry, subject, {port: bad[port] for port in ends}, other, told, cards)


def _told(t: Telemetry) -> Mask:
    """Ports that told of any kind of error at least once, shape (planned ports,)."""
    found = np.zeros(t.ports, dtype=bool)
    for quantity in _COUNTED:
        found |= t.summed(quantity).samples > 0
    return found


def _suspects(t: Telemetry) -> Codes:
    """Ports that may be above a limit over the whole window, link falls not yet left out."""
    bits = _bits_of(t)
    lost = np.fmax(t.summed(Q.SYMBOL_ERRORS).gained, t.summed(Q.CRC_ERRORS).gained)
    corrected = np.fmax(t.summed(Q.CORRECTED_BITS).gained, t.summed(Q.FEC_CORRECTED).gained)
    suspect = (t.summed(Q.FEC_UNCORRECTED).gained > 0) | (t.summed(Q.RX_ERRORS).rate > RECEIVE_ERRORS_PER_SECOND)
    suspect |= (lost >= BER_AFTER_FEC[0] * bits) & (lost > 0)
    suspect |= (corrected >= BER_BEFORE_FEC[0] * bits) & (corrected > 0)
    suspect |= _nrz(t) & (t.summed(Q.SYMBOL_ERRORS).rate * 3600 > NRZ_SYMBOL_ERRORS_PER_HOUR)
    return np.flatnonzero(suspect)


def _bits_of(t: Telemetry) -> Numbers:
    """Bits that each port could have received in the window: as told, else by its speed over the shortest time told."""
    received = t.summed(Q.RX_BITS).gained
    seconds = np.full(t.ports, np.nan)
    for quantity in _COUNTED:
        seconds = np.fmin(seconds, t.summed(quantity).seconds)
    return np.where(np.isnan(received), t.speed() * 8 * LINE_CODING * seconds, received)


def _nrz(t: Telemetry) -> Mask:
    infiniband = t.wiring.index.plan.transport is Transport.INFINIBAND
    return np.asarray(t.speed() * 8 / 1e9 <= FASTEST_NRZ_GBPS, dtype=bool) & infiniband


def _bad_ports(t: Telemetry, ports: Codes) -> dict[int, _Port]:
    """The suspects that are above a limit while their link was up."""
    gained, seconds = _without_falls(t, ports)
    nrz = _nrz(t)[ports]
    bits = t.part(Q.RX_BITS, None, ports)[0]
    by_speed = t.speed()[ports][:, None] * 8 * LINE_CODING
    found: dict[int, _Port] = {}
    for row, port in enumerate(ports.tolist()):
        of_port = {quantity: gained[quantity][row] for quantity in _COUNTED}
        span = {quantity: seconds[quantity][row] for quantity in _COUNTED}
        could = {q: np.where(np.isnan(bits[row]), by_speed[row] * span[q], bits[row]) for q in _COUNTED}
        judged = _judge(of_port, span, could, nrz=bool(nrz[row]))
        if judged.says:
            found[port] = judged
    return found


Samples = Mapping[Quantity, npt.NDArray[np.floating]]


def _without_falls(t: Telemetry, ports: Codes) -> tuple[Samples, Samples]:
    """What these ports counted and in how many seconds, shapes (ports, samples), but for samples in which the link
    fell and those that follow: training a link makes errors.
    """
    fell = t.part(Q.LINK_DOWNS, None, ports)[0] > 0
    fell[:, 1:] |= fell[:, :-1].copy()
    gained: dict[Quantity, npt.NDArray[np.floating]] = {}
    seconds: dict[Quantity, npt.NDArray[np.floating]] = {}
    for quantity in _COUNTED:
        of_port, span = t.part(quantity, None, ports)
        gained[quantity] = np.where(fell, np.nan, of_port)
        seconds[quantity] = np.where(fell | np.isnan(of_port), np.nan, span)
    return gained, seconds


def _judge(gained: Samples, seconds: Samples, bits: Samples, *, nrz: bool) -> _Port:
    """All symptoms of one port; arrays have shape (samples,)."""
    port = _Port()
    lost, when = np.nansum(gained[Q.FEC_UNCORRECTED]), np.nansum(seconds[Q.FEC_UNCORRECTED])
    if lost > 0:
        often = np.count_nonzero(gained[Q.FEC_UNCORRECTED] > 0) >= RECURRING_SAMPLES
        often = often and lost * UNCORRECTED_SECONDS >= when
        port.add(f"{lost:.0f} uncorrectable codewords in {when:.0f} s", Q.FEC_UNCORRECTED, critical=bool(often))
    exact = _rate(gained[Q.CORRECTED_BITS], bits[Q.CORRECTED_BITS])
    quantity, least = (Q.CORRECTED_BITS, "") if not np.isnan(exact) else (Q.FEC_CORRECTED, "at least ")
    before = _rate(gained[quantity], bits[quantity])
    if before >= BER_BEFORE_FEC[0]:
        port.add(f"{least}{before:.1e} bit errors before FEC", quantity, critical=before >= BER_BEFORE_FEC[1])
    for quantity, kind in ((Q.SYMBOL_ERRORS, "symbol errors"), (Q.CRC_ERRORS, "CRC errors")):
        after = _rate(gained[quantity], bits[quantity])
        if after >= BER_AFTER_FEC[0]:
            count = f"{np.nansum(gained[quantity]):.0f} {kind}"
            port.add(f"{count}, {after:.1e} of all bits", quantity, critical=after >= BER_AFTER_FEC[1])
    hourly = 3600 * _rate(gained[Q.SYMBOL_ERRORS], seconds[Q.SYMBOL_ERRORS])
    if nrz and hourly > NRZ_SYMBOL_ERRORS_PER_HOUR:
        port.add(f"{hourly:.0f} symbol errors an hour", Q.SYMBOL_ERRORS, critical=True)
    errors = _rate(gained[Q.RX_ERRORS], seconds[Q.RX_ERRORS])
    if errors > RECEIVE_ERRORS_PER_SECOND:
        port.add(f"{errors:.0f} receive errors a second", Q.RX_ERRORS, critical=False)
    return port


def _rate(counted: npt.NDArray[np.floating], of: npt.NDArray[np.floating]) -> float:
    """Counted of all there was, over the samples that tell both; NaN where these are too few."""
    known = ~np.isnan(counted) & (of > 0)
    if np.count_nonzero(known) < LEAST_SAMPLES:
        return float("nan")
    return float(counted[known].sum(dtype=np.float64) / of[known].sum(dtype=np.float64))


def _finding(t: Telemetry, subject: int, bad: Mapping[int, _Port], other: Codes, told: Mask, cards: Cards) -> Finding:
    index = t.wiring.index
    symptoms = [f"{index.spell(port)} receives {'; '.join(found.says)}" for port, found in bad.items()]
    blame, does = blamed(t, bad, other, told)
    card = blamed_card(t, bad, other, cards)
    severe = any(found.severity is Severity.CRITICAL for found in bad.values())
    quantities = tuple({quantity for found in bad.values() for quantity in found.told})
    sure = ALONE if quantities == (Q.CRC_ERRORS,) else BOTH_ENDS if len(bad) > 1 else ONE_END
    return signal_degraded.found(
        index.spell(subject),
        severity=Severity.CRITICAL if severe else Severity.WARNING,
        says=", ".join([*symptoms, *((card,) if card else (blame,))]),
        do=f"Exchange no cable yet: {card}." if card else does,
        rail=rail_at(index, subject),
        confidence=sure,
        evidence=counter_evidence(t, bad, *quantities, Q.RX_BITS),
        detail=(("reports", tuple(str(index.spell(port)) for port in bad)), ("blame", card or blame)),
    )


_PLAN = """
    gpu-1/nic0 leaf-0/swp1 rail=0 speed=400
    gpu-2/nic0 leaf-0/swp2 rail=0 speed=400
    gpu-3/nic0 leaf-0/swp3 rail=0 speed=400
    gpu-4/nic0 leaf-0/swp4 rail=0 speed=400
"""
_BITS = 4.25e11
_CLEAN = {"corrected_bits": 1e3, "rx_bits": _BITS, "symbol_errors": 0.0}
_DIRTY = {"corrected_bits": 2e6, "rx_bits": _BITS, "symbol_errors": 0.0}

FIRES = (
    Case(
        "A NIC corrects one bit in 200,000; the leaf receives well: the leaf's transmitter or its strand.",
        _PLAN,
        {},
        ("gpu-1/nic0",),
        rates={"gpu-1/nic0": _DIRTY, "leaf-0/swp1": {"fec_corrected": 10.0}},
    ),
    Case(
        "Both ends lose frames: the cable.",
        _PLAN,
        {},
        ("gpu-2/nic0",),
        rates={"gpu-2/nic0": {"fec_uncorrected": 0.2}, "leaf-0/swp2": {"fec_uncorrected": 0.1}},
    ),
    Case(
        "A switch tells corrected codewords only: at least one bit each.",
        _PLAN,
        {},
        ("gpu-3/nic0",),
        rates={"leaf-0/swp3": {"fec_corrected": 1e6}},
    ),
    Case(
        "CRC and receive errors; what the NIC receives is not told.",
        _PLAN,
        {},
        ("gpu-4/nic0",),
        rates={"leaf-0/swp4": {"crc_errors": 20.0, "rx_errors": 20.0}},
    ),
    Case(
        "Three of four NICs on one leaf receive errors: its card is suspected, not three cables.",
        _PLAN,
        {},
        ("gpu-1/nic0", "gpu-2/nic0", "gpu-3/nic0"),
        rates={f"gpu-{host}/nic0": _DIRTY for host in (1, 2, 3)} | {"gpu-4/nic0": _CLEAN},
    ),
    Case(
        "Symbol errors on an InfiniBand link of 100 Gb/s (NRZ).",
        "gpu-1/mlx5_0 leaf-0/p1 rail=0 speed=100",
        {},
        ("gpu-1/mlx5_0",),
        rates={"gpu-1/mlx5_0": {"symbol_errors": [0.0, 0.5] * 6}},
        transport=Transport.INFINIBAND,
    ),
)

QUIET = (
    Case("FEC corrects little and loses nothing.", _PLAN, {}, rates={"gpu-1/nic0": _CLEAN, "gpu-2/nic0": _CLEAN}),
    Case(
        "A link that fell makes errors while it trains: LNK003.",
        _PLAN,
        {},
        rates={
            "gpu-1/nic0": {
                "symbol_errors": [*(0.0,) * 5, 1e6, 1e5, *(0.0,) * 5],
                "link_downs": [*(0.0,) * 5, 0.1, *(0.0,) * 6],
            }
        },
    ),
    Case(
        "Two samples are too few for a rate.",
        _PLAN,
        {},
        rates={"gpu-1/nic0": {"corrected_bits": [float("nan")] * 10 + [2e6, 2e6]}},
    ),
)
