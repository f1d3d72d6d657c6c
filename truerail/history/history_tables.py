"""The tables of the history store: every column with its type, its unit and its meaning.

This is the only place that says what the store holds: the files, `truerail query --tables` and docs/history.md follow
from it. No column needs quotes in SQL. A value that no device reported is null, never zero.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

SCHEMA = "truerail/history/v2"
"""The name of this schema in a store's `store.json`."""


class Type(StrEnum):
    """The type of a column."""

    TIME = "time"
    """Microseconds in UTC."""
    WORD = "word"
    """A text with few distinct values: stored as a dictionary."""
    TEXT = "text"
    TEXTS = "texts"
    """A list of texts."""
    WHOLE = "whole"
    """A 64-bit integer."""
    NUMBER = "number"
    """A 64-bit floating-point number."""
    FLAG = "flag"
    """True or false."""


@dataclass(frozen=True, slots=True)
class Field:
    """One column. `unit` is empty where the value has none."""

    type: Type
    name: str
    meaning: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class HistoryTable:
    """One table. `key` identifies what a row is about; with `began` or `time` it identifies the row.

    `bucket_seconds` is the time that a row of samples covers; 0 for intervals, whose rows last from `began` to `ended`,
    and for rounds.
    """

    name: str
    meaning: str
    fields: tuple[Field, ...]
    key: tuple[str, ...]
    bucket_seconds: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(field.name for field in self.fields)

    @property
    def intervals(self) -> bool:
        """Whether a row is an episode, with `began` and `ended`, rather than a sample."""
        return "began" in self.names

    @property
    def time(self) -> str:
        """The column by whose day a finished row is filed: `ended` of an episode, `bucket` of samples, `answered` of a
        round.
        """
        if self.intervals:
            return "ended"
        return "bucket" if self.bucket_seconds else "answered"


_time = partial(Field, Type.TIME, unit="UTC")
_word = partial(Field, Type.WORD)
_text = partial(Field, Type.TEXT)
_whole = partial(Field, Type.WHOLE)
_number = partial(Field, Type.NUMBER)


def _lasts(what: str) -> tuple[Field, Field]:
    return (
        _time("began", f"first round that had {what}"),
        _time("ended", f"first round without {what}; null while it lasts"),
    )


_DEVICE = _word("device", "device, named as in the plan")
_PORT = _word("port", "port of the device, named as in the plan")
_RAIL = _whole("rail", "rail of the planned cable at the port; null for an uplink")
_POD = _word("pod", "pod of the device; null where the plan has none")
_ROLE = _word("role", "role of the device: host, leaf, spine or superspine")
_SAMPLED = (_time("bucket", "start of the bucket"), _DEVICE, _PORT, _RAIL, _POD, _ROLE)

