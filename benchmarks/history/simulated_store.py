"""A simulated history store of any size, with the events that the ready-made questions look for.

Counters and light are drawn at random around plausible values; the same seed makes the same store. Files are as the
service leaves them: one for each table and day, with a row group for each part that was merged.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from truerail.history.arrow_tables import arrow_schema, from_columns, from_rows, words
from truerail.history.history_tables import (
    CABLES,
    CAUSES,
    COUNTERS_HOURS,
    COUNTERS_MINUTES,
    DEVICES,
    FINDINGS,
    LIGHTS,
    OPTICS,
    ROUNDS,
    HistoryTable,
)
from truerail.history.store_folder import StoreFolder, parquet_options

RAILS = 8
HOSTS_OF_A_LEAF = 64
VENDORS = (("Innolight", "T-DR4"), ("Coherent", "C-DR4"), ("Eoptolink", "E-DR4"))
SPEED = 400e9
_PART_MINUTES = 5
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of a simulated fabric: NICs, then the leaves' ports that face them, in the same order."""

    hosts: int

    @property
    def nics(self) -> int:
        """The number of NICs."""
        return self.hosts * RAILS

    def named(self) -> tuple[list[str], list[str], np.ndarray]:
        """Device and port of each, and its rail."""
        nic = np.arange(self.nics)
        host, rail = nic // RAILS, nic % RAILS
        devices = [f"gpu-{one + 1:04}" for one in host]
        devices += [f"leaf-{r}-{h // HOSTS_OF_A_LEAF}" for h, r in zip(host.tolist(), rail.tolist(), strict=True)]
        ports = [f"nic{one}" for one in rail] + [f"swp{one % HOSTS_OF_A_LEAF + 1}" for one in host]
        return devices, ports, np.tile(rail, 2)


@dataclass(frozen=True)
class Fabric:
    """What all tables share: the ports, the time, and chance."""

    ports: Ports
    begin: datetime
    end: datetime
    seed: int = 1

    def rng(self, *of: int) -> np.random.Generator:
        """Chance of its own for each table and bucket."""
        return np.random.default_rng((self.seed, *of))


def write_store(path: Path, hosts: int, days: int, minutes_days: int, end: datetime) -> StoreFolder:
    """A store of `days` up to `end`, with minutes of the last `minutes_days`."""
    folder = StoreFolder(path)
    folder.create("simulated")
    fabric = Fabric(Ports(hosts), end - timedelta(days=days), end)
    _samples(folder, COUNTERS_HOURS, fabric, days, _hours(fabric, counted))
    _samples(folder, LIGHTS, fabric, days, _hours(fabric, lit))
    _samples(folder, COUNTERS_MINUTES, fabric, minutes_days, _minutes)
    for table, rows in ((CABLES, cables), (DEVICES, devices), (OPTICS, optics), (CAUSES, causes), (FINDINGS, findings)):
        _intervals(folder, table, list(rows(fabric)))
    for table_rows in _by_day(list(rounds(fabric)), "answered").values():
        folder.append(ROUNDS, from_rows(ROUNDS, table_rows), end)
    return folder


# --- samples ----------------------------------------------------------------------------------------------------------


def _samples(folder: StoreFolder, table: HistoryTable, fabric: Fabric, days: int, groups: Any) -> None:
    import pyarrow.parquet as pq

    schema = arrow_schema(table)
    for number in range(days):
        day = fabric.end - timedelta(days=days - number)
        path = folder.day_folder(table, day.date()) / "part-000000-000001to000288.parquet"
        path.parent.mkdir(parents=True)
        with pq.ParquetWriter(path, schema, **parquet_options(schema)) as writer:
            for columns in groups(fabric, day):
                writer.write_table(from_columns(table, columns))


def _hours(fabric: Fabric, of_hour: Any) -> Any:
    def groups(fabric: Fabric, day: datetime) -> Iterator[dict[str, Any]]:
        for hour in range(24):
            at = day + timedelta(hours=hour)
            ports = 2 * fabric.ports.nics
            yield _places(fabric, ports) | {"bucket": _times([at] * ports)} | of_hour(fabric, at, ports, 3600.0)

    return groups


def _minutes(fabric: Fabric, day: datetime) -> Iterator[dict[str, Any]]:
    nics = fabric.ports.nics
    for part in range(24 * 60 // _PART_MINUTES):
        at = [day + timedelta(minutes=part * _PART_MINUTES + minute) for minute in range(_PART_MINUTES)]
        times = np.repeat(np.array([one.replace(tzinfo=None) for one in at], "M8[us]"), nics)
        places = _places(fabric, nics, _PART_MINUTES)
        yield places | {"bucket": _times(times)} | counted(fabric, at[0], nics * _PART_MINUTES, 60.0)


def _times(values: Any) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.timestamp("us", "UTC"))


