"""Pluggable modules: their medium, and the JSON of tools on hosts."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from collector.formats.text import decode
from truerail.errors import UnreadableError
from truerail.model import Optic

# ----------------------------------------------------------------------------------------------------------------------
# Whether a module is one end of a cable with fixed ends, or a pluggable one behind which any fibre may be.
#
# Both ends of a cable carry one serial number, modules never do: of 83 serial numbers of modules in recorded
# inventories none occurs twice. The words are those of SFF-8024 (connectors, transmitter technologies) and of the
# makers' part numbers: `CU`, `DAC`, `AOC`, `AEC`; NVIDIA's MCP, MCA (copper), MFS, MFA (active optical) and MMA, MMS
# (modules).

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


# ----------------------------------------------------------------------------------------------------------------------
# Pluggable modules in JSON: `ethtool --json -m` and `mlxlink --json -m`.

DARK_DBM = -40.0
"""Reported for a lane without light: a module's power resolution is 0.1 uW."""
_TEMPERATURE = re.compile(r'"module_temperature(?:_measurement)?": ?(-?[0-9.]+)')
_RX = ("rx_power", "rcvr_signal_avg_optical_power", "receiver_signal_oma", "receiver_signal_average_optical_power")
_TX = ("transmit_avg_optical_power", "laser_output_power")
_BIAS = ("laser_tx_bias_current", "laser_bias_current")
_LIMITS = re.compile(r" \[(-?[\d.]*\d)\.\.(-?[\d.]*\d)\]")
_NUMBER = re.compile(r"[ \t]*(-?\d{1,9}(?:\.\d{1,18})?)(?![\d.eE])")
_NO_LIGHT = re.compile(r"-?[ \t]?inf", re.IGNORECASE)
_MILLIWATTS = re.compile(r"\d ?mW")
_ABSENT = frozenset(("", "-", "--", "n/a", "none", "not available", "not present", "unknown"))
ByLane = Mapping[int, Mapping[str, Any]]
"""The values of each lane by their names."""


def dbm(milliwatts: float | None) -> float | None:
    """A power in dBm; no light is `DARK_DBM`."""
    if milliwatts is None:
        return None
    return round(10 * math.log10(milliwatts), 2) if milliwatts > 1e-4 else DARK_DBM


class Names(NamedTuple):
    """Where a form has the values of a module: the names of the whole module's, then those of each lane's, of which
    the first that a lane has counts.
    """

    celsius: str = ""
    low: str = ""
    high: str = ""
    vendor: str = ""
    part: str = ""
    serial: str = ""
    medium: tuple[str, ...] = ()
    rx: tuple[str, ...] = ()
    tx: tuple[str, ...] = ()
    bias: tuple[str, ...] = ()


def module(
    port: str, names: Names, values: Mapping[str, Any], lanes: ByLane | None = None, *, copper: bool = False
) -> Iterator[Optic]:
    """One `Optic` per lane; a single one for a cable, or if no lane is reported. Lane 0 is one without a number, or the
    first of several.
    """
    whole = Optic(
        port,
        temperature_celsius=number(values.get(names.celsius)),
        rx_power_low_dbm=power(values.get(names.low)),
        rx_power_high_dbm=power(values.get(names.high)),
        vendor=word(values.get(names.vendor)),
        part=word(values.get(names.part)),
        serial=word(values.get(names.serial)),
        medium=medium_of(*map(values.get, names.medium)),
    )
    numbered = {} if copper else lanes or {}
    first = 1 if len(numbered) > 1 and 0 in numbered else 0
    for lane, reported in sorted(numbered.items()):
        rx, tx, bias = (
            next((reported[key] for key in keys if key in reported), None) for keys in (names.rx, names.tx, names.bias)
        )
        yield whole._replace(
            lane=lane + first or None, rx_power_dbm=power(rx), tx_power_dbm=power(tx), bias_ma=number(bias)
        )
    if not numbered:
        yield whole


def word(value: Any) -> str | None:
    """A text that is not one of the ways to print none."""
    text = str(value if value is not None else "").strip()
    return None if text.lower() in _ABSENT else text


