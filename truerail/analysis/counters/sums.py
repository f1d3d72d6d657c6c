"""Sums of a counter over all samples, row by row."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.ring import Samples
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


def sums(gained: Samples, span: Samples) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], Codes]:
    """Per row: the sum, the seconds and the number of samples with data."""
    rows = len(span.columns[0])
    total, seconds, samples = np.zeros(rows), np.zeros(rows), np.zeros(rows, dtype=np.int64)
    for more, time in zip(gained.columns, span.columns, strict=True):
        known = np.flatnonzero(~np.isnan(more + time))
        which = slice(None) if len(known) == rows else known
        total[which] += more[which]
        seconds[which] += time[which]
        samples[which] += 1
    total[samples == 0] = seconds[samples == 0] = np.nan
    return total, seconds, samples
