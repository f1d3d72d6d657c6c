"""A link receives errors: its signal degrades, or is already losing frames.

## Why it matters
RoCE and InfiniBand send everything again from the frame that was lost, so a few lost frames a second slow down a whole
collective. The errors that FEC still corrects come weeks before: a link that is cleaned then costs no job.

## How it is detected
A port counts what it receives, so errors blame what sends to it: the transmitter at the other end or the strand from
there. Errors at both ends blame the cable; errors at most ports of one card, or of most ports that one card sends to,
blame the card. Samples around a fall of the link, as either end counts it, are left out (LNK003). Only what FEC left is
an error. Every PAM4 link has errors before FEC, so what FEC corrected is a level; docs/counters.md lists what each
platform's counters mean.

- Codewords that FEC could not correct are lost frames: warning at the first; critical where they come in two samples or
  more, at one in five minutes or faster.
- Bit error rate before FEC, from corrected bits; where only corrected codewords or symbols are reported, at least one
  bit in each: warning from 1e-6, critical from 1e-5. RS-544 gives up at 2.4e-4. Information only: it rose tenfold
  within the window, to 1e-7 or more.
- Bit error rate that FEC leaves, from symbol and CRC errors, at least one bit in each: warning from 1e-12, critical
  from 1e-11. A cut-through switch passes broken frames on, so CRC errors alone may come from further away.
- Symbol errors that may be counted before FEC (SONiC's FEC_SYMBOL_ERR, bnxt's rx_pcs_symbol_err, InfiniBand above 100
  Gb/s) are evaluated by the level before FEC, which they bound from below in either meaning.
- Symbol errors on InfiniBand up to 100 Gb/s (NRZ) are critical above 120 an hour, receive errors a warning above 10 a
  second.
- One burst is information only where neither end counts falls: a link that comes up makes one.

## What to do
Clean and reseat the end that sends (the finding names it), then the end that receives; replace the transceiver that
sends, then the cable. Compare LNK005. Where one card is to blame, replace no cable: look at the card.

## Decide
- `the other direction is clean`: one transmitter or strand. Clean and reseat the end that sends.
- `both directions suffer`: the cable. Clean both connectors, then replace it.
- `reports no errors`: one end's counters are missing. Begin at the end that sends.
- `on the card of`: most ports of one card. Replace no cable; look at the card, its firmware and its temperature.
- `info LNK004`: touch nothing at night; look again in an hour.

## False positives
A link that has just come up makes one burst of errors. CRC errors at a cut-through switch may come from further away:
look for the first port on the way that counts them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rules._counted import counter_evidence, other_ends, rail_at, subject_of
from rules._link_bits import LINE_CODING, bits_of, infiniband, nrz_links
from rules._senders import Cards, blamed, blamed_card, suspected_cards
from rules._uncounted import every_link
from truerail.analysis.cabling import BOTH_ENDS, ONE_END
from truerail.analysis.counters import Quantity
from truerail.analysis.counters.telemetry import LEAST_SAMPLES, Telemetry
from truerail.analysis.round import Round
from truerail.analysis.rule import Alert, Case, InsufficientDataError, rule
from truerail.model import CauseKind, Finding, PortCounters, Severity, Transport
from truerail.model.columns import Codes, Mask

Q = Quantity
Values = npt.NDArray[np.floating]

BER_BEFORE_FEC = (1e-6, 1e-5)
"""Warning and critical for RS-544: vendor guidance, quoted by LLDPq's BER analyzer. KP4 FEC gives up at 2.4e-4."""
BER_AFTER_FEC = (1e-12, 1e-11)
"""Warning and critical: 1e-12 is ibdiagnet's long-standing limit, ten times that LLDPq's critical one."""
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
ALONE = 0.7
"""Confidence in CRC errors without any other: a cut-through switch may have passed them on."""