@lru_cache(maxsize=8)
def _places(fabric: Fabric, ports: int, times: int = 1) -> dict[str, Any]:
    devices, names, rails = fabric.ports.named()
    known = list(dict.fromkeys(devices)), list(dict.fromkeys(names))
    number = [{name: code for code, name in enumerate(one)} for one in known]
    codes = [np.array([number[0][one] for one in devices[:ports]]), np.array([number[1][one] for one in names[:ports]])]
    role = np.arange(ports) >= fabric.ports.nics
    pod = np.arange(ports) % fabric.ports.nics // (RAILS * HOSTS_OF_A_LEAF)
    return {
        "device": words(np.tile(codes[0], times), known[0]),
        "port": words(np.tile(codes[1], times), known[1]),
        "rail": np.tile(rails[:ports], times),
        "pod": words(np.tile(pod, times), [f"pod-{one}" for one in range(int(pod.max()) + 1)]),
        "role": words(np.tile(role.astype(int), times), ["host", "leaf"]),
    }


def counted(fabric: Fabric, at: datetime, ports: int, seconds: float) -> dict[str, Any]:
    """Counters of one bucket: some ports flap, some hosts are slow receivers, some ports report no pause times."""
    rng = fabric.rng(1, int(at.timestamp()))
    load = rng.random(ports, np.float32) * 0.8
    sent, received = (np.floor(part * SPEED / 8 * seconds) for part in (load, load * 0.97))
    number = np.arange(ports) % fabric.ports.nics
    flaps = (rng.random(ports) < np.where(number % 501 == 7, 0.05, 1e-5)) * rng.integers(1, 6, ports)
    paused = np.where(number // RAILS % 97 == 3, 0.02, 1e-5) * seconds * rng.random(ports)
    nothing = np.full(ports, np.nan)
    silent = np.where(number % 50 == 9, np.nan, 0.0)
    return {
        "seconds": np.full(ports, seconds),
        "rx_bytes": received,
        "tx_bytes": sent,
        "rx_packets": np.floor(received / 4200),
        "tx_packets": np.floor(sent / 4200),
        "errors": (rng.random(ports) < 1e-4) * 3.0,
        "symbol_errors": nothing,
        "dropped_packets": (rng.random(ports) < 1e-3) * 40.0,
        "link_downs": flaps + silent,
        "fec_corrected_codewords": np.floor(rng.random(ports) * 1e6),
        "fec_uncorrected_codewords": (rng.random(ports) < 1e-4) * 1.0,
        "pause_received_seconds": paused + silent,
        "pause_sent_seconds": paused + silent,
        "pause_received_frames": np.floor(paused * 1e4),
        "pause_sent_frames": np.floor(paused * 1e4),
        "ecn_marked_packets": np.floor(load * 1e4),
        "speed_bits_per_second": np.full(ports, SPEED),
    }


def lit(fabric: Fabric, at: datetime, ports: int, seconds: float) -> dict[str, Any]:
    """Light of one hour: the modules of the second vendor lose light, and some of them err more each day."""
    rng = fabric.rng(2, int(at.timestamp()))
    days = (at - fabric.begin).total_seconds() / 86400
    number = np.arange(ports) % fabric.ports.nics
    fading = np.where(number % len(VENDORS) == 1, 0.03 * days, 0.0)
    return {
        "rx_power_dbm_min": np.round(-1.5 - fading + rng.normal(0, 0.1, ports), 2),
        "tx_power_dbm_min": np.round(1.0 + rng.normal(0, 0.1, ports), 2),
        "temperature_celsius_max": np.round(48 + 4 * rng.random(ports), 1),
        "pre_fec_ber_max": 1e-8 * 10 ** (np.where(number % 301 == 1, 0.1 * days, 0.0) + rng.normal(0, 0.1, ports)),
    }


# --- intervals --------------------------------------------------------------------------------------------------------


def _intervals(folder: StoreFolder, table: HistoryTable, rows: list[Row]) -> None:
    ended = [row for row in rows if row["ended"] is not None]
    for of_day in _by_day(ended, "ended").values():
        folder.append(table, from_rows(table, of_day), of_day[0]["ended"])
    folder.replace_open(table, from_rows(table, [row for row in rows if row["ended"] is None]))


def _by_day(rows: list[Row], time: str) -> dict[Any, list[Row]]:
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(row[time].date(), []).append(row)
    return found


def cables(fabric: Fabric) -> Iterator[Row]:
    """Each NIC's cable: some were moved and repaired, some are still wrong, some were unknown for a while."""
    devices, ports, rails = fabric.ports.named()
    nics = fabric.ports.nics
    for nic in range(nics):
        row = {
            "device": devices[nic],
            "port": ports[nic],
            "rail": int(rails[nic]),
            "pod": f"pod-{nic // (RAILS * HOSTS_OF_A_LEAF)}",
            "kind": "host",
            "planned_device": devices[nics + nic],
            "planned_port": ports[nics + nic],
        }
        right = {"actual_device": row["planned_device"], "actual_port": row["planned_port"], "state": "right"}
        wrong = {"actual_device": f"leaf-{(nic + 1) % RAILS}-0", "actual_port": "swp1", "state": "wrong"}
        unknown = {"actual_device": None, "actual_port": None, "state": "unknown"}
        yield from _lasting(row, [right, wrong, unknown, right, wrong] if nic % 400 == 5 else [right], fabric)


def _lasting(row: Row, states: list[Row], fabric: Fabric) -> Iterator[Row]:
    """The row in each of these states, one after the other, the last one for good."""
    share = (fabric.end - fabric.begin) / (len(states) + 1)
    for number, state in enumerate(states):
        last = number == len(states) - 1
        begin = fabric.begin + number * share
        yield {**row, **state, "began": begin, "ended": None if last else begin + share}


def devices(fabric: Fabric) -> Iterator[Row]:
    """Hosts and leaves: some had another's LLDP name, some were unread for a while."""
    names = list(dict.fromkeys(fabric.ports.named()[0]))
    for number, name in enumerate(names):
        role = "leaf" if name.startswith("leaf") else "host"
        row = {"device": name, "role": role, "rack": f"r{number // 16:02}", "chassis_id": f"02:00:00:00:{number:04x}"}
        well, other = {"reported_name": name, "read": True}, {"reported_name": names[number - 1], "read": True}
        unread = {"reported_name": name, "read": False}
        yield from _lasting(row, [well, other, unread, well] if number % 90 == 4 else [well], fabric)


def optics(fabric: Fabric) -> Iterator[Row]:
    """The module of each port; some were exchanged for one of another vendor."""
    named, ports, rails = fabric.ports.named()
    for number, (device, port) in enumerate(zip(named, ports, strict=True)):
        row = {"device": device, "port": port, "rail": int(rails[number])}
        kinds = [VENDORS[(number % fabric.ports.nics + n) % len(VENDORS)] for n in range(1 + (number % 700 == 8))]
        modules = [{"vendor": v, "part": p, "serial": f"S{number:06}{n}"} for n, (v, p) in enumerate(kinds)]
        yield from _lasting(row, modules, fabric)


def causes(fabric: Fabric) -> Iterator[Row]:
    """A cause every three hours, repaired after some hours; the last ones are open."""
    rng = fabric.rng(3)
    kinds = ("cable-swap", "link-flapping", "pfc-storm", "leaf-swap")
    for number in range(int((fabric.end - fabric.begin).total_seconds() // 10800)):
        begin = fabric.begin + timedelta(hours=3 * number)
        end = begin + timedelta(seconds=int(rng.exponential(20_000)) + 60)
        yield {
            "key": f"cause-{number}",
            "kind": kinds[number % len(kinds)],
            "subjects": [f"gpu-{number % fabric.ports.hosts + 1:04}/nic0"],
            "severity": "critical",
            "summary": "two cables are swapped",
            "action": "swap the two cables",
            "moves": 2,
            "findings": 2,
            "affected_gpus": 2,
            "confidence": 0.9,
            "began": begin,
            "ended": end if end < fabric.end else None,
        }


def findings(fabric: Fabric) -> Iterator[Row]:
    """Two findings for each cause."""
    for row in causes(fabric):
        for number, subject in enumerate((row["subjects"][0], row["subjects"][0].replace("nic0", "nic1"))):
            yield {
                "id": f"{row['key']}-{number}",
                "rule": "CAB001",
                "name": "cable_in_wrong_place",
                "severity": "critical",
                "subject": subject,
                "device": subject.split("/")[0],
                "rail": number,
                "summary": "the cable is in another port",
                "action": "move it",
                "cause": row["key"],
                "muted": False,
                "began": row["began"],
                "ended": row["ended"],
            }


def rounds(fabric: Fabric) -> Iterator[Row]:
    """An evaluation every five minutes."""
    for number in range(int((fabric.end - fabric.begin).total_seconds() // 300)):
        yield {
            "answered": fabric.begin + timedelta(minutes=5 * number),
            "number": number + 1,
            "devices": fabric.ports.hosts,
            "devices_read": fabric.ports.hosts,
            "cables_right": fabric.ports.nics,
            "took_seconds": 0.5,
        }
