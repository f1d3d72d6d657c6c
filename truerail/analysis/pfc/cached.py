"""Pauses as agents report them that refresh their counters less often than they are polled: at the time when they were.

Arrays have shape (ports, samples), the oldest sample first; NaN is "no data". `pace` is the usual seconds between two
samples.
"""

import numpy as np

from truerail.analysis.counters.hygiene import Floats, own_pace
from truerail.model.columns import ratio

CACHED_PACE = 1.5
"""Polls between two changes of a port's counters from which its agent answers from a cache. Engineering evaluation."""


def paused_per_second(paused_us: Floats, span: Floats, pace: float) -> Floats:
    """Microseconds paused per second in each sample. An agent answers from a cache: a poll just before its refresh
    reports too little, and the next one too much. A port is not paused for longer than the time, so what exceeds a
    sample's seconds belongs to the port's sample before it.
    """
    if not paused_us.size:
        return paused_us
    paused_us, seconds = paused_us.copy(), _refreshed(np.where(np.isnan(paused_us), np.nan, span), pace)
    most = seconds * np.float32(1e6)
    more = np.zeros(len(paused_us), dtype=np.float32)
    for sample in range(paused_us.shape[1] - 1, -1, -1):
        known = ~np.isnan(paused_us[:, sample])
        excess = np.fmax(paused_us[:, sample] - most[:, sample], 0)
        paused_us[:, sample] += np.fmin(more, np.fmax(most[:, sample] - paused_us[:, sample], 0))
        more = np.where(known, excess, more)
    return ratio(paused_us, seconds).astype(np.float32)


def _refreshed(span: Floats, pace: float) -> Floats:
    """The seconds that each sample counts, shape (ports, samples). If a port's counters usually change less often than
    they are polled, and the newest sample is a poll longer than usual, its last refresh came just after a poll: it
    counts the usual interval. The excess of a later sample would show it, but there is none yet.
    """
    usual, rows = own_pace(span, pace), np.arange(len(span))
    newest = span.shape[1] - 1 - np.argmax(~np.isnan(span[:, ::-1]), axis=1)
    seconds = span[rows, newest]
    found = span.copy()
    of_cache = np.minimum(seconds, np.maximum(usual, seconds - np.float32(pace)))
    found[rows, newest] = np.where(usual > CACHED_PACE * pace, of_cache, seconds)
    return found


def throughout(rate: Floats, span: Floats, pace: float) -> Floats:
    """The rate of each sample also in the empty samples before it that its seconds cover: the ends of a link refresh
    their counters at different times, and each measures all of the time.
    """
    found = rate.copy()
    for back in range(1, rate.shape[1]):
        covers = span[:, back:] > (back + 0.5) * pace
        if not covers.any():
            break
        empty = np.isnan(found[:, :-back]) & covers
        found[:, :-back] = np.where(empty, rate[:, back:], found[:, :-back])
    return found