_WATCH = "Nothing yet; check again in an hour, and compare the light at both ends (LNK005)."
_BEFORE_FEC = (Q.CORRECTED_BITS, Q.FEC_CORRECTED, Q.FEC_SYMBOLS)
_AFTER_FEC = {
    Q.FEC_UNCORRECTED: "uncorrectable codewords",
    Q.SYMBOL_ERRORS: "symbol errors",
    Q.CRC_ERRORS: "CRC errors",
    Q.RX_ERRORS: "receive errors",
}
_COUNTED = (*_BEFORE_FEC, *_AFTER_FEC)


@dataclass(slots=True)
class _Port:
    """A port that receives errors: what it counts, in words, and how bad that is."""

    severity: Severity = Severity.INFO
    summary: list[str] = field(default_factory=list)
    reported: list[Quantity] = field(default_factory=list)

    def add(self, summary: str, quantity: Quantity, severity: Severity) -> None:
        """Adds a symptom; the loudest one counts."""
        self.summary.append(summary)
        self.reported.append(quantity)
        self.severity = max(self.severity, severity, key=lambda one: one.rank)


@rule(
    "LNK004",
    severity=Severity.WARNING,
    needs=[PortCounters],
    alert=Alert(
        "SignalDegraded",
        (Severity.CRITICAL, Severity.WARNING),
        5,
        "receives errors: its signal degrades",
        "Clean and reseat the cable at both ends; then replace the module, then the cable.",
    ),
    cause=CauseKind.DEGRADED_LINK,
)
def signal_degraded(round: Round) -> Iterator[Finding]:
    """Links of which an end receives errors, with the side that is to blame."""
    telemetry = round.telemetry
    reported = _reported(telemetry)
    if not reported.any():
        raise InsufficientDataError("no port reported twice of FEC, symbol, CRC or receive errors")
    other = other_ends(telemetry.wiring)
    bad = _bad_ports(telemetry, _suspects(telemetry), other)
    links: dict[int, list[int]] = {}
    for port in bad:
        links.setdefault(subject_of(telemetry.wiring.index, port, int(other[port])), []).append(port)
    cards = suspected_cards(telemetry, reported, other, bad)
    for subject, ends in links.items():
        yield _finding(telemetry, subject, {port: bad[port] for port in ends}, other, reported, cards)
    every_link(telemetry, "errors", *_COUNTED, least=LEAST_SAMPLES)


def _reported(telemetry: Telemetry) -> Mask:
    """Ports with at least one sample of any error counter, shape (planned ports,)."""
    sampled: Mask = np.any([telemetry.summed(quantity).samples > 0 for quantity in _COUNTED], axis=0)
    return sampled


def _suspects(telemetry: Telemetry) -> Codes:
    """Ports that may be above a limit over the whole window, link falls not yet left out."""
    bits, pam4_ib = bits_of(telemetry, _COUNTED), infiniband(telemetry) & ~nrz_links(telemetry)
    symbols = telemetry.summed(Q.SYMBOL_ERRORS).gained
    lost = np.fmax(np.where(pam4_ib, np.nan, symbols), telemetry.summed(Q.CRC_ERRORS).gained)
    corrected = np.where(pam4_ib, symbols, np.nan)
    for quantity in _BEFORE_FEC:
        corrected = np.fmax(corrected, telemetry.summed(quantity).gained)
    suspect = telemetry.summed(Q.FEC_UNCORRECTED).gained > 0
    suspect |= telemetry.summed(Q.RX_ERRORS).rate > RECEIVE_ERRORS_PER_SECOND
    suspect |= (lost >= BER_AFTER_FEC[0] * bits) & (lost > 0)
    suspect |= (corrected >= RISING_BER / 3 * bits) & (corrected > 0)
    suspect |= nrz_links(telemetry) & (telemetry.summed(Q.SYMBOL_ERRORS).rate * 3600 > NRZ_SYMBOL_ERRORS_PER_HOUR)
    return np.flatnonzero(suspect)


