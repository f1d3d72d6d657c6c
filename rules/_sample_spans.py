"""Samples of counters after missed polls: an increment may cover several samples, and belongs to any of them.

All arrays have shape (ports, samples).
"""

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.telemetry import Telemetry
from truerail.model.columns import Codes, Mask


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
