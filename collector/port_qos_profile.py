"""Trust, DSCP map, ECN thresholds and headroom of each port of a SONiC switch, from its configuration.

Question: which priority does a port give to which DSCP, on which queues and from which length on does it mark
congestion, and how much can a lossless priority still take in after it sent a pause?

Format: documents of `sonic-db-dump -n CONFIG_DB -y`, one for each table: keys such as `PORT_QOS_MAP|Ethernet0` with a
hash as `value`. Ports may be joined by commas, priorities may be a range (`Ethernet0,Ethernet4|3-4`), and names of
other tables stand bare or as `[DSCP_TO_TC_MAP|AZURE]`, by release. Thresholds are bytes, probabilities percent.
Source: sonic-buildimage `src/sonic-yang-models/doc/Configuration.md` (Port QoS Map, DSCP_TO_TC_MAP, Queue,
WRED_PROFILE, Buffer PG, Buffer profile).

Traps:

- A DSCP is mapped to a traffic class, and that to a priority group, on which PFC acts: both maps count.
- There is no setting for trust: a port classifies by the map that it has. With both maps it is not reported.
- Thresholds are those of the green profile of lossless queues, and only where `ecn` marks green packets.
- With dynamic buffers the profile of a priority group is `NULL` here, and computed by the switch: no headroom is
  reported then.
"""

from collections.abc import Iterator, Mapping
from itertools import product

from collector.formats.text import document_at, lines, small_count
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import SWITCHES, Command, Device, PortQos, collector, minutes

TABLES = ("PORT_QOS_MAP", "DSCP_TO_TC_MAP", "TC_TO_PRIORITY_GROUP_MAP", "QUEUE", "WRED_PROFILE", "BUFFER_PG",
          "BUFFER_PROFILE")  # fmt: skip
_GREEN = ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red")


ASK = (Command(f'for t in {" ".join(TABLES)}; do sonic-db-dump -n CONFIG_DB -y -k "$t|*"; done', ("sonic",)),)


@collector(on=SWITCHES, ask=ASK, every=minutes(10), yields=[PortQos], optional=True)
def port_qos_profile(answer: str, device: Device) -> list[PortQos]:
    """One `PortQos` for each port with any of these settings. Raises `UnreadableError`."""
    database = _Database(dict(_entries(answer)))
    found = [database.of_port(port) for port in database.maps if port != "global"]  # the switch itself
    if not found:
        raise NoAnswerError("no port has a QoS map in its configuration")
    return found


def _entries(answer: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Keys and hashes of all documents. Raises `UnreadableError`."""
    text = "\n".join(lines(answer))
    at = text.find("{")
    if at < 0:
        raise UnreadableError("not the QoS tables of CONFIG_DB", line=1, text=text.split("\n")[0])
    while at >= 0:
        document, end = document_at(text, at)
        for key, entry in document.items():
            value = entry.get("value") if isinstance(entry, dict) else None
            if not isinstance(value, dict) or key.partition("|")[0] not in TABLES:
                raise UnreadableError("not a hash of a QoS table", line=text.count("\n", 0, at) + 1, text=key)
            yield key, {str(name): str(word) for name, word in value.items()}
        at = text.find("{", end)


class _Database:
    """The tables, with each port's own rows."""

    def __init__(self, entries: Mapping[str, Mapping[str, str]]) -> None:
        self._entries = entries
        self._rows: dict[tuple[str, str], dict[int, Mapping[str, str]]] = {}
        self.maps: dict[str, Mapping[str, str]] = {}
        for key, value in entries.items():
            table, _, rest = key.partition("|")
            ports, _, priorities = rest.partition("|")
            for port in ports.split(","):
                if table == "PORT_QOS_MAP":
                    self.maps[port] = value
                elif table in ("QUEUE", "BUFFER_PG"):
                    self._rows.setdefault((table, port), {}).update(product(_span(priorities), [value]))

    def of_port(self, port: str) -> PortQos:
        """The settings of one port."""
        maps, queues = self.maps[port], self._rows.get(("QUEUE", port), {})
        lossless = [of for of in map(small_count, maps.get("pfc_enable", "").split(",")) if of is not None]
        wred = {of: self._named("WRED_PROFILE", row, "wred_profile") for of, row in queues.items()}
        marked = tuple(of for of in sorted(wred) if wred[of].get("ecn") in _GREEN)
        marking = [wred[of] for of in marked if of in lossless]
        groups = self._rows.get(("BUFFER_PG", port), {})
        buffers = [self._named("BUFFER_PROFILE", groups[of], "profile") for of in lossless if of in groups]
        percent = _least(marking, "green_drop_probability")
        return PortQos(
            port,
            trust=_trust(maps),
            ecn_priorities=marked if wred else None,
            dscp_to_priority=self._dscp(maps),
            ecn_min_bytes=_least(marking, "green_min_threshold"),
            ecn_max_bytes=_least(marking, "green_max_threshold"),
            ecn_probability=None if percent is None else percent / 100,
            headroom_bytes=_least(buffers, "xoff"),
        )

    def _named(self, table: str, row: Mapping[str, str], field: str) -> Mapping[str, str]:
        """The entry of another table that a field names; empty if there is none."""
        name = row.get(field, "").strip("[]").rpartition("|")[2]
        return self._entries.get(f"{table}|{name}", {})

    def _dscp(self, maps: Mapping[str, str]) -> tuple[tuple[int, int], ...] | None:
        classes = self._named("DSCP_TO_TC_MAP", maps, "dscp_to_tc_map")
        groups = self._named("TC_TO_PRIORITY_GROUP_MAP", maps, "tc_to_pg_map")
        pairs = [(small_count(dscp), small_count(groups.get(of, ""))) for dscp, of in classes.items()]
        found = sorted((dscp, priority) for dscp, priority in pairs if dscp is not None and priority is not None)
        return tuple(found) or None


def _trust(maps: Mapping[str, str]) -> str | None:
    """What a port's only map of priorities is of; None where it has both, or none."""
    found = [word for field, word in (("dscp_to_tc_map", "dscp"), ("dot1p_to_tc_map", "pcp")) if maps.get(field)]
    return found[0] if len(found) == 1 else None


def _span(text: str) -> range:
    """`3` or `3-4`; empty for what is neither."""
    first, _, last = text.partition("-")
    low, high = small_count(first), small_count(last or first)
    return range(0) if low is None or high is None else range(low, min(high, 7) + 1)


def _least(entries: list[Mapping[str, str]], field: str) -> int | None:
    """The smallest value; None where one does not report it."""
    values = [small_count(entry.get(field, "")) for entry in entries]
    known = [value for value in values if value is not None]
    return min(known) if known and len(known) == len(values) else None
