"""Sums of a counter over all samples, row by row."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.hygiene import Floats
from truerail.model.columns import Codes


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of ports over a window, shapes (planned ports,): NaN, and 0 samples, with no data."""

    gained: npt.NDArray[np.float64]
    seconds: npt.NDArray[np.float64]
    samples: Codes

    @property
    def rate(self) -> npt.NDArray[np.float64]:
        """Rate per second; NaN with no data."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.gained / self.seconds, dtype=np.float64)


def sums(gained: Floats, span: Floats) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], Codes]:
    """Per row: the sum, the seconds and the number of samples with data. Only rows with gaps are summed one by one."""
    # not `@`: BLAS splits so little work over threads and waits for them longer than the work takes
    total, seconds = (np.einsum("ij->i", values).astype(np.float64) for values in (gained, span))
    samples = np.full(len(gained), gained.shape[1], dtype=np.int64)
    gaps = np.flatnonzero(np.isnan(total) | np.isnan(seconds))
    if 2 * len(gaps) > len(total):  # a window that has just begun: no row has its first samples
        begun = np.flatnonzero(~np.isnan(np.fmax.reduce(span, axis=0)))
        if 0 < len(begun) < span.shape[1]:
            return sums(gained[:, begun], span[:, begun])
    if len(gaps):
        known = ~np.isnan(gained[gaps]) & ~np.isnan(span[gaps])
        samples[gaps] = known.sum(axis=1)
        for column, values in ((total, gained), (seconds, span)):
            column[gaps] = np.where(known, values[gaps], 0).sum(axis=1, dtype=np.float64)
            column[gaps[samples[gaps] == 0]] = np.nan
    return total, seconds, samples