def number(value: Any) -> float | None:
    """The number that a value is or begins with; None if there is none."""
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    found = _NUMBER.match(str(value))
    return float(found[1]) if found else None


def power(value: Any) -> float | None:
    """A power in dBm, from dBm, also after milliwatts, or from milliwatts alone; no light is `DARK_DBM`."""
    text = str(value).rpartition("/")[2].strip()
    if _NO_LIGHT.match(text):
        return DARK_DBM
    found = number(value if isinstance(value, int | float) else text)
    if found is None or not _MILLIWATTS.search(text):
        return None if found is None else max(DARK_DBM, found)
    return dbm(found)


_ETHTOOL = Names(
    *("celsius", "low", "high", "vendor_name", "vendor_pn", "vendor_sn"),
    ("connector_description", "transmitter_technology_description", "vendor_pn"),
    *(("rx",), ("tx",), ("bias",)),
)
_MLXLINK = Names(
    *("celsius", "low", "high", "Vendor Name", "Vendor Part Number", "Vendor Serial Number"),
    ("Cable Type", "Cable Technology", "Vendor Part Number"),
    *(("Rx Power Current [dBm]",), ("Tx Power Current [dBm]",), ("Bias Current [mA]",)),
)


def by_lane(columns: Mapping[str, Mapping[int, Any]]) -> ByLane:
    """The values of each lane, from the lanes of each value."""
    return {
        lane: {key: of[lane] for key, of in columns.items() if lane in of} for of in columns.values() for lane in of
    }


def from_ethtool(port: str, text: str) -> Iterator[Optic]:
    """One port's answer of `ethtool --json -m`. Powers in it are milliwatts."""
    document = decode(text)
    if type(document) is not list or not document or type(document[0]) is not dict or "identifier" not in document[0]:
        raise UnreadableError("not a module of `ethtool --json -m`")
    found: Mapping[str, Any] = document[0]
    limits = found.get("laser_rx_power")
    limits = limits if isinstance(limits, Mapping) else {}
    celsius = _TEMPERATURE.search(text)
    whole = {
        **found,
        "celsius": celsius[1] if celsius else None,
        "low": dbm(limits.get("low_alarm_threshold")),
        "high": dbm(limits.get("high_alarm_threshold")),
    }
    rx, tx, bias = (_lanes(found, keys) for keys in (_RX, _TX, _BIAS))
    lanes = by_lane({"rx": _in_dbm(rx), "tx": _in_dbm(tx), "bias": bias})
    copper = "copper cable" in str(found.get("transmitter_technology_description")).lower()
    return module(str(found.get("ifname", port)), _ETHTOOL, whole, lanes, copper=copper)


def _in_dbm(lanes: Mapping[int, float]) -> dict[int, float | None]:
    return {lane: dbm(value) for lane, value in lanes.items()}


def _lanes(found: Mapping[str, Any], keys: Sequence[str]) -> dict[int, float]:
    """Values per lane under the first of these keys that has any: a list, a number, or an object of one."""
    for key in keys:
        reported = found.get(key)
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


def from_words(port: str, found: Mapping[str, Any]) -> Iterator[Optic]:
    """A module as `mlxlink -m` reports it, by the labels that its text and its JSON share."""
    columns = {key: _columns(found, key) for key in (*_MLXLINK.rx, *_MLXLINK.tx, *_MLXLINK.bias)}
    copper = "copper" in f"{found.get('Cable Type')} {found.get('Cable Technology')}".lower()
    limits = _LIMITS.search(str(found.get(_MLXLINK.rx[0])))
    low, high = limits.groups() if limits else (None, None)
    celsius = _columns(found, "Temperature [C]").get(1)
    whole = found if copper else {**found, "celsius": celsius, "low": low, "high": high}
    return module(port, _MLXLINK, whole, by_lane(columns), copper=copper)


def _columns(found: Mapping[str, Any], key: str) -> dict[int, float]:
    """The lanes' values under a key, without the limits behind them."""
    words = enumerate(str(found.get(key, "")).partition(" [")[0].split(","), 1)
    return {lane: value for lane, word in words if (value := number(word)) is not None}
