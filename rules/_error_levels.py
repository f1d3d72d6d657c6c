"""What one port's errors are worth: bit error rates before and after FEC, lost codewords and frames, single bursts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rules._device_rates import DeviceRate
from truerail.analysis.counters import Quantity
from truerail.analysis.counters.telemetry import LEAST_SAMPLES
from truerail.model import Severity
from truerail.model.columns import Mask

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
