"""Pluggable modules: their medium, and the JSON of tools on hosts."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from collector.formats.text import decode
from truerail.errors import UnreadableError
from truerail.model import Optic

"""Whether a module is one end of a cable with fixed ends, or a pluggable one behind which any fibre may be.

Both ends of a cable carry one serial number, modules never do: of 83 serial numbers of modules in recorded inventories
none occurs twice. The words are those of SFF-8024 (connectors, transmitter technologies) and of the makers' part
numbers: `CU`, `DAC`, `AOC`, `AEC`; NVIDIA's MCP, MCA (copper), MFS, MFA (active optical) and MMA, MMS (modules).
"""

_CABLE = re.compile(
    r"copper|twinax|no separable|pigtail|(?:active|passive)[ _]cable|active[ _]optical|(?<![a-z])(?:dac|aoc|aec|acc)"
    r"(?![a-z])|(?<![a-z])cu\d|base-?cr|-cr\d|^mc[pa]\d|^mf[sa]\d",
    re.IGNORECASE,
)
_MODULE = re.compile(
    r"\b(?:LC|MPO|CS|SN)\b|multi-?fiber|separable optical|base-?(?:[sldfez]r|bx)|-(?:[csldfez]r|sl)\d?(?:-|\b)"
    r"|^mm[as]\d",
    re.IGNORECASE,
)
Medium = Literal["cable", "module"] | None


def medium_of(*words: Any) -> Medium:
    """What the words about a module say of it; None if they do not say it."""
    said = [str(word) for word in words if word]
    if any(_CABLE.search(word) for word in said):
        return "cable"
    return "module" if any(_MODULE.search(word) for word in said) else None


"""Pluggable modules in JSON: `ethtool --json -m` and `mlxlink --json -m`."""

DARK_DBM = -40.0
"""Reported for a lane without light: a module's power resolution is 0.1 uW."""
_TEMPERATURE = re.compile(r'"module_temperature(?:_measurement)?": ?(-?[0-9.]+)')
_RX = ("rx_power", "rcvr_signal_avg_optical_power", "receiver_signal_oma", "receiver_signal_average_optical_power")
_TX = ("transmit_avg_optical_power", "laser_output_power")
_BIAS = ("laser_tx_bias_current", "laser_bias_current")
_LIMITS = re.compile(r"(-?[\d.]*\d)\.\.(-?[\d.]*\d)\]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
Lanes = dict[int, float | None]
"""One value per lane; lane 0 if lanes are not numbered, or numbered from 0."""


def dbm(milliwatts: float | None) -> float | None:
    """A power in dBm; no light is `DARK_DBM`."""
    if milliwatts is None:
        return None
    return round(10 * math.log10(milliwatts), 2) if milliwatts > 1e-4 else DARK_DBM


def optics(whole: Optic, rx: Lanes, tx: Lanes, bias: Lanes, *, copper: bool = False) -> Iterator[Optic]:
    """One `Optic` per lane; `whole` has what the lanes share, and is the only one for a cable or if no lane is
    reported."""
    lanes = [] if copper else sorted({*rx, *tx, *bias})
    first = 1 if len(lanes) > 1 and 0 in lanes else 0
    for lane in lanes:
        yield whole._replace(
            lane=lane + first or None,
            rx_power_dbm=rx.get(lane),
            tx_power_dbm=tx.get(lane),
            bias_ma=bias.get(lane),
        )
    if not lanes:
        yield whole


def from_ethtool(port: str, text: str) -> Iterator[Optic]:
    """One port's answer of `ethtool --json -m`. Powers in it are milliwatts."""
    document = decode(text)
    if type(document) is not list or not document or type(document[0]) is not dict or "identifier" not in document[0]:
        raise UnreadableError("not a module of `ethtool --json -m`")
    module: Mapping[str, Any] = document[0]
    limits = module.get("laser_rx_power")
    limits = limits if isinstance(limits, Mapping) else {}
    found = _TEMPERATURE.search(text)
    whole = Optic(
        str(module.get("ifname", port)),
        temperature_celsius=float(found[1]) if found else None,
        rx_power_low_dbm=dbm(limits.get("low_alarm_threshold")),
        rx_power_high_dbm=dbm(limits.get("high_alarm_threshold")),
        vendor=module.get("vendor_name") or None,
        part=module.get("vendor_pn") or None,
        serial=module.get("vendor_sn") or None,
        medium=medium_of(
            *(module.get(key) for key in ("connector_description", "transmitter_technology_description", "vendor_pn"))
        ),
    )
    rx, tx, bias = (_lanes(module, keys) for keys in (_RX, _TX, _BIAS))
    copper = "copper cable" in str(module.get("transmitter_technology_description")).lower()
    return optics(whole, _in_dbm(rx), _in_dbm(tx), bias, copper=copper)


def _in_dbm(lanes: Lanes) -> Lanes:
    return {lane: dbm(power) for lane, power in lanes.items()}


def _lanes(module: Mapping[str, Any], keys: Sequence[str]) -> Lanes:
    """Values per lane under the first of these keys that has any: a list, a number, or an object of one."""
    for key in keys:
        reported = module.get(key)
        if isinstance(reported, Mapping):
            reported = reported.get("values", reported.get("value"))
        if type(reported) is list:
            return {lane: float(value) for lane, value in enumerate(reported, 1)}
        if isinstance(reported, int | float):
            return {0: float(reported)}
    return {}


def from_mlxlink(port: str, text: str) -> Iterator[Optic]:
    """The answer of `mlxlink --json -m`. One string contains the values of all lanes, then the module's limits."""
    return from_words(port, decode(text)["result"]["output"]["Module Info"])


def from_words(port: str, module: Mapping[str, Any]) -> Iterator[Optic]:
    """A module as `mlxlink -m` reports it, by the labels that its text and its JSON share."""
    rx, low, high = _reported(module, "Rx Power Current [dBm]")
    tx, bias = _reported(module, "Tx Power Current [dBm]")[0], _reported(module, "Bias Current [mA]")[0]
    copper = "copper" in f"{module.get('Cable Type')} {module.get('Cable Technology')}".lower()
    celsius = {} if copper else _reported(module, "Temperature [C]")[0]
    whole = Optic(
        port,
        temperature_celsius=celsius.get(1),
        rx_power_low_dbm=None if copper else low,
        rx_power_high_dbm=None if copper else high,
        vendor=_word(module, "Vendor Name"),
        part=_word(module, "Vendor Part Number"),
        serial=_word(module, "Vendor Serial Number"),
        medium=medium_of(*(module.get(key) for key in ("Cable Type", "Cable Technology", "Vendor Part Number"))),
    )
    return optics(whole, rx, tx, bias, copper=copper)


def _reported(module: Mapping[str, Any], key: str) -> tuple[Lanes, float | None, float | None]:
    """The lanes' values and the alarm limits under a key."""
    values, _, limits = str(module.get(key, "")).partition(" [")
    words = enumerate(map(str.strip, values.split(",")), 1)
    lanes: Lanes = {lane: float(word) for lane, word in words if _NUMBER.fullmatch(word)}
    found = _LIMITS.match(limits)
    low, high = (float(found[1]), float(found[2])) if found else (None, None)
    return lanes, low, high


def _word(module: Mapping[str, Any], key: str) -> str | None:
    value = str(module.get(key, "N/A")).strip()
    return None if value in ("", "N/A") else value