def _bad_ports(telemetry: Telemetry, ports: Codes, other: Codes) -> dict[int, _Port]:
    """The suspects that are above a limit while their link was up."""
    gained, seconds, falls_reported = _without_falls(telemetry, ports, other[ports])
    nrz, ib = nrz_links(telemetry)[ports], infiniband(telemetry)[ports]
    bits = telemetry.part(Q.RX_BITS, None, ports)[0]
    by_speed = telemetry.speed()[ports][:, None] * 8 * LINE_CODING
    found: dict[int, _Port] = {}
    for row, port in enumerate(ports.tolist()):
        of_port = {quantity: gained[quantity][row] for quantity in _COUNTED}
        span = {quantity: seconds[quantity][row] for quantity in _COUNTED}
        if ib[row] and not nrz[row]:  # before or after FEC is not documented for HDR and faster
            of_port[Q.FEC_SYMBOLS], of_port[Q.SYMBOL_ERRORS] = of_port[Q.SYMBOL_ERRORS], of_port[Q.FEC_SYMBOLS]
            span[Q.FEC_SYMBOLS], span[Q.SYMBOL_ERRORS] = span[Q.SYMBOL_ERRORS], span[Q.FEC_SYMBOLS]
        could = {q: np.where(np.isnan(bits[row]), by_speed[row] * span[q], bits[row]) for q in _COUNTED}
        evaluated = _evaluate(of_port, span, could, nrz=bool(nrz[row]), falls_reported=bool(falls_reported[row]))
        if evaluated.summary:
            found[port] = evaluated
    return found


Samples = dict[Quantity, npt.NDArray[np.floating]]


def _without_falls(telemetry: Telemetry, ports: Codes, other: Codes) -> tuple[Samples, Samples, Mask]:
    """What these ports counted and in how many seconds, shapes (ports, samples), but for samples in which the link
    fell and those beside them: training a link makes errors, and the polls of its ends differ by one. And the ports of
    which either end counts falls.
    """
    here, there = (telemetry.part(Q.LINK_DOWNS, None, ends)[0] for ends in (ports, other))
    fell = (here > 0) | (there > 0)
    around = fell.copy()
    around[:, 1:] |= fell[:, :-1]
    around[:, :-1] |= fell[:, 1:]
    gained: Samples = {}
    seconds: Samples = {}
    for quantity in _COUNTED:
        of_port, span = telemetry.part(quantity, None, ports)
        gained[quantity] = np.where(around, np.nan, of_port)
        seconds[quantity] = np.where(around | np.isnan(of_port), np.nan, span)
    return gained, seconds, np.asarray(~(np.isnan(here) & np.isnan(there)).all(axis=1), dtype=bool)


def _evaluate(gained: Samples, seconds: Samples, bits: Samples, *, nrz: bool, falls_reported: bool) -> _Port:
    """All symptoms of one port; arrays have shape (samples,)."""
    port = _Port()
    _evaluate_before_fec(port, gained, bits)
    for quantity, name in _AFTER_FEC.items():
        severity, summary = _left_by_fec(quantity, name, gained[quantity], seconds[quantity], bits[quantity], nrz=nrz)
        if severity is not None:
            burst = not falls_reported and _one_burst(gained[quantity])
            summary += " in one burst, as when a link comes up; neither end counts falls" * burst
            port.add(summary, quantity, Severity.INFO if burst else severity)
    return port


def _evaluate_before_fec(port: _Port, gained: Samples, bits: Samples) -> None:
    """Adds what the level before FEC says: by corrected bits, else at least one bit in each codeword or symbol."""
    levels = {quantity: _rate(gained[quantity], bits[quantity]) for quantity in _BEFORE_FEC}
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
    quantity: Quantity, name: str, gained: Values, seconds: Values, bits: Values, *, nrz: bool
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
    return severity if left >= BER_AFTER_FEC[0] else None, f"{count:.0f} {name}, {left:.1e} of all bits"


def _one_burst(gained: Values) -> bool:
    """Whether it was all counted in one sample, or in two beside each other."""
    return bool(np.ptp(np.flatnonzero(gained > 0)) <= 1)