CABLES = HistoryTable(
    "cables",
    "planned cables; a row lasts as long as the state and the actual other end stay the same",
    (
        _word("device", "device of the cable's nearer end: the host, or the lower switch of an uplink"),
        _word("port", "port of the nearer end"),
        _whole("rail", "rail of the cable; null for an uplink"),
        _word("pod", "pod of the nearer device; null where the plan has none"),
        _whole("plane", "plane of the cable; null where NICs have one port"),
        _word("kind", "host (a host to its leaf) or uplink (between switches)"),
        _word("planned_device", "device of the planned other end"),
        _word("planned_port", "port of the planned other end"),
        _word("actual_device", "device found at the other end; null if none was found"),
        _word("actual_port", "port found at the other end; null if no port was found"),
        _word("state", "right, wrong, missing or unknown"),
        *_lasts("this state and other end"),
    ),
    ("device", "port"),
)
FINDINGS = HistoryTable(
    "findings",
    "findings; a row lasts from the appearance of a finding to its resolution",
    (
        _text("id", "id of the finding: the same over rounds, restarts and episodes"),
        _word("rule", "code of the rule, as CAB001"),
        _word("name", "name of the rule"),
        _word("severity", "info, warning or critical, when it was last present"),
        _word("subject", "port or device that the finding is about"),
        _word("device", "device of the subject"),
        _whole("rail", "rail of the subject; null for a subject on all rails or on none"),
        _text("expected", "what the plan has there; null if it has nothing"),
        _text("observed", "what was found there; null if nothing was"),
        _text("summary", "what was found, in a sentence"),
        _text("action", "what to do about it"),
        _word("cause", "key of the cause that explains it; null without one"),
        Field(Type.FLAG, "muted", "whether it was acknowledged or in maintenance when it was last present"),
        *_lasts("this finding"),
    ),
    ("id",),
)
CAUSES = HistoryTable(
    "causes",
    "causes; a row lasts from the appearance of a cause to its resolution",
    (
        _text("key", "key of the cause: the same over rounds, restarts and episodes"),
        _word("kind", "kind of the cause, as cable-swap"),
        Field(Type.TEXTS, "subjects", "ports or devices that the cause is about"),
        _word("severity", "highest severity of the findings that it explains: info, warning or critical"),
        _text("summary", "what happened, in a sentence"),
        _text("action", "what to do about it"),
        _whole("moves", "cables to move", "cables"),
        _whole("findings", "findings that it explains", "findings"),
        _whole("affected_gpus", "GPUs that lose a rail while it lasts; null if that was not recorded", "GPUs"),
        _number("confidence", "how sure the cause is, from 0 to 1", "share"),
        *_lasts("this cause"),
    ),
    ("key",),
)
DEVICES = HistoryTable(
    "devices",
    "planned devices; a row lasts as long as all its values stay the same",
    (
        _DEVICE,
        _ROLE,
        _POD,
        _word("rack", "rack of the device; null where the plan has none"),
        _word("platform", "platform of the device, as the plan names it; null where it does not"),
        _word("reported_name", "LLDP system name that most of its planned neighbours hear from it; null if none does"),
        _word("chassis_id", "LLDP chassis id that most of its planned neighbours hear from it; null if none does"),
        Field(Type.FLAG, "read", "whether the device answered any collector without error"),
        *_lasts("these values"),
    ),
    ("device",),
)
OPTICS = HistoryTable(
    "optics",
    "pluggable modules of planned ports; a row lasts as long as a module stays in its port",
    (
        _DEVICE,
        _PORT,
        _RAIL,
        _POD,
        _word("vendor", "vendor of the module; null if not reported"),
        _word("part", "part number of the module; null if not reported"),
        _word("serial", "serial number of the module; null if not reported"),
        *_lasts("this module in this port"),
    ),
    ("device", "port"),
)
_COUNTED = (
    *_SAMPLED,
    _number("seconds", "time that the row's counts cover; divide by it for a rate", "s"),
    _number("rx_bytes", "bytes received", "B"),
    _number("tx_bytes", "bytes sent", "B"),
    _number("rx_packets", "packets received", "packets"),
    _number("tx_packets", "packets sent", "packets"),
    _number(
        "errors", "damaged frames received (CRC errors where only these are counted) and failed ones sent", "frames"
    ),
    _number("symbol_errors", "symbols in error that FEC did not correct", "symbols"),
    _number("dropped_packets", "packets that the port discarded, received and sent", "packets"),
    _number("link_downs", "times that the link went down", "events"),
    _number("fec_corrected_codewords", "codewords that FEC corrected: every fast link has some", "codewords"),
    _number("fec_uncorrected_codewords", "codewords that FEC could not correct: data was lost", "codewords"),
    _number("pause_received_seconds", "time that the neighbour paused this port, in its most paused priority", "s"),
    _number("pause_sent_seconds", "time that this port paused its neighbour, in the most paused priority", "s"),
    _number("pause_received_frames", "pause frames received, all priorities", "frames"),
    _number("pause_sent_frames", "pause frames sent, all priorities", "frames"),
    _number("ecn_marked_packets", "packets that a switch marked (ECN), or that a NIC received marked", "packets"),
    _number("speed_bits_per_second", "speed of the link as reported, else as planned", "bit/s"),
)
_PER_MINUTE = "what planned ports counted, a row for each port and minute with data"
COUNTERS_MINUTES = HistoryTable("counters_minutes", _PER_MINUTE, _COUNTED, ("device", "port"), 60)
_PER_HOUR = "the same, a row for each port and hour with data: sums of its minutes"
COUNTERS_HOURS = HistoryTable("counters_hours", _PER_HOUR, _COUNTED, ("device", "port"), 3600)
LIGHTS = HistoryTable(
    "lights",
    "optics of planned ports, the extremes of each hour over all lanes of a module",
    (
        *_SAMPLED,
        _number("rx_power_dbm_min", "least light received by a lane", "dBm"),
        _number("tx_power_dbm_min", "least light sent by a lane", "dBm"),
        _number("temperature_celsius_max", "highest temperature of the module", "°C"),
        _number("pre_fec_ber_max", "highest share of wrong bits before FEC, as the device computed it", "share"),
    ),
    ("device", "port"),
    3600,
)
ROUNDS = HistoryTable(
    "rounds",
    "evaluations in numbers",
    (
        _time("answered", "time of the newest answer in it"),
        _whole("number", "number of the evaluation; null if it was not recorded"),
        _whole("devices", "devices polled", "devices"),
        _whole("devices_read", "devices that answered", "devices"),
        _whole("cables_right", "planned cables in their place", "cables"),
        _whole("cables_wrong", "planned cables in another place", "cables"),
        _whole("cables_missing", "planned cables without a link", "cables"),
        _whole("cables_unknown", "planned cables without data", "cables"),
        _whole("findings_critical", "open critical findings; null if not recorded", "findings"),
        _whole("findings_warning", "open warnings; null if not recorded", "findings"),
        _whole("findings_info", "open findings of severity info; null if not recorded", "findings"),
        _whole("causes", "open causes", "causes"),
        _number("took_seconds", "duration of the evaluation", "s"),
    ),
    (),
)

TABLES = {
    table.name: table
    for table in (CABLES, FINDINGS, CAUSES, DEVICES, OPTICS, COUNTERS_MINUTES, COUNTERS_HOURS, LIGHTS, ROUNDS)
}
"""Every table by its name."""


def described() -> Iterator[tuple[str, Field]]:
    """Every column of every table, in order, with the table's name."""
    for table in TABLES.values():
        for field in table.fields:
            yield table.name, field
