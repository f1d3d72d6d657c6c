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
- Bit error rate that FEC leaves, from symbol and CRC errors, at least one bit in each: warning from 1e-12 (CRC errors
  on Ethernet from 200 Gb/s on: 1e-13 and five of them, the objective of IEEE 802.3bs), critical from 1e-11. A
  cut-through switch passes broken frames on: CRC errors alone, no more than the switch that sends them receives
  itself at other ports, are information.
- Symbol errors that may be counted before FEC (SONiC's FEC_SYMBOL_ERR, bnxt's rx_pcs_symbol_err, InfiniBand above 100
  Gb/s) are evaluated by the level before FEC, which they bound from below in either meaning.
- Symbol errors on InfiniBand up to 100 Gb/s (NRZ) are critical above 120 an hour, receive errors a warning above 10 a
  second.
- One burst is information only where neither end counts falls then, as while a host boots: a link that comes up makes
  one.
- Where a port's errors are not counted over the window, a rate that its device computed (SONiC's fec-stats, EOS' phy
  detail, mlxlink): a warning from 1e-6 before FEC or 1e-12 after it, if it covers a minute or more. Otherwise the link
  is unknown, as it is if the rate is low: the rate may be of one second, of long ago, or all errors since boot.

## What to do
Clean and reseat the end that sends (the finding names it), then the end that receives; replace the transceiver that
sends, then the cable. Compare LNK005. Where one card is to blame, replace no cable: look at the card.

## Decide
- `the other direction is clean`: one transmitter or strand. Clean and reseat the end that sends.
- `errors in both directions`: the cable. Clean both connectors, then replace it.
- `reports no errors`: one end's counters are missing. Begin at the end that sends.
- `on the card of`: most ports of one card. Replace no cable; look at the card, its firmware and its temperature.
- `info LNK004`: touch nothing at night; look again in an hour.