def _rate(counted: Values, of: Values) -> float:
    """Counted of all there was, over the samples that have both; NaN where these are too few."""
    known = ~np.isnan(counted) & (of > 0)
    if np.count_nonzero(known) < LEAST_SAMPLES:
        return float("nan")
    return float(counted[known].sum(dtype=np.float64) / of[known].sum(dtype=np.float64))


def _finding(
    telemetry: Telemetry, subject: int, bad: dict[int, _Port], other: Codes, reported: Mask, cards: Cards
) -> Finding:
    index = telemetry.wiring.index
    symptoms = [f"{index.spell(port)} receives {'; '.join(found.summary)}" for port, found in bad.items()]
    blame, does = blamed(telemetry, bad, other, reported)
    card = blamed_card(telemetry, bad, other, cards)
    severity = max((found.severity for found in bad.values()), key=lambda one: one.rank)
    quantities = tuple({quantity for found in bad.values() for quantity in found.reported})
    sure = ALONE if quantities == (Q.CRC_ERRORS,) else BOTH_ENDS if len(bad) > 1 else ONE_END
    return signal_degraded.found(
        index.spell(subject),
        severity=severity,
        summary=", ".join([*symptoms, *((card,) if card else (blame,))]),
        action=_WATCH if severity is Severity.INFO else f"Replace no cable yet: {card}." if card else does,
        rail=rail_at(index, subject),
        confidence=sure,
        evidence=counter_evidence(telemetry, bad, *quantities, Q.RX_BITS),
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
_REST = {f"gpu-{host}/nic0": _CLEAN for host in (2, 3, 4)}
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
        "A switch reports corrected codewords only: at least one bit each.",
        _PLAN,
        {},
        ("gpu-3/nic0",),
        rates={"leaf-0/swp3": {"fec_corrected": 1e6}},
    ),
    Case(
        "CRC and receive errors; what the NIC receives is not reported.",
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
        "The level before FEC rises thirtyfold: worth knowing.",
        _PLAN,
        {},
        ("gpu-1/nic0",),
        rates={"gpu-1/nic0": {"corrected_bits": [*(4e3,) * 6, *(1.2e5,) * 6], "rx_bits": _BITS}},
    ),
    Case(
        "Codewords are lost once, and neither end counts falls: a link that comes up does that.",
        _PLAN,
        {},
        ("gpu-2/nic0",),
        rates={"leaf-0/swp2": {"fec_uncorrected": [*(0.0,) * 5, 0.4, *(0.0,) * 6]}},
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
    Case("FEC corrects little and loses nothing.", _PLAN, {}, rates={"gpu-1/nic0": _CLEAN, **_REST}),
    Case("Two links are not counted.", _PLAN, {}, unknown=True, rates={"gpu-1/nic0": _CLEAN, "leaf-0/swp2": _CLEAN}),
    Case(
        "A link that fell makes errors while it trains: LNK003.",
        _PLAN,
        {},
        rates=_REST
        | {
            "gpu-1/nic0": {
                "symbol_errors": [*(0.0,) * 5, 1e6, 1e5, *(0.0,) * 5],
                "link_downs": [*(0.0,) * 5, 0.1, *(0.0,) * 6],
            }
        },
    ),
    Case(
        "The other end counts the fall that made them.",
        _PLAN,
        {},
        rates=_REST
        | {
            "leaf-0/swp1": {"fec_uncorrected": [*(0.0,) * 5, 40.0, *(0.0,) * 6], "crc_errors": 0.0},
            "gpu-1/nic0": {"link_downs": [*(0.0,) * 6, 0.1, *(0.0,) * 5]},
        },
    ),
    Case(
        "SONiC's FEC_SYMBOL_ERR on a clean link of 400 Gb/s: what FEC corrected.",
        _PLAN,
        {},
        rates=_REST | {"leaf-0/swp1": {"fec_corrected": 4.3e3, "fec_symbols": 4.3e3, "fec_uncorrected": 0.0}},
    ),
    Case(
        "Two samples are too few for a rate.",
        _PLAN,
        {},
        unknown=True,
        rates={"gpu-1/nic0": {"corrected_bits": [float("nan")] * 10 + [2e6, 2e6]}},
    ),
)
