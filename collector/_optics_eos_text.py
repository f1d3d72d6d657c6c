"""The modules of Arista EOS as text: `show interfaces transceiver [detail]`.

Each lane is a port of its own (`Et3/17/1`, `Et3/17/2`). Without `detail` one table has all values; with it each value
has a table, the value first, then its limits: high alarm, high warning, low alarm, low warning. A port without a value
has no module, or one without diagnostics: it is left out. Source: recorded answers in ntc-templates (arista_eos).
"""

import re
from collections.abc import Iterator, Sequence

from collector._module_json import DARK_DBM
from truerail.model import Optic

_BRIEF = re.compile(r"Port +\(Celsius\) +\(Volts\) +\(mA\) +\(dBm\) +\(dBm\)(?: .*)?")
_DETAIL = re.compile(r"Port +\((?:Celsius|Volts|mA|dBm)\)(?: +\((?:Celsius|Volts|mA|dBm)\)){4}")
_NAMES = re.compile(r"(Temperature|Voltage|Current|Tx Power|Rx Power) +Threshold +Threshold +Threshold +Threshold")
_PORT = re.compile(r"(?:Et|Ethernet|Ma|Management)\d[\d/]*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MARK = re.compile(r"(?<=[\d)]) +(?:\+\+|\+|--|-)(?= )|\([^()]*\)")
"""What marks a value beyond a limit, and the uncalibrated one in brackets."""
_READ = frozenset(("Temperature", "Current", "Tx Power", "Rx Power"))


def of_text(text: Sequence[str]) -> list[Optic] | None:
    """The modules in an answer's lines; None if it is another answer."""
    stripped = [line.strip() for line in text]
    if any(_BRIEF.fullmatch(line) for line in stripped):
        return list(_brief(stripped))
    if any(_DETAIL.fullmatch(line) for line in stripped):
        return _detail(stripped)
    return None


def _value(cell: str, *, power: bool = False) -> float | None:
    if not _NUMBER.fullmatch(cell):
        return None
    return max(DARK_DBM, float(cell)) if power else float(cell)


def _brief(text: Sequence[str]) -> Iterator[Optic]:
    for line in text:
        port, *cells = line.split() or [""]
        if _PORT.fullmatch(port) and len(cells) > 4 and any(map(_NUMBER.fullmatch, cells[:5])):
            tx, rx = _value(cells[3], power=True), _value(cells[4], power=True)
            yield Optic(port, None, rx, tx, _value(cells[2]), _value(cells[0]))


def _detail(text: Sequence[str]) -> list[Optic]:
    found: dict[str, Optic] = {}
    name = ""
    for line in text:
        named = _NAMES.fullmatch(line)
        port, *cells = _MARK.sub("", f"{line} ").split() or [""]
        if named:
            name = named[1]
        elif name in _READ and _PORT.fullmatch(port) and len(cells) == 5 and _NUMBER.fullmatch(cells[0]):
            found[port] = _with(found.get(port, Optic(port)), name, cells)
    return list(found.values())


def _with(optic: Optic, name: str, cells: Sequence[str]) -> Optic:
    """The module with one of its values."""
    value = _value(cells[0], power=name.endswith("Power"))
    if name == "Temperature":
        return optic._replace(temperature_celsius=value)
    if name == "Current":
        return optic._replace(bias_ma=value)
    if name == "Tx Power":
        return optic._replace(tx_power_dbm=value)
    return optic._replace(rx_power_dbm=value, rx_power_high_dbm=_value(cells[1]), rx_power_low_dbm=_value(cells[3]))
