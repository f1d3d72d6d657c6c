"""Metrics whose values are measured: five significant digits of fixed width, `4.8123e+10`.

So the text of an evaluation is that of the last one with other digits, and 100,000 values are written by numpy, not
one by one: a tenth of the cost. Five digits exceed the precision of a counter that is read every ten seconds.
"""

from itertools import chain, compress, pairwise, repeat

import numpy as np

from truerail.analysis.counters.minute import Numbers
from truerail.model.columns import Codes, Mask
from truerail.outputs.metrics.declaring import Declared
from truerail.outputs.metrics.metric_series import Block, Rows, Series, head

DIGITS = 5
_ZERO = "0.0000e+00"
_TAIL = f"}} {_ZERO}\n"
_PLACES = (0, 2, 3, 4, 5)
"""The positions of the mantissa's digits; the exponent's follow its sign."""
_SIGN, _TENS, _ONES = 7, 8, 9


class Measured:
    """A metric with one series for each row with a value. The template is rebuilt only if other rows have values than
    in the last evaluation.
    """

    def __init__(self, metric: Declared, rows: Rows) -> None:
        self.metric, self._rows = metric, rows
        self._reported: Mask = np.zeros(len(rows.pod), dtype=bool)
        self._values: Numbers = np.empty(0)
        self._block = Block(head(metric), (b"",) * rows.pods)
        self._text = b""
        self._ends: Codes = np.empty(0, dtype=np.int64)

    def block(self, values: Numbers) -> Block:
        """The text with these values, shape (rows,), none of them negative; NaN has no series."""
        reported = np.logical_not(np.isnan(values))
        if not np.array_equal(reported, self._reported):
            self._cut(reported)
        elif np.array_equal(values[reported], self._values):
            return self._block
        self._values = values[reported]
        self._block = self._filled(self._values)
        return self._block

    def series(self, values: Numbers) -> Series:
        """The same as a series."""
        reported = np.flatnonzero(~np.isnan(values))
        mantissa, exponent = (column.tolist() for column in _written(values[reported]))
        shown = [float(f"{m}e{e - DIGITS + 1}") for m, e in zip(mantissa, exponent, strict=True)]
        return Series(self.metric, self._rows.take(reported), shown)

    def _cut(self, reported: Mask) -> None:
        rows = self._rows
        lines = zip(repeat(self.metric.name), compress(rows.text, reported), repeat(_TAIL))
        self._reported, self._text = reported, "".join(chain.from_iterable(lines)).encode()
        around = len(self.metric.name) + len(_TAIL)
        self._ends = np.cumsum(rows.sizes[reported] + around)

    def _filled(self, values: Numbers) -> Block:
        text = bytearray(self._text)
        mantissa, exponent = _written(values)
        digits = np.frombuffer(text, dtype=np.uint8)
        first = self._ends - 1 - len(_ZERO)
        for place in reversed(_PLACES):
            mantissa, digit = np.divmod(mantissa, 10)
            digits[first + place] = digit + ord("0")
        digits[first + _SIGN] = np.where(exponent < 0, ord("-"), ord("+"))
        digits[first + _TENS], digits[first + _ONES] = (d + ord("0") for d in np.divmod(np.abs(exponent), 10))
        cuts = np.searchsorted(np.flatnonzero(self._reported), self._rows.bounds)
        whole, bounds = memoryview(text), np.r_[0, self._ends][cuts].tolist()
        return Block(head(self.metric), tuple(whole[a:b] for a, b in pairwise(bounds)))


def _written(values: Numbers) -> tuple[Codes, Codes]:
    """Mantissas of five digits and exponents, as `4.8123e+10` has them: (48123, 10). What is under 1e-99 is 0."""
    values = np.where(values < 1e-99, 0.0, values).astype(np.float64)
    exponent = np.floor(np.log10(np.where(values > 0, values, 1.0)))
    mantissa = np.rint(values / 10.0 ** (exponent - DIGITS + 1))
    over = mantissa >= 10**DIGITS  # 9.99996 is 10
    mantissa, exponent = np.where(over, mantissa // 10, mantissa), exponent + over
    return mantissa.astype(np.int64), exponent.astype(np.int64)