## False positives
A link that has just come up makes one burst of errors. CRC errors at a cut-through switch may come from further away:
look for the first port on the way that counts them. `on average over N min` is mlxlink's mean since its counters were
cleared: the fault may be of the past. Clear them (`mlxlink -d PORT --pc`) and read it again after ten minutes.
"""

from functools import partial

import numpy as np
import numpy.typing as npt

from rules import _link_errors as errors
from rules._examples import Rates, finds_nic, railed, undecided
from rules._link_errors import BadPort, Cards, Samples
from rules._links import other_ends, rail_at, report_uncounted_links, subject_of
from truerail.analysis.cabling import BOTH_ENDS, ONE_END
from truerail.analysis.counters import Quantity
from truerail.analysis.counters.denominators import LINE_CODING, bits_of, infiniband, nrz_links
from truerail.analysis.counters.evidence import counter_evidence
from truerail.analysis.counters.telemetry import LEAST_SAMPLES, Telemetry
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, rule
from truerail.model import NOTHING_YET, BitErrorRate, CauseKind, Finding, PortCounters, Severity, Transport
from truerail.model.columns import Codes, Mask, grouped

Q = Quantity

ALONE = 0.7
"""Confidence in CRC errors without any other: a cut-through switch may have passed them on."""

_WATCH = f"{NOTHING_YET}; check again in an hour, and compare the light at both ends (LNK005)."
_COUNTED = (*errors.BEFORE_FEC, *errors.AFTER_FEC)


@rule("LNK004", Severity.WARNING, [PortCounters], instead=[BitErrorRate], cause=CauseKind.DEGRADED_LINK)
def signal_degraded(round: Round) -> Findings:
    """Links of which an end receives errors, with the side that is to blame."""
    telemetry = round.telemetry
    reported, (rates, short) = _reported(telemetry), errors.device_rates(telemetry)
    if not reported.any() and not rates:
        rates_too = f"; the bit error rates of {short:,} ports cover less than a minute, or all errors since boot"
        why = f"no port reported twice of FEC, symbol, CRC or receive errors{rates_too if short else ''}"
        raise InsufficientDataError(why)
    other = other_ends(telemetry.wiring)
    most = _most_after_fec(telemetry)
    computed = {port: rate for port, rate in rates.items() if not reported[port]}
    bad = _bad_ports(telemetry, _suspects(telemetry, most), other, most) | errors.above_limits(computed)
    passed = errors.passed_on(telemetry, bad, other)
    own = {port: found for port, found in bad.items() if port not in passed}
    links = grouped((subject_of(telemetry.wiring.index, port, int(other[port])), port) for port in bad)
    with_data = reported.copy()
    with_data[list(rates)] = True
    cards = errors.suspected_cards(telemetry, with_data, other, own)
    for subject, ends in links.items():
        of_link = {port: own[port] for port in ends if port in own}
        if of_link:
            yield _finding(telemetry, subject, of_link, other, reported, cards)
        else:
            yield _passed_on(telemetry, subject, {port: bad[port] for port in ends}, other)
    report_uncounted_links(telemetry, "errors", *_COUNTED, least=LEAST_SAMPLES)


def _reported(telemetry: Telemetry) -> Mask:
    """Ports with at least one sample of any error counter, shape (planned ports,)."""
    sampled: Mask = np.any([telemetry.summed(quantity).samples > 0 for quantity in _COUNTED], axis=0)
    return sampled


def _suspects(telemetry: Telemetry, most: npt.NDArray[np.float64]) -> Codes:
    """Ports that may be above a limit over the whole window, link falls not yet left out."""
    bits, pam4_ib = bits_of(telemetry, _COUNTED), infiniband(telemetry) & ~nrz_links(telemetry)
    symbols = telemetry.summed(Q.SYMBOL_ERRORS).gained
    lost = np.fmax(np.where(pam4_ib, np.nan, symbols), telemetry.summed(Q.CRC_ERRORS).gained)
    corrected = np.where(pam4_ib, symbols, np.nan)
    for quantity in errors.BEFORE_FEC:
        corrected = np.fmax(corrected, telemetry.summed(quantity).gained)
    suspect = telemetry.summed(Q.FEC_UNCORRECTED).gained > 0
    suspect |= telemetry.summed(Q.RX_ERRORS).rate > errors.RECEIVE_ERRORS_PER_SECOND
    suspect |= (lost >= most * bits) & (lost > 0)
    suspect |= (corrected >= errors.RISING_BER / 3 * bits) & (corrected > 0)
    hourly = telemetry.summed(Q.SYMBOL_ERRORS).rate * 3600
    suspect |= nrz_links(telemetry) & (hourly > errors.NRZ_SYMBOL_ERRORS_PER_HOUR)
    return np.flatnonzero(suspect)


def _bad_ports(telemetry: Telemetry, ports: Codes, other: Codes, most: npt.NDArray[np.float64]) -> dict[int, BadPort]:
    """The suspects that are above a limit while their link was up; `most` is that of CRC errors, by port."""
    gained, seconds, falls_known = _without_falls(telemetry, ports, other[ports])
    nrz, ib = nrz_links(telemetry)[ports], infiniband(telemetry)[ports]
    bits = telemetry.part(Q.RX_BITS, None, ports)[0]
    by_speed = telemetry.speed()[ports][:, None] * 8 * LINE_CODING
    found: dict[int, BadPort] = {}
    for row, port in enumerate(ports.tolist()):
        of_port = {quantity: gained[quantity][row] for quantity in _COUNTED}
        span = {quantity: seconds[quantity][row] for quantity in _COUNTED}
        if ib[row] and not nrz[row]:  # before or after FEC is not documented for HDR and faster
            of_port[Q.FEC_SYMBOLS], of_port[Q.SYMBOL_ERRORS] = of_port[Q.SYMBOL_ERRORS], of_port[Q.FEC_SYMBOLS]
            span[Q.FEC_SYMBOLS], span[Q.SYMBOL_ERRORS] = span[Q.SYMBOL_ERRORS], span[Q.FEC_SYMBOLS]
        could = {q: np.where(np.isnan(bits[row]), by_speed[row] * span[q], bits[row]) for q in _COUNTED}
        known, limit = falls_known[row], float(most[port])
        evaluated = errors.evaluate_port(of_port, span, could, nrz=bool(nrz[row]), falls_known=known, most=limit)
        if evaluated.summary:
            found[port] = evaluated
    return found


def _most_after_fec(telemetry: Telemetry) -> npt.NDArray[np.float64]:
    """The bit error rate from CRC errors that FEC may leave, shape (planned ports,)."""
    fast = (telemetry.speed() >= errors.FAST_ETHERNET) & ~infiniband(telemetry)
    return np.where(fast, errors.FAST_BER_AFTER_FEC, errors.BER_AFTER_FEC[0])


def _without_falls(telemetry: Telemetry, ports: Codes, other: Codes) -> tuple[Samples, Samples, Mask]:
    """What these ports counted and in how many seconds, shapes (ports, samples), but for samples in which the link
    fell or had not come back, and those beside them: training a link makes errors, and the polls of its ends differ by
    one. And the samples of which either end counted falls: not those across its restart, as of a host that boots.
    """
    fell, falls_known = np.zeros((2, len(ports), telemetry.samples), dtype=bool)
    for ends in (ports, other):
        falls, span = telemetry.part(Q.LINK_DOWNS, None, ends)
        covered = errors.samples_covered(telemetry, span)
        fell |= errors.all_covered(falls > 0, covered)
        falls_known |= errors.all_covered(~np.isnan(falls), covered)
    around = errors.without_link(fell, telemetry.part(Q.RX_BYTES, None, ports)[0])
    around[:, 1:] |= around[:, :-1].copy()
    around[:, :-1] |= fell[:, 1:]
    gained: Samples = {}
    seconds: Samples = {}
    for quantity in _COUNTED:
        of_port, span = telemetry.part(quantity, None, ports)
        left_out = errors.cover_any(around, errors.samples_covered(telemetry, span))
        gained[quantity] = np.where(left_out, np.nan, of_port)
        seconds[quantity] = np.where(left_out | np.isnan(of_port), np.nan, span)
    return gained, seconds, falls_known


def _finding(
    telemetry: Telemetry, subject: int, bad: dict[int, BadPort], other: Codes, reported: Mask, cards: Cards
) -> Finding:
    index = telemetry.wiring.index
    symptoms = [f"{index.spell(port)} receives {'; '.join(found.summary)}" for port, found in bad.items()]
    blame, does = errors.blamed(telemetry, bad, other, reported)
    card = errors.blamed_card(telemetry, bad, other, cards)
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
        evidence=(
            *counter_evidence(telemetry, bad, *quantities, Q.RX_BITS),
            *(errors.rate_evidence(telemetry, found.rate) for found in bad.values() if found.rate),
        ),
        detail=(("reports", tuple(str(index.spell(port)) for port in bad)), ("blame", card or blame)),
    )


def _passed_on(telemetry: Telemetry, subject: int, bad: dict[int, BadPort], other: Codes) -> Finding:
    """A link that is not to blame for what its ends receive."""
    index = telemetry.wiring.index
    senders = index.ports.device_of(other[list(bad)]).tolist()
    switches = " and ".join(dict.fromkeys(index.devices.names[sender] for sender in senders))
    symptoms = [f"{index.spell(port)} receives {'; '.join(found.summary)}" for port, found in bad.items()]
    return signal_degraded.found(
        index.spell(subject),
        severity=Severity.INFO,
        summary=", ".join([*symptoms, f"{switches} receives as many at its other ports and passes them on"]),
        action=f"{NOTHING_YET}: repair the links first from which {switches} receives errors.",
        rail=rail_at(index, subject),
        confidence=ALONE,
        evidence=counter_evidence(telemetry, bad, Q.CRC_ERRORS, Q.RX_ERRORS),
        detail=(("reports", tuple(str(index.spell(port)) for port in bad)), ("because", errors.PASSED_ON)),
    )


PLAN = railed(4, more=" speed=400")
_BITS = 4.25e11
_CLEAN = {"corrected_bits": 1e3, "rx_bits": _BITS, "symbol_errors": 0.0}
_REST = {f"gpu-{host}/nic0": _CLEAN for host in (2, 3, 4)}
_DIRTY = {"corrected_bits": 2e6, "rx_bits": _BITS, "symbol_errors": 0.0}
_finds_second = partial(Case, finds="gpu-2/nic0")
_TRAINS = {"symbol_errors": [*(0.0,) * 5, 1e6, 1e5, *(0.0,) * 5], "link_downs": [*(0.0,) * 5, 0.1, *(0.0,) * 6]}
_FELL: Rates = {"fec_uncorrected": [*(0.0,) * 5, 40.0, *(0.0,) * 6], "crc_errors": 0.0}

EXAMPLES = {
    "A NIC corrects one bit in 200,000; the leaf receives well: the leaf's transmitter or its strand.": finds_nic(
        rates={"gpu-1/nic0": _DIRTY, "leaf-0/swp1": {"fec_corrected": 10.0}}
    ),
    "Both ends lose frames: the cable.": _finds_second(
        rates={"gpu-2/nic0": {"fec_uncorrected": 0.2}, "leaf-0/swp2": {"fec_uncorrected": 0.1}}
    ),
    "A switch reports corrected codewords only: at least one bit each.": Case(
        finds="gpu-3/nic0", rates={"leaf-0/swp3": {"fec_corrected": 1e6}}
    ),
    "CRC and receive errors; what the NIC receives is not reported.": Case(
        finds="gpu-4/nic0", rates={"leaf-0/swp4": {"crc_errors": 20.0, "rx_errors": 20.0}}
    ),
    "Three of four NICs on one leaf receive errors: its card is suspected, not three cables.": Case(
        finds="gpu-1/nic0 gpu-2/nic0 gpu-3/nic0",
        rates={f"gpu-{host}/nic0": _DIRTY for host in (1, 2, 3)} | {"gpu-4/nic0": _CLEAN},
    ),
    "A leaf passes on the frames that one host breaks: the other links are information.": Case(
        finds="gpu-1/nic0 gpu-2/nic0 gpu-3/nic0 gpu-4/nic0",
        rates={"leaf-0/swp1": {"crc_errors": 60.0}} | {f"gpu-{host}/nic0": {"crc_errors": 20.0} for host in (2, 3, 4)},
    ),
    "The level before FEC rises thirtyfold: worth knowing.": finds_nic(
        rates={"gpu-1/nic0": {"corrected_bits": [*(4e3,) * 6, *(1.2e5,) * 6], "rx_bits": _BITS}}
    ),
    "Codewords are lost once, and neither end counts falls: a link that comes up does that.": _finds_second(
        rates={"leaf-0/swp2": {"fec_uncorrected": [*(0.0,) * 5, 0.4, *(0.0,) * 6]}}
    ),
    "Symbol errors on an InfiniBand link of 100 Gb/s (NRZ).": Case(
        finds="gpu-1/mlx5_0",
        plan="gpu-1/mlx5_0 leaf-0/p1 rail=0 speed=100",
        rates={"gpu-1/mlx5_0": {"symbol_errors": [0.0, 0.5] * 6}},
        transport=Transport.INFINIBAND,
    ),
    "One reading: SONiC computes 1e-5 over its last second, and has corrected as much for two minutes.": finds_nic(
        {"leaf-0": [BitErrorRate("swp1", 1e-5, corrected=510_000_000)]}
    ),
    "One reading: mlxlink's mean of a day, which FEC cannot correct; the leaf's of one port is clean.": _finds_second(
        {"gpu-2": [BitErrorRate("nic0", 3e-4, 2e-12, 86_400.0)], "leaf-0": [BitErrorRate("swp2", 1e-9, 0.0, 600.0)]}
    ),
    # Quiet:
    "FEC corrects little and loses nothing.": Case(rates={"gpu-1/nic0": _CLEAN, **_REST}),
    "Two links are not counted.": undecided(rates={"gpu-1/nic0": _CLEAN, "leaf-0/swp2": _CLEAN}),
    "A link that fell makes errors while it trains: LNK003.": Case(rates=_REST | {"gpu-1/nic0": _TRAINS}),
    "The other end counts the fall that made them.": Case(
        rates=_REST | {"leaf-0/swp1": _FELL, "gpu-1/nic0": {"link_downs": [*(0.0,) * 6, 0.1, *(0.0,) * 5]}}
    ),
    "SONiC's FEC_SYMBOL_ERR on a clean link of 400 Gb/s: what FEC corrected.": Case(
        rates=_REST | {"leaf-0/swp1": {"fec_corrected": 4.3e3, "fec_symbols": 4.3e3, "fec_uncorrected": 0.0}}
    ),
    "Two samples are too few for a rate.": undecided(
        rates={"gpu-1/nic0": {"corrected_bits": [float("nan")] * 10 + [2e6, 2e6]}}
    ),
    "SONiC's first rate after its start is all errors since boot over one second.": undecided(
        {"leaf-0": [BitErrorRate("swp1", 2.6e-2, corrected=11_016_000_000)]}
    ),
    "A healthy PAM4 link has 3e-7 before FEC; one reading does not show that it has no errors.": undecided(
        {"leaf-0": [BitErrorRate("swp1", 3e-7, 0.0, 86_400.0), BitErrorRate("swp2", 9e-6)]}
    ),
    "What the window counts is the present: mlxlink's mean is of a cable that has been replaced since.": Case(
        {"gpu-1": [BitErrorRate("nic0", 1e-5, 1e-10, 86_400.0)]}, rates={"gpu-1/nic0": _CLEAN, **_REST}
    ),
}
