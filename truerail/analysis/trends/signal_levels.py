"""The signal of both ends of every planned cable at one time: light, temperature and bit errors before FEC.

Arrays have shape (2, cables), the end nearer to the GPUs first; NaN is "no data". A link's other end is the other row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar
from zlib import crc32

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import Wiring
from truerail.analysis.counters.denominators import bits_of, rate_ports
from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import LEAST_SAMPLES, Telemetry
from truerail.analysis.optics_lanes import Lanes, lanes_of
from truerail.model.columns import NONE, Codes, Mask, Numbers, factorize
from truerail.model.facts import BitErrorRate, Optic
from truerail.model.index import PlanIndex

DARK_DBM = -30.0
"""At or below there is no light (QSFP modules' data sheets): a link that is down, no trend."""
LEAST_BER = 1e-14
"""Fewer bit errors are shown as this share: 400 Gb/s count one error in four minutes."""
LONGEST_RATE_SECONDS = 7200.0
"""A device's own rate over a longer time is no level of today."""
Number = TypeVar("Number", np.float64, np.int64)
BEFORE_FEC = (Quantity.CORRECTED_BITS, Quantity.FEC_CORRECTED, Quantity.FEC_SYMBOLS)


class Signal(IntEnum):
    """The rows of the arrays of values."""

    RX_DBM = 0
    """Of the module's lane that receives least."""
    TX_DBM = 1
    """Of the module's lane that sends least."""
    CELSIUS = 2
    BER = 3
    """Decadic logarithm of the bit error rate before FEC; where only codewords or symbols are counted, at least one bit
    in each.
    """


@dataclass(frozen=True, eq=False)
class Levels:
    """All planned cables at one time."""

    at: float
    """Unix seconds."""
    values: Floats
    """Shape (signals, 2, cables)."""
    module: Codes
    """A checksum of the module's serial number; -1 where that is not reported."""
    lot: Codes
    """The same for modules of one vendor and part at the same end; -1 where no part is reported."""
    low_dbm: Floats
    """The module's own alarm limit of received light."""
    fell: Mask
    """Whether the link fell within the window of counters, as that end counts."""


def levels_of(wiring: Wiring, telemetry: Telemetry) -> Levels:
    """The levels of a round."""
    index, lanes, ports = wiring.index, lanes_of(wiring), wiring.index.planned_ports
    downs = telemetry.summed(Quantity.LINK_DOWNS).gained
    # the least power of each port's lanes with light
    rx, tx = (_least(np.where(power > DARK_DBM, power, np.nan), lanes.port, ports) for power in (lanes.rx, lanes.tx))
    errors = np.where(downs > 0, np.nan, _error_rates(telemetry))
    by_port = np.stack([rx, tx, -_least(-lanes.celsius, lanes.port, ports), errors])
    module, lot = _modules(lanes, ports)
    return Levels(
        at=wiring.seen.at.timestamp(),
        values=_at_ends(index, by_port, np.nan).astype(np.float32),
        module=_at_ends(index, module, NONE),
        lot=_lots(_at_ends(index, lot, NONE)),
        low_dbm=_at_ends(index, _least(lanes.low, lanes.port, ports), np.nan).astype(np.float32),
        fell=_at_ends(index, downs, np.nan) > 0,
    )


def _at_ends(index: PlanIndex, column: npt.NDArray[Number], missing: float) -> npt.NDArray[Number]:
    """Columns of planned ports, shape (..., ports), at the ends of cables, shape (..., 2, cables)."""
    ends = np.stack([index.a, index.b])
    padded = np.concatenate([column, np.full((*column.shape[:-1], 1), missing, dtype=column.dtype)], axis=-1)
    found: npt.NDArray[Number] = padded[..., np.where(ends >= 0, ends, column.shape[-1])]
    return found


def _least(values: Numbers, port: Codes, ports: int) -> Numbers:
    found = np.full(ports, np.nan)
    np.fmin.at(found, port, values)
    return found


def _modules(lanes: Lanes, ports: int) -> tuple[Codes, Codes]:
    """The checksum of each port's serial number, and a code of its vendor and part; -1 where not reported."""
    module, lot = np.full(ports, NONE, dtype=np.int64), np.full(ports, NONE, dtype=np.int64)
    rows: Sequence[Optic] = lanes.seen.table(Optic).rows
    first = np.unique(lanes.port, return_index=True)[1]
    at, reported = lanes.port[first], [rows[row] for row in lanes.row[first].tolist()]
    module[at] = [crc32(row.serial.encode()) if row.serial else NONE for row in reported]
    lot[at] = factorize([(row.vendor, row.part) if row.part else None for row in reported])[0]
    return module, lot


def _lots(lot: Codes) -> Codes:
    """Lots of the two ends of cables apart: what a switch sends is not what a NIC sends."""
    return np.where(lot >= 0, 2 * lot + np.array([[0], [1]]), NONE)


def _error_rates(telemetry: Telemetry) -> Numbers:
    """The logarithm of each port's bit error rate before FEC."""
    rate = np.full(telemetry.ports, np.nan)
    corrected = [_counted(telemetry, quantity) for quantity in BEFORE_FEC]
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(np.isnan(corrected[0]), np.fmax(*corrected[1:]), corrected[0]) / bits_of(telemetry, BEFORE_FEC)
    ports, rows = rate_ports(telemetry.wiring)
    rates = telemetry.wiring.seen.table(BitErrorRate).rows
    own = np.array([_recent(rates[row]) for row in rows.tolist()], dtype=np.float64)
    rate[ports] = np.where(np.isnan(rate[ports]), own, rate[ports])
    return np.asarray(np.log10(np.clip(rate, LEAST_BER, 0.5)), dtype=np.float64)


def _counted(telemetry: Telemetry, quantity: Quantity) -> Numbers:
    counted = telemetry.summed(quantity)
    least = max(min(LEAST_SAMPLES, telemetry.samples - 1), 1)  # the first round has nothing to count from
    return np.where(counted.samples >= least, counted.gained, np.nan)


def _recent(rate: BitErrorRate) -> float:
    recent = rate.before_fec is not None and (rate.seconds or 0.0) <= LONGEST_RATE_SECONDS
    return float(rate.before_fec or 0.0) if recent else float("nan")
