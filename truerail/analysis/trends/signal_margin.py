"""A bit error rate before FEC as a margin in optical decibels over the rate that FEC cannot correct.

With Gaussian noise the error rate follows from the eye's signal-to-noise ratio, Q, and Q is proportional to the
received light where thermal noise dominates (G. P. Agrawal, Fiber-Optic Communication Systems, 4.6): light that falls
by one decibel takes one decibel of margin, while the error rate rises ever faster. A trend of the margin is therefore
straight where one of the error rate is not, and is in the unit of light.
"""

from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.hygiene import Floats

FEC_LIMIT = 2.4e-4
"""The bit error rate before RS(544,514) from which frames are lost (IEEE 802.3bs, KP4)."""
FEC_LIMIT_NRZ = 2.1e-5
"""The same before RS(528,514), for links of up to 25 Gb/s a lane (IEEE 802.3bj, KR4)."""


def margin_db(log_rate: Floats, log_limit: Floats) -> Floats:
    """10 log10 of Q at the rate over Q at the limit; 0 at the limit, negative beyond. Both are log10 of rates."""
    rates, quality = _table()
    own = np.interp(log_rate, rates, quality, left=quality[0], right=quality[-1])
    return np.where(np.isnan(log_rate), np.nan, own - np.interp(log_limit, rates, quality)).astype(np.float32)


def rate_at(margin: float, limit: float) -> float:
    """The error rate with this margin over a limit: the inverse, for words."""
    rates, quality = _table()
    q = margin + float(np.interp(np.log10(limit), rates, quality))
    return float(10 ** np.interp(-q, -quality, rates))


@lru_cache(maxsize=1)
def _table() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """log10 of the error rate, ascending, and 10 log10 of Q: the rate is the normal distribution's tail beyond Q."""
    rates: npt.NDArray[np.float64] = np.arange(-15.0, -0.5, 0.02, dtype=np.float64)
    normal = NormalDist()
    return rates, np.array([10 * np.log10(-normal.inv_cdf(10.0**rate)) for rate in rates.tolist()])
